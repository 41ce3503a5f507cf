//! What the facts say about a path.

use crate::names::parent;
use record::{DeviceFacts, Facts, FilesystemFacts, TargetFacts, TargetKind};

/// Nearest directory above a path that is there, with its facts.
pub(crate) fn directory_above<'a>(
    facts: &'a Facts,
    path: &'a str,
) -> Option<(&'a str, &'a TargetFacts)> {
    let mut above = parent(path);
    while let Some(directory) = above {
        match facts.targets.get(directory) {
            Some(known) if known.kind != TargetKind::Missing => return Some((directory, known)),
            _ => above = parent(directory),
        }
    }
    None
}

/// Filesystem a file lies on, or would.
pub(crate) fn filesystem<'a>(facts: &'a Facts, path: &'a str) -> Option<&'a FilesystemFacts> {
    let own = facts.targets.get(path).and_then(|t| t.filesystem.as_ref());
    own.or_else(|| directory_above(facts, path).and_then(|(_, d)| d.filesystem.as_ref()))
}

/// Block device a path is, or lies or would lie on.
pub(crate) fn device<'a>(facts: &'a Facts, path: &'a str) -> Option<&'a DeviceFacts> {
    let own = facts.targets.get(path).and_then(|t| t.device.as_ref());
    let name = own.or_else(|| {
        let missing = facts.targets.get(path).is_none_or(|t| t.kind == TargetKind::Missing);
        let above = directory_above(facts, path).filter(|_| missing);
        above.and_then(|(_, d)| d.device.as_ref())
    })?;
    facts.devices.get(name)
}
