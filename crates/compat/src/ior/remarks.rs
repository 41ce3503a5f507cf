//! What IOR's figures leave out: below the tables.

use super::command::{IorCommand, Packet, Phase};
use super::results::{Outcome, PhaseResult};
use crate::hpc::{self, Statistics};
use crate::iozone::Source;
use record::human;
use report::style::Style;

/// A share of the time, or of the bandwidth, that is worth a line.
const SHARE_MIN: f64 = 0.05;

/// The text below the tables.
pub fn footer(call: &IorCommand, outcome: &Outcome, style: &Style) -> String {
    let lines = if outcome.phases.is_empty() { Vec::new() } else { lines(call, outcome) };
    hpc::footer(lines, &outcome.verdicts, &outcome.findings, style)
}

/// The lines, each with its label.
fn lines(call: &IorCommand, outcome: &Outcome) -> Vec<(&'static str, String)> {
    let phases = [Phase::Write, Phase::Read];
    let of_phase = |phase: Phase| -> Vec<&PhaseResult> { outcome.of_phase(phase).collect() };
    let mut lines: Vec<(&str, String)> = phases
        .into_iter()
        .filter_map(|phase| Some(("latency", latency(call, phase, &of_phase(phase))?)))
        .collect();
    lines.extend(cache(call, &of_phase(Phase::Read)).map(|text| ("cache", text)));
    lines.extend(durability(call, outcome).map(|text| ("durability", text)));
    for phase in phases {
        let results = of_phase(phase);
        lines.extend(spread(phase, &results).map(|text| ("repetitions", text)));
        lines.extend(tasks(phase, &results).map(|text| ("tasks", text)));
        lines.extend(opening(phase, &results).map(|text| ("open, close", text)));
        lines.extend(stonewall(call, phase, &results).map(|text| ("stonewall", text)));
    }
    lines.extend(data(call).map(|text| ("data", text.to_owned())));
    lines
}

fn plural(phase: Phase) -> &'static str {
    if phase == Phase::Write { "writes" } else { "reads" }
}

fn latency(call: &IorCommand, phase: Phase, results: &[&PhaseResult]) -> Option<String> {
    let slower = |one: [u64; 4], other: [u64; 4]| std::array::from_fn(|i| one[i].max(other[i]));
    let all = results.iter().filter_map(|result| result.latency_ns).reduce(slower)?;
    let [p50, p99, p999, most] = all.map(|ns| human::time(ns as f64));
    let transfer = human::exact_size(call.transfer);
    let highest =
        if results.len() > 1 { ", each of the repetition where it is highest" } else { "" };
    Some(format!(
        "{} of {transfer} by all tasks: median {p50}, 99 % {p99}, 99.9 % {p999}, most {most}{highest}. \
         Latency(s) is the mean of the fastest task.",
        plural(phase)
    ))
}

/// Reads that the page cache answered.
fn cache(call: &IorCommand, reads: &[&PhaseResult]) -> Option<String> {
    let cached = reads.iter().filter(|read| read.source == Source::Memory).count();
    if cached == 0 {
        return None;
    }
    let why = match (call.write, call.reorder) {
        (true, true) => {
            ". -C moves each task to the data of another host, and all tasks here are on one: it \
             changes nothing"
        }
        (true, false) => ": this host wrote the data just before",
        (false, _) => "",
    };
    let cure = match call.direct {
        true => "",
        false => " --posix.odirect goes past it; files larger than memory leave it behind.",
    };
    Some(format!(
        "{cached} of {} read phases were answered by the page cache, not by storage{why}.{cure}",
        reads.len()
    ))
}

