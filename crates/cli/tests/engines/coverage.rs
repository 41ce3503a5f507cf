//! The issued I/O, as strace sees it. fathom's own counters are not trusted here.

use crate::common::schedule::{Ended, logged, on_schedule};
use crate::common::{FATHOM, FIO, Seeded, alone, loop_device, run, scratch};
use std::path::Path;
use std::process::Command;

/// A system call on the target.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    name: &'static str,
    /// First byte and number of bytes; `None` for a sync of the whole file.
    range: Option<(u64, u64)>,
}

const CALLS: [&str; 5] = ["pread64", "pwrite64", "fsync", "fdatasync", "sync_file_range"];

/// The calls that a worker makes on `target`, in order.
fn calls(program: &[&str], target: &Path, arguments: &[&str]) -> Vec<Call> {
    let mut command = Command::new("timeout");
    let traced = CALLS.join(",");
    command
        .args(["300", "strace", "-f", "-qq", "-s", "0", "-e"])
        .arg(format!("trace={traced},ioctl"));
    command.arg("-P").arg(target).args(program).args(["--name=x", "--ioengine=psync"]);
    command.arg(format!("--filename={}", target.display())).args(arguments);
    let ran = run(command.current_dir(target.parent().unwrap())).expect(0);
    let found: Vec<(&str, Call)> = ran.err.lines().filter_map(call).collect();
    // Threads of the layout come before the worker.
    let worker = found.last().map(|(thread, _)| *thread);
    found.into_iter().filter(|(thread, _)| Some(*thread) == worker).map(|(_, call)| call).collect()
}

/// Parses the thread and the call from a line of strace.
fn call(line: &str) -> Option<(&str, Call)> {
    let (thread, rest) = match line.strip_prefix("[pid ") {
        Some(rest) => rest.split_once("] ")?,
        None => ("", line),
    };
    let (name, arguments) = rest.split_once('(')?;
    let arguments: Vec<&str> = arguments.split(')').next()?.split(", ").collect();
    let number = |index: usize| {
        let text: &&str = arguments.get(index)?;
        // strace ends a line like this if another thread's call interrupts it. The result follows
        // later.
        let text = text.trim_end_matches(" <unfinished ...>");
        text.trim_matches(['[', ']']).parse::<u64>().ok()
    };
    if name == "ioctl" {
        let discard = *arguments.get(1)? == "BLKDISCARD";
        let range = Some((number(2)?, number(3)?));
        return discard.then_some((thread, Call { name: "trim", range }));
    }
    let name = CALLS.into_iter().find(|call| *call == name)?;
    let range = match name {
        "pread64" | "pwrite64" => Some((number(3)?, number(2)?)),
        // A call beyond all data only asks for write errors.
        "sync_file_range" if number(1) == Some(1 << 62) => return None,
        "sync_file_range" => Some((number(1)?, number(2)?)),
        _ => None,
    };
    Some((thread, Call { name, range }))
}

fn ours(target: &Path, arguments: &[&str]) -> Vec<Call> {
    calls(&[FATHOM, "fio"], target, arguments)
}

/// Ranges of the calls of one name.
fn ranges(calls: &[Call], names: &[&str]) -> Vec<(u64, u64)> {
    calls.iter().filter(|c| names.contains(&c.name)).filter_map(|c| c.range).collect()
}

/// Panics if a byte is accessed twice or is outside of `start..end`. Returns the bytes that are not
/// accessed.
#[track_caller]
fn untouched(mut ranges: Vec<(u64, u64)>, start: u64, end: u64, what: &str) -> u64 {
    ranges.sort_unstable();
    let mut at = start;
    let mut missing = 0;
    for (offset, length) in &ranges {
        assert!(*offset >= at, "{what}: byte {offset} twice or before {start}");
        missing += offset - at;
        at = offset + length;
    }
    assert!(at <= end, "{what}: goes to {at}, beyond {end}");
    missing + end - at
}

