use super::*;
use lines::Line;
use record::{
    Direction, LoggedHistogram, LoggedIo, LoggedLatency, LoggedWindow, Nanos, WindowValue,
};
use samples::Sample;

fn text(kind: LogKind, logs: &Logs, entries: &[LogEntry]) -> Vec<String> {
    let mut lines = LogLines::new(kind, logs);
    let made = entries.iter().filter_map(|entry| lines.line(entry));
    made.map(|line| line.text().trim_end().to_owned()).collect()
}

fn logs() -> Logs {
    Logs { rates: true, ..Logs::default() }
}

fn io() -> LogEntry {
    LogEntry::Io(LoggedIo {
        ended: 7_999_999,
        issued: 7_800_000,
        direction: Direction::Write as u8,
        bytes: 4096,
        offset: 8192,
        priority: 0x2003,
        slat: Some(70),
        clat: 199_999,
        lat: 200_069,
    })
}

#[test]
fn a_line_an_io_has_the_columns_asked_for() {
    let all = [LogKind::Bandwidth, LogKind::Iops, LogKind::Slat, LogKind::Clat, LogKind::Lat];
    let lines = |logs: &Logs| all.map(|kind| text(kind, logs, &[io()]).concat());
    assert_eq!(
        lines(&logs()),
        [
            "7, 20000, 1, 4096, 1",
            "7, 1, 1, 4096, 1",
            "7, 70, 1, 4096, 1",
            "7, 199999, 1, 4096, 1",
            "7, 200069, 1, 4096, 1",
        ]
    );
    let more = Logs { offset: true, priority: true, issue_time: true, ..logs() };
    assert_eq!(
        lines(&more),
        [
            "7, 20000, 1, 4096, 8192, 0x2003, 0",
            "7, 1, 1, 4096, 8192, 0x2003, 0",
            "7, 70, 1, 4096, 8192, 0x2003, 7800000",
            "7, 199999, 1, 4096, 8192, 0x2003, 7800000",
            "7, 200069, 1, 4096, 8192, 0x2003, 0",
        ]
    );
}

#[test]
fn a_missing_measurement_has_no_line() {
    let synchronous = LogEntry::Io(LoggedIo { slat: None, ..LoggedIo::default() });
    assert!(text(LogKind::Slat, &logs(), &[synchronous]).is_empty());
    assert!(text(LogKind::Bandwidth, &Logs::default(), &[io()]).is_empty());
}

fn window(end_ms: u64, bytes: u64) -> LogEntry {
    let latency = match bytes {
        0 => LoggedLatency::default(),
        _ => LoggedLatency { count: 2, sum: 5, max: 4 },
    };
    LogEntry::Window(LoggedWindow {
        end: end_ms * 1_000_000,
        bytes,
        ios: bytes / 512,
        clat: latency,
        fastest_bytes: 5 << 20,
        ..LoggedWindow::default()
    })
}

#[test]
fn a_window_without_io_has_a_rate_of_0_and_no_latency() {
    let entries = [window(250, 256_000), window(500, 0)];
    assert_eq!(
        text(LogKind::Bandwidth, &logs(), &entries),
        ["250, 1000, 0, 0, 0", "500, 0, 0, 0, 0"]
    );
    assert_eq!(text(LogKind::Clat, &logs(), &entries), ["250, 3, 0, 0, 0"], "rounded up");
    let both = Logs { value: WindowValue::Both, offset: true, ..logs() };
    assert_eq!(text(LogKind::Clat, &both, &entries), ["250, 3, 4, 0, 0, 0, 0"]);
    assert_eq!(text(LogKind::Iops, &both, &entries)[0], "250, 2000, 2000, 0, 0, 0, 0");
    let of_one = |kind: LogKind| {
        LogEntry::Window(LoggedWindow {
            kinds: kind.bit(),
            end: 250_000_000,
            ..LoggedWindow::default()
        })
    };
    let own = [of_one(LogKind::Iops), of_one(LogKind::Bandwidth)];
    assert_eq!(text(LogKind::Iops, &logs(), &own).len(), 1, "windows of its own");
    let max = Logs { value: WindowValue::Max, ..logs() };
    assert_eq!(text(LogKind::Clat, &max, &entries), ["250, 4, 0, 0, 0"]);
    assert_eq!(text(LogKind::Bandwidth, &max, &entries)[0], "250, 5120, 0, 0, 0");
}

#[test]
fn remainders_of_rounding_are_added_to_the_next_line() {
    // 100 bytes in each window of a second are 0.098 KiB/s, which no line can say.
    let entries: Vec<LogEntry> = (1..=100).map(|n| window(n * 1000, 100)).collect();
    let values: Vec<u64> = text(LogKind::Bandwidth, &logs(), &entries)
        .iter()
        .map(|line| line.split(", ").nth(1).unwrap().parse().unwrap())
        .collect();
    assert_eq!(values.iter().sum::<u64>(), 10, "10000 bytes are 9.77 KiB");
    assert!(values.iter().all(|value| *value <= 1));
}

