//! `--layers`: the path of I/Os through the kernel, against what bpftrace counts and delays that are
//! made. Loop devices are made here, so these tests need root.

use crate::common::{
    FATHOM, Frozen, Loop, MemoryFilesystem, Mounted, Ran, Running, Throttle, alone, free_port,
    is_served, loop_device, recorded, recorded_by, run, scratch, system, wait_until,
};
use record::{Bytes, Direction, LayerPath, Layers, OtherRequests, RunRecord, SizeClasses, SlowIo};
use rustix::process::Signal;
use std::process::Command;
use std::time::{Duration, Instant};

/// Programs that are loaded, by bpftool's name for them.
fn loaded() -> usize {
    let list = system("bpftool", &["prog", "list"]);
    list.lines().filter(|line| line.contains(" name rq_complete ")).count()
}

/// A loop device that holds data, and the arguments of direct reads of it.
fn read_device(directory: &std::path::Path) -> (Loop, Vec<String>) {
    let device = loop_device(directory, 16 << 20, &[]);
    system("dd", &["if=/dev/urandom", &format!("of={}", device.device), "bs=1M", "count=16"]);
    let file = format!("--filename={}", device.device);
    let options = ["--name=t", "--rw=randread", "--direct=1", "--bs=4k", "--layers", &file];
    (device, options.map(str::to_owned).to_vec())
}

fn texts(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

fn layers(record: &RunRecord) -> &Layers {
    record.evidence.layers.as_ref().unwrap_or_else(|| panic!("{:?}", record.messages))
}

/// The only path of reads.
fn reads(record: &RunRecord) -> &LayerPath {
    let mut paths = layers(record).paths.iter();
    let path = paths.find(|path| path.direction == Some(Direction::Read));
    path.unwrap_or_else(|| panic!("{:?}", layers(record)))
}

/// The first run of three of which no I/O was lost: where completions interrupt each other, the kernel skips
/// an event, which is counted.
fn without_loss<T>(observe: impl Fn() -> (RunRecord, T)) -> (RunRecord, T) {
    let mut runs = (0..3).map(|_| observe());
    runs.find(|(record, _)| layers(record).lost == 0).expect("a run without a lost event")
}

/// Mean of a layer over all I/Os of a path, in nanoseconds.
fn mean(times: &record::LayerTimes, path: &LayerPath) -> f64 {
    times.sum.0 as f64 / path.ios as f64
}

/// bpftrace that counts the requests of the job's worker (its thread is named like the job) and times
/// them in the device.
fn bpftrace(device: &Loop) -> Running {
    let minor: u32 = device.name().trim_start_matches("loop").parse().unwrap();
    let number = 7 << 20 | minor;
    let program = format!(
        "BEGIN {{ printf(\"ready\\n\"); }}
         tracepoint:block:block_rq_issue /args->dev == {number} && comm == \"t\"/
           {{ @at[args->sector] = nsecs; @issued = count(); }}
         tracepoint:block:block_rq_complete /args->dev == {number} && @at[args->sector]/
           {{ @device = stats(nsecs - @at[args->sector]); delete(@at[args->sector]); }}
         END {{ clear(@at); }}"
    );
    bpftrace_of(&program)
}

/// bpftrace with a program that says "ready" when it begins. Its own file systems for debugging are
/// mounted where only it sees them.
fn bpftrace_of(program: &str) -> Running {
    let script = "mount -t debugfs none /sys/kernel/debug && exec bpftrace -e \"$0\"";
    let mut command = Command::new("unshare");
    let mut running = Running::start(command.args(["--mount", "sh", "-c", script, program]));
    running.says("out", "ready");
    running
}

#[test]
fn requests_and_their_time_in_the_device_are_those_that_bpftrace_sees() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    for engine in ["--ioengine=psync", "--ioengine=io_uring"] {
        let options = [engine, "--iodepth=4", "--number_ios=2000"];
        let arguments = [&texts(&reads_of_it)[..], &options].concat();
        let observed = || {
            let oracle = bpftrace(&device);
            let record = recorded(directory.path(), 0, &arguments);
            oracle.signal(Signal::INT);
            (record, oracle.end().out)
        };
        let (record, seen) = without_loss(|| {
            let (record, seen) = observed();
            assert_eq!(reads(&record).ios + layers(&record).lost, 2000, "{:?}", layers(&record));
            (record, seen)
        });
        let path = reads(&record);
        let number = |after: &str| -> f64 {
            let rest = seen.split(after).nth(1).unwrap_or_else(|| panic!("{after}: {seen}"));
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap()
        };
        let layers = layers(&record);
        assert_eq!((path.split, path.merged), (0, 0), "{layers:?}");
        assert_eq!(path.ios, record.jobs[0].results.read.ios, "{layers:?}");
        let missed = (number("@issued: ") - path.ios as f64).abs();
        assert!(missed <= 2.0, "bpftrace may miss an event as well: {seen} {layers:?}");
        let ours = mean(&path.device, path);
        // Both programs run at the same events, one after the other.
        let theirs = number("average ");
        assert!((ours / theirs - 1.0).abs() < 0.15, "{engine}: {ours} ns, bpftrace {theirs} ns");
        let latency = path.job_latency_ns.unwrap();
        let spans =
            mean(&path.total, path) + path.submission_ns.unwrap() + path.completion_ns.unwrap();
        assert!((spans / latency - 1.0).abs() < 0.03, "{engine}: {spans} of {latency} ns");
        let parts: f64 = [&path.request, &path.plug, &path.scheduler, &path.device]
            .into_iter()
            .map(|times| mean(times, path))
            .sum();
        assert!((parts / mean(&path.total, path) - 1.0).abs() < 0.03, "{path:?}");
        assert!(path.submission_ns.unwrap() > 0.0 && path.completion_ns.unwrap() > 0.0);
    }
}

