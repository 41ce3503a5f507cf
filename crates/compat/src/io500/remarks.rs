//! What the score leaves out: below it.

use super::command::{Io500Command, Phase};
use super::invalid::reasons;
use super::results::{Outcome, rows};
use crate::iozone::Source;
use crate::{hpc, ior, mdtest};
use record::human;
use report::style::Style;

/// The text below the score. `nodes`: the hosts of the tasks.
pub fn footer(call: &Io500Command, outcome: &Outcome, nodes: u32, style: &Style) -> String {
    let lines = if rows(outcome).is_empty() { Vec::new() } else { lines(call, outcome, nodes) };
    // The set-up of a tree, and the rest of a phase, are not judged.
    let is_whole = |phase: &str| !phase.contains(',');
    let of_ior = outcome.ior.iter().map(|test| (&test.verdicts, &test.findings));
    let of_mdtest = outcome.mdtest.iter().map(|test| (&test.verdicts, &test.findings));
    let (mut verdicts, mut findings) = (Vec::new(), Vec::new());
    for (own_verdicts, own_findings) in of_ior.chain(of_mdtest) {
        verdicts.extend(own_verdicts.iter().filter(|one| is_whole(&one.job)).cloned());
        let is_shown =
            |one: &&judge::Finding| one.jobs.is_empty() || one.jobs.iter().any(|job| is_whole(job));
        findings.extend(own_findings.iter().filter(is_shown).cloned());
    }
    let place = |name: &str| Phase::ALL.into_iter().position(|phase| phase.name() == name);
    verdicts.sort_by_key(|verdict| place(&verdict.job));
    findings.sort_by_key(|finding| finding.jobs.first().and_then(|job| place(job)));
    hpc::footer(lines, &verdicts, &findings, style)
}

/// The lines, each with its label.
fn lines(call: &Io500Command, outcome: &Outcome, nodes: u32) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    let reasons = reasons(call, outcome);
    if !reasons.is_empty() {
        lines.push(("invalid", format!("{}.", reasons.join("; "))));
    }
    lines.extend(latencies(outcome).into_iter().map(|text| ("latency", text)));
    lines.extend(stonewalls(outcome).into_iter().map(|text| ("stonewall", text)));
    lines.extend(cache(outcome, nodes).map(|text| ("cache", text)));
    lines.extend(search(call, outcome, nodes).map(|text| ("find", text)));
    if let Some(class) = outcome.ior.iter().find_map(|test| test.durability) {
        let hosts = match nodes {
            0 | 1 => "",
            _ => {
                " of the first host; what other hosts hold in memory of mdtest's files is not counted"
            }
        };
        lines.push((
            "durability",
            format!(
                "{}: {}. ior synchronises each file once, mdtest the filesystem after each phase{hosts}. \
                 The figures hold both.",
                class.name(),
                class.meaning()
            ),
        ));
    }
    let runs = outcome.mdtest.iter().flat_map(|test| &test.phases);
    if let Some(most) = runs.map(|result| result.runs).max().filter(|runs| *runs > 2) {
        lines.push((
            "runs",
            format!(
                "phases of mdtest are up to {most} runs, each as large as fits into memory; all tasks begin \
                 each of them together, and the time between them is not counted."
            ),
        ));
    }
    lines
}

fn latencies(outcome: &Outcome) -> Vec<String> {
    let line = |name: &str, latencies: [u64; 3]| {
        let [p50, p99, most] = latencies.map(|ns| human::time(ns as f64));
        format!("{name}: median {p50}, 99 % {p99}, most {most}.")
    };
    let mut lines = Vec::new();
    for (test, name) in outcome.ior.iter().zip(["ior-easy", "ior-hard"]) {
        for result in &test.phases {
            let name = format!("{name}-{}", result.phase.name());
            lines
                .extend(result.latency_ns.map(|[p50, p99, _, most]| line(&name, [p50, p99, most])));
        }
    }
    for (test, name) in outcome.mdtest.iter().zip(["mdtest-easy", "mdtest-hard"]) {
        for result in &test.phases {
            let phase = match result.phase {
                mdtest::Phase::FileCreate => "write",
                mdtest::Phase::FileStat => "stat",
                mdtest::Phase::FileRead => "read",
                mdtest::Phase::FileRemove => "delete",
                _ => continue,
            };
            let name = format!("{name}-{phase}");
            lines.extend(result.latency_ns.map(|([p50, p99], most)| line(&name, [p50, p99, most])));
        }
    }
    lines
}

