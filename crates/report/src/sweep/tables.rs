//! The tables of a sweep: a matrix of means, and a line for each cell with its repeats, total, mean
//! and share of the best.

use crate::figures::{PLAIN, in_mebibytes, interval, mebibytes};
use crate::style::{Style, printable, shorten};
use judge::stats::Standing;
use record::human;
use suite::Estimated;
use suite::grid::Reading;
use suite::sweep::{Baseline, Column, Conclusion, Row, Table};

/// The longest label of a row.
const LABEL_MAX: usize = 24;
/// Width of a cell of the matrix, of a repeat, of a total or mean, of an interval, of a percentage.
const CELL: usize = 13;
const REPEAT: usize = 8;
const MEAN: usize = 8;
const INTERVAL: usize = 14;
const PERCENT: usize = 9;
/// Room for the mark behind it all.
const MARK: usize = 5;

/// All tables, and the meaning of their marks.
pub(super) fn text(conclusion: &Conclusion, repeats: usize, style: &Style) -> String {
    if conclusion.made == 0 {
        return "Nothing was measured.\n".into();
    }
    let mut out = String::new();
    for table in &conclusion.tables {
        out += &format!("{}\n", style.bold(&style.wrap(&title(table), 0)));
        if table.across.is_some() {
            out += &(matrix(table, style) + "\n");
        }
        out += &(lines(table, repeats, style) + "\n");
    }
    out + &style.dim(&legend(conclusion, repeats, style)) + "\n"
}

/// "IOPS by iodepth and bs, where rw=randread (more is better)".
fn title(table: &Table) -> String {
    let measure = &table.measure;
    let name = match (measure.is_rate(), measure.name()) {
        (true, name) => {
            format!("{name}, {}", if is_bandwidth(table) { "MiB/s" } else { "I/Os a second" })
        }
        (false, name) => format!("{name}, latency"),
    };
    let across = table.across.as_ref().map_or(String::new(), |across| format!(" and {across}"));
    let others: Vec<String> =
        table.at.iter().map(|one| format!("{}={}", one.dimension, one.value)).collect();
    let place =
        if others.is_empty() { String::new() } else { format!(", where {}", others.join(", ")) };
    let better = if measure.is_rate() { "more" } else { "less" };
    format!("{name}, by {}{across}{place} ({better} is better)", table.compared)
}

fn is_bandwidth(table: &Table) -> bool {
    table.measure.unit() == "bytes/s"
}

/// A figure as the table shows it.
fn shown(table: &Table, value: f64) -> String {
    match table.measure.unit() {
        "ns" => human::time(value),
        "bytes/s" => mebibytes(value),
        _ => human::count(value),
    }
}

/// The interval of a mean; empty without one.
fn ends(table: &Table, row: &Row) -> String {
    let Some(mean) = row.mean().filter(|mean| mean.low.is_finite() && mean.high.is_finite()) else {
        return String::new();
    };
    let (low, high) = (mean.low.max(0.0), mean.high);
    let estimated = Estimated { value: mean.value, interval: Some((low, high)) };
    match table.measure.unit() {
        "ns" => interval(&estimated, human::TIMES),
        "bytes/s" => interval(&in_mebibytes(estimated), PLAIN),
        _ => interval(&estimated, human::COUNTS),
    }
}

/// The mean, or the reason for its absence.
fn mean(table: &Table, row: &Row) -> String {
    match &row.reading {
        Reading::Measured(measured) => shown(table, measured.summary.mean.value),
        Reading::Failed(_) => "failed".into(),
        Reading::Absent => "none".into(),
        Reading::Missing => "-".into(),
    }
}

fn sign(row: &Row) -> char {
    match row.standing {
        Some(Standing::Best) => '*',
        Some(Standing::Tied) => '=',
        Some(Standing::Undecided) => '?',
        Some(Standing::Behind) | None => ' ',
    }
}

fn word(row: &Row) -> &'static str {
    match row.standing {
        Some(Standing::Best) => "best",
        Some(Standing::Tied) => "tie",
        Some(Standing::Undecided) => "?",
        Some(Standing::Behind) | None => "",
    }
}

