//! What a rank says of itself before the run.

use plan::Plan;
use record::{Facts, distinct};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The filesystems of the targets: type, source and mount point, each once.
pub fn mounts(facts: &Facts) -> Vec<String> {
    let filesystems = facts.targets.values().filter_map(|target| target.filesystem.as_ref());
    distinct(
        filesystems
            .map(|found| format!("{} {} at {}", found.kind, found.source, found.mount_point)),
    )
}

/// The files of all workers: the path, hashed, and the end of the region. Ranks compare them to find
/// which may share files.
pub fn files(plan: &Plan) -> Vec<(u64, u64)> {
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let real = plan.workers.iter().filter(|worker| worker.queue.engine.opens_files());
    for file in real.flat_map(|worker| &worker.files) {
        let mut hasher = DefaultHasher::new();
        file.path.hash(&mut hasher);
        let end = ends.entry(hasher.finish()).or_default();
        *end = (*end).max(file.start.saturating_add(file.length));
    }
    ends.into_iter().collect()
}