/// Of each request of a disk, as bpftrace times it: from the entry into the block layer to the issue, and from
/// there to the completion, in nanoseconds.
fn spans_that_bpftrace_sees(seen: &str) -> [Vec<f64>; 2] {
    let pair = |line: &str| -> Option<[f64; 2]> {
        let (queued, device) = line.strip_prefix("spans ")?.split_once(' ')?;
        Some([queued.parse().unwrap(), device.parse().unwrap()])
    };
    let pairs: Vec<[f64; 2]> = seen.lines().filter_map(pair).collect();
    [0, 1].map(|span| {
        let mut times: Vec<f64> = pairs.iter().map(|pair| pair[span]).collect();
        times.sort_by(f64::total_cmp);
        times
    })
}

#[test]
fn means_and_p99_of_waiting_and_device_are_those_that_bpftrace_sees() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    // Milliseconds in each span: what the observers take themselves does not matter.
    let throttle = Throttle::new();
    let below = directory.path().to_str().unwrap();
    throttle.limit(&system("findmnt", &["-no", "MAJ:MIN", "-T", below]), 200);
    let queue = format!("/sys/block/{}/queue", device.name());
    std::fs::write(format!("{queue}/scheduler"), "mq-deadline").unwrap();
    std::fs::write(format!("{queue}/nr_requests"), "4").unwrap();
    let number = 7 << 20 | device.name().trim_start_matches("loop").parse::<u32>().unwrap();
    // An event that it missed leaves a time behind, which is not that of another process's request.
    let program = format!(
        "BEGIN {{ printf(\"ready\\n\"); }}
         tracepoint:block:block_bio_queue /args->dev == {number} && comm == \"t\"/
           {{ @entered[args->sector] = nsecs; }}
         tracepoint:block:block_bio_queue /args->dev == {number} && comm != \"t\"/
           {{ delete(@entered[args->sector]); delete(@issued[args->sector]); }}
         tracepoint:block:block_rq_issue /args->dev == {number} && @entered[args->sector]/
           {{ @issued[args->sector] = nsecs; }}
         tracepoint:block:block_rq_complete /args->dev == {number} && @issued[args->sector]/
           {{ printf(\"spans %lld %lld\\n\", @issued[args->sector] - @entered[args->sector],
                     nsecs - @issued[args->sector]);
              delete(@entered[args->sector]); delete(@issued[args->sector]); }}
         END {{ clear(@entered); clear(@issued); }}"
    );
    // No two threads read the same block at a time.
    let deep = ["--numjobs=16", "--size=1m", "--offset_increment=1m", "--number_ios=25"];
    let deep = [&texts(&reads_of_it)[..], &deep, &["--group_reporting"]].concat();
    let starter = throttle.starter();
    let oracle = bpftrace_of(&program);
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    let record = recorded_by(&starter, directory.path(), 0, &deep);
    oracle.signal(Signal::INT);
    let seen = oracle.end().out;
    let path = reads(&record);
    let theirs = spans_that_bpftrace_sees(&seen);
    // Where completions interrupt each other, the kernel skips programs: theirs more often than ours.
    let counted = theirs[0].len();
    assert_eq!(path.ios + layers(&record).lost, 400, "{:?}", layers(&record));
    assert!(path.ios >= 380 && counted >= 380, "{counted} {:?}", layers(&record));
    let waiting: f64 =
        [&path.request, &path.plug, &path.scheduler].into_iter().map(|it| mean(it, path)).sum();
    let their_mean = |span: usize| theirs[span].iter().sum::<f64>() / counted as f64;
    for (what, ours, theirs) in
        [("waiting", waiting, their_mean(0)), ("device", mean(&path.device, path), their_mean(1))]
    {
        assert!((ours / theirs - 1.0).abs() < 0.05, "{what}: {ours} ns, bpftrace {theirs} ns");
    }
    // The 396th of 400 lies between these two of bpftrace's, whichever requests it missed.
    let p99 = path.device.histogram.percentile(99.0) as f64;
    let (least, most) = (theirs[1][counted - 5], theirs[1][395.min(counted - 1)]);
    assert!((0.95 * least..1.05 * most).contains(&p99), "p99 {p99} ns, {least} to {most} ns");
}

