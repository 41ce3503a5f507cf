//! Restoring the changes of sessions that ended without doing so.

use crate::Error;
use crate::journal::{Journal, Owner, check_owner};
use crate::restore::{RestoreReport, restore_entries};
use host::Host;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time to wait for a program (mkfs) that outlived its session.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// Undoes the journals of ended sessions in a directory. Those of running sessions are left alone.
/// Running it twice does no harm.
///
/// # Errors
/// The directory cannot be read, or belongs to another user. The report holds what could not be
/// restored.
pub fn restore_leftovers(host: &Host, state: &Path) -> Result<RestoreReport, Error> {
    let mut put_back = RestoreReport::default();
    match fs::metadata(state) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(put_back),
        _ => check_owner(state)?,
    }
    for path in with_extension(state, "json")? {
        match restore_journal(host, &path) {
            Ok(of_one) => put_back.merge(of_one),
            Err(error) => put_back.failed.push(error.text),
        }
    }
    remove_orphans(host, state)?;
    Ok(put_back)
}

/// Undoes one journal.
fn restore_journal(host: &Host, path: &Path) -> Result<RestoreReport, Error> {
    let begun = Instant::now();
    loop {
        match Journal::take_over(host, path)? {
            None => return Ok(RestoreReport::default()),
            Some(Owner::Ended(mut journal)) => return Ok(restore_entries(host, &mut journal, 0)),
            Some(Owner::Running(pid)) => {
                let left = vec![format!("process {pid} is still using its changes")];
                return Ok(RestoreReport { left, ..RestoreReport::default() });
            }
            Some(Owner::ProgramRunning) if begun.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Some(Owner::ProgramRunning) => {
                return Err(Error::failed(format!(
                    "{}: a program of an ended sweep is still running; try again when it has ended",
                    path.display()
                )));
            }
        }
    }
}

/// Removes files of sessions that ended before or while they wrote a journal.
fn remove_orphans(host: &Host, state: &Path) -> Result<(), Error> {
    for extension in ["lock", "new"] {
        for path in with_extension(state, extension)? {
            let is_needed = path.with_extension("json").exists() || is_running(host, &path);
            // A remaining file does no harm.
            let _ = if is_needed { Ok(()) } else { fs::remove_file(&path) };
        }
    }
    Ok(())
}

/// Whether the process in the name of a journal file is running.
fn is_running(host: &Host, path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut parts = name.split('-').map(str::parse::<u64>);
    let (Some(Ok(pid)), Some(Ok(start))) = (parts.next(), parts.next()) else { return true };
    u32::try_from(pid).is_ok_and(|pid| host.process_start(pid) == Some(start))
}

fn with_extension(state: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(state).map_err(|e| Error::io(state, "cannot be read", &e))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == extension));
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Entry;

    #[test]
    fn only_changes_of_ended_sessions_are_undone() {
        let host = Host::at("/");
        let state = tempfile::tempdir().unwrap();
        let (kept, gone) = (state.path().join("kept"), state.path().join("gone"));
        fs::write(&kept, "").unwrap();
        fs::write(&gone, "").unwrap();
        let mut living = Journal::begin(&host, state.path()).unwrap();
        living.record(vec![Entry::File { path: kept.clone() }]).unwrap();
        let mut dead = Journal::begin(&host, state.path()).unwrap();
        dead.record(vec![Entry::File { path: gone.clone() }]).unwrap();
        dead.simulate_crash();
        fs::write(state.path().join("1-1-1.lock"), "").unwrap();
        fs::write(state.path().join("1-1-1.new"), "{").unwrap();
        for attempt in 0..2 {
            let put_back = restore_leftovers(&host, state.path()).unwrap();
            assert!(put_back.failed.is_empty() && put_back.left.len() == 1, "{put_back:?}");
            assert_eq!(put_back.done.len(), usize::from(attempt == 0), "{put_back:?}");
        }
        assert!(kept.exists() && !gone.exists());
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 3, "kept, and two of the living");
    }

    /// After a reboot the kernel's settings, mounts and loop devices are gone, files are not.
    #[test]
    fn after_another_boot_only_files_are_removed() {
        let host = Host::at("/");
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("scratch.img");
        fs::write(&file, "").unwrap();
        let sysfs = "/sys/kernel/mm/transparent_hugepage/none-such";
        let document = format!(
            r#"{{"schema":1,"pid":1,"start":0,"boot":"another","entries":[
                {{"file":{{"path":"{}"}}}},{{"loop":{{"file":"{}"}}}},
                {{"value":{{"file":"{sysfs}","old":"x"}}}},
                {{"mounted":{{"point":"/proc"}}}}]}}"#,
            file.display(),
            file.display()
        );
        fs::write(state.path().join("1-0-1.json"), document).unwrap();
        let put_back = restore_leftovers(&host, state.path()).unwrap();
        assert!(put_back.failed.is_empty() && put_back.done.len() == 1, "{put_back:?}");
        assert!(!file.exists() && Path::new("/proc/self").exists());
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
    }

    #[test]
    fn without_a_directory_there_is_nothing_to_do_and_a_strangers_is_not_believed() {
        let host = Host::at("/");
        assert_eq!(
            restore_leftovers(&host, Path::new("/none/such")).unwrap(),
            RestoreReport::default()
        );
        let state = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(state.path(), Some(4711), None).unwrap();
        assert!(
            restore_leftovers(&host, state.path())
                .unwrap_err()
                .text
                .contains("others may write there")
        );
    }
}
