//! Pictures of invented runs.

use super::super::{DepthNow, DirectionNow, FindingNow, JobNow, LatencyNow, LayersNow, RunInfo};
use super::*;
use crate::{CpuShares, DiskRates, Rates, Row};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use record::{Direction, LayoutProgress, PerDirection};
use std::collections::BTreeMap;

const PLAIN: Palette = Palette { colour: false };

fn direction(iops: f64) -> DirectionNow {
    let latency = LatencyNow {
        seconds: 5.0,
        count: 100,
        p50_ns: 81_300,
        p99_ns: 1_250_000,
        p999_ns: 12_000_000,
        ..LatencyNow::default()
    };
    DirectionNow {
        iops,
        bytes_per_second: iops * 4096.0,
        mean_iops: Some(iops * 0.9),
        latency: (iops > 0.0).then_some(latency),
        ..DirectionNow::default()
    }
}

fn job(name: &str, workers: u32, state: State, directions: &[(Direction, f64)]) -> JobNow {
    let mut of = PerDirection::default();
    for (which, iops) in directions {
        of[*which] = Some(direction(*iops));
    }
    JobNow {
        name: name.into(),
        workers,
        state,
        in_state: workers,
        workload: "randread 4k io_uring".into(),
        directions: of,
        depth: Some(DepthNow { requested: 32, now: 31.4 }),
        ..JobNow::default()
    }
}

fn moment(second: u32) -> Moment {
    let cpu = CpuShares { user: 25.0, system: 12.5, idle: 62.5, ..Default::default() };
    let disk = DiskRates { busy_percent: 97.6, queue: 31.0, ..DiskRates::default() };
    let rates = Rates {
        seconds: 1.0,
        disks: BTreeMap::from([("nvme0n1".to_owned(), disk)]),
        cpu: Some(cpu),
        cpus: vec![Some(cpu); 4],
        ..Rates::default()
    };
    let finding = FindingNow {
        check: "served-from-cache".into(),
        severity: Severity::Warning,
        jobs: vec!["mixed".into()],
        text: "92 % of what it read came from memory, not from nvme0n1".into(),
        cure: String::new(),
    };
    let mixed = [(Direction::Read, 48_200.0 + f64::from(second)), (Direction::Write, 12_345.0)];
    Moment {
        elapsed_seconds: f64::from(second),
        remaining_seconds: Some(60.0 - f64::from(second)),
        jobs: vec![
            job("mixed", 4, State::Running, &mixed),
            job("later", 1, State::Waiting, &[(Direction::Trim, 0.0)]),
        ],
        machine: Some(rates),
        own_cpu_percent: Some(135.0),
        findings: vec![finding],
        ..Moment::default()
    }
}

fn screen() -> RunScreen {
    let device = Row { name: "nvme0n1".into(), ..Row::default() };
    let info = RunInfo {
        name: "mixed, later".into(),
        hostname: "host".into(),
        devices: vec![device],
        ..RunInfo::default()
    };
    let mut screen = RunScreen::new(info);
    (1..=30).for_each(|second| screen.set_moment(moment(second)));
    screen
}

fn picture(screen: &mut RunScreen, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen, PLAIN)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(row).collect()
}

