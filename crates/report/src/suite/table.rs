//! The one table of `fathom test`.

use crate::figures::{interval, mebibytes};
use crate::style::Style;
use record::human;
use suite::test::{Conclusion, Row};

/// Widths of the columns: what and depth, IOPS, MiB/s, three percentiles. The limit follows.
const WIDTHS: [usize; 6] = [20, 10, 7, 11, 11, 11];

/// The table: two lines a row, the second with the intervals. 80 characters wide.
pub(super) fn text(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.rows.is_empty() {
        return "Nothing was measured.\n".into();
    }
    let mut out = head(style);
    out.extend(conclusion.rows.iter().map(|row| self::row(row, style)));
    out += &style.dim(&style.wrap(&legend(conclusion), 0));
    out + "\n\n"
}

/// The same with one line a row.
pub(super) fn brief(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.rows.is_empty() {
        return "Nothing was measured.\n".into();
    }
    let rows: String = conclusion.rows.iter().map(figures).collect();
    head(style) + &rows
}

fn head(style: &Style) -> String {
    let head = ["depth", "IOPS", "MiB/s", "p50", "p99", "p99.9"].map(str::to_owned);
    style.bold(&format!("{} limit", columns("", &head, &WIDTHS))) + "\n"
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

/// The line of the figures.
fn figures(row: &Row) -> String {
    let time =
        |index: usize| row.percentiles.get(index).map_or("-".into(), |(_, v)| human::time(v.value));
    let figures = [
        row.depth.to_string(),
        human::count(row.iops.value),
        mebibytes(row.bytes_per_second.value),
        time(0),
        time(1),
        time(2),
    ];
    let limit = row.limit.map_or("", judge::Limit::name);
    format!("{} {limit}", columns(&row.label, &figures, &WIDTHS)).trim_end().to_owned() + "\n"
}

fn row(row: &Row, style: &Style) -> String {
    let mut out = figures(row);
    let ends = |index: usize| {
        row.percentiles.get(index).map_or(String::new(), |(_, v)| interval(v, human::TIMES))
    };
    let iops = interval(&row.iops, human::COUNTS);
    let intervals = [String::new(), iops, String::new(), ends(0), ends(1), ends(2)];
    let line = columns("", &intervals, &WIDTHS);
    if !line.trim().is_empty() {
        out += &style.dim(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_too_long_for_its_column_takes_room_or_moves_on() {
        let cells = ["", "12345678", "9", "1234567", "1"].map(str::to_owned);
        assert_eq!(columns("", &cells, &[5, 5, 5, 5, 5]), "  12345678    9 1234567 1");
    }
}
