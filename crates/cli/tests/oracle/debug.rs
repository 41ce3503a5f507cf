//! `--debug`, `--idle-prof`, `--cpuclock-test` and `--profile`: what the program says beside runs.

use crate::common::{FIO, as_fio, loop_device, run, scratch};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Lines of one area of a trace, without the number of the thread.
fn traced(text: &str, area: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.split_whitespace().next() == Some(area));
    let bare = |line: &str| {
        let mut words = line[9..].split_whitespace();
        assert!(words.next().is_some_and(|id| id.parse::<u32>().is_ok()), "{line}");
        words.collect::<Vec<_>>().join(" ")
    };
    lines.map(bare).collect()
}

fn oracle(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("timeout");
    run(command.args(["120", FIO]).args(arguments).current_dir(directory)).expect(0).out
}

/// The parts of an `io` line that are the job's doing.
fn deeds(text: &str) -> Vec<String> {
    let lines = traced(text, "io").into_iter().filter(|line| line.contains(": io_u "));
    let bare = |line: String| {
        let (step, rest) = line.split_once(": io_u ").unwrap();
        format!("{step} {}", rest.split_once(": ").unwrap().1)
    };
    lines.map(bare).collect()
}

#[test]
fn each_io_is_traced_in_fios_lines() {
    let directory = scratch();
    let arguments = ["--debug=io", "--name=a", "--size=32k", "--bs=4k", "--rw=write", "--fsync=4"];
    let ours = as_fio(directory.path(), &arguments).expect(0).out;
    let theirs = oracle(directory.path(), &arguments);
    assert!(ours.starts_with("fio: set debug option io\n"), "{ours}");
    // Where a synchronisation counts as being is another matter.
    let moves = |text: &str| {
        let all = deeds(text).into_iter().filter(|deed| !deed.contains("ddir=3"));
        all.collect::<Vec<_>>()
    };
    assert_eq!(moves(&ours).len(), 8 * 4);
    assert_eq!(moves(&ours), moves(&theirs));
}

#[test]
fn seeds_are_traced_and_equal_where_runs_repeat() {
    let directory = scratch();
    let seeds = |more: &str| {
        let job = ["--debug=random", "--name=a", "--size=16k", "--rw=randread", more];
        let out = as_fio(directory.path(), &job).expect(0).out;
        let lines = traced(&out, "random");
        let count = lines.iter().find_map(|line| line.strip_prefix("FIO_RAND_NR_OFFS="));
        let count: usize = count.unwrap().parse().unwrap();
        let seeds: Vec<String> =
            lines.iter().filter(|line| line.starts_with("rand_seeds[")).cloned().collect();
        assert_eq!(seeds.len(), count);
        assert_eq!(lines.iter().filter(|line| line.starts_with("off rand ")).count(), 4);
        seeds
    };
    assert_eq!(seeds("--randrepeat=1"), seeds("--randrepeat=1"));
    assert_ne!(seeds("--randrepeat=0"), seeds("--randrepeat=0"));
    assert_eq!(seeds("--randseed=7"), seeds("--randseed=7"));
    assert_ne!(seeds("--randseed=7"), seeds("--randseed=8"));
}

#[test]
fn options_are_traced_as_fio_traces_them() {
    let directory = scratch();
    let arguments =
        ["--debug=parse", "--name=a", "--size=16k", "--bs=4k", "--rw=read", "--ioengine=psync"];
    let ours = traced(&as_fio(directory.path(), &arguments).expect(0).out, "parse");
    let theirs = traced(&oracle(directory.path(), &arguments), "parse");
    let handled = |lines: &[String]| {
        let all = lines.iter().filter(|line| line.starts_with("handle_option="));
        all.cloned().collect::<Vec<_>>()
    };
    assert_eq!(handled(&ours), handled(&theirs));
    assert!(ours.contains(&"ret=0, out=16384".into()), "{ours:?}");
}

#[test]
fn states_and_files_are_traced_and_one_job_can_be_followed() {
    let directory = scratch();
    let job = ["--name=a", "--size=16k", "--rw=read", "--numjobs=2"];
    let with = |debug: &str| as_fio(directory.path(), &[&[debug], &job[..]].concat()).expect(0).out;
    let out = with("--debug=process,file");
    let states = traced(&out, "process");
    let running = states.iter().filter(|line| line.ends_with("INITIALIZED -> RUNNING")).count();
    assert_eq!(running, 2, "{states:?}");
    let files = traced(&out, "file");
    assert!(files.contains(&"fd open a.1.0".into()), "{files:?}");
    let out = with("--debug=file,job:2");
    let files = traced(&out, "file");
    assert!(files.contains(&"fd open a.1.0".into()), "{files:?}");
    assert!(!files.contains(&"fd open a.0.0".into()), "{files:?}");
}

#[test]
fn an_area_that_is_none_is_an_error_with_those_there_are() {
    let directory = scratch();
    let ran = as_fio(directory.path(), &["--debug=nonsense", "--name=a"]).expect(1);
    assert!(ran.out.contains("'nonsense' is none of all, process"), "{}", ran.out);
    let help = as_fio(directory.path(), &["--debug=help"]).expect(0).out;
    assert!(help.contains("helperthread"), "{help}");
}

