//! Lists of runs, as text for a terminal.

use crate::figures::mebibytes;
use crate::style::{Style, printable, shorten};
use record::{date, human};
use std::collections::BTreeSet;

/// A run, or several made together, as a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRow {
    /// Its name, short.
    pub id: String,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// How far local time was ahead of UTC, in seconds.
    pub utc_offset_seconds: i32,
    /// The command that made it ("run", "sweep").
    pub kind: String,
    /// The number of runs in it.
    pub runs: usize,
    /// Its host.
    pub host: String,
    /// Names of the jobs.
    pub job: String,
    /// Block devices under them.
    pub device: String,
    /// The workload ("randread 4k, depth 32").
    pub what: String,
    /// I/Os a second; `None` for a run that was not judged, did no I/O, or is a set of different runs.
    pub iops: Option<f64>,
    /// Bytes a second.
    pub bandwidth: Option<f64>,
    /// The 99th percentile of the latency, in nanoseconds.
    pub p99_ns: Option<f64>,
    /// Its limit and the confidence.
    pub verdict: String,
    /// Errors and warnings that were found.
    pub doubts: (u32, u32),
    /// Its tags.
    pub tags: Vec<String>,
    /// Its note.
    pub note: String,
}

/// A column: its heading, whether it is aligned to the right, its priority (columns of the lowest
/// priority are dropped first), its least width, and its text.
struct Column {
    head: &'static str,
    right: bool,
    priority: u8,
    least: usize,
    text: fn(&RunRow) -> String,
}

const COLUMNS: [Column; 11] = [
    Column { head: "run", right: false, priority: 9, least: 8, text: |run| run.id.clone() },
    Column { head: "when", right: false, priority: 8, least: 16, text: when },
    Column { head: "kind", right: false, priority: 3, least: 6, text: kind },
    Column { head: "host", right: false, priority: 0, least: 6, text: |run| run.host.clone() },
    Column { head: "job", right: false, priority: 7, least: 8, text: |run| run.job.clone() },
    Column { head: "device", right: false, priority: 1, least: 5, text: |run| run.device.clone() },
    Column { head: "what", right: false, priority: 5, least: 12, text: |run| run.what.clone() },
    Column {
        head: "IOPS",
        right: true,
        priority: 7,
        least: 5,
        text: |run| number(run.iops, human::count),
    },
    Column { head: "MiB/s", right: true, priority: 4, least: 5, text: bandwidth },
    Column {
        head: "p99",
        right: true,
        priority: 6,
        least: 6,
        text: |run| number(run.p99_ns, human::time),
    },
    Column { head: "limit", right: false, priority: 6, least: 6, text: verdict },
];

fn when(run: &RunRow) -> String {
    moment(run.started_unix_ms, run.utc_offset_seconds)
}

/// A moment in milliseconds since 1970 UTC as lists show it ("2026-11-20 22:53"), in the local time
/// that is `offset_seconds` ahead of UTC.
pub fn moment(unix_ms: u64, offset_seconds: i32) -> String {
    date::day_and_minute(unix_ms, offset_seconds)
}

fn kind(run: &RunRow) -> String {
    match run.runs {
        0 | 1 => run.kind.clone(),
        several => format!("{} x{several}", run.kind),
    }
}

fn number(value: Option<f64>, shown: fn(f64) -> String) -> String {
    value.map_or("-".into(), shown)
}

fn bandwidth(run: &RunRow) -> String {
    number(run.bandwidth, mebibytes)
}

fn verdict(run: &RunRow) -> String {
    let (errors, warnings) = run.doubts;
    let mark = match (errors, warnings) {
        (0, 0) => "",
        (0, _) => " !",
        _ => " !!",
    };
    format!("{}{mark}", run.verdict)
}

