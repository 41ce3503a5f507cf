//! The test that a command line of IOR describes.

use crate::hpc::{Own, nodes};
use record::with_defaults;

with_defaults! {
    /// The test that a command line of IOR describes.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IorCommand {
        /// `-N`: tasks: workers of this machine, or ranks.
        pub tasks: u32 = 1,
        /// The number of hosts that they are on.
        pub nodes: u32 = 1,
        /// How many tasks further the first one of another host is; 0 with one host.
        pub next_node: u32,
        /// `-b`: bytes that a task has side by side in a segment.
        pub block: u64 = 1 << 20,
        /// `-t`: bytes of each call.
        pub transfer: u64 = 256 << 10,
        /// `-s`: segments.
        pub segments: u64 = 1,
        /// `-o`, as typed.
        pub file: String = "testFile".into(),
        /// `-F`: a file for each task.
        pub per_process: bool,
        /// `-u`: each file in a directory of its own.
        pub unique_dir: bool,
        /// `-m`: a new file for each repetition.
        pub multi_file: bool,
        /// `-w`.
        pub write: bool,
        /// `-r`.
        pub read: bool,
        /// `-W`: read back what was written, untimed, and compare.
        pub check_write: bool,
        /// `-R`: compare what is read.
        pub check_read: bool,
        /// `-k`.
        pub keep: bool,
        /// `-K`: keep files whose data is wrong.
        pub keep_with_error: bool,
        /// `-E`: no unlink before a write.
        pub use_existing: bool,
        /// `-i`.
        pub repetitions: u32 = 1,
        /// `-d`: seconds before each phase.
        pub delay_s: u64,
        /// `-T`: minutes after which no further phase begins; 0: no limit.
        pub minutes_max: u64,
        /// `-e`.
        pub fsync: bool,
        /// `-Y`.
        pub fsync_per_write: bool,
        /// `-C`.
        pub reorder: bool,
        /// `-Q`.
        pub task_offset: u64 = 1,
        /// `-Z`, counted.
        pub reorder_random: u32,
        /// `-X`.
        pub reorder_seed: i64,
        /// `-z`, counted.
        pub random_offset: u32,
        /// `--random-offset-seed`; `None`: drawn.
        pub random_seed: Option<u64>,
        /// `-D`: seconds; 0: no limit.
        pub deadline_s: u64,
        /// `-O stoneWallingWearOut`: after `-D`, all tasks go on to the count of the fastest.
        pub wear_out: bool,
        /// `-O stoneWallingWearOutIterations`: transfers of each task at most; 0: all.
        pub iterations: u64,
        /// `-O stoneWallingStatusFile`: a file with the count that a write reached, for later reads.
        pub status_file: Option<String>,
        /// `--posix.odirect`.
        pub direct: bool,
        /// `-l`.
        pub packet: Packet,
        /// `-G`; `None`: drawn.
        pub signature: Option<u32>,
        /// `-a`.
        pub api: Api,
        /// `--aio.max-pending`.
        pub pending: u32 = 128,
        /// `-O interIODelay`: microseconds after each transfer.
        pub transfer_delay_us: u64,
        /// `-A`.
        pub reference: i64,
        /// `-v`, counted.
        pub verbose: u32,
        /// `-O summaryFile`.
        pub summary_file: Option<String>,
        /// `-O summaryFormat`.
        pub format: Format,
        /// Options that change nothing here, with the reason.
        pub notes: Vec<String>,
        /// fathom's own options.
        pub own: Own,
    }
}

/// How files are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    /// pread(2) and pwrite(2).
    #[default]
    Posix,
    /// libaio.
    Aio,
    /// A mapping.
    Mmap,
}

record::named!(Api: Posix "POSIX", Aio "AIO", Mmap "MMAP");

/// What is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// The same buffer each time.
    #[default]
    Timestamp,
    /// The offset is stamped into the buffer.
    Offset,
    /// The buffer is filled anew for each transfer.
    Random,
}

/// The form of the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Tables.
    #[default]
    Text,
    /// JSON.
    Json,
    /// A line for each phase.
    Csv,
}

/// A phase of a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Timed writes.
    Write,
    /// Writes of the tasks that `-D` ended behind the fastest, up to its count. Part of the write.
    WearOut,
    /// Reads that compare, untimed.
    Check,
    /// Timed reads.
    Read,
}

record::named!(Phase: Write "write", WearOut "write-wear-out", Check "check", Read "read");

impl Phase {
    /// Whether data is written.
    pub(super) fn writes(self) -> bool {
        matches!(self, Phase::Write | Phase::WearOut)
    }
}

