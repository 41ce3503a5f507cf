//! What is measured: one row a case, with what must hold of it.

use super::bounds::{Bound, Figure, at_least, at_most, below, more_by};
use crate::selection::is_chosen;
use anyhow::{Result, bail};
use std::path::Path;

/// What a case works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nothing: the program's own cost.
    Null,
    /// A compressed RAM disk: a real device that answers in a microsecond.
    Zram,
    /// A full file on a disk.
    File,
    /// A file on a disk that is not there yet.
    NewFile,
    /// A file in memory that is not there yet: what a filesystem costs, and no device.
    Memory,
    /// A job file of ten thousand sections.
    Sections,
}

/// What a case is measured beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// fio, given the same arguments.
    Fio,
    /// Ourselves, with one more argument.
    OursWith(&'static str),
    /// Ourselves, without the last option of the case.
    OursWithoutLast,
    /// Nothing: its bounds are absolute.
    None,
}

/// What ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Time: `--seconds`. Its I/Os are counted.
    Timed,
    /// Its work: how long the process took is what counts.
    Done,
    /// The refusal of its last section, after all of them were read and planned: exit code 1, as
    /// under the name fio.
    Refused,
}

/// One comparison. Both programs get the same arguments, everything else at its default.
#[derive(Debug)]
pub struct Case {
    /// As in the table and in `--cases`.
    pub name: &'static str,
    /// What it works on.
    pub target: Target,
    /// Options of the job, or of the program.
    options: &'static [&'static str],
    /// What ends it.
    pub ends: Ends,
    /// What it is measured beside.
    pub peer: Peer,
    /// What must hold.
    pub bounds: &'static [Bound],
    /// Whether instructions are counted: where the program's own work is all there is.
    pub counted: bool,
}

const FASTER_THAN_ANY: &[Bound] = &[at_least(Figure::Rate, 6.0), below(Figure::Interval, 30.0)];
const AS_FAST_AND_AS_QUICK: &[Bound] =
    &[at_least(Figure::Rate, 0.98), at_most(Figure::Median, 1.0), at_most(Figure::P99, 1.0)];
const AS_FAST_FOR_A_FIFTH: &[Bound] = &[at_least(Figure::Rate, 0.99), at_most(Figure::User, 0.2)];
const AS_FAST_FOR_NO_MORE: &[Bound] =
    &[at_least(Figure::Rate, 0.98), at_most(Figure::Process, 1.0)];

/// What `--layers` may cost each I/O. The process loads its programs besides, once.
const LAYERS: &[Bound] = &[at_least(Figure::Rate, 0.97), more_by(Figure::Jobs, 250.0)];

const fn timed(
    name: &'static str,
    target: Target,
    options: &'static [&'static str],
    bounds: &'static [Bound],
) -> Case {
    Case { name, target, options, ends: Ends::Timed, peer: Peer::Fio, bounds, counted: false }
}

const fn done(
    name: &'static str,
    target: Target,
    options: &'static [&'static str],
    bounds: &'static [Bound],
) -> Case {
    Case { ends: Ends::Done, ..timed(name, target, options, bounds) }
}

