//! The table of what was made and what was said.

use super::goals;
use super::results::{NotMeasured, Results};
use super::score::Outcome;
use super::situation::Situation;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How the outcomes were made.
pub struct Origin {
    pub seed: u64,
    pub in_guest: bool,
    /// Runs timed the layers of their I/Os.
    pub layers: bool,
    /// Requested draws of each situation.
    pub draws: u32,
}

/// The document.
pub fn render(situations: &[&Situation], results: &Results, origin: &Origin) -> String {
    let Results { outcomes, disturbed, .. } = results;
    let Origin { seed, in_guest, layers, draws } = origin;
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
    let all = situations.len() * *draws as usize;
    let runs = match outcomes.len() {
        complete if complete == all => format!("{complete} runs in all"),
        some => format!("{some} of {all} runs"),
    };
    let mut text = format!(
        "# What the verdict says of situations whose limit is known{place}\n\n\
         `cargo xtask {command} --seed={seed}{layers}` made {} situations, {runs}, with shapes drawn at \
         random: {drawn}.",
        situations.len(),
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
            limit_counts(&own),
            wrong.count(),
            high.count(),
        );
    }
    text += &wrong_ones(outcomes);
    text += &not_measured(results);
    text
}

/// "device 9 (high 7, medium 2), unknown 1".
fn limit_counts(own: &[&Outcome]) -> String {
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

fn totals(outcomes: &[Outcome]) -> String {
    let mut text = "| | measured | goal |\n|---|--:|--:|\n".to_owned();
    for goal in goals::goals(outcomes) {
        let missed = if goal.is_met { "" } else { ", missed" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {:.1} % | {}{missed} |", goal.name, goal.value, goal.aim);
    }
    text
}

fn not_measured(results: &Results) -> String {
    let line = |one: &NotMeasured| format!("- {}, draw {}: {}\n", one.situation, one.draw, one.why);
    match results.not_measured.as_slice() {
        [] => String::new(),
        some => {
            format!("\n## What was not measured\n\n{}", some.iter().map(line).collect::<String>())
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::situations;

    #[test]
    fn the_table_of_a_part_of_the_runs_names_what_was_not_measured() {
        let situations: Vec<&Situation> = situations::all().take(2).collect();
        let name = situations[0].name;
        let outcome = Outcome { situation: name, limit: "device".into(), ..Outcome::default() };
        let outcome = Outcome { right: &["device"], confidence: "high".into(), ..outcome };
        let why = "20 attempts were disturbed".to_owned();
        let not_measured = vec![NotMeasured { situation: situations[1].name, draw: 0, why }];
        let results = Results { outcomes: vec![outcome], not_measured, disturbed: 20 };
        let origin = Origin { seed: 1, in_guest: false, layers: false, draws: 1 };
        let text = render(&situations, &results, &origin);
        assert!(text.contains("made 2 situations, 1 of 2 runs, with"), "{text}");
        assert!(text.contains("| verdicts that are right | 100.0 % | ≥ 97 % |"), "{text}");
        let listed = format!("- {}, draw 0: 20 attempts were disturbed\n", situations[1].name);
        assert!(text.ends_with(&listed), "{text}");
    }
}
