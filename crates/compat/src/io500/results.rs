//! The figures of the phases, and the score.

use super::command::{Io500Command, Phase};
use super::runs::{Part, part_of};
use crate::{ior, mdtest};
use record::RunRecord;
use suite::Failure;

/// What the search found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Names that it looked at.
    pub names: u64,
    /// Files that it was looking for.
    pub matching: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Threads that it had.
    pub threads: usize,
}

/// All that a call measured.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// ior-easy and ior-hard.
    pub ior: [ior::Outcome; 2],
    /// mdtest-easy and mdtest-hard.
    pub mdtest: [mdtest::Outcome; 2],
    /// The search.
    pub found: Option<Found>,
    /// The failure that ended the call.
    pub failure: Option<Failure>,
    /// The signal that ended the call.
    pub interrupted_by: Option<i32>,
}

/// The result of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The phase.
    pub phase: Phase,
    /// GiB per second, or thousands of operations per second.
    pub figure: f64,
    /// Seconds that it took.
    pub seconds: f64,
}

/// The score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// The geometric mean of the bandwidths, in GiB per second.
    pub bandwidth: f64,
    /// The geometric mean of the other rates, in thousands of operations per second.
    pub iops: f64,
    /// The geometric mean of both.
    pub total: f64,
}

impl Outcome {
    /// Adds a run. `sync`: the seconds that its synchronisation took.
    pub fn add(&mut self, run: &RunRecord, sync: f64) {
        let failure = match run.cell.as_ref().and_then(part_of) {
            Some((_, Part::Ior(test, _))) => {
                self.ior[test].add(run);
                self.ior[test].failure.clone()
            }
            Some((_, Part::Mdtest(test, _))) => {
                self.mdtest[test].add(run, sync);
                self.mdtest[test].failure.clone()
            }
            _ => return,
        };
        self.failure = self.failure.take().or(failure);
        self.interrupted_by = self.interrupted_by.or(run.interrupted_by);
    }

    /// Leaves out the figure of a phase that has begun and did not end.
    pub fn drop_unfinished(&mut self, part: Part) {
        match part {
            Part::Ior(test, _) => drop(self.ior[test].phases.pop()),
            Part::Mdtest(test, _) => self.mdtest[test].drop_last(),
            Part::Find => {}
        }
    }

    /// Files that the search has to find: those of mdtest-hard with 01 in their names.
    pub fn expected(&self, call: &Io500Command) -> u64 {
        let each = self.mdtest[1].made_each().unwrap_or(0);
        let of_task = |task: u32| match has_01(u64::from(task)) {
            true => each,
            false => (0..each).filter(|item| has_01(*item)).count() as u64,
        };
        (0..call.tasks).map(of_task).sum()
    }

    /// The result of a phase; `None`: it did not end.
    fn row(&self, phase: Phase) -> Option<Row> {
        use mdtest::Phase::{FileCreate, FileRead, FileRemove, FileStat};
        let test = usize::from(phase.name().contains("-hard-"));
        let moved = |inner| {
            let result = self.ior[test].of_phase(inner).last()?;
            Some((result.bandwidth() / 1024.0, result.measured.total()))
        };
        let made = |inner| {
            let result = self.mdtest[test].of_phase(inner).last()?;
            Some((result.rate() / 1000.0, result.seconds))
        };
        let (figure, seconds) = match phase {
            Phase::IorEasyWrite | Phase::IorHardWrite => moved(ior::Phase::Write),
            Phase::IorEasyRead | Phase::IorHardRead => moved(ior::Phase::Read),
            Phase::MdtestEasyWrite | Phase::MdtestHardWrite => made(FileCreate),
            Phase::MdtestEasyStat | Phase::MdtestHardStat => made(FileStat),
            Phase::MdtestHardRead => made(FileRead),
            Phase::MdtestEasyDelete | Phase::MdtestHardDelete => made(FileRemove),
            Phase::Find => {
                let found = self.found?;
                Some((found.names as f64 / found.seconds.max(1e-9) / 1000.0, found.seconds))
            }
        }?;
        Some(Row { phase, figure, seconds })
    }
}

/// Whether a number has the digits 01 in it. Its first digit is never 0.
fn has_01(mut number: u64) -> bool {
    while number >= 100 {
        if number % 100 == 1 {
            return true;
        }
        number /= 10;
    }
    false
}

