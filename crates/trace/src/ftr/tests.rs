//! What is written is read; what is cut or damaged is said to be.

use super::*;
use crate::error::TraceError;
use proptest::prelude::*;

fn header() -> Header {
    Header {
        source: "capture".into(),
        began_unix_ns: Some(1_700_000_000_000_000_000),
        subject: "dd if=/dev/zero".into(),
        application: true,
        device: false,
        anonymous: true,
    }
}

fn file(number: u32) -> Entry {
    let device = number.is_multiple_of(2).then_some((259, number));
    let kind = FileKind::Regular;
    Entry::File(File { number, name: format!("/data/{number}"), kind, size: 1 << 30, device })
}

fn thread(number: u32) -> Entry {
    Entry::Thread(Thread { number, process: 70, thread: 70 + number, name: "dd".into() })
}

/// Any event of ten files and four threads.
fn events() -> impl Strategy<Value = Event> {
    let operation = (0..15_usize).prop_map(codec::operation);
    let place = (0..4_u32, 0..10_u32, any::<bool>(), operation);
    let range = (prop_oneof![any::<u64>(), 0..9_u64], prop_oneof![any::<u64>(), Just(4096)]);
    let result = prop_oneof![Just(None), Just(Some(4096)), any::<i64>().prop_map(Some)];
    let times = (any::<u64>(), any::<Option<u64>>(), any::<Option<u64>>());
    (place, range, any::<u16>(), result, times).prop_map(|(place, range, flags, result, times)| {
        Event {
            at_ns: times.0,
            duration_ns: times.1,
            level: if place.2 { Level::Device } else { Level::Application },
            operation: place.3,
            flags: Flags(flags),
            thread: place.0,
            file: place.1,
            offset: range.0,
            length: range.1,
            result,
            cpu_before_ns: times.2,
        }
    })
}

fn written(entries: &[Entry], block: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for entries in entries.chunks(block) {
        entries.iter().for_each(|entry| writer.entry(entry).unwrap());
        writer.flush().unwrap();
    }
    writer.finish_with(5, 7).unwrap()
}

fn read(bytes: &[u8]) -> (Vec<Entry>, Option<TraceError>, Reader<&[u8]>) {
    let mut reader = Reader::new(bytes).unwrap();
    let mut entries = Vec::new();
    let mut failed = None;
    for entry in reader.by_ref() {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(error) => failed = Some(error),
        }
    }
    (entries, failed, reader)
}

fn sample() -> Vec<Entry> {
    let mut entries = vec![file(0), thread(0), thread(1), file(1), Entry::Lost(9)];
    for number in 0..6_u32 {
        entries.push(Entry::Event(Event {
            at_ns: 1000 * u64::from(number),
            duration_ns: Some(700),
            level: Level::Application,
            operation: Operation::Write,
            flags: Flags::DIRECT.with(Flags::DSYNC),
            thread: number % 2,
            file: number % 2,
            offset: 4096 * u64::from(number),
            length: 4096,
            result: Some(if number == 3 { -28 } else { 4096 }),
            cpu_before_ns: Some(40),
        }));
    }
    entries.push(Entry::Contents(Contents {
        file: 1,
        blocks: 64,
        compressible: 480,
        duplicate: 31,
    }));
    entries
}

proptest! {
    #[test]
    fn entries_return_as_they_were_written(
        all in prop::collection::vec(events(), 0..300),
        block in 1..80_usize,
    ) {
        let mut entries: Vec<Entry> = (0..10).map(file).chain((0..4).map(thread)).collect();
        entries.extend(all.into_iter().map(Entry::Event));
        entries.push(Entry::Lost(u64::MAX));
        let bytes = written(&entries, block);
        let (back, failed, reader) = read(&bytes);
        prop_assert_eq!(failed, None);
        prop_assert_eq!(back, entries);
        prop_assert!(!reader.is_truncated());
        prop_assert_eq!(reader.end().map(|end| (end.left_out, end.lost)), Some((7, u64::MAX)));
        prop_assert_eq!(reader.header(), &header());
    }

    #[test]
    fn a_changed_byte_is_noticed(at in 0..400_usize, by in 1..=255_u8) {
        let entries = sample();
        let mut bytes = written(&entries, 4);
        let at = at % bytes.len();
        bytes[at] ^= by;
        if let Ok(reader) = Reader::new(&*bytes) {
            drop(reader);
            let (back, failed, reader) = read(&bytes);
            prop_assert!(failed.is_some() || reader.is_truncated());
            prop_assert_eq!(&back[..], &entries[..back.len()]);
        }
    }
}

#[test]
fn a_trace_that_is_cut_keeps_its_whole_blocks() {
    let entries = sample();
    let bytes = written(&entries, 4);
    let mut kept = 0;
    for end in 0..bytes.len() {
        let Ok(_) = Reader::new(&bytes[..end]) else {
            assert_eq!(kept, 0);
            continue;
        };
        let (back, failed, reader) = read(&bytes[..end]);
        assert_eq!(failed, None, "cut at {end}");
        assert!(reader.is_truncated() && reader.end().is_none(), "cut at {end}");
        assert!(back.len() >= kept && back.len() % 4 == 0, "cut at {end}: {}", back.len());
        assert_eq!(back[..], entries[..back.len()]);
        kept = back.len();
    }
    assert_eq!(kept, entries.len());
    // What a filesystem leaves after a power cut: the length, but not the bytes.
    let mut zeros = bytes[..bytes.len() - 24].to_vec();
    zeros.resize(bytes.len() + 4096, 0);
    let (_, failed, reader) = read(&zeros);
    assert!(failed.is_none() && reader.is_truncated(), "{failed:?}");
}

#[test]
fn foreign_files_and_other_versions_are_refused() {
    let text = |bytes: &[u8]| Reader::new(bytes).err().unwrap().to_string();
    assert_eq!(text(b""), "it is empty");
    assert_eq!(text(b"SQLite format 3"), "byte 0: no trace of fathom capture begins like this");
    let mut bytes = written(&sample(), 9);
    assert_eq!(text(&bytes[..19]), "it ends within its header: nothing was captured");
    assert_eq!(text(&bytes[..30]), "it ends within its header: nothing was captured");
    bytes[8] = 2;
    let other = text(&bytes);
    assert!(other.starts_with("byte 8: the trace has version 2: this program reads version 1"));
    bytes[8] = 1;
    bytes.extend(b"more");
    let (back, failed, _) = read(&bytes);
    assert_eq!(back, sample());
    assert!(failed.unwrap().to_string().contains("bytes follow the end of the trace"));
}

#[test]
fn an_event_needs_few_bytes() {
    let event = |number: u64| {
        Entry::Event(Event {
            at_ns: number * 9_731 + number * number % 977,
            duration_ns: Some(6_000 + number * 7919 % 1_000),
            level: Level::Application,
            operation: Operation::Read,
            flags: Flags::DIRECT,
            thread: 0,
            file: 0,
            offset: (number * 2_654_435_761 % (1 << 18)) << 12,
            length: 4096,
            result: Some(4096),
            cpu_before_ns: Some(900 + number * 31 % 90),
        })
    };
    let entries: Vec<Entry> =
        [file(0), thread(0)].into_iter().chain((0..9000).map(event)).collect();
    let size = written(&entries, 100_000).len();
    assert!(size < 16 * 9000, "{size} bytes for 9000 random reads");
}

proptest! {
    #[test]
    fn any_bytes_are_entries_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (mut rest, mut context) = (varint::Bytes(&bytes), codec::Context::new());
        while codec::decode(&mut rest, &mut context).is_some() {}
    }
}
