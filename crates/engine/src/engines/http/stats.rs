//! Statistics of the http engine: every request of the window, by kind.

use super::store;
use objects::{Answer, Failure, Outcome, Store, Verb};
use record::{Exchange, HostResult, RequestResult, Second};
use std::collections::BTreeMap;

const SECOND: u64 = 1_000_000_000;

/// Counters of requests and answers.
pub(super) struct RequestStats {
    exchange: Exchange,
    /// The verb of each entry of `exchange.requests`.
    verbs: Vec<Verb>,
    /// When the window began, from the run's origin.
    begin: u64,
    /// Connections made before the window.
    connections_before: u64,
    /// The kinds of failures that have a message, and whether the request was repeated.
    reported: Vec<(Verb, String, bool)>,
}

impl RequestStats {
    /// Empty statistics for this store.
    pub fn new(store: &Store, protocol: &str) -> RequestStats {
        let endpoints: Vec<String> = store.endpoints.iter().map(ToString::to_string).collect();
        RequestStats {
            exchange: Exchange {
                protocol: protocol.into(),
                hosts: hosts(&endpoints),
                endpoints,
                content: store::content(store).into(),
                tls: store::tls(store).into(),
                ..Exchange::default()
            },
            verbs: Vec::new(),
            begin: 0,
            connections_before: 0,
            reported: Vec::new(),
        }
    }

    /// The window begins: resets the counters. Failures that have a message get no second one.
    pub fn restart(&mut self, now: u64, connections: u64) {
        self.begin = now;
        self.connections_before = connections;
        self.verbs.clear();
        self.exchange.requests.clear();
        self.exchange.connect.clear();
        self.exchange.handshake.clear();
        self.exchange.hosts = hosts(&self.exchange.endpoints);
    }

    /// Counts a request that ended, on the object at `path`, and the number of keys in its answer.
    pub fn count(&mut self, outcome: &Outcome, keys: u64, path: &str) {
        self.count_attempts(outcome, path);
        self.count_times(outcome.stamps.connect, outcome.stamps.tls);
        let begin = self.begin;
        let kind = self.verb_stats(outcome.verb);
        kind.sent += 1;
        kind.resent += u64::from(outcome.resent);
        match &outcome.result {
            Ok(answer) => count_answer(kind, outcome, answer, keys, begin),
            Err(Failure::GivenUp) => kind.unfinished += 1,
            Err(failure) => {
                count_failure(failure, &mut kind.statuses, &mut kind.failures);
                self.report_failure(outcome.verb, failure, path, outcome.endpoint, false);
            }
        }
        if let Some(host) = self.host_stats(outcome.endpoint) {
            match &outcome.result {
                Ok(answer) => {
                    host.good += 1;
                    host.bytes.0 += answer.moved;
                    host.whole.record(outcome.stamps.ended.saturating_sub(outcome.stamps.begun));
                }
                Err(Failure::GivenUp) => {}
                Err(_) => host.failed += 1,
            }
        }
    }

    /// The statistics of an endpoint, if there are several.
    fn host_stats(&mut self, endpoint: Option<usize>) -> Option<&mut HostResult> {
        self.exchange.hosts.get_mut(endpoint?)
    }

    /// Counts the attempts before the last one.
    fn count_attempts(&mut self, outcome: &Outcome, path: &str) {
        for lost in &outcome.lost {
            self.count_times(lost.connect, lost.tls);
            let kind = self.verb_stats(outcome.verb);
            kind.sent += 1;
            kind.retries += 1;
            let (statuses, failures) = (&mut kind.repeated_statuses, &mut kind.repeated_failures);
            count_failure(&lost.failure, statuses, failures);
            self.report_failure(outcome.verb, &lost.failure, path, lost.endpoint, true);
            if let Some(host) = self.host_stats(lost.endpoint) {
                host.failed += 1;
            }
        }
    }

    fn count_times(&mut self, connect: Option<(u64, u64)>, tls: Option<(u64, u64)>) {
        let Exchange { connect: connects, handshake, .. } = &mut self.exchange;
        for (times, histogram) in [(connect, connects), (tls, handshake)] {
            if let Some((from, to)) = times {
                histogram.record(to.saturating_sub(from));
            }
        }
    }

