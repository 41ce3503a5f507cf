//! The live view of a run: progress, jobs, devices, CPUs, findings, and curves of the selected job.
//! On a small terminal the least important sections are left out.

mod jobs;

use super::{Moment, Quantity, RunScreen, State};
use crate::Palette;
use crate::view::layout::{self, cut, draw_lines, title_and_footer, truncated, visible};
use crate::view::{cpu, curves, disks, layers};
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use record::{Severity, human};

/// Lines of the curves with their heading.
const CURVES: std::ops::RangeInclusive<usize> = 5..=17;
/// Most rows of layers.
const LAYERS_MAX: usize = 8;
/// Lines of findings and messages that take precedence over curves.
const WORDS_FIRST: usize = 4;

/// Draws a run into the whole of the frame.
pub fn draw(frame: &mut Frame<'_>, screen: &mut RunScreen, palette: Palette) {
    let title_and_footer = title_and_footer(
        frame,
        |width| title(screen, width, palette),
        |width| footer(screen, width, palette),
    );
    let Some((width, room)) = title_and_footer else { return };
    let lines = match screen.help {
        true => truncated(help(screen.is_other_process, palette), room),
        false => sections(screen, room, width, palette),
    };
    draw_lines(frame, 1, lines);
}

fn sections(
    screen: &mut RunScreen,
    room: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let Some(moment) = screen.moment.clone() else {
        return truncated(
            vec![palette.dim("  the first figures appear after one second").into()],
            room,
        );
    };
    let mut words = words(screen, &moment, width, palette);
    let rows = jobs::rows(&moment);
    let devices = screen.disks.stack.rows.len();
    let heights = Heights::share_out(room, rows, devices, moment.layers.len(), words.len());
    words.truncate(heights.words);
    let mut lines = vec![progress(&moment, width, palette)];
    let heading = |lines: &mut Vec<Line<'static>>, text: &str, beside: Vec<Span<'static>>| {
        if heights.headings {
            lines.push(palette.heading(text, beside, width));
        }
    };
    heading(&mut lines, "Jobs", Vec::new());
    lines.extend(jobs::lines(screen, &moment, heights.jobs, width, palette));
    if let (Some(rates), true) = (&moment.machine, heights.machine) {
        if devices > 0 {
            heading(&mut lines, "Devices", Vec::new());
            lines.extend(disks::lines(&screen.disks, rates, heights.devices, 1, width, palette));
        }
        if heights.layers > 0 {
            heading(&mut lines, "Layers", Vec::new());
            lines.extend(layers::lines(&moment.layers, heights.layers, width, palette));
        }
        heading(&mut lines, "CPU", own_cpu(&moment, palette));
        lines.push(cpu::summary(rates, width, palette));
    }
    if !words.is_empty() {
        heading(&mut lines, "Found so far", Vec::new());
        lines.extend(words);
    }
    if heights.curves > 0 {
        lines.extend(curves(screen, &moment, heights.curves, width, palette));
    }
    truncated(lines, room)
}

/// The number of lines of each section.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heights {
    headings: bool,
    /// Rows of jobs, without the header.
    jobs: usize,
    machine: bool,
    /// Rows of devices.
    devices: usize,
    /// Rows of layers, without the header.
    layers: usize,
    words: usize,
    curves: usize,
}