#[test]
fn idleness_has_fios_keys_and_lines() {
    let directory = scratch();
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--time_based", "--runtime=1"];
    let with = |more: &[&str]| as_fio(directory.path(), &[&job[..], more].concat()).expect(0);
    let document = with(&["--idle-prof=percpu", "--output-format=json"]).json();
    let idleness = document["cpu_idleness"].as_object().unwrap();
    let expected = oracle(
        directory.path(),
        &[&job[..], &["--idle-prof=percpu", "--output-format=json"]].concat(),
    );
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    let keys = |object: &serde_json::Map<String, serde_json::Value>| {
        object.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(idleness), keys(expected["cpu_idleness"].as_object().unwrap()));
    let system = idleness["system"].as_f64().unwrap();
    assert!((0.0..=100.0).contains(&system), "{system}");
    let text = with(&["--idle-prof=system"]).out;
    let part = text.split_once("\nCPU idleness:\n").unwrap().1;
    assert!(part.starts_with("  system: ") && part.contains("  unit work: mean="), "{part}");
    assert!(!part.contains("percpu"));
    let alone = as_fio(directory.path(), &["--idle-prof=calibrate"]).expect(0).out;
    assert!(alone.starts_with("CPU idleness:\n  unit work: mean="), "{alone}");
    let ran = as_fio(directory.path(), &["--idle-prof=x", "--name=a"]).expect(1);
    assert!(ran.err.contains("none of system, percpu and calibrate"), "{}", ran.err);
}

#[test]
fn the_clock_of_the_cpus_is_tested() {
    let directory = scratch();
    let ran = as_fio(directory.path(), &["--cpuclock-test"]);
    let passed = ran.out.ends_with("cs: Pass!\n");
    assert!(ran.out.starts_with("cs: reliable_tsc: "), "{}", ran.out);
    assert_eq!(ran.code, i32::from(!passed), "{}", ran.out);
}

#[test]
fn tiobench_is_the_jobs_that_fio_makes_of_it() {
    let directory = scratch();
    let arguments = ["--profile=tiobench", "--size=1", "--threads=2", "--runtime=20"];
    let ran = as_fio(directory.path(), &[&arguments[..], &["--output-format=json"]].concat());
    let jobs = ran.expect(0).json()["jobs"].as_array().unwrap().clone();
    let seen: Vec<(&str, u64)> = jobs
        .iter()
        .map(|job| {
            let bytes = |d: &str| job[d]["io_bytes"].as_u64().unwrap();
            (job["jobname"].as_str().unwrap(), bytes("read") + bytes("write"))
        })
        .collect();
    let size = 2 << 20;
    let names = ["seqwrite", "randwrite", "seqread", "randread"];
    assert_eq!(seen, names.map(|name| (name, size)));
    assert!(directory.path().join(".fio.tio.4").exists());
    let help = as_fio(directory.path(), &["--profile=act", "--cmdhelp"]).expect(0).out;
    assert!(help.starts_with("device-names            : "), "{help}");
    let ran = as_fio(directory.path(), &["--profile=act"]).expect(1);
    assert!(ran.err.contains("needs --device-names"), "{}", ran.err);
    let ran = as_fio(directory.path(), &["--profile=none"]).expect(1);
    assert!(ran.err.contains("there are tiobench and act"), "{}", ran.err);
}

#[test]
fn act_is_the_jobs_that_fio_makes_of_it() {
    let directory = scratch();
    let device = loop_device(directory.path(), 16 << 20, &[]);
    let target = format!("--device-names={}", device.device);
    let always = ["--profile=act", &target, "--output-format=json"];
    let loads: [&[&str]; 3] = [
        &["--test-duration=1", "--threads-per-queue=2"],
        &["--test-duration=1", "--load=2", "--read-req-num-512-blocks=8"],
        // The oracle prints a line for each second of a test that is not made here: of the usual 24 h,
        // 1 GB within a minute.
        &["--prep=1", "--test-duration=1"],
    ];
    for load in loads {
        let arguments = [&always[..], load].concat();
        let ours = as_fio(directory.path(), &arguments).expect(0).json();
        let mut command = Command::new("timeout");
        let theirs = command.args(["60", FIO, "--thread"]).args(&arguments);
        let out = run(theirs.current_dir(directory.path())).expect(0).out;
        let theirs: Value = serde_json::from_str(&out[out.find("{\n").unwrap()..]).unwrap();
        let seen = |json: &Value| -> Vec<(String, u64, u64, Vec<u64>)> {
            let jobs = json["jobs"].as_array().unwrap().iter();
            jobs.map(|job| {
                let count = |d: &str| job[d]["total_ios"].as_u64().unwrap();
                let size = |d: &str| {
                    job[d]["io_bytes"].as_u64().unwrap().checked_div(count(d)).unwrap_or(0)
                };
                let name = job["jobname"].as_str().unwrap().to_owned();
                let group = job["groupid"].as_u64().unwrap();
                // What goes by rate differs with the machine's mood.
                let rated = count("read") > 0;
                let writes = if rated { u64::from(count("write") > 0) } else { count("write") };
                (name, group, writes, vec![size("read"), size("write")])
            })
            .collect()
        };
        assert_eq!(seen(&ours), seen(&theirs), "{load:?}");
    }
    // In a job it is passed over, with a word of ours.
    std::fs::write(directory.path().join("job.fio"), "[j]\nprofile=act\nioengine=null\nsize=1m\n")
        .unwrap();
    let ran = as_fio(directory.path(), &["job.fio"]).expect(0);
    assert!(ran.out.contains("--profile="), "{}", ran.out);
}

#[test]
fn checksums_are_measured_in_fios_columns() {
    let directory = scratch();
    let out = as_fio(directory.path(), &["--crctest=md5,crc32c"]).expect(0).out;
    let names: Vec<&str> = out.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(names, ["md5", "crc32c"]);
    assert!(out.lines().all(|line| line.ends_with(" MiB/sec")), "{out}");
    let ran = as_fio(directory.path(), &["--crctest=md4"]).expect(1);
    assert!(ran.err.contains("'md4'; expected md5"), "{}", ran.err);
}
