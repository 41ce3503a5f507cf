//! The picture of a run: how far it is, its jobs, devices and CPUs, what was found, and curves of
//! the selected job. What matters least is left out where the terminal is small.

mod jobs;

use super::{Moment, Quantity, RunScreen, State};
use crate::view::{cpu, curves, disks, draw_lines, title_and_footer, truncated};
use crate::{Palette, units};
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use record::Severity;

/// Lines of curves, their heading included.
const CURVES: std::ops::RangeInclusive<usize> = 5..=17;
/// Findings and what was said take so many lines before curves do.
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
            vec![palette.dim("  the first figures come after a second").into()],
            room,
        );
    };
    let mut words = words(screen, &moment, width, palette);
    let rows = jobs::rows(&moment);
    let devices = screen.disks.stack.rows.len();
    let heights = Heights::share_out(room, rows, devices, words.len());
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

/// How many lines each section has.
#[derive(Debug, Default, PartialEq, Eq)]
struct Heights {
    headings: bool,
    /// Rows of jobs, without the names of columns.
    jobs: usize,
    machine: bool,
    /// Rows of devices.
    devices: usize,
    words: usize,
    curves: usize,
}

impl Heights {
    /// Shares out `room` lines, in order of worth. How far it is, and the names of the jobs' columns
    /// are there in any case.
    fn share_out(room: usize, rows: usize, devices: usize, words: usize) -> Heights {
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
        heights.headings = left >= 4;
        left -= if heights.headings { 4 } else { 0 };
        heights.curves = if left >= *CURVES.start() { left.min(*CURVES.end()) } else { 0 };
        left -= heights.curves;
        heights.words += take(&mut left, words - heights.words);
        if heights.machine {
            heights.devices += take(&mut left, devices - heights.devices);
        }
        heights
    }
}

/// What is run at the left; how long it has been at the right.
fn title(screen: &RunScreen, width: usize, palette: Palette) -> Line<'static> {
    let info = &screen.info;
    let right = screen.moment.as_ref().map_or_else(String::new, |moment| {
        let passed = units::duration(moment.elapsed_seconds);
        match moment.remaining_seconds {
            Some(left) if !moment.ending => format!("{passed}, {} left", units::duration(left)),
            _ => passed,
        }
    });
    let program = "fathom run";
    let what = visible(&format!("{}  {}", info.name, info.hostname));
    let room = width.saturating_sub(program.len() + 4 + right.chars().count());
    let what = disks::cut(&what, room);
    let used = program.len() + 2 + what.chars().count() + right.chars().count();
    Line::from(vec![
        palette.bold(program),
        Span::raw("  "),
        Span::raw(what),
        Span::raw(" ".repeat(width.saturating_sub(used))),
        palette.dim(right),
    ])
}

/// What a terminal would obey is not shown as it is.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// How far it is, as a bar.
fn progress(moment: &Moment, width: usize, palette: Palette) -> Line<'static> {
    let (share, doing) = match &moment.layout {
        Some(layout) => (
            (layout.total > 0).then(|| layout.done as f64 / layout.total as f64),
            format!("laying out {}", visible(&layout.job)),
        ),
        None => {
            let whole = moment.remaining_seconds.map(|left| left + moment.elapsed_seconds);
            let share = whole.filter(|whole| *whole > 0.0);
            (share.map(|whole| moment.elapsed_seconds / whole), doing(moment))
        }
    };
    let share = share.map(|share| share.clamp(0.0, 1.0));
    let figure = share.map_or("     ".to_owned(), |share| format!("{:3.0} %", share * 100.0));
    let doing = disks::cut(&doing, width / 2);
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

/// What it does, in a few words.
fn doing(moment: &Moment) -> String {
    if moment.ending {
        return "ending: waiting for I/O in flight".into();
    }
    let states = || moment.jobs.iter().map(|job| job.state);
    let state = states().min().unwrap_or_default();
    match state {
        // The foremost of all has not failed: others have not begun.
        State::Waiting => "starting".into(),
        state => state.name().into(),
    }
}

/// What the program itself took of the CPUs.
fn own_cpu(moment: &Moment, palette: Palette) -> Vec<Span<'static>> {
    let text = |percent: f64| palette.dim(format!("fathom keeps {:.2} busy", percent / 100.0));
    moment.own_cpu_percent.map(text).into_iter().collect()
}

/// What was found and said, the latest said last; each at most two lines.
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
        .map(|(at, line)| vec![lead(at), Span::styled(disks::cut(line, room), Style::new())].into())
        .collect()
}

/// I/Os and bytes a second of the selected job over the last minutes.
fn curves(
    screen: &RunScreen,
    moment: &Moment,
    room: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let Some(job) = moment.jobs.get(screen.cursor.selected) else { return Vec::new() };
    let across = width.saturating_sub(curves::LEAD + 1).max(1);
    let span = units::duration(screen.history.span(across));
    let heading = format!("{}, the last {span}", visible(&job.name));
    let mut lines = vec![palette.heading(&heading, Vec::new(), width)];
    let high = (room - 1) / 2;
    let of = |what| screen.history.rates(what, Some(screen.cursor.selected), None, across);
    let bytes = |rate| units::bytes(rate).trim_end().to_owned() + "/s";
    let style = palette.read();
    lines.extend(curves::curve(
        "IOPS",
        &of(Quantity::Iops),
        units::count,
        high,
        across,
        style,
        palette,
    ));
    let style = palette.write();
    lines.extend(curves::curve("bytes", &of(Quantity::Bytes), bytes, high, across, style, palette));
    lines
}

fn footer(screen: &RunScreen, width: usize, palette: Palette) -> Line<'static> {
    let mut spans = Vec::new();
    let quits = if screen.is_other_process { "quit" } else { "end the run" };
    for (key, meaning) in [("q", quits), ("↑↓", "select"), ("?", "help")] {
        spans.push(palette.bold(format!(" {key}")));
        spans.push(palette.dim(format!(" {meaning} ")));
    }
    if let Some((Severity::Error, text)) = screen.messages.back() {
        return palette.warn(disks::cut(&format!(" {}", visible(text)), width)).into();
    }
    spans.into()
}

fn help(is_other_process: bool, palette: Palette) -> Vec<Line<'static>> {
    let quits = match is_other_process {
        true => ("q  Esc  Ctrl-C", "quit; the run goes on"),
        false => ("q  Ctrl-C", "end the run and report what was measured; again: at once"),
    };
    const TEXT: &[(&str, &str)] = &[
        ("↑ ↓  k j", "select a job; its curves are shown below"),
        ("PgUp PgDn  g G", "a page; to the first, to the last"),
        ("Ctrl-L  Ctrl-Z", "draw anew; suspend (the run's time goes on)"),
        ("", ""),
        ("IO/s  B/s", "completed in the last second; 1 KiB is 1024 bytes"),
        ("mean", "IO/s over all that was measured so far"),
        ("p50 p99 p99.9", "completion latency of the last five seconds"),
        ("depth", "I/Os in flight in the last second, of those asked for"),
        ("busy", "share of the time in which the device had I/O in flight"),
        ("fathom keeps", "CPUs that fathom itself used, all its threads"),
        ("found so far", "what is to be known about the figures; the report has all"),
        ("", ""),
        ("", "docs/LIVE.md says more"),
    ];
    let line = |(left, right): &(&'static str, &'static str)| {
        Line::from(vec![palette.bold(format!("  {left:<16}")), Span::raw(*right)])
    };
    std::iter::once(&quits).chain(TEXT).map(line).collect()
}

#[cfg(test)]
mod tests;
