//! Two measurements compared, as text for a terminal and as JSON.

mod pipeline;

pub use pipeline::{junit, markdown};

use crate::figures::in_unit;
use crate::messages;
use crate::style::Style;
use judge::checks::Difference;
use judge::compare::{
    ASSUMED_SPREAD, ASSUMED_SPREAD_OF_TAILS, Change, Comparison, DirectionComparison, Distance,
    JobComparison, MetricComparison, Shift,
};
use judge::stats::Estimate;
use judge::{Finding, Operation};
use record::{Severity, human};
use serde_json::{Value, json};

/// The comparison of B with A: environment, a table for each job and direction, then the result. No line is wider than the style's width (80 at least).
pub fn text(comparison: &Comparison, style: &Style) -> String {
    let (before, after) = &comparison.intents;
    let sides = [("A", before), ("B", after)].into_iter().filter(|(_, why)| !why.is_empty());
    let mut out: String =
        sides.map(|(side, why)| style.paragraph(&format!("{side} is for: {why}"), 0)).collect();
    out += &environment_text(comparison, style);
    for (side, findings) in [("A", &comparison.doubts.0), ("B", &comparison.doubts.1)] {
        let is_one = comparison.jobs.len() == 1;
        out.extend(findings.iter().map(|finding| doubt_text(side, finding, is_one, style)));
    }
    out.extend(comparison.jobs.iter().map(|job| job_text(job, style)));
    for (names, side) in [(&comparison.only_before, "A"), (&comparison.only_after, "B")] {
        if !names.is_empty() {
            let line = format!("Only in {side}: {}", names.join(", "));
            out += &style.paragraph(&line, 0);
        }
    }
    out += &style.heading("Comparison");
    out += &format!("{}\n", conclusion_text(comparison, style));
    if comparison.metrics().any(|metric| metric.ratio.is_some()) {
        out += &format!("{}\n", style.dim(&style.wrap(&intervals_text(comparison), 2)));
    }
    out
}

fn environment_text(comparison: &Comparison, style: &Style) -> String {
    let differences = &comparison.environment;
    if differences.is_empty() {
        return match comparison.environment_unknown {
            true => "The environment was not recorded: machine, storage or settings may differ.\n",
            false => "Same environment: no difference in machine, storage or settings.\n",
        }
        .into();
    }
    let is_grave = differences.iter().any(|difference| difference.is_grave);
    let severity = if is_grave { Severity::Warning } else { Severity::Note };
    let mut out = style.severity(severity, "The environments differ") + "\n";
    out.extend(differences.iter().map(|difference| difference_line(difference, style)));
    out
}

fn difference_line(difference: &Difference, style: &Style) -> String {
    let Difference { what, before, after, .. } = difference;
    style.paragraph(&format!("{what}: {before} → {after}"), 2)
}

/// A finding that makes the figures of a side doubtful; jobs are named if there are several.
fn doubt_text(side: &str, finding: &Finding, is_one: bool, style: &Style) -> String {
    let is_named = !is_one && !finding.jobs.is_empty();
    let jobs = if is_named { format!(", {}", finding.jobs.join(", ")) } else { String::new() };
    let text = format!("In {side}{jobs} [{}]: {}", finding.check, finding.text);
    format!("{}\n", style.severity(finding.severity, &style.wrap(&text, 0)))
}

fn job_text(job: &JobComparison, style: &Style) -> String {
    if !job.not_comparable.is_empty() {
        let mut out = format!("\n{}\n", style.bold(&style.wrap(&job.name, 0)));
        out += "  not comparable, the workload differs:\n";
        out.extend(job.not_comparable.iter().map(|difference| difference_line(difference, style)));
        return out;
    }
    let [a, b] = [job.rounds.0, job.rounds.1].map(|count| human::counted(count, "run"));
    let rounds = format!("A: {a}, B: {b}");
    let heading = |what: &str| {
        format!("\n{}\n", style.bold(&style.wrap(&format!("{}{what} ({rounds})", job.name), 0)))
    };
    if job.directions.is_empty() {
        return heading("") + "  not comparable: no direction in which both did I/O\n";
    }
    let mut out = String::new();
    for direction in &job.directions {
        out += &heading(&format!(", {}", operation_name(direction)));
        out += &metric_table(direction, style);
    }
    out
}

