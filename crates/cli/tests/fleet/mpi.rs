//! Real ranks on this machine: one measurement, clocks of other hosts, and ranks that fail.

use crate::common::{FATHOM, MemoryDisk, Ran, Throttle, document, joined, names, run};
use record::SplitMix64;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use testbed::{alone, scratch};

/// The launchers, by the names that Debian gives them.
pub const LAUNCHERS: [&str; 2] = ["mpirun.openmpi", "mpirun.mpich"];

/// Starts ranks. Rank 1 (and no other) is started by `rank_1`: a shell script, whose arguments are the
/// program and its own. All have the variable `R`.
fn ranks(launcher: &str, count: u32, directory: &Path, rank_1: &str, arguments: &[&str]) -> Ran {
    let script = format!("if [ $R = 1 ]; then {rank_1}\nfi");
    all_ranks(launcher, count, directory, &script, &[&["run"], arguments].concat())
}

/// Starts ranks, each by a shell script, whose arguments are the program and its own, and which has its
/// number in `R`.
pub fn all_ranks(launcher: &str, count: u32, at: &Path, script: &str, arguments: &[&str]) -> Ran {
    let script = format!("R=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; {script}\nexec \"$@\"");
    let mut command = Command::new(launcher);
    if launcher == "mpirun.openmpi" {
        command.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    command.args(["-n", &count.to_string(), "sh", "-c", &script, "sh", FATHOM]);
    // The terminal that Open MPI gives to a rank is no reason for colours.
    let ran =
        run(command.args(arguments).env_remove("NO_COLOR").env("TERM", "xterm").current_dir(at));
    assert!(!ran.out.contains('\x1b'), "{}", ran.out);
    ran
}

/// The findings of a check.
fn found<'a>(document: &'a Value, check: &str) -> Vec<&'a str> {
    let findings = document["fathom"]["findings"].as_array().unwrap();
    let of_check = findings.iter().filter(|finding| finding["check"] == check);
    of_check.map(|finding| finding["text"].as_str().unwrap()).collect()
}

const PACED: [&str; 9] = [
    "--name=paced",
    "--filename=data.$rank",
    "--rw=randrw",
    "--size=1m",
    "--rate_iops=400",
    "--time_based",
    "--runtime=1",
    "--output-format=json",
    "--rank-timeout=5",
];

#[test]
fn ranks_make_one_measurement() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        let archive = format!("--archive={}", directory.path().join("runs.db").display());
        let arguments = [&PACED[..], &[&archive, "--record=record.json"]].concat();
        let ran = ranks(launcher, 4, directory.path(), ":", &arguments).expect(0);
        let document = document(&ran);
        let fleet = &document["fathom"]["fleet"];
        assert_eq!(fleet["ranks"].as_array().unwrap().len(), 4, "{}", ran.out);
        let library = fleet["library"].as_str().unwrap();
        assert!(launcher.ends_with(if library.starts_with("Open") { "openmpi" } else { "mpich" }));
        let job = &document["jobs"][0];
        // What the ranks did in the window is what each says, added.
        let within = |rank: &Value| {
            let of = |d: &str| rank["groups"][0][d]["ios"].as_u64().unwrap();
            of("read") + of("write")
        };
        let sum: u64 = fleet["ranks"].as_array().unwrap().iter().map(within).sum();
        let group = &fleet["groups"][0];
        let window = group["window_ns"].as_f64().unwrap() / 1e9;
        let iops =
            group["read"]["iops"].as_f64().unwrap() + group["write"]["iops"].as_f64().unwrap();
        assert!((iops * window - sum as f64).abs() < 1.0, "{group}");
        let all: u64 =
            ["read", "write"].map(|d| job[d]["total_ios"].as_u64().unwrap()).iter().sum();
        assert!(sum <= all && sum * 2 > all, "{sum} of {all}");
        // Rates of reads and writes are 400 each, for each of four ranks. A busy machine keeps less.
        assert!(iops < 3200.0 * 1.02, "{iops}");
        let skew = group["skew_ns"].as_u64().unwrap();
        assert!((skew as f64) < window * 0.5e9, "{skew}");
        for check in ["straggler", "missing-ranks", "hosts-differ"] {
            assert_eq!(found(&document, check), [""; 0]);
        }
        let files = names(directory.path());
        for file in ["data.0", "data.1", "data.2", "data.3", "record.json", "runs.db"] {
            assert!(files.iter().any(|name| name == file), "{file} of {files:?}");
        }
        // One run is archived, and its record can be judged again.
        let listed = run(Command::new(FATHOM).args(["runs", "--json", &archive])).expect(0);
        assert_eq!(listed.json().as_array().map(Vec::len), Some(1), "{}", listed.out);
        let mut show = Command::new(FATHOM);
        let again = run(show.args(["runs", "show", "latest", &archive])).expect(0).out;
        assert!(again.contains("Fleet: 4 ranks on 1 host"), "{again}");
    }
}

