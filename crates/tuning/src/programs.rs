//! Running the programs of the system: mkfs, mount, umount, losetup.

use crate::Error;
use crate::journal::Journal;
use std::env;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a device or mount may stay in use by programs that look at every new one.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// Debian's package of each program.
const PACKAGES: &[(&str, &str)] = &[
    ("losetup", "mount"),
    ("mount", "mount"),
    ("umount", "mount"),
    ("wipefs", "util-linux"),
    ("mkfs.bcachefs", "bcachefs-tools"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mkfs.exfat", "exfatprogs"),
    ("mkfs.ext2", "e2fsprogs"),
    ("mkfs.ext3", "e2fsprogs"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.f2fs", "f2fs-tools"),
    ("mkfs.fat", "dosfstools"),
    ("mkfs.jfs", "jfsutils"),
    ("mkfs.msdos", "dosfstools"),
    ("mkfs.nilfs2", "nilfs-tools"),
    ("mkfs.ntfs", "ntfs-3g"),
    ("mkfs.udf", "udftools"),
    ("mkfs.vfat", "dosfstools"),
    ("mkfs.xfs", "xfsprogs"),
];

/// Finds a program on PATH or in the system directories, which the PATH of users may lack.
///
/// # Errors
/// It is not installed; the message says how to install it.
pub(crate) fn find(program: &str) -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from);
    let mut places = env::split_paths(&path).chain(system).map(|place| place.join(program));
    places.find(|place| place.is_file()).ok_or_else(|| {
        let package = PACKAGES.iter().find(|(name, _)| *name == program);
        let cure = match package {
            Some((_, package)) => format!("on Debian: sudo apt-get install {package}"),
            None => "install the package that brings it".to_owned(),
        };
        Error::refused(format!("there is no {program} on this machine; {cure}"))
    })
}

/// Runs a program to its end. It holds the lock of the journal, even if this process ends first.
///
/// # Errors
/// It is missing or fails; the message holds its output.
pub(crate) fn run(program: &str, arguments: &[&str], journal: &Journal) -> Result<(), Error> {
    let path = find(program)?;
    let held = journal.lock_handle().map_err(|e| Error::io(&path, "cannot be started", &e))?;
    let mut command = Command::new(&path);
    // The locked file is its standard input, which none of these programs reads, so that it holds
    // the lock. A process group of its own keeps Ctrl-C from interrupting it.
    command.args(arguments).env("LC_ALL", "C").stdin(Stdio::from(held)).process_group(0);
    let output = command.output().map_err(|e| Error::io(&path, "cannot be started", &e))?;
    if output.status.success() {
        return Ok(());
    }
    let outputs = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
    let text = if outputs[1].trim().is_empty() { &outputs[0] } else { &outputs[1] };
    // Some programs print their usage after the error.
    let words = text.lines().take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> = words.map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = [&[program], arguments].concat().join(" ");
    let why = if lines.is_empty() { output.status.to_string() } else { lines.join("; ") };
    Err(Error::failed(format!("{line}: {why}")))
}

/// A path as UTF-8, for arguments and messages.
pub(crate) fn text(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| {
        Error::usage(format!("'{}' is not UTF-8 text; give names in UTF-8", path.display()))
    })
}

/// Tries until `holds` or the time is up; whether it held.
pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if holds() {
            return true;
        }
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::Host;

    #[test]
    fn a_missing_program_names_its_package_and_a_failing_one_is_quoted() {
        let missing = find("mkfs.none-such").unwrap_err().text;
        assert!(missing.contains("install the package"), "{missing}");
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::begin(&Host::at("/"), state.path()).unwrap();
        run("true", &[], &journal).unwrap();
        let error = run("sh", &["-c", "echo one; echo two >&2; exit 3"], &journal).unwrap_err();
        assert!(error.text.ends_with(": two"), "{error}");
    }

    #[test]
    fn a_program_under_way_holds_the_journal() {
        let host = Host::at("/");
        let state = tempfile::tempdir().unwrap();
        let journal = Journal::begin(&host, state.path()).unwrap();
        // It asks whether another opening of the file could lock it.
        let lock = journal.sibling_path("lock");
        let line = format!("! flock --nonblock {} true", lock.display());
        run("sh", &["-c", &line], &journal).unwrap();
        drop(journal);
        assert!(!lock.exists());
    }
}
