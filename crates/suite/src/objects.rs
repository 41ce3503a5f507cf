//! The figures of a run against an object store: each kind of request with its throughput, its
//! seconds and its latencies.

use crate::findings::merge_by_check;
use judge::{Finding, Judged};
use record::{
    CpuProfile, Direction, Exchange, Histogram, JobRecord, Nanos, RequestResult, RunRecord,
    ServerProcess,
};
use std::collections::BTreeMap;

/// The name of whole multipart uploads, which are several requests each.
pub const MULTIPART: &str = "MULTIPART";

/// The figures of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// One for each kind of request, and one for whole uploads if there were parts.
    pub operations: Vec<Operation>,
    /// Length of the measured window.
    pub elapsed: Nanos,
    /// Maximum number of requests in flight.
    pub concurrent: u32,
    /// The requests of all workers, and their connections.
    pub exchange: Exchange,
    /// CPU time of this machine for the requests, in seconds.
    pub cpu_seconds: f64,
    /// Processes of this machine that served the requests.
    pub servers: Vec<ServerProcess>,
    /// The code that used the CPUs, if it was sampled.
    pub cpu_profile: Option<CpuProfile>,
    /// The findings of the checks, the gravest first.
    pub findings: Vec<Finding>,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

/// The requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operation {
    /// Their counts and times; whole uploads have the name [`MULTIPART`].
    pub requests: RequestResult,
    /// The unit of counts: "obj", or "keys" of lists.
    pub unit: &'static str,
    /// Over the whole window.
    pub average: Rate,
    /// Over the whole seconds; `None` if there is none between the first and the last.
    pub seconds: Option<Seconds>,
    /// From the moment when it was due until its end, if there is a rate.
    pub response: Option<Histogram>,
}

impl Operation {
    /// Failures, by status or kind.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        count_errors(&self.requests.statuses, &self.requests.failures)
    }

    /// Failures that were followed by a repeat, by status or kind.
    pub fn repeated(&self) -> BTreeMap<String, u64> {
        count_errors(&self.requests.repeated_statuses, &self.requests.repeated_failures)
    }
}

/// The throughput of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Bytes of content.
    pub bytes: f64,
    /// Requests, or keys of lists.
    pub count: f64,
}

/// The seconds of a run without the first, in which connections are made, and the last, which is
/// not whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Number of seconds.
    pub count: usize,
    /// The fastest second.
    pub fastest: Rate,
    /// The median.
    pub median: Rate,
    /// The slowest second.
    pub slowest: Rate,
}

/// The figures of a run.
pub fn conclude(record: &RunRecord, judged: &Judged) -> Conclusion {
    let began = record.jobs.iter().map(|job| job.started).min().unwrap_or_default();
    let ended = record.jobs.iter().map(|job| job.ended).max().unwrap_or_default();
    let took = Nanos(ended.0.saturating_sub(began.0));
    let jobs: Vec<&JobRecord> = record.jobs.iter().collect();
    let all = judge::merged_exchange(&jobs).unwrap_or_default();
    let cpu = |job: &JobRecord| (job.cpu.user + job.cpu.system).0;
    Conclusion {
        operations: operations(record, &all, took),
        elapsed: took,
        concurrent: record.jobs.iter().map(|job| job.workload.iodepth).sum(),
        exchange: all,
        cpu_seconds: record.jobs.iter().map(cpu).sum::<u64>() as f64 / 1e9,
        servers: record.evidence.servers.clone(),
        cpu_profile: record.evidence.cpu_profile.clone(),
        findings: merge_by_check(judged.findings.clone()),
        interrupted_by: record.interrupted_by,
    }
}

fn operations(record: &RunRecord, all: &Exchange, took: Nanos) -> Vec<Operation> {
    let is_split = all.of_kind("UploadPart").is_some();
    let alone = all.requests.len() == 1;
    let whole = is_split.then(|| whole_uploads(record, took));
    let each = all.requests.iter().map(|result| {
        let direction = match result.request.as_str() {
            "PUT" => Some(Direction::Write),
            "DELETE" => Some(Direction::Trim),
            "GET" => Some(Direction::Read),
            // Alone they count as reads.
            _ => alone.then_some(Direction::Read),
        };
        Operation {
            response: direction.and_then(|direction| response(record, direction)),
            ..operation(result, took)
        }
    });
    whole.into_iter().chain(each).collect()
}

fn operation(result: &RequestResult, took: Nanos) -> Operation {
    let lists = result.request == "LIST";
    let done = if lists { result.keys } else { result.good };
    let rate = |second: &record::Second| Rate {
        bytes: second.bytes,
        count: if lists { second.keys as f64 } else { second.requests as f64 },
    };
    Operation {
        requests: result.clone(),
        unit: if lists { "keys" } else { "obj" },
        average: average(result.bytes.0, done, took),
        seconds: seconds(&result.seconds.iter().map(rate).collect::<Vec<_>>()),
        response: None,
    }
}

/// Failures, by status or kind.
fn count_errors(
    statuses: &BTreeMap<u16, u64>,
    failures: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    let statuses = statuses.iter().filter(|(status, _)| !(200..300).contains(*status));
    let statuses = statuses.map(|(status, count)| (status.to_string(), *count));
    statuses.chain(failures.iter().map(|(kind, count)| (kind.clone(), *count))).collect()
}

