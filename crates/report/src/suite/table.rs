//! The one table of `fathom test`.

use crate::numbers::short_time;
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
    let mut out = style.bold(&format!("{} limit", columns("", &head, &WIDTHS))) + "\n";
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

/// Cells at the right of columns of these widths, the first behind a label. What is too long for its
/// column takes room from the empty one before it, or moves on: there is a blank before it always.
pub(super) fn columns(label: &str, cells: &[String], widths: &[usize]) -> String {
    let (mut line, mut end) = (label.to_owned(), 0);
    for (cell, width) in cells.iter().zip(widths) {
        end += width;
        if !cell.is_empty() {
            let taken = line.chars().count();
            let room = end.saturating_sub(taken + cell.chars().count());
            line += &" ".repeat(room.max(usize::from(taken > 0)));
            line += cell;
        }
    }
    line
}

fn row(row: &Row, style: &Style) -> String {
    let percentile = |index: usize| row.percentiles.get(index).map(|(_, value)| value);
    let time = |index| percentile(index).map_or("-".into(), |v| short_time(v.value));
    let figures = [
        row.depth.to_string(),
        short(row.iops.value),
        three_digits(row.bytes_per_second.value / 1e6),
        time(0),
        time(1),
        time(2),
    ];
    let limit = row.limit.map_or("", judge::Limit::name);
    let mut out =
        format!("{} {limit}", columns(&row.label, &figures, &WIDTHS)).trim_end().to_owned() + "\n";
    let ends = |index| percentile(index).map_or(String::new(), time_ends);
    let intervals =
        [String::new(), count_ends(&row.iops), String::new(), ends(0), ends(1), ends(2)];
    let line = columns("", &intervals, &WIDTHS);
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
    let end = |value: f64| match value {
        v if v >= 9999.5e6 => ">9999M".into(),
        v => cut_below(v).unwrap_or_else(|| short(v)),
    };
    estimated.interval.map_or(String::new(), |(low, high)| format!("{}-{}", end(low), end(high)))
}

/// "0.98-1.07", in the unit of the figure above it. What would have too many digits in it is cut:
/// "<0.01-2300", "912->9999". An interval that is cut at both ends begins at 0, which is no less true
/// and takes less room.
pub(crate) fn time_ends(estimated: &Estimated) -> String {
    let Some((low, high)) = estimated.interval else { return String::new() };
    let unit = unit_of(estimated.value);
    let end = |ns: f64| match ns / unit {
        v if v >= MOST => format!(">{MOST:.0}"),
        // Nanoseconds have no fractions.
        v if unit == 1.0 => format!("{v:.0}"),
        v => cut_below(v).unwrap_or_else(|| three_digits(v)),
    };
    match (end(low), end(high)) {
        (low, high) if low.starts_with('<') && high.starts_with('>') => format!("0-{high}"),
        (low, high) => format!("{low}-{high}"),
    }
}

/// The same for a sentence, which has room: "1.60-1.85", and "65.5us-301s" where the unit of the
/// figure does not suit both ends.
pub(crate) fn time_ends_in_full(estimated: &Estimated) -> String {
    let Some((low, high)) = estimated.interval else { return String::new() };
    let unit = unit_of(estimated.value);
    let suits = |ns: f64| ns == 0.0 || (LEAST..MOST).contains(&(ns / unit));
    match suits(low) && suits(high) {
        true => time_ends(estimated),
        false => format!("{}-{}", short_time(low), short_time(high)),
    }
}

/// Ends of intervals within these are told with their digits.
const LEAST: f64 = 0.01;
const MOST: f64 = 9999.0;

/// What is told of an end that is too small for three digits.
fn cut_below(value: f64) -> Option<String> {
    match value {
        0.0 => Some("0".into()),
        v if v < LEAST => Some(format!("<{LEAST}")),
        _ => None,
    }
}

/// Nanoseconds in the unit in which a time is told.
fn unit_of(ns: f64) -> f64 {
    match ns {
        v if v < 999.5 => 1.0,
        v if v < 999.5e3 => 1e3,
        v if v < 999.5e6 => 1e6,
        _ => 1e9,
    }
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
        assert_eq!(ends(0.5, 0.2, 700.0), "0-700");
        let count = Estimated { value: 1e5, interval: Some((98_200.0, 103_400.0)) };
        assert_eq!(count_ends(&count), "98.2k-103k");
    }

    #[test]
    fn ends_that_say_nothing_are_cut_and_keep_to_their_column() {
        let of = |value, low, high| Estimated { value, interval: Some((low, high)) };
        let known = [
            (of(850e3, 65.5e3, 301_080_475e3), "65.5->9999", "65.5us-301s"),
            (of(850e3, 3.0, 2_300e3), "<0.01-2300", "3ns-2.30ms"),
            (of(198e3, 9.0, 886_148_023_233e3), "0->9999", "9ns-886148s"),
            (of(850e3, 0.0, 2_300e3), "0-2300", "0-2300"),
            (of(950e3, 912e3, 2_300e3), "912-2300", "912-2300"),
        ];
        for (estimated, column, sentence) in known {
            assert_eq!(time_ends(&estimated), column);
            assert_eq!(time_ends_in_full(&estimated), sentence);
            assert!(column.len() < WIDTHS[3]);
        }
        assert_eq!(count_ends(&of(17_300.0, 0.0, 47_700.0)), "0-47.7k");
        assert_eq!(count_ends(&of(17_300.0, 1e-9, 1e12)), "<0.01->9999M");
        let cells = ["", "12345678", "9", "1234567", "1"].map(str::to_owned);
        assert_eq!(columns("", &cells, &[5, 5, 5, 5, 5]), "  12345678    9 1234567 1");
    }
}
