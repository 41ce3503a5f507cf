use super::*;
use crate::checks::testing::{IOPS, LATENCY, asking, job, record};
use crate::judged::{Judged, judge};
use record::{Cell, Direction, Histogram, JobRecord};

fn conditions(texts: &[&str]) -> Vec<Condition> {
    texts.iter().map(|text| Condition::parse(text).unwrap()).collect()
}

#[track_caller]
fn results(runs: &[RunRecord], texts: &[&str]) -> Vec<GateResult> {
    let judged: Vec<Judged> = runs.iter().map(judge).collect();
    evaluate(runs, &judged[0].findings, 1, &conditions(texts))
}

#[track_caller]
fn outcome(run: &RunRecord, text: &str) -> Outcome {
    let results = results(std::slice::from_ref(run), &[text]);
    assert_eq!(results.len(), 1, "{results:#?}");
    results[0].outcome
}

fn calm() -> RunRecord {
    record(vec![job("a", Direction::Read, 10)])
}

/// Latencies from 0.9 to 1.1 of the usual one.
fn spread(job: &mut JobRecord, direction: Direction) {
    let mut histogram = Histogram::new();
    let ios = job.results[direction].ios;
    (0..ios).for_each(|n| histogram.record(LATENCY * 9 / 10 + LATENCY / 5 * n / ios));
    job.results[direction].latency.clat = Some(histogram);
}

#[test]
fn a_figure_clear_of_its_limit_is_decided() {
    let mut run = calm();
    spread(&mut run.jobs[0], Direction::Read);
    for (text, expected) in [
        ("p99<2ms", Outcome::Pass),
        ("p99<1ms", Outcome::Fail),
        ("p50>0.9ms", Outcome::Pass),
        ("read.p99.9<2ms", Outcome::Pass),
        ("max<=1.2ms", Outcome::Pass),
        ("min>=0.8ms", Outcome::Pass),
        ("p100<1.2ms", Outcome::Pass),
        ("mean<1.1ms", Outcome::Pass),
        ("lat.mean<1.1ms", Outcome::Pass),
        ("iops>900", Outcome::Pass),
        ("iops>1100", Outcome::Fail),
        ("bw>3.9MB/s", Outcome::Pass),
        ("bw>3.9MiB/s", Outcome::Pass),
        ("bw>4MiB/s", Outcome::Fail),
        ("a:iops>=900", Outcome::Pass),
    ] {
        assert_eq!(outcome(&run, text), expected, "{text}");
    }
}

#[test]
fn an_interval_that_spans_the_limit_is_undecided() {
    let mut run = calm();
    spread(&mut run.jobs[0], Direction::Read);
    assert_eq!(outcome(&run, "p50<1ms"), Outcome::Undecided);
    // 10 000 values do not show one in 100 000.
    let results = results(&[run], &["p99.999<1s"]);
    assert_eq!(results[0].outcome, Outcome::Undecided);
    let reason = results[0].reason.as_deref().unwrap();
    assert!(reason.starts_with("too few values for p99.999: 10000 of 368"), "{reason}");
    assert!(results[0].measured.unwrap().high.is_infinite());
}

#[test]
fn a_run_without_a_course_has_no_certain_rate() {
    let mut run = calm();
    run.jobs[0].intervals.truncate(1);
    let results = results(&[run], &["iops>500"]);
    assert_eq!(results[0].outcome, Outcome::Undecided);
    assert!(results[0].reason.as_ref().unwrap().contains("two whole intervals of"));
}

#[test]
fn both_directions_of_a_mixed_job_must_pass() {
    let mut mixed = job("a", Direction::Read, 10);
    let writes = job("a", Direction::Write, 10);
    mixed.results.write = writes.results.write.clone();
    for (mine, theirs) in mixed.intervals.iter_mut().zip(&writes.intervals) {
        mine.add(theirs);
    }
    spread(&mut mixed, Direction::Read);
    let run = record(vec![mixed]);
    let both = results(&[run], &["p99<1.05ms"]);
    let told: Vec<_> = both
        .iter()
        .map(|r| (r.operation.as_ref().and_then(Operation::direction), r.outcome))
        .collect();
    assert_eq!(
        told,
        [(Some(Direction::Read), Outcome::Fail), (Some(Direction::Write), Outcome::Pass)]
    );
    assert!(!passed(&both, true));
}