#[test]
fn a_delay_is_in_the_layer_in_which_it_was_made() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    // The disk below the loop device answers 200 reads a second: the loop device is slow.
    let throttle = Throttle::new();
    let below = directory.path().to_str().unwrap();
    throttle.limit(&system("findmnt", &["-no", "MAJ:MIN", "-T", below]), 200);
    let starter = throttle.starter();
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    let one = [&texts(&reads_of_it)[..], &["--number_ios=200"]].concat();
    let (record, ()) = without_loss(|| (recorded_by(&starter, directory.path(), 0, &one), ()));
    let path = reads(&record);
    let (device_ns, total) = (mean(&path.device, path), path.job_latency_ns.unwrap());
    assert!((2.5e6..7e6).contains(&device_ns), "{path:?}");
    // The rest is outside of the block layer: the job waits for a CPU on a busy machine.
    let queued: f64 =
        [&path.request, &path.plug, &path.scheduler].into_iter().map(|it| mean(it, path)).sum();
    assert!(
        device_ns > 0.6 * total && queued < 0.05 * total,
        "{device_ns} of {total} ns: {path:?}"
    );
    // With four requests for 16 I/Os, twelve wait for one of them.
    let requests = format!("/sys/block/{}/queue/nr_requests", device.name());
    let scheduler = format!("/sys/block/{}/queue/scheduler", device.name());
    std::fs::write(scheduler, "mq-deadline").unwrap();
    std::fs::write(requests, "4").unwrap();
    let deep = ["--numjobs=16", "--number_ios=20", "--group_reporting"];
    let deep = [&texts(&reads_of_it)[..], &deep].concat();
    let record = recorded_by(&starter, directory.path(), 0, &deep);
    let path = reads(&record);
    let (waiting, total) = (mean(&path.request, path), path.job_latency_ns.unwrap());
    assert!((0.6..0.9).contains(&(waiting / total)), "{waiting} of {total} ns: {path:?}");
}

#[test]
fn a_frozen_filesystem_is_in_the_submission_and_in_no_other_layer() {
    let _alone = alone();
    let own = MemoryFilesystem::new(64 << 20);
    let job = ["--name=t", "--filename=t", "--size=4m", "--direct=1", "--rw=randwrite", "--layers"];
    let paced = ["--rate_iops=100", "--number_ios=300"];
    let line = [&job[..], &paced].concat();
    let frozen_run = || {
        let before = own.disk.writes();
        std::thread::scope(|scope| {
            let run = scope.spawn(|| recorded(own.path(), 0, &line));
            // The job's own writes, after those of the layout.
            wait_until("writes", || loaded() > 0 && own.disk.writes() > before + 50);
            let called = Instant::now();
            let frozen = Frozen::at(own.path());
            let since = Instant::now();
            std::thread::sleep(Duration::from_secs(2));
            let lasted = since.elapsed();
            drop(frozen);
            (run.join().unwrap(), (lasted, called.elapsed()))
        })
    };
    let (record, (at_least, at_most)) = without_loss(frozen_run);
    let write = Some(Direction::Write);
    let path = layers(&record).paths.iter().find(|path| path.direction == write).unwrap();
    assert_eq!(path.ios, 300, "{:?}", layers(&record));
    // The write that was held back, and what the others took between their start and the block layer.
    let submission = path.submission_ns.unwrap() * path.ios as f64 / 1e9;
    let range = 0.95 * at_least.as_secs_f64()..1.05 * at_most.as_secs_f64();
    assert!(range.contains(&submission), "{submission} s of {range:?}: {path:?}");
    let inside = path.total.sum.0 as f64 / 1e9;
    let completion = path.completion_ns.unwrap() * path.ios as f64 / 1e9;
    let slowest = path.slowest[0].total.0 as f64 / 1e9;
    for other in [inside, completion, slowest] {
        assert!(other < 0.1 * at_least.as_secs_f64(), "{inside} {completion} {slowest}: {path:?}");
    }
}

