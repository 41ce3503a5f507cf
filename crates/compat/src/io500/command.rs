//! The settings of an IO500 run, and the command lines of its phases.

use crate::ior::IorCommand;
use crate::mdtest::{self, MdtestCommand};
use crate::{Usage, hpc, ior};
use record::with_defaults;

/// Seconds that each phase that writes must last, by the rules.
pub const STONEWALL_MIN: u64 = 300;

with_defaults! {
    /// The settings of an IO500 run, as its configuration names them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Io500Command {
        /// Tasks: workers of this machine, or ranks.
        pub tasks: u32 = 1,
        /// The directory below which files are made.
        pub datadir: String = "./datafiles".into(),
        /// The directory for results.
        pub resultdir: String = "./results".into(),
        /// Each run has a directory of its own below `datadir`, named by its time.
        pub timestamp_datadir: bool = true,
        /// The same below `resultdir`.
        pub timestamp_resultdir: bool = true,
        /// Seconds after which phases that write end.
        pub stonewall_s: u64 = STONEWALL_MIN,
        /// How ior-easy and ior-hard reach files: words of IOR's command line after `-a`.
        pub ior_api: [String; 2] = ["POSIX".into(), "POSIX".into()],
        /// The same of mdtest-easy and mdtest-hard.
        pub mdtest_api: [String; 2] = ["POSIX".into(), "POSIX".into()],
        /// `transferSize` of ior-easy.
        pub transfer: String = "2m".into(),
        /// `blockSize` of ior-easy.
        pub block: String = "9920000m".into(),
        /// `filePerProc` of ior-easy.
        pub per_process: bool = true,
        /// `segmentCount` of ior-hard.
        pub segments: u64 = 10_000_000,
        /// `n` of mdtest-easy and mdtest-hard: files of each task at most.
        pub files: [u64; 2] = [1_000_000, 1_000_000],
        /// `nproc` of find: threads; 0: as many as tasks, or CPUs of the host if they are fewer.
        pub find_threads: usize,
        /// Phases that are left out.
        pub without: Vec<Phase>,
        /// Settings that change nothing here, with the reason.
        pub notes: Vec<String>,
    }
}

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Large sequential writes, a file for each task.
    IorEasyWrite,
    /// Creation of empty files, a directory for each task.
    MdtestEasyWrite,
    /// Writes of 47008 bytes into one shared file.
    IorHardWrite,
    /// Creation of files of 3901 bytes in one directory.
    MdtestHardWrite,
    /// A search for files by name, size and time.
    Find,
    /// Reads of what ior-easy-write wrote.
    IorEasyRead,
    /// stat of the empty files.
    MdtestEasyStat,
    /// Reads of what ior-hard-write wrote.
    IorHardRead,
    /// stat of the files of 3901 bytes.
    MdtestHardStat,
    /// Removal of the empty files.
    MdtestEasyDelete,
    /// Reads of the files of 3901 bytes.
    MdtestHardRead,
    /// Removal of the files of 3901 bytes.
    MdtestHardDelete,
}

record::named!(Phase:
    IorEasyWrite "ior-easy-write",
    MdtestEasyWrite "mdtest-easy-write",
    IorHardWrite "ior-hard-write",
    MdtestHardWrite "mdtest-hard-write",
    Find "find",
    IorEasyRead "ior-easy-read",
    MdtestEasyStat "mdtest-easy-stat",
    IorHardRead "ior-hard-read",
    MdtestHardStat "mdtest-hard-stat",
    MdtestEasyDelete "mdtest-easy-delete",
    MdtestHardRead "mdtest-hard-read",
    MdtestHardDelete "mdtest-hard-delete");

impl Phase {
    /// All of them, in order.
    pub const ALL: [Phase; 12] = [
        Phase::IorEasyWrite,
        Phase::MdtestEasyWrite,
        Phase::IorHardWrite,
        Phase::MdtestHardWrite,
        Phase::Find,
        Phase::IorEasyRead,
        Phase::MdtestEasyStat,
        Phase::IorHardRead,
        Phase::MdtestHardStat,
        Phase::MdtestEasyDelete,
        Phase::MdtestHardRead,
        Phase::MdtestHardDelete,
    ];

    /// Whether the rules give it a shortest time.
    pub fn writes(self) -> bool {
        self < Phase::Find
    }

    /// The phase that writes what it works on.
    fn needs(self) -> Option<Phase> {
        match self {
            Phase::IorEasyRead => Some(Phase::IorEasyWrite),
            Phase::IorHardRead => Some(Phase::IorHardWrite),
            Phase::MdtestEasyStat | Phase::MdtestEasyDelete => Some(Phase::MdtestEasyWrite),
            Phase::MdtestHardStat | Phase::MdtestHardRead | Phase::MdtestHardDelete => {
                Some(Phase::MdtestHardWrite)
            }
            _ => None,
        }
    }

    /// Whether its figure is a bandwidth.
    pub fn is_ior(self) -> bool {
        self.name().starts_with("ior")
    }
}

