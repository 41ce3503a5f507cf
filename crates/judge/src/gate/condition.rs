//! Reading conditions.

use crate::operation::{Operation, request_named};
use record::{Direction, PerDirection, REQUESTS, Severity};

/// A condition that a run must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As typed.
    pub text: String,
    /// The job it is about; `None`: every job.
    pub(super) job: Option<String>,
    /// What is required.
    pub(super) what: Requirement,
}

/// A job that conditions can be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its name, with that of its cell where several things run in turn.
    pub name: String,
    /// The directions in which it moves data.
    pub directions: PerDirection<bool>,
    /// It asks an object store, or it is not known that it does not.
    pub sends_requests: bool,
}

/// A condition that cannot be read, or is about nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{condition}': {problem}")]
pub struct ConditionError {
    /// The condition as typed.
    pub condition: String,
    /// What is wrong and what was expected.
    pub problem: String,
}

/// What a condition requires.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Requirement {
    /// A figure on the right side of a limit.
    Figure {
        /// `None`: every direction, or every kind of request.
        operation: Option<Operation>,
        class: LatencyKind,
        metric: Metric,
        operator: Operator,
        /// In nanoseconds, I/Os or bytes a second, or percent.
        limit: f64,
    },
    /// No change and no drift.
    Steady,
    /// No finding of this level or above.
    No(Severity),
}

/// Which latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LatencyKind {
    Clat,
    Lat,
    Slat,
    Response,
    Sync,
    /// To the first byte of the answer of an object store.
    FirstByte,
}

/// Which figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Metric {
    Iops,
    Bandwidth,
    Mean,
    Min,
    Max,
    Percentile(f64),
    /// The share of requests to an object store that failed, in percent.
    Failed,
}

/// What a limit is given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Time,
    Count,
    Bytes,
    Percent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

const OPERATORS: [(&str, Operator); 6] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("≤", Operator::LessOrEqual),
    ("≥", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];
const WORDS: [(&str, Requirement); 4] = [
    ("steady", Requirement::Steady),
    ("no-errors", Requirement::No(Severity::Error)),
    ("no-warnings", Requirement::No(Severity::Warning)),
    ("no-findings", Requirement::No(Severity::Note)),
];
const METRICS: [(&str, Metric); 6] = [
    ("iops", Metric::Iops),
    ("bw", Metric::Bandwidth),
    ("mean", Metric::Mean),
    ("min", Metric::Min),
    ("max", Metric::Max),
    ("failed", Metric::Failed),
];
const CLASSES: [(&str, LatencyKind); 6] = [
    ("clat", LatencyKind::Clat),
    ("lat", LatencyKind::Lat),
    ("slat", LatencyKind::Slat),
    ("response", LatencyKind::Response),
    ("sync", LatencyKind::Sync),
    ("ttfb", LatencyKind::FirstByte),
];
/// What each metric and word is, for messages.
const EXPECTED: &str = "a metric (iops, bw, mean, min, max, p50, p99, p99.9 …, failed), steady, \
                        no-errors, no-warnings or no-findings";
/// Names of [`CLASSES`], for messages.
const LATENCIES: &str = "clat, lat, slat, response, sync or ttfb";

impl Operator {
    pub(super) fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Less => value < limit,
            Operator::LessOrEqual => value <= limit,
            Operator::Greater => value > limit,
            Operator::GreaterOrEqual => value >= limit,
        }
    }
}

impl Metric {
    pub(super) fn unit(self) -> Unit {
        match self {
            Metric::Iops => Unit::Count,
            Metric::Bandwidth => Unit::Bytes,
            Metric::Failed => Unit::Percent,
            _ => Unit::Time,
        }
    }
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// What is wrong with it and what was expected, with the nearest valid name.
    pub fn parse(text: &str) -> Result<Condition, ConditionError> {
        let mistake = |problem| ConditionError { condition: text.to_owned(), problem };
        let (left, comparison) = split(text);
        // Names of jobs may hold colons, metrics do not.
        let (job, left) = match left.rsplit_once(':') {
            Some((job, left)) => (Some(job.trim()), left),
            None => (None, left),
        };
        // "P99.9" is written as often as "p99.9". Names of jobs keep their case.
        let left = &*left.trim().to_lowercase();
        if job == Some("") {
            return Err(mistake("the name of a job was expected before ':'".into()));
        }
        let what = match comparison {
            Some((operator, limit)) => figure(left, operator, limit.trim()),
            None => word(left),
        };
        Ok(Condition {
            text: text.trim().to_owned(),
            job: job.map(str::to_owned),
            what: what.map_err(mistake)?,
        })
    }

