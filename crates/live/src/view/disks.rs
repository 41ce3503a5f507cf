//! The table of disks. Columns that do not fit are left out, the least important first.

use super::Palette;
use super::layout::{cut, fitting};
use crate::{DiskRates, Rates, Row, Screen};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use record::human;

/// Width of the column of names.
const NAME: std::ops::RangeInclusive<usize> = 12..=30;
/// Width of the bar beside the busy share.
const BAR: usize = 10;

/// A column.
struct Column {
    kind: Kind,
    /// The heading above it and its neighbours.
    group: &'static str,
    name: &'static str,
    /// Its name without a line of group headings.
    alone: &'static str,
    width: usize,
    /// Columns of the highest rank are dropped first.
    rank: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reads,
    ReadBytes,
    ReadTime,
    Writes,
    WriteBytes,
    WriteTime,
    Flushes,
    Queue,
    Busy,
    Bar,
    Share,
}

/// All columns, from left to right.
fn columns(has_members: bool) -> Vec<Column> {
    let column =
        |kind, group, name, alone, width, rank| Column { kind, group, name, alone, width, rank };
    let mut columns = vec![
        column(Kind::Reads, "reads", "IO/s", "rd/s", 7, 4),
        column(Kind::ReadBytes, "reads", "B/s", "rd B/s", 9, 1),
        column(Kind::ReadTime, "reads", "latency", "rd lat", 8, 5),
        column(Kind::Writes, "writes", "IO/s", "wr/s", 8, 4),
        column(Kind::WriteBytes, "writes", "B/s", "wr B/s", 9, 1),
        column(Kind::WriteTime, "writes", "latency", "wr lat", 8, 6),
        column(Kind::Flushes, "", "flush/s", "flush/s", 9, 9),
        column(Kind::Queue, "", "queue", "queue", 7, 7),
        column(Kind::Busy, "", "busy", "busy", 6, 2),
        column(Kind::Bar, "", "", "", BAR + 1, 8),
    ];
    if has_members {
        columns.push(column(Kind::Share, "share", "reads", "share", 9, 3));
    }
    columns
}

/// The heading of the names: the range of visible rows if not all are.
fn range(screen: &Screen, shown: usize) -> String {
    let rows = screen.stack.rows.len();
    let last = (screen.cursor.first + shown).min(rows);
    match shown < rows {
        true => format!("{}–{last} of {rows}", screen.cursor.first + 1),
        false => "device".to_owned(),
    }
}

/// The header in `heads` lines, and `rows` rows.
pub(crate) fn lines(
    screen: &Screen,
    rates: &Rates,
    rows: usize,
    heads: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    if screen.stack.rows.is_empty() {
        let text = "  no block device: in memory, on the network, or unknown";
        return vec![palette.dim(text).into()];
    }
    let widest = screen.stack.rows.iter().map(label_width).max().unwrap_or(0);
    let narrowest = *NAME.start();
    let mut name = widest.clamp(narrowest, *NAME.end()) + 1;
    // Long names are cut to a third of the line before columns are dropped.
    name = name.min((width / 3).max(narrowest));
    let columns =
        fitting(columns(screen.stack.has_members()), width.saturating_sub(name), |column| {
            (column.width, column.rank)
        });
    let mut lines = Vec::new();
    if heads > 1 {
        lines.push(groups(&columns, name, palette));
    }
    lines.push(names(&columns, &range(screen, rows), name, heads > 1, palette));
    for (at, row) in screen.stack.rows.iter().enumerate().skip(screen.cursor.first).take(rows) {
        let selected = at == screen.cursor.selected && screen.stack.rows.len() > 1;
        let mut spans = label(row, name, selected, palette);
        match rates.disks.get(&row.name) {
            Some(disk) => {
                let share = screen.stack.share_of_reads(row, rates);
                spans.extend(columns.iter().map(|column| cell(column, disk, share, palette)));
            }
            None => spans.push(palette.warn(" not there")),
        }
        lines.push(spans.into());
    }
    lines
}

/// The headings of groups, centred over their columns.
fn groups(columns: &[Column], name: usize, palette: Palette) -> Line<'static> {
    let mut text = " ".repeat(name);
    for group in columns.chunk_by(|one, next| one.group == next.group) {
        let width: usize = group.iter().map(|column| column.width).sum();
        match group[0].group {
            "" => text += &" ".repeat(width),
            "share" => text += &format!("{:>width$}", "share of"),
            title => {
                let rule = width.saturating_sub(title.len() + 4);
                let (left, right) = (rule / 2, rule - rule / 2);
                text += &format!("  {} {title} {}", "─".repeat(left), "─".repeat(right));
            }
        }
    }
    palette.dim(text).into()
}

