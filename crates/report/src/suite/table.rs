//! The one table of `fathom test`.

use crate::style::Style;
use suite::test::{Conclusion, Estimated, Row};

/// Widths of the columns: what and depth, IOPS, MB/s, three percentiles. The limit follows.
const WIDTHS: [usize; 6] = [20, 11, 7, 11, 11, 11];

/// The table: two lines a row, the second with the intervals. 80 characters wide.
pub(super) fn text(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.rows.is_empty() {
        return "Nothing was measured.\n".into();
    }
    let head = ["depth", "IOPS", "MB/s", "p50", "p99", "p99.9"].map(str::to_owned);
    let mut out = style.bold(&format!("{} limit", columns("", &head))) + "\n";
    out.extend(conclusion.rows.iter().map(|row| self::row(row, style)));
    out += &style.dim(&style.wrap(&legend(conclusion), 0));
    out + "\n\n"
}

fn legend(conclusion: &Conclusion) -> String {
    let mut text = match conclusion.rounds {
        1 => "Below each row: 95 % intervals, by the course of the one round.".to_owned(),
        rounds => format!("Below each row: 95 % intervals, by {rounds} rounds."),
    };
    if conclusion.rows.iter().any(|row| row.of_sync) {
        text += " Latencies of write + fsync are those of fsync.";
    }
    text
}

/// The first column left, the others right.
fn columns(label: &str, cells: &[String; 6]) -> String {
    let room = WIDTHS[0].saturating_sub(label.chars().count());
    let mut line = format!("{label}{:>room$}", cells[0]);
    for (cell, width) in cells[1..].iter().zip(&WIDTHS[1..]) {
        line += &format!("{cell:>width$}");
    }
    line
}

fn row(row: &Row, style: &Style) -> String {
    let percentile = |index: usize| row.percentiles.get(index).map(|(_, value)| value);
    let time =
        |index| percentile(index).map_or("-".into(), |v| crate::numbers::short_time(v.value));
    let figures = [
        row.depth.to_string(),
        short(row.iops.value),
        three_digits(row.bytes_per_second.value / 1e6),
        time(0),
        time(1),
        time(2),
    ];
    let limit = row.limit.map_or("", judge::Limit::name);
    let mut out = format!("{} {limit}", columns(&row.label, &figures)).trim_end().to_owned() + "\n";
    let ends = |index| percentile(index).map_or(String::new(), time_ends);
    let intervals =
        [String::new(), count_ends(&row.iops), String::new(), ends(0), ends(1), ends(2)];
    let line = columns("", &intervals);
    if !line.trim().is_empty() {
        out += &style.dim(line.trim_end());
        out.push('\n');
    }
    out
}

/// A number with three digits: "0.52", "9.53", "95.3", "953", "9.53k", "1.21M".
pub(crate) fn short(value: f64) -> String {
    let (value, unit) = match value {
        v if v < 999.5 => (v, ""),
        v if v < 999.5e3 => (v / 1e3, "k"),
        v => (v / 1e6, "M"),
    };
    format!("{}{unit}", three_digits(value))
}

pub(crate) fn three_digits(value: f64) -> String {
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// "98.2k-103k"; nothing where there is no interval.
pub(crate) fn count_ends(estimated: &Estimated) -> String {
    estimated
        .interval
        .map_or(String::new(), |(low, high)| format!("{}-{}", short(low), short(high)))
}

/// "0.98-1.07", in the unit of the figure above it.
pub(crate) fn time_ends(estimated: &Estimated) -> String {
    let Some((low, high)) = estimated.interval else { return String::new() };
    let unit = match estimated.value {
        v if v < 999.5 => 1.0,
        v if v < 999.5e3 => 1e3,
        v if v < 999.5e6 => 1e6,
        _ => 1e9,
    };
    // Nanoseconds have no fractions.
    let end = |ns: f64| if unit == 1.0 { format!("{ns:.0}") } else { three_digits(ns / unit) };
    format!("{}-{}", end(low), end(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let known = [
            (0.0, "0.00"),
            (0.524, "0.52"),
            (9.53, "9.53"),
            (99.96, "100"),
            (999.6, "1.00k"),
            (12_340.0, "12.3k"),
            (999_600.0, "1.00M"),
            (1_210_000.0, "1.21M"),
        ];
        for (value, text) in known {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn the_ends_of_an_interval_have_the_unit_of_their_figure() {
        let ends = |value, low, high| time_ends(&Estimated { value, interval: Some((low, high)) });
        assert_eq!(ends(1.02e6, 0.981e6, 1.07e6), "0.98-1.07");
        assert_eq!(ends(950e3, 912e3, 2_300e3), "912-2300");
        assert_eq!(ends(640.0, 600.0, 700.0), "600-700");
        assert_eq!(time_ends(&Estimated::default()), "");
        let count = Estimated { value: 1e5, interval: Some((98_200.0, 103_400.0)) };
        assert_eq!(count_ends(&count), "98.2k-103k");
    }
}
