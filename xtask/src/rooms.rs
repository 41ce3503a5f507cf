//! The crates, what each holds and which others it may depend on: the one table of them.
//! `cargo xtask tidy` holds the manifests to it, `cargo xtask docs` writes it into CONTRIBUTING.md.

use std::fmt::Write as _;

/// A crate of the workspace.
pub struct Room {
    /// What it belongs to.
    group: &'static str,
    /// Its directory below `crates`.
    pub name: &'static str,
    holds: &'static str,
    may_not: &'static str,
    /// Crates that it may depend on, tests included. "*": all above it.
    pub sees: &'static [&'static str],
}

const fn room(
    group: &'static str,
    name: &'static str,
    holds: &'static str,
    may_not: &'static str,
    sees: &'static [&'static str],
) -> Room {
    Room { group, name, holds, may_not, sees }
}

/// Every crate below those that it may see.
pub const ROOMS: &[Room] = &[
    room(
        "nouns",
        "record",
        "units, histogram, counters, facts, timeline, run record",
        "do I/O, judge",
        &[],
    ),
    room(
        "nouns",
        "trace",
        "recorded I/O: iologs, block traces, traces of applications; read, written, merged",
        "open anything",
        &["record"],
    ),
    room(
        "tests",
        "testbed",
        "devices, mounts, directories, cases drawn from a seed",
        "be in the product",
        &["record"],
    ),
    room(
        "tests",
        "test-servers",
        "object stores on loopback, a proxy that damages answers, a disk that lies",
        "be in the product",
        &["testbed"],
    ),
    room(
        "asking",
        "job",
        "the options table; job files, command line; help and references made from it",
        "read clocks",
        &["record", "trace", "testbed"],
    ),
    room(
        "asking",
        "host",
        "facts before a run, samples during one; the only reader of /proc and /sys",
        "judge",
        &["record", "testbed"],
    ),
    room(
        "asking",
        "plan",
        "from jobs and facts to a plan: sizes, seeds, files, threads, refusals",
        "touch the machine",
        &["record", "trace", "job", "host"],
    ),
    room(
        "doing",
        "layers",
        "the path of I/Os through the kernel: BPF programs, their loader, what they add up",
        "know jobs, print",
        &["record", "testbed"],
    ),
    room(
        "doing",
        "capture",
        "what applications ask of storage and what reaches the devices: BPF programs, their loader",
        "know jobs, print",
        &["record", "trace", "layers", "testbed"],
    ),
    room("doing", "objects", "client of object stores", "know jobs", &["testbed", "test-servers"]),
    room(
        "doing",
        "engine",
        "the hot loop, engines, offsets, pacing, payload; all unsafe code",
        "print, know jobs",
        &["record", "trace", "plan", "objects", "testbed"],
    ),
    room(
        "doing",
        "tuning",
        "settings of the machine, changed and put back",
        "judge",
        &["record", "host", "testbed"],
    ),
    room(
        "knowing",
        "judge",
        "every derived number; the checks, one file each; verdict, gate, comparison",
        "read the machine",
        &["record", "plan"],
    ),
    room(
        "knowing",
        "suite",
        "what to run next, and what several runs show together",
        "run anything",
        &["record", "judge"],
    ),
    room(
        "knowing",
        "model",
        "workloads: from recorded I/O to a model, to jobs, and how close they come",
        "open anything, run anything",
        &["record", "trace"],
    ),
    room(
        "keeping",
        "archive",
        "where runs are kept, in a file or on a server: names, filters",
        "judge",
        &["record", "judge", "testbed", "test-servers"],
    ),
    room("showing", "charts", "pictures", "know records of runs", &["record"]),
    room(
        "showing",
        "report",
        "what runs look like: text, fio's formats, JSON, HTML",
        "do file I/O, calculate",
        &["record", "trace", "judge", "suite", "model", "charts"],
    ),
    room(
        "showing",
        "formats",
        "files: native records, sweeps, import of others' results, export, logs",
        "judge, render reports",
        &["record", "judge", "suite"],
    ),
    room(
        "showing",
        "live",
        "what a machine does now, as lines, as a log, on a terminal",
        "read the machine",
        &["record"],
    ),
    room(
        "showing",
        "remote",
        "frames and messages between servers and clients, their encryption, the proof of a token",
        "open sockets",
        &["record", "job", "testbed", "test-servers"],
    ),
    room(
        "showing",
        "web",
        "pages and API over the archive",
        "start an engine",
        &["record", "judge", "archive", "report", "formats", "live"],
    ),
    room(
        "running",
        "runner",
        "one way of a run: execute, follow, archive, judge; signals",
        "print, parse",
        &[
            "record", "trace", "job", "host", "plan", "layers", "engine", "objects", "judge",
            "suite", "archive", "formats", "live", "testbed",
        ],
    ),
    room(
        "running",
        "fleet",
        "ranks that an MPI launcher started: messages, clocks, barriers, the sum of their records",
        "print, know jobs",
        &["record", "engine", "judge", "runner"],
    ),
    room(
        "other tools",
        "compat",
        "DISKSPD, IOR, mdtest, IO500, IOzone, dd, hdparm: their options to jobs, results to their layouts",
        "run",
        &["record", "trace", "job", "judge", "suite", "report", "formats"],
    ),
    room(
        "other tools",
        "apps",
        "application benchmarks",
        "know jobs",
        &["record", "host", "suite", "testbed"],
    ),
    room(
        "other tools",
        "powercut",
        "power cuts: promises kept outside, blocks that describe themselves, what a cut left",
        "know jobs",
        &["record", "engine", "report", "remote", "testbed", "test-servers"],
    ),
    room("program", "cli", "subcommands, output, exit codes", "hold logic", &["*"]),
];

