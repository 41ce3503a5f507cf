//! `--debug`: lines before and after a run. Those during a run come from the workers.

use job::debug::{line, parse};
use job::{Invocation, Job};
use plan::Plan;
use record::RunRecord;

/// The lines before a run: traced areas, then options, files and disks of the jobs.
pub fn before(program: &str, invocation: &Invocation, plan: &Plan) -> String {
    let (debug, id) = (&invocation.debug, std::process::id());
    let mut out = traced(program, invocation);
    if let (true, Some(profile)) = (debug.covers("profile"), &invocation.profile) {
        out += &line("profile", id, &format!("loading profile '{profile}'"));
    }
    if debug.covers("blktrace") {
        out += &replayed(invocation, id);
    }
    out += &options(invocation);
    if debug.covers("file") {
        out += &files(plan, id);
    }
    if debug.covers("diskutil") {
        for disk in &plan.disks {
            out += &line("diskutil", id, &format!("add {} to list", disk.name));
            let stat = format!("open stat file: /sys/block/{}/stat", disk.name);
            out += &line("diskutil", id, &stat);
        }
    }
    out
}

/// The lines when the options are only parsed.
pub fn parsed(program: &str, invocation: &Invocation) -> String {
    traced(program, invocation) + &options(invocation)
}

/// The areas that are traced.
fn traced(program: &str, invocation: &Invocation) -> String {
    let line = |area: &&str| format!("{program}: set debug option {area}\n");
    invocation.debug.areas.iter().map(line).collect()
}

/// The options of the jobs; without jobs, the global options.
fn options(invocation: &Invocation) -> String {
    if !invocation.debug.covers("parse") {
        return String::new();
    }
    let mut general = [Job::default()];
    general[0].options.global.clone_from(&invocation.global_options);
    let jobs = if invocation.jobs.is_empty() { &general } else { &invocation.jobs[..] };
    parse(jobs, std::process::id())
}

fn replayed(invocation: &Invocation, id: u32) -> String {
    let logs =
        invocation.jobs.iter().flat_map(|job| job.replay.recordings.iter().zip(&job.replay.logs));
    let text = |(recording, log): (&std::sync::Arc<trace::Recording>, &String)| {
        let bytes = recording.bytes;
        let text = format!(
            "{log}: ios={}, files={}, read={}, write={}, trim={}, depth={}, msec={}",
            recording.ios,
            recording.files.len(),
            bytes.read,
            bytes.write,
            bytes.trim,
            recording.peak_depth,
            recording.duration / 1_000_000,
        );
        line("blktrace", id, &text)
    };
    logs.map(text).collect()
}

fn files(plan: &Plan, id: u32) -> String {
    let mut out = String::new();
    for worker in plan.workers.iter().filter(|worker| worker.trace.file) {
        for (number, file) in worker.files.iter().enumerate() {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            out += &line("file", id, &format!("add file {name}"));
            out += &line("file", id, &format!("file \"{}\" added at {number}", file.path));
        }
    }
    out + &line("file", id, "setup files")
}

/// The line after a run: its clock and how precise it was.
pub fn after(invocation: &Invocation, record: &RunRecord) -> String {
    if !invocation.debug.covers("time") {
        return String::new();
    }
    let clock = &record.clock;
    let text = format!(
        "clock={}, hertz={:.0}, drift_ppm={:.3}, stamp_ns={}",
        clock.source, clock.hertz, clock.drift_ppm, clock.stamp.0
    );
    line("time", std::process::id(), &text)
}
