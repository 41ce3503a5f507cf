//! A comparison for pipelines: a summary in Markdown, and JUnit's XML.

use super::{conclusion, factor, intervals_text, operation_name};
use crate::figures::in_unit;
use crate::junit::{self, Case};
use judge::compare::{Change, Comparison, JobComparison, MetricComparison};

/// The result, the differences between the environments, and a table of every figure, as the Markdown of
/// code hosts shows them.
pub fn markdown(comparison: &Comparison) -> String {
    let mark = if is_passed(comparison) { "✅" } else { "❌" };
    let mut out =
        format!("### fathom: storage performance\n\n{mark} {}\n", cell(&conclusion(comparison).1));
    let differences: Vec<String> = comparison
        .environment
        .iter()
        .map(|one| format!("{}: {} → {}", cell(&one.what), cell(&one.before), cell(&one.after)))
        .collect();
    if !differences.is_empty() {
        out += &format!("\nThe environments differ: {}\n", differences.join("; "));
    }
    for (side, findings) in [("A", &comparison.doubts.0), ("B", &comparison.doubts.1)] {
        for finding in findings {
            out += &format!("\n⚠️ In {side} [{}]: {}\n", finding.check, cell(&finding.text));
        }
    }
    out += "\n| job | figure | A | B | B/A | interval | B is |\n|---|---|--:|--:|--:|---|---|\n";
    out.extend(comparison.jobs.iter().map(rows));
    if comparison.metrics().any(|metric| metric.ratio.is_some()) {
        out += &format!("\n<sub>{}</sub>\n", intervals_text(comparison));
    }
    out
}

fn rows(job: &JobComparison) -> String {
    let name = cell(&job.name);
    if job.directions.is_empty() {
        let why: Vec<&str> = job.not_comparable.iter().map(|one| one.what.as_str()).collect();
        return format!("| {name} | | | | | | not comparable: {} |\n", why.join(", "));
    }
    let row = |operation: &str, metric: &MetricComparison| {
        let head = format!("| {name} | {operation} {} ", metric.name);
        let Some(ratio) = metric.ratio else {
            let reason = metric.reason.as_deref().unwrap_or_default();
            return format!("{head}| | | | | not comparable: {} |\n", cell(reason));
        };
        let [before, after] =
            [metric.before, metric.after].map(|value| in_unit(value, metric.unit));
        let (value, low, high) = (factor(ratio.value), factor(ratio.low), factor(ratio.high));
        let is_strong = metric.change == Change::Slower;
        let change = metric.change_name();
        let change = if is_strong { format!("**{change}**") } else { change.into() };
        format!("{head}| {before} | {after} | {value} | {low} to {high} | {change} |\n")
    };
    let directions = job.directions.iter().map(|direction| (operation_name(direction), direction));
    directions
        .flat_map(|(operation, direction)| {
            direction.metrics.iter().map(move |m| (operation.clone(), m))
        })
        .map(|(operation, metric)| row(&operation, metric))
        .collect()
}

/// Every figure as a test case, which fails where B is slower beyond the tolerance; one that fails if
/// nothing could be compared.
pub fn junit(comparison: &Comparison) -> String {
    let mut cases = Vec::new();
    for job in &comparison.jobs {
        for direction in &job.directions {
            let metrics = direction.metrics.iter();
            cases.extend(metrics.map(|metric| case(&job.name, &operation_name(direction), metric)));
        }
    }
    cases.extend(comparison.obstacle().map(|why| Case {
        class: "comparison".into(),
        name: "something could be compared".into(),
        is_failed: true,
        outcome: "fail",
        found: why,
    }));
    junit::document(&cases, 0.0)
}

fn case(job: &str, operation: &str, metric: &MetricComparison) -> Case {
    let found = match metric.ratio {
        None => metric.reason.clone().unwrap_or_default(),
        Some(ratio) => format!(
            "{} → {}, B/A {} ({} to {})",
            in_unit(metric.before, metric.unit),
            in_unit(metric.after, metric.unit),
            factor(ratio.value),
            factor(ratio.low),
            factor(ratio.high)
        ),
    };
    Case {
        class: job.into(),
        name: format!("{operation} {}", metric.name),
        is_failed: metric.is_beyond_tolerance,
        outcome: metric.change_name(),
        found,
    }
}

/// Whether a pipeline may go on.
fn is_passed(comparison: &Comparison) -> bool {
    !comparison.is_slower() && comparison.obstacle().is_none()
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('`', "\\`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use judge::compare::Options;
    use record::RecordSet;

    /// Runs, and the same with half the I/Os.
    fn comparison(is_slower: bool) -> Comparison {
        let a = RecordSet { runs: vec![testing::mixed(); 3], ..RecordSet::default() };
        let mut comparison = judge::compare::compare(&a, &a.clone(), &Options::default());
        if is_slower {
            let metric = &mut comparison.jobs[0].directions[0].metrics[0];
            (metric.change, metric.is_beyond_tolerance) = (Change::Slower, true);
        }
        comparison
    }

    #[test]
    fn the_summary_begins_with_the_result_and_has_a_row_for_each_figure() {
        let comparison = comparison(false);
        let text = markdown(&comparison);
        assert!(text.starts_with("### fathom: storage performance\n\n✅ no difference"), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
        assert_eq!(rows.len(), 1 + comparison.metrics().count(), "{text}");
        assert!(rows.iter().all(|row| row.matches(" |").count() == 7), "{text}");
    }

    #[test]
    fn what_is_slower_beyond_the_tolerance_fails() {
        let comparison = comparison(true);
        assert!(
            markdown(&comparison).contains("❌ B is slower beyond"),
            "{}",
            markdown(&comparison)
        );
        let xml = junit(&comparison);
        assert!(
            xml.contains("failures=\"1\"") && xml.contains("<failure type=\"slower\""),
            "{xml}"
        );
    }

    #[test]
    fn a_name_stays_in_its_cell() {
        assert_eq!(cell("a|b\n<img>`c`"), "a\\|b &lt;img>\\`c\\`");
    }
}