/// The names of the columns.
fn names(
    columns: &[Column],
    range: &str,
    name: usize,
    has_groups: bool,
    palette: Palette,
) -> Line<'static> {
    let mut text = format!("{:<name$}", format!("  {range}"));
    for column in columns {
        let title = if has_groups { column.name } else { column.alone };
        text += &format!("{title:>width$}", width = column.width);
    }
    palette.dim(text).into()
}

/// The description of a device, with the devices below it that are shown elsewhere.
fn described(row: &Row) -> String {
    match row.also_on.is_empty() {
        true => row.what.clone(),
        false => format!("{} on {}", row.what, row.also_on.join(" ")).trim_start().to_owned(),
    }
}

fn label_width(row: &Row) -> usize {
    let what = described(row).chars().count();
    2 + 2 * row.follows.len() + row.name.chars().count() + if what > 0 { what + 1 } else { 0 }
}

/// The tree lines, name and description of a row, cut or filled to a width.
fn label(row: &Row, width: usize, selected: bool, palette: Palette) -> Vec<Span<'static>> {
    let mut lead = if selected { "▸ " } else { "  " }.to_owned();
    for (level, follows) in row.follows.iter().enumerate() {
        lead += match (level + 1 == row.follows.len(), follows) {
            (true, true) => "├╴",
            (true, false) => "└╴",
            (false, true) => "│ ",
            (false, false) => "  ",
        };
    }
    let what = described(row);
    let room = width.saturating_sub(lead.chars().count() + 1);
    let name = cut(&row.name, room);
    let rest = room.saturating_sub(name.chars().count() + 1);
    let what = if rest >= 2 { cut(&what, rest) } else { String::new() };
    let used = lead.chars().count() + name.chars().count() + 1 + what.chars().count();
    let weight = if selected { Modifier::BOLD } else { Modifier::empty() };
    vec![
        palette.dim(lead),
        Span::styled(name, Style::new().add_modifier(weight)),
        Span::raw(" "),
        palette.dim(what),
        Span::raw(" ".repeat(width.saturating_sub(used))),
    ]
}

fn cell(column: &Column, disk: &DiskRates, share: Option<f64>, palette: Palette) -> Span<'static> {
    let (width, busy) = (column.width, disk.busy_percent);
    let figure = |value: f64, text: String, style: Style| {
        // A zero is dim, so that activity stands out.
        if value > 0.0 { (text, style) } else { (text, palette.dimmed()) }
    };
    let count = |rate: f64, style| figure(rate, human::count(rate), style);
    let size = |rate: f64, style| figure(rate, human::size(rate), style);
    let (text, style) = match column.kind {
        Kind::Reads => count(disk.reads_per_second, palette.read()),
        Kind::ReadBytes => size(disk.read_bytes_per_second, palette.read()),
        Kind::ReadTime => latency(disk.read_ms, disk.counted.read_ios, palette),
        Kind::Writes => count(disk.writes_per_second, palette.write()),
        Kind::WriteBytes => size(disk.write_bytes_per_second, palette.write()),
        Kind::WriteTime => latency(disk.write_ms, disk.counted.write_ios, palette),
        Kind::Flushes => count(disk.flushes_per_second, Style::new()),
        Kind::Queue => count(disk.queue, Style::new()),
        Kind::Busy => figure(busy, format!("{busy:.0} %"), palette.load(busy)),
        Kind::Bar => (bar(busy), palette.load(busy)),
        Kind::Share => match share {
            Some(share) => (format!("{share:.0} %"), palette.read()),
            None => (String::new(), Style::new()),
        },
    };
    Span::styled(format!("{text:>width$}"), style)
}

/// The kernel counts whole milliseconds: for a few short I/Os only an upper bound is known.
fn latency(mean_ms: Option<f64>, ios: u64, palette: Palette) -> (String, Style) {
    match mean_ms {
        None => ("–   ".into(), palette.dimmed()),
        Some(ms) if ms > 0.0 => (human::time(ms * 1e6), Style::new()),
        Some(_) => match 1000.0 / ios.max(1) as f64 {
            us if us > 999.0 => ("<1 ms".into(), palette.dimmed()),
            us => (format!("<{:.0} µs", us.ceil()), palette.dimmed()),
        },
    }
}

/// A bar with a resolution of an eighth of a character.
pub(crate) fn bar(percent: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (percent.clamp(0.0, 100.0) / 100.0 * (BAR * 8) as f64).round() as usize;
    let text = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    format!(" {text:<BAR$}")
}
