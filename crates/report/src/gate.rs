//! The results of the conditions of a run: lines for people, JUnit's XML for programs.

use crate::figures::in_unit;
use crate::junit::{self, Case};
use crate::style::{Style, printable, shorten};
use judge::Operation;
use judge::gate::{GateResult, Outcome};
use record::Severity;

/// A line for each condition with the measured figure and its interval, after an empty line and a
/// heading. No line is wider than `style.width` (60 at least). Empty without results.
pub fn text(results: &[GateResult], undecided_passes: bool, style: &Style) -> String {
    if results.is_empty() {
        return String::new();
    }
    let mut out = style.heading("Gate");
    out.extend(results.iter().map(|result| line(result, style)));
    let failed = results.iter().filter(|result| !lets_pass(result, undecided_passes)).count();
    let verdict = match failed {
        0 => style.bold("passed"),
        _ => style.severity(Severity::Error, "failed"),
    };
    let count = results.len();
    out + &format!("  {verdict}: {} of {count} met\n", count - failed)
}

fn lets_pass(result: &GateResult, undecided_passes: bool) -> bool {
    judge::gate::passed(std::slice::from_ref(result), undecided_passes)
}

/// "  pass      a p99.9<2ms (read): 1.42 ms (1.4 ms to 1.45 ms)".
fn line(result: &GateResult, style: &Style) -> String {
    let name = format!("{:9}", result.outcome.name());
    let name = match result.outcome {
        Outcome::Pass => name,
        Outcome::Undecided => style.severity(Severity::Warning, &name),
        Outcome::Fail => style.severity(Severity::Error, &name),
    };
    let found = figure_text(result);
    let room = style.width.saturating_sub(2 + 9 + 1 + 2);
    let asked = condition_text(result, room.saturating_sub(found.chars().count()).max(ASKED_MIN));
    let left = room.saturating_sub(asked.chars().count());
    let separator = if found.is_empty() { "" } else { ": " };
    format!("  {name} {}{separator}{}\n", printable(&asked), printable(&shorten(&found, left)))
}

/// The least number of characters for job and condition.
const ASKED_MIN: usize = 34;

/// "randread p99.9<2ms (read)": the condition, with the job, and the direction or kind of request, if
/// it does not name them. The name of the job is cut first.
fn condition_text(result: &GateResult, room: usize) -> String {
    let condition = &result.condition;
    let named = result.job.is_empty() || condition.contains(':');
    let operation = result.operation.as_ref().map(Operation::name);
    let lower = condition.to_lowercase();
    let direction = operation.filter(|name| !lower.contains(&format!("{}.", name.to_lowercase())));
    let rest = direction.map_or(condition.clone(), |name| format!("{condition} ({name})"));
    let job = match named {
        true => String::new(),
        false => shorten(&result.job, room.saturating_sub(rest.chars().count() + 1)),
    };
    if job.is_empty() { shorten(&rest, room) } else { format!("{job} {}", shorten(&rest, room)) }
}

/// The figure with its interval, or the reason for its absence.
fn figure_text(result: &GateResult) -> String {
    let reason = result.reason.as_deref();
    let Some(measured) = result.measured else { return reason.unwrap_or_default().to_owned() };
    let show = |value: f64| in_unit(value, result.unit);
    let value = show(measured.value);
    match (reason, measured.low == measured.high) {
        (Some(reason), _) => format!("{value}; {reason}"),
        (None, true) => value,
        (None, false) => format!("{value} ({} to {})", show(measured.low), show(measured.high)),
    }
}

/// The results as JUnit's XML, as Jenkins and GitLab read it: a suite "fathom" with a test case
/// for each result, its class the job. `seconds` is how long the run took.
pub fn junit(results: &[GateResult], undecided_passes: bool, seconds: f64) -> String {
    let case = |result: &GateResult| case(result, undecided_passes);
    junit::document(&results.iter().map(case).collect::<Vec<_>>(), seconds)
}

