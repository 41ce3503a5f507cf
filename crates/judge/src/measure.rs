//! A figure of a run asked for by name, where one number has to stand for all of the run: in the
//! cell of a table, at a point of a picture.

use crate::compare::{METRICS, metric};
use crate::gate::condition::{Class, Metric, nearest};
use crate::gate::measure::histogram;
use crate::metrics::latency::merged;
use crate::metrics::window::{busy, per_second, union_ns};
use record::{Direction, Histogram, JobRecord, RunRecord};

/// A figure of a run: one of [`METRICS`], of all directions together or of the one named before a
/// dot ("iops", "read.p99", "sync.mean").
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    of: Of,
    name: &'static str,
}

/// Which of the I/Os of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    All,
    One(Direction),
    Sync,
}

const SYNC: &str = "sync";

impl Measure {
    /// Reads a name.
    ///
    /// # Errors
    /// What is wrong with it, with the nearest name or all of them.
    pub fn parse(text: &str) -> Result<Measure, String> {
        // Percentiles have dots of their own ("p99.9").
        let front = text.split_once('.').map(|(front, rest)| (of_name(front), rest));
        let (of, rest) = match front {
            Some((Some(of), rest)) => (of, rest),
            _ => (Of::All, text),
        };
        let name = METRICS.into_iter().find(|known| *known == rest).ok_or_else(|| unknown(rest))?;
        let measure = Measure { of, name };
        match of == Of::Sync && measure.is_rate() {
            true => {
                Err(format!("'{text}': synchronisations have latencies only, such as sync.p99"))
            }
            false => Ok(measure),
        }
    }

    /// All there are: of all directions together, of each, and of synchronisations.
    pub fn every() -> Vec<Measure> {
        let one = |of: Of| METRICS.into_iter().map(move |name| Measure { of, name });
        let ways = [Of::All, Of::Sync].into_iter().chain(Direction::ALL.map(Of::One));
        ways.flat_map(one).filter(|measure| measure.of != Of::Sync || !measure.is_rate()).collect()
    }

    /// Its name as it is asked for.
    pub fn name(&self) -> String {
        match self.of {
            Of::All => self.name.into(),
            Of::One(direction) => format!("{}.{}", direction.name(), self.name),
            Of::Sync => format!("{SYNC}.{}", self.name),
        }
    }

    /// "IOPS", "bytes/s" or "ns".
    pub fn unit(&self) -> &'static str {
        metric(self.name).1
    }

    /// A rate, of which more is better; of a latency less is.
    pub fn is_rate(&self) -> bool {
        matches!(metric(self.name).0, Metric::Iops | Metric::Bandwidth)
    }

    /// The figure over all jobs of a run, in [`Measure::unit`]s; `None` when the run has none.
    /// Latencies are response latencies where jobs have a schedule, otherwise completion latencies.
    pub fn of(&self, record: &RunRecord) -> Option<f64> {
        let jobs: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.show.stats).collect();
        match metric(self.name).0 {
            Metric::Iops => self.rate(&jobs, |job, d| job.results[d].ios),
            Metric::Bandwidth => self.rate(&jobs, |job, d| job.results[d].bytes.0),
            Metric::Mean => Some(self.latencies(&jobs)?.mean()),
            Metric::Percentile(percentile) => {
                Some(self.latencies(&jobs)?.known_percentile(percentile)? as f64)
            }
            Metric::Min => Some(self.latencies(&jobs)?.min() as f64),
            Metric::Max => Some(self.latencies(&jobs)?.max() as f64),
        }
    }

    fn directions(&self) -> &[Direction] {
        match &self.of {
            Of::All => &Direction::ALL,
            Of::One(direction) => std::slice::from_ref(direction),
            Of::Sync => &[],
        }
    }

    fn rate(
        &self,
        jobs: &[&JobRecord],
        amount: impl Fn(&JobRecord, Direction) -> u64,
    ) -> Option<f64> {
        let directions = self.directions();
        let of = |job: &&JobRecord| directions.iter().map(|d| amount(job, *d)).sum::<u64>();
        let amount = jobs.iter().map(of).sum();
        let window = union_ns(&busy(jobs, directions));
        (amount > 0 && window > 0).then(|| per_second(amount, window))
    }

    fn latencies(&self, jobs: &[&JobRecord]) -> Option<Histogram> {
        let full = |all: &Histogram| !all.is_empty();
        if self.of == Of::Sync {
            return histogram(jobs, None, Class::Sync).filter(full);
        }
        [Class::Response, Class::Clat, Class::Lat].into_iter().find_map(|class| {
            let of = |direction: &Direction| histogram(jobs, Some(*direction), class);
            let parts: Vec<Histogram> = self.directions().iter().filter_map(of).collect();
            merged(parts.iter()).filter(full)
        })
    }
}

fn of_name(front: &str) -> Option<Of> {
    let direction = Direction::ALL.into_iter().find(|direction| direction.name() == front);
    direction.map(Of::One).or((front == SYNC).then_some(Of::Sync))
}

fn unknown(name: &str) -> String {
    let near = match nearest(name, METRICS.into_iter()) {
        Some(near) => format!("did you mean {near}? "),
        None => String::new(),
    };
    format!(
        "'{name}' is no figure: {near}There are {}, each also of one direction (read.p99) and \
         latencies of synchronisations (sync.p99)",
        METRICS.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{job, record};

    fn of(name: &str, run: &RunRecord) -> Option<f64> {
        Measure::parse(name).unwrap().of(run)
    }

    #[test]
    fn figures_are_of_all_directions_or_of_one() {
        let run = record(vec![job("a", Direction::Read, 10), job("b", Direction::Write, 10)]);
        let [reads, writes] = [of("read.iops", &run).unwrap(), of("write.iops", &run).unwrap()];
        assert_eq!(reads, run.jobs[0].results.read.ios as f64 / 10.0);
        assert_eq!(of("iops", &run), Some(reads + writes));
        assert_eq!(of("trim.iops", &run), None, "nothing was trimmed");
        assert_eq!(of("sync.mean", &run), None, "nothing was synchronised");
        let all = run.jobs[0].results.read.latency.clat.as_ref().unwrap();
        assert_eq!(of("read.p50", &run), Some(all.percentile(50.0) as f64));
    }

    #[test]
    fn every_measure_can_be_asked_for_by_its_name() {
        let every = Measure::every();
        assert!(every.iter().all(|one| Measure::parse(&one.name()).as_ref() == Ok(one)));
        let names: std::collections::BTreeSet<String> = every.iter().map(Measure::name).collect();
        assert_eq!(names.len(), every.len());
        assert!(names.contains("iops") && names.contains("sync.p99.9"), "{names:?}");
    }

    #[test]
    fn names_are_read_and_given_back() {
        for (name, unit, is_rate) in [
            ("iops", "IOPS", true),
            ("write.bandwidth", "bytes/s", true),
            ("sync.p99.9", "ns", false),
        ] {
            let measure = Measure::parse(name).unwrap();
            assert_eq!(
                (measure.name().as_str(), measure.unit(), measure.is_rate()),
                (name, unit, is_rate)
            );
        }
    }

    #[test]
    fn a_mistake_is_answered_with_what_there_is() {
        let mistake = Measure::parse("read.iopps").unwrap_err();
        assert!(mistake.contains("did you mean iops?") && mistake.contains("p99.9"), "{mistake}");
        assert!(Measure::parse("sync.iops").unwrap_err().contains("latencies only"));
        assert!(Measure::parse("").is_err() && Measure::parse("read.").is_err());
    }
}
