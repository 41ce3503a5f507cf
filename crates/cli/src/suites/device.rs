//! Facts about a device or file that a suite works on.

use super::Refusal;
use anyhow::Result;
use host::TargetQuery;
use record::{Facts, TargetFacts, TargetKind};
use runner::Runner;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::FileTypeExt;

/// The path as text.
///
/// # Errors
/// When it is empty or not UTF-8.
pub fn utf8(path: &OsStr) -> Result<&str> {
    if path.is_empty() {
        return Err(Refusal::usage("the path is empty: name a device or a file"));
    }
    path.to_str().ok_or_else(|| {
        let shown = path.to_string_lossy();
        Refusal::usage(format!("'{shown}' is not UTF-8 text; give names in UTF-8"))
    })
}

/// Whether a path leads to a block device.
pub fn is_device(path: &OsStr) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Facts about the machine and a target that will be written.
pub fn facts(path: &str, runner: &Runner) -> Facts {
    let query = TargetQuery { path: path.to_owned(), will_write: true };
    runner.host().survey(runner.machine().clone(), &[query])
}

/// Whether `--allow-destroy` names the target: by its path, by the path with links resolved, or, for a
/// device, by the kernel's name.
pub fn may_destroy(allowed: &[String], path: &str, target: &TargetFacts) -> bool {
    // For a file, target.device is the device below it.
    let own = target.device.as_ref().filter(|_| target.kind == TargetKind::Block);
    allowed.iter().any(|named| {
        named == path
            || (!target.canonical.is_empty() && *named == target.canonical)
            || own.is_some_and(|device| *named == format!("/dev/{device}"))
    })
}

/// Whether the target probably supports O_DIRECT. True when nothing is known.
pub fn takes_direct(target: &TargetFacts) -> bool {
    target.direct.is_none_or(|limits| limits.memory > 0 || limits.offset > 0)
}
