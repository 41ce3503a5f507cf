//! The table of what was made and what was said.

use super::score::Outcome;
use super::situation::Situation;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The goals: at least so many of the verdicts right, at most so many unknown, at most so many findings
/// missed and warnings false, in percent.
const RIGHT_MIN: f64 = 97.0;
const UNKNOWN_MAX: f64 = 3.0;
const MISSED_MAX: f64 = 1.0;
const FALSE_MAX: f64 = 0.5;

/// How the outcomes were made.
pub struct Origin {
    pub seed: u64,
    pub in_guest: bool,
    /// Runs timed the layers of their I/Os.
    pub layers: bool,
    /// Runs that were disturbed and made again.
    pub disturbed: u32,
}

/// The document.
pub fn render(situations: &[&Situation], outcomes: &[Outcome], origin: &Origin) -> String {
    let Origin { seed, in_guest, layers, disturbed } = origin;
    let (place, command, drawn) = match in_guest {
        true => (
            " in a guest with emulated disks",
            "truth --guest",
            "engine, depth, block size, pattern, delay of the disk",
        ),
        false => (
            "",
            "truth",
            "engine, depth, block size, pattern, size from 1 MiB to 1 GiB, duration from 10 ms to \
             10 s, number of jobs",
        ),
    };
    let layers = if *layers { " --layers" } else { "" };
    let mut text = format!(
        "# What the verdict says of situations whose limit is known{place}\n\n\
         `cargo xtask {command} --seed={seed}{layers}` made {} situations, {} runs in all, with shapes drawn \
         at random: {drawn}.",
        situations.len(),
        outcomes.len()
    );
    if *disturbed > 0 {
        text += &format!(" {disturbed} runs that other programs disturbed were made again.");
    }
    text += "\n\n";
    text += &totals(outcomes);
    text += "\n| situation | right limit | said | wrong | high and wrong | missed | false warnings |\n\
             |---|---|---|--:|--:|--:|--:|\n";
    for situation in situations {
        let own: Vec<&Outcome> =
            outcomes.iter().filter(|one| one.situation == situation.name).collect();
        let wrong = own.iter().filter(|one| !one.is_right());
        let high = wrong.clone().filter(|one| one.confidence == "high");
        let missed: usize = own.iter().map(|one| one.missed.len()).sum();
        let false_warnings: usize = own.iter().map(|one| one.false_warnings.len()).sum();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {missed} | {false_warnings} |",
            situation.what,
            situation.limits.join(" or "),
            said(&own),
            wrong.count(),
            high.count(),
        );
    }
    text += &wrong_ones(outcomes);
    text
}

/// "device 9 (high 7, medium 2), unknown 1".
fn said(own: &[&Outcome]) -> String {
    let mut limits: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for one in own {
        *limits.entry(&one.limit).or_default().entry(&one.confidence).or_default() += 1;
    }
    let parts = limits.iter().map(|(limit, by)| {
        let each: Vec<String> = by.iter().map(|(name, count)| format!("{name} {count}")).collect();
        format!("{limit} {} ({})", by.values().sum::<u32>(), each.join(", "))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

fn totals(outcomes: &[Outcome]) -> String {
    let count = |of: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|one| of(one)).count();
    let all = outcomes.len();
    let right = count(&|one| one.is_right());
    let wrong_high = count(&|one| !one.is_right() && one.confidence == "high");
    let unknown = count(&|one| one.limit == "unknown" && !one.is_right());
    let medium = count(&|one| one.confidence == "medium");
    let medium_right = count(&|one| one.confidence == "medium" && one.is_right());
    let missed: usize = outcomes.iter().map(|one| one.missed.len()).sum();
    let false_warnings: usize = outcomes.iter().map(|one| one.false_warnings.len()).sum();
    let rows = [
        ("verdicts that are right", share(right, all), format!("≥ {RIGHT_MIN} %")),
        ("verdicts that are wrong with high confidence", share(wrong_high, all), "0".to_owned()),
        ("verdicts that are unknown", share(unknown, all), format!("≤ {UNKNOWN_MAX} %")),
        ("findings missed, of the runs", share(missed, all), format!("≤ {MISSED_MAX} %")),
        (
            "warnings that are false, of the runs",
            share(false_warnings, all),
            format!("≤ {FALSE_MAX} %"),
        ),
        (
            "verdicts of medium confidence that are right",
            share(medium_right, medium),
            "80 to 97 %".to_owned(),
        ),
    ];
    let mut text = "| | measured | goal |\n|---|--:|--:|\n".to_owned();
    for (name, value, goal) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {name} | {value:.1} % | {goal} |");
    }
    text
}

fn wrong_ones(outcomes: &[Outcome]) -> String {
    let wrong = |one: &&Outcome| {
        !one.is_right() || !one.missed.is_empty() || !one.false_warnings.is_empty()
    };
    let lines: Vec<String> =
        outcomes.iter().filter(wrong).map(|one| format!("{}\n", one.summary())).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n## What was wrong\n\n{}", lines.concat()),
    }
}