    /// Whether it is about a job of this name.
    pub(super) fn is_about(&self, job: &str) -> bool {
        self.job.as_ref().is_none_or(|own| own == job)
    }

    /// Whether it is about something: the job it names is among these, and one of them moves data in
    /// the direction it names.
    ///
    /// # Errors
    /// When it is not, with the nearest name.
    pub fn check(&self, jobs: &[Subject]) -> Result<(), ConditionError> {
        let mut about = jobs.iter().filter(|job| self.is_about(&job.name)).peekable();
        let problem = match (&self.job, &self.what) {
            (Some(job), _) if about.peek().is_none() => {
                let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
                match nearest(job, names.iter().copied()) {
                    Some(near) => format!("there is no job '{job}'; did you mean '{near}'?"),
                    None => format!("there is no job '{job}'; the jobs are {}", shown(&names)),
                }
            }
            (_, Requirement::Figure { operation: Some(Operation::Io(direction)), .. })
                if !about.any(|job| job.directions[*direction]) =>
            {
                self.why_nothing().into()
            }
            (_, Requirement::Figure { operation, class, metric, .. })
                if is_of_requests(operation.as_ref(), *class, *metric)
                    && !about.any(|job| job.sends_requests) =>
            {
                "no job uses an object store (ioengine=http)".into()
            }
            _ => return Ok(()),
        };
        Err(ConditionError { condition: self.text.clone(), problem })
    }

    /// Why no job has what it asks for.
    pub(super) fn why_nothing(&self) -> &'static str {
        match &self.what {
            Requirement::Figure { class: LatencyKind::Response, .. } => {
                "only jobs with rate or rate_iops have a response latency, and none has"
            }
            Requirement::Figure { class: LatencyKind::Sync, .. } => {
                "no job called fsync: add fsync=1, or leave the condition out"
            }
            Requirement::Figure { class: LatencyKind::Slat, .. } => {
                "only asynchronous engines have a submission latency, and no job used one"
            }
            Requirement::Figure { operation, class, metric, .. }
                if is_of_requests(operation.as_ref(), *class, *metric) =>
            {
                "no job sent such a request to an object store, or none was answered"
            }
            Requirement::Figure { operation: Some(_), .. } => "no job moves data in this direction",
            _ => "no job has such a figure",
        }
    }
}

/// Whether only jobs that ask object stores have such a figure.
fn is_of_requests(operation: Option<&Operation>, class: LatencyKind, metric: Metric) -> bool {
    class == LatencyKind::FirstByte
        || metric == Metric::Failed
        || operation.is_some_and(|operation| operation.request().is_some())
}

fn shown(jobs: &[&str]) -> String {
    let more = if jobs.len() > 5 { " …" } else { "" };
    jobs.iter().take(5).copied().collect::<Vec<_>>().join(", ") + more
}

/// The part before the operator, and the operator with what follows.
fn split(text: &str) -> (&str, Option<(Operator, &str)>) {
    let Some(at) = text.find(['<', '>', '≤', '≥']) else { return (text, None) };
    let (left, rest) = text.split_at(at);
    let found = OPERATORS
        .iter()
        .find_map(|(sign, operator)| rest.strip_prefix(sign).map(|limit| (*operator, limit)));
    (left, found)
}

fn word(name: &str) -> Result<Requirement, String> {
    if let Some((_, what)) = WORDS.iter().find(|(known, _)| *known == name) {
        return Ok(what.clone());
    }
    if metric(name.rsplit('.').next().unwrap_or(name)).is_ok() || name.starts_with('p') {
        return Err("a comparison was expected, such as p99<2ms or iops>=10k".into());
    }
    Err(not_found(name, WORDS.iter().map(|(word, _)| *word).chain(metrics())))
}

