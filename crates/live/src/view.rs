//! The view of a machine, in sections from top to bottom. On a small terminal the least important
//! sections are left out.

pub(crate) mod cpu;
pub(crate) mod curves;
pub(crate) mod disks;
pub(crate) mod layers;
pub(crate) mod layout;
mod machine;
mod palette;

pub use palette::Palette;

use self::layout::{draw_lines, title_and_footer, truncated};
use crate::Screen;
use crate::layers::LayersNow;
use ratatui::Frame;
use ratatui::text::{Line, Span};

/// Rows of disks that take precedence over everything but a line each for CPUs, memory and
/// pressure.
const DISKS_FIRST: usize = 4;
/// Most rows of layers of I/Os.
const LAYERS_MAX: usize = 6;
/// Most rows of processes.
const PROCESSES_MAX: usize = 6;
/// Fewest lines of curves.
const CURVES_MIN: usize = 4;
/// Most lines of curves.
const CURVES_MAX: usize = 17;

/// Draws the view into the frame.
pub fn draw(frame: &mut Frame<'_>, screen: &mut Screen, palette: Palette) {
    let title_and_footer =
        title_and_footer(frame, |width| title(screen, width, palette), |_| footer(screen, palette));
    let Some((_, room)) = title_and_footer else { return };
    if screen.help {
        draw_lines(frame, 1, truncated(layout::help(HELP, palette), room));
    } else {
        sections(frame, screen, room, palette);
    }
}

/// The number of lines of each section.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heights {
    headings: bool,
    disks: usize,
    cores: usize,
    paging: bool,
    curves: usize,
}

impl Heights {
    /// Distributes `room` lines, less `fixed`, by importance.
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
        let text = "  the first figures appear after one interval";
        draw_lines(frame, 1, truncated(vec![palette.dim(text).into()], room));
        return;
    };
    let arrays = machine::arrays(&rates, width, palette);
    let pressure = machine::pressure(&rates, width, palette);
    let application = machine::application(&rates, width, palette);
    let busy = rates.layers.iter().filter(|path| path.mean_ns.is_some());
    let busy: Vec<LayersNow> = busy.take(LAYERS_MAX).cloned().collect();
    let layers = layers::lines(&busy, busy.len(), width, palette);
    let processes = machine::processes(&rates, PROCESSES_MAX, width, palette);
    let disk_heads = if room >= 12 { 2 } else { 1 };
    // One line each for CPUs and memory.
    let timed = layers.len() + processes.len();
    let fixed = disk_heads + application.iter().len() + timed + arrays.len() + 2 + pressure.len();
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
    lines.extend(application);
    lines.extend(layers);
    lines.extend(processes);
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

/// What is watched on the left; the time and the interval on the right.
fn title(screen: &Screen, width: usize, palette: Palette) -> Line<'static> {
    let title = &screen.title;
    let state = if screen.paused { "paused" } else { title.pace.as_str() };
    let right = format!("{}  {state}", screen.clock);
    let right = if screen.paused { palette.warn(right) } else { palette.dim(right) };
    layout::title(&title.program, &title.what, right, width, palette)
}

fn footer(screen: &Screen, palette: Palette) -> Line<'static> {
    match &screen.note {
        Some(note) => palette.warn(format!(" {note}")).into(),
        None => {
            layout::keys(&[("q", "quit"), ("↑↓", "select"), ("p", "pause"), ("?", "help")], palette)
        }
    }
}

/// Keys and figures, explained.
const HELP: &[(&str, &str)] = &[
    ("q  Esc  Ctrl-C", "quit"),
    ("↑ ↓  k j", "select a disk; its curves are shown below"),
    ("PgUp PgDn  g G", "a page; the first, the last"),
    ("p  space", "pause the picture; sampling and the log go on"),
    ("Ctrl-L  Ctrl-Z", "redraw; suspend"),
    ("", ""),
    ("IO/s  B/s", "completed a second; 1 KiB is 1024 bytes"),
    ("latency", "mean of those completed, time in the queue included"),
    ("queue", "mean number of I/Os waiting or being served"),
    ("busy", "share of the time with I/O in flight; a disk that"),
    ("", "serves many at once can be 100 % busy and not full"),
    ("app", "I/Os that the watched application has in flight"),
    ("share", "share of the reads that a member of a mirror served"),
    ("iowait", "idle while I/O was outstanding"),
    ("refaults", "read again after the page cache had dropped it"),
    ("I/O, memory, CPU", "time some task waited for it; all: every task did"),
    ("", ""),
    ("", "docs/WATCH.md says where each figure comes from"),
];

#[cfg(test)]
mod tests;