#[track_caller]
fn shows(lines: &[String], parts: &[&str]) {
    let text = lines.join("\n");
    for part in parts {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
}

#[test]
fn a_large_terminal_shows_everything() {
    let lines = picture(&mut screen(), 200, 50);
    shows(
        &lines,
        &[
            "fathom run  mixed, later  host",
            "30 s, 30 s left",
            "50 %  running",
            "─ Jobs ─",
            "▸ mixed (4)",
            "read 48.2 k",
            "write 12.3 k",
            "43.4 k",
            "188 MiB",
            "81.3 µs",
            "1.25 ms",
            "12 ms",
            "31/32",
            "randread 4k io_uring",
            "  later",
            "waiting",
            "trim",
            "████████",
            "─ Devices ─",
            "nvme0n1",
            "98 %",
            "user  25.0 %",
            "fathom keeps 1.35 busy",
            "─ Found so far ─",
            "! [served-from-cache] mixed: 92 % of what it read",
            "─ mixed, the last 29 s ─",
            "IOPS       60.6 k ┤",
            "bytes   237 MiB/s ┤",
            "q end the run",
        ],
    );
}

#[test]
fn a_usual_terminal_shows_what_matters() {
    let lines = picture(&mut screen(), 80, 24);
    shows(
        &lines,
        &[
            "mixed (4)",
            "48.2 k",
            "188 MiB",
            "81.3 µs",
            "1.25 ms",
            "98 %",
            "us  25",
            "served-from-cache",
        ],
    );
    shows(&lines, &["30 s, 30 s left", "IOPS       60.6 k ┤", "q end the run"]);
}

#[test]
fn a_small_terminal_shows_rates_and_how_far_it_is() {
    let lines = picture(&mut screen(), 40, 10);
    shows(&lines, &["30 s left", "50 %", "mixed (4)", "48.2 k", "1.25 ms", "q end the run"]);
    assert!(lines[9].starts_with(" q"), "{lines:#?}");
}

#[test]
fn no_size_is_too_small_and_every_row_is_whole() {
    for (width, height) in [(1, 1), (3, 2), (12, 3), (20, 5), (39, 8), (300, 3), (60, 90)] {
        let mut screen = screen();
        screen.add_message(Severity::Error, "something failed");
        let lines = picture(&mut screen, width, height);
        assert_eq!(lines.len(), usize::from(height));
        screen.press(crate::Key::Char('?'));
        picture(&mut screen, width, height);
    }
    let mut empty = RunScreen::new(RunInfo::default());
    picture(&mut empty, 80, 24);
    empty.set_moment(Moment::default());
    shows(&picture(&mut empty, 80, 24), &["starting"]);
}

#[test]
fn files_being_made_and_the_end_are_told() {
    let mut screen = screen();
    let layout = LayoutProgress { job: "mixed".into(), files: 1, total: 400, done: 100 };
    screen.set_moment(Moment { layout: Some(layout), ..moment(31) });
    shows(&picture(&mut screen, 100, 30), &["25 %  laying out mixed"]);
    screen.set_moment(Moment { ending: true, ..moment(32) });
    shows(&picture(&mut screen, 100, 30), &["ending: waiting for I/O in flight"]);
    screen.set_moment(Moment { remaining_seconds: None, ..moment(33) });
    let lines = picture(&mut screen, 100, 30);
    assert!(lines[0].trim_end().ends_with(" 33 s"), "{lines:#?}");
}

#[test]
fn messages_are_shown_without_control_characters() {
    let mut screen = screen();
    screen.add_message(Severity::Warning, "first line\nsecond \u{1b}[2J line\n");
    shows(&picture(&mut screen, 100, 40), &["! first line", "! second ?[2J line"]);
    for at in 0..100 {
        screen.add_message(Severity::Note, &format!("remark {at}"));
    }
    assert!(screen.messages.len() <= 20);
    let mut evil = moment(34);
    evil.jobs[0].name = "a\u{1b}]0;b".into();
    screen.set_moment(evil);
    shows(&picture(&mut screen, 100, 40), &["a?]0;b (4)"]);
}

#[test]
fn the_selected_job_is_in_sight_and_its_curve_is_drawn() {
    let mut many = moment(1);
    let jobs =
        (0..30).map(|n| job(&format!("job{n}"), 1, State::Running, &[(Direction::Read, 1.0)]));
    many.jobs = jobs.collect();
    let mut screen = RunScreen::new(RunInfo::default());
    screen.set_moment(many);
    screen.press(crate::Key::End);
    shows(&picture(&mut screen, 80, 20), &["▸ job29"]);
    screen.press(crate::Key::Up);
    screen.press(crate::Key::PageUp);
    screen.press(crate::Key::Home);
    shows(&picture(&mut screen, 80, 20), &["▸ job0"]);
    assert_eq!(screen.press(crate::Key::Escape), crate::Action::Draw);
    assert_eq!(screen.press(crate::Key::Char('q')), crate::Action::Quit);
    assert_eq!(screen.press(crate::Key::Control('z')), crate::Action::Suspend);
}

#[test]
fn rows_are_shared_out_by_worth() {
    let tiny = Heights::share_out(4, 3, 1, 2, 5);
    assert_eq!((tiny.jobs, tiny.words, tiny.machine, tiny.curves), (2, 0, false, 0));
    let heights = Heights::share_out(22, 3, 1, 0, 2);
    assert!(heights.machine && heights.headings && heights.curves >= 5, "{heights:?}");
    for room in 0..80 {
        let heights = Heights::share_out(room, 7, 3, 2, 9);
        let machine = if heights.machine { 2 + heights.devices } else { 0 };
        let layers = if heights.layers > 0 { 1 + heights.layers } else { 0 };
        let headings = if heights.headings { 4 + layers.min(1) } else { 0 };
        let all = 2 + layers + heights.jobs + machine + heights.words + headings + heights.curves;
        assert!(room < 2 || all <= room, "{room}: {heights:?}");
    }
}

#[test]
fn layers_of_a_run_have_a_table_with_their_shares() {
    let mut screen = screen();
    let timed = |direction, mean_ns| LayersNow {
        sums: record::LayerSums {
            job: "mixed".into(),
            device: "nvme0n1".into(),
            direction,
            ..record::LayerSums::default()
        },
        mean_ns,
    };
    let read = timed(Some(Direction::Read), Some([1000.0, 0.0, 19_000.0, 80_000.0]));
    let layers = vec![read, timed(None, None)];
    screen.set_moment(Moment { layers, ..moment(31) });
    let lines = picture(&mut screen, 80, 40);
    shows(&lines, &["─ Layers ─", "  request   plug  scheduler   device"]);
    let row =
        |part: &str| lines.iter().find(|line| line.contains(part)).unwrap().trim_end().to_owned();
    let words =
        |row: String| row.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let line = words(row("mixed          read"));
    assert_eq!(line, "mixed read nvme0n1 100 µs 1 % 0 % 19 % 80 %");
    assert_eq!(words(row("flush")), "mixed flush nvme0n1 -");
    assert!(!picture(&mut screen, 80, 10).join("\n").contains("request"));
}
