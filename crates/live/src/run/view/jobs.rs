//! The table of jobs: a line for each direction of each job. Columns that do not fit are left out,
//! the least important first.

use super::super::{DirectionNow, JobNow, Moment, Quantity, RunScreen, State};
use crate::Palette;
use crate::view::curves::mark;
use crate::view::layout::{cut, fitting, visible};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use record::{Direction, human};

/// Width of the column of names.
const NAME: std::ops::RangeInclusive<usize> = 12..=26;
/// Width of a sparkline.
const SPARK: std::ops::RangeInclusive<usize> = 8..=60;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    State,
    Direction,
    Iops,
    Mean,
    Bytes,
    P50,
    P99,
    P999,
    Depth,
    Errors,
    Workload,
}

/// A column: its name, its width, and its rank. Columns of the highest rank are dropped first.
struct Column(Kind, &'static str, usize, u8);

fn columns(errors: bool) -> Vec<Column> {
    let mut columns = vec![
        Column(Kind::State, "state", 12, 3),
        Column(Kind::Direction, "", 6, 2),
        Column(Kind::Iops, "IO/s", 7, 0),
        Column(Kind::Mean, "mean", 7, 7),
        Column(Kind::Bytes, "B/s", 9, 1),
        Column(Kind::P50, "p50", 8, 4),
        Column(Kind::P99, "p99", 8, 1),
        Column(Kind::P999, "p99.9", 8, 5),
        Column(Kind::Depth, "depth", 10, 6),
    ];
    if errors {
        columns.push(Column(Kind::Errors, "errors", 8, 0));
    }
    columns.push(Column(Kind::Workload, "  workload", 26, 9));
    columns
}

/// The lines of the table: a job and one of its directions, if it has any.
fn all(moment: &Moment) -> Vec<(usize, Option<Direction>)> {
    let rows = |(place, job): (usize, &JobNow)| {
        let has = |direction: &Direction| job.directions[*direction].is_some();
        let directions: Vec<_> = Direction::ALL.into_iter().filter(has).map(Some).collect();
        let directions = if directions.is_empty() { vec![None] } else { directions };
        directions.into_iter().map(move |direction| (place, direction)).collect::<Vec<_>>()
    };
    moment.jobs.iter().enumerate().flat_map(rows).collect()
}

/// The number of lines.
pub(super) fn rows(moment: &Moment) -> usize {
    all(moment).len()
}

/// The header and `rows` lines, with the selected job among them.
pub(super) fn lines(
    screen: &mut RunScreen,
    moment: &Moment,
    rows: usize,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let all = all(moment);
    scroll(screen, &all, rows);
    let widest = moment.jobs.iter().map(|job| named(job).chars().count() + 3).max().unwrap_or(0);
    let (narrow, wide) = (*NAME.start(), *NAME.end());
    let name = widest.clamp(narrow, wide).min((width / 3).max(narrow));
    let errors = moment.jobs.iter().any(|job| job.errors > 0);
    let columns =
        fitting(columns(errors), width.saturating_sub(name), |column| (column.2, column.3));
    let used = name + columns.iter().map(|column| column.2).sum::<usize>();
    let spark = width.saturating_sub(used + 2).min(*SPARK.end());
    let spark = if spark >= *SPARK.start() { spark } else { 0 };
    let mut lines = vec![heads(&columns, name, spark, palette)];
    for (place, direction) in all.into_iter().skip(screen.cursor.first).take(rows) {
        lines.push(line(screen, moment, (place, direction), &columns, (name, spark), palette));
    }
    lines
}

/// Scrolls to the first line of the selected job.
fn scroll(screen: &mut RunScreen, all: &[(usize, Option<Direction>)], rows: usize) {
    let at = all.iter().position(|(place, _)| *place == screen.cursor.selected).unwrap_or(0);
    screen.cursor.scroll_to(at, rows, all.len());
}

/// "name", or "name (4)" with several workers.
fn named(job: &JobNow) -> String {
    let name = visible(&job.name);
    if job.workers > 1 { format!("{name} ({})", job.workers) } else { name }
}

fn heads(columns: &[Column], name: usize, spark: usize, palette: Palette) -> Line<'static> {
    let mut text = format!("{:<name$}", "  job");
    for Column(kind, title, width, _) in columns {
        text += &match kind {
            Kind::State | Kind::Workload => format!("{title:<width$}"),
            _ => format!("{title:>width$}"),
        };
    }
    if spark > 0 {
        text += "  IO/s";
    }
    palette.dim(text).into()
}

