//! Pictures of invented machines.

use super::*;
use crate::{CpuShares, DiskRates, MemoryNow, PagingRates, PressureShares, Rates, Stack, Title};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use record::{ArraySample, ArraySync, DeviceFacts, DeviceKind, DiskSample};
use std::collections::BTreeMap;

const PLAIN: Palette = Palette { colour: false };

fn mirror() -> Stack {
    let device = |name: &str, kind: DeviceKind, below: &[&str]| {
        let below = below.iter().map(|b| (*b).to_owned()).collect();
        (name.to_owned(), DeviceFacts { name: name.into(), kind, below, ..Default::default() })
    };
    let devices = BTreeMap::from([
        device("md0", DeviceKind::Md { level: "raid1".into() }, &["sda1", "sdb1"]),
        device("sda1", DeviceKind::Partition, &["sda"]),
        device("sdb1", DeviceKind::Partition, &["sdb"]),
        device("sda", DeviceKind::Disk, &[]),
        device("sdb", DeviceKind::Disk, &[]),
    ]);
    Stack::under(&devices, &["md0".into()])
}

fn disk(reads: u64) -> DiskRates {
    DiskRates {
        reads_per_second: reads as f64,
        read_bytes_per_second: reads as f64 * 4096.0,
        read_ms: (reads > 0).then_some(0.0813),
        queue: reads as f64 / 10_000.0,
        busy_percent: if reads > 0 { 97.6 } else { 0.0 },
        counted: DiskSample { read_ios: reads, ..DiskSample::default() },
        ..DiskRates::default()
    }
}

fn rates(cpus: usize) -> Rates {
    let cpu =
        CpuShares { user: 25.0, system: 12.5, iowait: 50.0, idle: 12.5, ..Default::default() };
    let disks = [("md0", 12_345), ("sda1", 12_345), ("sda", 12_345), ("sdb1", 0), ("sdb", 0)];
    let sync = ArraySync {
        action: "check".into(),
        done_bytes: 1 << 30,
        total_bytes: 8 << 30,
        bytes_per_second: 100 << 20,
        waits: None,
    };
    let array = ArraySample { wanted: 2, working: 2, sync: Some(sync), ..Default::default() };
    Rates {
        seconds: 1.0,
        disks: disks.map(|(name, reads)| (name.to_owned(), disk(reads))).into(),
        cpu: Some(cpu),
        cpus: vec![Some(cpu); cpus],
        memory: MemoryNow { cached: 12 << 30, dirty: 5 << 20, ..MemoryNow::default() },
        paging: Some(PagingRates { in_bytes_per_second: 50e6, ..PagingRates::default() }),
        pressure: Some(PressureShares { io_some: 45.0, io_full: 30.0, ..Default::default() }),
        arrays: BTreeMap::from([("md0".to_owned(), array)]),
        application: None,
        layers: Vec::new(),
        processes: Vec::new(),
    }
}

fn screen(cpus: usize) -> Screen {
    let mut screen = Screen::new(Title {
        program: "fathom watch".into(),
        what: "/srv on ext4".into(),
        pace: "every 1 s".into(),
    });
    screen.set_stack(mirror());
    for _ in 0..30 {
        screen.add_interval(rates(cpus), "14:02:11");
    }
    screen
}

#[test]
fn an_application_is_a_line_below_the_disks() {
    let mut watched = screen(2);
    let application = crate::ApplicationRates { in_flight: 2.25, ..Default::default() };
    watched.add_interval(Rates { application: Some(application), ..rates(2) }, "14:02:12");
    let lines = picture(&mut watched, 100, 30);
    let line = lines.iter().find(|line| line.starts_with("  app ")).expect("a line");
    assert!(line.contains("in flight 2.2  95 % <= 0  read"), "{line}");
    let narrow = picture(&mut watched, 40, 30);
    assert!(narrow.iter().any(|line| line.starts_with("  app in flight")), "{narrow:?}");
}

fn picture(screen: &mut Screen, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen, PLAIN)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(row).collect()
}

