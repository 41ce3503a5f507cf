//! Size-bound jobs, some hundred of them generated: what was done equals what the oracle did.

use crate::common::{FATHOM, FIO, Ran, Seeded, alone, at_once, loop_device, run, scratch};
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
    /// Nothing: where sizes are mixed, the oracle's random map may stop early or overlap. Ours covers
    /// all of these bytes but what no block fits in.
    Covered { bytes: u64, largest: u64 },
    /// That there is no error.
    Errors,
}

/// A job and what is known of its outcome.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    options: Vec<String>,
    determined: Determined,
    /// The oracle counts fdatasync as short reads and not as synchronisations; at depth it issues
    /// several where one is due.
    syncs: bool,
}

impl Case {
    fn section(&self) -> String {
        format!("[{}]\nnew_group\n{}\n", self.name, self.options.join("\n"))
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
    fn from_json(job: &Value) -> Done {
        let number = |value: &Value| value.as_i64().unwrap_or_else(|| panic!("{value} of {job}"));
        let figures = ["total_ios", "io_bytes", "short_ios", "drop_ios"];
        let direction = |name| figures.map(|figure| number(&job[name][figure]));
        Done {
            error: number(&job["error"]),
            directions: ["read", "write", "trim"].map(direction),
            syncs: number(&job["sync"]["total_ios"]),
        }
    }

    fn without_syncs(&self) -> Done {
        let mut done = Done { syncs: 0, ..self.clone() };
        done.directions[0][2] = 0;
        done
    }

    fn sum(&self) -> [i64; 4] {
        std::array::from_fn(|i| self.directions.iter().map(|d| d[i]).sum())
    }

    /// Whether ours is what the job says, given the oracle's.
    fn agrees(&self, oracle: &Done, case: &Case) -> bool {
        if !case.syncs {
            let counted = Case { syncs: true, ..case.clone() };
            return self.without_syncs().agrees(&oracle.without_syncs(), &counted);
        }
        match case.determined {
            Determined::All => self == oracle,
            Determined::Sum => (self.error, self.sum()) == (oracle.error, oracle.sum()),
            Determined::Errors => self.error == oracle.error,
            Determined::Covered { bytes, largest } => {
                let ([_, ours, ..], (bytes, largest)) =
                    (self.sum(), (bytes as i64, largest as i64));
                self.error == oracle.error && (bytes - largest..=bytes).contains(&ours)
            }
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
    Some(report["jobs"].as_array()?.iter().map(|job| (name(job), Done::from_json(job))).collect())
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

/// fio 3.42 counts otherwise than the oracle: each loop of writes has all of io_size.
fn is_newer(case: &Case) -> bool {
    let has = |option: &str| case.options.iter().any(|given| given.starts_with(option));
    case.options.iter().any(|given| given == "rw=write") && has("io_size=") && has("loops=")
}

/// Where the two differ, a line each.
fn differences(global: &str, cases: &[Case]) -> Vec<String> {
    let ours = outcomes(&[FATHOM, "fio"], global, cases);
    let theirs = outcomes(&[FIO], global, cases);
    let mut found = Vec::new();
    for ((case, ours), theirs) in cases.iter().zip(&ours).zip(&theirs) {
        let same =
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(o, t)| o.agrees(t, case));
        if !same && !is_newer(case) {
            let options = case.options.join(" ");
            found.push(format!("{}: {options}\n  ours   {ours:?}\n  theirs {theirs:?}", case.name));
        }
    }
    found
}

/// Compares in batches, several of them at a time.
fn compare(global: &str, cases: &[Case]) {
    let batches: Vec<&[Case]> = cases.chunks(BATCH).collect();
    agree(cases, &at_once(&batches, |batch| differences(global, batch)).concat());
}

/// Jobs of a batch.
const BATCH: usize = 24;

#[track_caller]
fn agree(cases: &[Case], found: &[String]) {
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
        if self.random.percent(40) { blocks + self.random.between(1, block - 1) } else { blocks }
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
        // The oracle does another amount at each depth beside filesize.
        let filesize = self.options.iter().any(|o| o.starts_with("filesize"));
        if self.random.percent(25) && !filesize {
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
        let count = if self.random.percent(30) { self.random.between(2, 5) } else { 1 };
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
        // The oracle takes null's files for larger than filesize. A file below a block from its
        // offset on is refused by us.
        let null = self.options.iter().any(|o| o == "ioengine=null");
        if self.random.percent(15) && !null {
            let size = self.length(block, most) + 8 * block;
            self.set("filesize", size);
        }
        size
    }

    fn place(&mut self, block: u64) {
        // The oracle maps whole pages only.
        let mapped = self.options.iter().any(|o| o == "ioengine=mmap");
        if self.random.percent(15) && !mapped {
            let offset = block * self.random.between(1, 5);
            self.set("offset", offset);
            if self.random.percent(50) {
                self.set("offset_increment", 2 * block);
            }
        }
    }

    fn syncs(&mut self) {
        // The oracle fails to sync parts of pages.
        if self.options.iter().any(|o| o == "ioengine=mmap") {
            return;
        }
        if self.random.percent(25) {
            let name = self.random.one(&["fsync", "fdatasync", "write_barrier"]);
            let every = self.random.between(1, 9);
            self.set(name, every);
        }
        // The oracle fails to sync the null engine's files, which it never opens.
        let null = self.options.iter().any(|o| o == "ioengine=null");
        for name in ["end_fsync", "fsync_on_close"] {
            if self.random.percent(10) && !null {
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
        // Runs of blocks in sequence from random places on end at the end of the file: luck says when.
        true if rw.starts_with("rand") => draw.random.one(&[":2", ":5", ":8"]),
        true => draw.random.one(&[":4k", ":512", ":3k"]),
        false => "",
    };
    draw.set("rw", format!("{rw}{suffix}"));
    if suffix.len() == 2 {
        draw.set("rw_sequencer", "identical");
    }
    let block = match draw.random.percent(15) && engine != "null" && engine != "mmap" {
        true => {
            draw.flag("direct=1");
            4096 * draw.random.between(1, 4)
        }
        false => draw.block(),
    };
    draw.set("bs", block);
    let size = draw.files(block);
    draw.amount(block, size);
    draw.place(block);
    draw.syncs();
    draw.clones();
    if rw.starts_with("rand") && draw.random.percent(30) {
        draw.flag("norandommap");
    }
    // The directions of a sequential mix come to the end of a file when they are drawn often enough.
    let determined = match rw {
        "rw" => Determined::Errors,
        "randrw" => Determined::Sum,
        _ => Determined::All,
    };
    let mut options = draw.options;
    let has = |options: &[String], name: &str| options.iter().any(|o| o.starts_with(name));
    // The oracle counts fdatasyncs as I/Os of number_ios.
    if has(&options, "fdatasync") {
        options.retain(|o| !o.starts_with("number_ios"));
    }
    // With each engine the oracle ends the last pass elsewhere.
    if has(&options, "rw_sequencer") {
        options.retain(|o| !o.starts_with("io_size"));
    }
    // The oracle repeats a sync at the end of a pass that ends short of its bytes.
    let once = !has(&options, "loops") && !has(&options, "io_size");
    let syncs = !has(&options, "fdatasync")
        && (!has(&options, "fsync=") || (!has(&options, "iodepth") && once));
    Case { name: format!("plain{seed}"), options, determined, syncs }
}

/// A mix of reads and writes whose shares are set, or given by sizes.
fn mixed(seed: u64) -> Case {
    let mut draw = Draw::new(1000 + seed);
    draw.engine();
    let rw = draw.random.one(&["rw", "randrw", "randrw"]);
    draw.set("rw", rw);
    let block = draw.block();
    draw.set("bs", block);
    let blocks = draw.random.between(20, 60);
    draw.set("size", block * blocks);
    let share = draw.random.one(&["0", "1", "30", "70", "99", "100"]);
    let of = draw.random.one(&["rwmixread", "rwmixwrite"]);
    draw.set(of, share);
    draw.clones();
    let determined = match (rw, share) {
        (_, "0" | "100") => Determined::All,
        _ => Determined::Sum,
    };
    Case { name: format!("mixed{seed}"), options: draw.options, determined, syncs: true }
}

/// Blocks of several sizes, drawn or by direction.
fn sizes(seed: u64) -> Case {
    let mut draw = Draw::new(2000 + seed);
    draw.engine();
    let rw = draw.random.one(&["read", "write", "randread", "randwrite", "rw", "randrw"]);
    draw.set("rw", rw);
    let (name, value, largest) = match draw.random.between(0, 7) {
        0 => ("bs", "4k,8k", 8192),
        1 => ("bs", ",3k", 4096),
        2 => ("bs", "2k,,1k", 4096),
        3 => ("bsrange", "1k-8k", 8192),
        4 => ("bsrange", "1k-4k,2k-16k", 16384),
        5 => ("bssplit", "1k/20:4k/50:8k/30", 8192),
        6 => ("bssplit", "4k/60:2k/40,8k/10:16k/90", 16384),
        _ => ("bssplit", "512/:4k/", 4096),
    };
    draw.set(name, value);
    let size = draw.random.between(40, 200) * 1024;
    draw.set("size", size);
    let map = rw.starts_with("rand") && draw.random.percent(60);
    if rw.starts_with("rand") && !map {
        draw.flag("norandommap");
    }
    if draw.random.percent(20) {
        draw.flag("bs_unaligned");
    }
    let mix = rw.ends_with("rw");
    let determined = match name {
        _ if map => Determined::Covered { bytes: size, largest },
        "bs" if !mix => Determined::All,
        _ => Determined::Bytes { largest },
    };
    Case { name: format!("sizes{seed}"), options: draw.options, determined, syncs: true }
}

/// Trims, alone and with their writes, in the first part of a device.
fn trims(seed: u64, device: &str) -> Case {
    let mut draw = Draw::new(3000 + seed);
    draw.set("filename", device);
    let engine = draw.random.one(&["psync", "sync", "libaio", "io_uring"]);
    draw.set("ioengine", engine);
    if engine.len() > 5 {
        let depth = draw.random.between(1, 9);
        draw.set("iodepth", depth);
    }
    let rw = draw.random.one(&["trim", "randtrim", "trimwrite", "randtrimwrite"]);
    draw.set("rw", rw);
    let block = 4096 * draw.random.between(1, 4);
    draw.set("bs", block);
    let size = draw.length(block, 40) / 512 * 512;
    draw.set("size", size.max(block));
    // Whether the oracle ends loops of trimwrite early is chance where I/O completes later.
    if draw.random.percent(30) && !(engine.len() > 5 && rw.ends_with("trimwrite")) {
        let loops = draw.random.between(1, 3);
        draw.set("loops", loops);
    }
    // The oracle does more than that of trimwrite in loops.
    if draw.random.percent(30) && !draw.options.iter().any(|o| o.starts_with("loops")) {
        let count = draw.random.between(1, 30);
        draw.set("number_ios", count);
    }
    if draw.random.percent(30) {
        draw.flag("direct=1");
    }
    // The oracle loses most trims of randtrimwrite beside an offset.
    if draw.random.percent(30) && rw != "randtrimwrite" {
        let offset = block * draw.random.between(1, 9);
        draw.set("offset", offset);
    }
    draw.clones();
    let determined = Determined::All;
    Case { name: format!("trims{seed}"), options: draw.options, determined, syncs: true }
}

/// What is written is read back and checked.
fn verified(seed: u64) -> Case {
    let mut draw = Draw::new(4000 + seed);
    let engine = draw.random.one(&["psync", "sync", "pvsync", "libaio", "io_uring", "posixaio"]);
    draw.set("ioengine", engine);
    if engine.len() > 6 && draw.random.percent(70) {
        let depth = draw.random.between(2, 20);
        draw.set("iodepth", depth);
    }
    let rw = draw.random.one(&["write", "write", "randwrite", "randwrite", "rw", "randrw"]);
    draw.set("rw", rw);
    let interval = 512 * draw.random.between(1, 4);
    let block = interval * draw.random.between(1, 6);
    draw.set("bs", block);
    let method = draw.random.one(&[
        "md5", "crc64", "crc32", "crc32c", "crc16", "crc7", "xxhash", "sha1", "sha256", "sha512",
        "sha3-256", "meta", "pattern",
    ]);
    draw.set("verify", method);
    if method == "pattern" || draw.random.percent(20) {
        let pattern = draw.random.one(&["0xdeadbeef", "\"abcd\"-120", "0xff", "%o"]);
        draw.set("verify_pattern", pattern);
    }
    if draw.random.percent(40) {
        draw.set("verify_interval", interval);
    }
    if draw.random.percent(20) {
        draw.set("do_verify", 0);
    }
    // The oracle finds errors of its own making in sequential mixes over several files.
    if draw.random.percent(30) && rw != "rw" {
        let count = draw.random.one(&["1", "2", "3"]);
        draw.set("nrfiles", count);
    }
    let size = block * draw.random.between(3, 60);
    draw.set("size", size);
    draw.clones();
    let determined = match rw {
        "write" | "randwrite" => Determined::All,
        _ => Determined::Errors,
    };
    Case { name: format!("verified{seed}"), options: draw.options, determined, syncs: true }
}

/// Offsets that are drawn otherwise than evenly, or by zones.
fn shaped(seed: u64) -> Case {
    let mut draw = Draw::new(5000 + seed);
    draw.engine();
    let block = 1024 * draw.random.between(1, 8);
    draw.set("bs", block);
    let size = block * draw.random.between(20, 80);
    draw.set("size", size);
    let rw = match draw.random.between(0, 3) {
        0 => {
            let rw = draw.random.one(&["randread", "randwrite", "randrw"]);
            let shape = draw.random.one(&[
                "zipf:1.2",
                "zipf:0.8",
                "pareto:0.2",
                "pareto:0.7",
                "normal:30",
                "zoned:60/10:40/90",
            ]);
            draw.set("random_distribution", shape);
            rw
        }
        1 => {
            let rw = draw.random.one(&["randread", "randwrite"]);
            let share = draw.random.one(&["0", "25", "80"]);
            draw.set("percentage_random", share);
            draw.flag("norandommap");
            rw
        }
        2 => {
            let rw = draw.random.one(&["read", "write"]);
            draw.set("zonemode", "strided");
            let zone = block * draw.random.between(2, 5);
            draw.set("zonesize", zone);
            draw.set("zonerange", zone * 2);
            let skip = zone * draw.random.between(0, 2);
            draw.set("zoneskip", skip);
            rw
        }
        _ => {
            let rw = draw.random.one(&["randread", "randwrite"]);
            let generator = draw.random.one(&["lfsr", "tausworthe64"]);
            draw.set("random_generator", generator);
            rw
        }
    };
    draw.set("rw", rw);
    let determined = if rw == "randrw" { Determined::Sum } else { Determined::All };
    Case { name: format!("shaped{seed}"), options: draw.options, determined, syncs: true }
}

#[test]
fn plain_jobs() {
    compare("[global]\nzero_buffers\n", &(0..1000).map(plain).collect::<Vec<Case>>());
}

#[test]
fn mixes() {
    compare("[global]\nzero_buffers\n", &(0..200).map(mixed).collect::<Vec<Case>>());
}

#[test]
fn several_sizes() {
    compare("[global]\nzero_buffers\n", &(0..300).map(sizes).collect::<Vec<Case>>());
}

#[test]
fn verified_writes() {
    compare("[global]\n", &(0..240).map(verified).collect::<Vec<Case>>());
}

#[test]
fn shaped_offsets() {
    compare("[global]\nzero_buffers\n", &(0..200).map(shaped).collect::<Vec<Case>>());
}

#[test]
fn trims_of_a_device() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 4 << 20, &[]);
    let cases: Vec<Case> = (0..120).map(|seed| trims(seed, &device.device)).collect();
    // One after the other: they share the device.
    let batches = cases.chunks(BATCH);
    let found = batches.flat_map(|batch| differences("[global]\nzero_buffers\n", batch));
    agree(&cases, &found.collect::<Vec<_>>());
}
