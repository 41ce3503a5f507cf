//! The figures with their intervals, as rows for a page, for Markdown and for CSV.

use crate::figures::in_unit;
use crate::judged_set::JudgedSet;
use judge::{TableFigure, TableRow, table_rows};
use maud::{Markup, html};

/// The most rows on a page; the CSV has all.
const ROWS_MAX: usize = 400;

/// Names of the columns of figures, in their order.
const COLUMNS: [&str; 7] = ["IOPS", "bandwidth", "mean", "p50", "p99", "p99.9", "max"];

/// Rows of figures, each with the name of its set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// There are several sets, so each row names its set.
    pub is_of_several: bool,
    /// (name of the judged set, its row).
    pub rows: Vec<(String, TableRow)>,
}

/// The rows of all sets; rows of one job stand together.
pub fn rows(judged_sets: &[JudgedSet]) -> Table {
    let mut rows: Vec<(String, TableRow)> = Vec::new();
    for judged_set in judged_sets {
        for row in table_rows(&judged_set.set) {
            let same = |(_, known): &(String, TableRow)| {
                (&known.job, &known.operation, known.latency)
                    == (&row.job, &row.operation, row.latency)
            };
            let at = rows.iter().rposition(same).map_or(rows.len(), |index| index + 1);
            rows.insert(at, (judged_set.name.clone(), row));
        }
    }
    Table { is_of_several: judged_sets.len() > 1, rows }
}

/// A figure in the unit that suits it.
pub(super) fn value(figure: &TableFigure) -> String {
    in_unit(figure.value, figure.unit)
}

/// "92.1 k to 96.0 k"; of a figure that has none, why in short.
fn interval(figure: &TableFigure) -> Option<String> {
    match (&figure.interval, &figure.reason) {
        (Some((low, high)), _) => {
            Some(format!("{} to {}", in_unit(*low, figure.unit), in_unit(*high, figure.unit)))
        }
        (None, Some(reason)) if reason.starts_with("too few") => Some("too few I/Os".into()),
        (None, Some(_)) => Some("too short".into()),
        (None, None) => None,
    }
}

impl Table {
    fn has_runs(&self) -> bool {
        self.rows.iter().any(|(_, row)| row.runs > 1)
    }

    fn heads(&self) -> Vec<&'static str> {
        let several = self.is_of_several.then_some("run");
        let runs = self.has_runs().then_some("runs");
        several.into_iter().chain(["job", "I/O"]).chain(runs).chain(["latency"]).collect()
    }

    fn labels(&self, (judged_set, row): &(String, TableRow)) -> Vec<String> {
        let several = self.is_of_several.then(|| judged_set.clone());
        let runs = self.has_runs().then(|| row.runs.to_string());
        let job = [row.job.clone(), row.operation.name().to_owned()];
        several.into_iter().chain(job).chain(runs).chain([row.latency.to_owned()]).collect()
    }

    /// As a table in Markdown (GitHub's), each figure followed by its interval.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heads: Vec<&str> = self.heads().into_iter().chain(COLUMNS).collect();
        let mut out = line(heads.iter().map(|head| (*head).to_owned()).collect());
        out += &line(heads.iter().map(|head| rule(head).to_owned()).collect());
        for entry in &self.rows {
            let labels = self.labels(entry).into_iter().map(|label| markdown_text(&label));
            let cell = |name: &&str| match figure(&entry.1, name) {
                None => "–".to_owned(),
                Some(found) => match interval(found) {
                    Some(interval) => format!("{} ({interval})", value(found)),
                    None => value(found),
                },
            };
            out += &line(labels.chain(COLUMNS.iter().map(cell)).collect());
        }
        out
    }

    /// As CSV (RFC 4180), one row for each figure: value and interval in basic units, so that no
    /// program has to read units.
    pub fn csv(&self) -> String {
        let mut out = "run,job,io,latency,runs,ios,figure,unit,value,low,high\r\n".to_owned();
        for (judged_set, row) in &self.rows {
            for figure in &row.figures {
                let ends = figure.interval.map(|(low, high)| [low, high].map(number));
                let [low, high] = ends.unwrap_or_default();
                let cells = [
                    judged_set.clone(),
                    row.job.clone(),
                    row.operation.name().into(),
                    row.latency.into(),
                    row.runs.to_string(),
                    row.count.to_string(),
                    figure.name.into(),
                    figure.unit.into(),
                    number(figure.value),
                    low,
                    high,
                ];
                out += &(cells.map(|cell| csv_text(&cell)).join(",") + "\r\n");
            }
        }
        out
    }
}

fn rule(head: &str) -> &'static str {
    if COLUMNS.contains(&head) { "---:" } else { "---" }
}

fn figure<'a>(row: &'a TableRow, name: &str) -> Option<&'a TableFigure> {
    row.figures.iter().find(|figure| figure.name == name)
}

/// Six digits: more than any measurement has.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 1e5 => 0,
        v if v >= 1.0 => 3,
        _ => 6,
    };
    format!("{value:.digits$}")
}

/// Text that Markdown does not take for its own, nor as the end of a cell.
fn markdown_text(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' | '&' | '~' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A field, in quotes where it needs them. One that a spreadsheet would take for a formula is made
/// text.
fn csv_text(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

fn has_requests(table: &Table) -> bool {
    table.rows.iter().any(|(_, row)| row.operation.request().is_some())
}

/// The table of a page.
pub(super) fn markup(table: &Table) -> Markup {
    html! {
        div class="table-room" tabindex="0" role="group" aria-label="Figures with their intervals" {
            table {
                thead { tr {
                    @for head in table.heads() { th scope="col" { (head) } }
                    @for column in COLUMNS { th scope="col" class="number" { (column) } }
                } }
                tbody {
                    @for entry in table.rows.iter().take(ROWS_MAX) {
                        tr {
                            @for label in table.labels(entry) { th scope="row" { (label) } }
                            @for column in COLUMNS { (cell(figure(&entry.1, column))) }
                        }
                    }
                }
            }
        }
        @if table.rows.len() > ROWS_MAX {
            p { "The first " (ROWS_MAX) " of " (table.rows.len()) " rows; all are in the CSV form." }
        }
        p class="aside" {
            "Below each figure: its 95 % interval. p99: 99 of 100 I/Os took no longer. Latency \
             “completion”: from submission to completion; “response”: from the scheduled start."
            @if has_requests(table) {
                " Requests: from sending to the “first byte” of the answer, or to the “whole” of it."
            }
        }
    }
}

fn cell(figure: Option<&TableFigure>) -> Markup {
    let Some(figure) = figure else { return html! { td class="number" { "–" } } };
    html! {
        td class="number" title=[figure.reason.as_deref()] {
            (value(figure))
            @if let Some(interval) = interval(figure) { span class="interval" { (interval) } }
        }
    }
}