fn case(result: &GateResult, undecided_passes: bool) -> Case {
    let direction = result.operation.as_ref().filter(|operation| **operation != Operation::Sync);
    let direction = direction.map(|of| format!(" ({})", of.name())).unwrap_or_default();
    Case {
        class: if result.job.is_empty() { "run".into() } else { result.job.clone() },
        name: format!("{}{direction}", result.condition),
        is_failed: !lets_pass(result, undecided_passes),
        outcome: result.outcome.name(),
        found: figure_text(result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::stats::Estimate;

    fn result(condition: &str, outcome: Outcome) -> GateResult {
        GateResult {
            condition: condition.into(),
            job: "randread".into(),
            operation: Some(Operation::Io(record::Direction::Read)),
            measured: Some(Estimate { value: 1.42e6, low: 1.4e6, high: 1.45e6 }),
            unit: "ns",
            outcome,
            reason: None,
        }
    }

    fn results() -> Vec<GateResult> {
        let few = GateResult {
            measured: Some(Estimate { value: 1.42e6, low: 0.0, high: f64::INFINITY }),
            reason: Some("too few values for p99.99: 500 of 36888 needed".into()),
            ..result("p99.99<2ms", Outcome::Undecided)
        };
        let findings = GateResult {
            job: String::new(),
            operation: None,
            measured: None,
            reason: Some("served-from-cache".into()),
            ..result("no-warnings", Outcome::Fail)
        };
        let iops = GateResult {
            measured: Some(Estimate { value: 50_300.0, low: 49_900.0, high: 50_700.0 }),
            unit: "IOPS",
            ..result("randread:iops>50k", Outcome::Undecided)
        };
        let most = GateResult {
            measured: Some(Estimate { value: 1e9, low: 1e9, high: 1e9 }),
            unit: "bytes/s",
            ..result("bw>100MB/s", Outcome::Pass)
        };
        vec![result("p99.9<2ms", Outcome::Pass), few, findings, iops, most]
    }

    #[test]
    fn each_condition_is_one_line_of_80_columns() {
        let expected = "
Gate
  pass      randread p99.9<2ms (read): 1.42 ms (1.4 ms to 1.45 ms)
  undecided randread p99.99<2ms (read): 1.42 ms; too few values for p99.99: 500…
  fail      no-warnings: served-from-cache
  undecided randread:iops>50k (read): 50.3 k (49.9 k to 50.7 k)
  pass      randread bw>100MB/s (read): 954 MiB/s
  failed: 2 of 5 met
";
        let text = text(&results(), false, &Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text, expected);
        assert!(self::text(&results(), true, &Style::default()).contains("failed: 4 of 5 met"));
        assert_eq!(self::text(&[], false, &Style::default()), "");
        assert!(
            self::text(&results()[..1], false, &Style::default()).ends_with("passed: 1 of 1 met\n")
        );
    }

    #[test]
    fn results_of_requests_name_their_kind() {
        let failed = GateResult {
            operation: Some(Operation::Request("GET".into())),
            measured: Some(Estimate { value: 0.25, low: 0.125, high: 0.5 }),
            unit: "percent",
            ..result("failed<1%", Outcome::Pass)
        };
        let named = GateResult { condition: "get.failed<1%".into(), ..failed.clone() };
        let text = text(&[failed, named], false, &Style::default());
        let lines: Vec<&str> = text.lines().skip(2).take(2).collect();
        assert_eq!(
            lines,
            [
                "  pass      randread failed<1% (GET): 0.25 % (0.125 % to 0.5 %)",
                "  pass      randread get.failed<1%: 0.25 % (0.125 % to 0.5 %)"
            ]
        );
    }

    #[test]
    fn long_names_are_cut_and_cannot_steer_a_terminal() {
        let mut long = result("p99<1ms", Outcome::Fail);
        long.job = "a\x1b[31m".repeat(30);
        let text = text(&[long], false, &Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("… p99<1ms (read): 1.42 ms (1.4 ms to 1.45 ms)"), "{text}");
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn junit_counts_what_fails_and_escapes_what_it_says() {
        let xml = junit(&results(), false, 1.5);
        assert!(xml.contains("tests=\"5\" failures=\"3\" errors=\"0\""), "{xml}");
        assert!(xml.contains("time=\"1.500\""), "{xml}");
        assert!(xml.contains("classname=\"randread\" name=\"p99.9&lt;2ms (read)\""), "{xml}");
        assert!(xml.contains("classname=\"run\" name=\"no-warnings\""), "{xml}");
        assert!(xml.contains("<failure type=\"fail\" message=\"served-from-cache\">"), "{xml}");
        assert!(junit(&results(), true, 1.5).contains("failures=\"1\""));
    }
}