fn durability(call: &IorCommand, outcome: &Outcome) -> Option<String> {
    outcome.of_phase(Phase::Write).next()?;
    let class = outcome.durability?;
    let made = match (call.fsync_per_write, call.fsync, call.direct) {
        (true, ..) => "Each write was synchronised, and the figure holds it",
        (false, true, _) => "Each task synchronised its file once, and the figure holds it",
        (false, false, true) => "Nothing asked the disk to flush its cache; -e does",
        (false, false, false) => {
            "Nothing was synchronised: what the figure holds ends in memory; -e counts the way to \
             the medium"
        }
    };
    Some(format!("{}: {}. {made}.", class.name(), class.meaning()))
}

/// Max Write and Max Read are the best repetition.
fn spread(phase: Phase, results: &[&PhaseResult]) -> Option<String> {
    let all: Vec<f64> = results.iter().map(|result| result.bandwidth()).collect();
    let Statistics { max, min, mean, .. } = Statistics::from_values(&all);
    if all.len() < 2 || max - min < max * SHARE_MIN {
        return None;
    }
    let above = human::percent((max - mean) / mean.max(f64::MIN_POSITIVE));
    Some(format!(
        "the best {} repetition is {above} above the mean of {}; {min:.2} to {max:.2} MiB/s.",
        phase.name(),
        all.len()
    ))
}

/// The time is that of the slowest task.
fn tasks(phase: Phase, results: &[&PhaseResult]) -> Option<String> {
    let spread = |result: &&PhaseResult| {
        let seconds: Vec<f64> = result.measured.tasks.iter().map(|(seconds, _)| *seconds).collect();
        let statistics = Statistics::from_values(&seconds);
        (seconds.len() > 1).then_some((statistics.min, statistics.max))
    };
    let ratio = |(fast, slow): (f64, f64)| slow / fast.max(1e-9);
    let (fast, slow) =
        results.iter().filter_map(spread).max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)))?;
    if slow - fast < slow * SHARE_MIN * 2.0 {
        return None;
    }
    Some(format!(
        "the fastest task ended its {} after {}, the slowest after {}; bw counts the slowest, so \
         not all tasks ran at its end.",
        plural(phase),
        human::time(fast * 1e9),
        human::time(slow * 1e9)
    ))
}

/// bw counts open and close; the IOPS column does not.
fn opening(phase: Phase, results: &[&PhaseResult]) -> Option<String> {
    let total: f64 = results.iter().map(|result| result.measured.total()).sum();
    let moving: f64 = results.iter().map(|result| result.measured.moving).sum();
    let bytes: f64 = results.iter().map(|result| result.measured.bytes as f64).sum();
    if total <= 0.0 || moving <= 0.0 || (total - moving) / total < SHARE_MIN {
        return None;
    }
    Some(format!(
        "{} of the time of {} is open and close. bw and OPs count it, the IOPS column does not; \
         without it bw is {:.2} MiB/s.",
        human::percent((total - moving) / total),
        plural(phase),
        bytes / f64::from(1 << 20) / moving
    ))
}

fn stonewall(call: &IorCommand, phase: Phase, results: &[&PhaseResult]) -> Option<String> {
    if let Some(worn) = results.iter().find(|result| result.measured.stonewall.is_some()) {
        return wear_out(worn);
    }
    let cut = results.iter().find(|result| call.deadline_s > 0 && !result.is_whole(call))?;
    let counts = || cut.measured.tasks.iter().map(|(_, count)| *count);
    let counts = match (counts().min()?, counts().max()?) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    let share = human::percent(cut.measured.bytes as f64 / call.aggregate() as f64);
    Some(format!(
        "the {} of repetition {} moved {share} of what -b and -s ask for, {counts} \
         transfers a task. Each task ended by its own clock: bw is their sum, not that of work shared \
         evenly.",
        plural(phase),
        cut.repetition
    ))
}

fn wear_out(result: &PhaseResult) -> Option<String> {
    let (seconds, bytes) = result.measured.stonewall?;
    let alone = bytes as f64 / f64::from(1 << 20) / seconds;
    Some(format!(
        "-D ended the {} of repetition {} after {} at {alone:.2} MiB/s; the tasks behind the fastest took \
         {} more to reach its count, and bw counts it. Open, close and the fsync of -e are in both parts.",
        plural(result.phase),
        result.repetition,
        human::time(seconds * 1e9),
        human::time((result.measured.moving - seconds) * 1e9)
    ))
}

