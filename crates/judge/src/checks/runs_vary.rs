//! Do the repeats of a run agree?

use super::prelude::*;
use crate::stats::{mean, variance};
use record::RecordSet;

/// Coefficients of variation from which it is a note, and a warning.
const NOTE: f64 = 0.05;
const WARNING: f64 = 0.10;
/// Two runs differ; only more of them vary.
const RUNS_MIN: usize = 3;

pub(super) const CHECK: Check = Check {
    id: "runs-vary",
    question: "Do the repeats of a run agree?",
    evidence: "IOPS of each job in each repeat: coefficient of variation",
    threshold: "with at least 3 repeats: note from a coefficient of variation of 5 %, warning from 10 %",
    reason: "repeats cannot show a difference smaller than their spread; few changes to a system make a difference of 10 %",
    cause: "something outside the job changes between the repeats: other load, heat, the state of the flash, caches",
    remedy: || {
        "compare the findings of the slow and the fast runs, stop other load, precondition (fathom precondition), and run longer".into()
    },
    proof: Proof::real(
        "checks/machine.rs::repeats_with_a_neighbour_now_and_then_vary",
        "checks/machine.rs::repeats_at_one_rate_agree",
    ),
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
            let iops = part.iops();
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
    let mean = mean(iops);
    if iops.len() < RUNS_MIN || mean <= 0.0 {
        return None;
    }
    let variation = variance(iops).sqrt() / mean;
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
        count(least),
        count(most),
        percent(variation),
    );
    let (cause, remedy) = reason(iops);
    let figures = [
        Figure::new("coefficient of variation", variation * 100.0, "percent"),
        Figure::new("slowest run", least, "IOPS"),
        Figure::new("fastest run", most, "IOPS"),
    ];
    let finding = CHECK.finding(severity, vec![repeats.job.clone()], text);
    Some(finding.figures(figures).cause(cause).remedy(remedy))
}

/// Whether the repeats go one way.
fn reason(iops: &[f64]) -> (Sentence, Remedy) {
    if iops.is_sorted() {
        return (
            "each run was faster than the one before: a cache warms up, or the disk recovers from earlier writes".into(),
            "drop the caches before each run, or use only the runs after the figures agree".into(),
        );
    }
    if iops.iter().rev().is_sorted() {
        return (
            "each run was slower than the one before: the disk fills, heats up or runs out of erased blocks".into(),
            "precondition it (fathom precondition), and use only the runs after the figures agree".into(),
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