#[test]
fn a_shared_file_is_divided_and_laid_out_once() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        let arguments = [
            "--name=part",
            "--filename=shared",
            "--offset=$rank*1m",
            "--size=1m",
            "--rw=read",
            "--bs=64k",
            "--output-format=json",
        ];
        let ran = ranks(launcher, 4, directory.path(), ":", &arguments).expect(0);
        let document = document(&ran);
        assert_eq!(document["jobs"][0]["read"]["io_bytes"], 4 << 20, "{}", ran.out);
        let shared = directory.path().join("shared");
        assert_eq!(std::fs::metadata(shared).unwrap().len(), 4 << 20);
        assert_eq!(
            ran.out.matches("Laying out").count() + ran.err.matches("Laying out").count(),
            0
        );
    }
}

#[test]
fn the_clock_of_another_host_is_found_within_its_bound() {
    let _alone = alone();
    let directory = scratch();
    for launcher in LAUNCHERS {
        let ahead = "exec unshare --time --monotonic 5000 --fork \"$@\"";
        let ran = ranks(launcher, 3, directory.path(), ahead, &PACED).expect(0);
        let document = document(&ran);
        let clock = |rank: usize| &document["fathom"]["fleet"]["ranks"][rank]["clock"];
        for moment in ["before", "after"] {
            let found = clock(1)[moment]["ahead_ns"].as_i64().unwrap();
            let bound = clock(1)[moment]["bound_ns"].as_i64().unwrap();
            assert!((found - 5_000_000_000_000).abs() <= bound, "{moment}: {}", clock(1));
            // Half of the longest round trip that counts.
            assert!(bound <= 125_000_000, "{bound}");
        }
        assert_eq!(clock(2)["same_as_rank_0"], true);
        let skew = document["fathom"]["fleet"]["groups"][0]["skew_ns"].as_u64().unwrap();
        assert!(skew < 500_000_000, "{skew}");
    }
}

#[test]
fn a_rank_that_a_control_group_throttles_is_named() {
    let _alone = alone();
    let disk = ThrottledDisk::new();
    LAUNCHERS.into_iter().for_each(|launcher| disk.is_told_of_one_rank(launcher, 1));
}

#[test]
#[ignore = "takes four minutes"]
fn each_of_fifty_stragglers_is_named() {
    let disk = ThrottledDisk::new();
    for number in 0..50 {
        disk.is_told_of_one_rank(LAUNCHERS[number % 2], 1 + (number / 2) as u32 % 3);
    }
}

/// A disk, and a control group that may read it slowly only.
struct ThrottledDisk {
    disk: MemoryDisk,
    group: Throttle,
}

impl ThrottledDisk {
    fn new() -> ThrottledDisk {
        let (disk, group) = (MemoryDisk::new(64 << 20), Throttle::new());
        group.limit(&disk.number(), 150);
        ThrottledDisk { disk, group }
    }

    /// Four ranks read it, one of them in the control group.
    fn is_told_of_one_rank(&self, launcher: &str, slow: u32) {
        let device = format!("--filename={}", self.disk.device.device);
        let throttled = self.group.starter().map(|word| quoted(&word)).join(" ");
        let script = format!("if [ $R = {slow} ]; then exec {throttled} \"$@\"\nfi");
        let arguments = [
            "run",
            "--name=slow",
            &device,
            "--rw=randread",
            "--direct=1",
            "--rate_iops=600",
            "--time_based",
            "--runtime=2",
            "--output-format=json",
        ];
        let at = self.disk.directory.path();
        let ran = all_ranks(launcher, 4, at, &script, &arguments).expect(0);
        let document = document(&ran);
        let [text] = found(&document, "straggler")[..] else { panic!("{}", ran.out) };
        assert!(text.starts_with(&format!("rank {slow} on ")), "{text}");
        let stragglers = &document["fathom"]["fleet"]["groups"][0]["stragglers"];
        assert_eq!(stragglers.as_array().map(Vec::len), Some(1), "{stragglers}");
        assert!(stragglers[0]["probability"].as_f64().unwrap() < 0.01);
    }
}

