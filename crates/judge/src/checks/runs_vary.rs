//! Do the repeats of a run agree?

use super::prelude::*;
use crate::stats::{mean, order_chance, variance};
use record::RecordSet;

/// Coefficients of variation from which it is a note, and a warning.
const NOTE: f64 = 0.05;
const WARNING: f64 = 0.10;
/// Two runs differ; only more of them vary.
const RUNS_MIN: usize = 3;
/// Fewer runs come in any order by chance: three of them are sorted one time in three.
const ORDERED_RUNS_MIN: usize = 6;
/// Largest chance of such an order in runs without a trend, from which a trend is a cause.
const CHANCE_MAX: f64 = 0.01;

pub(super) const CHECK: Check = Check {
    id: "runs-vary",
    question: "Do the repeats of a run agree?",
    evidence: "IOPS of each job in each repeat: coefficient of variation",
    threshold: "with at least 3 repeats: note from a coefficient of variation of 5 %, warning from 10 %; a trend is named as cause with at least 6 repeats, if their order has a chance below 1 % (Kendall's test)",
    reason: "repeats cannot show a difference smaller than their spread; few changes to a system make a difference of 10 %",
    cause: "something outside the job changes between the repeats: other load, heat, the state of the flash, caches",
    remedy: || {
        "compare the findings of the slow and the fast runs, stop other load, and run longer; precondition a disk that is written to (fathom precondition)".into()
    },
    proof: Proof::real(
        "checks/machine.rs::repeats_with_a_neighbour_now_and_then_vary",
        "checks/machine.rs::repeats_at_one_rate_agree",
    ),
    function: CheckFunction::Set(check),
};

/// The IOPS of one job in each repeat, in the order they ran.
struct Repeats {
    cell: String,
    job: String,
    /// Whether any of them wrote.
    writes: bool,
    iops: Vec<f64>,
}

fn check(set: &RecordSet) -> Vec<Finding> {
    let mut all: Vec<Repeats> = Vec::new();
    for run in &set.runs {
        let cell = run.cell_name();
        for part in Case::from_record(run).parts {
            let (iops, writes) = (part.iops(), part.ios(Direction::Write) > 0);
            match all.iter_mut().find(|known| known.cell == cell && known.job == part.name) {
                Some(known) => {
                    known.iops.push(iops);
                    known.writes |= writes;
                }
                None => {
                    let (cell, job) = (cell.to_owned(), part.name.to_owned());
                    all.push(Repeats { cell, job, writes, iops: vec![iops] });
                }
            }
        }
    }
    all.iter().filter_map(check_job).collect()
}

fn check_job(repeats: &Repeats) -> Option<Finding> {
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
    let (cause, remedy) = reason(repeats);
    let figures = [
        Figure::new("coefficient of variation", variation * 100.0, "percent"),
        Figure::new("slowest run", least, "IOPS"),
        Figure::new("fastest run", most, "IOPS"),
    ];
    let finding = CHECK.finding(severity, vec![repeats.job.clone()], text);
    Some(finding.figures(figures).cause(cause).remedy(remedy))
}

/// Whether the repeats go one way, and what can be done. Reads need no preconditioning.
fn reason(repeats: &Repeats) -> (Sentence, Remedy) {
    let (iops, writes) = (&repeats.iops, repeats.writes);
    let (rises, chance) = order_chance(iops);
    if iops.len() < ORDERED_RUNS_MIN || chance >= CHANCE_MAX {
        let remedy = match writes {
            true => (CHECK.remedy)(),
            false => {
                "compare the findings of the slow and the fast runs, stop other load, and run longer"
                    .into()
            }
        };
        return (CHECK.cause.into(), remedy);
    }
    let order = |way: &str| {
        format!(
            "the runs became {way} one after another (an order with a chance of {})",
            percent(chance)
        )
    };
    let (cause, first) = match (rises, writes) {
        (true, true) => (
            order("faster") + ": a cache warms up, or the disk recovers from earlier writes",
            "precondition it (fathom precondition), and ",
        ),
        (true, false) => {
            (order("faster") + ": a cache warms up", "drop the caches before each run, or ")
        }
        (false, true) => (
            order("slower") + ": the disk fills, heats up or runs out of erased blocks",
            "precondition it (fathom precondition), and ",
        ),
        (false, false) => {
            (order("slower") + ": heat, a limit that took hold, or growing other load", "")
        }
    };
    let remedy = format!("{first}use only the runs after the figures agree");
    (cause.into(), remedy.into())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{job, record};
    use super::*;
    use crate::checks::over_set;
    use record::{Cell, Direction};

    fn repeats_of(direction: Direction, ios: &[u64]) -> Vec<Finding> {
        let run = |(round, ios): (u32, &u64)| {
            let mut job = job("a", direction, 10);
            job.results[direction].ios = *ios;
            let cell = Some(Cell { name: "a".into(), round, ..Cell::default() });
            record::RunRecord { cell, ..record(vec![job]) }
        };
        let runs = (0..).zip(ios).map(run).collect();
        over_set(&RecordSet { runs, ..RecordSet::default() })
    }

    fn repeats(ios: &[u64]) -> Vec<Finding> {
        repeats_of(Direction::Read, ios)
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
        let slower = [19_000, 17_000, 15_000, 14_000, 12_000, 10_000];
        let found = &repeats(&slower)[0];
        assert!(
            found
                .cause
                .contains("became slower one after another (an order with a chance of 0.3 %)"),
            "{found:?}"
        );
        let faster: Vec<u64> = slower.iter().rev().copied().collect();
        assert!(repeats(&faster)[0].cause.contains("became faster one after another"));
        // One pair out of order leaves it a trend, three do not.
        let found = &repeats(&[19_000, 17_000, 15_000, 14_000, 12_000, 10_000, 10_500])[0];
        assert!(found.cause.contains("became slower"), "{found:?}");
        let found = &repeats(&[15_000, 17_000, 19_000, 14_000, 12_000, 10_000])[0];
        assert_eq!(found.cause, CHECK.cause);
    }

    #[test]
    fn three_to_five_sorted_runs_show_no_cause() {
        for ios in [&[10_000, 14_000, 19_000][..], &[19_000, 14_000, 10_000], &[9, 8, 7, 6, 5]] {
            assert_eq!(repeats(ios)[0].cause, CHECK.cause);
        }
    }

    #[test]
    fn only_writes_are_preconditioned() {
        let slower = [19_000, 17_000, 15_000, 14_000, 12_000, 10_000];
        let advises = |direction, ios: &[u64]| {
            let found = &repeats_of(direction, ios)[0];
            found.remedy.to_string().contains("fathom precondition")
        };
        for ios in [&slower[..], &slower[3..], &[10_000, 14_000, 9_000]] {
            assert!(!advises(Direction::Read, ios));
            assert!(advises(Direction::Write, ios));
        }
    }
}