#[test]
fn the_time_for_which_a_cgroup_holds_reads_back_is_in_no_layer() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    let throttle = Throttle::new();
    let number = format!("/sys/block/{}/dev", device.name());
    throttle.limit(std::fs::read_to_string(number).unwrap().trim(), 100);
    let starter = throttle.starter();
    let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
    let line = [&texts(&reads_of_it)[..], &["--number_ios=200"]].concat();
    let record = recorded_by(&starter, directory.path(), 0, &line);
    let (path, layers) = (reads(&record), layers(&record));
    // The first of each interval pass; a thread of the kernel submits the others later.
    let held = 200 - path.ios - layers.lost;
    let kernel = layers.others.iter().find(|other| other.name == "kworker").unwrap();
    assert!(held > 0 && kernel.requests >= held, "{held} {layers:?}");
    let latency = path.job_latency_ns.unwrap() * path.job_ios as f64;
    assert!(latency > 1e9 && (path.total.sum.0 as f64) < 0.1 * latency, "{latency} ns: {path:?}");
}

/// A run of job "t" in a group, with metrics.
struct MeteredRun {
    running: Running,
    port: u16,
}

impl MeteredRun {
    fn start(throttle: &Throttle, directory: &std::path::Path, arguments: &[String]) -> MeteredRun {
        let (port, starter) = (free_port(), throttle.starter());
        let mut command = Command::new(&starter[0]);
        command.args(&starter[1..]).args([FATHOM, "run"]).args(arguments);
        command.arg(format!("--metrics={port}")).current_dir(directory);
        let running = Running::start(&mut command);
        wait_until("the metrics", || is_served("tcp", port));
        MeteredRun { running, port }
    }

    fn metrics(&self) -> String {
        system("curl", &["-s", &format!("http://127.0.0.1:{}/metrics", self.port)])
    }

    /// A sample of its reads; `more` are further labels.
    fn series(&self, name: &str, device: &Loop, more: &str) -> String {
        let (pid, device) = (self.running.pid(), device.name());
        format!("{name}{{pid=\"{pid}\",job=\"t\",device=\"{device}\",direction=\"read\"{more}}}")
    }
}

/// The value of a sample in a text of metrics.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn a_delay_is_in_its_layer_while_the_run_goes_on() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    let throttle = Throttle::new();
    let below = directory.path().to_str().unwrap();
    throttle.limit(&system("findmnt", &["-no", "MAJ:MIN", "-T", below]), 200);
    let options = ["--time_based", "--runtime=60"].map(str::to_owned);
    let arguments = [reads_of_it, options.to_vec()].concat();
    let run = MeteredRun::start(&throttle, directory.path(), &arguments);
    let mut text = String::new();
    let ios = run.series("fathom_layer_ios_total", &device, "");
    wait_until("timed I/Os in the metrics", || {
        text = run.metrics();
        value(&text, &ios) > Some(200.0)
    });
    let ios = value(&text, &ios).unwrap();
    let mean = |layer: &str| {
        let layer = format!(",layer=\"{layer}\"");
        let series = run.series("fathom_layer_seconds_total", &device, &layer);
        value(&text, &series).unwrap_or_else(|| panic!("{series}: {text}")) / ios
    };
    assert!((2.5e-3..7e-3).contains(&mean("device")), "{text}");
    let rest = mean("request") + mean("plug") + mean("scheduler");
    assert!(rest < 0.05 * mean("device"), "{text}");
    // The feed has the same.
    let mut watch = Command::new(FATHOM);
    let watch = watch.args(["watch", &format!("--run={}", run.running.pid()), "--json"]);
    let mut watch = Running::start(watch.current_dir(directory.path()));
    watch.says("out", "\"mean_ns\":[");
    watch.signal(Signal::INT);
    let lines = watch.end().out;
    let moments = lines.lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(line["moment"]["layers"][0]["mean_ns"][3].as_f64()? / 1e9)
    });
    assert!(moments.into_iter().any(|mean| (2.5e-3..7e-3).contains(&mean)), "{lines}");
    run.running.signal(Signal::INT);
    run.running.end();
}

