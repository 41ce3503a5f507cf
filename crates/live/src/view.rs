//! The picture: sections from top to bottom, each as high as its lines, least important ones left
//! out where the terminal is small.

pub(crate) mod cpu;
pub(crate) mod curves;
pub(crate) mod disks;
mod machine;
mod palette;

pub use palette::Palette;

use crate::Screen;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

/// Rows of disks that come before anything but a line each for CPUs, memory and pressure.
const DISKS_FIRST: usize = 4;
/// Lines that curves need.
const CURVES_MIN: usize = 4;
/// Lines that curves take at most.
const CURVES_MAX: usize = 17;

/// Draws what is on the screen into the whole of the frame.
pub fn draw(frame: &mut Frame<'_>, screen: &mut Screen, palette: Palette) {
    let title_and_footer =
        title_and_footer(frame, |width| title(screen, width, palette), |_| footer(screen, palette));
    let Some((_, room)) = title_and_footer else { return };
    if screen.help {
        draw_lines(frame, 1, truncated(help(palette), room));
    } else {
        sections(frame, screen, room, palette);
    }
}

/// Draws the first line and the last, of lines made for a width. The width, and how many lines are
/// left between them; `None`: there is no room for both.
pub(crate) fn title_and_footer(
    frame: &mut Frame<'_>,
    first: impl FnOnce(usize) -> Line<'static>,
    last: impl FnOnce(usize) -> Line<'static>,
) -> Option<(usize, usize)> {
    let area = frame.area();
    frame.render_widget(Clear, area);
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    if width == 0 || height == 0 {
        return None;
    }
    draw_lines(frame, 0, vec![first(width)]);
    let room = height.checked_sub(2)?;
    draw_lines(frame, height - 1, vec![last(width)]);
    Some((width, room))
}

/// Draws lines from a row of the terminal on; what does not fit is cut.
pub(crate) fn draw_lines(frame: &mut Frame<'_>, row: usize, lines: Vec<Line<'_>>) {
    let area = frame.area();
    let height = lines.len().min(usize::from(area.height).saturating_sub(row));
    // Both fit: they are within the height of the terminal.
    let place = Rect { y: row as u16, height: height as u16, ..area };
    frame.render_widget(Paragraph::new(lines), place);
}

/// How many lines each section has.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heights {
    headings: bool,
    disks: usize,
    cores: usize,
    paging: bool,
    curves: usize,
}

impl Heights {
    /// Shares out `room` lines after `fixed` are taken, in order of worth.
    fn share_out(room: usize, fixed: usize, disks: usize, cores: usize) -> Heights {
        let mut left = room.saturating_sub(fixed);
        let mut heights = Heights::default();
        let mut take = |wanted: usize| {
            let taken = wanted.min(left);
            left -= taken;
            taken
        };
        heights.disks = take(disks.min(DISKS_FIRST));
        heights.paging = take(1) == 1;
        let some_cores = take(cores.min(2));
        heights.disks += take(disks - heights.disks);
        heights.cores = some_cores + take(cores - some_cores);
        heights.headings = left >= 3;
        left -= if heights.headings { 3 } else { 0 };
        heights.curves = if left >= CURVES_MIN { left.min(CURVES_MAX) } else { 0 };
        heights
    }
}