#[test]
fn a_histogram_is_halved_as_often_as_asked() {
    let histogram = LogEntry::Histogram(LoggedHistogram {
        end: 250_000_001,
        direction: 0,
        bytes: 4096,
        bins: vec![(0, 1), (63, 2), (64, 4), (1855, 8)],
    });
    let columns = |coarseness: u8| -> Vec<u64> {
        let logs = Logs { coarseness, histogram_window: Some(Nanos(250_000_000)), ..logs() };
        let line = text(LogKind::Histogram, &logs, std::slice::from_ref(&histogram)).concat();
        line.split(", ").map(|column| column.parse().unwrap()).collect()
    };
    let full = columns(0);
    assert_eq!((full.len(), &full[..4]), (3 + 1856, &[251, 0, 4096, 1][..]));
    assert_eq!((full[3 + 63], full[3 + 64], full[3 + 1855]), (2, 4, 8));
    let coarse = columns(6);
    assert_eq!((coarse.len(), &coarse[3..5], coarse[3 + 28]), (32, &[3, 4][..], 8));
}

#[test]
fn times_can_follow_another_clock() {
    let logs = Logs { clock: Some(0), zero: 1_795_250_457_147_900_000, ..logs() };
    assert_eq!(text(LogKind::Iops, &logs, &[io()]), ["1795250457154, 1, 1, 4096, 1"]);
}

fn sample() -> Sample {
    let mut lines = LogLines::new(LogKind::Clat, &Logs { offset: true, ..logs() });
    match lines.line(&io()) {
        Some(Line::Sample(sample)) => sample,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_compressed_sample_is_laid_out_as_fio_does() {
    let mut writer = samples::Writer::new(Vec::new());
    writer.write(&sample()).unwrap();
    let stored = writer.finish().unwrap();
    assert_eq!(&stored[..2], b"\x78\x9c");
    let mut bytes = Vec::new();
    let mut stream = flate2::read::ZlibDecoder::new(stored.as_slice());
    std::io::Read::read_to_end(&mut stream, &mut bytes).unwrap();
    let words: Vec<u64> =
        bytes.chunks(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect();
    assert_eq!(words, [7, 199_999, 0x2003_8000_0001, 4096, 8192]);
}

#[test]
fn consecutive_streams_are_read_and_damage_is_reported() {
    let stream = |samples: &[Sample]| {
        let mut writer = samples::Writer::new(Vec::new());
        samples.iter().for_each(|sample| writer.write(sample).unwrap());
        writer.finish().unwrap()
    };
    let full = Sample { max: Some(9), issued: Some(5), priority_in_full: true, ..sample() };
    let bare = Sample { offset: None, ..sample() };
    let log = [stream(&[sample(), full]), stream(&[bare])].concat();
    let mut out = Vec::new();
    inflate(log.as_slice(), &mut out).unwrap();
    let expected = "7, 199999, 1, 4096, 8192, 1\n7, 199999, 9, 1, 4096, 8192, 0x2003, 5\n\
                    7, 199999, 1, 4096, 1\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let said = |log: &[u8]| inflate(log, &mut Vec::new()).unwrap_err();
    assert!(matches!(said(&log[..log.len() / 2]), InflateError::Cut | InflateError::NoLog));
    assert!(matches!(said(b"0, 1, 2, 3\n"), InflateError::NoLog));
}

fn job(paths: &[&str], shared: bool) -> JobRecord {
    let files = paths.iter().map(|path| (LogKind::Clat, (*path).to_owned())).collect();
    JobRecord { logs: Some(Logs { files, shared, ..logs() }), ..JobRecord::default() }
}

#[test]
fn a_file_that_cannot_be_written_is_reported_and_the_others_stay() {
    let scratch = tempfile::tempdir().unwrap();
    let path = |name: &str| scratch.path().join(name).display().to_string();
    let (good, bad) = (path("good"), path("missing/bad"));
    let mut job = job(&[&bad, &good], false);
    let give = |take: &mut dyn FnMut(LogEntry)| {
        take(io());
        Ok(())
    };
    let messages = LogFiles::default().write(&mut job, None, give);
    assert_eq!(messages.len(), 1);
    assert!(messages[0].text.starts_with(&format!("cannot write log '{bad}': No such file")));
    assert_eq!(job.logs.unwrap().failures, [messages[0].text.to_string()]);
    assert_eq!(fs::read_to_string(good).unwrap(), "7, 199999, 1, 4096, 1\n");
}

#[test]
fn jobs_that_share_a_file_write_one_after_the_other_and_each_run_anew() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("shared").display().to_string();
    let give = |take: &mut dyn FnMut(LogEntry)| {
        take(io());
        Ok(())
    };
    for _ in 0..2 {
        let mut files = LogFiles::default();
        for _ in 0..3 {
            assert!(files.write(&mut job(&[&path], true), None, give).is_empty());
        }
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
    }
}