/// A heading and a line for each run, no wider than the style. Empty columns, and those without room,
/// are left out. Tags and note follow if there is room. "!" marks runs with warnings, "!!" runs with errors.
pub fn list(runs: &[RunRow], style: &Style) -> String {
    let cells: Vec<Vec<String>> = COLUMNS
        .iter()
        .map(|column| runs.iter().map(|run| printable(&(column.text)(run))).collect())
        .collect();
    let shown = Widths::fitting(&cells, style.width);
    let head: Vec<String> = shown
        .columns
        .iter()
        .map(|(at, width)| padded(COLUMNS[*at].head, *width, COLUMNS[*at].right))
        .collect();
    let mut out = style.bold(head.join("  ").trim_end()) + "\n";
    for (row, run) in runs.iter().enumerate() {
        let line: Vec<String> = shown
            .columns
            .iter()
            .map(|(at, width)| padded(&cells[*at][row], *width, COLUMNS[*at].right))
            .collect();
        let line = line.join("  ");
        let tags = run.tags.iter().map(|tag| format!("#{}", printable(tag)));
        let note = Some(printable(run.note.trim())).filter(|note| !note.is_empty());
        let labels: Vec<String> = tags.chain(note).collect();
        let room = style.width.saturating_sub(shown.total + 2);
        out += line.trim_end();
        if !labels.is_empty() && room >= 6 {
            let blanks = " ".repeat(shown.total + 2 - line.trim_end().chars().count());
            out += &(blanks + &style.dim(shorten(&labels.join(" "), room).trim_end()));
        }
        out.push('\n');
    }
    out
}

/// Columns that are shown, with their widths.
struct Widths {
    columns: Vec<(usize, usize)>,
    total: usize,
}

impl Widths {
    /// Each column as wide as its cells. When the line is too short, dispensable columns are dropped,
    /// then the widest are narrowed, then the column of the lowest priority is dropped.
    fn fitting(cells: &[Vec<String>], room: usize) -> Widths {
        let widest = |at: usize| {
            let head = COLUMNS[at].head.chars().count();
            cells[at].iter().map(|cell| cell.chars().count()).max().unwrap_or(0).max(head)
        };
        let says = |at: &usize| cells[*at].iter().any(|cell| !cell.is_empty() && cell != "-");
        let mut columns: Vec<(usize, usize)> =
            (0..COLUMNS.len()).filter(says).map(|at| (at, widest(at))).collect();
        let total = |columns: &[(usize, usize)]| {
            columns.iter().map(|(_, width)| width).sum::<usize>()
                + 2 * columns.len().saturating_sub(1)
        };
        // Host and device, and a kind that is the usual one everywhere.
        const DISPENSABLE: u8 = 1;
        let is_dispensable = |(at, _): &(usize, usize)| {
            COLUMNS[*at].priority <= DISPENSABLE
                || COLUMNS[*at].head == "kind" && cells[*at].iter().all(|cell| cell == "run")
        };
        while total(&columns) > room
            && let Some(at) = columns.iter().position(is_dispensable)
        {
            columns.remove(at);
        }
        while total(&columns) > room {
            let over = total(&columns) - room;
            let spare: usize = columns.iter().map(|c| spare(*c)).sum();
            let wide = columns.iter_mut().max_by_key(spare_of);
            match wide.filter(|column| spare_of(column) > 0 && spare >= over) {
                Some(column) => column.1 -= 1,
                None => {
                    let least =
                        (0..columns.len()).min_by_key(|at| COLUMNS[columns[*at].0].priority);
                    match least.filter(|_| columns.len() > 1) {
                        Some(at) => drop(columns.remove(at)),
                        None => break,
                    }
                }
            }
        }
        Widths { total: total(&columns), columns }
    }
}

fn spare((at, width): (usize, usize)) -> usize {
    // A cut figure would be wrong.
    if COLUMNS[at].right { 0 } else { width.saturating_sub(COLUMNS[at].least) }
}

fn spare_of(column: &&mut (usize, usize)) -> usize {
    spare(**column)
}

fn padded(text: &str, width: usize, right: bool) -> String {
    let text = shorten(text, width);
    if right { format!("{text:>width$}") } else { format!("{text:<width$}") }
}