/// "read", "read, response latency", "sync", "GET, first byte".
pub(crate) fn operation_name(direction: &DirectionComparison) -> String {
    let name = direction.operation.name();
    match (&direction.operation, direction.latency) {
        (Operation::Sync, _) | (Operation::Io(_), "completion") => name.into(),
        (Operation::Io(_), latency) => format!("{name}, {latency} latency"),
        (Operation::Request(_), latency) => format!("{name}, {latency}"),
    }
}

fn metric_table(direction: &DirectionComparison, style: &Style) -> String {
    let heading =
        format!("  {:<10}{:>11}{:>11}{:>7}  {:<16}{}", "", "A", "B", "B/A", "interval", "B is");
    let mut out = style.dim(&heading) + "\n";
    for some in direction.lines() {
        out += &match some {
            [one] if one.ratio.is_some() => metric_row(one, style),
            none => not_comparable(none, style),
        };
    }
    let counted = match direction.operation {
        Operation::Io(_) => "I/Os",
        Operation::Sync => "synchronisations",
        Operation::Request(_) => "requests",
    };
    out + &direction.distance.as_ref().map_or(String::new(), |d| distance_text(d, counted, style))
}

/// Figures that cannot be compared for one reason.
fn not_comparable(metrics: &[MetricComparison], style: &Style) -> String {
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name).collect();
    let reason = metrics.first().and_then(|metric| metric.reason.as_deref()).unwrap_or_default();
    let text = format!("{:<9} {}: {reason}", names.join(", "), Change::NotComparable.name());
    style.paragraph(&text, 2)
}

fn metric_row(metric: &MetricComparison, style: &Style) -> String {
    let ratio = metric.ratio.unwrap_or_default();
    let (low, high) = (factor(ratio.low), factor(ratio.high));
    let call = match (metric.change, metric.is_beyond_tolerance) {
        (Change::Slower, true) => style.severity(Severity::Error, metric.change_name()),
        (Change::Slower, false) => style.severity(Severity::Warning, metric.change_name()),
        _ => metric.change_name().to_owned(),
    };
    format!(
        "  {:<10}{:>11}{:>11}{:>7}  {:<16}{call}\n",
        metric.name,
        in_unit(metric.before, metric.unit),
        in_unit(metric.after, metric.unit),
        factor(ratio.value),
        format!("{low} to {high}"),
    )
}

fn distance_text(distance: &Distance, counted: &str, style: &Style) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut text = format!(
        "Latency distributions: at most {} apart (D), at {}: {} of A's {} took no longer, {} of \
         B's.",
        percent(distance.largest),
        human::time(distance.at_ns as f64),
        percent(distance.before),
        counted,
        percent(distance.after),
    );
    text += match (distance.effective_count, distance.is_shown) {
        (None, _) => "",
        (Some(_), true) => " That is more than chance.",
        (Some(_), false) => " That may be chance.",
    };
    if distance.largest == 0.0 {
        text = "Latency distributions: the same.".into();
    }
    let shifts: Vec<String> = distance
        .shifts
        .iter()
        .map(|shift| {
            let (before, after) = (shift.before as f64, shift.after as f64);
            let sign = if after < before { "-" } else { "+" };
            format!("p{} {sign}{}", shift.percentile, human::time((after - before).abs()))
        })
        .collect();
    if !shifts.is_empty() {
        text += &format!(" Shift: {}.", shifts.join(", "));
    }
    style.paragraph(&text, 2)
}

