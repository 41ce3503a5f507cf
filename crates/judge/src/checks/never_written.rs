//! Were the blocks that the job read ever written?

use super::prelude::*;
use record::{FileLook, TargetKind};

/// Share of a file in holes and unwritten extents. Rounding of the last block explains less.
const FILE_MIN: f64 = 0.01;
/// Share of zero blocks of a device, of those looked at: data holds a few.
const ZERO_MIN: f64 = 0.5;

pub(super) const CHECK: Check = Check {
    id: "never-written",
    question: "Were the blocks that the job read ever written?",
    evidence: "holes and unwritten extents of what jobs may access in the files, before the run, and after it for files that the run writes (FIEMAP); zero blocks among 64 sampled blocks of a device",
    threshold: "warning when at least 1 % of what a job may read in its files was never written, or when at least half of the sampled blocks of a device are zero",
    reason: "the filesystem, or the disk's own map, returns zeros for such blocks without reading the medium; data written for a test has almost no zero blocks",
    cause: "the blocks were never written, or were discarded",
    remedy: || {
        Remedy::from("write the whole region first with fathom precondition")
            .or(set("rw", "write").ending("in a job before this one"))
    },
    proof: Proof::real(
        "checks/data.rs::holes_and_blank_devices_were_never_written",
        "checks/cache.rs::a_cold_direct_read_is_clean",
    ),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    let reading = case.data_parts().filter(|part| part.ios(Direction::Read) > 0);
    reading.flat_map(|part| [of_files(case, part), of_devices(case, part)]).flatten().collect()
}

/// Share of the part's files that was never written, 0 to 1; 0 when it is not worth mentioning.
pub(crate) fn unwritten_share(case: &Case, part: &Part) -> f64 {
    let (blank, whole) = blank(case, part);
    let share = blank / whole.max(1.0);
    if share >= FILE_MIN { share } else { 0.0 }
}

/// Bytes never written and all bytes, of the files with known extents.
fn blank(case: &Case, part: &Part) -> (f64, f64) {
    let files = part.different_files();
    let (mut blank, mut whole) = (0.0, 0.0);
    for file in files {
        let Some(evidence) = case.record.evidence.files.get(file) else { continue };
        let Some((never, size)) = evidence.before.as_ref().and_then(unwritten) else { continue };
        // What the run itself wrote, another job before this one for instance, is known by what is
        // left unwritten in the end.
        let left = match is_written(case, file) {
            true => evidence.after.as_ref().and_then(unwritten).map_or(0, |(left, _)| left),
            false => never,
        };
        blank += never.min(left) as f64;
        whole += size as f64;
    }
    (blank, whole)
}

/// Bytes never written and bytes in all; `None` where nobody knows.
fn unwritten(look: &FileLook) -> Option<(u64, u64)> {
    let extents = look.extents.as_ref()?;
    let length = if extents.length.0 > 0 { extents.length.0 } else { look.size.0 };
    Some((extents.holes.0 + extents.unwritten.0, length))
}

/// Whether any part of the run writes to a file.
fn is_written(case: &Case, file: &str) -> bool {
    let mut writing = case.parts.iter().filter(|part| part.ios(Direction::Write) > 0);
    writing.any(|part| part.files().any(|own| own == file))
}

fn of_files(case: &Case, part: &Part) -> Option<Finding> {
    // A job that also writes fills its files itself.
    let share = unwritten_share(case, part);
    if share == 0.0 || part.ios(Direction::Write) > 0 {
        return None;
    }
    let (blank, _) = blank(case, part);
    let text = format!(
        "{} of the files that the job reads was never written ({}): such blocks read as zeros without access to the device",
        size(blank),
        percent(share)
    );
    let figures = [Figure::new("bytes never written", blank, "bytes")];
    Some(CHECK.finding_for(part, Severity::Warning, text).figures(figures))
}

fn of_devices(case: &Case, part: &Part) -> Option<Finding> {
    let is_device = |file: &&str| {
        let target = case.record.facts.targets.get(*file);
        target.is_some_and(|target| target.kind == TargetKind::Block)
    };
    let content = |file: &str| case.record.evidence.files.get(file)?.content.as_ref();
    let (name, content) =
        part.files().filter(is_device).find_map(|file| Some((file, content(file)?)))?;
    let share = f64::from(content.zero) / f64::from(content.blocks.max(1));
    (share >= ZERO_MIN).then(|| {
        let text = format!(
            "{} of {} sampled blocks of {name} are zero: they were never written, or were discarded",
            content.zero, content.blocks
        );
        let figures = [Figure::new("share of zero blocks", share * 100.0, "percent")];
        CHECK.finding_for(part, Severity::Warning, text).figures(figures)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FILE, findings, job, record, the_finding};
    use super::*;
    use record::{Bytes, Content, Extents, GroupKey};

    #[test]
    fn unwritten_extents_and_zero_blocks_are_found() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        let file = record.evidence.files.get_mut(FILE).unwrap();
        let unwritten = Bytes(1 << 29);
        let extents = Extents { unwritten, ..Extents::default() };
        file.before.as_mut().unwrap().extents = Some(extents);
        assert!(the_finding(&record, CHECK.id).text.contains("50 %"));
        // Of the region that was looked at.
        let mut region = record.clone();
        let file = region.evidence.files.get_mut(FILE).unwrap();
        let extents = Extents { length: unwritten, unwritten, ..Extents::default() };
        file.before.as_mut().unwrap().extents = Some(extents);
        assert!(the_finding(&region, CHECK.id).text.contains("(100 %)"));
        // Another job of the run may have written it by then: all of it, or a part.
        let mut filled = record.clone();
        let mut fill = job("fill", Direction::Write, 10);
        (fill.job, fill.group) = (1, GroupKey { group: 1, report: 1 });
        filled.jobs.push(fill);
        let file = filled.evidence.files.get_mut(FILE).unwrap();
        file.after = file.before.clone();
        let left = |bytes| Some(Extents { holes: Bytes(bytes), ..Extents::default() });
        file.after.as_mut().unwrap().extents = left(1 << 28);
        assert!(the_finding(&filled, CHECK.id).text.contains("25 %"));
        let file = filled.evidence.files.get_mut(FILE).unwrap();
        file.after.as_mut().unwrap().extents = left(0);
        assert!(findings(&filled, CHECK.id).is_empty());
        let file = record.evidence.files.get_mut(FILE).unwrap();
        file.before.as_mut().unwrap().extents = None;
        file.content = Some(Content { blocks: 64, zero: 64, repeated: 0, compressed: 0.01 });
        assert!(findings(&record, CHECK.id).is_empty(), "a file of zeros was written");
        record.facts.targets.get_mut(FILE).unwrap().kind = TargetKind::Block;
        assert!(the_finding(&record, CHECK.id).text.starts_with("64 of 64 sampled blocks"));
    }
}
