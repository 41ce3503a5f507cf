//! Size-bound jobs, some hundred of them generated: what was done equals what the oracle did.

mod common;

use common::seeded::Seeded;
use common::{FATHOM, FIO, Ran, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// How far the oracle's figures are determined by the job.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Determined {
    /// Everything.
    All,
    /// What the directions have together: the share of each is drawn.
    Sum,
    /// The bytes of all directions together, but for one largest block a worker: sizes are drawn.
    Bytes { largest: u64 },
}

/// A job and what is known of its outcome.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    options: Vec<String>,
    determined: Determined,
}

impl Case {
    fn section(&self) -> String {
        format!("[{}]\nstonewall\n{}\n", self.name, self.options.join("\n"))
    }
}

/// What a job did.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Done {
    error: i64,
    /// Requests, bytes, short and dropped ones of reads, writes and trims.
    directions: [[i64; 4]; 3],
    syncs: i64,
}

impl Done {
    fn of(job: &Value) -> Done {
        let number = |value: &Value| value.as_i64().unwrap_or_else(|| panic!("{value} of {job}"));
        let figures = ["total_ios", "io_bytes", "short_ios", "drop_ios"];
        let direction = |name| figures.map(|figure| number(&job[name][figure]));
        Done {
            error: number(&job["error"]),
            directions: ["read", "write", "trim"].map(direction),
            syncs: number(&job["sync"]["total_ios"]),
        }
    }

    fn sum(&self) -> [i64; 4] {
        std::array::from_fn(|i| self.directions.iter().map(|d| d[i]).sum())
    }

    /// Whether ours is what the job says, given the oracle's.
    fn agrees(&self, oracle: &Done, determined: Determined) -> bool {
        match determined {
            Determined::All => self == oracle,
            Determined::Sum => (self.error, self.sum()) == (oracle.error, oracle.sum()),
            Determined::Bytes { largest } => {
                let ([_, ours, ..], [_, theirs, ..]) = (self.sum(), oracle.sum());
                self.error == oracle.error && ours.abs_diff(theirs) <= largest
            }
        }
    }
}

/// The jobs of a report by name, in order; `None` when there is no report.
fn jobs(ran: &Ran) -> Option<Vec<(String, Done)>> {
    // The oracle says some of its remarks on stdout.
    let start = ran.out.find("{\n")?;
    let report: Value = serde_json::from_str(&ran.out[start..]).ok()?;
    let name = |job: &Value| job["jobname"].as_str().unwrap().to_owned();
    Some(report["jobs"].as_array()?.iter().map(|job| (name(job), Done::of(job))).collect())
}

fn do_jobs(program: &[&str], directory: &Path, text: &str) -> Ran {
    std::fs::write(directory.join("job.fio"), text).unwrap();
    let mut command = Command::new("timeout");
    let arguments = ["job.fio", "--output-format=json"];
    command.args(["60"]).args(program).args(arguments).current_dir(directory);
    run(&mut command)
}

/// Runs cases together with one of the programs. Cases that cannot run spoil a run of many, so then
/// each runs alone, and those that could not have an empty list.
fn outcomes(program: &[&str], global: &str, cases: &[Case]) -> Vec<Vec<Done>> {
    let directory = scratch();
    let sections: Vec<String> = cases.iter().map(Case::section).collect();
    let ran = do_jobs(program, directory.path(), &(global.to_owned() + &sections.concat()));
    let found = jobs(&ran).unwrap_or_default();
    let of = |case: &Case| -> Vec<Done> {
        found.iter().filter(|(name, _)| *name == case.name).map(|(_, done)| done.clone()).collect()
    };
    let all: Vec<Vec<Done>> = cases.iter().map(of).collect();
    if cases.len() == 1 || all.iter().all(|done| !done.is_empty()) {
        return all;
    }
    cases.iter().flat_map(|c| outcomes(program, global, std::slice::from_ref(c))).collect()
}

/// Where the two differ, a line each.
fn differences(global: &str, cases: &[Case]) -> Vec<String> {
    let ours = outcomes(&[FATHOM, "fio"], global, cases);
    let theirs = outcomes(&[FIO], global, cases);
    let mut found = Vec::new();
    for ((case, ours), theirs) in cases.iter().zip(&ours).zip(&theirs) {
        let same = ours.len() == theirs.len()
            && ours.iter().zip(theirs).all(|(o, t)| o.agrees(t, case.determined));
        if !same {
            let options = case.options.join(" ");
            found.push(format!("{}: {options}\n  ours   {ours:?}\n  theirs {theirs:?}", case.name));
        }
    }
    found
}

/// Compares in batches.
fn compare(global: &str, cases: &[Case]) {
    let found: Vec<String> =
        cases.chunks(24).flat_map(|batch| differences(global, batch)).collect();
    assert!(found.is_empty(), "{} of {} differ:\n{}", found.len(), cases.len(), found.join("\n"));
}

/// Draws a job.
struct Draw {
    random: Seeded,
    options: Vec<String>,
}

impl Draw {
    fn new(seed: u64) -> Draw {
        Draw { random: Seeded::new(seed), options: Vec::new() }
    }

    fn set(&mut self, name: &str, value: impl std::fmt::Display) {
        self.options.push(format!("{name}={value}"));
    }

