use super::*;
use crate::{Fault, Usage};
use record::{
    Bytes, DirectLimits, Direction, ErrorCount, Facts, FileEvidence, FileLook, JobRecord, Nanos,
    RunRecord, TargetFacts, TargetKind,
};
use trace::{Held, Kind};

fn call(line: &str) -> Result<DdCommand, Usage> {
    let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    DdCommand::parse(&arguments)
}

fn target(kind: TargetKind, path: &str, size: u64) -> (String, TargetFacts) {
    let facts = TargetFacts {
        kind,
        size: Bytes(size),
        readable: true,
        writable: true,
        parent_exists: true,
        canonical: format!("/real/{path}"),
        direct: Some(DirectLimits { memory: 4, offset: 512 }),
        ..TargetFacts::default()
    };
    (path.to_owned(), facts)
}

/// A file of 10 000 bytes, a device of a MiB, and what else can be named.
fn facts() -> Facts {
    let (buffered, no_direct) = target(TargetKind::File, "buffered", 10_000);
    let targets = [
        target(TargetKind::File, "file", 10_000),
        target(TargetKind::File, "large", 1 << 40),
        target(TargetKind::Block, "disk", 1 << 20),
        target(TargetKind::Missing, "new", 0),
        (buffered, TargetFacts { direct: Some(DirectLimits::default()), ..no_direct }),
        target(TargetKind::Directory, "directory", 0),
        target(TargetKind::Fifo, "pipe", 0),
    ];
    Facts { targets: targets.into(), ..Facts::default() }
}

fn work(line: &str) -> Result<Work, Usage> {
    call(line)?.work(&facts())
}

/// Each I/O in short: "r0 0+4096" reads 4096 bytes from byte 0 of the first file.
fn list(work: &Work) -> Vec<String> {
    let Held::Copy(copying) = &work.recording().held else { panic!() };
    let short = |event: trace::Event| match event.kind {
        Kind::Read => format!("r{} {}+{}", event.file, event.offset, event.length),
        Kind::Write => format!("w{} {}+{}", event.file, event.offset, event.length),
        Kind::Forget => format!("f{} {}+{}", event.file, event.offset, event.length),
        kind => format!("{kind:?} {}", event.file),
    };
    copying.events().map(short).collect()
}

#[test]
fn operands_are_understood() {
    let copy = call("if=a of=b bs=32K count=3 skip=1 seek=2 conv=fsync,notrunc").unwrap();
    assert_eq!((copy.read(), copy.written()), (Some("a"), Some("b")));
    assert_eq!((copy.ibs, copy.obs, copy.limit), (32 << 10, 32 << 10, Some(96 << 10)));
    assert_eq!((copy.skip, copy.seek), (32 << 10, 64 << 10));
    assert_eq!((copy.end, copy.notrunc), (Some(EndSync::Fsync), true));
    let bytes = call("if=a of=/dev/null ibs=1K iseek=7B count=100 iflag=count_bytes").unwrap();
    assert_eq!((bytes.skip, bytes.limit, bytes.ibs, bytes.obs), (7, Some(100), 1024, 512));
    let flags = call("if=/dev/zero of=b count=1 oflag=direct,dsync --allow-destroy=b").unwrap();
    assert_eq!((flags.direct_out, flags.sync), (true, EachSync::Dsync));
    assert_eq!(flags.allow_destroy, ["b"]);
    assert_eq!((flags.read(), flags.written()), (None, Some("b")));
    let later = call("bs=1 bs=4K status=noxfer if=a if=/dev/urandom of=c --record r.json").unwrap();
    assert_eq!((later.ibs, later.input, later.status), (4096, Input::Random, Status::Noxfer));
    assert_eq!(later.record.as_deref(), Some("r.json"));
}

#[test]
fn what_has_no_effect_is_told() {
    for (line, flag) in [
        ("if=a of=/dev/null conv=fsync", "conv=fsync"),
        ("if=a of=/dev/null iflag=nocache", "iflag=nocache"),
        ("if=a of=/dev/null iflag=dsync", "iflag=dsync"),
        ("if=a of=b iflag=append", "iflag=append"),
        ("if=a of=b oflag=count_bytes", "oflag=count_bytes"),
        ("if=a of=/dev/null oflag=direct,sync", "oflag="),
        ("if=a of=b oflag=append", "oflag=append"),
        ("if=/dev/zero of=b skip=1 count=1", "skip="),
        ("if=/dev/urandom of=b conv=sparse count=1", "conv=sparse"),
    ] {
        let notes = call(line).unwrap().notes;
        assert!(matches!(&notes[..], [note] if note.starts_with(flag)), "{line}: {notes:?}");
    }
    assert_eq!(call("if=a of=/dev/null iflag=fullblock conv=notrunc").unwrap().notes.len(), 0);
}