#[test]
fn ranks_of_one_host_are_no_neighbours_of_each_other() {
    let _alone = alone();
    let disk = MemoryDisk::new(64 << 20);
    let device = format!("--filename={}", disk.device.device);
    for launcher in LAUNCHERS {
        let arguments = [
            "--name=all",
            &device,
            "--rw=randrw",
            "--allow-destroy",
            &disk.device.device,
            "--direct=1",
            "--bs=64k",
            "--time_based",
            "--runtime=1",
            "--output-format=json",
            "--record=record.json",
        ];
        let ran = ranks(launcher, 3, disk.directory.path(), ":", &arguments).expect(0);
        let document = document(&ran);
        assert_eq!(found(&document, "noisy-neighbour"), [""; 0]);
        // Rank 0 knows what the two others moved.
        let record = std::fs::read_to_string(disk.directory.path().join("record.json")).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        let beside = &record["evidence"]["ranks_beside"];
        assert_eq!(beside["ranks"], 2, "{beside}");
        let read = beside["read"].as_u64().unwrap();
        let all = document["jobs"][0]["read"]["io_bytes"].as_u64().unwrap();
        assert!(read > 0 && read < all, "{read} of {all}");
    }
}

fn quoted(word: &str) -> String {
    format!("'{word}'")
}

#[test]
fn a_rank_that_is_killed_or_refuses_is_named_and_the_rest_is_reported() {
    let _alone = alone();
    // MPICH's launcher kills all ranks with the first that dies; one that stops it does not see.
    // All ranks are there when the file of this one is laid out, and MPI starts in less than a second or
    // in several.
    let laid_out = "until [ -s data.1 ]; do sleep 0.05; done; sleep 0.3";
    let (dies, stops) =
        (format!("({laid_out}; kill -KILL $$) &"), format!("({laid_out}; kill -STOP $$) &"));
    let cases = [
        ("mpirun.openmpi", dies.as_str()),
        ("mpirun.openmpi", &stops),
        ("mpirun.mpich", &stops),
        ("mpirun.openmpi", "set -- \"$@\" --readonly"),
        ("mpirun.mpich", "set -- \"$@\" --readonly"),
    ];
    for (launcher, rank_1) in cases {
        let case = format!("{launcher} {rank_1}");
        let Some(document) = lose_rank_1(launcher, rank_1) else { panic!("{case}: no report") };
        let missing = found(&document, "missing-ranks").join("\n");
        assert!(missing.starts_with("1 of 4 ranks: rank 1 on "), "{case}: {missing}");
        let ranks = document["fathom"]["fleet"]["ranks"].as_array().unwrap();
        assert_eq!(ranks.iter().filter(|rank| rank["state"] == "ran").count(), 3, "{case}");
        assert!(document["jobs"][0]["read"]["total_ios"].as_u64().unwrap() > 300);
    }
}

#[test]
#[ignore = "takes five minutes"]
fn a_rank_that_is_killed_at_any_of_fifty_moments_hangs_nothing() {
    let mut random = SplitMix64::new(5);
    for number in 0..50 {
        // MPICH's launcher waits for ever for a rank that is stopped when it has done its part.
        let (signal, launcher, latest) = match number % 2 {
            0 => ("KILL", "mpirun.openmpi", 1_600),
            _ => ("STOP", "mpirun.mpich", 1_100),
        };
        let milliseconds = random.bits() % latest;
        let moment = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
        let document = lose_rank_1(launcher, &format!("(sleep {moment}; kill -{signal} $$) &"));
        let found = document.map(|document| found(&document, "missing-ranks").join(""));
        println!("{signal} after {moment} s: {found:?}");
        assert!(found.is_none_or(|text| text.is_empty() || text.contains("rank 1")));
    }
}

