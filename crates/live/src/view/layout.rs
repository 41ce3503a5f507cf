//! Lines that both pictures have, and text that fits a width.

use super::Palette;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

/// Draws the first and the last line. Returns the width and the number of lines between them;
/// `None` when there is no room for both.
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

/// Draws lines from a row of the terminal on; lines that do not fit are left out.
pub(crate) fn draw_lines(frame: &mut Frame<'_>, row: usize, lines: Vec<Line<'_>>) {
    let area = frame.area();
    let height = lines.len().min(usize::from(area.height).saturating_sub(row));
    // Both fit: they are within the height of the terminal.
    let place = Rect { y: row as u16, height: height as u16, ..area };
    frame.render_widget(Paragraph::new(lines), place);
}

/// At most `room` lines.
pub(crate) fn truncated(mut lines: Vec<Line<'static>>, room: usize) -> Vec<Line<'static>> {
    lines.truncate(room);
    lines
}

/// A title: program and subject on the left, `right` at the right edge.
pub(crate) fn title(
    program: &str,
    what: &str,
    right: Span<'static>,
    width: usize,
    palette: Palette,
) -> Line<'static> {
    let what = cut(what, width.saturating_sub(program.len() + 4 + right.width()));
    let used = program.len() + 2 + what.chars().count() + right.width();
    Line::from(vec![
        palette.bold(program.to_owned()),
        Span::raw("  "),
        Span::raw(what),
        Span::raw(" ".repeat(width.saturating_sub(used))),
        right,
    ])
}

/// Keys with what they do, in a line.
pub(crate) fn keys(keys: &[(&str, &str)], palette: Palette) -> Line<'static> {
    let spans = keys.iter().flat_map(|(key, meaning)| {
        [palette.bold(format!(" {key}")), palette.dim(format!(" {meaning} "))]
    });
    spans.collect::<Vec<_>>().into()
}

/// A page of help: terms with their meaning.
pub(crate) fn help(rows: &[(&'static str, &'static str)], palette: Palette) -> Vec<Line<'static>> {
    let line = |(left, right): &(&'static str, &'static str)| {
        Line::from(vec![palette.bold(format!("  {left:<18}")), Span::raw(*right)])
    };
    rows.iter().map(line).collect()
}

/// The columns that fit into `room` characters. Those with the highest rank are dropped first;
/// `size` gives a column's width and rank.
pub(crate) fn fitting<T>(
    mut columns: Vec<T>,
    room: usize,
    size: impl Fn(&T) -> (usize, u8),
) -> Vec<T> {
    while columns.iter().map(|column| size(column).0).sum::<usize>() > room {
        let Some(worst) = columns.iter().map(|column| size(column).1).max() else { break };
        columns.retain(|column| size(column).1 != worst);
    }
    columns
}

/// At most `room` characters; the last one is "…" when some are missing.
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

/// The text with control characters replaced, which the terminal would obey.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