fn conclusion_text(comparison: &Comparison, style: &Style) -> String {
    let (severity, text) = conclusion(comparison);
    let text = style.wrap(&text, 2);
    severity.map_or(text.clone(), |severity| style.severity(severity, &text))
}

/// What the figures show together.
fn conclusion(comparison: &Comparison) -> (Option<Severity>, String) {
    let [slower, faster, same, open] =
        [Change::Slower, Change::Faster, Change::NoDifference, Change::Inconclusive]
            .map(|change| comparison.count(change));
    let beyond = comparison.metrics().filter(|metric| metric.is_beyond_tolerance).count();
    let tolerance = format!("{} %", comparison.tolerance * 100.0);
    let (worse, better) = compared_as(comparison);
    let all = slower + faster + same + open;
    let undecided = match open {
        0 => String::new(),
        open => format!("; {open} inconclusive"),
    };
    if slower + faster == 0 {
        let is_known = all > 0 && open == 0 && !comparison.is_different();
        return ((!is_known).then_some(Severity::Warning), without_difference(comparison));
    }
    if beyond > 0 {
        let text = format!(
            "B is {worse} beyond the tolerance of {tolerance} in {beyond} of {all} figures{undecided}"
        );
        return (Some(Severity::Error), text);
    }
    let text = format!(
        "B is {worse} in {slower} and {better} in {faster} of {all} figures; none is {worse} beyond \
         the tolerance of {tolerance}{undecided}"
    );
    (None, text)
}

/// What a comparison shows in which no figure is shown to differ.
pub(crate) fn without_difference(comparison: &Comparison) -> String {
    let (same, open) =
        (comparison.count(Change::NoDifference), comparison.count(Change::Inconclusive));
    let tolerance = comparison.tolerance * 100.0;
    let text = match (same, open) {
        (0, 0) => return nothing_compared(comparison),
        _ if comparison.is_different() => {
            "no figure differs by more than chance, but the latency distributions differ".into()
        }
        (_, 0) => format!("no difference: all figures agree within the tolerance of {tolerance} %"),
        (0, _) => "inconclusive: too few or too different runs to tell".to_owned(),
        (same, open) => format!(
            "inconclusive: too few or too different runs to tell in {open} of {} figures; the \
             others agree within the tolerance of {tolerance} %",
            same + open
        ),
    };
    text + "; " + &sensitivity(comparison) + &runs_needed(comparison)
}

/// The runs that would show a difference as large as the tolerance, of the first and of the most
/// demanding inconclusive figure.
fn runs_needed(comparison: &Comparison) -> String {
    let open = || comparison.metrics().filter(|metric| metric.change == Change::Inconclusive);
    let needed = || open().filter_map(|metric| Some((metric.name, metric.runs_needed?)));
    let Some((first, runs)) = needed().next() else { return String::new() };
    let most = needed().max_by_key(|(_, runs)| *runs).filter(|(_, most)| *most > runs);
    let most = most.map_or(String::new(), |(name, runs)| format!(", {runs} ({name})"));
    format!(
        "; a difference of {} % needs about {runs} runs of each ({first}){most}",
        comparison.tolerance * 100.0
    )
}

/// "the smallest difference that would have been seen is 3.1 % (iops) to 46 % (p99)".
fn sensitivity(comparison: &Comparison) -> String {
    let shown = |(metric, share): (&MetricComparison, f64)| {
        let share = match share * 100.0 {
            percent if percent < 0.1 => "0.1 %".into(),
            percent if percent < 9.95 => format!("{percent:.1} %"),
            percent if percent < 999.5 => format!("{percent:.0} %"),
            _ => "1000 % and more".into(),
        };
        format!("{share} ({})", metric.name)
    };
    let [least, most] =
        comparison.sensitivity().map_or_else(Default::default, |two| two.map(shown));
    let range = if least == most { least } else { format!("{least} to {most}") };
    format!("the smallest difference that would have been seen is {range}")
}

