//! The table of disks. Columns that do not fit are left out, the least telling ones first.

use super::Palette;
use crate::{DiskRates, Rates, Row, Screen, units};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// Characters of the column of names.
const NAME: std::ops::RangeInclusive<usize> = 12..=30;
/// Characters of the bar beside the busy share.
const BAR: usize = 10;

/// A column.
struct Column {
    kind: Kind,
    /// What stands above it and its neighbours.
    group: &'static str,
    name: &'static str,
    /// Its name where there is no line for groups.
    alone: &'static str,
    width: usize,
    /// Which columns go first where there is no room: those with the highest.
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

/// All of them, from left to right.
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

/// Those that fit.
fn fitting(has_members: bool, room: usize) -> Vec<Column> {
    let mut columns = columns(has_members);
    while columns.iter().map(|column| column.width).sum::<usize>() > room {
        let Some(worst) = columns.iter().map(|column| column.rank).max() else { break };
        columns.retain(|column| column.rank != worst);
    }
    columns
}

/// What stands above the names: which rows are shown, where not all are.
fn range(screen: &Screen, shown: usize) -> String {
    let rows = screen.stack.rows.len();
    let last = (screen.cursor.first + shown).min(rows);
    match shown < rows {
        true => format!("{}–{last} of {rows}", screen.cursor.first + 1),
        false => "device".to_owned(),
    }
}

/// The names of the columns in so many lines, and so many rows.
pub(crate) fn lines(
    screen: &Screen,
    rates: &Rates,
    rows: usize,
    heads: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    if screen.stack.rows.is_empty() {
        let text = "  no block device: it is in memory, on the network, or not told";
        return vec![palette.dim(text).into()];
    }
    let widest = screen.stack.rows.iter().map(label_width).max().unwrap_or(0);
    let narrowest = *NAME.start();
    let mut name = widest.clamp(narrowest, *NAME.end()) + 1;
    // Long names give way before figures do, down to a third of the line.
    name = name.min((width / 3).max(narrowest));
    let columns = fitting(screen.stack.has_members(), width.saturating_sub(name));
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

/// The names of groups, over the middle of their columns.
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

/// The names of columns; without groups above them each says whose it is.
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

/// What a device is, and what it stands on that is shown elsewhere.
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

/// The lines that lead to a row, its name and what it is, cut or filled to a width.
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

/// At most so many characters, the last one "…" where some are missing.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(room.saturating_sub(1)).collect();
    if room > 0 {
        cut.push('…');
    }
    cut
}

fn cell(column: &Column, disk: &DiskRates, share: Option<f64>, palette: Palette) -> Span<'static> {
    let width = column.width;
    let (text, style) = match column.kind {
        Kind::Reads => figure(
            units::count(disk.reads_per_second),
            disk.reads_per_second,
            palette.read(),
            palette,
        ),
        Kind::ReadBytes => {
            let rate = disk.read_bytes_per_second;
            figure(units::bytes(rate), rate, palette.read(), palette)
        }
        Kind::ReadTime => latency(disk.read_ms, disk.counted.read_ios, palette),
        Kind::Writes => figure(
            units::count(disk.writes_per_second),
            disk.writes_per_second,
            palette.write(),
            palette,
        ),
        Kind::WriteBytes => {
            let rate = disk.write_bytes_per_second;
            figure(units::bytes(rate), rate, palette.write(), palette)
        }
        Kind::WriteTime => latency(disk.write_ms, disk.counted.write_ios, palette),
        Kind::Flushes => {
            let rate = disk.flushes_per_second;
            figure(units::count(rate), rate, Style::new(), palette)
        }
        Kind::Queue => figure(queue(disk.queue), disk.queue, Style::new(), palette),
        Kind::Busy => {
            let busy = disk.busy_percent;
            figure(format!("{busy:.0} %"), busy, palette.load(busy), palette)
        }
        Kind::Bar => (bar(disk.busy_percent), palette.load(disk.busy_percent)),
        Kind::Share => match share {
            Some(share) => (format!("{share:.0} %"), palette.read()),
            None => (String::new(), Style::new()),
        },
    };
    Span::styled(format!("{text:>width$}"), style)
}

/// Nothing is dim, so that what happens stands out.
fn figure(text: String, value: f64, style: Style, palette: Palette) -> (String, Style) {
    if value > 0.0 { (text, style) } else { (text, palette.dimmed()) }
}

/// Up to 9.99 with two decimals: below one the second one tells most.
fn queue(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => units::count(v),
    }
}

/// The kernel adds up whole milliseconds: of a few short I/Os it tells only that they were shorter.
fn latency(mean_ms: Option<f64>, ios: u64, palette: Palette) -> (String, Style) {
    match mean_ms {
        None => ("–   ".into(), palette.dimmed()),
        Some(ms) if ms > 0.0 => (units::time_ms(ms), Style::new()),
        Some(_) => match 1000.0 / ios.max(1) as f64 {
            us if us > 999.0 => ("<1 ms".into(), palette.dimmed()),
            us => (format!("<{:.0} µs", us.ceil()), palette.dimmed()),
        },
    }
}

/// Eighths of a character make a share of the bar's width.
pub(crate) fn bar(percent: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (percent.clamp(0.0, 100.0) / 100.0 * (BAR * 8) as f64).round() as usize;
    let text = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    format!(" {text:<BAR$}")
}
