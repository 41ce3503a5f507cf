//! What the facts say about a path.

use crate::names::parent;
use record::{DeviceFacts, Facts, FilesystemFacts, TargetFacts, TargetKind};
use std::collections::BTreeMap;

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
pub fn filesystem<'a>(facts: &'a Facts, path: &'a str) -> Option<&'a FilesystemFacts> {
    let own = facts.targets.get(path).and_then(|t| t.filesystem.as_ref());
    own.or_else(|| directory_above(facts, path).and_then(|(_, d)| d.filesystem.as_ref()))
}

/// A filesystem that has less room than is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage<'a> {
    /// Where it is mounted.
    pub mount_point: &'a str,
    /// Bytes needed beyond what the files have.
    pub needed: u64,
    /// Bytes left.
    pub free: u64,
}

/// Filesystems that cannot hold these files, each with the size in bytes it is to have, all at once.
pub fn shortages<'a>(
    facts: &'a Facts,
    files: impl Iterator<Item = (&'a str, u64)>,
) -> Vec<Shortage<'a>> {
    let mut needs: BTreeMap<&str, Shortage> = BTreeMap::new();
    for (path, wanted) in files {
        let there = facts.targets.get(path).map_or(0, |target| target.size.0);
        // One without a size (ramfs) has no limit that could be known.
        if let Some(fs) = filesystem(facts, path).filter(|fs| fs.total.0 > 0) {
            let mount_point = fs.mount_point.as_str();
            let none = Shortage { mount_point, needed: 0, free: fs.free.0 };
            let need = needs.entry(mount_point).or_insert(none);
            need.needed = need.needed.saturating_add(wanted.saturating_sub(there));
        }
    }
    needs.into_values().filter(|need| need.needed > need.free).collect()
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