impl Heights {
    /// Distributes `room` lines by importance. The progress bar and the header of the jobs are
    /// always there.
    fn share_out(room: usize, rows: usize, devices: usize, layers: usize, words: usize) -> Heights {
        let mut left = room.saturating_sub(2);
        let mut heights = Heights::default();
        let take = |left: &mut usize, wanted: usize| {
            let taken = wanted.min(*left);
            *left -= taken;
            taken
        };
        heights.jobs = take(&mut left, rows.min(4));
        heights.words = take(&mut left, words.min(1));
        let machine = if devices > 0 { 3 } else { 1 };
        heights.machine = left >= machine;
        if heights.machine {
            left -= machine;
            heights.devices = devices.min(1);
        }
        heights.words += take(&mut left, words.min(WORDS_FIRST) - heights.words.min(words));
        if heights.machine {
            heights.devices += take(&mut left, devices.min(4) - heights.devices);
        }
        heights.jobs += take(&mut left, rows - heights.jobs);
        if heights.machine && layers > 0 && left >= 2 {
            left -= 1;
            heights.layers = take(&mut left, layers.min(LAYERS_MAX));
        }
        let headings = if heights.layers > 0 { 5 } else { 4 };
        heights.headings = left >= headings;
        left -= if heights.headings { headings } else { 0 };
        heights.curves = if left >= *CURVES.start() { left.min(*CURVES.end()) } else { 0 };
        left -= heights.curves;
        heights.words += take(&mut left, words - heights.words);
        if heights.machine {
            heights.devices += take(&mut left, devices - heights.devices);
        }
        heights
    }
}

/// The run on the left; the time it has taken on the right.
fn title(screen: &RunScreen, width: usize, palette: Palette) -> Line<'static> {
    let info = &screen.info;
    let right = screen.moment.as_ref().map_or_else(String::new, |moment| {
        let passed = human::duration(moment.elapsed_seconds);
        match moment.remaining_seconds {
            Some(left) if !moment.ending => format!("{passed}, {} left", human::duration(left)),
            _ => passed,
        }
    });
    let what = visible(&format!("{}  {}", info.name, info.hostname));
    layout::title("fathom run", &what, palette.dim(right), width, palette)
}

/// The progress bar.
fn progress(moment: &Moment, width: usize, palette: Palette) -> Line<'static> {
    let (share, doing) = match &moment.layout {
        Some(layout) => (
            (layout.total > 0).then(|| layout.done as f64 / layout.total as f64),
            format!("laying out {}", visible(&layout.job)),
        ),
        None => {
            let whole = moment.remaining_seconds.map(|left| left + moment.elapsed_seconds);
            let share = whole.filter(|whole| *whole > 0.0);
            (share.map(|whole| moment.elapsed_seconds / whole), state_text(moment))
        }
    };
    let share = share.map(|share| share.clamp(0.0, 1.0));
    let figure = share.map_or("     ".to_owned(), |share| format!("{:3.0} %", share * 100.0));
    let doing = cut(&doing, width / 2);
    let across = width.saturating_sub(doing.chars().count() + figure.chars().count() + 6);
    let full = (share.unwrap_or(0.0) * across as f64).round() as usize;
    let style = if moment.ending { palette.wait() } else { palette.user() };
    vec![
        Span::raw("  "),
        Span::styled("█".repeat(full), style),
        palette.dim("·".repeat(across.saturating_sub(full))),
        Span::raw(format!(" {figure}  ")),
        Span::raw(doing),
    ]
    .into()
}

/// The state of the run in a few words.
fn state_text(moment: &Moment) -> String {
    if moment.ending {
        return "ending: waiting for I/O in flight".into();
    }
    let states = || moment.jobs.iter().map(|job| job.state);
    let state = states().min().unwrap_or_default();
    match state {
        // No job has started.
        State::Waiting => "starting".into(),
        state => state.name().into(),
    }
}

/// CPU use of fathom itself.
fn own_cpu(moment: &Moment, palette: Palette) -> Vec<Span<'static>> {
    let text = |percent: f64| palette.dim(format!("fathom keeps {:.2} busy", percent / 100.0));
    moment.own_cpu_percent.map(text).into_iter().collect()
}

/// Findings, then messages with the latest last; each at most two lines.
fn words(
    screen: &RunScreen,
    moment: &Moment,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for finding in &moment.findings {
        let about = match finding.jobs.as_slice() {
            [] => String::new(),
            jobs => format!("{}: ", jobs.join(", ")),
        };
        let text = visible(&format!("[{}] {about}{}", finding.check, finding.text));
        lines.extend(message_lines(finding.severity, &text, width, palette));
    }
    for (severity, text) in &screen.messages {
        lines.extend(message_lines(*severity, &visible(text), width, palette));
    }
    lines
}