fn figure(left: &str, operator: Operator, limit: &str) -> Result<Requirement, String> {
    let (mut rest, mut operation, mut class) = (left, None, None);
    while let Some((first, after)) = rest.split_once('.') {
        if let Some(found) = operation_named(first) {
            if operation.replace(found).is_some() {
                return Err("one direction, or one kind of request, was expected".into());
            }
        } else if let Some((_, found)) = CLASSES.iter().find(|(name, _)| *name == first) {
            if class.replace(*found).is_some() {
                return Err(format!("one latency ({LATENCIES}) was expected"));
            }
        } else {
            break;
        }
        rest = after;
    }
    let metric = metric(rest)?;
    if class.is_some() && metric.unit() != Unit::Time {
        return Err(format!("{rest} is not a latency: leave out {LATENCIES}"));
    }
    let fits = match (&operation, class, metric.unit()) {
        (Some(_), Some(LatencyKind::Sync), _) => {
            Err("synchronisations have no direction: leave it out".to_owned())
        }
        (
            Some(Operation::Request(_)),
            None | Some(LatencyKind::FirstByte),
            Unit::Time | Unit::Percent,
        )
        | (None, ..) => Ok(()),
        (Some(Operation::Request(request)), ..) => Err(format!(
            "{request} has a latency to the first byte ({request}.ttfb.p99), a whole latency \
             ({request}.p99) and {request}.failed"
        )),
        (_, Some(LatencyKind::FirstByte), _) | (.., Unit::Percent) => {
            Err("only requests have that: say which, such as GET, or leave it out".to_owned())
        }
        _ => Ok(()),
    };
    fits?;
    let class = class.unwrap_or(LatencyKind::Clat);
    let limit = self::limit(limit, metric.unit())?;
    Ok(Requirement::Figure { operation, class, metric, operator, limit })
}

fn operation_named(name: &str) -> Option<Operation> {
    let direction = Direction::ALL.into_iter().find(|direction| direction.name() == name);
    let request = || request_named(name).map(|request| Operation::Request(request.to_owned()));
    direction.map(Operation::Io).or_else(request)
}

fn metrics() -> impl Iterator<Item = &'static str> {
    METRICS.iter().map(|(name, _)| *name)
}

fn metric(name: &str) -> Result<Metric, String> {
    if let Some((_, metric)) = METRICS.iter().find(|(known, _)| *known == name) {
        return Ok(*metric);
    }
    let number =
        name.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if let Some(number) = number {
        let value: f64 = number
            .parse()
            .map_err(|_| format!("'{name}' is not a percentile; p99 or p99.9 was expected"))?;
        return match (0.0..=100.0).contains(&value) {
            true => Ok(Metric::Percentile(value)),
            false => Err(format!("'{name}' is not a percentile: 0 to 100 was expected")),
        };
    }
    // Words of the front as well: "reed.p99" has its mistake there.
    let first = name.split('.').next().unwrap_or(name);
    let fronts = Direction::ALL.map(Direction::name);
    let fronts = fronts.into_iter().chain(CLASSES.iter().map(|(class, _)| *class)).chain(REQUESTS);
    let percentiles = ["p50", "p90", "p95", "p99", "p99.9"];
    match name.contains('.') {
        true => Err(not_found(first, fronts)),
        false => Err(not_found(name, metrics().chain(percentiles))),
    }
}

fn not_found<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match (name, nearest(name, known)) {
        ("", _) => format!("{EXPECTED} was expected"),
        (_, Some(near)) => format!("'{name}' is not known; did you mean {near}?"),
        (_, None) => format!("'{name}' is not known; expected {EXPECTED}"),
    }
}

/// The name that is meant, if one is near enough.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let far = |known: &str| strsim::damerau_levenshtein(&lower, &known.to_lowercase());
    known.map(|known| (far(known), known)).filter(|(d, _)| *d <= 2).min().map(|(_, known)| known)
}

/// A limit in nanoseconds, I/Os or bytes a second, or percent.
fn limit(text: &str, unit: Unit) -> Result<f64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let factor = factor(suffix.trim(), unit);
    let value = number.parse::<f64>().ok().filter(|value| value.is_finite());
    match (value, factor) {
        (Some(value), Some(factor)) => Ok(value * factor),
        (Some(0.0), None) if suffix.is_empty() => Ok(0.0),
        _ => Err(format!(
            "{} was expected, not '{text}'",
            match unit {
                Unit::Time => "a time with its unit (ns, us, ms or s), such as 2ms",
                Unit::Count => "a number, such as 5000, 50k or 1.2M",
                Unit::Bytes => "a bandwidth, such as 100MB/s, 100MiB/s or 1.5GB/s",
                Unit::Percent => "a share, such as 0.1%",
            }
        )),
    }
}

