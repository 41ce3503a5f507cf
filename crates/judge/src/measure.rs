//! Figures of runs by name. A figure is one number for a run, for a table cell or a point of a chart.

use crate::compare::{METRICS, metric};
use crate::gate::condition::{LatencyKind, Metric, nearest};
use crate::gate::figures::histogram;
use crate::metrics::exchange;
use crate::metrics::latency::merged;
use crate::metrics::window::{moved, per_second};
use crate::operation::{Operation, request_named};
use crate::stages::main_stage_of;
use record::{Bytes, Direction, Histogram, JobRecord, Medium, REQUESTS, RunRecord};

/// A figure of a run: a rate or latency of [`METRICS`], of all directions together or of the direction
/// before a dot ("iops", "read.p99", "sync.mean"). For requests to an object store: latencies of whole
/// requests ("GET.p99"), or to the first byte, of one kind or all ("GET.ttfb.p99", "ttfb.mean").
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    scope: Scope,
    name: &'static str,
}

/// The operations that a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    One(Direction),
    Sync,
    /// Requests of a kind, from start to end.
    Whole(&'static str),
    /// Requests of a kind, or of all kinds (`None`), from start to the first byte of the response.
    FirstByte(Option<&'static str>),
}

const SYNC: &str = "sync";
const FIRST_BYTE: &str = "ttfb";

impl Scope {
    fn has_rates(self) -> bool {
        matches!(self, Scope::All | Scope::One(_))
    }
}

impl Measure {
    /// Parses a name. An error suggests the nearest name, or lists all.
    pub fn parse(text: &str) -> Result<Measure, String> {
        // Percentiles contain dots, too ("p99.9").
        let (scope, rest) = match text.split_once('.') {
            Some((front, rest)) => of_name(front, rest).unwrap_or((Scope::All, text)),
            None => (Scope::All, text),
        };
        let name = figures().find(|known| *known == rest).ok_or_else(|| unknown(rest))?;
        let measure = Measure { scope, name };
        match scope.has_rates() || !measure.is_rate() {
            true => Ok(measure),
            false => Err(match scope {
                Scope::Sync => {
                    format!("'{text}': synchronisations have latencies only, such as sync.p99")
                }
                _ => format!("'{text}': requests have latencies only, such as GET.p99 or ttfb.p99"),
            }),
        }
    }

    /// All figures: of all directions together, of each one, of synchronisations, and of requests.
    pub fn every() -> Vec<Measure> {
        let one = |scope: Scope| figures().map(move |name| Measure { scope, name });
        let requests =
            REQUESTS.into_iter().flat_map(|r| [Scope::Whole(r), Scope::FirstByte(Some(r))]);
        let ways = [Scope::All, Scope::Sync, Scope::FirstByte(None)].into_iter();
        let ways = ways.chain(Direction::ALL.map(Scope::One)).chain(requests);
        ways.flat_map(one).filter(|one| one.scope.has_rates() || !one.is_rate()).collect()
    }

    /// Its name, as [`Measure::parse`] reads it.
    pub fn name(&self) -> String {
        match self.scope {
            Scope::All => self.name.into(),
            Scope::One(direction) => format!("{}.{}", direction.name(), self.name),
            Scope::Sync => format!("{SYNC}.{}", self.name),
            Scope::Whole(request) => format!("{request}.{}", self.name),
            Scope::FirstByte(None) => format!("{FIRST_BYTE}.{}", self.name),
            Scope::FirstByte(Some(request)) => format!("{request}.{FIRST_BYTE}.{}", self.name),
        }
    }

    /// "IOPS", "bytes/s" or "ns".
    pub fn unit(&self) -> &'static str {
        metric(self.name).1
    }

    /// Whether more is better: true for rates, false for latencies.
    pub fn is_rate(&self) -> bool {
        matches!(metric(self.name).0, Metric::Iops | Metric::Bandwidth)
    }

    /// The figure of a run, in units of [`Measure::unit`]; `None` if the run has none. Of jobs that ran
    /// one after another it is that of the ones with the most I/Os ([`crate::main_stage`]). Latencies are
    /// response latencies for jobs with a schedule, otherwise completion latencies.
    pub fn value(&self, record: &RunRecord) -> Option<f64> {
        let mut jobs: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.show.stats).collect();
        let mut directions = self.directions().to_vec();
        if !directions.is_empty() {
            let stage = main_stage_of(&jobs, &directions);
            (jobs, directions) = (stage.jobs, stage.directions);
        }
        let latencies = || self.latencies(&jobs, &directions);
        match metric(self.name).0 {
            Metric::Iops => rate(&jobs, &directions, |_, _, (ios, _)| ios),
            Metric::Bandwidth => rate(&jobs, &directions, transferred),
            Metric::Mean => Some(latencies()?.mean()),
            Metric::Percentile(percentile) => {
                Some(latencies()?.known_percentile(percentile)? as f64)
            }
            Metric::Min => Some(latencies()?.min() as f64),
            Metric::Max => Some(latencies()?.max() as f64),
            Metric::Failed => None,
        }
    }

    fn directions(&self) -> &[Direction] {
        match &self.scope {
            Scope::All => &Direction::ALL,
            Scope::One(direction) => std::slice::from_ref(direction),
            Scope::Sync | Scope::Whole(_) | Scope::FirstByte(_) => &[],
        }
    }

    fn latencies(&self, jobs: &[&JobRecord], directions: &[Direction]) -> Option<Histogram> {
        match self.scope {
            Scope::All | Scope::One(_) => {}
            Scope::Sync => return histogram(jobs, &Operation::Sync, LatencyKind::Sync),
            Scope::Whole(request) => return exchange::times(jobs, Some(request), |one| &one.whole),
            Scope::FirstByte(request) => {
                return exchange::times(jobs, request, |one| &one.first_byte);
            }
        }
        [LatencyKind::Response, LatencyKind::Clat, LatencyKind::Lat].into_iter().find_map(|class| {
            let latencies =
                |direction: &Direction| histogram(jobs, &Operation::Io(*direction), class);
            let parts: Vec<Histogram> = directions.iter().filter_map(latencies).collect();
            merged(parts.iter())
        })
    }
}

