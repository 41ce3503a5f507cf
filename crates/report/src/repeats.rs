//! The table of repeats, with a line for each figure.

use crate::figures::{in_unit, interval, units};
use crate::style::Style;
use judge::{Repeated, RepeatedFigure};
use suite::Estimated;

/// Mean, 95 % interval of the mean in its unit, median, extremes and coefficient of variation of every
/// figure; empty without repeats. Lines have at most 80 columns.
pub fn text(repeats: &[Repeated], style: &Style) -> String {
    let count = repeats.iter().flat_map(|r| &r.figures).map(|f| f.summary.count).max();
    if count.unwrap_or(0) < 2 {
        return String::new();
    }
    let several = repeats.iter().any(|other| other.cell != repeats[0].cell);
    let mut text = style.heading("Repeats");
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
        true => in_unit(value.max(0.0), figure.unit),
        false => "?".into(),
    };
    let is_known = mean.low.is_finite() && mean.high.is_finite();
    let interval_of_mean = is_known.then_some((mean.low.max(0.0), mean.high));
    let ends = Estimated { value: mean.value, interval: interval_of_mean };
    let ends = if is_known { interval(&ends, units(figure.unit)) } else { "?".into() };
    line([
        figure.name.into(),
        shown(mean.value),
        ends,
        shown(summary.median),
        shown(summary.min),
        shown(summary.max),
        format!("{:.1} %", summary.cv * 100.0),
    ])
}

fn line([name, mean, interval, median, least, most, cv]: [String; 7]) -> String {
    let text = format!(
        "    {name:9} {mean:>10} {interval:>14} {median:>10} {least:>10} {most:>10} {cv:>7}"
    );
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
        assert!(iops.contains(" 80.4-142 ") && iops.contains("11.1 %"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn one_run_has_no_repeats_to_tell_of() {
        assert_eq!(text(&[repeated(&[1.0])], &Style::default()), "");
        assert_eq!(text(&[], &Style::default()), "");
    }
}