fn factor(suffix: &str, unit: Unit) -> Option<f64> {
    if unit == Unit::Time {
        return Some(match &*suffix.to_lowercase() {
            "ns" => 1.0,
            // The micro sign, and the Greek letter that it becomes in lower case.
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => return None,
        });
    }
    if unit == Unit::Percent {
        return (suffix == "%").then_some(1.0);
    }
    let suffix = match unit {
        Unit::Bytes => {
            let bare = suffix.strip_suffix("/s").unwrap_or(suffix);
            bare.strip_suffix('B').unwrap_or(bare)
        }
        _ => suffix,
    };
    let mut letters = suffix.chars();
    let (letter, binary) = match (letters.next(), letters.next(), letters.next()) {
        (None, ..) => return Some(1.0),
        (Some(letter), None, None) => (letter, false),
        (Some(letter), Some('i'), None) if unit == Unit::Bytes => (letter, true),
        _ => return None,
    };
    let exponent = "kmgt".find(letter.to_ascii_lowercase())? as i32 + 1;
    Some(if binary { 1024_f64.powi(exponent) } else { 1000_f64.powi(exponent) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Condition {
        Condition::parse(text).unwrap_or_else(|mistake| panic!("{mistake}"))
    }

    fn plain(metric: Metric, operator: Operator, limit: f64) -> Requirement {
        Requirement::Figure { operation: None, class: LatencyKind::Clat, metric, operator, limit }
    }

    #[test]
    fn figures_are_read_with_their_units() {
        let less = Operator::Less;
        for (text, what) in [
            ("p99.9<2ms", plain(Metric::Percentile(99.9), less, 2e6)),
            ("P99.9<2ms", plain(Metric::Percentile(99.9), less, 2e6)),
            ("P99.9 < 2 ms", plain(Metric::Percentile(99.9), less, 2e6)),
            ("P99.9<=2MS", plain(Metric::Percentile(99.9), Operator::LessOrEqual, 2e6)),
            ("p99 ≤ 80µs", plain(Metric::Percentile(99.0), Operator::LessOrEqual, 80e3)),
            ("IOPS≥10K", plain(Metric::Iops, Operator::GreaterOrEqual, 1e4)),
            ("BW>=1GiB/s", plain(Metric::Bandwidth, Operator::GreaterOrEqual, 1_073_741_824.0)),
            ("p50 <= 80us", plain(Metric::Percentile(50.0), Operator::LessOrEqual, 80e3)),
            ("mean<0.5s", plain(Metric::Mean, less, 5e8)),
            ("max<0", plain(Metric::Max, less, 0.0)),
            ("iops>50k", plain(Metric::Iops, Operator::Greater, 50_000.0)),
            ("iops>=1.2M", plain(Metric::Iops, Operator::GreaterOrEqual, 1.2e6)),
            ("bw>100MB/s", plain(Metric::Bandwidth, Operator::Greater, 1e8)),
            ("bw>100MiB/s", plain(Metric::Bandwidth, Operator::Greater, 104_857_600.0)),
            ("bw>1G", plain(Metric::Bandwidth, Operator::Greater, 1e9)),
            ("bw>512KiB", plain(Metric::Bandwidth, Operator::Greater, 524_288.0)),
            ("bw>7", plain(Metric::Bandwidth, Operator::Greater, 7.0)),
        ] {
            assert_eq!(parsed(text).what, what, "{text}");
        }
    }

    #[test]
    fn job_direction_and_class_stand_before_the_metric() {
        let condition = parsed("my job:read.response.p99<1ms");
        assert_eq!(condition.job.as_deref(), Some("my job"));
        let Requirement::Figure { operation, class, metric, .. } = condition.what else { panic!() };
        assert_eq!(
            (operation, class, metric),
            (Some(Operation::Io(Direction::Read)), LatencyKind::Response, Metric::Percentile(99.0))
        );
        let Requirement::Figure { operation, class, .. } = parsed("lat.write.mean<1ms").what else {
            panic!()
        };
        assert_eq!((operation, class), (Some(Operation::Io(Direction::Write)), LatencyKind::Lat));
        assert_eq!(parsed("a.fio: x:iops>1").job.as_deref(), Some("a.fio: x"));
    }

    #[test]
    fn requests_have_times_and_failures_of_their_own() {
        let get = || Some(Operation::Request("GET".into()));
        let less = Operator::Less;
        for (text, operation, class, metric, limit) in [
            ("ttfb.p99<20ms", None, LatencyKind::FirstByte, Metric::Percentile(99.0), 2e7),
            ("GET.ttfb.p50<1ms", get(), LatencyKind::FirstByte, Metric::Percentile(50.0), 1e6),
            ("ttfb.get.mean<1ms", get(), LatencyKind::FirstByte, Metric::Mean, 1e6),
            ("get.p99<1s", get(), LatencyKind::Clat, Metric::Percentile(99.0), 1e9),
            ("GET.failed<0.1%", get(), LatencyKind::Clat, Metric::Failed, 0.1),
            ("failed<1%", None, LatencyKind::Clat, Metric::Failed, 1.0),
        ] {
            let what = Requirement::Figure { operation, class, metric, operator: less, limit };
            assert_eq!(parsed(text).what, what, "{text}");
        }
    }

    #[test]
    fn words_need_no_comparison() {
        assert_eq!(parsed("steady").what, Requirement::Steady);
        assert_eq!(parsed("no-warnings").what, Requirement::No(Severity::Warning));
        assert_eq!(parsed("a: no-errors").what, Requirement::No(Severity::Error));
        assert_eq!(parsed("a: no-errors").job.as_deref(), Some("a"));
        assert_eq!(parsed("A: No-Errors").what, Requirement::No(Severity::Error));
        assert_eq!(parsed("A:Read.P99<1ms").job.as_deref(), Some("A"), "names keep their case");
    }

    #[test]
    fn mistakes_name_what_was_expected() {
        for (text, says) in [
            ("iosp>5", "'iosp' is not known; did you mean iops?"),
            ("p99<2", "a time with its unit (ns, us, ms or s), such as 2ms was expected, not '2'"),
            ("p99", "a comparison was expected"),
            ("iops", "a comparison was expected"),
            ("p101<1ms", "0 to 100 was expected"),
            ("p9x<1ms", "is not a percentile"),
            ("iops>1ms", "a number, such as 5000"),
            ("bw>fast", "a bandwidth, such as 100MB/s"),
            ("reed.p99<1ms", "did you mean read?"),
            ("respons.p99<1ms", "did you mean response?"),
            ("read.write.p99<1ms", "one direction, or one kind of request, was expected"),
            ("lat.iops>1", "iops is not a latency"),
            ("GET.iops>1", "GET has a latency to the first byte"),
            ("GET.lat.p99<1ms", "GET has a latency to the first byte"),
            ("read.ttfb.p99<1ms", "only requests have that"),
            ("write.failed<1%", "only requests have that"),
            ("ttfb.failed<1%", "failed is not a latency"),
            ("failed<5", "a share, such as 0.1%"),
            ("GTE.p99<1ms", "did you mean GET?"),
            ("read.sync.p99<1ms", "have no direction"),
            ("no-warning", "did you mean no-warnings?"),
            ("", "was expected"),
            ("<", "was expected"),
            (":p99<1ms", "the name of a job"),
            ("findings<warning", "expected a metric (iops"),
            ("p99<<1ms", "a time with its unit"),
        ] {
            let mistake = Condition::parse(text).expect_err(text).to_string();
            assert!(mistake.contains(says), "{text}: {mistake}");
            assert!(mistake.starts_with(&format!("'{text}': ")), "{mistake}");
        }
    }

    #[test]
    fn a_job_that_is_not_there_is_told_with_its_neighbour() {
        let condition = parsed("randraed:p99<1ms");
        let problem = |condition: &Condition, job: &str| {
            let directions = PerDirection { read: true, ..PerDirection::default() };
            let subject = Subject { name: job.into(), directions, sends_requests: job == "store" };
            let checked = condition.check(&[subject]);
            checked.err().map(|mistake| mistake.problem)
        };
        assert!(problem(&condition, "randread").unwrap().contains("mean 'randread'?"));
        assert!(problem(&condition, "x").unwrap().ends_with("the jobs are x"));
        assert_eq!(problem(&parsed("p99<1ms"), "x"), None);
        assert_eq!(problem(&parsed("read.p99<1ms"), "x"), None);
        let nothing = problem(&parsed("write.p99<1ms"), "x").unwrap();
        assert!(nothing.contains("no job moves data in this direction"), "{nothing}");
        for text in ["ttfb.p99<1ms", "GET.p99<1ms", "failed<1%"] {
            let nothing = problem(&parsed(text), "x").unwrap();
            assert!(nothing.contains("no job uses an object store"), "{nothing}");
            assert_eq!(problem(&parsed(text), "store"), None);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z0-9.:<>=/µ -]{0,24}") {
            let _ = Condition::parse(&text);
        }

        #[test]
        fn a_limit_reads_back(value in 0_u32..1_000_000, unit in 0_usize..4) {
            let (unit, factor) = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)][unit];
            let Requirement::Figure { limit, .. } = parsed(&format!("p99<{value}{unit}")).what else {
                panic!()
            };
            prop_assert_eq!(limit, f64::from(value) * factor);
        }
    }
}
