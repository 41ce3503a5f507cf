//! Flow, latency limits, think time and the ends of jobs, compared with fio.

use crate::common::schedule::{logged, on_schedule};
use crate::common::{FATHOM, FIO, Ran, alone, as_fio, at_once, fathom, recorded, run, scratch};
use record::{Direction, JobRecord, RunRecord};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Both programs under one job file, as JSON.
fn both(directory: &Path, job: &str) -> [(i32, Value); 2] {
    std::fs::write(directory.join("job.fio"), job).unwrap();
    [&[FATHOM, "fio"][..], &[FIO]].map(|program| {
        let mut command = Command::new("timeout");
        let arguments = ["job.fio", "--output-format=json"];
        let ran: Ran = run(command.arg("60").args(program).args(arguments).current_dir(directory));
        let start = ran.out.find("{\n").unwrap_or_else(|| panic!("no JSON: {ran:?}"));
        (ran.code, serde_json::from_str(&ran.out[start..]).unwrap())
    })
}

fn job_file(directory: &Path, job: &str) -> RunRecord {
    std::fs::write(directory.join("job.fio"), job).unwrap();
    recorded(directory, 0, &["job.fio"])
}

fn ios(record: &RunRecord) -> Vec<u64> {
    record.jobs.iter().map(JobRecord::ios).collect()
}

/// I/Os of each job up to the last common end of an interval of all of `tied`: a flow holds only while
/// all its jobs run.
fn ios_together(record: &RunRecord, tied: &[usize]) -> Vec<u64> {
    let ends = |job: usize| record.jobs[job].intervals.iter().map(|i| i.start + i.length);
    let common = ends(tied[0]).filter(|end| tied.iter().all(|job| ends(*job).any(|e| e == *end)));
    let until = common.max().unwrap();
    let of = |job: &JobRecord| {
        let within = job.intervals.iter().filter(|i| i.start + i.length <= until);
        within.map(|i| Direction::ALL.into_iter().map(|d| i.ios[d]).sum::<u64>()).sum()
    };
    record.jobs.iter().map(of).collect()
}

const NULL: &str = "[global]\nioengine=null\nsize=1t\nrw=randread\nnorandommap\ntime_based\n";

#[test]
fn jobs_of_a_flow_keep_the_ratio_of_their_weights() {
    let _alone = alone();
    let directory = scratch();
    for weights in [[3, 2, 1], [10, 1, 1]] {
        let jobs = weights.map(|weight| format!("[w{weight}]\nflow={weight}\n")).concat();
        let record = job_file(directory.path(), &format!("{NULL}runtime=2\nflow_id=4\n{jobs}"));
        let ios = ios_together(&record, &[0, 1, 2]);
        let unit = ios.iter().sum::<u64>() as f64 / weights.iter().sum::<u64>() as f64;
        for (ios, weight) in ios.iter().zip(weights) {
            let share = *ios as f64 / unit / weight as f64;
            assert!((share - 1.0).abs() < 0.05, "weights {weights:?}: share {share} of its due");
        }
    }
}

/// A job whose rate holds it back holds back the others of its flow, and nobody else.
#[test]
fn a_flow_follows_its_slowest_job() {
    let directory = scratch();
    let job = format!(
        "{NULL}runtime=3\n[slow]\nflow=1\nrate_iops=500\n[tied]\nflow=2\nflow_sleep=200\n\
         [other]\nflow=1\nflow_id=9\n"
    );
    let record = job_file(directory.path(), &job);
    let ios = ios_together(&record, &[0, 1]);
    let ratio = ios[1] as f64 / ios[0] as f64;
    assert!((1.9..2.1).contains(&ratio), "{ios:?}");
    assert!(ios[2] > 20 * ios[1], "{ios:?}");
}

/// As in fio, a job that starts later catches up while the others wait.
#[test]
fn a_late_job_of_a_flow_catches_up() {
    let _alone = alone();
    let directory = scratch();
    let job = format!(
        "{NULL}rate_iops=20000\nruntime=3\n[early]\nflow=1\n[late]\nstartdelay=500ms\nflow=1\n\
         rate_iops=100000\n"
    );
    let counts = ios_together(&job_file(directory.path(), &job), &[0, 1]);
    let ratio = counts[0] as f64 / counts[1] as f64;
    assert!((0.93..1.07).contains(&ratio), "{counts:?}");
}