/// Four ranks, of which rank 1 fails. Returns the report, if there is one: a rank that dies before MPI is
/// there ends all.
fn lose_rank_1(launcher: &str, rank_1: &str) -> Option<Value> {
    let directory = scratch();
    // After a death mpirun reads no output for two seconds, then kills: a file has all of it.
    let output = directory.path().join("report.json");
    let given = format!("--output={}", output.display());
    let arguments = [&PACED[..8], &["--rank-timeout=1", &given]].concat();
    let begin = Instant::now();
    let ran = ranks(launcher, 4, directory.path(), rank_1, &arguments);
    assert!(begin.elapsed().as_secs() < 30, "{launcher} {rank_1}: {:?}", begin.elapsed());
    let document: Value = serde_json::from_str(&std::fs::read_to_string(output).ok()?).ok()?;
    if !found(&document, "missing-ranks").is_empty() {
        assert_ne!(ran.code, 0, "{launcher} {rank_1}: {}", ran.out);
        let told = format!("{}{}", ran.out, ran.err);
        assert!(told.contains("fathom: error: rank 1"), "{told}");
    }
    Some(document)
}

#[test]
fn errors_of_one_rank_are_told_with_its_number() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        // The directory of rank 1's file is a file.
        for rank in [0, 2] {
            std::fs::create_dir(directory.path().join(format!("d{rank}"))).unwrap();
        }
        std::fs::write(directory.path().join("d1"), "").unwrap();
        let arguments = [&PACED[..1], &["--filename=d$rank/x"], &PACED[2..]].concat();
        let ran = ranks(launcher, 3, directory.path(), ":", &arguments);
        assert!([1, 3].contains(&ran.code), "{}: {}", ran.code, ran.err);
        let document = document(&ran);
        let rank = &document["fathom"]["fleet"]["ranks"][1];
        assert!(rank["why"].as_str().unwrap().contains("d1"), "{rank}");
        assert!(document["jobs"][0]["read"]["total_ios"].as_u64().unwrap() > 300);
        // A mistake that all make is told once.
        let ran = ranks(launcher, 3, directory.path(), ":", &["--nonsense"]).expect(2);
        assert_eq!((ran.out + &ran.err).matches("--nonsense").count(), 1);
        let ran = ranks(launcher, 3, directory.path(), ":", &["--repeat=3", "--name=a"]).expect(2);
        assert!((ran.out + &ran.err).contains("--repeat: does not work with several ranks"));
    }
}

/// Ranks of two hosts in turn: h0, h1, h0, h1.
const TWO_HOSTS: &str = "set -- unshare --uts sh -c 'hostname $0; exec \"$@\"' h$((R % 2)) \"$@\"";

#[test]
fn as_many_ranks_of_each_host_take_part_as_asked() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        let arguments = [&["run"], &PACED[..1], &["--filename=d.$rank.of.$ranks.$host"]].concat();
        let arguments = [&arguments, &PACED[2..], &["--ranks-per-host=1"]].concat();
        let ran = all_ranks(launcher, 4, directory.path(), TWO_HOSTS, &arguments).expect(0);
        let document = document(&ran);
        let ranks = document["fathom"]["fleet"]["ranks"].as_array().unwrap();
        let rows: Vec<_> =
            ranks.iter().map(|rank| (rank["rank"].as_u64(), rank["host"].as_str())).collect();
        assert_eq!(rows, [(Some(0), Some("h0")), (Some(1), Some("h1"))]);
        let files = names(directory.path());
        assert_eq!(files, ["d.0.of.2.h0", "d.1.of.2.h1"]);
    }
}

