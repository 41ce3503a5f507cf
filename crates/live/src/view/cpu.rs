//! CPUs: a line for all, and a bar for each, or one character for each if there are many.

use super::Palette;
use crate::{CpuShares, Rates};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Width of a CPU with its bar.
const CELL: usize = 30;
/// Width of the bar.
const BAR: usize = 18;
/// Characters before the CPUs in the compact form.
const LEAD: usize = 7;

/// A kind of CPU time: its name, its character in bars and its share.
struct Part {
    name: &'static str,
    mark: &'static str,
    style: Style,
    of: fn(&CpuShares) -> f64,
}

fn parts(palette: Palette) -> [Part; 5] {
    let part = |name, mark, style, of| Part { name, mark, style, of };
    [
        part("user", "█", palette.user(), |cpu| cpu.user),
        part("system", "▓", palette.system(), |cpu| cpu.system),
        part("interrupts", "▒", palette.interrupt(), |cpu| cpu.irq + cpu.softirq),
        part("steal", "×", palette.steal(), |cpu| cpu.steal),
        part("iowait", "░", palette.wait(), |cpu| cpu.iowait),
    ]
}

/// The key to the characters of the bars.
pub(crate) fn key(palette: Palette) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for part in parts(palette) {
        spans.push(Span::styled(part.mark, part.style));
        spans.push(palette.dim(format!(" {} ", part.name)));
    }
    spans
}

/// The shares of all CPUs together.
pub(crate) fn summary(rates: &Rates, width: usize, palette: Palette) -> Line<'static> {
    let Some(cpu) = &rates.cpu else { return palette.dim("  CPU time is unknown").into() };
    let mut spans = vec![palette.bold("  all  ")];
    let shares: [(&str, &str, f64, Style); 6] = [
        ("user", "us", cpu.user, palette.user()),
        ("system", "sy", cpu.system, palette.system()),
        ("iowait", "wa", cpu.iowait, palette.wait()),
        ("softirq", "si", cpu.softirq, palette.interrupt()),
        ("irq", "hi", cpu.irq, palette.interrupt()),
        ("steal", "st", cpu.steal, palette.steal()),
    ];
    let mut left = width.saturating_sub(7);
    for (name, short, share, style) in shares {
        let style = if share >= 0.05 { style } else { palette.dimmed() };
        let (name, figure) = match width >= 96 {
            true => (format!("{name} "), format!("{share:5.1} %   ")),
            false => (format!("{short} "), format!("{share:3.0}  ")),
        };
        let taken = name.len() + figure.len();
        if taken > left {
            break;
        }
        left -= taken;
        spans.push(palette.dim(name));
        spans.push(Span::styled(figure, style));
    }
    spans.into()
}

/// Number of lines with a bar for each CPU.
fn bar_lines(cpus: usize, width: usize) -> usize {
    cpus.div_ceil((width / CELL).max(1))
}

/// CPUs in a line of the compact form.
fn marks_across(width: usize) -> usize {
    width.saturating_sub(LEAD + 8).max(1)
}

/// Number of lines for the CPUs: with bars if that takes at most a third of `room`, else compact.
pub(crate) fn lines_wanted(cpus: usize, width: usize, room: usize) -> usize {
    match bar_lines(cpus, width) {
        bars if bars <= (room / 3).max(1) => bars,
        _ => cpus.div_ceil(marks_across(width)),
    }
}

/// The CPUs in `lines` lines: bars if they fit, else the compact form.
pub(crate) fn cores(
    rates: &Rates,
    lines: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let cpus = &rates.cpus;
    match lines {
        0 => Vec::new(),
        _ if lines >= bar_lines(cpus.len(), width) => bars(cpus, width, palette),
        _ => marks(cpus, lines, width, palette),
    }
}

fn bars(cpus: &[Option<CpuShares>], width: usize, palette: Palette) -> Vec<Line<'static>> {
    let across = (width / CELL).max(1);
    let down = cpus.len().div_ceil(across);
    let line = |row: usize| {
        let numbers = (0..across).map(|column| column * down + row);
        let cells = numbers.filter(|number| *number < cpus.len());
        Line::from(
            cells
                .flat_map(|number| cell(number, cpus[number].as_ref(), palette))
                .collect::<Vec<_>>(),
        )
    };
    (0..down).map(line).collect()
}

fn cell(number: usize, cpu: Option<&CpuShares>, palette: Palette) -> Vec<Span<'static>> {
    let mut spans = vec![palette.dim(format!("{number:>5} "))];
    let Some(cpu) = cpu else {
        let rest = CELL - 6;
        spans.push(palette.dim(format!("{:<rest$}", "offline")));
        return spans;
    };
    let mut reached = 0.0;
    let mut drawn = 0;
    for part in parts(palette) {
        // The running sum is rounded, not the parts, so that the length of the bar is right.
        reached += (part.of)(cpu);
        let end = ((reached / 100.0 * BAR as f64).round() as usize).min(BAR);
        spans.push(Span::styled(part.mark.repeat(end.saturating_sub(drawn)), part.style));
        drawn = drawn.max(end);
    }
    spans.push(palette.dim("·".repeat(BAR - drawn)));
    let busy = cpu.busy();
    spans.push(Span::raw(format!(" {busy:>3.0}% ")));
    spans
}

/// A character for each CPU, whose height is its load. CPUs that do not fit are counted.
fn marks(
    cpus: &[Option<CpuShares>],
    lines: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    const HEIGHTS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let across = marks_across(width);
    let mut made = Vec::new();
    for (row, chunk) in cpus.chunks(across).take(lines).enumerate() {
        let mut spans = vec![palette.dim(format!("{:>width$} ", row * across, width = LEAD - 2))];
        for cpu in chunk {
            let busy = cpu.as_ref().map(CpuShares::busy);
            spans.push(match busy {
                None => palette.dim("x"),
                Some(busy) if busy < 0.5 => palette.dim("·"),
                Some(busy) => {
                    let height = ((busy / 100.0 * 8.0).ceil() as usize).clamp(1, 8) - 1;
                    Span::styled(HEIGHTS[height], palette.load(busy))
                }
            });
        }
        made.push(Line::from(spans));
    }
    let hidden = cpus.len().saturating_sub(across * lines);
    if let Some(last) = made.last_mut().filter(|_| hidden > 0) {
        last.push_span(palette.dim(format!(" +{hidden}")));
    }
    made
}
