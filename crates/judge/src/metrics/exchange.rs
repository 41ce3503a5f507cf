//! Requests to an object store, by kind.

use super::latency::{self, LatencyStats};
use record::{Exchange, Histogram, JobRecord, Nanos, RequestResult, SyncResult, distinct};

/// Percentiles of requests: those usual for object stores, whatever the job's options.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// The requests of some workers together, with seconds counted from the start of the first window;
/// `None` if they had no object store.
pub fn merged(jobs: &[&JobRecord]) -> Option<Exchange> {
    let asked = || jobs.iter().filter_map(|job| Some((job.started, job.exchange.as_ref()?)));
    let first = asked().map(|(started, _)| started).min()?;
    let (_, some) = asked().next()?;
    let mut all = Exchange {
        protocol: some.protocol.clone(),
        content: some.content.clone(),
        tls: some.tls.clone(),
        ..Exchange::default()
    };
    asked().for_each(|(started, exchange)| all.merge(exchange, Nanos(started.0 - first.0)));
    Some(all)
}

/// The requests of a kind, or of all kinds, by worker.
fn results<'a>(
    jobs: &'a [&JobRecord],
    request: Option<&'a str>,
) -> impl Iterator<Item = &'a RequestResult> {
    let all = jobs.iter().filter_map(|job| job.exchange.as_ref()).flat_map(|asked| &asked.requests);
    all.filter(move |result| request.is_none_or(|request| result.request == request))
}

/// The synchronisations of some workers. Workers of object stores have HEAD requests in their
/// place, which are reported as requests.
pub(crate) fn syncs<'a>(jobs: &[&'a JobRecord]) -> impl Iterator<Item = &'a SyncResult> {
    jobs.iter().filter(|job| job.exchange.is_none()).map(|job| &job.sync)
}

/// The kinds of requests of some workers, in the order in which they were first sent.
pub(crate) fn kinds(jobs: &[&JobRecord]) -> Vec<String> {
    let sent = results(jobs, None).filter(|result| result.sent > 0);
    distinct(sent.map(|result| result.request.clone()))
}

/// Times of the requests of a kind, by `part`: to the first byte, or as a whole. `None` if none had
/// a good answer.
pub(crate) fn times(
    jobs: &[&JobRecord],
    request: Option<&str>,
    part: fn(&RequestResult) -> &Histogram,
) -> Option<Histogram> {
    latency::merged(results(jobs, request).map(part))
}

/// The number of failed and of all completed requests of a kind. A retried request counts once.
pub(crate) fn failed(jobs: &[&JobRecord], request: &str) -> (u64, u64) {
    let each = results(jobs, Some(request)).map(|one| (one.failed(), one.failed() + one.good));
    each.fold((0, 0), |sum, (failed, ended)| (sum.0 + failed, sum.1 + ended))
}

/// Statistics of the times of requests; `None` when there are none.
pub fn request_times(histogram: &Histogram) -> Option<LatencyStats> {
    (!histogram.is_empty()).then(|| LatencyStats::from_histogram(histogram, &PERCENTILES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_asked_nothing_have_no_part_in_it() {
        let job = JobRecord { started: Nanos(5), ..JobRecord::default() };
        assert_eq!(merged(&[&job]), None);
        let exchange = Exchange { connections: 2, ..Exchange::default() };
        let asking = JobRecord { exchange: Some(exchange), ..job.clone() };
        let all = merged(&[&job, &asking, &asking]).expect("two asked");
        assert_eq!((all.connections, request_times(&all.connect)), (4, None));
    }
}
