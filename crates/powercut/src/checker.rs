//! The check of a target after a cut: is it the target that was written, what is left on it, and does the
//! check count as a cut?

use crate::check::{Checked, StreamResult, check_stream};
use crate::promises::Promises;
use crate::protocol::Kept;
use crate::session::{Session, TargetIdentity, TargetShape};
use crate::storage::Reader;
use std::io;
use std::path::Path;

/// A file or device that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{place}")]
pub struct ReadError {
    place: String,
    source: io::Error,
}

/// The latest run that the server keeps of a target, by its path as typed or with links resolved.
///
/// # Errors
/// The targets whose runs it keeps.
pub fn latest_run(kept: &[Kept], path: &str, resolved: &Path) -> Result<u64, String> {
    let of_target = |kept: &&Kept| Path::new(&kept.path) == resolved || kept.path == path;
    if let Some(latest) = kept.iter().rev().find(of_target) {
        return Ok(latest.run);
    }
    let named = |kept: &Kept| format!("{} on {} (--run={:016x})", kept.path, kept.host, kept.run);
    let known: Vec<String> = kept.iter().rev().map(named).collect();
    let known = match known.is_empty() {
        true => "it keeps none".to_owned(),
        false => format!("it keeps those of {}", record::human::list_up_to(&known, 5)),
    };
    Err(format!("the server keeps no promises of {path}; {known}"))
}

/// Refuses a target that is not the one that was written. `path` names it in errors.
///
/// # Errors
/// How the targets differ, and what to do.
pub fn check_identity(
    path: &str,
    was: &TargetIdentity,
    now: &TargetIdentity,
) -> Result<(), String> {
    let (before, after) = (mount(was), mount(now));
    if let Some(before) = before
        && after.as_ref() != Some(&before)
    {
        return Err(format!(
            "{path} was on {before} and is on {} now: mount it and check again. If it does not mount \
             after the cut, that is a result: --unmountable --run=RUN counts every promise as lost",
            after.unwrap_or_else(|| "no filesystem".into())
        ));
    }
    if was.kind != now.kind {
        return Err(format!("{path} is not what was written, by its kind"));
    }
    if now.kind == TargetShape::Device && now.size < was.size {
        return Err(format!(
            "{path} has {} bytes and had {} when it was written: is it another device? If it shrank, \
             --run=RUN counts what is behind its end as lost",
            now.size, was.size
        ));
    }
    Ok(())
}

fn mount(target: &TargetIdentity) -> Option<String> {
    target.filesystem.as_ref().map(|found| format!("{} at {}", found.kind, found.mount_point))
}

/// The note on a file that is smaller than when it was written.
pub fn size_note(was: &TargetIdentity, now: &TargetIdentity) -> Option<String> {
    (now.kind == TargetShape::File && now.size < was.size).then(|| {
        format!(
            "The file has {} bytes and had {} when its size was made durable.",
            now.size, was.size
        )
    })
}

/// Checks every promise on a target. `name` names it in errors.
///
/// # Errors
/// The first file or device that cannot be read.
pub fn check_target(
    name: &str,
    target: &Path,
    session: &Session,
    promises: &Promises,
) -> Result<Vec<StreamResult>, ReadError> {
    let mut results = Vec::new();
    for stream in &session.streams {
        let mut reader = Reader::open(target, session.target.kind, stream)
            .map_err(|source| ReadError { place: name.to_owned(), source })?;
        let mut failure = None;
        results.push(check_stream(
            session,
            stream,
            promises.batches(stream.id),
            |promise, found| {
                let block = promise.block;
                let read = reader.read(promise.slot, block.offset, block.sectors, found);
                failure = read.err().or(failure.take());
            },
        ));
        if let Some(source) = failure {
            let place = format!("{name}, thread {}", stream.id);
            return Err(ReadError { place, source });
        }
    }
    Ok(results)
}

/// The results on a target that cannot be read: every promise is lost.
pub fn all_lost(session: &Session, promises: &Promises) -> Vec<StreamResult> {
    let lost = |stream| check_stream(session, stream, promises.batches(stream.id), |_, _| {});
    session.streams.iter().map(lost).collect()
}

/// Whether promises are lost and nothing of the run is on the target: it may be another target.
pub fn has_nothing_of_run(results: &[StreamResult]) -> bool {
    let has_trace = |result: &StreamResult| {
        result.kept > 0 || result.losses.iter().any(|loss| loss.has_trace())
    };
    results.iter().any(|result| !result.losses.is_empty()) && !results.iter().any(has_trace)
}

/// Why a check does not count as a cut; `None` if it does. `is_restarted`: this machine was started after
/// the writes began, or did not write.
pub fn why_not_cut(promises: &Promises, is_restarted: bool) -> Option<String> {
    if let Some(why) = &promises.ended {
        return Some(format!(
            "The writes ended by {why}, not by a cut, so that this check does not count as one."
        ));
    }
    (!promises.is_cut_seen && !is_restarted).then(|| {
        "This machine was not restarted after the writes, and they saw no storage fail: this check does \
         not count as a cut."
            .into()
    })
}

/// The last check of each session of a target, with `checked` as that of this session.
pub fn history(kept: &[Kept], session: &Session, checked: &Checked) -> Vec<Checked> {
    let others = kept.iter().filter(|kept| {
        kept.host == session.target.host
            && kept.path == session.target.path
            && kept.run != session.run
    });
    others.filter_map(|kept| kept.checked.clone()).chain([checked.clone()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Class;
    use crate::session::tests::session;

    fn device(size: u64) -> TargetIdentity {
        TargetIdentity { kind: TargetShape::Device, size, ..TargetIdentity::default() }
    }

    #[test]
    fn a_smaller_device_is_another_one_and_a_smaller_file_a_note() {
        assert_eq!(check_identity("/dev/x", &device(8192), &device(8192)), Ok(()));
        let error = check_identity("/dev/x", &device(8192), &device(4096)).unwrap_err();
        assert!(error.starts_with("/dev/x has 4096 bytes and had 8192"), "{error}");
        let file = |size| TargetIdentity { size, ..TargetIdentity::default() };
        assert_eq!(check_identity("x", &file(8192), &file(4096)), Ok(()));
        assert!(size_note(&file(8192), &file(4096)).is_some());
        assert_eq!(size_note(&device(8192), &device(4096)), None);
    }

    #[test]
    fn a_check_counts_as_a_cut_after_a_restart_or_a_failure_of_the_storage() {
        let mut promises = Promises::default();
        assert!(why_not_cut(&promises, false).is_some());
        assert_eq!(why_not_cut(&promises, true), None);
        promises.is_cut_seen = true;
        assert_eq!(why_not_cut(&promises, false), None);
        promises.ended = Some("a signal".into());
        assert!(why_not_cut(&promises, true).unwrap().contains("a signal"));
    }

    #[test]
    fn a_target_without_any_sector_of_the_run_is_noticed() {
        let session = session(Class::Fsync, 1 << 20);
        let promises = Promises { durable: [(0, 3)].into(), ..Promises::default() };
        let mut results = all_lost(&session, &promises);
        assert!(has_nothing_of_run(&results));
        results[0].kept = 1;
        assert!(!has_nothing_of_run(&results));
    }
}