#[test]
fn a_sweep_over_ranks_makes_each_run_with_so_many() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        let into = directory.path().join("made");
        let at = format!("--into={}", into.display());
        let sweep = |more: &[&str]| {
            let job = ["--name=s", "--filename=d.$rank", "--rw=randread", "--bs=4k", "--size=1m"];
            let job = [&job[..], &["--rate_iops=200", "--time_based", "--runtime=300ms"]].concat();
            let words = [&["sweep", "--no-archive"], more, &job].concat();
            all_ranks(launcher, 4, directory.path(), ":", &words)
        };
        let three = ["--vary", "ranks=1,2,4", "--repeat=2", "--json"];
        let ran = sweep(&[&three[..], &[&at]].concat()).expect(0);
        let document = document(&ran);
        assert_eq!(document["runs_made"], 6, "{}{}", ran.out, ran.err);
        let rows = document["tables"][0]["columns"][0]["rows"].as_array().unwrap();
        let iops: Vec<f64> = rows.iter().map(|row| row["mean"].as_f64().unwrap()).collect();
        // The rate of each rank is the same; a busy machine keeps less.
        assert!(iops[0] < 230.0 && iops[1] < 460.0 && iops[2] < 920.0, "{iops:?}");
        assert!(iops[0] < iops[1] && iops[1] < iops[2], "{iops:?}");
        for file in ["d.0", "d.3"] {
            assert!(directory.path().join(file).exists(), "{file}");
        }
        let ran = sweep(&["--vary", "ranks=2,5"]).expect(2);
        assert!((ran.out + &ran.err).contains("--vary ranks=5: not so many ranks were started"));
    }
    let alone = run(Command::new(FATHOM).args(["sweep", "--vary", "ranks=2", "--name=x"]));
    assert!(alone.expect(2).err.contains("start the sweep with mpirun"));
}

#[test]
fn gates_and_the_archive_judge_the_time_in_which_all_ranks_ran() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        let archive = format!("--archive={}", directory.path().join("runs.db").display());
        // Rank 1 goes on for two seconds after rank 0 ended. Over all of that time the rate is 320 a second.
        let job = ["--name=uneven", "--ioengine=null", "--size=1g", "--rw=read", "--time_based"];
        let long = ["--rate_iops=200", "--runtime=3+2*$rank", "--output-format=json", &archive];
        let gated = |condition: &str| {
            let arguments = [&job[..], &long, &[condition]].concat();
            ranks(launcher, 2, directory.path(), ":", &arguments)
        };
        let document = document(&gated("--accept=iops>=360").expect(0));
        let span = &document["jobs"][0]["read"];
        assert!(span["iops"].as_f64().unwrap() < 350.0, "fio's figure is of the whole: {span}");
        let group = &document["fathom"]["fleet"]["groups"][0];
        assert!(group["window_ns"].as_u64().unwrap() < 3_500_000_000, "{group}");
        let mut list = Command::new(FATHOM);
        let listed = run(list.args(["runs", "--json", &archive])).expect(0).json();
        let archived = listed[0]["iops"].as_f64().unwrap();
        let reported = group["read"]["iops"].as_f64().unwrap();
        assert!((archived - reported).abs() < 1e-6, "{archived} {reported}");
        assert_eq!(gated("--accept=iops<360").code, 4);
    }
}

/// The names and contents of the files below a directory.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| (name.clone(), std::fs::read(directory.join(name)).unwrap());
    names(directory).into_iter().map(read).collect()
}

#[test]
fn tasks_of_ior_are_ranks_and_write_what_workers_of_one_process_write() {
    let _alone = alone();
    for line in ["-F -u -w -k -G 7", "-w -k -s 3 -G 7", "-w -r -W -R -C -k -G 7 -F"] {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let line = words(&format!("ior {line} -b 256k -t 64k -e --no-archive -o data"));
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let one = scratch();
        let mut command = Command::new(FATHOM);
        run(command.args(&line).args(["-N", "4"]).current_dir(one.path())).expect(0);
        for launcher in LAUNCHERS {
            let many = scratch();
            let ran = all_ranks(launcher, 4, many.path(), TWO_HOSTS, &line).expect(0);
            for text in
                ["nodes               : 2", "clients per node    : 2", "tasks               : 4"]
            {
                assert!(ran.out.contains(text), "{text}: {}", ran.out);
            }
            if line.contains(&"-u") {
                assert_eq!(names(many.path()), names(one.path()), "{line:?}");
            } else {
                assert!(contents(many.path()) == contents(one.path()), "{line:?}");
            }
        }
    }
}