#[test]
fn mistakes_are_named() {
    for (line, flag) in [
        ("of=b", "if="),
        ("if=a", "of="),
        ("if= of=b", "if="),
        ("if=/dev/null of=b", "if=/dev/null"),
        ("if=a of=b bs=0", "bs=0"),
        ("if=a of=b bs=2G", "bs=2G"),
        ("if=a of=b bs=many", "bs=many"),
        ("if=a of=b bs=", "bs="),
        ("if=a of=b count=-1", "count=-1"),
        ("if=a of=b count=9E bs=1M", "count="),
        ("if=a of=b ibs=1K", "ibs= obs="),
        ("if=a of=b cbs=80", "cbs=80"),
        ("if=a of=b speed=fast", "speed=fast"),
        ("if=a of=b verbose", "verbose"),
        ("if=a of=b status=loud", "status=loud"),
        ("if=a of=b conv=swab", "conv=swab"),
        ("if=a of=b conv=noerror", "conv=noerror"),
        ("if=a of=b conv=sparse", "conv=sparse"),
        ("if=/dev/zero of=b conv=sparse", "conv=sparse"),
        ("if=a of=b conv=", "conv="),
        ("if=a of=b conv=excl,nocreat", "conv=excl,nocreat"),
        ("if=a of=b oflag=fullblock", "oflag=fullblock"),
        ("if=a of=b oflag=nofollow", "oflag=nofollow"),
        ("if=a of=b iflag=sideways", "iflag=sideways"),
        ("if=a of=b --allow-destroy", "--allow-destroy"),
        ("if=a of=b --fast=1", "--fast"),
    ] {
        let error = call(line).unwrap_err();
        assert_eq!((error.fault, error.flag.as_str()), (Fault::Line, flag), "{line}");
        assert!(!error.what.is_empty() && !error.cure.is_empty());
    }
}

#[test]
fn a_copy_reads_and_writes_in_turn() {
    let work = work("if=file of=new bs=4096 skip=1 seek=2 conv=fsync").unwrap();
    assert_eq!(
        list(&work),
        ["r0 4096+4096", "w1 8192+4096", "r0 8192+1808", "w1 12288+1808", "Sync 1"]
    );
    assert_eq!(work.cut, Some(8192));
    let recording = work.recording();
    assert_eq!((recording.ios, recording.bytes.read, recording.bytes.write), (5, 5904, 5904));
    assert_eq!(recording.sizes.read, Some((1808, 4096)));
    let [from, to] = &recording.files[..] else { panic!("{:?}", recording.files) };
    assert_eq!(
        (from.path.as_str(), from.read_end, from.end, from.grain),
        ("file", 10_000, 10_000, 16)
    );
    assert_eq!((to.path.as_str(), to.read_end, to.end, to.syncs), ("new", 0, 14_096, 1));
    let mut job = job::Job::default();
    work.complete(&mut job);
    assert!(job.replay.is_on() && job.replay.no_stall);
    assert_eq!(job.buffers.content, job::BufferContent::AsRead);
    assert!(job.pattern.rw.reads() && job.pattern.rw.writes());
}

#[test]
fn a_source_of_bytes_is_not_read() {
    let written = work("if=/dev/zero of=new ibs=1K obs=4K count=5 conv=fdatasync").unwrap();
    assert_eq!(list(&written), ["w0 0+4096", "w0 4096+1024", "Datasync 0"]);
    for option in ["--zero_buffers=1", "--refill_buffers=1"] {
        assert!(written.arguments.contains(&option.to_owned()), "{:?}", written.arguments);
    }
    let random = work("if=/dev/urandom of=new count=1 oflag=sync").unwrap();
    for option in ["--refill_buffers=1", "--sync=sync", "--create_on_open=1", "--invalidate=0"] {
        assert!(random.arguments.contains(&option.to_owned()), "{:?}", random.arguments);
    }
    let mut job = job::Job::default();
    random.complete(&mut job);
    assert_ne!(job.buffers.content, job::BufferContent::AsRead);
    let memory = work("if=/dev/zero of=/dev/null bs=1M count=2").unwrap();
    assert_eq!(list(&memory), ["r0 0+1048576", "r0 1048576+1048576"]);
    assert_eq!(memory.recording().files[0].path, "/dev/zero");
}

