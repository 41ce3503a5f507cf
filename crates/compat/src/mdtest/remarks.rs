//! What mdtest's figures leave out: below the summary.

use super::command::{MdtestCommand, Phase};
use super::results::{Outcome, PhaseResult, slower};
use crate::hpc;
use record::human;
use report::style::Style;

/// A difference between tasks that is worth a line.
const SHARE_MIN: f64 = 0.1;

/// The text below the summary.
pub fn footer(call: &MdtestCommand, outcome: &Outcome, style: &Style) -> String {
    let lines = if outcome.phases.is_empty() { Vec::new() } else { lines(call, outcome) };
    hpc::footer(lines, &outcome.verdicts, &outcome.findings, style)
}

/// The lines, each with its label.
fn lines(call: &MdtestCommand, outcome: &Outcome) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&str, String)> = call
        .phases()
        .into_iter()
        .filter_map(|phase| Some(("latency", latency(outcome, phase)?)))
        .collect();
    lines.extend(call.phases().into_iter().filter_map(|phase| {
        let slowest = outcome.of_phase(phase).max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
        Some(("tasks", tasks(slowest)?))
    }));
    lines.extend(
        outcome.of_phase(Phase::FileCreate).filter_map(stonewall).map(|text| ("stonewall", text)),
    );
    lines.extend(parts(call, outcome).map(|text| ("runs", text)));
    lines.extend(cache(call).map(|text| ("cache", text.to_owned())));
    lines.extend(durability(call).map(|text| ("durability", text.to_owned())));
    lines
}

fn latency(outcome: &Outcome, phase: Phase) -> Option<String> {
    let all = outcome.of_phase(phase).filter_map(|result| result.latency_ns).reduce(slower)?;
    let ([p50, p99], most) = all;
    let [p50, p99, most] = [p50, p99, most].map(|ns| human::time(ns as f64));
    Some(format!("{}: median {p50}, 99 % {p99}, most {most}.", phase.name()))
}

fn ratio(result: &PhaseResult) -> f64 {
    result.tasks.1 / result.tasks.0.max(1e-9)
}

/// The time is that of the slowest task.
fn tasks(result: &PhaseResult) -> Option<String> {
    let (fast, slow) = result.tasks;
    (slow - fast >= slow * SHARE_MIN).then(|| {
        format!(
            "the fastest task ended {} after {}, the slowest after {}; the rate counts the slowest.",
            result.phase.name(),
            human::time(fast * 1e9),
            human::time(slow * 1e9)
        )
    })
}

/// A creation that `-W` ended.
fn stonewall(result: &PhaseResult) -> Option<String> {
    let (seconds, operations) = result.stonewall?;
    Some(format!(
        "-W ended the creation of files after {} at {:.3} ops/sec; the tasks behind the fastest took {} more to \
         reach its {} files, and the rate counts it.",
        human::time(seconds * 1e9),
        operations as f64 / seconds.max(1e-9),
        human::time((result.seconds - seconds) * 1e9),
        result.most
    ))
}

/// Phases of several runs.
fn parts(call: &MdtestCommand, outcome: &Outcome) -> Option<String> {
    let runs = |result: &PhaseResult| result.runs - u32::from(result.stonewall.is_some());
    let most = outcome.phases.iter().map(runs).max().filter(|runs| *runs > 1)?;
    Some(format!(
        "phases of more than {} items of each task are up to {most} runs; all tasks begin each of them together, \
         and the time between them is not counted.",
        call.items_of_run()
    ))
}

fn cache(call: &MdtestCommand) -> Option<&'static str> {
    let asks = [Phase::DirectoryStat, Phase::FileStat, Phase::FileRead];
    if !call.phases().iter().any(|phase| asks.contains(phase)) {
        return None;
    }
    if call.create && call.stride > 0 && call.nodes > 1 {
        return None;
    }
    Some(match (call.create, call.stride) {
        (true, 1..) => {
            "this host created what it stats and reads, so its own caches answer. -N moves each task to \
             the items of another one, and all tasks here are on one host: it changes nothing."
        }
        (true, 0) => "this host created what it stats and reads, so its own caches answer.",
        (false, _) => {
            "names are looked up before a phase begins, so stats are answered by caches of this host."
        }
    })
}

fn durability(call: &MdtestCommand) -> Option<&'static str> {
    match (call.create || call.remove, call.sync, call.fsync) {
        (true, true, _) if call.nodes > 1 => Some(
            "-Y synchronised the filesystem on the first host; what other hosts hold in memory is not counted.",
        ),
        (true, false, false) => Some(
            "nothing was synchronised: the rates of creation and removal end in memory. -Y counts the \
             way to the medium.",
        ),
        (true, false, true) => Some(
            "each file was synchronised after its write; directories and removals were not. -Y counts \
             all.",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::run;
    use super::*;

    #[track_caller]
    fn holds(call: &MdtestCommand, label: &str, words: &str) {
        let mut outcome = Outcome::default();
        outcome.add(&run(Phase::FileStat, 0), 0.0);
        let lines = lines(call, &outcome);
        let is = |(name, text): &(&str, String)| *name == label && text.contains(words);
        assert!(lines.iter().any(is), "{label}: {words}: {lines:#?}");
    }

    #[test]
    fn caches_durability_and_the_slowest_task_are_said() {
        let call = MdtestCommand {
            tasks: 2,
            items: 100,
            create: true,
            stat: true,
            ..MdtestCommand::default()
        };
        holds(&call, "cache", "created what it stats");
        holds(&call, "durability", "end in memory");
        holds(&call, "tasks", "the fastest task ended file-stat after 1 s, the slowest after 2 s");
        let shifted = MdtestCommand { stride: 1, fsync: true, ..call.clone() };
        holds(&shifted, "cache", "-N moves each task");
        holds(&shifted, "durability", "directories and removals were not");
        holds(&MdtestCommand { create: false, ..call }, "cache", "looked up before");
    }
}
