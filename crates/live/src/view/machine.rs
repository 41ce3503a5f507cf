//! Memory, paging, pressure and arrays.

use super::Palette;
use super::layout::{cut, visible};
use crate::Rates;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use record::{ArraySample, human};

/// Width of the progress bar of an array.
const BAR: usize = 20;
/// Below this width some words are left out.
const WIDE: usize = 96;
/// Below this width the names of lines are left out.
const NARROW: usize = 60;

/// A line of named sizes in columns. Without room the last ones are left out, and the name of the
/// line.
fn sizes(
    name: &str,
    sizes: &[(&str, usize, f64)],
    width: usize,
    palette: Palette,
) -> Line<'static> {
    let lead = if width >= NARROW { format!("  {name:<9}") } else { "  ".to_owned() };
    let mut left = width.saturating_sub(lead.len());
    let mut spans = vec![palette.bold(lead)];
    for (name, wide, value) in sizes {
        // A blank and eight characters for the size.
        if left < wide + 9 {
            break;
        }
        left = left.saturating_sub(wide + 11);
        spans.push(palette.dim(format!("{name:>wide$} ")));
        let style = if *value > 0.0 { Style::new() } else { palette.dimmed() };
        spans.push(Span::styled(format!("{:<8}  ", human::size(*value)), style));
    }
    spans.into()
}

/// The page cache and its dirty part.
pub(super) fn memory(rates: &Rates, width: usize, palette: Palette) -> Line<'static> {
    let memory = rates.memory;
    let figures = [
        ("cached", 6, memory.cached as f64),
        ("dirty", 5, memory.dirty as f64),
        ("writeback", 9, memory.writeback as f64),
        ("available", 11, memory.available as f64),
    ];
    sizes("cache", &figures, width, palette)
}

/// Paging rates; `None` if unknown.
pub(super) fn paging(rates: &Rates, width: usize, palette: Palette) -> Option<Line<'static>> {
    let paging = rates.paging.as_ref()?;
    let swap = paging.swap_in_bytes_per_second + paging.swap_out_bytes_per_second;
    let figures = [
        ("in", 6, paging.in_bytes_per_second),
        ("out", 5, paging.out_bytes_per_second),
        ("refaults", 9, paging.refault_bytes_per_second),
        ("swap in+out", 11, swap),
    ];
    Some(sizes("paging/s", &figures, width, palette))
}

/// What the watched application has in flight; no line without one.
pub(super) fn application(rates: &Rates, width: usize, palette: Palette) -> Option<Line<'static>> {
    let application = rates.application.as_ref()?;
    let lead = if width >= NARROW { "  app        " } else { "  app " };
    let mut left = width.saturating_sub(lead.len());
    let mut spans = vec![palette.bold(lead)];
    for (name, figure) in application.named_figures() {
        let wide = name.len() + figure.len() + 3;
        if left < wide {
            break;
        }
        left -= wide;
        spans.push(palette.dim(format!("{name} ")));
        spans.push(Span::raw(format!("{figure}  ")));
    }
    Some(spans.into())
}

/// The header and a line for each of the first processes with requests.
pub(super) fn processes(
    rates: &Rates,
    rows: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    if rates.processes.is_empty() {
        return Vec::new();
    }
    let head = format!(
        "  {:<22} {:<10} {:>10} {:>12} {:>10} {:>7}",
        "process", "disk", "requests/s", "data/s", "in device", "share"
    );
    let mut lines = vec![palette.dim(cut(&head, width)).into()];
    for process in rates.processes.iter().take(rows) {
        let name = match process.pid {
            0 => visible(&process.name),
            pid => format!("{} {pid}", visible(&process.name)),
        };
        let line = format!(
            "  {:<22} {:<10} {:>10.0} {:>12} {:>10.2} {:>5.0} %",
            cut(&name, 22),
            cut(&visible(&process.device), 10),
            process.requests_per_second,
            human::rate(process.bytes_per_second),
            process.in_device,
            process.device_percent
        );
        lines.push(cut(&line, width).into());
    }
    lines
}

/// Pressure stall information; no line if the kernel has none.
pub(super) fn pressure(rates: &Rates, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let Some(pressure) = &rates.pressure else { return Vec::new() };
    let lead = if width >= NARROW { "  waiting  " } else { "  wait " };
    let mut spans = vec![palette.bold(lead)];
    let mut share = |name: &str, some: f64, all: Option<f64>| {
        let style = if some >= 0.05 { palette.load(some) } else { palette.dimmed() };
        spans.push(palette.dim(format!("{name} ")));
        let figure =
            if width >= NARROW { format!("{some:5.1} %") } else { format!("{some:3.0} % ") };
        spans.push(Span::styled(figure, style));
        if let Some(all) = all.filter(|_| width >= WIDE) {
            spans.push(palette.dim(format!(" (all {all:5.1} %)")));
        }
        spans.push(Span::raw(if width >= NARROW { "   " } else { " " }));
    };
    share("I/O", pressure.io_some, Some(pressure.io_full));
    let memory = if width >= NARROW { "memory" } else { "mem" };
    share(memory, pressure.memory_some, Some(pressure.memory_full));
    share("CPU", pressure.cpu_some, None);
    vec![spans.into()]
}

/// A line for each degraded array, and for each with a resync or check.
pub(super) fn arrays(rates: &Rates, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (name, array) in &rates.arrays {
        lines.extend(degraded(name, array, palette));
        lines.extend(sync(name, array, width, palette));
    }
    lines
}

fn degraded(name: &str, array: &ArraySample, palette: Palette) -> Option<Line<'static>> {
    if array.working >= array.wanted {
        return None;
    }
    let faulty = array.members.iter().filter(|member| member.marks.contains('F'));
    let faulty: Vec<&str> = faulty.map(|member| member.name.as_str()).collect();
    let mut text =
        format!("  {name} is degraded: {} of {} members work", array.working, array.wanted);
    if !faulty.is_empty() {
        text += &format!("; faulty: {}", faulty.join(" "));
    }
    Some(palette.warn(text).into())
}

fn sync(name: &str, array: &ArraySample, width: usize, palette: Palette) -> Option<Line<'static>> {
    let sync = array.sync.as_ref()?;
    let mut spans = vec![palette.bold(format!("  {name} {} ", sync.action))];
    let Some(fraction) = sync.fraction() else {
        let waits = sync.waits.clone().unwrap_or_else(|| "begins".into());
        spans.push(palette.dim(waits));
        return Some(spans.into());
    };
    let filled = (fraction * BAR as f64).round() as usize;
    if width >= 70 {
        spans.push(Span::styled("█".repeat(filled), palette.wait()));
        spans.push(palette.dim("·".repeat(BAR.saturating_sub(filled))));
    }
    spans.push(Span::raw(format!(" {:5.1} %", fraction * 100.0)));
    spans.push(Span::raw(format!("  {}", human::rate(sync.bytes_per_second as f64))));
    let left = sync.seconds_left().map(|left| format!("  {} left", human::duration(left)));
    spans.push(palette.dim(left.unwrap_or_else(|| "  not progressing".into())));
    Some(spans.into())
}