#[test]
fn a_call_ends_where_its_targets_do() {
    assert_eq!(list(&work("if=file of=/dev/null bs=8K").unwrap()), ["r0 0+8192", "r0 8192+1808"]);
    assert_eq!(list(&work("if=file of=/dev/null bs=1M count=9").unwrap()), ["r0 0+10000"]);
    let whole = work("if=/dev/zero of=disk bs=512K").unwrap();
    assert_eq!((list(&whole).len(), whole.cut), (2, None));
    let cached = work("if=file of=/dev/null bs=1M oflag=direct").unwrap();
    assert!(!cached.arguments.contains(&"--direct=1".to_owned()), "{:?}", cached.arguments);
    let tail = work("if=file of=/dev/null bs=4K iflag=direct").unwrap();
    assert_eq!(list(&tail), ["r0 0+4096", "r0 4096+4096", "r0 8192+1536"]);
    assert!(tail.notes[0].contains("the last 272 bytes"), "{:?}", tail.notes);
    assert!(tail.arguments.contains(&"--direct=1".to_owned()));
}

/// Which I/O of a line bypasses the page cache: for each file "direct" or "buffered", and its I/O.
fn ways(line: &str) -> (Vec<&'static str>, Vec<String>, usize) {
    let work = work(line).unwrap();
    let direct = work.arguments.contains(&"--direct=1".to_owned());
    let files = work.recording().files.iter();
    let way = |buffered: bool| if direct && !buffered { "direct" } else { "buffered" };
    (files.map(|file| way(file.buffered)).collect(), list(&work), work.notes.len())
}

#[test]
fn each_file_of_a_copy_is_opened_with_its_own_flags() {
    let all = ["r0 0+512", "w1 0+512"];
    let line = |flags| format!("if=file of=new count=1 {flags}");
    for (flags, expected) in [
        ("conv=fsync", ["buffered", "buffered"]),
        ("iflag=direct", ["direct", "buffered"]),
        ("oflag=direct", ["buffered", "direct"]),
        ("iflag=direct oflag=direct", ["direct", "direct"]),
    ] {
        let (files, list, notes) = ways(&line(flags));
        assert_eq!((&files[..], &list[..2], notes), (&expected[..], &all.map(String::from)[..], 0));
    }
}

/// Oracle: strace of dd 9.1, which takes O_DIRECT off for a last block that is not full.
#[test]
fn a_last_block_that_is_not_full_is_written_through_the_page_cache() {
    let copied = ["r0 0+4096", "w1 0+4096", "r0 4096+4096", "w1 4096+4096"];
    let of = |flags: &str| ways(&format!("if=file of=new bs=4K {flags}"));
    let (files, list, notes) = of("oflag=direct");
    assert_eq!((&files[..], notes), (&["buffered", "direct", "buffered"][..], 1));
    assert_eq!(list[..4], copied);
    assert_eq!(list[4..], ["r0 8192+1808", "w2 8192+1808", "Sync 1", "f2 8192+1808"]);
    let (files, list, notes) = of("iflag=direct");
    assert_eq!((&files[..], notes), (&["direct", "buffered", "buffered"][..], 1));
    assert_eq!(list[..4], copied);
    assert_eq!(list[4..], ["r2 8192+1808", "w1 8192+1808", "f2 8192+1808"]);
    let (files, list, _) = of("iflag=direct oflag=direct conv=fdatasync");
    assert_eq!(files, ["direct", "direct", "buffered", "buffered"]);
    assert_eq!(list[4..7], ["r2 8192+1808", "w3 8192+1808", "Datasync 1"]);
    // Whole sectors are read with O_DIRECT, but a partial block is not written with it.
    let (files, list, _) = of("count=4608B iflag=direct oflag=direct");
    assert_eq!(files, ["direct", "direct", "buffered"]);
    assert_eq!(list[2..5], ["r0 4096+512", "w2 4096+512", "Sync 1"]);
    // Nothing before it asks for O_DIRECT at all.
    let (files, list, _) = of("count=100B iflag=direct oflag=direct");
    assert_eq!((&files[..], list.len()), (&["buffered", "buffered"][..], 3));
    let (files, ..) = ways("if=/dev/zero of=new bs=4K count=5000B oflag=direct");
    assert_eq!(files, ["direct", "buffered"]);
}