    fn verb_stats(&mut self, verb: Verb) -> &mut RequestResult {
        let at = self.verbs.iter().position(|known| *known == verb).unwrap_or_else(|| {
            self.verbs.push(verb);
            let request = verb.name().to_owned();
            self.exchange.requests.push(RequestResult { request, ..RequestResult::default() });
            self.verbs.len() - 1
        });
        &mut self.exchange.requests[at]
    }

    /// Keeps a message for the first failure of each kind, and for the first one that was repeated.
    fn report_failure(
        &mut self,
        verb: Verb,
        failure: &Failure,
        path: &str,
        endpoint: Option<usize>,
        repeated: bool,
    ) {
        let reported = (verb, failure.kind(), repeated);
        if self.reported.contains(&reported) {
            return;
        }
        let more = if repeated { "; the request was repeated" } else { "" };
        let host = self
            .host_stats(endpoint)
            .map_or(String::new(), |host| format!(" at {}", host.endpoint));
        self.exchange.failures.push(format!("{} of {path}{host}: {failure}{more}", verb.name()));
        self.reported.push(reported);
    }

    /// Messages for the user: the first failure of each kind, and the number of abandoned requests.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.exchange.failures.clone();
        let unfinished: u64 = self.exchange.requests.iter().map(|kind| kind.unfinished).sum();
        if unfinished > 0 {
            notes.push(format!(
                "{unfinished} requests in flight at the interrupt got no answer in time and were \
                 abandoned"
            ));
        }
        notes
    }

    /// The statistics, given the total number of connections made.
    pub fn exchange(&self, connections: u64) -> Exchange {
        let connections = connections.saturating_sub(self.connections_before);
        Exchange { connections, ..self.exchange.clone() }
    }
}

/// One entry per endpoint, if there are several.
fn hosts(endpoints: &[String]) -> Vec<HostResult> {
    let empty_result =
        |endpoint: &String| HostResult { endpoint: endpoint.clone(), ..HostResult::default() };
    if endpoints.len() > 1 { endpoints.iter().map(empty_result).collect() } else { Vec::new() }
}

fn count_answer(
    kind: &mut RequestResult,
    outcome: &Outcome,
    answer: &Answer,
    keys: u64,
    begin: u64,
) {
    let stamps = &outcome.stamps;
    kind.good += 1;
    kind.bytes.0 += answer.moved;
    *kind.statuses.entry(answer.status).or_default() += 1;
    if let (Some(sent), Some(first)) = (stamps.sent, stamps.first_byte) {
        kind.first_byte.record(first.saturating_sub(sent));
    }
    kind.whole.record(stamps.ended.saturating_sub(stamps.begun));
    let from = stamps.begun.saturating_sub(begin);
    let to = stamps.ended.saturating_sub(begin);
    kind.keys += keys;
    let last = second(&mut kind.seconds, to / SECOND);
    last.requests += 1;
    last.keys += keys;
    // Bytes moved before the window do not count.
    let whole = stamps.ended.saturating_sub(stamps.begun).max(1) as f64;
    let mut at = from;
    while at < to {
        let end = (at / SECOND + 1).saturating_mul(SECOND).min(to);
        let share = (end - at) as f64 / whole;
        second(&mut kind.seconds, at / SECOND).bytes += answer.moved as f64 * share;
        at = end;
    }
}

/// Counts a failure by its HTTP status, or by its kind if the status is a success.
fn count_failure(
    failure: &Failure,
    statuses: &mut BTreeMap<u16, u64>,
    failures: &mut BTreeMap<String, u64>,
) {
    match failure {
        Failure::Status { status: status @ 300.., .. } => {
            *statuses.entry(*status).or_default() += 1
        }
        other => *failures.entry(other.kind()).or_default() += 1,
    }
}