fn line(
    screen: &RunScreen,
    moment: &Moment,
    (place, direction): (usize, Option<Direction>),
    columns: &[Column],
    (name, spark): (usize, usize),
    palette: Palette,
) -> Line<'static> {
    let job = &moment.jobs[place];
    let has_before = |d: Direction| {
        Direction::ALL.iter().take_while(|other| **other != d).any(|d| job.directions[*d].is_some())
    };
    // Only the first line of a job has its name.
    let is_first = direction.is_none_or(|direction| !has_before(direction));
    let selected = place == screen.cursor.selected && moment.jobs.len() > 1;
    let lead = if selected && is_first { "▸ " } else { "  " };
    let label = if is_first { cut(&named(job), name - 3) } else { String::new() };
    let weight = if selected { Modifier::BOLD } else { Modifier::empty() };
    let rest = name - 2;
    let mut spans = vec![
        palette.dim(lead),
        Span::styled(format!("{label:<rest$}"), Style::new().add_modifier(weight)),
    ];
    let now = direction.and_then(|direction| job.directions[direction].as_ref());
    spans.extend(
        columns.iter().map(|column| cell(column, job, (direction, now), is_first, palette)),
    );
    if let Some(direction) = direction.filter(|_| spark > 0) {
        let rates = screen.history.rates(Quantity::Iops, Some(place), Some(direction), spark);
        let most = rates.iter().copied().fold(0.0, f64::max);
        let marks: String = rates.iter().map(|rate| mark(*rate, most, 1, 0)).collect();
        spans.push(Span::styled(format!("  {marks}"), style_of(direction, palette)));
    }
    spans.into()
}

fn style_of(direction: Direction, palette: Palette) -> Style {
    match direction {
        Direction::Read => palette.read(),
        Direction::Write => palette.write(),
        Direction::Trim => palette.system(),
    }
}

fn cell(
    Column(kind, _, width, _): &Column,
    job: &JobNow,
    (direction, now): (Option<Direction>, Option<&DirectionNow>),
    is_first: bool,
    palette: Palette,
) -> Span<'static> {
    let figure = |value: Option<f64>, text: fn(f64) -> String| match value {
        Some(value) if value > 0.0 => (text(value), Style::new()),
        Some(value) => (text(value), palette.dimmed()),
        None => ("–".into(), palette.dimmed()),
    };
    let latency = |pick: fn(&super::super::LatencyNow) -> u64| {
        let ns = now.and_then(|now| now.latency).map(|latency| pick(&latency) as f64);
        figure(ns, human::time)
    };
    let (text, style) = match kind {
        Kind::State if is_first => return state(job, *width, palette),
        Kind::Workload if is_first => {
            let text = cut(&visible(&job.workload), width - 2);
            return palette.dim(format!("  {text:<rest$}", rest = width - 2));
        }
        Kind::State | Kind::Workload => (String::new(), Style::new()),
        Kind::Direction => (
            direction.map_or("", |direction| direction.name()).to_owned(),
            direction.map_or(Style::new(), |direction| style_of(direction, palette)),
        ),
        Kind::Iops => figure(now.map(|now| now.iops), human::count),
        Kind::Mean => figure(now.and_then(|now| now.mean_iops), human::count),
        Kind::Bytes => figure(now.map(|now| now.bytes_per_second), human::size),
        Kind::P50 => latency(|latency| latency.p50_ns),
        Kind::P99 => latency(|latency| latency.p99_ns),
        Kind::P999 => latency(|latency| latency.p999_ns),
        Kind::Depth if is_first => match job.depth {
            Some(depth) => (format!("{}/{}", short(depth.now), depth.requested), Style::new()),
            None => ("–".into(), palette.dimmed()),
        },
        Kind::Errors if is_first && job.errors > 0 => (job.errors.to_string(), palette.steal()),
        Kind::Depth | Kind::Errors => (String::new(), Style::new()),
    };
    Span::styled(format!("{text:>width$}"), style)
}

/// A depth in at most four characters below ten thousand.
fn short(depth: f64) -> String {
    if depth < 9.95 { format!("{depth:.1}") } else { format!("{depth:.0}") }
}

fn state(job: &JobNow, width: usize, palette: Palette) -> Span<'static> {
    let name = job.state.name();
    let text = match job.in_state < job.workers {
        true => format!("{name} {}", job.in_state),
        false => name.to_owned(),
    };
    let style = match job.state {
        State::Running => palette.user(),
        State::Failed => palette.steal(),
        State::Waiting | State::Ended => palette.dimmed(),
        _ => palette.wait(),
    };
    Span::styled(format!("{:<width$}", cut(&text, width - 1)), style)
}
