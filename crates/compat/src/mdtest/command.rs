//! The test that a command line of mdtest describes.

use crate::hpc::{Own, nodes};
use record::with_defaults;

with_defaults! {
    /// The test that a command line of mdtest describes.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MdtestCommand {
        /// `--tasks`: workers of this machine, or ranks.
        pub tasks: u32 = 1,
        /// The number of hosts that they are on.
        pub nodes: u32 = 1,
        /// How many tasks further the first one of another host is; 0 with one host.
        pub next_node: u32,
        /// A digit for each task: 1 if it is on the host of the first one. Empty: all are.
        pub node_map: String,
        /// `-n`: items of each task; 0: as many as `-I` gives.
        pub items: u64,
        /// `-I`: items of each task in each directory; 0: as many as `-n` gives.
        pub per_directory: u64,
        /// `-z`: levels of directories below the first.
        pub depth: u32,
        /// `-b`: directories in each directory.
        pub branch: u64 = 1,
        /// `-W`: seconds after which the creation of files ends; 0: no limit.
        pub stonewall_s: u64,
        /// `-x`: a file with the count that `-W` reached.
        pub status_file: Option<String>,
        /// Files that each task has, by the status file; 0: all.
        pub made: u64,
        /// `--items-per-run`: items of the tasks of one host in a run at most.
        pub items_per_run: u64 = 1 << 18,
        /// `-d`, as typed.
        pub directory: String = "./out".into(),
        /// `-i`.
        pub iterations: u32 = 1,
        /// `-u`: a tree for each task.
        pub unique: bool,
        /// `-F`: files only.
        pub files_only: bool,
        /// `-D`: directories only.
        pub directories_only: bool,
        /// `-L`: items in directories without directories only.
        pub leaves_only: bool,
        /// `-C`.
        pub create: bool,
        /// `-T`.
        pub stat: bool,
        /// `-E`.
        pub read: bool,
        /// `-r`.
        pub remove: bool,
        /// `-w`: bytes of each file.
        pub write_bytes: u64,
        /// `-e`: bytes read of each file.
        pub read_bytes: u64,
        /// `-y`: fsync of each file.
        pub fsync: bool,
        /// `-Y`: sync after each phase.
        pub sync: bool,
        /// `-N`: stats are of the items of the task this far away.
        pub stride: u32,
        /// `-R`: stats in random order.
        pub random: bool,
        /// `-G`: seed of that order; `None`: drawn.
        pub seed: Option<u64>,
        /// `-p`: seconds before each phase.
        pub delay_s: u64,
        /// `-P`: times besides the rates.
        pub rates_and_times: bool,
        /// `-Z`: times in place of rates.
        pub times: bool,
        /// `-v`, counted.
        pub verbose: u32,
        /// Options that change nothing here, with the reason.
        pub notes: Vec<String>,
        /// fathom's own options.
        pub own: Own,
    }
}

/// A phase of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Directories are created.
    DirectoryCreate,
    /// Directories are asked for.
    DirectoryStat,
    /// Directories are removed.
    DirectoryRemove,
    /// Files are created, and written.
    FileCreate,
    /// Files of the tasks that `-W` ended behind the fastest, up to its count. Part of the creation.
    WearOut,
    /// Files are asked for.
    FileStat,
    /// Files are opened, and read.
    FileRead,
    /// Files are removed.
    FileRemove,
    /// The directories of the tree are created.
    TreeCreate,
    /// The directories of the tree are removed.
    TreeRemove,
}

record::named!(Phase:
    DirectoryCreate "directory-creation",
    DirectoryStat "directory-stat",
    DirectoryRemove "directory-removal",
    FileCreate "file-creation",
    WearOut "file-creation-wear-out",
    FileStat "file-stat",
    FileRead "file-read",
    FileRemove "file-removal",
    TreeCreate "tree-creation",
    TreeRemove "tree-removal");

impl Phase {
    /// All of them, in the order of an iteration.
    pub const ALL: &'static [Phase] = &[
        Phase::TreeCreate,
        Phase::DirectoryCreate,
        Phase::DirectoryStat,
        Phase::DirectoryRemove,
        Phase::FileCreate,
        Phase::WearOut,
        Phase::FileStat,
        Phase::FileRead,
        Phase::FileRemove,
        Phase::TreeRemove,
    ];
}

impl MdtestCommand {
    /// Places the tasks on hosts, each by its name.
    pub fn place_on(&mut self, hosts: &[String]) {
        (self.nodes, self.next_node) = nodes(hosts);
        let digit = |host: &String| if host == &hosts[0] { '1' } else { '0' };
        self.node_map = hosts.iter().map(digit).collect();
    }

    /// The phases of an iteration that are known before it begins, in order.
    pub fn phases(&self) -> Vec<Phase> {
        let (directories, files) = (!self.files_only, !self.directories_only);
        let is_asked_for = |phase: &Phase| match phase {
            Phase::TreeCreate => self.create,
            Phase::TreeRemove => self.remove,
            Phase::DirectoryCreate => directories && self.create,
            Phase::DirectoryStat => directories && self.stat,
            Phase::DirectoryRemove => directories && self.remove,
            Phase::FileCreate => files && self.create,
            Phase::WearOut => false,
            Phase::FileStat => files && self.stat,
            Phase::FileRead => files && self.read,
            Phase::FileRemove => files && self.remove,
        };
        Phase::ALL.iter().copied().filter(is_asked_for).collect()
    }
}