fn second(seconds: &mut Vec<Second>, index: u64) -> &mut Second {
    let index = index as usize;
    if seconds.len() <= index {
        seconds.resize(index + 1, Second::default());
    }
    &mut seconds[index]
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::{Attempt, Stamps};

    #[test]
    fn every_kind_of_request_has_the_name_that_records_give_it() {
        assert_eq!(objects::Verb::ALL.map(objects::Verb::name), record::REQUESTS);
    }

    fn stats() -> RequestStats {
        let mut stats = RequestStats::new(&Store::default(), "s3");
        stats.restart(SECOND, 3);
        stats
    }

    fn outcome(begun: u64, ended: u64, result: Result<Answer, Failure>) -> Outcome {
        let stamps = Stamps {
            begun,
            ended,
            sent: Some(begun + 10),
            first_byte: Some(begun + 30),
            connect: Some((begun, begun + 5)),
            tls: None,
        };
        Outcome {
            slot: 0,
            verb: Verb::Get,
            result,
            stamps,
            lost: Vec::new(),
            resent: false,
            endpoint: None,
        }
    }

    fn answer(moved: u64) -> Result<Answer, Failure> {
        Ok(Answer { status: 200, moved, ..Answer::default() })
    }

    #[test]
    fn successful_answers_are_counted_with_their_times() {
        let mut stats = stats();
        stats.count(&outcome(SECOND + 100, SECOND + 200, answer(4096)), 0, "/b/o");
        let exchange = stats.exchange(5);
        assert_eq!((exchange.connections, exchange.connect.max()), (2, 5));
        let get = exchange.of_kind("GET").expect("GET was requested");
        assert_eq!((get.sent, get.good, get.bytes.0, get.failed()), (1, 1, 4096, 0));
        assert_eq!((get.first_byte.max(), get.whole.max()), (20, 100));
        assert_eq!(get.statuses[&200], 1);
    }

    #[test]
    fn bytes_are_spread_over_the_seconds_of_a_request() {
        let mut stats = stats();
        // Half a second before the window, two and a half within.
        stats.count(&outcome(SECOND / 2, 7 * SECOND / 2, answer(300)), 0, "/b/o");
        let exchange = stats.exchange(0);
        let seconds = &exchange.requests[0].seconds;
        let bytes: Vec<f64> = seconds.iter().map(|second| second.bytes.round()).collect();
        assert_eq!(bytes, [100.0, 100.0, 50.0]);
        assert_eq!(seconds.iter().map(|second| second.requests).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn failures_are_counted_by_kind_and_reported_once() {
        let mut stats = stats();
        let gone = Failure::Status { status: 404, code: "NoSuchKey".into(), message: "".into() };
        for _ in 0..2 {
            stats.count(&outcome(SECOND, SECOND + 9, Err(gone.clone())), 0, "/b/o");
        }
        let resent = Outcome { resent: true, ..outcome(SECOND, SECOND + 9, Err(Failure::Timeout)) };
        stats.count(&resent, 0, "/b/o");
        // S3 may answer 200 before it detects an error.
        let hidden =
            Failure::Status { status: 200, code: "InternalError".into(), message: "".into() };
        stats.count(&outcome(SECOND, SECOND + 9, Err(hidden)), 0, "/b/o");
        assert_eq!(stats.notes().len(), 3);
        assert!(stats.notes()[0].contains("GET of /b/o: the server answered 404 NoSuchKey"));
        let exchange = stats.exchange(0);
        let get = &exchange.requests[0];
        assert_eq!((get.sent, get.good, get.retries, get.failed()), (4, 0, 0, 4));
        assert_eq!(get.resent, 1);
        assert_eq!(get.statuses, [(404, 2)].into());
        assert_eq!((get.failures["timeout"], get.failures["InternalError"]), (1, 1));
        assert!(get.whole.is_empty());
    }

    #[test]
    fn failures_that_a_repeat_overcame_are_counted_separately() {
        let mut stats = stats();
        let slow = Failure::Status { status: 503, code: "SlowDown".into(), message: "".into() };
        let lost = |failure: &Failure, connect, tls| Attempt {
            failure: failure.clone(),
            endpoint: None,
            connect,
            tls,
        };
        for result in [answer(4096), Err(slow.clone())] {
            let first = lost(&slow, Some((0, 70)), Some((70, 100)));
            let lost = vec![first, lost(&Failure::Broken(104), None, None)];
            let outcome = outcome(SECOND, SECOND + 9, result);
            stats.count(&Outcome { lost, ..outcome }, 0, "/b/o");
        }
        let words = [
            "/b/o: the server answered 503 SlowDown; the request was repeated",
            "was repeated",
            "",
        ];
        assert_eq!(stats.notes().len(), 3, "{:?}", stats.notes());
        assert!(stats.notes().iter().zip(words).all(|(note, word)| note.contains(word)));
        assert!(!stats.notes()[2].contains("repeated"), "{:?}", stats.notes());
        let exchange = stats.exchange(0);
        let get = &exchange.requests[0];
        assert_eq!((get.sent, get.good, get.retries, get.failed()), (6, 1, 4, 1));
        assert_eq!(get.repeated_statuses, [(503, 2)].into());
        assert_eq!(get.repeated_failures, [("reset".to_owned(), 2)].into());
        assert_eq!(get.statuses, [(200, 1), (503, 1)].into());
        // The first and the last attempt of each request had to connect.
        assert_eq!((exchange.connect.count(), exchange.connect.max()), (4, 70));
        assert_eq!((exchange.handshake.count(), exchange.handshake.max()), (2, 30));
    }

    #[test]
    fn each_of_several_endpoints_has_its_own_counters() {
        let endpoint = |port| objects::Endpoint { host: "h".into(), port };
        let store = Store { endpoints: vec![endpoint(1), endpoint(2)], ..Store::default() };
        let mut stats = RequestStats::new(&store, "s3");
        let at = |endpoint, result| Outcome { endpoint, ..outcome(SECOND, SECOND + 9, result) };
        stats.count(&at(Some(0), answer(4096)), 0, "/b/o");
        stats.restart(SECOND, 0);
        stats.count(&at(Some(0), answer(10)), 0, "/b/o");
        stats.count(&at(Some(1), Err(Failure::Connect(111))), 0, "/b/o");
        let slow = Failure::Status { status: 503, code: "SlowDown".into(), message: "".into() };
        let lost = Attempt { failure: slow, endpoint: Some(1), connect: None, tls: None };
        let overcome = Outcome { lost: vec![lost], ..at(Some(0), answer(10)) };
        stats.count(&overcome, 0, "/b/o");
        stats.count(&at(Some(1), Err(Failure::GivenUp)), 0, "/b/o");
        let hosts = stats.exchange(0).hosts;
        let counts: Vec<_> = hosts.iter().map(|h| (h.good, h.failed, h.bytes.0)).collect();
        assert_eq!(counts, [(2, 0, 20), (0, 2, 0)]);
        assert!(stats.notes()[0].contains("/b/o at h:2: no connection"), "{:?}", stats.notes());
        let alone = Store { endpoints: vec![endpoint(1)], ..Store::default() };
        assert_eq!(RequestStats::new(&alone, "s3").exchange(0).hosts, []);
    }

    #[test]
    fn abandoned_requests_are_no_failures() {
        let mut stats = stats();
        stats.count(&outcome(SECOND, SECOND + 9, Err(Failure::GivenUp)), 0, "/b/o");
        assert!(
            stats.notes()[0].starts_with("1 requests in flight at the interrupt"),
            "{:?}",
            stats.notes()
        );
        let exchange = stats.exchange(0);
        let get = &exchange.requests[0];
        assert_eq!((get.sent, get.good, get.failed(), get.unfinished), (1, 0, 0, 1));
        assert!(get.statuses.is_empty() && get.failures.is_empty() && exchange.failures.is_empty());
    }

    #[test]
    fn requests_before_the_window_count_only_as_messages() {
        let mut stats = stats();
        stats.count(&outcome(SECOND, SECOND + 9, Err(Failure::Timeout)), 0, "/b/o");
        stats.restart(2 * SECOND, 4);
        let exchange = stats.exchange(4);
        assert!(exchange.requests.is_empty() && exchange.connect.is_empty());
        assert_eq!((exchange.connections, exchange.failures.len()), (0, 1));
    }
}