impl Io500Command {
    /// The directories of the phases below `datadir`.
    pub const DIRECTORIES: [&'static str; 4] =
        ["ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"];

    /// The phases that run, in order. Without its writes, a test has nothing to read.
    pub fn phases(&self) -> Vec<Phase> {
        let runs = |phase: &Phase| {
            let needed = phase.needs().into_iter().chain([*phase]);
            needed.into_iter().all(|phase| !self.without.contains(&phase))
        };
        Phase::ALL.into_iter().filter(runs).collect()
    }

    /// How many threads search for files, on a host with so many CPUs.
    pub fn threads(&self, cpus: usize) -> usize {
        match self.find_threads {
            0 => cpus.min(self.tasks as usize).max(1),
            given => given,
        }
    }

    /// IOR's command lines of ior-easy and ior-hard, with files below `datadir`.
    pub fn ior_lines(&self, datadir: &str) -> [Vec<String>; 2] {
        let common = format!(
            "-N {} -w -R -g -k -e -C -Q 1 -G 271 -D {} -O stoneWallingWearOut=1",
            self.tasks, self.stonewall_s
        );
        let per_process = if self.per_process { " -F" } else { "" };
        let easy =
            format!("-t {} -b {}{per_process} -a {}", self.transfer, self.block, self.ior_api[0]);
        let hard = format!("-t 47008 -b 47008 -s {} -a {}", self.segments, self.ior_api[1]);
        [(easy, "ior-easy/ior_file_easy"), (hard, "ior-hard/file")]
            .map(|(own, file)| line(&format!("{common} {own}"), "-o", format!("{datadir}/{file}")))
    }

    /// mdtest's command lines of mdtest-easy and mdtest-hard, with directories below `datadir`.
    pub fn mdtest_lines(&self, datadir: &str) -> [Vec<String>; 2] {
        let common = format!("--tasks={} -F -P -G 271 -N 1 -Y -W {}", self.tasks, self.stonewall_s);
        let [easy, hard] = self.files;
        let easy = format!("-n {easy} -u -L -a {}", self.mdtest_api[0]);
        let hard = format!("-n {hard} -t -w 3901 -e 3901 -a {}", self.mdtest_api[1]);
        [(easy, "mdtest-easy"), (hard, "mdtest-hard")].map(|(own, directory)| {
            line(&format!("{common} {own}"), "-d", format!("{datadir}/{directory}"))
        })
    }

    /// The tests of ior-easy and ior-hard, with tasks on these hosts.
    ///
    /// # Errors
    /// When IOR does not take a setting.
    pub fn ior(&self, datadir: &str, hosts: &[String]) -> Result<[IorCommand; 2], Usage> {
        let parsed = |words: &[String]| match ior::parse(words)? {
            hpc::Request::Run(mut call) => {
                call.place_on(hosts);
                Ok(*call)
            }
            hpc::Request::Help => Err(no_help()),
        };
        let [easy, hard] = self.ior_lines(datadir);
        Ok([parsed(&easy)?, parsed(&hard)?])
    }

    /// The tests of mdtest-easy and mdtest-hard, with tasks on these hosts.
    ///
    /// # Errors
    /// When mdtest does not take a setting.
    pub fn mdtest(&self, datadir: &str, hosts: &[String]) -> Result<[MdtestCommand; 2], Usage> {
        let parsed = |words: &[String]| match mdtest::parse(words)? {
            hpc::Request::Run(mut call) => {
                call.place_on(hosts);
                Ok(*call)
            }
            hpc::Request::Help => Err(no_help()),
        };
        let [easy, hard] = self.mdtest_lines(datadir);
        Ok([parsed(&easy)?, parsed(&hard)?])
    }
}

fn no_help() -> Usage {
    Usage::line("io500", "API", "asks for help", "give the name of an interface, such as POSIX")
}

/// The words of a command line, and a path, which may hold spaces.
fn line(words: &str, flag: &str, path: String) -> Vec<String> {
    let words = words.split_whitespace().map(str::to_owned);
    words.chain([flag.to_owned(), path]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_have_the_options_of_the_rules() {
        let call = Io500Command { tasks: 4, ..Io500Command::default() };
        let hosts = ["a", "a", "b", "b"].map(str::to_owned);
        let [easy, hard] = call.ior("/d x", &hosts).unwrap();
        assert_eq!((easy.transfer, easy.block, easy.per_process), (2 << 20, 9_920_000 << 20, true));
        assert_eq!((hard.transfer, hard.block, hard.segments), (47008, 47008, 10_000_000));
        assert_eq!(
            (easy.path(1, 0), hard.path(1, 0)),
            ("/d x/ior-easy/ior_file_easy.00000001".into(), "/d x/ior-hard/file".into())
        );
        for ior in [&easy, &hard] {
            assert!(ior.reorder && ior.fsync && ior.check_read && ior.wear_out && ior.keep);
            assert_eq!((ior.deadline_s, ior.next_node), (300, 2));
        }
        let without = Io500Command { without: vec![Phase::MdtestHardWrite], ..call.clone() };
        let left = without.phases();
        assert_eq!(left.len(), 8);
        assert!(!left.iter().any(|phase| phase.name().starts_with("mdtest-hard")), "{left:?}");
        assert_eq!((call.threads(2), call.threads(64), without.phases()[3]), (2, 4, Phase::Find));
        let [easy, hard] = call.mdtest("/d x", &hosts).unwrap();
        assert!(easy.unique && easy.leaves_only && !hard.unique && easy.files_only && hard.sync);
        assert_eq!((easy.write_bytes, hard.write_bytes, hard.read_bytes), (0, 3901, 3901));
        assert_eq!((easy.items, hard.items, hard.stonewall_s), (1_000_000, 1_000_000, 300));
    }
}