/// "slower" and "faster"; "worse" and "better" if failures differ.
pub(crate) fn compared_as(comparison: &Comparison) -> (&'static str, &'static str) {
    let differs =
        |metric: &MetricComparison| matches!(metric.change, Change::Slower | Change::Faster);
    match comparison.metrics().any(|metric| metric.is_failures() && differs(metric)) {
        true => ("worse", "better"),
        false => (Change::Slower.name(), Change::Faster.name()),
    }
}

/// "nothing could be compared: …".
pub(crate) fn nothing_compared(comparison: &Comparison) -> String {
    let why = comparison.obstacle().map_or(String::new(), |why| format!(": {why}"));
    format!("nothing could be compared{why}")
}

/// An explanation of the intervals.
fn intervals_text(comparison: &Comparison) -> String {
    let mut text = format!(
        "All intervals together hold the true ratios in 95 of 100 comparisons (each at {:.2} %).",
        (1.0 - comparison.miss) * 100.0
    );
    if comparison.is_spread_assumed {
        text += &format!(
            " A single run does not show the spread from run to run: {} % is assumed, {} % for \
             percentiles above the median. To measure it, run both with --repeat=5, or name several \
             runs of each (A1,A2,A3).",
            ASSUMED_SPREAD * 100.0,
            ASSUMED_SPREAD_OF_TAILS * 100.0
        );
    }
    text
}

/// "0.980", "12.3", "1234"; "<0.01" and ">9999" beyond these.
pub(crate) fn factor(ratio: f64) -> String {
    match ratio {
        r if r < 0.01 => "<0.01".into(),
        r if r < 9.995 => format!("{r:.3}").chars().take(5).collect(),
        r if r < 99.95 => format!("{r:.1}"),
        r if r < 9999.5 => format!("{r:.0}"),
        _ => ">9999".into(),
    }
}

/// The comparison as JSON. Times are in nanoseconds, ratios B over A.
///
/// # Panics
/// Never: a JSON value can always be written.
pub fn json(comparison: &Comparison) -> String {
    format!("{:#}\n", value(comparison))
}