    fn flag(&mut self, name: &str) {
        self.options.push(name.into());
    }

    /// A block size that is not always a power of two.
    fn block(&mut self) -> u64 {
        let odd = [512, 1000, 1536, 2048, 3072, 4096, 5000, 8192, 12288, 16384];
        odd[self.random.between(0, odd.len() as u64 - 1) as usize]
    }

    /// Some blocks, whole or not.
    fn length(&mut self, block: u64, most: u64) -> u64 {
        let blocks = block * self.random.between(1, most);
        match self.random.percent(40) {
            true => blocks + self.random.between(1, block - 1),
            false => blocks,
        }
    }

    fn engine(&mut self) -> &'static str {
        let engines = [
            "null", "null", "null", "psync", "psync", "sync", "vsync", "pvsync", "pvsync2",
            "libaio", "io_uring", "posixaio", "mmap",
        ];
        let engine = self.random.one(&engines);
        self.set("ioengine", engine);
        if ["libaio", "io_uring", "posixaio", "null"].contains(&engine) && self.random.percent(70) {
            let depth = self.random.between(2, 20);
            self.set("iodepth", depth);
            if self.random.percent(40) {
                let batch = self.random.between(1, depth);
                self.set("iodepth_batch", batch);
                let complete = self.random.between(1, depth);
                self.set("iodepth_batch_complete", complete);
            }
            if self.random.percent(20) {
                let low = self.random.between(1, depth);
                self.set("iodepth_low", low);
            }
        }
        engine
    }

    /// How much of it is done.
    fn amount(&mut self, block: u64, size: u64) {
        if self.random.percent(25) {
            let size = self.length(block, 2 * (size / block).max(1));
            self.set("io_size", size);
        }
        if self.random.percent(15) {
            let count = self.random.between(1, 2 * (size / block).max(1));
            self.set("number_ios", count);
        }
        if self.random.percent(20) {
            let loops = self.random.between(2, 3);
            self.set("loops", loops);
        }
    }

    fn files(&mut self, block: u64) -> u64 {
        let count = match self.random.percent(30) {
            true => self.random.between(2, 5),
            false => 1,
        };
        let most = 40;
        let size = self.length(block, most).max(count * block);
        self.set("size", size);
        if count > 1 {
            self.set("nrfiles", count);
            if self.random.percent(60) {
                let order = self.random.one(&["roundrobin", "sequential", "roundrobin:3"]);
                self.set("file_service_type", order);
            }
            if self.random.percent(30) {
                let open = self.random.between(1, count);
                self.set("openfiles", open);
            }
        }
        if self.random.percent(15) {
            let size = self.length(block, most);
            self.set("filesize", size);
        }
        size
    }

    fn place(&mut self, block: u64) {
        if self.random.percent(15) {
            let offset = block * self.random.between(1, 5);
            self.set("offset", offset);
            if self.random.percent(50) {
                self.set("offset_increment", 2 * block);
            }
        }
    }

    fn syncs(&mut self) {
        if self.random.percent(25) {
            let name = self.random.one(&["fsync", "fdatasync", "write_barrier"]);
            let every = self.random.between(1, 9);
            self.set(name, every);
        }
        for name in ["end_fsync", "fsync_on_close"] {
            if self.random.percent(10) {
                self.set(name, 1);
            }
        }
    }

    fn clones(&mut self) {
        if self.random.percent(25) {
            let count = self.random.between(2, 3);
            self.set("numjobs", count);
            if self.random.percent(50) {
                self.flag("group_reporting");
            }
        }
    }
}

/// Any job of one block size.
fn plain(seed: u64) -> Case {
    let mut draw = Draw::new(seed);
    let engine = draw.engine();
    let rw = draw.random.one(&["read", "write", "randread", "randwrite", "rw", "randrw"]);
    let suffix = match draw.random.percent(15) {
        true if rw.starts_with("rand") => draw.random.one(&[":2", ":5", ":8"]),
        true => draw.random.one(&[":4k", ":512", ":3k"]),
        false => "",
    };
    draw.set("rw", format!("{rw}{suffix}"));
    if suffix.len() == 2 && draw.random.percent(50) {
        draw.set("rw_sequencer", "identical");
    }
    let block = match draw.random.percent(15) && engine != "null" && engine != "mmap" {
        true => {
            draw.flag("direct=1");
            4096 * draw.random.between(1, 4)
        }
        false => draw.block(),
    };
    let whole = draw.options.iter().any(|o| o == "direct=1");
    draw.set("bs", block);
    let size = draw.files(block);
    draw.amount(block, size);
    draw.place(block);
    draw.syncs();
    draw.clones();
    if rw.starts_with("rand") && draw.random.percent(30) {
        draw.flag("norandommap");
    }
    let determined = match rw {
        "rw" | "randrw" => Determined::Sum,
        _ => Determined::All,
    };
    let _ = whole;
    Case { name: format!("plain{seed}"), options: draw.options, determined }
}

#[test]
fn plain_jobs() {
    let count: u64 = std::env::var("COUNT").map_or(240, |c| c.parse().unwrap());
    let cases: Vec<Case> = (0..count).map(plain).collect();
    compare("[global]\nzero_buffers\n", &cases);
}
