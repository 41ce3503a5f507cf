//! The loads whose speed is predicted: those that fio makes, whose shape is known, and SQLite. The usual
//! benchmarks whose prediction is compared.

use anyhow::Result;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use testbed::Seeded;

/// An application.
pub struct Workload {
    pub name: &'static str,
    /// What it does, for the table.
    pub what: &'static str,
    /// What must be installed.
    pub programs: &'static [&'static str],
    /// The commands that prepare it and, last, run it in the current directory for about so many seconds. The
    /// directory is for what they read.
    pub lines: fn(&Path, u32) -> Result<Vec<Vec<String>>>,
}

/// A job that is often run to compare storage.
pub struct Usual {
    pub name: &'static str,
    pub options: &'static [&'static str],
}

pub const USUAL: &[Usual] = &[
    Usual {
        name: "`randread` 4k, depth 32",
        options: &["--rw=randread", "--bs=4k", "--ioengine=libaio", "--iodepth=32", "--direct=1"],
    },
    Usual {
        name: "`randrw` 70/30",
        options: &[
            "--rw=randrw",
            "--rwmixread=70",
            "--bs=4k",
            "--ioengine=libaio",
            "--iodepth=32",
            "--direct=1",
        ],
    },
];

/// Loads whose shape is known, and SQLite. The other applications are in [`super::applications`].
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "lookups",
        what: "2 processes that each read 8 KiB at random with O_DIRECT, then wait 500 µs",
        programs: &["fio"],
        lines: |_, seconds| {
            let reads = ["--rw=randread", "--bs=8k", "--ioengine=psync", "--direct=1"];
            prepared(&[&reads[..], &["--numjobs=2", "--thinktime=500us"]].concat(), seconds)
        },
    },
    Workload {
        name: "log",
        what: "4 KiB writes in order, fdatasync after every 4th, then a pause of 1 ms",
        programs: &["fio"],
        lines: |_, seconds| {
            let writes = ["--rw=write", "--bs=4k", "--ioengine=psync", "--fdatasync=4"];
            let pause = ["--overwrite=1", "--thinktime=1ms", "--thinktime_blocks=4"];
            prepared(&[&writes[..], &pause].concat(), seconds)
        },
    },
    Workload {
        name: "mixed",
        what: "70 % reads and 30 % writes at random with O_DIRECT, 4 KiB (60 %) and 16 KiB, depth 8",
        programs: &["fio"],
        lines: |_, seconds| {
            let mix = ["--rw=randrw", "--rwmixread=70", "--bssplit=4k/60:16k/40", "--overwrite=1"];
            let queue = ["--ioengine=libaio", "--iodepth=8", "--direct=1"];
            prepared(&[&mix[..], &queue].concat(), seconds)
        },
    },
    Workload {
        name: "scan",
        what: "64 KiB reads in order through the page cache, with a pause of 1 ms after each",
        programs: &["fio"],
        lines: |_, seconds| {
            let reads = ["--rw=read", "--bs=64k", "--ioengine=psync"];
            prepared(&[&reads[..], &["--thinktime=1ms"]].concat(), seconds)
        },
    },
    Workload {
        name: "arrivals",
        what: "4 KiB reads at random with O_DIRECT that arrive at random, 200 a second",
        programs: &["fio"],
        lines: |_, seconds| {
            let reads = ["--rw=randread", "--bs=4k", "--ioengine=psync", "--direct=1"];
            prepared(
                &[&reads[..], &["--rate_iops=200", "--rate_process=poisson"]].concat(),
                seconds,
            )
        },
    },
    Workload {
        name: "sqlite",
        what: "SQLite: each transaction updates a row, and two rows are looked up after it",
        programs: &["sqlite3"],
        lines: sqlite,
    },
];

/// fio with these options.
pub fn fio(options: &[&str], seconds: u32) -> Vec<String> {
    let mut line = vec!["fio".to_owned()];
    let common = ["--name=app", "--size=64m", "--time_based", "--group_reporting"];
    line.extend(common.iter().chain(options).map(|option| (*option).to_owned()));
    line.push(format!("--runtime={seconds}"));
    line
}

/// fio with these options; its files are made before.
fn prepared(options: &[&str], seconds: u32) -> Result<Vec<Vec<String>>> {
    let run = fio(options, seconds);
    let mut make = run.clone();
    make.push("--create_only=1".to_owned());
    Ok(vec![make, run])
}

/// Rows of the table.
const ROWS: usize = 60_000;
/// Transactions for each second that the run should take.
const TRANSACTIONS: u32 = 80;

fn sqlite(directory: &Path, seconds: u32) -> Result<Vec<Vec<String>>> {
    let (table, load) = (directory.join("table.sql"), directory.join("load.sql"));
    fs::write(
        &table,
        format!(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, value TEXT);\n\
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {ROWS})\n\
             INSERT INTO item SELECT id, hex(randomblob(150)) FROM n;\n"
        ),
    )?;
    let (mut seeded, mut text) = (Seeded::new(1), String::new());
    let mut row = || seeded.below(ROWS) + 1;
    for _ in 0..TRANSACTIONS * seconds {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "UPDATE item SET value = hex(randomblob(150)) WHERE id = {};\n\
             SELECT length(value) FROM item WHERE id IN ({}, {});",
            row(),
            row(),
            row()
        );
    }
    fs::write(&load, text)?;
    let line = |file: &Path| {
        let read = format!(".read '{}'", file.display());
        vec!["sqlite3".to_owned(), "app.db".to_owned(), read]
    };
    Ok(vec![line(&table), line(&load)])
}