/// What the last of `options` adds to the cheapest I/O there is.
const fn cost(name: &'static str, options: &'static [&'static str]) -> Case {
    timed(name, Target::Null, options, &[]).beside(Peer::OursWithoutLast).counted()
}

impl Case {
    const fn beside(self, peer: Peer) -> Case {
        Case { peer, ..self }
    }

    const fn counted(self) -> Case {
        Case { counted: true, ..self }
    }
}

/// Options of random reads past the page cache at a depth, with the layers of their I/Os.
macro_rules! layers {
    ($depth:literal) => {
        &[
            "--ioengine=io_uring",
            "--rw=randread",
            "--bs=4k",
            "--direct=1",
            concat!("--iodepth=", $depth),
            "--layers",
        ]
    };
}

/// Options of random reads past the page cache: by an engine, at a depth, by so many jobs.
macro_rules! direct {
    ($engine:literal, $depth:literal) => {
        &[
            concat!("--ioengine=", $engine),
            "--rw=randread",
            "--bs=4k",
            "--direct=1",
            concat!("--iodepth=", $depth),
        ]
    };
    ($engine:literal, $depth:literal, $jobs:literal) => {
        &[
            concat!("--ioengine=", $engine),
            "--rw=randread",
            "--bs=4k",
            "--direct=1",
            concat!("--iodepth=", $depth),
            concat!("--numjobs=", $jobs),
            "--group_reporting",
        ]
    };
}

/// Options of the null engine at depth 1, with more.
macro_rules! null {
    ($($option:literal),*) => { &["--ioengine=null", "--size=1g", "--bs=4k", $($option),*] };
}

const CASES: &[Case] = &[
    timed("null-1", Target::Null, null!("--rw=read"), FASTER_THAN_ANY).counted(),
    timed("null-32", Target::Null, null!("--rw=read", "--iodepth=32"), FASTER_THAN_ANY).counted(),
    timed("null-rand-1", Target::Null, null!("--rw=randread"), FASTER_THAN_ANY).counted(),
    timed(
        "zram-io_uring-128",
        Target::Zram,
        direct!("io_uring", 128),
        &[at_least(Figure::Rate, 1.2), below(Figure::User, 60.0)],
    ),
    timed("zram-libaio-128", Target::Zram, direct!("libaio", 128), &[at_least(Figure::Rate, 1.1)]),
    timed("disk-psync-1", Target::File, direct!("psync", 1), AS_FAST_AND_AS_QUICK),
    timed("disk-io_uring-1", Target::File, direct!("io_uring", 1), AS_FAST_AND_AS_QUICK),
    timed("disk-io_uring-32", Target::File, direct!("io_uring", 32), AS_FAST_FOR_A_FIFTH),
    timed("disk-io_uring-256", Target::File, direct!("io_uring", 256), AS_FAST_FOR_A_FIFTH),
    timed("disk-io_uring-32x4", Target::File, direct!("io_uring", 32, 4), AS_FAST_FOR_A_FIFTH),
    timed("disk-io_uring-256x4", Target::File, direct!("io_uring", 256, 4), AS_FAST_FOR_A_FIFTH),
    timed("disk-libaio-32", Target::File, direct!("libaio", 32), AS_FAST_FOR_A_FIFTH),
    timed("disk-libaio-256", Target::File, direct!("libaio", 256), AS_FAST_FOR_A_FIFTH),
    timed("disk-libaio-32x4", Target::File, direct!("libaio", 32, 4), AS_FAST_FOR_A_FIFTH),
    timed("disk-libaio-256x4", Target::File, direct!("libaio", 256, 4), AS_FAST_FOR_A_FIFTH),
    timed(
        "cache-psync-1",
        Target::File,
        // Both programs drop what is cached at the start: it has to be small to be warm soon.
        &["--ioengine=psync", "--rw=randread", "--bs=4k", "--size=64m", "--pre_read=1"],
        &[at_least(Figure::Rate, 1.1)],
    ),
    timed(
        "seq-read-1m",
        Target::File,
        &["--ioengine=libaio", "--rw=read", "--bs=1m", "--direct=1", "--iodepth=8"],
        AS_FAST_FOR_NO_MORE,
    ),
    timed(
        "seq-write-1m",
        Target::File,
        &["--ioengine=libaio", "--rw=write", "--bs=1m", "--direct=1", "--iodepth=8"],
        AS_FAST_FOR_NO_MORE,
    ),
    done(
        "verify-crc32c",
        Target::Memory,
        &["--ioengine=psync", "--rw=randwrite", "--bs=4k", "--size=512m", "--verify=crc32c"],
        &[at_least(Figure::Speed, 1.2)],
    ),
    timed(
        "refill-1m",
        Target::Null,
        &["--ioengine=null", "--size=1g", "--rw=write", "--bs=1m", "--refill_buffers"],
        &[at_least(Figure::Rate, 1.5)],
    ),
    done(
        "randommap-16t",
        Target::Null,
        &["--ioengine=null", "--size=16t", "--rw=randwrite", "--bs=4k", "--number_ios=1"],
        &[below(Figure::Elapsed, 10e6), below(Figure::Memory, 16.0 * 1024.0 * 1024.0)],
    ),
    timed(
        "workers-2",
        Target::Null,
        null!("--rw=read", "--group_reporting", "--numjobs=2"),
        &[at_least(Figure::Rate, 1.9)],
    )
    .beside(Peer::OursWithoutLast),
    done(
        "start",
        Target::Null,
        null!("--rw=read", "--number_ios=1"),
        &[below(Figure::Elapsed, 5e6)],
    ),
    done(
        "layout-4g",
        Target::NewFile,
        &["--rw=read", "--size=4g", "--create_only=1"],
        &[at_least(Figure::Speed, 1.0)],
    ),
    Case {
        ends: Ends::Refused,
        ..done(
            "sections-10000",
            Target::Sections,
            &["--max-jobs=20000"],
            &[below(Figure::Elapsed, 200e6)],
        )
        .beside(Peer::None)
    },
    // What sampling the machine ten times a second costs where an I/O costs least.
    timed("sampler-zram-128", Target::Zram, direct!("io_uring", 128), &[])
        .beside(Peer::OursWith("--sample-hz=0")),
    // What timing each I/O in the kernel costs, where the device is fast and where it takes no time.
    timed("layers-disk-32", Target::File, layers!(32), LAYERS).beside(Peer::OursWithoutLast),
    timed("layers-zram-32", Target::Zram, layers!(32), &[]).beside(Peer::OursWithoutLast),
    cost("cost-randread", null!("--rw=read", "--rw=randread")),
    cost("cost-norandommap", null!("--rw=randread", "--norandommap")),
    cost("cost-zipf", null!("--rw=randread", "--random_distribution=zipf:1.2")),
    cost("cost-rate", null!("--rw=read", "--rate_iops=1000000000")),
    cost("cost-mix", null!("--rw=read", "--rw=randrw")),
    cost("cost-bssplit", null!("--rw=read", "--bssplit=4k/50:8k/50")),
    cost("cost-lat-log", null!("--rw=read", "--write_lat_log=bench --log_avg_msec=100")),
    cost("cost-hist-log", null!("--rw=read", "--write_hist_log=bench --log_hist_msec=1000")),
    cost("cost-flow", null!("--rw=read", "--flow=1")),
    cost("cost-offload", null!("--rw=read", "--io_submit_mode=offload")),
    cost("cost-max-latency", null!("--rw=read", "--max_latency=1s")),
];

/// Cases whose name holds one of `words`; all of them without words.
pub fn select(words: &[String]) -> Result<Vec<&'static Case>> {
    let found: Vec<_> = CASES.iter().filter(|case| is_chosen(case.name, words)).collect();
    if found.is_empty() {
        let names: Vec<_> = CASES.iter().map(|case| case.name).collect();
        bail!("--cases {}: no such case; there are {}", words.join(","), names.join(", "));
    }
    Ok(found)
}