fn data(call: &IorCommand) -> Option<&'static str> {
    match call.packet {
        _ if !call.write => None,
        _ if call.is_stamped() => Some(
            "the data repeats the signature and the offset: storage that compresses writes less.",
        ),
        Packet::Timestamp => Some(
            "all transfers write the same bytes: storage that compresses or finds duplicates writes \
             less; -l r fills each anew.",
        ),
        Packet::Offset | Packet::Random => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::run;
    use super::*;

    fn said(call: &IorCommand, change: impl Fn(&mut Outcome)) -> Vec<(&'static str, String)> {
        let mut outcome = Outcome::default();
        ["write", "read"].iter().for_each(|phase| outcome.add(&run(phase, "0")));
        change(&mut outcome);
        lines(call, &outcome)
    }

    fn call() -> IorCommand {
        IorCommand {
            tasks: 2,
            block: 64 << 20,
            write: true,
            read: true,
            packet: Packet::Random,
            ..IorCommand::default()
        }
    }

    #[track_caller]
    fn holds(lines: &[(&str, String)], label: &str, words: &str) {
        let is = |(name, text): &(&str, String)| *name == label && text.contains(words);
        assert!(lines.iter().any(is), "{label}: {words}: {lines:#?}");
    }

    #[test]
    fn what_open_close_and_the_slowest_task_hide_is_said() {
        let lines = said(&call(), |_| {});
        holds(&lines, "open, close", "20 % of the time of writes is open and close");
        holds(&lines, "open, close", "without it bw is 32.00 MiB/s");
        holds(
            &lines,
            "tasks",
            "the fastest task ended its writes after 3 s, the slowest after 4 s",
        );
        let even = said(&call(), |outcome| {
            for phase in &mut outcome.phases {
                (phase.measured.open, phase.measured.close) = (0.0, 0.0);
                phase.measured.tasks = vec![(4.0, 256); 2];
            }
        });
        assert!(even.iter().all(|(label, _)| *label != "tasks" && *label != "open, close"));
    }

    #[test]
    fn reads_of_the_cache_are_named_and_c_on_one_host_as_well() {
        let cached = |outcome: &mut Outcome| {
            outcome.phases.iter_mut().for_each(|phase| phase.source = Source::Memory);
        };
        holds(
            &said(&call(), cached),
            "cache",
            "1 of 1 read phases were answered by the page cache",
        );
        let shifted = IorCommand { reorder: true, ..call() };
        holds(&said(&shifted, cached), "cache", "-C moves each task to the data of another host");
        let stored = said(&call(), |outcome| {
            outcome.phases.iter_mut().for_each(|phase| phase.source = Source::Storage);
        });
        assert!(stored.iter().all(|(label, _)| *label != "cache"));
    }

    #[test]
    fn an_early_end_the_best_repetition_and_equal_data_are_said() {
        let stonewalled = IorCommand { deadline_s: 1, segments: 2, ..call() };
        holds(&said(&stonewalled, |_| {}), "stonewall", "moved 50 % of what -b and -s ask for");
        let repeated = |outcome: &mut Outcome| {
            let mut other = outcome.phases[0].clone();
            other.measured.moving = 9.0;
            outcome.phases.push(other);
        };
        holds(&said(&call(), repeated), "repetitions", "12.80 to 25.60 MiB/s");
        let equal = IorCommand { packet: Packet::Timestamp, ..call() };
        holds(&said(&equal, |_| {}), "data", "the same bytes");
        let compared = IorCommand { check_read: true, ..call() };
        holds(&said(&compared, |_| {}), "data", "repeats the signature and the offset");
        assert!(said(&call(), |_| {}).iter().all(|(label, _)| *label != "data"));
    }
}