#[test]
fn a_large_terminal_shows_every_section() {
    let lines = picture(&mut screen(4), 120, 40);
    let text = lines.join("\n");
    for part in [
        "fathom watch  /srv on ext4",
        "14:02:11  every 1 s",
        "─ reads ─",
        "▸ md0 raid1",
        "  ├╴sda1",
        "  │ └╴sda",
        "  └╴sdb1",
        "12.3 k",
        "48.2 MiB",
        "81.3 µs",
        "98 % █████████▊",
        "100 %",
        "md0 check ███·················  12.5 %  100 MiB/s  1 min 12 s left",
        "user  25.0 %",
        "iowait  50.0 %",
        "cached 12 GiB",
        "in 47.7 MiB",
        "I/O  45.0 % (all  30.0 %)",
        "md0, the last 30 s",
        "reads  48.2 MiB/s ┤",
        "q quit",
    ] {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
    assert!(lines.iter().all(|line| line.chars().count() == 120));
}

#[test]
fn columns_stand_still_whatever_the_figures() {
    let mut screen = screen(2);
    let end_of = |screen: &mut Screen, row: &str| {
        let lines = picture(screen, 120, 40);
        let line = lines.iter().find(|line| line.contains(row)).unwrap().clone();
        line.chars().position(|c| c == '%').unwrap()
    };
    let before = end_of(&mut screen, "▸ md0");
    for reads in [0, 1, 999, 1_000_000] {
        let mut next = rates(2);
        next.disks.insert("md0".into(), disk(reads));
        screen.add_interval(next, "14:02:12");
        assert_eq!(end_of(&mut screen, "▸ md0"), before, "{reads}");
    }
}

#[test]
fn a_small_terminal_keeps_what_matters_most() {
    let lines = picture(&mut screen(8), 40, 10);
    let text = lines.join("\n");
    for part in [
        "fathom watch",
        "▸ md0",
        "48.2 MiB",
        "98 %",
        "us  25",
        "cached",
        "rd B/s",
        "wr B/s",
        "q quit",
    ] {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
}

#[test]
fn no_size_makes_it_panic_and_no_line_goes_beyond_the_edge() {
    for cpus in [0, 1, 8, 300] {
        let mut screen = screen(cpus);
        for help in [false, true] {
            screen.help = help;
            for width in [1, 2, 7, 20, 39, 40, 41, 61, 80, 95, 133, 400] {
                for height in [1, 2, 3, 4, 5, 9, 10, 14, 24, 60] {
                    picture(&mut screen, width, height);
                }
            }
        }
    }
}

#[test]
fn a_few_short_ios_show_only_an_upper_bound() {
    let mut screen = screen(1);
    for (reads, told) in [(1, " <1 ms"), (3, " <334 µs"), (1000, " <1 µs")] {
        let mut next = rates(1);
        next.disks.insert("md0".into(), DiskRates { read_ms: Some(0.0), ..disk(reads) });
        screen.add_interval(next, "");
        let lines = picture(&mut screen, 100, 30);
        let line = lines.iter().find(|line| line.contains("▸ md0")).unwrap();
        assert!(line.contains(told), "{line}");
    }
}

#[test]
fn before_the_first_interval_and_without_devices_it_says_so() {
    let mut fresh = Screen::new(Title::default());
    assert!(picture(&mut fresh, 60, 12).join("\n").contains("after one interval"));
    let mut bare = screen(1);
    bare.set_stack(Stack::default());
    assert!(picture(&mut bare, 80, 24).join("\n").contains("no block device"));
    let mut gone = screen(1);
    gone.add_interval(Rates { seconds: 1.0, ..Rates::default() }, "");
    assert!(picture(&mut gone, 80, 24).join("\n").contains("not there"));
}

#[test]
fn rows_beyond_the_edge_come_with_the_keys() {
    let mut screen = screen(1);
    let first = picture(&mut screen, 80, 9).join("\n");
    assert!(first.contains("▸ md0") && !first.contains("sdb "), "{first}");
    for _ in 0..4 {
        screen.press(crate::Key::Down);
    }
    let last = picture(&mut screen, 80, 9).join("\n");
    assert!(last.contains("▸ ") && last.contains("└╴sdb ") && last.contains("4–5 of 5"), "{last}");
}

#[test]
fn many_cpus_are_a_mark_each_and_all_are_counted() {
    let lines = picture(&mut screen(300), 80, 24);
    let text = lines.join("\n");
    assert_eq!(text.matches('▃').count(), 300, "{text}");
    let text = picture(&mut screen(300), 80, 15).join("\n");
    let shown = text.matches('▃').count();
    assert!(shown > 0 && text.contains(&format!(" +{}", 300 - shown)), "{text}");
}

#[test]
fn an_array_that_lost_a_member_says_which() {
    let mut screen = screen(1);
    let mut next = rates(1);
    let array = next.arrays.get_mut("md0").unwrap();
    array.working = 1;
    array.sync = None;
    array.members = vec![record::ArrayMember { name: "sdb1".into(), number: 1, marks: "F".into() }];
    screen.add_interval(next, "");
    let text = picture(&mut screen, 100, 30).join("\n");
    assert!(text.contains("md0 is degraded: 1 of 2 members work; faulty: sdb1"), "{text}");
}

#[test]
fn help_and_notes_replace_what_they_cover() {
    let mut screen = screen(1);
    screen.set_note("the log is cut off".into());
    assert!(picture(&mut screen, 80, 24)[23].contains("the log is cut off"));
    screen.press(crate::Key::Char('?'));
    let text = picture(&mut screen, 80, 24).join("\n");
    assert!(text.contains("mean of those completed") && !text.contains("md0"), "{text}");
}

#[test]
fn heights_are_shared_out_in_order_of_worth() {
    let small = Heights::share_out(8, 5, 5, 2);
    assert_eq!((small.disks, small.paging, small.cores, small.curves), (3, false, 0, 0));
    let large = Heights::share_out(38, 6, 5, 2);
    assert_eq!((large.disks, large.paging, large.cores, large.headings), (5, true, 2, true));
    assert!(large.curves >= CURVES_MIN);
    assert_eq!(Heights::share_out(0, 6, 5, 2), Heights::default());
}