/// When a job of a flow has ended, the others go on and share among themselves.
#[test]
fn a_flow_goes_on_without_those_that_ended() {
    let directory = scratch();
    let job =
        format!("{NULL}[short]\nruntime=1\nflow=1\nrate_iops=100\n[long]\nruntime=2\nflow=1\n");
    let ios = ios(&job_file(directory.path(), &job));
    assert!(ios[1] > 10 * ios[0], "{ios:?}");
}

#[test]
fn thinkcycles_keep_the_cpu_busy_after_each_completion() {
    let directory = scratch();
    let job = format!("{NULL}runtime=1\n[a]\nthinkcycles=1000000\n");
    let record = job_file(directory.path(), &job);
    let cycles = record.clock.hertz;
    let most = cycles * record.jobs[0].results.read.runtime.seconds() / 1e6 + 2.0;
    let done = record.jobs[0].ios() as f64;
    assert!(done > 10.0 && done <= most, "{done} I/Os, at most {most}");
    assert_eq!(record.jobs[0].workload.settings["thinkcycles"], "1000000");
}

/// With several block sizes, rate_iops is the bandwidth of so many of the smallest, as in fio.
#[test]
fn a_limit_of_iops_with_several_block_sizes_is_a_bandwidth() {
    let _alone = alone();
    let directory = scratch();
    let job = format!("{NULL}runtime=2\n[a]\nrate_iops=400\nbsrange=4k-8k\n");
    let rates = both(directory.path(), &job).map(|(code, document)| {
        assert_eq!(code, 0);
        document["jobs"][0]["read"]["bw_bytes"].as_f64().unwrap()
    });
    for rate in rates {
        assert!((0.95..1.05).contains(&(rate / (400.0 * 4096.0))), "{rates:?}");
    }
}

/// A pause after each block leaves one I/O in flight, whatever the depth.
#[test]
fn pauses_cap_the_depth_as_in_the_oracle() {
    let directory = scratch();
    let job = |blocks: u32| {
        format!(
            "[a]\nfilename=x\nioengine=libaio\ndirect=1\nrw=randread\nsize=1m\nbs=4k\niodepth=8\n\
             thinktime=1ms\nthinktime_blocks={blocks}\n"
        )
    };
    for blocks in [1, 2, 16] {
        let levels = both(directory.path(), &job(blocks)).map(|(code, document)| {
            assert_eq!(code, 0);
            let levels = &document["jobs"][0]["iodepth_level"];
            ["1", "8"].map(|level| levels[level].as_f64().unwrap())
        });
        let [ours, theirs] = levels;
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            assert!((ours - theirs).abs() < 5.0, "{blocks} blocks: {levels:?}");
        }
    }
}

/// Without rate_ignore_thinktime, a rated job makes up for its pauses. With it, the job keeps the rate
/// between them.
#[test]
fn rate_ignore_thinktime_gives_up_what_was_missed() {
    // 100 I/Os at 1000/s, then a pause of 50 ms.
    let job = ["--name=a", "--ioengine=null", "--size=1t", "--rw=randread", "--norandommap"];
    let paced = ["--rate_iops=1000", "--thinktime=50ms", "--thinktime_blocks=100"];
    let timed = ["--time_based", "--runtime=2"];
    let of = |more: &[&str]| logged(1, &[&job, &paced[..], &timed, more].concat()).remove(0);
    let [caught_up, _] = of(&[]);
    on_schedule("caught up", &caught_up, |io| io.ios as f64, |_| 0.0);
    // Longer pauses than asked for are given up as well; between them the rate is kept.
    let [given_up, _] = of(&["--rate_ignore_thinktime=1"]);
    let took = given_up.chunks_exact(100).map(|ios| ios[99].at - ios[0].at);
    let blocks = took.clone().count();
    assert!(took.clone().filter(|ms| *ms >= 90).count() * 2 > blocks, "{given_up:?}");
    assert!(took.clone().any(|ms| ms <= 110), "{given_up:?}");
    let pauses = || given_up.windows(2).filter(|pair| pair[1].ios % 100 == 0);
    assert!(pauses().count() >= 3);
    assert!(pauses().all(|pair| pair[1].at - pair[0].at >= 49), "{given_up:?}");
}