#[test]
fn nothing_stays_loaded_after_a_kill() {
    let _alone = alone();
    let directory = scratch();
    let (_device, reads_of_it) = read_device(directory.path());
    let before = loaded();
    let arguments = [&texts(&reads_of_it)[..], &["--time_based", "--runtime=60"]].concat();
    let running = Running::fathom("run", directory.path(), &arguments);
    wait_until("the programs", || loaded() == before + 1);
    running.signal(Signal::KILL);
    drop(running);
    wait_until("their end", || loaded() == before);
}

#[test]
fn two_runs_at_once_count_only_their_own() {
    let _alone = alone();
    let directory = scratch();
    let (_device, reads_of_it) = read_device(directory.path());
    let arguments = [&texts(&reads_of_it)[..], &["--time_based", "--runtime=2"]].concat();
    let other = Running::fathom("run", directory.path(), &arguments);
    let record = recorded(directory.path(), 0, &arguments);
    other.end().expect(0);
    let path = reads(&record);
    // Where completions interrupt each other the kernel skips a program, and we count the I/O as lost.
    let layers = layers(&record);
    let (timed, made) = (path.ios, record.jobs[0].results.read.ios);
    assert!(timed <= made && timed + layers.lost + layers.unseen >= made, "{layers:?}");
    assert!(timed as f64 > 0.99 * made as f64, "{layers:?}");
    let others = &layers.others;
    let is_it = |other: &&OtherRequests| !other.own && other.name == "fathom" && other.pid > 0;
    let other = others.iter().find(is_it).unwrap_or_else(|| panic!("{others:?}"));
    assert!(other.requests > 100 && other.cgroup.is_some(), "{other:?}");
    // Both keep an I/O in the device all the time.
    assert!(path.beside > path.ios / 4 && path.beside <= path.ios, "{} {}", path.beside, path.ios);
    assert!(path.beside_time <= path.device.sum, "{path:?}");
}

#[test]
fn a_run_of_some_seconds_is_timed_by_default_where_that_costs_little() {
    let _alone = alone();
    let directory = scratch();
    let (_device, reads_of_it) = read_device(directory.path());
    let (_, without) = reads_of_it.split_last().unwrap();
    let file = reads_of_it.last().unwrap();
    let without: Vec<&str> = without
        .iter()
        .map(String::as_str)
        .filter(|option| *option != "--layers")
        .chain([file.as_str()])
        .collect();
    let slowly = ["--rate_iops=400", "--time_based"];
    let timed = |more: &[&str]| {
        let record = recorded(directory.path(), 0, &[&without[..], &slowly, more].concat());
        (record.evidence.layers, record.jobs[0].clone())
    };
    let (layers, job) = timed(&["--runtime=3"]);
    let layers = layers.expect("layers");
    let [path] = &layers.paths[..] else { panic!("{layers:?}") };
    assert!(layers.is_default && layers.since.0 >= 250_000_000, "{layers:?}");
    // What came before is not counted.
    let made = job.results.read.ios;
    assert!(path.job_ios < made && path.job_ios > made / 2, "{} of {made}", path.job_ios);
    assert!(path.ios.abs_diff(path.job_ios) * 50 <= path.job_ios, "{path:?}");
    assert!(job.stamp_sums.is_none(), "the job measures as without");
    let cost = layers.cost_ns.expect("a cost");
    assert!(cost > 0.0 && cost < 100_000.0, "{cost} ns");
    assert!(
        timed(&["--runtime=1"]).0.is_none() && timed(&["--runtime=3", "--layers=no"]).0.is_none()
    );
    let line = [&without[..], &slowly, &["--runtime=3"]].concat();
    let text = crate::common::fathom(directory.path(), &line).expect(0).out;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("Layers of t: read on") && !text.contains("p50 p99 p99.9 share"),
        "{text}"
    );
}

/// A copy of the program in a directory of user nobody.
fn program_of_nobody() -> (tempfile::TempDir, std::path::PathBuf) {
    let open = tempfile::tempdir().unwrap();
    let program = open.path().join("fathom");
    std::fs::copy(FATHOM, &program).unwrap();
    system("chown", &["65534:65534", open.path().to_str().unwrap()]);
    (open, program)
}