/// Several runs made together as one line: at the time of the last; figures of runs that repeat each
/// other are their medians, others have none in common. `runs`: at least one.
pub fn summary_row(id: &str, runs: &[(RunRow, String)]) -> RunRow {
    let Some((last, _)) = runs.iter().max_by_key(|(run, _)| run.started_unix_ms) else {
        return RunRow::default();
    };
    let repeat = runs.iter().all(|(_, cell)| *cell == runs[0].1);
    let median = |figure: fn(&RunRow) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(|(run, _)| figure(run)).collect();
        (repeat && !values.is_empty()).then(|| judge::stats::median(&values))
    };
    let common = |figure: fn(&RunRow) -> &String| {
        let all = runs.iter().map(|(run, _)| figure(run)).filter(|text| !text.is_empty());
        match all.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()[..] {
            [] => String::new(),
            [only] => only.clone(),
            ref several => format!("{} kinds", several.len()),
        }
    };
    let mut tags: Vec<String> = runs.iter().flat_map(|(run, _)| run.tags.clone()).collect();
    tags.sort();
    tags.dedup();
    let sum = |figure: fn(&RunRow) -> u32| runs.iter().map(|(run, _)| figure(run)).sum();
    RunRow {
        id: id.to_owned(),
        runs: runs.len(),
        job: common(|run| &run.job),
        device: common(|run| &run.device),
        what: common(|run| &run.what),
        verdict: common(|run| &run.verdict),
        iops: median(|run| run.iops),
        bandwidth: median(|run| run.bandwidth),
        p99_ns: median(|run| run.p99_ns),
        doubts: (sum(|run| run.doubts.0), sum(|run| run.doubts.1)),
        tags,
        ..last.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, job: &str, iops: f64) -> RunRow {
        RunRow {
            id: id.into(),
            started_unix_ms: 1_795_215_226_864,
            kind: "run".into(),
            runs: 1,
            host: "web1".into(),
            job: job.into(),
            device: "nvme0n1".into(),
            what: "randread 4k, depth 32".into(),
            iops: Some(iops),
            bandwidth: Some(iops * 4096.0),
            p99_ns: Some(640_000.0),
            verdict: "device (high)".into(),
            tags: vec!["baseline".into()],
            ..RunRow::default()
        }
    }

    #[test]
    fn a_wide_terminal_shows_all_columns() {
        let mut doubtful = run("0a1b2c3d", "two", 950.0);
        doubtful.doubts = (0, 2);
        let style = Style { width: 140, ..Style::default() };
        assert_eq!(
            list(&[run("7f3a9c21", "one", 123_456.0), doubtful], &style),
            "run       when              kind  host  job  device   what                    IOPS  MiB/s     p99  limit\n\
             7f3a9c21  2026-11-20 22:53  run   web1  one  nvme0n1  randread 4k, depth 32  123 k    482  640 µs  device (high)    #baseline\n\
             0a1b2c3d  2026-11-20 22:53  run   web1  two  nvme0n1  randread 4k, depth 32    950   3.71  640 µs  device (high) !  #baseline\n"
        );
    }

    #[test]
    fn the_note_follows_the_tags_where_there_is_room() {
        let noted = RunRow {
            note: "after the\nnew firmware".into(),
            tags: vec!["base".into()],
            ..run("1a2b3c4d", "reader", 1.0)
        };
        let wide = list(std::slice::from_ref(&noted), &Style { width: 200, ..Style::default() });
        assert!(wide.contains("#base after the?new firmware\n"), "{wide}");
        let narrow = list(&[noted], &Style { width: 80, ..Style::default() });
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = run("7f3a9c21", &"a job with a long name ".repeat(9), 1e9);
        for width in [20, 40, 60, 80, 100, 133, 200] {
            let style = Style { width, ..Style::default() };
            let text = list(&[long.clone(), run("0a1b2c3d", "b\x1b[31m", 5.0)], &style);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.max(20), "{width}: {widest}\n{text}");
            assert!(text.contains("7f3a9c21") && !text.contains('\x1b'), "{text}");
        }
    }

    #[test]
    fn columns_that_say_nothing_are_left_out() {
        let empty = RunRow { id: "7f3a9c21".into(), job: "x".into(), ..RunRow::default() };
        let text = list(&[empty], &Style::default());
        assert_eq!(text.lines().next(), Some("run       when              job"));
    }

    #[test]
    fn repeats_are_one_line_with_their_median_and_different_cells_have_no_median() {
        let repeats: Vec<(RunRow, String)> =
            [100.0, 300.0, 200.0].map(|iops| (run("x", "a", iops), "a".to_owned())).into();
        let line = summary_row("5e70", &repeats);
        assert_eq!((line.iops, line.runs, line.job.as_str()), (Some(200.0), 3, "a"));
        assert_eq!((kind(&line).as_str(), line.tags.len()), ("run x3", 1));
        let cells = [(run("x", "a", 1.0), "4k".into()), (run("y", "b", 2.0), "8k".into())];
        let line = summary_row("5e70", &cells);
        assert_eq!((line.iops, line.job.as_str()), (None, "2 kinds"));
    }
}