fn cut(label: &str) -> String {
    printable(&shorten(label, LABEL_MAX))
}

/// Width of the first column.
fn label_width<'a>(labels: impl Iterator<Item = &'a str>) -> usize {
    labels.map(|label| cut(label).chars().count()).max().unwrap_or(0).max("TOTAL".len())
}

/// Means by both dimensions, with their intervals below; wide matrices continue in further blocks.
fn matrix(table: &Table, style: &Style) -> String {
    let Some(across) = &table.across else { return String::new() };
    let rows = table.columns.first().map_or(&[][..], |column| &column.rows);
    let corner = format!("{} \\ {across}", table.compared);
    let labels = rows.iter().map(|row| row.value.as_str()).chain([corner.as_str()]);
    let width = label_width(labels);
    let fits = (style.width.saturating_sub(width) / CELL).max(1);
    let mut out = String::new();
    for columns in table.columns.chunks(fits) {
        let mut head = format!("{:<width$}", cut(&corner));
        columns.iter().for_each(|column| head += &format!("{:>CELL$}", cut(&column.value) + " "));
        out += &(style.bold(head.trim_end()) + "\n");
        for (index, row) in rows.iter().enumerate() {
            let (mut means, mut intervals) =
                (format!("{:<width$}", cut(&row.value)), " ".repeat(width));
            for row in columns.iter().map(|column| &column.rows[index]) {
                means += &format!("{:>CELL$}", format!("{}{}", mean(table, row), sign(row)));
                intervals += &format!("{:>CELL$}", ends(table, row) + " ");
            }
            out += &(means.trim_end().to_owned() + "\n");
            if !intervals.trim().is_empty() {
                out += &(style.dim(intervals.trim_end()) + "\n");
            }
        }
    }
    out
}

/// A line for each cell; cells that are compared stand together.
fn lines(table: &Table, repeats: usize, style: &Style) -> String {
    let has_total = table.measure.is_rate() && repeats > 1;
    let headings = table.columns.iter().map(|column| heading(table, column));
    let headings: Vec<String> = headings.collect();
    let rows = table.columns.iter().flat_map(|column| &column.rows);
    let labels = rows.map(|row| row.value.as_str()).chain([table.compared.as_str()]);
    let layout = Layout::new(label_width(labels) + 2, repeats, has_total, style.width);
    let reference = match &table.baseline {
        Baseline::Value(_) => "ratio".to_owned(),
        baseline => format!("of {}", baseline.name()),
    };
    let mut out = style.bold(&layout.head(&table.compared, &reference)) + "\n";
    for (column, heading) in table.columns.iter().zip(&headings) {
        if !heading.is_empty() {
            out += &(heading.clone() + "\n");
        }
        let indent = if heading.is_empty() { "" } else { "  " };
        for row in &column.rows {
            out += &layout.line(&format!("{indent}{}", cut(&row.value)), &parts(table, row));
        }
        if let Some(totals) = column.totals(repeats).filter(|_| has_total) {
            let sum = Some(shown(table, totals.iter().sum()));
            let values = totals.into_iter().map(|total| shown(table, total)).collect();
            let percent = column.total_share.as_ref().map_or(String::new(), percent);
            let parts = Parts { values, sum, percent, ..Parts::default() };
            out += &style.dim(&layout.line(&format!("{indent}TOTAL"), &parts));
        }
    }
    out
}

fn heading(table: &Table, column: &Column) -> String {
    table.across.as_ref().map_or(String::new(), |across| format!("{across}={}", column.value))
}

/// The fields of a line after its label.
#[derive(Default)]
struct Parts {
    values: Vec<String>,
    sum: Option<String>,
    mean: String,
    ends: String,
    percent: String,
    mark: &'static str,
}

fn parts(table: &Table, row: &Row) -> Parts {
    let values = row.values();
    Parts {
        values: values.iter().map(|value| shown(table, *value)).collect(),
        sum: (!values.is_empty()).then(|| shown(table, values.iter().sum())),
        mean: mean(table, row),
        ends: ends(table, row),
        percent: row.share.as_ref().map_or(String::new(), percent),
        mark: word(row),
    }
}

