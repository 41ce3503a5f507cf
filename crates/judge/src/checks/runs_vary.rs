//! Do repeats of one run agree?

use super::check::{Check, How, Look, Proof};
use super::words::{number, percent};
use crate::case::Case;
use crate::finding::{Figure, Finding};
use record::{RecordSet, Remedy, Sentence, Severity};

/// Coefficient of variation from which it is told, and from which the mean is no figure.
const NOTE: f64 = 0.05;
const WARNING: f64 = 0.10;
/// Two runs differ; only more of them vary.
const RUNS_MIN: usize = 3;

pub(super) const CHECK: Check = Check {
    id: "runs-vary",
    question: "Do repeats of one run agree?",
    evidence: "IOPS of each job over the repeats: mean, spread and coefficient of variation",
    threshold: "note from a coefficient of variation of 5 %, warning from 10 %, of 3 repeats or more",
    reason: "a difference below the spread of repeats cannot be seen with them; from a tenth on, few changes anybody makes could be: a mystery, not a benchmark",
    cause: "something that is not part of the job changes between the repeats: other load, heat, the state of the flash, caches",
    remedy: || {
        "read the findings of the slow and the fast runs, stop other load, precondition (fathom precondition), and run longer".into()
    },
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks/machine.rs::repeats_with_a_neighbour_now_and_then_vary",
        silent: "crates/cli/tests/checks/machine.rs::repeats_at_one_rate_agree",
    },
    look: Look::Set(look),
};

/// The IOPS of one job in each repeat, in the order they ran.
struct Repeats {
    cell: String,
    job: String,
    iops: Vec<f64>,
}

fn look(set: &RecordSet) -> Vec<Finding> {
    let mut all: Vec<Repeats> = Vec::new();
    for run in &set.runs {
        let cell = run.cell_name();
        for part in Case::of(run).parts {
            let iops = part.metrics.directions.iter().map(|(_, d)| d.iops).sum();
            match all.iter_mut().find(|known| known.cell == cell && known.job == part.name) {
                Some(known) => known.iops.push(iops),
                None => {
                    let (cell, job) = (cell.to_owned(), part.name.to_owned());
                    all.push(Repeats { cell, job, iops: vec![iops] });
                }
            }
        }
    }
    all.iter().filter_map(about).collect()
}

fn about(repeats: &Repeats) -> Option<Finding> {
    let iops = &repeats.iops;
    let mean = iops.iter().sum::<f64>() / iops.len() as f64;
    if iops.len() < RUNS_MIN || mean <= 0.0 {
        return None;
    }
    let squares: f64 = iops.iter().map(|x| (x - mean).powi(2)).sum();
    let variation = (squares / (iops.len() - 1) as f64).sqrt() / mean;
    if variation < NOTE {
        return None;
    }
    let severity = if variation < WARNING { Severity::Note } else { Severity::Warning };
    let least = iops.iter().copied().fold(f64::INFINITY, f64::min);
    let most = iops.iter().copied().fold(0.0, f64::max);
    let name = match repeats.cell.as_str() {
        "" => repeats.job.clone(),
        cell if cell == repeats.job => repeats.job.clone(),
        cell => format!("{cell}, {}", repeats.job),
    };
    let text = format!(
        "{name}: {} runs lie between {} and {} IOPS, with a coefficient of variation of {}",
        iops.len(),
        number(least),
        number(most),
        percent(variation),
    );
    let (cause, remedy) = reason(iops);
    Some(Finding {
        figures: vec![
            Figure::new("coefficient of variation", variation * 100.0, "percent"),
            Figure::new("slowest run", least, "IOPS"),
            Figure::new("fastest run", most, "IOPS"),
        ],
        cause,
        remedy,
        ..CHECK.finding(severity, vec![repeats.job.clone()], text)
    })
}

/// Whether the repeats go one way.
fn reason(iops: &[f64]) -> (Sentence, Remedy) {
    if iops.is_sorted() {
        return (
            "each run was faster than the one before: a cache is warming, or the disk is recovering from earlier writes".into(),
            "drop the caches before each run, or run until two in a row agree and count from there".into(),
        );
    }
    if iops.iter().rev().is_sorted() {
        return (
            "each run was slower than the one before: the disk fills, heats up or runs out of erased blocks".into(),
            "precondition it (fathom precondition), and count from where the runs agree".into(),
        );
    }
    (CHECK.cause.into(), (CHECK.remedy)())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{job, record};
    use super::*;
    use crate::checks::over_set;
    use record::{Cell, Direction};

    fn repeats(ios: &[u64]) -> Vec<Finding> {
        let run = |(round, ios): (u32, &u64)| {
            let mut job = job("read", Direction::Read, 10);
            job.results[Direction::Read].ios = *ios;
            let cell = Some(Cell { name: "read".into(), round, ..Cell::default() });
            record::RunRecord { cell, ..record(vec![job]) }
        };
        let runs = (0..).zip(ios).map(run).collect();
        over_set(&RecordSet { runs, ..RecordSet::default() })
    }

    #[test]
    fn spread_is_told_by_its_coefficient() {
        let found = repeats(&[10_000, 14_000, 9_000]);
        assert_eq!(found[0].severity, Severity::Warning);
        assert!(found[0].text.contains("3 runs lie between 900 and 1.4 k IOPS"), "{found:?}");
        assert_eq!(repeats(&[10_000, 11_000, 9_900])[0].severity, Severity::Note);
        assert!(repeats(&[10_000, 10_200, 9_900]).is_empty());
        assert!(repeats(&[10_000, 20_000]).is_empty());
    }

    #[test]
    fn runs_that_go_one_way_have_their_own_cause() {
        assert!(repeats(&[10_000, 14_000, 19_000])[0].cause.contains("faster than the one before"));
        assert!(repeats(&[19_000, 14_000, 10_000])[0].cause.contains("slower than the one before"));
    }
}