fn rate(
    jobs: &[&JobRecord],
    directions: &[Direction],
    amount: impl Fn(&JobRecord, Direction, (u64, Bytes)) -> u64,
) -> Option<f64> {
    let (amount, window) = moved(jobs, directions, amount);
    (amount > 0 && window > 0).then(|| per_second(amount, window))
}

/// Bytes that moved. Objects that are deleted, listed or asked for their size have bytes that do not.
fn transferred(job: &JobRecord, direction: Direction, (_, bytes): (u64, Bytes)) -> u64 {
    let gets = |exchange: &record::Exchange| {
        exchange.requests.iter().any(|one| one.request == "GET" && one.sent > 0)
    };
    let is_moved = match (job.workload.medium, direction) {
        (Medium::Objects, Direction::Trim) => false,
        (Medium::Objects, Direction::Read) => job.exchange.as_ref().is_none_or(gets),
        _ => true,
    };
    if is_moved { bytes.0 } else { 0 }
}

/// The figures that are a single number for a run.
fn figures() -> impl Iterator<Item = &'static str> {
    METRICS.into_iter().filter(|name| metric(name).0 != Metric::Failed)
}

/// The operation named before a dot, and the text after it.
fn of_name<'a>(front: &str, rest: &'a str) -> Option<(Scope, &'a str)> {
    if let Some(request) = request_named(front) {
        return Some(match rest.split_once('.') {
            Some((FIRST_BYTE, figure)) => (Scope::FirstByte(Some(request)), figure),
            _ => (Scope::Whole(request), rest),
        });
    }
    let direction = Direction::ALL.into_iter().find(|direction| direction.name() == front);
    let scope = direction.map(Scope::One).or(match front {
        SYNC => Some(Scope::Sync),
        FIRST_BYTE => Some(Scope::FirstByte(None)),
        _ => None,
    });
    Some((scope?, rest))
}

fn unknown(name: &str) -> String {
    let near = match nearest(name, figures()) {
        Some(near) => format!("did you mean {near}? There"),
        None => "there".into(),
    };
    format!(
        "'{name}' is not a figure: {near} are {}, each also of one direction (read.p99); \
         latencies also of synchronisations (sync.p99), of requests (GET.p99) and to their first \
         byte (ttfb.p99, GET.ttfb.p99)",
        figures().collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{LATENCY, asking, job, record};

    fn value(name: &str, run: &RunRecord) -> Option<f64> {
        Measure::parse(name).unwrap().value(run)
    }

    #[test]
    fn figures_are_of_all_directions_or_of_one() {
        let run = record(vec![job("a", Direction::Read, 10), job("b", Direction::Write, 10)]);
        let [reads, writes] =
            [value("read.iops", &run).unwrap(), value("write.iops", &run).unwrap()];
        assert_eq!(reads, run.jobs[0].results.read.ios as f64 / 10.0);
        assert_eq!(value("iops", &run), Some(reads + writes));
        assert_eq!(value("trim.iops", &run), None, "nothing was trimmed");
        assert_eq!(value("sync.mean", &run), None, "nothing was synchronised");
        let all = run.jobs[0].results.read.latency.clat.as_ref().unwrap();
        assert_eq!(value("read.p50", &run), Some(all.percentile(50.0) as f64));
    }

    #[test]
    fn every_measure_can_be_asked_for_by_its_name() {
        let every = Measure::every();
        assert!(every.iter().all(|one| Measure::parse(&one.name()).as_ref() == Ok(one)));
        let names: std::collections::BTreeSet<String> = every.iter().map(Measure::name).collect();
        assert_eq!(names.len(), every.len());
        for name in ["iops", "sync.p99.9", "ttfb.mean", "GET.ttfb.p99.99", "UploadPart.p50"] {
            assert!(names.contains(name), "{name} is not in {names:?}");
        }
    }

    #[test]
    fn requests_have_latencies_whole_and_to_the_first_byte() {
        let run = asking("GET", 100, 0);
        let near = |name: &str, expected: u64| {
            let value = value(name, &run).unwrap();
            assert!((value / expected as f64 - 1.0).abs() < 0.01, "{name}: {value}");
        };
        near("get.ttfb.p99", LATENCY / 2);
        near("ttfb.mean", LATENCY / 2);
        near("GET.p50", LATENCY);
        assert_eq!(value("PUT.ttfb.p99", &run), None, "nothing was put");
        assert_eq!(value("ttfb.p99", &record(vec![job("a", Direction::Read, 1)])), None);
    }

    #[test]
    fn names_are_read_and_given_back() {
        for (name, unit, is_rate) in [
            ("iops", "IOPS", true),
            ("write.bandwidth", "bytes/s", true),
            ("sync.p99.9", "ns", false),
            ("GET.ttfb.p99.9", "ns", false),
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
        assert!(
            Measure::parse("GET.iops").unwrap_err().contains("latencies only, such as GET.p99")
        );
        assert!(Measure::parse("failed").is_err() && Measure::parse("GTE.p99").is_err());
        assert!(Measure::parse("").is_err() && Measure::parse("read.").is_err());
    }
}