/// Writes that the deadline ended, with what they had reached then.
fn stonewalls(outcome: &Outcome) -> Vec<String> {
    let mut lines = Vec::new();
    let rest = |whole: f64, part: f64| human::time((whole - part) * 1e9);
    for (test, name) in outcome.ior.iter().zip(["ior-easy-write", "ior-hard-write"]) {
        let written = test.of_phase(ior::Phase::Write).filter_map(|result| {
            let (seconds, bytes) = result.measured.stonewall?;
            Some((result.measured.moving, seconds, bytes))
        });
        lines.extend(written.map(|(whole, seconds, bytes)| {
            format!(
                "{name} moved {:.6} GiB/s until the deadline; the tasks behind the fastest took {} more.",
                bytes as f64 / f64::from(1 << 30) / seconds.max(1e-9),
                rest(whole, seconds)
            )
        }));
    }
    for (test, name) in outcome.mdtest.iter().zip(["mdtest-easy-write", "mdtest-hard-write"]) {
        let made = test.phases.iter().filter_map(|result| Some((result, result.stonewall?)));
        lines.extend(made.map(|(result, (seconds, files))| {
            format!(
                "{name} made {:.6} kIOPS until the deadline; the tasks behind the fastest took {} more.",
                files as f64 / 1000.0 / seconds.max(1e-9),
                rest(result.seconds, seconds)
            )
        }));
    }
    lines
}

fn cache(outcome: &Outcome, nodes: u32) -> Option<String> {
    let cached: Vec<&str> = outcome
        .ior
        .iter()
        .zip(["ior-easy-read", "ior-hard-read"])
        .filter(|(test, _)| {
            test.of_phase(ior::Phase::Read).any(|read| read.source == Source::Memory)
        })
        .map(|(_, name)| name)
        .collect();
    let mut text = match cached.len() {
        0 => String::new(),
        _ => format!(
            "{} {} answered by the page cache, not by storage: use API = POSIX --posix.odirect, or write \
             more than memory holds. ",
            cached.join(" and "),
            if cached.len() == 1 { "was" } else { "were" }
        ),
    };
    if nodes < 2 {
        text += "All tasks are on one host, which stats and reads what it created: the rules' shift to \
                 another host (-C, -N) changes nothing.";
    }
    (!text.is_empty()).then(|| text.trim_end().to_owned())
}

fn search(call: &Io500Command, outcome: &Outcome, nodes: u32) -> Option<String> {
    let found = outcome.found?;
    let hosts = if nodes > 1 { " on the first host only; the other ranks wait" } else { "" };
    Some(format!(
        "looked at {} names and found {} of {} files, with {} {}{hosts}.",
        found.names,
        found.matching,
        outcome.expected(call),
        found.threads,
        if found.threads == 1 { "thread" } else { "threads" }
    ))
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::measured;
    use super::*;

    #[test]
    fn what_the_score_leaves_out_is_said() {
        let call = Io500Command { tasks: 2, stonewall_s: 2, ..Io500Command::default() };
        let outcome = measured(&call, 2);
        let all = |nodes| -> String {
            let lines = lines(&call, &outcome, nodes).into_iter();
            lines.map(|(label, text)| format!("{label}: {text}\n")).collect()
        };
        let here = all(1);
        for text in [
            "invalid: stonewall-time is 2 s; the rules have 300 s; phases that write",
            "find: looked at 3000 names and found 18 of 18 files, with 1 thread.",
            "All tasks are on one host",
        ] {
            assert!(here.contains(text), "{text}: {here}");
        }
        assert!(all(2).contains("on the first host only"));
    }
}