#[test]
fn the_output_is_cut_unless_it_is_to_be_kept() {
    let cut = |line| work(line).unwrap().cut;
    assert_eq!(cut("if=/dev/zero of=file bs=1K count=1"), Some(0));
    assert_eq!(cut("if=/dev/zero of=file bs=1K count=1 seek=3"), Some(3072));
    assert_eq!(cut("if=/dev/zero of=file bs=1K count=1 seek=10 oflag=seek_bytes"), Some(0));
    assert_eq!(cut("if=/dev/zero of=file bs=1K count=1 conv=notrunc"), None);
    let appended = work("if=/dev/zero of=file bs=1K count=1 conv=notrunc oflag=append").unwrap();
    assert_eq!(list(&appended), ["w0 10000+1024"]);
    assert!(appended.makes && !work("if=/dev/zero of=disk bs=1K").unwrap().makes);
    // What is appended goes to the end of what is left.
    for (seek, list_of) in [("10B", "w0 0+4096"), ("1", "w0 4096+4096")] {
        let line = format!("if=/dev/zero of=file bs=4K count=1 oflag=append seek={seek}");
        assert_eq!(list(&work(&line).unwrap()), [list_of]);
    }
}

/// Oracle: strace of dd 9.1.
#[test]
fn what_is_not_to_be_cached_is_dropped_behind_each_128_kib_and_at_the_end() {
    let dropped = |line: &str| -> Vec<String> {
        let all = list(&work(line).unwrap()).into_iter();
        all.filter(|event| event.starts_with('f')).collect()
    };
    let read = "if=large of=/dev/null bs=96K count=3 skip=1 iflag=nocache";
    assert_eq!(dropped(read), ["f0 98304+131072", "f0 229376+163840"]);
    let written = "if=file of=new bs=1K count=3 seek=2 oflag=nocache";
    assert_eq!(dropped(written), ["f1 2048+3072"]);
    let both = "if=large of=new bs=128K count=1 iflag=nocache oflag=nocache";
    assert_eq!(dropped(both), ["f0 0+131072", "f1 0+131072"]);
    assert_eq!(dropped("if=file of=new"), [] as [&str; 0]);
}

#[test]
fn targets_that_do_not_suit_are_refused() {
    for (line, flag) in [
        ("if=gone of=/dev/null", "if=gone"),
        ("if=directory of=/dev/null", "if=directory"),
        ("if=pipe of=/dev/null", "if=pipe"),
        ("if=file of=file", "of=file"),
        ("if=file of=directory", "of=directory"),
        ("if=file of=pipe", "of=pipe"),
        ("if=file of=gone/x", "of=gone/x"),
        ("if=file of=disk conv=excl", "of=disk"),
        ("if=file of=new conv=nocreat", "of=new"),
        ("if=file of=/dev/null skip=100", "skip="),
        ("if=file of=/dev/null count=0", "count="),
        ("if=/dev/zero of=disk bs=1M count=2", "of="),
        ("if=/dev/zero of=new bs=1000 count=3 oflag=direct", "bs=1000"),
        ("if=/dev/zero of=new obs=1000 count=3 oflag=direct", "obs=1000"),
        ("if=/dev/zero of=new bs=4K seek=1000B count=2 oflag=direct", "seek="),
        ("if=/dev/zero of=file bs=4K count=3 oflag=append,direct conv=notrunc", "oflag=append"),
        ("if=file of=/dev/null bs=1000 iflag=direct", "bs=1000"),
        ("if=file of=/dev/null bs=4K skip=3B iflag=direct", "skip="),
        ("if=file of=/dev/null bs=4K count=100B iflag=direct", "iflag=direct"),
        ("if=file of=new bs=1000 iflag=direct", "bs=1000"),
        ("if=buffered of=new iflag=direct", "iflag=direct"),
        ("if=file of=buffered oflag=direct", "oflag=direct"),
    ] {
        let error = work(line).unwrap_err();
        assert_eq!((error.fault, error.flag.as_str()), (Fault::Target, flag), "{line}: {error}");
    }
    let error = work("if=/dev/zero of=new").unwrap_err();
    assert_eq!((error.fault, error.flag.as_str()), (Fault::Line, "count="), "{error}");
}

#[test]
fn a_copy_has_as_many_blocks_as_it_takes() {
    let copy = work("if=/dev/zero of=new bs=1 count=1000000000000").unwrap();
    assert_eq!(copy.recording().ios, 1_000_000_000_000);
}

#[test]
fn unused_data_goes_to_dev_null() {
    let use_of = |line| {
        let mut job = job::Job::default();
        work(line).unwrap().complete(&mut job);
        job.buffers.read_use
    };
    assert_eq!(use_of("if=file of=/dev/null"), job::ReadUse::NullDevice);
    assert_eq!(use_of("if=file of=new"), job::ReadUse::Nothing);
}

fn record(read: u64, written: u64, nanos: u64) -> RunRecord {
    let mut job = JobRecord { ended: Nanos(nanos), ..JobRecord::default() };
    for (direction, bytes) in [(Direction::Read, read), (Direction::Write, written)] {
        job.results[direction].bytes = Bytes(bytes);
        job.results[direction].ios = bytes.div_ceil(4096);
    }
    RunRecord { jobs: vec![job], ..RunRecord::default() }
}