#[test]
fn max_latency_ends_the_job_with_the_oracles_error() {
    let directory = scratch();
    let job = "[a]\nrw=randread\nsize=4m\ntime_based\nruntime=10\nmax_latency=1ns,2s\n[b]\nstonewall\n\
               rw=randwrite\nsize=1m\nmax_latency=1ns,100s\n";
    let [(ours_code, ours), (theirs_code, theirs)] = both(directory.path(), job);
    assert_eq!((ours_code, theirs_code), (1, 1));
    for (name, document) in [("ours", ours), ("theirs", theirs)] {
        let errors: Vec<i64> =
            (0..2).map(|job| document["jobs"][job]["error"].as_i64().unwrap()).collect();
        assert_eq!(errors, [110, 0], "{name}");
        assert!(document["jobs"][0]["read"]["total_ios"].as_u64().unwrap() < 100, "{name}");
    }
    let ran = as_fio(directory.path(), &["job.fio"]).expect(1);
    assert!(ran.err.contains("max_latency is 1 ns"), "{}", ran.err);
}

fn target(directory: &Path, extra: &str) -> Ran {
    let job = format!("{NULL}runtime=20\n[a]\niodepth=16\nlatency_window=50ms\n{extra}");
    std::fs::write(directory.join("job.fio"), job).unwrap();
    as_fio(directory, &["job.fio", "--output-format=json"])
}

#[test]
fn latency_target_ends_at_the_depth_it_found() {
    let _alone = alone();
    let directory = scratch();
    let easy = target(directory.path(), "latency_target=1s\nlatency_percentile=99.5\n").expect(0);
    let job = &easy.json()["jobs"][0];
    assert_eq!(job["latency_depth"], 16);
    assert_eq!(job["latency_target"], 1_000_000_000_u64);
    assert_eq!(job["latency_window"], 50_000);
    assert_eq!(job["latency_percentile"], 99.5);
    // Only the window at the depth found counts.
    let runtime = job["read"]["runtime"].as_u64().unwrap();
    assert!((50..2000).contains(&runtime), "{runtime}");
    let hard = target(directory.path(), "latency_target=1ns\n").expect(1);
    assert_eq!(hard.json()["jobs"][0]["error"], 110);
    assert!(hard.err.contains("not met at a depth of 1"), "{}", hard.err);
    let text = as_fio(directory.path(), &["job.fio"]).expect(1).out;
    assert!(text.contains("target=1, window=50000, percentile=100.00%, depth=1\n"), "{text}");
}

#[test]
fn a_share_that_cannot_be_met_goes_on_at_a_depth_of_one_and_says_so() {
    let directory = scratch();
    let job = format!(
        "{NULL}runtime=1\n[a]\niodepth=16\nlatency_window=50ms\nlatency_target=1ns\n\
         latency_percentile=90\n"
    );
    std::fs::write(directory.path().join("job.fio"), job).unwrap();
    let ran = as_fio(directory.path(), &["job.fio", "--output-format=json"]).expect(0);
    let document = ran.json();
    assert_eq!(document["jobs"][0]["latency_depth"], 1);
    let warnings = document["fathom"]["warnings"].to_string();
    assert!(warnings.contains("latency_target was not met"), "{warnings}");
}

#[test]
fn exit_what_chooses_the_jobs_that_end_with_a_job() {
    // Never begun, ended before its time, or not.
    let ends = |document: &Value| -> Vec<&str> {
        let jobs = document["jobs"].as_array().unwrap();
        let end = |job: &Value| match job["job_runtime"].as_u64().unwrap() {
            0 => "never begun",
            1..2900 => "early",
            _ => "in time",
        };
        jobs.iter().map(end).collect()
    };
    at_once(&["group", "stonewall", "all"], |scope| {
        let job = format!(
            "[global]\nioengine=null\nsize=1t\nrate_iops=1000\ntime_based\nruntime=3\n[a]\n\
             runtime=800ms\nexitall\nexit_what={scope}\n[b]\n[c]\nnew_group\n[d]\nstonewall\n\
             runtime=300ms\n"
        );
        let [(_, ours), (_, theirs)] = both(scratch().path(), &job);
        assert_eq!(ends(&ours), ends(&theirs), "exit_what={scope}");
    });
}

