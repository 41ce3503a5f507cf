//! Curves over the last minutes.

use super::Palette;
use crate::Screen;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use record::human;

/// Width of the axis before a curve.
pub(crate) const LEAD: usize = 21;

/// Curves of the reads and writes of the selected disk, in `room` lines.
pub(super) fn lines(
    screen: &Screen,
    room: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let Some(row) = screen.stack.rows.get(screen.cursor.selected) else { return Vec::new() };
    let across = width.saturating_sub(LEAD + 1).max(1);
    let span = human::duration(screen.history.span(across, screen.behind));
    let mut lines =
        vec![palette.heading(&format!("{}, the last {span}", row.name), Vec::new(), width)];
    let high = (room - 1) / 2;
    for (which, name, style) in [(0, "reads", palette.read()), (1, "writes", palette.write())] {
        let rates = screen.history.rates(&row.name, which, across, screen.behind);
        lines.extend(curve(name, &rates, human::rate, high, across, style, palette));
    }
    lines
}

/// A curve of `high` lines with the newest value at the right, and an axis from zero to its
/// maximum.
pub(crate) fn curve(
    name: &str,
    rates: &[f64],
    format: impl Fn(f64) -> String,
    high: usize,
    across: usize,
    style: Style,
    palette: Palette,
) -> Vec<Line<'static>> {
    let most = rates.iter().copied().fold(0.0, f64::max);
    let mut lines = Vec::new();
    for row in 0..high {
        let below = high - 1 - row;
        let (name, figure, tick) = match (row, below) {
            (0, _) => (name, format(most), '┤'),
            (_, 0) => ("", "0".to_owned(), '┤'),
            _ => ("", String::new(), '│'),
        };
        let lead = format!("  {name:<6} {figure:>10} {tick}");
        let marks: String = rates.iter().map(|rate| mark(*rate, most, high, below)).collect();
        let gap = " ".repeat(across.saturating_sub(rates.len()));
        lines.push(Line::from(vec![
            palette.dim(format!("{lead:<LEAD$}{gap}")),
            Span::styled(marks, style),
        ]));
    }
    lines
}

/// The character of a value in the line with `below` lines under it. A value above zero is never
/// blank in the lowest line.
pub(crate) fn mark(value: f64, most: f64, high: usize, below: usize) -> char {
    const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if most <= 0.0 || value <= 0.0 {
        return if below == 0 { '·' } else { ' ' };
    }
    let eighths = ((value / most * (high * 8) as f64).round() as usize).max(1);
    HEIGHTS[eighths.saturating_sub(below * 8).min(8)]
}