/// "54.0 %"; "~99.2 %" where chance explains the difference from the baseline.
fn percent(share: &Estimated) -> String {
    let mark = if is_chance(share) { "~" } else { "" };
    format!("{mark}{:.1} %", share.value * 100.0)
}

fn is_chance(share: &Estimated) -> bool {
    share.interval.is_some_and(|(low, high)| low <= 1.0 && high >= 1.0)
}

/// The columns of a table.
struct Layout {
    label: usize,
    /// The number of repeats shown: all, or none when they do not fit.
    repeats: usize,
    has_total: bool,
}

impl Layout {
    fn new(label: usize, repeats: usize, has_total: bool, width: usize) -> Layout {
        let total = if has_total { MEAN } else { 0 };
        let others = label + total + MEAN + INTERVAL + PERCENT + MARK;
        let fits = width.saturating_sub(others) / REPEAT >= repeats;
        Layout { label, repeats: if fits && repeats > 1 { repeats } else { 0 }, has_total }
    }

    fn head(&self, compared: &str, of: &str) -> String {
        let parts = Parts {
            values: (1..=self.repeats).map(|number| number.to_string()).collect(),
            sum: Some("TOTAL".into()),
            mean: "mean".into(),
            ends: "95 % interval".into(),
            percent: of.into(),
            mark: "",
        };
        self.line(&cut(compared), &parts).trim_end().to_owned()
    }

    fn line(&self, label: &str, parts: &Parts) -> String {
        let mut out = format!("{label:<0$}", self.label);
        for index in 0..self.repeats {
            let value = parts.values.get(index).map_or("", String::as_str);
            out += &format!("{value:>REPEAT$}");
        }
        if self.has_total {
            out += &format!("{:>MEAN$}", parts.sum.as_deref().unwrap_or_default());
        }
        let Parts { mean, ends, percent, mark, .. } = parts;
        out += &format!("{mean:>MEAN$}{ends:>INTERVAL$}{percent:>PERCENT$} {mark}");
        out.trim_end().to_owned() + "\n"
    }
}

/// The meaning of the marks.
fn legend(conclusion: &Conclusion, repeats: usize, style: &Style) -> String {
    let Some(table) = conclusion.tables.first() else { return String::new() };
    let compared = &table.compared;
    let place = match &table.across {
        Some(across) => format!(" at each {across}"),
        None => String::new(),
    };
    let mut text = format!("Best (*): the best {compared}{place}, as measured. ");
    text += match repeats {
        1 => {
            "Each cell was run once, so differences cannot be told from chance (?): use --repeat 3 \
             or more."
        }
        _ => {
            "Tie (=): no difference from the best is shown; it may as well be the best. The others \
             are behind it."
        }
    };
    if repeats > 1 {
        let several = conclusion.tables.iter().any(|other| other.measure != table.measure);
        let of_figure = if several { "of a figure " } else { "" };
        text += &format!(
            " The best and its ties {of_figure}hold the true best everywhere in 95 of 100 sweeps \
             (comparisons: {}). Intervals are of each mean alone, by {repeats} runs.",
            conclusion.tables.iter().map(|table| table.comparisons).max().unwrap_or(0)
        );
    }
    text += &baseline_legend(conclusion);
    style.paragraph(&text, 0)
}

/// The meaning of percentages of one value.
fn baseline_legend(conclusion: &Conclusion) -> String {
    let Some(table) = conclusion.tables.first() else { return String::new() };
    let mut text = match &table.baseline {
        Baseline::Value(value) => format!(" Ratio: the mean as a share of that of {value}."),
        _ => String::new(),
    };
    let columns = || conclusion.tables.iter().flat_map(|table| &table.columns);
    let rows = columns().flat_map(|column| &column.rows).filter_map(|row| row.share);
    if rows.chain(columns().filter_map(|column| column.total_share)).any(|s| is_chance(&s)) {
        text += " ~: the 95 % interval of the ratio holds 100 %, so no difference is shown.";
    }
    text
}