fn words(options: &[&str]) -> Vec<String> {
    options.iter().flat_map(|option| option.split(' ')).map(str::to_owned).collect()
}

impl Case {
    /// The job as it is given, its target and the form of its output aside.
    pub fn job(&self) -> Vec<String> {
        words(self.options)
    }

    /// The job it is measured beside, if there is one.
    pub fn peer_job(&self) -> Option<Vec<String>> {
        match self.peer {
            Peer::Fio => Some(self.job()),
            Peer::OursWith(argument) => Some([self.job(), vec![argument.to_owned()]].concat()),
            Peer::OursWithoutLast => Some(words(&self.options[..self.options.len() - 1])),
            Peer::None => None,
        }
    }

    /// Everything on the command line for `job` but where the output goes.
    pub fn arguments(&self, job: Vec<String>, target: Option<&Path>, seconds: u32) -> Vec<String> {
        // A colon would end the name of the file.
        let path = target.map(|path| path.display().to_string().replace(':', "\\:"));
        if self.target == Target::Sections {
            return job.into_iter().chain(path).collect();
        }
        let mut arguments = vec![format!("--name={}", self.name)];
        arguments.extend(job);
        arguments.extend(path.map(|path| format!("--filename={path}")));
        if self.ends == Ends::Timed {
            arguments.extend(["--time_based".to_string(), format!("--runtime={seconds}")]);
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).unwrap()
    }

    #[test]
    fn words_select_cases() {
        let names = |words: &[&str]| -> Vec<_> {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            select(&words).unwrap().into_iter().map(|case| case.name).collect()
        };
        assert_eq!(names(&[]).len(), CASES.len());
        assert_eq!(names(&["null-"]), ["null-1", "null-32", "null-rand-1"]);
        assert_eq!(names(&["null-1", "zram-lib"]), ["null-1", "zram-libaio-128"]);
        let none = select(&["tape".to_string()]).unwrap_err().to_string();
        assert!(none.contains("tape") && none.contains("null-1"), "{none}");
    }

    #[test]
    fn arguments_name_the_target() {
        let disk = case("disk-libaio-32x4");
        let arguments = disk.arguments(disk.job(), Some(Path::new("/a:b/file")), 3);
        assert!(arguments.contains(&"--filename=/a\\:b/file".to_string()), "{arguments:?}");
        assert!(arguments.contains(&"--numjobs=4".to_string()), "{arguments:?}");
        assert!(arguments.contains(&"--runtime=3".to_string()), "{arguments:?}");
        let sections = case("sections-10000");
        let arguments = sections.arguments(sections.job(), Some(Path::new("/a.fio")), 3);
        assert_eq!(arguments, ["--max-jobs=20000", "/a.fio"]);
    }

    /// What is measured beside a case differs from it in what the case is about.
    #[test]
    fn the_cost_of_an_option_is_shown_beside_the_job_without_it() {
        let cost = case("cost-lat-log");
        assert_eq!(cost.job()[4..], ["--write_lat_log=bench", "--log_avg_msec=100"]);
        assert_eq!(cost.peer_job().unwrap()[..], cost.job()[..4]);
        let names: std::collections::BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
    }
}
