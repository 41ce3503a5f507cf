//! The result as text in the layout of DISKSPD 2.2, and fathom's footer.

mod input;
mod tables;

use super::profile::{Profile, TimeSpan};
use super::results::{Measured, Side, mean_ms, measured, record_of, sum, utc};
use super::terminology::TERMINOLOGY;
use super::topology::Topology;
use judge::Judged;
use record::{Facts, RecordSet, distinct};
use report::style::Style;
use tables::{cpus, distribution, effective, io, percentile_ms};

pub(super) use input::input;

/// Width of the line of stars below a heading.
const STARS: usize = 79;
/// Printed instead of results.
pub(super) const INTERRUPTED: &str =
    "The test was interrupted before the measurements began. No results are displayed.";

/// The whole report.
pub(super) fn report(profile: &Profile, set: &RecordSet, arguments: &[String]) -> String {
    let measured = measured(profile, set);
    let mut out = input(profile, arguments);
    if let Some(run) = set.runs.first() {
        out += &system(&run.facts, run.invocation.started_unix_ms);
    }
    for (index, span) in measured.iter().enumerate() {
        out += &format!("\nResults for timespan {}:\n{}\n\n", index + 1, "*".repeat(STARS));
        match span {
            Some(span) => out += &results(span),
            None => out += &format!("{INTERRUPTED}\n"),
        }
    }
    if profile.spans.len() > 1 {
        out += &totals(&measured);
    }
    out
}

fn system(facts: &Facts, started_unix_ms: u64) -> String {
    let topology = Topology::from_facts(facts);
    let counts = [
        ("core", topology.cores),
        ("group", 1),
        ("node", topology.nodes),
        ("socket", topology.sockets),
    ];
    let known = counts.iter().filter(|(_, count)| *count > 0);
    let counts: String =
        known.map(|(name, count)| format!("\t{name} count:\t\t{count}\n")).collect();
    let mixed = match topology.classes {
        0 => "",
        1 => "\theterogeneous cores:\tn\n",
        _ => "\theterogeneous cores:\ty\n",
    };
    let governor = facts.cpu.governor.as_deref().unwrap_or("none");
    format!(
        "System information:\n\n\tcomputer name: {}\n\tstart time: {}\n\n\tcpu count:\t\t{}\n\
         {counts}{mixed}\n\tactive power scheme:\t{governor}\n",
        facts.hostname,
        utc(started_unix_ms),
        facts.cpu.online,
    )
}

fn results(span: &Measured) -> String {
    let mut out =
        format!("actual test time:\t{:.2}s\nthread count:\t\t{}\n", span.seconds, span.threads);
    if span.span.requests > 0 {
        out += &format!("request count:\t\t{}\n", span.span.requests);
    }
    out += &format!("\n{}", cpus(&span.cpus, &Topology::from_facts(&span.record.facts)));
    out += &effective(span.span, &span.rows);
    for (title, side) in [("Total", Side::Total), ("Read", Side::Read), ("Write", Side::Write)] {
        out += &format!("\n{title} IO\n{}", io(span, side));
    }
    if span.span.latency {
        let paths = paths(span.span);
        if paths.len() > 1 && span.span.requests == 0 {
            for path in paths {
                let rows = sum(span.rows.iter().filter(|row| row.path == path));
                out += &format!("\nLatency distribution: {path}\n{}", distribution(&rows));
            }
        }
        let all = sum(span.rows.iter());
        out += &format!("\nTotal latency distribution:\n{}", distribution(&all));
    }
    out
}

/// Paths of the targets, each once.
fn paths(span: &TimeSpan) -> Vec<&str> {
    distinct(span.targets.iter().map(|target| target.path.as_str()))
}

/// Several timespans together.
fn totals(measured: &[Option<Measured>]) -> String {
    let spans: Vec<&Measured> = measured.iter().flatten().collect();
    let seconds: f64 = spans.iter().map(|span| span.seconds).sum();
    let all = sum(spans.iter().flat_map(|span| &span.rows));
    let row = |name: &str, side| {
        let flow = all.side(side);
        let per_second = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
        format!(
            "{name:<6} | {:>15} | {:>12} | {:>10.2} | {:>10.2}\n",
            flow.bytes,
            flow.ios,
            per_second(flow.bytes as f64 / f64::from(1 << 20)),
            per_second(flow.ios as f64)
        )
    };
    format!(
        "\n\nTotals:\n{}\n\ntype   |       bytes     |     I/Os     |    MiB/s   |  I/O per s\n{}\n\
         {}{}{}{}\ntotal test time:\t{seconds:.2}s\n",
        "*".repeat(STARS),
        "-".repeat(67),
        row("write", Side::Write),
        row("read", Side::Read),
        "-".repeat(67) + "\n",
        row("total:", Side::Total),
    )
}

/// See [`super::verdict`].
pub(super) fn verdict(profile: &Profile, set: &RecordSet, style: &Style) -> String {
    let mut out = String::new();
    let several = profile.spans.len() > 1;
    let found = if profile.verbose { report::verdict::text } else { report::verdict::brief };
    for span in measured(profile, set).iter().flatten() {
        if several {
            out += &format!("\n{}\n", style.bold(&format!("Timespan {}", span.index + 1)));
        }
        if !span.span.latency {
            out += &quantiles(span);
        }
        out += &depth(span);
        out += &found(&judge::judge(span.record).in_terms(&TERMINOLOGY), style);
    }
    let unmeasured = (0..profile.spans.len()).filter_map(|index| record_of(index, set));
    let failed = unmeasured.filter(|run| run.jobs.iter().all(record::JobRecord::did_nothing));
    for run in failed {
        let findings = Judged { verdicts: Vec::new(), ..judge::judge(run).in_terms(&TERMINOLOGY) };
        out += &found(&findings, style);
    }
    out
}

/// The latency distribution, one line per direction.
fn quantiles(span: &Measured) -> String {
    let all = sum(span.rows.iter());
    let line = |name: &str, side| {
        let latency = all.side(side).latency;
        let at = |percentile| percentile_ms(&latency, percentile);
        (!latency.is_empty()).then(|| {
            format!(
                "  {name}: mean {:.3}, median {:.3}, 99th {:.3}, 3-nines {:.3}, max {:.3}\n",
                mean_ms(&latency),
                at(50.0),
                at(99.0),
                at(99.9),
                latency.max() as f64 / 1e6
            )
        })
    };
    let lines = [line("read", Side::Read), line("write", Side::Write)];
    let lines: String = lines.into_iter().flatten().collect();
    if lines.is_empty() { lines } else { format!("\nLatency (ms)\n{lines}") }
}

/// The achieved queue depth, beside the requested one.
fn depth(span: &Measured) -> String {
    let jobs = &span.record.jobs;
    let asked: u64 = jobs.iter().map(|job| u64::from(job.depth.requested)).sum();
    let reached: f64 = jobs.iter().map(|job| job.depth.achieved_mean).sum();
    format!("\nOutstanding I/Os: {reached:.1} on average of {asked} asked for\n")
}
