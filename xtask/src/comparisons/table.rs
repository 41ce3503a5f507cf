//! The table of what was compared and what was said.

use super::counted::{Counted, MANY, RUNS, SLOWER};
use std::fmt::Write;

/// Shares of the comparisons that the goals allow: false calls at most, found at least, intervals that
/// hold at least; in percent.
const FALSE_MAX: u32 = 5;
const FOUND_MIN: u32 = 90;
const HELD_MIN: usize = 90;

/// The document.
pub fn render(counted: &[Counted], comparisons: u32, held: usize) -> String {
    let all = comparisons * counted.len() as u32;
    let share = |of: &dyn Fn(&Counted) -> u32| {
        f64::from(counted.iter().map(of).sum::<u32>()) * 100.0 / f64::from(all)
    };
    let mut text = format!(
        "# What comparisons say of runs whose difference is known\n\n\
         `cargo xtask comparisons` made {all} comparisons of a run with itself, in turn, {RUNS} runs of \
         each side, and {all} with a side that a control group slows down by {:.0} %, with as many runs \
         as the first comparison advises. A run takes 300 ms.\n\n\
         | | measured | goal |\n|---|--:|--:|\n\
         | equal runs that are called different | {:.0} % | ≤ {FALSE_MAX} % |\n\
         | slower runs that are called slower | {:.0} % | ≥ {FOUND_MIN} % |\n\
         | intervals of {RUNS} runs that hold the mean of {MANY} | {:.0} % | ≥ {HELD_MIN} % |\n\n\
         | job | called different | runs advised, median | called slower | ratio of IOPS, median |\n\
         |---|--:|--:|--:|--:|\n",
        SLOWER * 100.0,
        share(&|one| one.false_calls),
        share(&|one| one.found),
        held as f64 * 100.0 / MANY as f64,
    );
    for one in counted {
        let runs: Vec<f64> = one.runs.iter().map(|runs| f64::from(*runs)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} of {comparisons} | {} | {} of {comparisons} | {:.3} |",
            one.job.what,
            one.false_calls,
            judge::stats::median(&runs),
            one.found,
            judge::stats::median(&one.ratios),
        );
    }
    text
}