fn sections(frame: &mut Frame<'_>, screen: &mut Screen, room: usize, palette: Palette) {
    let width = usize::from(frame.area().width);
    let Some(rates) = screen.rates.clone() else {
        let text = "  the first figures come after one interval";
        draw_lines(frame, 1, truncated(vec![palette.dim(text).into()], room));
        return;
    };
    let arrays = machine::arrays(&rates, width, palette);
    let pressure = machine::pressure(&rates, width, palette);
    let disk_heads = if room >= 12 { 2 } else { 1 };
    // CPUs and memory take a line each.
    let fixed = disk_heads + arrays.len() + 2 + pressure.len();
    let rows = screen.stack.rows.len().max(1);
    let heights =
        Heights::share_out(room, fixed, rows, cpu::lines_wanted(rates.cpus.len(), width, room));
    screen.scroll_to(heights.disks);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let heading = |lines: &mut Vec<Line<'_>>, text: &str, key: Vec<Span<'static>>| {
        if heights.headings {
            lines.push(palette.heading(text, key, width));
        }
    };
    heading(&mut lines, "Disks", Vec::new());
    lines.extend(disks::lines(screen, &rates, heights.disks, disk_heads, width, palette));
    lines.extend(arrays);
    heading(&mut lines, "CPU", cpu::key(palette));
    lines.push(cpu::summary(&rates, width, palette));
    lines.extend(cpu::cores(&rates, heights.cores, width, palette));
    heading(&mut lines, "Memory and waiting", Vec::new());
    lines.push(machine::memory(&rates, width, palette));
    lines.extend(machine::paging(&rates, width, palette).filter(|_| heights.paging));
    lines.extend(pressure);
    lines.truncate(room);
    let after = 1 + lines.len();
    draw_lines(frame, 1, lines);
    if heights.curves > 0 {
        draw_lines(frame, after, curves::lines(screen, heights.curves, width, palette));
    }
}

pub(crate) fn truncated(mut lines: Vec<Line<'static>>, room: usize) -> Vec<Line<'static>> {
    lines.truncate(room);
    lines
}

/// What is watched at the left; when and how often at the right.
fn title(screen: &Screen, width: usize, palette: Palette) -> Line<'static> {
    let title = &screen.title;
    let state = if screen.paused { "paused" } else { title.pace.as_str() };
    let right = format!("{}  {state}", screen.clock);
    let left = format!("{}  {}", title.program, title.what);
    let room = width.saturating_sub(right.chars().count() + 2);
    let gap = width.saturating_sub(right.chars().count() + left.chars().count().min(room));
    let what: String =
        title.what.chars().take(room.saturating_sub(title.program.len() + 2)).collect();
    Line::from(vec![
        palette.bold(title.program.clone()),
        Span::raw("  "),
        Span::raw(what),
        Span::raw(" ".repeat(gap)),
        if screen.paused { palette.warn(right) } else { palette.dim(right) },
    ])
}

fn footer(screen: &Screen, palette: Palette) -> Line<'static> {
    if let Some(note) = &screen.note {
        return palette.warn(format!(" {note}")).into();
    }
    let mut spans = Vec::new();
    for (key, meaning) in [("q", "quit"), ("↑↓", "select"), ("p", "pause"), ("?", "help")] {
        spans.push(palette.bold(format!(" {key}")));
        spans.push(palette.dim(format!(" {meaning} ")));
    }
    spans.into()
}

fn help(palette: Palette) -> Vec<Line<'static>> {
    const TEXT: &[(&str, &str)] = &[
        ("q  Esc  Ctrl-C", "quit"),
        ("↑ ↓  k j", "select a disk; its curves are shown below"),
        ("PgUp PgDn  g G", "a page; to the first, to the last"),
        ("p  space", "pause the picture; sampling and the log go on"),
        ("Ctrl-L  Ctrl-Z", "draw anew; suspend"),
        ("", ""),
        ("IO/s  B/s", "completed a second; 1 KiB is 1024 bytes"),
        ("latency", "mean of those completed, waiting in the queue included"),
        ("queue", "mean number of I/Os waiting or being served"),
        ("busy", "share of the time with I/O in flight; a disk that"),
        ("", "serves many at once can be 100 % busy and not full"),
        ("share", "which leg of a mirror served how much of the reads"),
        ("iowait", "idle while I/O was outstanding"),
        ("refaults", "read again after the page cache had dropped it"),
        ("I/O, memory, CPU", "time some task waited for it; all: every task did"),
        ("", ""),
        ("", "docs/WATCH.md says where each figure comes from"),
    ];
    let line = |(left, right): &(&'static str, &'static str)| {
        Line::from(vec![palette.bold(format!("  {left:<18}")), Span::raw(*right)])
    };
    TEXT.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
