//! The table of what was compared and what was said.

use super::counted::{Counted, DRAWS, RUNS, SLOWER};
use std::fmt::Write;

/// Shares of the comparisons that the goals allow: false calls at most, found at least, intervals that
/// hold at least; in percent.
const FALSE_MAX: f64 = 5.0;
const FOUND_MIN: f64 = 90.0;
const HELD_MIN: f64 = 90.0;

/// The shares that have a goal, in percent; `None` where nothing was counted.
struct Shares {
    false_calls: Option<f64>,
    found: Option<f64>,
    held: Option<f64>,
}

impl Shares {
    fn from_counted(counted: &[Counted]) -> Shares {
        let share =
            |part: u32, all: u32| (all > 0).then(|| f64::from(part) * 100.0 / f64::from(all));
        let sum = |of: &dyn Fn(&Counted) -> u32| counted.iter().map(of).sum::<u32>();
        let held: Vec<usize> = counted.iter().filter_map(Counted::intervals_that_hold).collect();
        Shares {
            false_calls: share(sum(&|one| one.false_calls), sum(&|one| one.equal)),
            found: share(sum(&|one| one.found), sum(&|one| one.slowed)),
            held: share(held.iter().sum::<usize>() as u32, (held.len() * DRAWS) as u32),
        }
    }
}

/// The goals that are missed, in words.
pub fn missed(counted: &[Counted]) -> Vec<String> {
    let Shares { false_calls, found, held } = Shares::from_counted(counted);
    let mut missed = Vec::new();
    if !false_calls.is_some_and(|share| share <= FALSE_MAX) {
        missed.push("equal runs that are called different".to_owned());
    }
    if !found.is_some_and(|share| share >= FOUND_MIN) {
        missed.push("slower runs that are called slower".to_owned());
    }
    if !held.is_some_and(|share| share >= HELD_MIN) {
        missed.push("intervals that hold the mean of all".to_owned());
    }
    let apart = counted.iter().filter(|one| !one.is_slowed_as_meant());
    missed.extend(apart.map(|one| {
        let ratio = one.ratio().unwrap_or(f64::NAN);
        format!("{} was slowed to {ratio:.3} of its rate, not {:.2}", one.job.name, 1.0 - SLOWER)
    }));
    let not_made: usize = counted.iter().map(|one| one.not_made.len()).sum();
    if not_made > 0 {
        missed.push(format!("{not_made} comparisons were not made"));
    }
    missed
}

/// The document. `comparisons` of each kind were asked for with each job.
pub fn render(counted: &[Counted], comparisons: u32, disturbed: u32) -> String {
    let sum = |of: &dyn Fn(&Counted) -> u32| counted.iter().map(of).sum::<u32>();
    let asked = comparisons * counted.len() as u32;
    let Shares { false_calls, found, held } = Shares::from_counted(counted);
    let shown =
        |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{share:.0} %"));
    let mut text = format!(
        "# What comparisons say of runs whose difference is known\n\n\
         `cargo xtask comparisons --comparisons={comparisons}` made {} of {asked} comparisons of a run with \
         itself, in turn, {RUNS} runs of each side, and {} of {asked} with a side that a control group slows \
         down by {:.0} %, with as many runs as the first comparison advises. A run takes 1 s. {disturbed} \
         runs that other programs disturbed were made again.\n\n\
         | | measured | goal |\n|---|--:|--:|\n\
         | equal runs that are called different | {} | ≤ {FALSE_MAX} % |\n\
         | slower runs that are called slower | {} | ≥ {FOUND_MIN} % |\n\
         | intervals of {RUNS} runs that hold the mean of all equal runs | {} | ≥ {HELD_MIN} % |\n\n\
         | job | called different | runs advised, median | called slower | ratio of IOPS, median | intervals \
         that hold |\n|---|--:|--:|--:|--:|--:|\n",
        sum(&|one| one.equal),
        sum(&|one| one.slowed),
        SLOWER * 100.0,
        shown(false_calls),
        shown(found),
        shown(held),
    );
    for one in counted {
        let runs: Vec<f64> = one.runs.iter().map(|runs| f64::from(*runs)).collect();
        let runs = if runs.is_empty() { 0.0 } else { judge::stats::median(&runs) };
        let ratio = one.ratio().map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
        let not_meant = if one.is_slowed_as_meant() { "" } else { ", not about 0.9" };
        let held = one.intervals_that_hold().map(|held| held as f64 * 100.0 / DRAWS as f64);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} of {} | {runs} | {} of {} | {ratio}{not_meant} | {} of {} runs |",
            one.job.what,
            one.false_calls,
            one.equal,
            one.found,
            one.slowed,
            shown(held),
            one.iops.len(),
        );
    }
    let not_made = |one: &Counted| {
        let line = |why: &String| format!("- {}: {why}\n", one.job.what);
        one.not_made.iter().map(line).collect::<String>()
    };
    let not_made: String = counted.iter().map(not_made).collect();
    if !not_made.is_empty() {
        text += &format!("\n## What was not compared\n\n{not_made}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparisons::job::JOBS;

    fn counted() -> Vec<Counted> {
        let each = |job| Counted {
            equal: 20,
            slowed: 20,
            found: 19,
            runs: vec![8; 20],
            ratios: vec![0.9; 20],
            iops: (0..200).map(|n| 1000.0 + f64::from(n % 7)).collect(),
            ..Counted::new(job)
        };
        JOBS.iter().map(each).collect()
    }

    #[test]
    fn every_goal_can_be_missed() {
        assert_eq!(missed(&counted()), [""; 0]);
        let with = |change: &dyn Fn(&mut Counted)| {
            let mut all = counted();
            all.iter_mut().for_each(change);
            missed(&all).join("; ")
        };
        assert!(with(&|one| one.false_calls = 2).contains("equal runs"));
        assert!(with(&|one| one.found = 17).contains("slower runs"));
        assert!(with(&|one| one.ratios = vec![0.96; 20]).contains("reads was slowed to 0.960"));
        assert!(with(&|one| one.not_made = vec!["busy".into()]).contains("5 comparisons were not"));
        // One outlier shifts the mean of all beyond most intervals of five.
        assert!(with(&|one| one.iops[0] = 1e6).contains("intervals that hold"));
        let nothing: Vec<Counted> = JOBS.iter().map(Counted::new).collect();
        assert_eq!(missed(&nothing).len(), 3);
    }

    #[test]
    fn the_table_of_an_interrupted_run_says_how_much_was_made() {
        let mut all = counted();
        all[4] = Counted::new(&JOBS[4]);
        all[4].not_made.push("20 attempts were disturbed".into());
        let text = render(&all, 20, 3);
        assert!(text.contains("made 80 of 100 comparisons of a run with itself"), "{text}");
        assert!(text.contains("| 0 of 0 | 0 | 0 of 0 | – | – of 0 runs |"), "{text}");
        assert!(
            text.ends_with("- the null engine, depth 16: 20 attempts were disturbed\n"),
            "{text}"
        );
    }
}
