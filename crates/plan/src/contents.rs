//! Files and devices whose content affects the validity of a run.

use crate::machine::filesystem;
use crate::model::{Plan, Worker};
use job::DedupeMode;
use record::{DeviceKind, Direction, Facts, TargetKind};

impl Plan {
    /// Files and devices that are read and may answer without their medium if their data is zero,
    /// repeated or compressible: block devices (discarded, thin, compressed), and files on
    /// compressing filesystems. Each is listed once.
    pub fn contents(&self, facts: &Facts) -> Vec<String> {
        let reads = self
            .workers
            .iter()
            .filter(|worker| worker.has(Direction::Read) && worker.queue.engine.moves_data());
        let mut found: Vec<String> = Vec::new();
        for file in reads.flat_map(|worker| &worker.files) {
            let matters = file.kind == TargetKind::Block || compresses(&file.path, facts);
            if matters && !found.contains(&file.path) {
                found.push(file.path.clone());
            }
        }
        found
    }
}

/// Makes workers with `dedupe_global` draw their duplicates from a working set of all of them.
pub(crate) fn share_duplicates(workers: &mut [Worker]) {
    let shares = |worker: &Worker| {
        let buffers = &worker.buffers;
        let draws = buffers.dedupe_mode == DedupeMode::WorkingSet && buffers.dedupe_global;
        draws && buffers.dedupe_percentage.is_some_and(|percent| percent > 0)
    };
    let together: Vec<(u32, u64)> =
        workers.iter().filter(|w| shares(w)).map(|w| (w.number, w.pattern.seed)).collect();
    for worker in workers.iter_mut().filter(|worker| shares(worker)) {
        worker.duplicates.clone_from(&together);
    }
}

fn compresses(path: &str, facts: &Facts) -> bool {
    let option = |options: &[String]| options.iter().any(|option| option.starts_with("compress"));
    let filesystem = filesystem(facts, path);
    let stack = facts.stack_under(path);
    let zram = || stack.iter().filter_map(|name| facts.devices.get(*name));
    filesystem.is_some_and(|f| f.kind == "zfs" || option(&f.options))
        || zram().any(|device| device.kind == DeviceKind::Zram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::File;
    use record::{FilesystemFacts, TargetFacts};

    fn reader(path: &str, kind: TargetKind) -> Worker {
        let files = vec![File { path: path.into(), kind, ..File::default() }];
        Worker { files, ..Worker::default() }
    }

    fn on(kind: &str, options: &[&str]) -> TargetFacts {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let filesystem =
            FilesystemFacts { kind: kind.into(), options, ..FilesystemFacts::default() };
        TargetFacts { filesystem: Some(filesystem), ..TargetFacts::default() }
    }

    #[test]
    fn devices_and_compressed_files_matter_and_plain_files_do_not() {
        let targets =
            [("/plain", on("ext4", &["rw"])), ("/small", on("btrfs", &["rw", "compress=zstd:3"]))];
        let targets = targets.map(|(path, facts)| (path.to_owned(), facts)).into();
        let facts = Facts { targets, ..Facts::default() };
        let workers = vec![
            reader("/plain", TargetKind::File),
            reader("/small", TargetKind::File),
            reader("/dev/sdx", TargetKind::Block),
            reader("/dev/sdx", TargetKind::Block),
        ];
        let plan = Plan { workers, ..Plan::default() };
        assert_eq!(plan.contents(&facts), ["/small", "/dev/sdx"]);
    }
}