#[test]
fn without_rights_the_run_says_so_and_goes_on() {
    let _alone = alone();
    let (open, program) = program_of_nobody();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(["run", "--name=t", "--rw=read", "--size=1m", "--layers"]);
    let Ran { out, err, .. } = run(command.current_dir(open.path())).expect(0);
    let said = out + &err;
    assert!(said.contains("--layers: not timed:") && said.contains("CAP_BPF"), "{said}");
    assert!(!said.contains("Layers of"), "{said}");
    // Root of a user namespace has all capabilities there, and none of the kernel's.
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user"]).arg(FATHOM);
    command.args(["run", "--name=t", "--rw=read", "--size=1m", "--layers"]);
    let scratch = scratch();
    let Ran { out, err, .. } = run(command.current_dir(scratch.path())).expect(0);
    let said = (out + &err).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("in a user namespace") && said.contains("CAP_PERFMON"), "{said}");
}

/// What the kernel counts of a device.
fn counters(device: &Loop) -> Vec<u64> {
    let text = std::fs::read_to_string(format!("/sys/block/{}/stat", device.name())).unwrap();
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

/// Waits until a run has read from a device for a while.
fn wait_for_reads(device: &Loop) {
    let before = counters(device)[0];
    wait_until("reads", || counters(device)[0] > before + 100);
}

/// Flushes of a device's cache, and the milliseconds that they took, as the kernel counts them.
fn flush_counters(device: &Loop) -> (u64, u64) {
    let counters = counters(device);
    (counters[15], counters[16])
}

#[test]
fn commits_and_flushes_are_those_that_the_kernel_counts() {
    let _alone = alone();
    let directory = scratch();
    let device = loop_device(directory.path(), 64 << 20, &[]);
    system("mkfs.ext4", &["-q", &device.device]);
    let mounted = Mounted::new(&[], &device.device, directory.path().join("mounted"));
    let transactions = || -> u64 {
        let file = format!("/proc/fs/jbd2/{}-8/info", device.name());
        let text = std::fs::read_to_string(file).unwrap();
        text.split_whitespace().next().unwrap().parse().unwrap()
    };
    let before = transactions();
    let flushed_before = flush_counters(&device);
    let file = format!("--filename={}", mounted.path().join("f").display());
    // Each write makes the file longer, so that each fsync has something for the journal.
    let line = ["--name=t", "--rw=write", "--bs=4k", "--size=800k", "--fsync=1", "--layers", &file];
    let line = [&line[..], &["--fallocate=none"]].concat();
    let record = recorded(directory.path(), 0, &line);
    let [journal] = &layers(&record).journals[..] else { panic!("{:?}", layers(&record)) };
    assert_eq!((&*journal.device, journal.count), (device.name(), transactions() - before));
    assert!(journal.count >= 190 && journal.longest <= journal.time, "{journal:?}");
    let syncs = &record.jobs[0].sync.latency;
    let flushed = flush_counters(&device);
    let [flushes] = &layers(&record).flushes[..] else { panic!("{:?}", layers(&record)) };
    assert_eq!((&*flushes.device, flushes.count), (device.name(), flushed.0 - flushed_before.0));
    let ticks = (flushed.1 - flushed_before.1) as f64;
    let ours = flushes.time.0 as f64 / 1e6;
    assert!((ours - ticks).abs() <= 0.05 * ticks + 1.0, "{ours} ms, the kernel {ticks} ms");
    assert!(
        journal.time.0 <= syncs.sum() && journal.time.0 > syncs.sum() / 4,
        "{journal:?} {}",
        syncs.sum()
    );
}

#[test]
fn two_capabilities_suffice() {
    let _alone = alone();
    let (open, program) = program_of_nobody();
    let record = open.path().join("run.json");
    let capabilities = "-all,+bpf,+perfmon";
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.args(["--inh-caps", capabilities, "--ambient-caps", capabilities]).arg(&program);
    command.args(["run", "--name=t", "--rw=read", "--size=1m", "--direct=1", "--layers"]);
    command.arg(format!("--record={}", record.display()));
    run(command.current_dir(open.path())).expect(0);
    let record = formats::load(&record).unwrap();
    assert_eq!(reads(&record).ios, 256, "{:?}", layers(&record));
    assert_eq!(layers(&record).cost_ns, None, "the kernel measures costs for administrators alone");
}

#[test]
fn a_device_that_is_detached_in_the_middle_is_timed_to_the_end() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    let before = loaded();
    let options = ["--time_based", "--runtime=2", "--output-format=json"];
    let arguments = [&texts(&reads_of_it)[..], &options].concat();
    let running = Running::fathom("run", directory.path(), &arguments);
    wait_for_reads(&device);
    // The kernel removes it when the job closes it.
    system("losetup", &["--detach", &device.device]);
    let json = running.end().expect(0).json();
    let path = &json["fathom"]["layers"]["paths"][0];
    let timed = path["ios"].as_f64().unwrap();
    let made = json["jobs"][0]["read"]["total_ios"].as_f64().unwrap();
    assert!(timed <= made && timed > 0.99 * made, "{timed} of {made}: {path}");
    wait_until("their end", || loaded() == before);
}