fn message_lines(
    severity: Severity,
    text: &str,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let (mark, style) = match severity {
        Severity::Note => ("·", palette.dimmed()),
        Severity::Warning => ("!", palette.wait()),
        Severity::Error => ("✗", palette.steal()),
    };
    let room = width.saturating_sub(4).max(1);
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length > 0 && length + 1 + word.chars().count() > room {
            lines.push(word.to_owned());
        } else {
            let space = if length > 0 { " " } else { "" };
            lines[last] += &format!("{space}{word}");
        }
    }
    let more = lines.len() > 2;
    lines.truncate(2);
    if more {
        lines[1] += " …";
    }
    let lead =
        |at: usize| if at == 0 { Span::styled(format!("  {mark} "), style) } else { "    ".into() };
    let lines = lines.iter().enumerate();
    lines
        .map(|(at, line)| vec![lead(at), Span::styled(cut(line, room), Style::new())].into())
        .collect()
}

/// Curves of IOPS and bandwidth of the selected job.
fn curves(
    screen: &RunScreen,
    moment: &Moment,
    room: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let Some(job) = moment.jobs.get(screen.cursor.selected) else { return Vec::new() };
    let across = width.saturating_sub(curves::LEAD + 1).max(1);
    let span = human::duration(screen.history.span(across));
    let heading = format!("{}, the last {span}", visible(&job.name));
    let mut lines = vec![palette.heading(&heading, Vec::new(), width)];
    let high = (room - 1) / 2;
    let rates = |what| screen.history.rates(what, Some(screen.cursor.selected), None, across);
    let mut draw = |name, what, text: fn(f64) -> String, style| {
        lines.extend(curves::curve(name, &rates(what), text, high, across, style, palette));
    };
    draw("IOPS", Quantity::Iops, human::count, palette.read());
    draw("bytes", Quantity::Bytes, human::rate, palette.write());
    lines
}

fn footer(screen: &RunScreen, width: usize, palette: Palette) -> Line<'static> {
    if let Some((Severity::Error, text)) = screen.messages.back() {
        return palette.warn(cut(&format!(" {}", visible(text)), width)).into();
    }
    let quits = if screen.is_other_process { "quit" } else { "end the run" };
    layout::keys(&[("q", quits), ("↑↓", "select"), ("?", "help")], palette)
}

fn help(is_other_process: bool, palette: Palette) -> Vec<Line<'static>> {
    let quits = match is_other_process {
        true => ("q  Esc  Ctrl-C", "quit; the run goes on"),
        false => ("q  Ctrl-C", "end the run and report what was measured; again: at once"),
    };
    layout::help(&[&[quits][..], HELP].concat(), palette)
}

/// Keys and figures, explained.
const HELP: &[(&str, &str)] = &[
    ("↑ ↓  k j", "select a job; its curves are shown below"),
    ("PgUp PgDn  g G", "a page; the first, the last"),
    ("Ctrl-L  Ctrl-Z", "redraw; suspend (the run's time goes on)"),
    ("", ""),
    ("IO/s  B/s", "completed in the last second; 1 KiB is 1024 bytes"),
    ("mean", "mean IO/s since the measurement began"),
    ("p50 p99 p99.9", "completion latency of the last five seconds"),
    ("depth", "mean I/Os in flight in the last second, of those requested"),
    ("busy", "share of the time with I/O in flight"),
    ("layers", "--layers: mean time in the block layer in the last second, its shares"),
    ("fathom keeps", "CPUs that fathom itself used, all its threads"),
    ("found so far", "findings about the figures; the report has all"),
    ("", ""),
    ("", "docs/LIVE.md says more"),
];

#[cfg(test)]
mod tests;