const IO: [&str; 2] = ["pread64", "pwrite64"];

#[test]
fn a_random_pass_touches_every_byte_once() {
    let directory = scratch();
    let target = directory.path().join("target");
    // Options and the smallest block. Less than that may be left over.
    let sizes = [
        ("--bs=4k", 4096),
        ("--bs=1000", 1000),
        ("--bsrange=1k-8k", 1024),
        ("--bsrange=512-16k", 512),
        ("--bssplit=1k/20:4k/50:8k/30", 1024),
        ("--bs=4k,8k", 4096),
        ("--bs=12k,4k", 4096),
        ("--bssplit=4k/60:2k/40,8k/10:16k/90", 2048),
        ("--bsrange=1k-4k,2k-16k", 1024),
    ];
    let mut random = Seeded::new(7);
    for (index, (size_of_block, smallest)) in sizes.into_iter().enumerate() {
        for rw in ["randread", "randwrite", "randrw"] {
            let smallest = match (rw, size_of_block) {
                ("randwrite", "--bs=4k,8k") => 8192,
                ("randread", "--bs=12k,4k") => 12288,
                ("randwrite", "--bsrange=1k-4k,2k-16k") => 2048,
                ("randwrite", "--bssplit=4k/60:2k/40,8k/10:16k/90") => 8192,
                _ => smallest,
            };
            let size = random.between(40, 300) * 1024 + random.between(0, 1) * 512;
            let start = random.between(0, 4) * 4096;
            let size_option = format!("--size={size}");
            let arguments = [
                format!("--rw={rw}"),
                size_of_block.into(),
                size_option,
                format!("--offset={start}"),
                format!("--randseed={index}"),
            ];
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let what = arguments.join(" ");
            let touched = ranges(&ours(&target, &arguments), &IO);
            let left = untouched(touched, start, start + size, &what);
            assert!(left < smallest, "{what}: {left} bytes untouched");
        }
    }
}

#[test]
fn each_loop_is_a_whole_pass_in_another_order() {
    let directory = scratch();
    let target = directory.path().join("target");
    let touched = ranges(&ours(&target, &["--rw=randread", "--size=256k", "--loops=3"]), &IO);
    assert_eq!(touched.len(), 3 * 64);
    let passes: Vec<&[(u64, u64)]> = touched.chunks(64).collect();
    for pass in &passes {
        assert_eq!(untouched(pass.to_vec(), 0, 256 << 10, "a pass"), 0);
    }
    assert!(passes[0] != passes[1] && passes[1] != passes[2]);
}

#[test]
fn trims_cover_a_device_once() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 1 << 20, &[]);
    let target = Path::new(&device.device);
    for rw in ["trim", "randtrim", "trimwrite", "randtrimwrite"] {
        for block in ["4k", "12k"] {
            let (rw_option, bs) = (format!("--rw={rw}"), format!("--bs={block}"));
            let found = ours(target, &[&rw_option, &bs, "--offset=8k", "--size=480k"]);
            let trims = ranges(&found, &["trim"]);
            let left = untouched(trims.clone(), 8 << 10, 488 << 10, rw);
            assert_eq!(left, 0, "{rw} {block}");
            let writes = ranges(&found, &["pwrite64"]);
            match rw.ends_with("write") {
                true => assert_eq!(trims, writes, "each trim is followed by its write"),
                false => assert!(writes.is_empty()),
            }
        }
    }
}

#[test]
fn without_a_map_blocks_repeat() {
    let directory = scratch();
    let target = directory.path().join("target");
    let found = ours(&target, &["--rw=randread", "--size=1m", "--norandommap"]);
    let mut offsets = ranges(&found, &IO);
    assert_eq!(offsets.len(), 256);
    offsets.sort_unstable();
    offsets.dedup();
    // Of 256 draws, 162 different ones are expected, with a deviation of 5.
    assert!((130..195).contains(&offsets.len()), "{}", offsets.len());
}