impl IorCommand {
    /// The phases of a repetition that are known before it begins, in order.
    pub fn phases(&self) -> Vec<Phase> {
        let all = [
            (Phase::Write, self.write),
            (Phase::Check, self.check_write),
            (Phase::Read, self.read || self.check_read),
        ];
        all.into_iter().filter(|(_, asked)| *asked).map(|(phase, _)| phase).collect()
    }

    /// Bytes of all tasks together.
    pub fn aggregate(&self) -> u64 {
        u64::from(self.tasks).saturating_mul(self.per_task())
    }

    /// Tasks of each host, rounded up.
    pub fn per_node(&self) -> u32 {
        self.tasks.div_ceil(self.nodes.max(1))
    }

    /// Places the tasks on hosts, each by its name.
    pub fn place_on(&mut self, hosts: &[String]) {
        (self.nodes, self.next_node) = nodes(hosts);
    }

    /// Bytes of each task.
    pub fn per_task(&self) -> u64 {
        self.block.saturating_mul(self.segments)
    }

    /// Bytes of each file, or of the part of it that has the transfers of the status file or of `-O
    /// stoneWallingWearOutIterations`.
    pub fn file_size(&self) -> u64 {
        let tasks = if self.per_process { 1 } else { u64::from(self.tasks) };
        let (segment, per_block) = (self.block * tasks, self.transfers_per_block());
        match (self.iterations, self.random_offset) {
            (count, 0) if (1..per_block * self.segments).contains(&count) => {
                let last = count - 1;
                (last / per_block + 1) * segment - self.block
                    + (last % per_block + 1) * self.transfer
            }
            // Of the last segment, transfers anywhere are there.
            (count @ 1.., _) => (count / per_block).min(self.segments) * segment,
            (0, _) => segment * self.segments,
        }
    }

    /// Transfers of a block.
    pub fn transfers_per_block(&self) -> u64 {
        self.block / self.transfer
    }

    /// Whether writes stamp the signature and the offset into the data.
    pub fn is_stamped(&self) -> bool {
        self.check_write || self.check_read || self.signature.is_some()
    }

    /// The file with the data of a task.
    pub fn path(&self, task: u32, repetition: u32) -> String {
        let mut path = match self.per_process {
            false => self.file.clone(),
            true => {
                let names: Vec<&str> = self.file.split('@').collect();
                let name = names[task as usize % names.len()];
                let name = match (self.unique_dir, name.rsplit_once('/')) {
                    (false, _) => name.to_owned(),
                    (true, Some((directory, file))) => format!("{directory}/{task}/{file}"),
                    (true, None) => format!("{task}/{name}"),
                };
                format!("{name}.{task:08}")
            }
        };
        if self.multi_file {
            path += &format!(".{repetition}");
        }
        path
    }

    /// All files of a repetition, each once.
    pub fn paths(&self, repetition: u32) -> Vec<String> {
        let tasks = if self.per_process { self.tasks } else { 1 };
        (0..tasks).map(|task| self.path(task, repetition)).collect()
    }

    /// All files of the call, each once.
    pub fn all_paths(&self) -> Vec<String> {
        let repetitions = if self.multi_file { self.repetitions } else { 1 };
        (0..repetitions).flat_map(|repetition| self.paths(repetition)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_iors() {
        let call = IorCommand { file: "a@d/b".into(), per_process: true, ..IorCommand::default() };
        assert_eq!(call.path(2, 0), "a.00000002");
        assert_eq!(call.path(3, 0), "d/b.00000003");
        let call = IorCommand { unique_dir: true, multi_file: true, ..call };
        assert_eq!(call.path(3, 1), "d/3/b.00000003.1");
        assert_eq!(call.path(0, 1), "0/a.00000000.1");
        let shared = IorCommand { tasks: 4, repetitions: 3, ..IorCommand::default() };
        assert_eq!(shared.all_paths(), ["testFile"]);
    }

    #[test]
    fn a_count_of_transfers_ends_the_file_early() {
        let shared =
            IorCommand { tasks: 3, block: 8, transfer: 4, segments: 5, ..IorCommand::default() };
        let size =
            |iterations, call: &IorCommand| IorCommand { iterations, ..call.clone() }.file_size();
        assert_eq!(
            [0, 1, 2, 3, 10, 99].map(|count| size(count, &shared)),
            [120, 20, 24, 44, 120, 120]
        );
        let own = IorCommand { per_process: true, ..shared };
        assert_eq!([0, 1, 2, 3, 10, 99].map(|count| size(count, &own)), [40, 4, 8, 12, 40, 40]);
        let random = IorCommand { random_offset: 1, ..own };
        assert_eq!([0, 1, 3, 99].map(|count| size(count, &random)), [40, 0, 8, 40]);
    }
}