#[test]
fn sizes_of_a_job_that_mixes_them_are_apart() {
    let _alone = alone();
    let directory = scratch();
    let (_device, reads_of_it) = read_device(directory.path());
    let mixed = ["--bssplit=4k/50:128k/50", "--number_ios=1000", "--norandommap"];
    let line = [&texts(&reads_of_it)[..], &mixed].concat();
    let (record, ()) = without_loss(|| (recorded(directory.path(), 0, &line), ()));
    let path = reads(&record);
    let [short, long] = &path.sizes[..] else { panic!("{:?}", path.sizes) };
    assert_eq!((short.up_to, long.up_to), (Some(Bytes(4 << 10)), Some(Bytes(256 << 10))));
    let ios = |size: &SizeClasses| size.classes.iter().map(|class| class.ios).sum::<u64>();
    assert_eq!(ios(short) + ios(long), path.ios + path.parts);
    assert_eq!(ios(short) * (4 << 10) + ios(long) * (128 << 10), path.bytes.0);
    let device =
        |size: &SizeClasses| size.classes.iter().map(|class| class.spans.device.0).sum::<u64>();
    assert_eq!(device(short) + device(long), path.device.sum.0);
    let text = crate::common::fathom(directory.path(), &line).expect(0).out;
    assert!(text.contains("  by size") && text.contains("  up to 256 KiB"), "{text}");
}

/// A write that never ends is in the device as long as the run lasts, and in no figure.
#[test]
fn a_request_of_another_process_that_never_completes_is_not_counted() {
    let _alone = alone();
    let below = MemoryFilesystem::new(64 << 20);
    let (device, reads_of_it) = read_device(below.path());
    // Freezing waits until the page cache is written back.
    system("sync", &["--file-system", below.path().to_str().unwrap()]);
    let frozen = Frozen::at(below.path());
    let mut dd = Command::new("dd");
    let to = format!("of={}", device.device);
    dd.args(["if=/dev/zero", &to, "bs=4k", "count=1", "oflag=direct"]);
    let in_flight = || {
        let text =
            std::fs::read_to_string(format!("/sys/block/{}/inflight", device.name())).unwrap();
        text.split_whitespace().nth(1) == Some("1")
    };
    // A loop device does the requests of a control group one after the other.
    let throttle = Throttle::new();
    let collected = std::thread::scope(|scope| {
        let line = [&texts(&reads_of_it)[..], &["--time_based", "--runtime=2"]].concat();
        let (directory, starter) = (scratch(), throttle.starter());
        let run = scope.spawn(move || {
            let starter: Vec<&str> = starter.iter().map(String::as_str).collect();
            recorded_by(&starter, directory.path(), 0, &line)
        });
        wait_for_reads(&device);
        let writer = Running::start(&mut dd);
        wait_until("a write that waits", in_flight);
        let record = run.join().unwrap();
        drop(frozen);
        writer.end().expect(0);
        record
    });
    let found = layers(&collected);
    assert!(found.others.iter().all(|other| other.name != "dd"), "{:?}", found.others);
    let path = reads(&collected);
    assert!(path.beside > 0 && path.beside <= path.ios, "{path:?}");
    let parts: u64 = path.inside().iter().map(|times| times.sum.0).sum();
    assert!((parts as f64 / path.total.sum.0 as f64 - 1.0).abs() < 0.03, "{path:?}");
}

#[test]
fn a_suite_has_a_row_of_layers_for_each_cell() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    let arguments = [&texts(&reads_of_it)[..], &["--number_ios=500"]].concat();
    let sweep = [&arguments[..], &["--vary=iodepth=1,2", "--repeat=2"]].concat();
    let text = Running::fathom("sweep", directory.path(), &sweep).end().expect(0).out;
    for depth in ["iodepth=1", "iodepth=2"] {
        let row = format!("{depth} t: read on {}", device.name());
        assert_eq!(text.matches(&row).count(), 1, "{text}");
    }
    let json = [&sweep[..], &["--json"]].concat();
    let json = Running::fathom("sweep", directory.path(), &json).end().expect(0).json();
    let cells = json["layers_by_cell"].as_array().unwrap();
    // Cells run in an order that is drawn.
    let mut names: Vec<&str> = cells.iter().map(|cell| cell["cell"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["iodepth=1", "iodepth=2"], "{json}");
    assert!(text.contains("submission") && text.contains("device"), "{text}");
    let knee = ["--layers", "--depths=1,2", "--time=200ms", "--size=16m", &device.device];
    let text = Running::fathom("knee", directory.path(), &knee).end().expect(0).out;
    assert!(text.contains(&format!("read on {}", device.name())), "{text}");
}

