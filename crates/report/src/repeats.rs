//! Repeats in one table: a line a figure.

use crate::numbers::{SizeStyle, count, short_time};
use crate::style::Style;
use judge::{Repeated, RepeatedFigure};

/// Significant figures of counts.
const FIGURES: u32 = 4;

/// Mean, 95 % interval of the mean, median, extremes and coefficient of variation of every figure;
/// nothing without repeats. Lines have at most 80 columns.
pub fn text(repeats: &[Repeated], style: &Style) -> String {
    let count = repeats.iter().flat_map(|r| &r.figures).map(|f| f.summary.count).max();
    if count.unwrap_or(0) < 2 {
        return String::new();
    }
    let several = repeats.iter().any(|other| other.cell != repeats[0].cell);
    let mut text = format!("\n{}\n", style.bold("Repeats"));
    text += &line(["", "mean", "95 % interval", "median", "least", "most", "cv"].map(Into::into));
    for repeated in repeats {
        text += &format!("  {}\n", name(repeated, several));
        repeated.figures.iter().for_each(|figure| text += &row(figure));
    }
    text + "  cv: standard deviation of the runs over their mean.\n"
}

fn name(repeated: &Repeated, several: bool) -> String {
    let direction = repeated.operation.name();
    let direction = match repeated.latency {
        Some(latency) => format!("{direction}, {latency}"),
        None => direction.to_owned(),
    };
    match several && repeated.cell != repeated.job {
        true => format!("{}: {}, {direction}", repeated.cell, repeated.job),
        false => format!("{}, {direction}", repeated.job),
    }
}

fn row(figure: &RepeatedFigure) -> String {
    let summary = &figure.summary;
    let mean = &summary.mean;
    let shown = |value: f64| match value.is_finite() {
        true => value_text(figure.unit, value.max(0.0)),
        false => "?".into(),
    };
    line([
        figure.name.into(),
        shown(mean.value),
        format!("{} - {}", shown(mean.low), shown(mean.high)),
        shown(summary.median),
        shown(summary.min),
        shown(summary.max),
        format!("{:.1} %", summary.cv * 100.0),
    ])
}

fn value_text(unit: &str, value: f64) -> String {
    match unit {
        "ns" => short_time(value),
        "bytes/s" => SizeStyle::of(&record::Show::default()).rate(value),
        _ => count(value as u64, FIGURES),
    }
}

fn line([name, mean, interval, median, least, most, cv]: [String; 7]) -> String {
    let text =
        format!("    {name:9} {mean:>9} {interval:>21} {median:>9} {least:>9} {most:>9} {cv:>7}");
    // A bandwidth may be wide: what it needs more is taken from the indent.
    let width = text.chars().count();
    let text = match width.checked_sub(80) {
        Some(over) => text.chars().skip(over.min(4)).collect(),
        None => text,
    };
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::stats::summary;

    fn repeated(values: &[f64]) -> Repeated {
        let figure = |name, unit, scale: f64| {
            let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
            RepeatedFigure { name, unit, summary: summary(&scaled, 1) }
        };
        Repeated {
            cell: "scan".into(),
            job: "scan".into(),
            operation: judge::Operation::Io(record::Direction::Read),
            latency: None,
            figures: vec![
                figure("IOPS", "IOPS", 1.0),
                figure("bandwidth", "bytes/s", 4096.0),
                figure("p99.9", "ns", 100.0),
            ],
        }
    }

    #[test]
    fn every_figure_has_its_interval_within_the_page() {
        let text = text(&[repeated(&[98_765.0, 123_456.0, 111_111.0])], &Style::default());
        let iops = text.lines().find(|line| line.contains("IOPS")).unwrap();
        assert!(iops.contains(" - ") && iops.contains("11.1 %"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn one_run_has_no_repeats_to_tell_of() {
        assert_eq!(text(&[repeated(&[1.0])], &Style::default()), "");
        assert_eq!(text(&[], &Style::default()), "");
    }
}