/// The same as part of another document.
pub(crate) fn value(comparison: &Comparison) -> Value {
    let differences = |all: &[Difference]| all.iter().map(difference_json).collect::<Vec<_>>();
    let jobs: Vec<Value> = comparison
        .jobs
        .iter()
        .map(|job| {
            json!({
                "name": job.name,
                "runs": { "before": job.rounds.0, "after": job.rounds.1 },
                "not_comparable": differences(&job.not_comparable),
                "directions": job.directions.iter().map(direction_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "why": {
            "before": some_text(&comparison.intents.0),
            "after": some_text(&comparison.intents.1),
        },
        "environment": differences(&comparison.environment),
        "environment_recorded": !comparison.environment_unknown,
        "findings": {
            "before": comparison.doubts.0.iter().map(finding_json).collect::<Vec<_>>(),
            "after": comparison.doubts.1.iter().map(finding_json).collect::<Vec<_>>(),
        },
        "jobs": jobs,
        "only_before": comparison.only_before,
        "only_after": comparison.only_after,
        "tolerance": comparison.tolerance,
        "level": 1.0 - comparison.miss,
        "assumed_spread": comparison.is_spread_assumed.then_some(ASSUMED_SPREAD),
        "assumed_spread_of_tails":
            comparison.is_spread_assumed.then_some(ASSUMED_SPREAD_OF_TAILS),
        "different": comparison.is_different(),
        "slower_beyond_tolerance": comparison.is_slower(),
        "nothing_compared": comparison.obstacle(),
        "conclusion": conclusion(comparison).1,
    })
}

fn some_text(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn difference_json(difference: &Difference) -> Value {
    json!({
        "what": difference.what,
        "before": difference.before,
        "after": difference.after,
        "changes_figures": difference.is_grave,
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "severity": messages::severity(finding.severity),
        "jobs": finding.jobs,
        "text": finding.text,
    })
}

fn interval_json(ratio: Estimate) -> Value {
    json!({ "value": ratio.value, "low": ratio.low, "high": ratio.high })
}

fn direction_json(direction: &DirectionComparison) -> Value {
    let metric = |metric: &MetricComparison| {
        let figure = |value: f64| metric.ratio.map(|_| value);
        json!({
            "name": metric.name,
            "unit": metric.unit,
            "before": figure(metric.before),
            "after": figure(metric.after),
            "ratio": metric.ratio.map(interval_json),
            "call": metric.change_name(),
            "smallest_difference": metric.smallest_difference(),
            "runs_needed": metric.runs_needed,
            "beyond_tolerance": metric.is_beyond_tolerance,
            "reason": metric.reason,
        })
    };
    json!({
        "direction": direction.operation.name(),
        "latency_is": direction.latency,
        "metrics": direction.metrics.iter().map(metric).collect::<Vec<_>>(),
        "latency": direction.distance.as_ref().map(distance_json),
    })
}

fn distance_json(distance: &Distance) -> Value {
    let shift = |Shift { percentile, before, after, ratio }: &Shift| {
        json!({
            "percentile": percentile,
            "before": before,
            "after": after,
            "ratio": ratio.map(interval_json),
        })
    };
    let shifts: Vec<Value> = distance.shifts.iter().map(shift).collect();
    json!({
        "largest_distance": distance.largest,
        "at_ns": distance.at_ns,
        "share_before": distance.before,
        "share_after": distance.after,
        "effective_count": distance.effective_count.filter(|count| count.is_finite()),
        "different": distance.effective_count.map(|_| distance.is_shown),
        "shifts": shifts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use judge::compare::Options;
    use record::RecordSet;

    fn comparison() -> Comparison {
        let a = RecordSet { runs: vec![testing::mixed(); 3], ..RecordSet::default() };
        let mut b = a.clone();
        b.runs.iter_mut().for_each(|run| run.facts.kernel = "9.9.9".into());
        judge::compare::compare(&a, &b, &Options::default())
    }

    #[test]
    fn what_each_side_is_for_stands_first() {
        let mut comparison = comparison();
        comparison.intents = (String::new(), "is the new kernel slower".into());
        assert!(
            text(&comparison, &Style::default())
                .starts_with("B is for: is the new kernel slower\n")
        );
        let value = value(&comparison);
        assert_eq!(
            (&value["why"]["before"], value["why"]["after"].is_string()),
            (&Value::Null, true)
        );
    }

    #[test]
    fn the_text_fits_the_screen_and_names_the_environment_first() {
        let text = text(&comparison(), &Style::default());
        assert!(text.starts_with("The environments differ\n  kernel: "), "{text}");
        let same = "no difference: all figures agree within the tolerance of 5 %; the smallest";
        assert!(text.replace("\n  ", " ").contains(same), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn what_shows_nothing_is_inconclusive() {
        let mut comparison = comparison();
        comparison.jobs[0].directions.truncate(1);
        comparison.jobs[0].directions[0].distance = None;
        comparison.jobs[0].directions[0].metrics.truncate(1);
        let metric = &mut comparison.jobs[0].directions[0].metrics[0];
        metric.ratio = Some(Estimate { value: 0.35, low: 0.06, high: 2.1 });
        metric.change = Change::Inconclusive;
        metric.runs_needed = Some(212);
        let text = text(&comparison, &Style::default());
        assert!(text.contains("  0.060 to 2.100  inconclusive\n"), "{text}");
        let expected = "inconclusive: too few or too different runs to tell; the smallest difference \
                        that would have been seen is 500 % (iops); a difference of 5 % needs about \
                        212 runs of each (iops)";
        assert!(text.replace("\n  ", " ").contains(expected), "{text}");
        assert!(!text.contains("no difference:"), "{text}");
        let value = value(&comparison);
        assert_eq!(value["conclusion"], expected);
        let metric = &value["jobs"][0]["directions"][0]["metrics"][0];
        assert_eq!(metric["call"], "inconclusive");
        assert!((metric["smallest_difference"].as_f64().unwrap() - 5.0).abs() < 1e-6);
    }

    #[test]
    fn doubts_name_their_job_if_there_are_several() {
        let mut comparison = comparison();
        let job = comparison.jobs[0].clone();
        let name = job.name.clone();
        let of = |check, jobs: &[&str]| Finding {
            check,
            severity: Severity::Warning,
            jobs: jobs.iter().map(|&job| job.into()).collect(),
            text: "slow".into(),
            figures: Vec::new(),
            cause: "".into(),
            remedy: "".into(),
        };
        comparison.doubts.0 = vec![of("cpu-starved", &[&name]), of("background-work", &[])];
        assert!(text(&comparison, &Style::default()).contains("In A [cpu-starved]: slow"));
        comparison.jobs.push(job);
        let text = text(&comparison, &Style::default());
        assert!(text.contains(&format!("In A, {name} [cpu-starved]: slow")), "{text}");
        assert!(text.contains("In A [background-work]: slow"), "{text}");
    }

    #[test]
    fn requests_have_a_table_and_failures_are_not_called_slower() {
        let a = RecordSet { runs: vec![testing::objects(); 3], ..RecordSet::default() };
        let mut b = a.clone();
        for job in b.runs.iter_mut().flat_map(|run| &mut run.jobs) {
            let get = &mut job.exchange.as_mut().unwrap().requests[0];
            get.sent += 2000;
        }
        let comparison = judge::compare::compare(&a, &b, &Options::default());
        let text = text(&comparison, &Style::default());
        let (_, table) =
            text.split_once("objects, GET, first byte (A: 3 runs, B: 3 runs)").unwrap();
        let failed = table.lines().find(|line| line.starts_with("  failed")).unwrap();
        assert!(failed.contains(" 10 %") && failed.contains(" 70 %"), "{failed}");
        assert!(failed.ends_with("  fails more"), "{failed}");
        assert!(text.contains("B is worse beyond the tolerance of 5 % in 1 of"), "{text}");
        assert!(text.contains("of A's requests took no longer") || text.contains("the same"));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let value = value(&comparison);
        let get = &value["jobs"][0]["directions"][1];
        assert_eq!((&get["direction"], &get["latency_is"]), (&"GET".into(), &"first byte".into()));
    }

    #[test]
    fn an_impossible_comparison_names_the_missing_figures() {
        let run = crate::testing::mixed();
        let set = RecordSet { runs: vec![run.clone()], ..RecordSet::default() };
        let mut short = set.clone();
        short.runs[0].jobs.iter_mut().for_each(|job| job.intervals.clear());
        let comparison = judge::compare::compare(&set, &short, &Options::default());
        let text = text(&comparison, &Style::default());
        assert!(text.contains("nothing could be compared: too short"), "{text}");
        let reason = value(&comparison)["nothing_compared"].clone();
        assert!(reason.as_str().unwrap().starts_with("too short"), "{reason}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn the_json_holds_the_same() {
        let value: Value = serde_json::from_str(&json(&comparison())).unwrap();
        assert_eq!(value["environment"][0]["after"], "9.9.9");
        assert_eq!(value["slower_beyond_tolerance"], false);
        let metric = &value["jobs"][0]["directions"][0]["metrics"][0];
        assert_eq!((&metric["name"], &metric["ratio"]["value"]), (&json!("iops"), &json!(1.0)));
    }

    #[test]
    fn ratios_are_short() {
        let shown = [0.001, 0.9, 1.0, 12.34, 3000.0, f64::INFINITY].map(factor);
        assert_eq!(shown, ["<0.01", "0.900", "1.000", "12.3", "3000", ">9999"]);
    }
}