/// The results of the phases that ended, in order.
pub fn rows(outcome: &Outcome) -> Vec<Row> {
    Phase::ALL.into_iter().filter_map(|phase| outcome.row(phase)).collect()
}

/// The score of these results. Phases without a result are left out, which makes it invalid.
pub fn score(rows: &[Row]) -> Score {
    let mean = |is_ior: bool| {
        let of_kind = rows.iter().filter(|row| row.phase.is_ior() == is_ior);
        let figures: Vec<f64> = of_kind.map(|row| row.figure).collect();
        match figures.len() {
            0 => 0.0,
            count => (figures.iter().map(|figure| figure.ln()).sum::<f64>() / count as f64).exp(),
        }
    };
    let (bandwidth, iops) = (mean(true), mean(false));
    Score { bandwidth, iops, total: (bandwidth * iops).sqrt() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::runs::Io500;
    use super::*;
    use record::{Bytes, JobRecord, Nanos};
    use suite::Suite;

    /// The results of a call with two tasks, whose runs move 2 GiB each in so many seconds, or make 1000
    /// operations.
    pub fn measured(call: &Io500Command, seconds: u64) -> Outcome {
        let hosts = vec!["a".to_owned(); call.tasks as usize];
        let tests = (call.ior("d", &hosts).unwrap(), call.mdtest("d", &hosts).unwrap());
        let mut suite = Io500::new(&call.phases(), &tests.0, &tests.1, 1);
        let mut outcome = Outcome::default();
        loop {
            if suite.is_search_next() {
                let found = Found { names: 3000, matching: 0, seconds: 2.0, threads: 1 };
                outcome.found = Some(Found { matching: outcome.expected(call), ..found });
                suite.searched();
            }
            let Some(step) = suite.next() else { return outcome };
            let (phase, _) = part_of(&step.cell).unwrap();
            let job = |task: u32| {
                let mut job = JobRecord { name: format!("task.{task}"), ..JobRecord::default() };
                job.started = Nanos(5);
                job.ended = job.started + Nanos(seconds * 1_000_000_000);
                let ios = if phase.is_ior() { 1024 } else { 1000 };
                for result in [&mut job.results.read, &mut job.results.write] {
                    (result.ios, result.bytes) = (ios, Bytes(ios << 21));
                }
                if phase.name().ends_with("-read") {
                    job.results.write = Default::default();
                } else {
                    job.results.read = Default::default();
                }
                job
            };
            let jobs = (0..call.tasks).map(job).collect();
            let run = RunRecord { jobs, cell: Some(step.cell), ..RunRecord::default() };
            outcome.add(&run, 0.0);
            suite.completed(&run);
        }
    }

    #[test]
    fn the_score_is_the_geometric_mean_of_both_groups() {
        let call = Io500Command { tasks: 2, ..Io500Command::default() };
        let outcome = measured(&call, 4);
        let rows = rows(&outcome);
        assert_eq!(rows.len(), 12, "{rows:?}");
        assert!(rows.iter().map(|row| row.phase).eq(Phase::ALL));
        for row in &rows {
            // 4 GiB in 4 s; 2000 operations in 4 s; 3000 names in 2 s.
            let expected = match row.phase {
                Phase::Find => (1.5, 2.0),
                phase if phase.is_ior() => (1.0, 4.0),
                _ => (0.5, 4.0),
            };
            assert_eq!((row.figure, row.seconds), expected, "{row:?}");
        }
        let Score { bandwidth, iops, total } = score(&rows);
        let expected = (0.5_f64.powi(7) * 1.5).powf(1.0 / 8.0);
        assert!((bandwidth - 1.0).abs() < 1e-12 && (iops - expected).abs() < 1e-12, "{iops}");
        assert!((total - expected.sqrt()).abs() < 1e-12);
        assert_eq!(score(&[]), Score::default());
    }

    #[test]
    fn names_with_01_are_counted_as_they_are_written() {
        for number in 0..20_000_u64 {
            assert_eq!(has_01(number), number.to_string().contains("01"), "{number}");
        }
        let call = Io500Command { tasks: 2, ..Io500Command::default() };
        let outcome = measured(&call, 1);
        // 101, 201 … 901 of each task.
        assert_eq!(outcome.expected(&call), 18);
    }
}