/// What the commands of this crate need: tables of the product and what they measure or damage.
pub const XTASK_SEES: &[&str] = &[
    "compat",
    "job",
    "judge",
    "live",
    "model",
    "record",
    "report",
    "suite",
    "testbed",
    "remote",
    "trace",
    "objects",
    "powercut",
    "test-servers",
];

const BEGIN: &str = "<!-- Crates, written by `cargo xtask docs` from xtask/src/rooms.rs. -->\n";
const END: &str = "<!-- End of crates. -->\n";

/// `text` with the table of crates between its marks. Unchanged where the marks are not there.
pub fn contributing(text: &str) -> String {
    let Some((before, rest)) = text.split_once(BEGIN) else { return text.to_owned() };
    let Some((_, after)) = rest.split_once(END) else { return text.to_owned() };
    format!("{before}{BEGIN}\n{}\n{END}{after}", markdown())
}

fn markdown() -> String {
    let mut text =
        String::from("| group | crate | holds | may not | may see |\n|---|---|---|---|---|\n");
    for Room { group, name, holds, may_not, sees } in ROOMS {
        let sees = match sees {
            [] => "–".to_owned(),
            ["*"] => "all".to_owned(),
            names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        let _ = writeln!(text, "| {group} | `{name}` | {holds} | {may_not} | {sees} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_sees_only_crates_above_it() {
        for (index, room) in ROOMS.iter().enumerate() {
            for seen in room.sees.iter().filter(|seen| **seen != "*") {
                let above = ROOMS[..index].iter().any(|other| other.name == *seen);
                assert!(above, "{} sees {seen}, which is not above it", room.name);
            }
        }
    }

    #[test]
    fn the_table_is_written_between_its_marks() {
        let text = contributing(&format!("a\n{BEGIN}stale\n{END}b\n"));
        assert!(text.starts_with(&format!("a\n{BEGIN}\n| group |")), "{text}");
        assert!(text.ends_with(&format!("|\n\n{END}b\n")), "{text}");
        assert!(text.contains("| nouns | `trace` |") && !text.contains("stale"), "{text}");
        assert_eq!(contributing(&text), text);
    }
}