#[test]
fn a_history_shows_in_which_seconds_a_layer_was_slow() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    let throttle = Throttle::new();
    let below = system("findmnt", &["-no", "MAJ:MIN", "-T", directory.path().to_str().unwrap()]);
    throttle.limit(&below, 50);
    let file = directory.path().join("run.json");
    let options = ["--time_based", "--runtime=60", "--rate_iops=100"].map(str::to_owned);
    let record = format!("--record={}", file.display());
    let arguments = [reads_of_it, options.to_vec(), vec![record]].concat();
    let run = MeteredRun::start(&throttle, directory.path(), &arguments);
    let series = run.series("fathom_layer_ios_total", &device, "");
    let mut reads_until_now = 0.0;
    wait_until("two seconds of reads", || {
        reads_until_now = value(&run.metrics(), &series).unwrap_or(0.0);
        reads_until_now >= 100.0
    });
    // None.
    throttle.limit(&below, 0);
    wait_until("three seconds more", || {
        value(&run.metrics(), &series) >= Some(reads_until_now + 300.0)
    });
    run.running.signal(Signal::INT);
    run.running.end().expect(130);
    let record = formats::load(&file).unwrap();
    let history = &reads(&record).device.history;
    // The limit lets five reads pass at once every 100 ms.
    let slow = |step: u64| {
        let column = history.columns.iter().find(|column| column.at == step);
        column.unwrap_or_else(|| panic!("{history:?}")).counts.read.percentile(90.0).unwrap()
    };
    // The last second is not a whole one.
    let end = history.columns.iter().map(|column| column.at).max().unwrap() - 1;
    assert!(slow(1) > 50e6 && slow(end) < 5e6, "{} {}", slow(1), slow(end));
    // The slowest I/O of each second is slow or fast as the others of it.
    let slowest = &reads(&record).slowest_of_steps;
    let second = |io: &&SlowIo| io.at.0 / 1_000_000_000;
    let of_second = |at: u64| slowest.iter().find(|io| second(io) == at);
    assert!(of_second(1).is_some_and(|io| io.total.0 > 50_000_000), "{slowest:?}");
    assert_eq!(slowest.iter().map(|io| io.total).max(), Some(reads(&record).slowest[0].total));
    assert!((end as usize..=end as usize + 2).contains(&slowest.len()), "{end} {slowest:?}");
    let counted: u64 = history.columns.iter().map(|step| step.counts.read.count()).sum();
    assert_eq!(counted, reads(&record).ios);
}

#[test]
fn a_report_has_a_table_of_layers_and_json_has_them_too() {
    let _alone = alone();
    let directory = scratch();
    let (device, reads_of_it) = read_device(directory.path());
    let arguments = [&texts(&reads_of_it)[..], &["--number_ios=500"]].concat();
    // A run with a lost event has no row of its submission.
    let mut texts =
        (0..3).map(|_| crate::common::fathom(directory.path(), &arguments).expect(0).out);
    let text = texts.find(|text| !text.contains("were not timed")).expect("no lost event");
    let head = format!("Layers of t: read on {}", device.name());
    assert!(
        text.contains(&head) && text.contains("  submission") && text.contains("  device"),
        "{text}"
    );
    let json = [&arguments[..], &["--output-format=json"]].concat();
    let json = crate::common::fathom(directory.path(), &json).expect(0).json();
    let path = &json["fathom"]["layers"]["paths"][0];
    assert_eq!((&path["job"], &path["operation"]), (&"t".into(), &"read".into()), "{json}");
    // The kernel skips a program that interrupts itself, as completions of the file below the loop device
    // may have it on a busy machine. The report says how many I/Os were timed.
    let timed = path["ios"].as_u64().unwrap();
    assert!((485..=500).contains(&timed) && path["job_ios"] == 500, "{path}");
    let shares =
        path["layers"].as_array().unwrap().iter().map(|row| row["share"].as_f64().unwrap());
    let sum: f64 = shares.sum();
    assert!((0.97..1.03).contains(&sum), "{path}");
}