#[test]
fn the_seed_decides() {
    let directory = scratch();
    let target = directory.path().join("target");
    for job in [
        &["--rw=randrw", "--size=256k"][..],
        &["--rw=randwrite", "--size=256k", "--norandommap", "--bsrange=1k-8k"],
        &["--rw=rw", "--size=128k", "--bssplit=1k/50:4k/50"],
    ] {
        let with = |option: &str| ours(&target, &[job, &[option]].concat());
        let (first, again, other) =
            (with("--randseed=5"), with("--randseed=5"), with("--randseed=6"));
        assert_eq!(first, again, "{job:?}");
        assert_ne!(first, other, "{job:?}");
        assert_eq!(with("--randrepeat=1"), with("--randrepeat=1"), "{job:?}");
        assert_ne!(with("--randrepeat=0"), with("--randrepeat=0"), "{job:?}");
    }
}

/// The order of I/O and syncs, and the offsets of sequential I/O.
#[test]
fn sequences_are_the_oracle_s() {
    for job in [
        "--rw=write --fsync=3 --size=40k",
        "--rw=write --fdatasync=4 --size=40k",
        "--rw=write --fsync=1 --size=12k",
        "--rw=write --size=40k --end_fsync=1",
        "--rw=write --size=20k --fsync_on_close=1",
        "--rw=write --size=64k --sync_file_range=write:2",
        "--rw=write --size=64k --sync_file_range=wait_before,write,wait_after:3 --bs=8k",
        "--rw=read --size=40k --fsync=2",
        "--rw=write:4k --size=64k",
        "--rw=read:8k --size=64k --io_size=96k",
        "--rw=write:-8k --size=64k --number_ios=20",
        "--rw=read --bs=5k --size=64k --loops=2",
        "--rw=write --bs=3000 --size=20000 --offset=1000 --io_size=50000",
    ] {
        let arguments: Vec<&str> = job.split(' ').collect();
        let [ours, theirs] = [&[FATHOM, "fio"][..], &[FIO, "--thread"]].map(|program| {
            let directory = scratch();
            calls(program, &directory.path().join("target"), &arguments)
        });
        assert_eq!(ours, theirs, "{job}");
    }
}

/// The I/Os of a job of the null engine that lasts two seconds, reads first.
fn rated(options: &[&str]) -> [Vec<Ended>; 2] {
    let common = ["--name=x", "--ioengine=null", "--size=1g", "--time_based", "--runtime=2s"];
    logged(1, &[&common, options].concat()).remove(0)
}

#[test]
fn rates_are_kept() {
    for (options, per_second) in [
        (&["--rate_iops=1000"][..], [1000.0, 0.0]),
        (&["--rate_iops=20000", "--rw=randread"], [20_000.0, 0.0]),
        (&["--rate=8m", "--bs=4k", "--rw=write"], [0.0, 2048.0]),
        (&["--rate_iops=500,1500", "--rw=randrw"], [500.0, 1500.0]),
        (&["--rate=4m,1m", "--bs=4k", "--rw=rw"], [1024.0, 256.0]),
    ] {
        for (ios, rate) in rated(options).iter().zip(per_second) {
            if rate == 0.0 {
                assert!(ios.is_empty(), "{options:?}");
                continue;
            }
            let what = format!("{options:?} at {rate}");
            on_schedule(&what, ios, |io| io.ios as f64 / rate * 1000.0, |_| 0.0);
        }
    }
}

/// A Poisson process has as many arrivals as its rate demands, within five standard deviations.
#[test]
fn poisson_rates_are_kept() {
    let [ios, _] = rated(&["--rate_iops=5000", "--rate_process=poisson"]);
    let deviation = |io: Ended| (io.ios as f64).sqrt() / 5.0;
    on_schedule("poisson", &ios, |io| io.ios as f64 / 5.0, |io| 5.0 * deviation(io));
}