/// Uploads of several parts, as the whole objects that they make.
fn whole_uploads(record: &RunRecord, took: Nanos) -> Operation {
    let mut uploads = RequestResult { request: MULTIPART.into(), ..RequestResult::default() };
    for job in &record.jobs {
        let result = &job.results[Direction::Write];
        uploads.good += result.ios;
        uploads.bytes.0 += result.bytes.0;
        let whole = result.latency.clat.as_ref().or(result.latency.lat.as_ref());
        whole.into_iter().for_each(|histogram| uploads.whole.merge(histogram));
    }
    let errors = record.jobs.iter().flat_map(|job| &job.errors);
    let errors = errors.filter(|error| error.operation == "write");
    uploads.sent = uploads.good + errors.map(|error| error.count).sum::<u64>();
    Operation {
        unit: "obj",
        average: average(uploads.bytes.0, uploads.good, took),
        response: response(record, Direction::Write),
        requests: uploads,
        ..Operation::default()
    }
}

fn response(record: &RunRecord, direction: Direction) -> Option<Histogram> {
    let all = record.jobs.iter().filter_map(|job| job.results[direction].latency.response.as_ref());
    let merge = |mut sum: Histogram, more: &Histogram| {
        sum.merge(more);
        sum
    };
    Some(all.fold(Histogram::default(), merge)).filter(|histogram| !histogram.is_empty())
}

fn average(bytes: u64, count: u64, took: Nanos) -> Rate {
    let seconds = took.0 as f64 / 1e9;
    match seconds > 0.0 {
        true => Rate { bytes: bytes as f64 / seconds, count: count as f64 / seconds },
        false => Rate::default(),
    }
}

/// By bytes where any moved, else by number.
fn seconds(all: &[Rate]) -> Option<Seconds> {
    let mut whole = all.get(1..all.len().checked_sub(1)?)?.to_vec();
    let moves = whole.iter().any(|rate| rate.bytes > 0.0);
    let key = |rate: &Rate| if moves { rate.bytes } else { rate.count };
    whole.sort_by(|a, b| key(a).total_cmp(&key(b)));
    Some(Seconds {
        count: whole.len(),
        fastest: *whole.last()?,
        median: whole[whole.len() / 2],
        slowest: *whole.first()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Bytes;
    use record::Second;

    fn job(seconds: &[(u64, f64)]) -> JobRecord {
        let mut whole = Histogram::new();
        whole.record_n(1_000_000, 10);
        let seconds: Vec<Second> = seconds
            .iter()
            .map(|(requests, bytes)| Second { requests: *requests, bytes: *bytes, keys: 0 })
            .collect();
        let get = RequestResult {
            request: "GET".into(),
            sent: 16,
            good: 10,
            retries: 3,
            unfinished: 1,
            repeated_statuses: [(429, 1)].into(),
            repeated_failures: [("reset".to_owned(), 2)].into(),
            bytes: Bytes(1000),
            statuses: [(200, 10), (503, 1)].into(),
            failures: [("timeout".to_owned(), 1)].into(),
            whole,
            seconds,
            ..RequestResult::default()
        };
        let failures = vec!["the server answered 503".to_owned()];
        JobRecord {
            started: Nanos(0),
            ended: Nanos(5_000_000_000),
            exchange: Some(Exchange { requests: vec![get], failures, ..Exchange::default() }),
            ..JobRecord::default()
        }
    }

    #[test]
    fn workers_are_added_and_the_seconds_at_both_ends_are_left_out() {
        let one = job(&[(1, 10.0), (2, 20.0), (3, 30.0), (4, 40.0), (9, 90.0)]);
        let two = job(&[(1, 10.0), (2, 20.0), (3, 30.0), (1, 1.0)]);
        let record = RunRecord { jobs: vec![one, two], ..RunRecord::default() };
        let conclusion = conclude(&record, &Judged::default());
        let [get] = &conclusion.operations[..] else { panic!("{conclusion:?}") };
        assert_eq!(
            (get.requests.request.as_str(), get.requests.good, get.requests.sent),
            ("GET", 20, 32)
        );
        assert_eq!(
            (get.requests.failed(), get.requests.retries, get.requests.unfinished),
            (4, 6, 2)
        );
        assert_eq!(get.repeated(), [("429".to_owned(), 2), ("reset".to_owned(), 4)].into());
        assert_eq!(get.average, Rate { bytes: 400.0, count: 4.0 });
        let seconds = get.seconds.unwrap();
        assert_eq!(seconds.count, 3);
        assert_eq!((seconds.slowest.bytes, seconds.fastest.count), (40.0, 6.0));
        assert_eq!(seconds.median, Rate { bytes: 41.0, count: 5.0 });
        assert_eq!(get.requests.whole.count(), 20);
        assert_eq!(get.errors(), [("503".to_owned(), 2), ("timeout".to_owned(), 2)].into());
        assert_eq!(conclusion.exchange.failures.len(), 1);
    }

    #[test]
    fn a_run_of_two_seconds_has_none_that_is_whole() {
        let record = RunRecord { jobs: vec![job(&[(1, 1.0), (2, 2.0)])], ..RunRecord::default() };
        assert_eq!(conclude(&record, &Judged::default()).operations[0].seconds, None);
        assert_eq!(conclude(&RunRecord::default(), &Judged::default()).operations, []);
    }
}