#[test]
fn exitall_on_error_ends_the_others() {
    let directory = scratch();
    for (scope, lasts) in [("group", [false, true]), ("all", [false, false])] {
        let job = format!(
            "[global]\nioengine=null\nsize=1t\nrate_iops=1000\ntime_based\nruntime=3s\n[a]\n\
             ioengine=psync\nfilename=/dev/full\nsize=1m\nrw=write\nexitall_on_error\nstartdelay=1\n\
             exit_what={scope}\n[b]\n[c]\nnew_group\n"
        );
        for (name, (code, document)) in ["ours", "theirs"].iter().zip(both(directory.path(), &job))
        {
            assert_eq!(code, 1, "{name}");
            assert_eq!(document["jobs"][0]["error"], 28);
            let runtime = |job: usize| document["jobs"][job]["job_runtime"].as_u64().unwrap();
            let lasted = [runtime(1), runtime(2)].map(|runtime| runtime > 2900);
            assert_eq!(lasted, lasts, "{name}, exit_what={scope}: {document}");
        }
    }
}

#[test]
fn mistakes_are_named() {
    let directory = scratch();
    for (arguments, expected) in [
        (&["--flow=1001"][..], "flow: value out of range: must be at most 1000"),
        (&["--max_latency=1s,2s,3s,4s"], "at most three values"),
        (&["--ss=iops", "--ss_dur=2"], "expected a limit such as iops:5%"),
        (&["--ss=foo:1", "--ss_dur=2"], "expected one of iops, iops_slope"),
        (&["--ss=iops:5%", "--ss_dur=1"], "at least two steadystate_check_intervals"),
        (&["--exit_what=group_"], "expected one of group, stonewall, all"),
    ] {
        let base = ["--name=a", "--ioengine=null", "--size=1m"];
        let ran = fathom(directory.path(), &[&base[..], arguments].concat()).expect(2);
        assert!(ran.err.contains(expected), "{arguments:?}: {}", ran.err);
    }
    // As in fio, the first of several percentiles counts.
    let several = ["--latency_target=5ms", "--latency_percentile=99:90"];
    let base = ["--name=a", "--ioengine=null", "--size=1m"];
    let ran = fathom(directory.path(), &[&base[..], &several].concat()).expect(0);
    assert!(ran.err.contains("its first number counts"), "{}", ran.err);
}

/// rate_min applies to the directions that a job uses, while it uses them: a writer needs no reads, and
/// verification after writes has no minimum. The first two seconds are not judged.
#[test]
fn rate_min_is_asked_of_what_the_job_does() {
    let directory = scratch();
    let of = |job: &str, code: i32| {
        let path = directory.path().join("job.fio");
        // Long enough for a worker that is stopped to do some I/O in each.
        std::fs::write(path, format!("[a]\nbs=4k\nrate_cycle=500\n{job}")).unwrap();
        recorded(directory.path(), code, &["job.fio"])
    };
    let kept = of("ioengine=null\nrw=write\nsize=4m\nrate=1600k\nrate_min=10k\n", 0);
    assert_eq!(kept.jobs[0].results.write.bytes.0, 4 << 20);
    let checked = "rw=write\nsize=4m\nrate=2500k\nrate_min=10k\nverify=sha3-512\nloops=2\n";
    assert_eq!(of(checked, 0).jobs[0].error, 0);
    let missed = of("ioengine=null\nrw=write\nsize=4m\nrate=1m\nrate_min=1m\nthinktime=30ms\n", 1);
    let text = &missed.jobs[0].errors[0].text;
    assert!(text.contains("rate_min not met: write reached"), "{text}");
}

/// As long as the clock counts, and a ramp before it.
#[test]
fn the_longest_runtime_does_not_wrap_around() {
    let directory = scratch();
    let job = format!(
        "{NULL}runtime=18446744073\nramp_time=200ms\n[a]\n[b]\n\
                       time_based=0\nnumber_ios=10\nruntime=1\nexitall\nstartdelay=1200ms\n"
    );
    let record = job_file(directory.path(), &job);
    assert!(record.jobs[0].elapsed.0 > 1_000_000_000, "{:?}", record.jobs[0].elapsed);
}

#[test]
fn a_run_too_short_for_a_window_says_that_no_latency_was_judged() {
    let directory = scratch();
    let job = "[a]\nioengine=null\nsize=64k\nlatency_target=1s\nlatency_window=10s\n";
    let record = job_file(directory.path(), job);
    let said = record.messages.iter().any(|message| {
        message.text.contains("not judged: it ended before the first window of 10000 ms did")
    });
    assert!(said, "{:?}", record.messages);
    assert!(!record.jobs[0].latency_depth.unwrap().met);
}