#[test]
fn the_last_lines_are_those_of_dd() {
    let zero = call("if=/dev/zero of=b bs=1M count=10").unwrap();
    assert_eq!(
        lines(&zero, &record(0, 10_485_760, 609_609)),
        "10+0 records in\n10+0 records out\n\
         10485760 bytes (10 MB, 10 MiB) copied, 0.000609609 s, 17.2 GB/s\n"
    );
    let read = call("if=a of=/dev/null ibs=4K").unwrap();
    assert_eq!(
        lines(&read, &record(10_000, 0, 2_000_000_000)),
        "2+1 records in\n19+1 records out\n10000 bytes (10 kB, 9.8 KiB) copied, 2 s, 5.0 kB/s\n"
    );
    let small = call("if=a of=b count=1 status=progress").unwrap();
    assert_eq!(
        lines(&small, &record(512, 512, 1_000_000)),
        "1+0 records in\n1+0 records out\n512 bytes copied, 0.001 s, 512 kB/s\n"
    );
    let brief = call("if=a of=b count=1 status=noxfer").unwrap();
    assert_eq!(lines(&brief, &record(512, 512, 1)), "1+0 records in\n1+0 records out\n");
    let silent = call("if=a of=b count=1 status=none").unwrap();
    assert_eq!(lines(&silent, &record(512, 512, 1)), "");
    let halfway = record::PerDirection { read: 8192, write: 4096, trim: 0 };
    let copy = call("if=a of=b bs=4K").unwrap();
    assert_eq!(
        summary_so_far(&copy, &halfway, 1.002_97),
        "2+0 records in\n1+0 records out\n4096 bytes (4.1 kB, 4.0 KiB) copied, 1.00297 s, 4.1 kB/s\n"
    );
    let zeros = record::PerDirection { write: 4096, ..Default::default() };
    assert!(summary_so_far(&zero, &zeros, 1.0).starts_with("0+1 records in\n0+1 records out\n"));
    let mut full = record(0, 4096, 1);
    full.jobs[0].error = 28;
    full.jobs[0].errors = vec![ErrorCount {
        errno: 28,
        text: "No space left on device".into(),
        operation: "write".into(),
        count: 1,
        first_file: "b".into(),
        first_offset: Some(4096),
        first_length: Some(1024),
    }];
    let written = call("if=/dev/zero of=b bs=1K count=10").unwrap();
    assert!(lines(&written, &full).starts_with("5+0 records in\n4+0 records out\n4096 bytes"));
    assert_eq!(
        progress(1_073_741_824, 2.6),
        "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 3 s, 413 MB/s"
    );
    assert_eq!(progress(1000, 0.0), "1000 bytes (1.0 kB) copied, 0 s, Infinity B/s");
}

/// Names of the traps a call steps into.
fn stepped_into(line: &str, record: &RunRecord) -> Vec<&'static str> {
    traps(&call(line).unwrap(), record).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn each_trap_is_named_where_it_is() {
    let mut zeros = record(0, 1 << 20, 1);
    zeros.jobs[0].workload.settings.insert("zero_buffers".into(), "1".into());
    let line = "if=/dev/zero of=b count=2048";
    assert_eq!(stepped_into(line, &zeros), ["cache", "zeros", "depth 1", "bs"]);
    zeros.jobs[0].sync.count = 1;
    assert_eq!(stepped_into(line, &zeros), ["zeros", "depth 1", "bs"]);
    let mut written = record(0, 1 << 20, 1);
    let line = "if=/dev/urandom of=b bs=1M count=1";
    assert_eq!(stepped_into(line, &written), ["cache", "depth 1"]);
    written.jobs[0].workload.settings.insert("sync".into(), "dsync".into());
    assert_eq!(stepped_into(line, &written), ["depth 1"]);
    assert_eq!(stepped_into(line, &RunRecord::default()), [] as [&str; 0]);
    let mut read = record(1 << 20, 0, 1);
    let line = "if=a of=/dev/null bs=1M";
    assert_eq!(stepped_into(line, &read), ["depth 1"]);
    let look = FileLook { cached: Some(Bytes(1 << 19)), ..FileLook::default() };
    let evidence = FileEvidence { before: Some(look), ..FileEvidence::default() };
    read.evidence.files.insert("a".into(), evidence);
    assert_eq!(stepped_into(line, &read), ["cache", "depth 1"]);
    assert_eq!(stepped_into(&format!("{line} iflag=nocache"), &read), ["depth 1"]);
}