#[test]
fn tasks_of_mdtest_are_ranks() {
    let _alone = alone();
    for launcher in LAUNCHERS {
        let directory = scratch();
        let line = ["mdtest", "-n", "20", "-w", "100", "-C", "-d", "md", "--no-archive"];
        let ran = all_ranks(launcher, 3, directory.path(), TWO_HOSTS, &line).expect(0);
        assert!(ran.out.contains("launched with 3 total task(s) on 2 node(s)"), "{}", ran.out);
        assert!(ran.out.contains("Nodemap: 101"), "{}", ran.out);
        assert!(ran.out.contains("3 tasks, 60 files/directories"), "{}", ran.out);
        let found =
            run(Command::new("find").arg(directory.path()).args(["-type", "f", "-size", "100c"]));
        assert_eq!(found.expect(0).out.lines().count(), 60);
        let ran =
            all_ranks(launcher, 2, directory.path(), ":", &["mdtest", "--tasks=3", "-n", "1"]);
        let ran = ran.expect(2);
        assert!((ran.out + &ran.err).contains("--tasks=3: only 2 ranks were started"));
    }
}

#[test]
fn tasks_of_io500_are_ranks() {
    let _alone = alone();
    let config = "[global]\ndatadir=d\nresultdir=r\ntimestamp-resultdir=FALSE\n[debug]\nstonewall-time=1\n\
        [ior-easy]\nblockSize=16m\n[ior-hard]\nsegmentCount=50\n[mdtest-easy]\nn=200\n[mdtest-hard]\nn=300\n";
    for launcher in LAUNCHERS {
        let directory = scratch();
        std::fs::write(directory.path().join("c.ini"), config).unwrap();
        let line = ["io500", "c.ini", "--no-archive", "--record=r.json"];
        let ran = all_ranks(launcher, 2, directory.path(), TWO_HOSTS, &line).expect(0);
        assert_eq!(ran.out.matches("[RESULT]").count(), 12, "{}", ran.out);
        assert_eq!(ran.out.matches("[SCORE ] Bandwidth ").count(), 1, "{}", ran.out);
        let below = joined(&ran.out);
        // 101 and 201 of each task; the names are found by rank 0 alone.
        assert!(
            below.contains("found 4 of 4 files") && below.contains("on the first host only"),
            "{below}"
        );
        assert!(!below.contains("All tasks are on one host"), "{below}");
        assert_eq!(names(directory.path()), ["c.ini", "r", "r.json"]);
        let set = formats::load_set(&directory.path().join("r.json")).unwrap();
        let ranks = |run: &record::RunRecord| run.fleet.as_ref().map(|fleet| fleet.ranks.len());
        assert!(set.runs.iter().all(|run| ranks(run) == Some(2)));
    }
}

#[test]
fn jobs_run_on_the_hosts_that_are_named_and_phases_wait_for_all() {
    let _alone = alone();
    let text = "[global]\nrw=write\nsize=256k\n\
        [first]\nhosts=h0\nfilename=first.$rank\nrate=1m\n\
        [second]\nstonewall\nhosts=x,*1\nfilename=second.$rank\n\
        [third]\nstonewall\nfilename=third.$rank\n";
    for launcher in LAUNCHERS {
        let directory = scratch();
        std::fs::write(directory.path().join("a.fio"), text).unwrap();
        let line = ["run", "a.fio", "--no-archive", "--record=r.json"];
        all_ranks(launcher, 4, directory.path(), TWO_HOSTS, &line).expect(0);
        let files = names(directory.path());
        let expected = ["a.fio", "first.0", "first.2", "r.json", "second.1", "second.3"];
        let all = expected.map(str::to_owned).into_iter();
        let all = all.chain((0..4).map(|rank| format!("third.{rank}")));
        assert_eq!(files, all.collect::<Vec<_>>());
        let record = formats::load(&directory.path().join("r.json")).unwrap();
        let of = |name: &str| record.jobs.iter().find(|job| job.name == name).unwrap();
        let workers = ["first", "second", "third"].map(|name| of(name).summed().workers);
        assert_eq!(workers, [2, 2, 4]);
        // The first takes a quarter of a second; nobody starts before it has ended.
        assert!(of("second").started >= of("first").ended, "{:?}", of("second").started);
        assert!(of("third").started >= of("second").ended, "{:?}", of("third").started);
    }
    let directory = scratch();
    let alone =
        ["run", "--name=a", "--hosts=elsewhere", "--filename=a", "--size=4k", "--no-archive"];
    let ran = run(Command::new(FATHOM).args(alone).current_dir(directory.path()));
    assert!(ran.err.contains("hosts: no job is for this host"), "{}{}", ran.code, ran.err);
    assert!(names(directory.path()).is_empty());
}