#[test]
fn without_a_job_every_job_must_pass() {
    let run = record(vec![job("a", Direction::Read, 10), job("b", Direction::Write, 10)]);
    let both = results(std::slice::from_ref(&run), &["iops>1"]);
    assert_eq!(both.iter().map(|r| r.job.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    // A condition about one direction is about the jobs that have it.
    let writes = results(&[run], &["write.iops>1"]);
    assert_eq!(writes.iter().map(|r| r.job.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_condition_about_nothing_fails() {
    let run = calm();
    for (text, says) in [
        ("b:p99<1ms", "no job has such a figure"),
        ("write.p99<1ms", "no job moves data in this direction"),
        ("response.p99<1ms", "only jobs with rate"),
        ("sync.p99<1ms", "no job called fsync"),
        ("slat.p99<1ms", "only asynchronous engines"),
    ] {
        let all = results(std::slice::from_ref(&run), &[text, "iops>1"]);
        let [nothing, other] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((nothing.outcome, other.outcome), (Outcome::Fail, Outcome::Pass), "{text}");
        assert!(nothing.reason.as_ref().unwrap().contains(says), "{nothing:?}");
    }
}

#[test]
fn requests_are_held_against_their_own_limits() {
    let run = asking("GET", 4000, 503);
    let decided = |text: &str| {
        let all = results(std::slice::from_ref(&run), &[text]);
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(one.operation, Some(Operation::Request("GET".into())), "{text}");
        (one.outcome, one.measured.unwrap().value)
    };
    let first_byte = LATENCY as f64 / 2.0;
    let (outcome, value) = decided("ttfb.p99<0.6ms");
    assert!(outcome == Outcome::Pass && (value / first_byte - 1.0).abs() < 0.01, "{value}");
    assert_eq!(decided("GET.ttfb.p50<0.4ms").0, Outcome::Fail);
    assert_eq!(decided("get.p99<0.6ms").0, Outcome::Fail, "whole ones take longer");
    assert_eq!(decided("failed<20%"), (Outcome::Pass, 10.0));
    assert_eq!(decided("GET.failed<1%").0, Outcome::Fail);
    assert_eq!(decided("GET.failed<10.1%").0, Outcome::Undecided);
    let none = results(&[run], &["PUT.ttfb.p99<1s"]);
    assert!(none[0].reason.as_ref().unwrap().contains("no job sent such a request"), "{none:?}");
}

#[test]
fn no_failure_of_few_requests_shows_little() {
    let run = asking("GET", 30, 0);
    let all = results(&[run], &["failed<0.1%", "failed<20%"]);
    let outcomes: Vec<Outcome> = all.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [Outcome::Undecided, Outcome::Pass]);
}

#[test]
fn repeats_are_as_certain_as_they_agree() {
    let round = |number: u32, iops: u64| {
        let mut run = calm();
        run.cell = Some(Cell { name: "a".into(), round: number, ..Cell::default() });
        run.jobs[0].results.read.ios = iops * 10;
        run
    };
    let runs: Vec<RunRecord> =
        [(0, IOPS - 10), (1, IOPS), (2, IOPS + 10)].map(|(n, iops)| round(n, iops)).into();
    let all = results(&runs, &["iops>900", "iops>1000", "iops>1100", "max<2ms"]);
    let outcomes: Vec<Outcome> = all.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::Undecided, Outcome::Fail, Outcome::Pass]);
    let measured = all[0].measured.unwrap();
    assert!((measured.value - 1000.0).abs() < 1e-6);
    assert!((20.0..60.0).contains(&(measured.high - measured.low)), "{measured:?}");
}

#[test]
fn runs_in_turn_are_told_apart_by_their_cell() {
    let named = |name: &str| {
        let mut run = calm();
        run.cell = Some(Cell { name: name.into(), round: 0, ..Cell::default() });
        run
    };
    let all = results(&[named("x.fio"), named("y.fio")], &["iops>1", "y.fio: a:iops>1"]);
    let jobs: Vec<&str> = all.iter().map(|result| result.job.as_str()).collect();
    assert_eq!(jobs, ["x.fio: a", "y.fio: a", "y.fio: a"]);
}

#[test]
fn a_short_run_decides_what_is_far_from_its_figure() {
    let mut run = calm();
    let short = &mut run.jobs[0];
    short.ended = short.started + ::record::Nanos(1_000_000_000);
    short.intervals.truncate(1);
    let result = &mut short.results[Direction::Read];
    (result.ios, result.runtime) = (122_000, ::record::Nanos(1_000_000_000));
    for (text, expected) in [
        ("iops>=1k", Outcome::Pass),
        ("iops>=100k", Outcome::Undecided),
        ("iops>=150k", Outcome::Undecided),
        ("iops>=10M", Outcome::Fail),
        ("mean<100ms", Outcome::Pass),
        ("mean<1.1ms", Outcome::Undecided),
        ("steady", Outcome::Undecided),
    ] {
        assert_eq!(outcome(&run, text), expected, "{text}");
    }
    // A burst of milliseconds shows no level.
    run.jobs[0].results[Direction::Read].runtime = ::record::Nanos(2_000_000);
    assert_eq!(outcome(&run, "iops>=1k"), Outcome::Undecided);
}

#[test]
fn steadiness_needs_a_run_of_some_length() {
    assert_eq!(outcome(&calm(), "steady"), Outcome::Pass);
    let short = record(vec![job("a", Direction::Read, 3)]);
    assert_eq!(outcome(&short, "steady"), Outcome::Undecided);
    let mut falling = calm();
    let half = falling.jobs[0].intervals.len() / 2;
    for interval in &mut falling.jobs[0].intervals[half..] {
        interval.ios[Direction::Read] /= 3;
    }
    assert_eq!(outcome(&falling, "steady"), Outcome::Fail);
}

#[test]
fn findings_fail_from_their_level_on() {
    let run = calm();
    let found = |severity| Judged {
        findings: vec![Finding {
            check: "too-short",
            severity,
            jobs: vec!["a".into()],
            text: "".into(),
            figures: Vec::new(),
            cause: "".into(),
            remedy: "".into(),
        }],
        ..Judged::default()
    };
    let result = |text: &str, severity| {
        let run = std::slice::from_ref(&run);
        evaluate(run, &found(severity).findings, 1, &conditions(&[text]))[0].clone()
    };
    assert_eq!(result("no-warnings", Severity::Note).outcome, Outcome::Pass);
    assert_eq!(result("no-findings", Severity::Note).outcome, Outcome::Fail);
    let failed = result("a:no-warnings", Severity::Error);
    assert_eq!((failed.outcome, failed.reason.as_deref()), (Outcome::Fail, Some("too-short")));
    assert_eq!(result("no-errors", Severity::Warning).outcome, Outcome::Pass);
}

#[test]
fn undecided_fails_unless_it_is_let_pass() {
    let mut run = calm();
    spread(&mut run.jobs[0], Direction::Read);
    let results = results(&[run], &["p50<1ms"]);
    assert!(!passed(&results, false));
    assert!(passed(&results, true));
}
