//! Command lines, profiles, jobs and reports, all without a disk.

mod page;
mod reports;

use super::*;
use proptest::prelude::*;
use record::{
    Bytes, Cell, CpuFacts, CpuPlace, CpuSample, Direction, Facts, Histogram, Interval, JobRecord,
    Nanos, RunRecord, Sample, TargetFacts, TargetKind,
};
use suite::Suite;

const SECOND: u64 = 1_000_000_000;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

fn nothing(path: &str) -> Result<Vec<u8>, String> {
    Err(format!("{path} is not there"))
}

fn parse(line: &str) -> Result<DiskspdCommand, Usage> {
    DiskspdCommand::parse(&words(line), &ParseContext { read: &nothing, seed: 77 })
}

fn span(line: &str) -> TimeSpan {
    parse(line).unwrap().profile.spans.remove(0)
}

fn target(line: &str) -> Target {
    span(line).targets.remove(0)
}

/// Facts of two CPUs and of files of these sizes; 0: not there.
fn facts(files: &[(&str, u64)]) -> Facts {
    let target = |size: u64| TargetFacts {
        kind: if size > 0 { TargetKind::File } else { TargetKind::Missing },
        size: Bytes(size),
        ..TargetFacts::default()
    };
    Facts {
        hostname: "pc1".into(),
        cpu: CpuFacts {
            online: 2,
            allowed: vec![0, 1],
            nodes: [(0, vec![0, 1])].into(),
            places: [0, 1]
                .map(|core| (core, CpuPlace { socket: 0, core, capacity: Some(1024) }))
                .into(),
            governor: Some("performance".into()),
            ..CpuFacts::default()
        },
        targets: files.iter().map(|(path, size)| ((*path).into(), target(*size))).collect(),
        ..Facts::default()
    }
}

/// The jobs of a command line on files of 1 MiB, a line each.
fn jobs(line: &str) -> Vec<String> {
    let call = parse(line).unwrap();
    let files: Vec<(String, Option<Bytes>)> = call.files();
    let files: Vec<(&str, u64)> = files.iter().map(|(path, _)| (path.as_str(), 1 << 20)).collect();
    let steps = Spans::new(&call.profile, &facts(&files)).unwrap().steps();
    let all = steps.iter().map(|step| step.arguments.join(" ")).collect::<Vec<_>>().join(" ");
    all.split("--name=").skip(1).map(|job| job.trim().to_owned()).collect()
}

#[test]
fn defaults_are_those_of_diskspd() {
    let span = span("t.dat");
    assert_eq!((span.warmup_s, span.duration_s, span.cooldown_s, span.seed), (5, 10, 0, 0));
    let target = &span.targets[0];
    assert_eq!((target.block, target.depth, target.threads), (65_536, 2, 1));
    assert_eq!((target.write_percent, target.cache), (0, Cache::Buffered));
    assert_eq!(target.access, Access::Sequential { stride: 65_536, interlocked: false });
    assert_eq!(target.content, Content::Sequence);
}

#[test]
fn options_are_understood() {
    assert_eq!(target("-c2b -b4K t").create, Some(8192), "blocks count whatever stands first");
    assert_eq!(
        target("-r -b8K t").access,
        Access::Random { align: 8192, percent: 100, spread: None }
    );
    assert_eq!(
        target("-r4K -rs30 -b8K t").access,
        Access::Random { align: 4096, percent: 30, spread: None }
    );
    let spread = Spread { absolute: false, ranges: vec![(90, 10), (0, 10), (5, 20)] };
    let Access::Random { spread: found, .. } = target("-rdpct90/10:0/10:5/20 t").access else {
        panic!("it is random");
    };
    assert_eq!(found, Some(spread));
    let spread = Spread { absolute: true, ranges: vec![(90, 1 << 30)] };
    let Access::Random { spread: found, .. } = target("-rdabs90/1G t").access else {
        panic!("it is random");
    };
    assert_eq!(found, Some(spread));
    assert_eq!(target("-si t").access, Access::Sequential { stride: 65_536, interlocked: true });
    assert_eq!(target("-B4K:8K t").max_size, 12_288);
    assert_eq!(target("-g100i t").throughput, Some(Throughput::Iops(100)));
    assert_eq!(target("-g100 t").throughput, Some(Throughput::BytesPerMs(100)));
    assert_eq!(target("-t4 -i10 -j5 t").burst, Some(2), "bursts are of all threads together");
    let sh = target("-Sh t");
    assert_eq!((sh.cache, sh.write_through), (Cache::None, true));
    assert_eq!(target("-h t"), sh);
    assert_eq!(target("-Suw t"), sh);
    assert_eq!(target("-Su -Sw t"), sh);
    assert_eq!(target("-Sds t"), sh, "the letters of the port to Linux");
    assert_eq!(target("-S t").cache, Cache::None);
    assert!(target("-Sm -Nv -w50 t").flush);
    assert_eq!(
        target("-Z1M,f.bin t").content,
        Content::Buffer { size: 1 << 20, file: Some("f.bin".into()) }
    );
    assert_eq!(span("-a0,1 -a2 t").affinity, Affinity::Cpus(vec![(0, 0), (0, 1), (0, 2)]));
    assert_eq!(span("-ag t").affinity, Affinity::RoundRobin);
    assert_eq!(span("-n t").affinity, Affinity::Off);
    assert_eq!((span("-z t").seed, span("-z5 t").seed), (77, 5));
    assert_eq!((span("-D t").bucket_ms, span("-D100 t").bucket_ms), (1000, 100));
    assert_eq!(parse("-Rpxml t").unwrap().task, Task::Show);
    assert_eq!(parse("-Rp").unwrap().task, Task::Show);
    assert_eq!(parse("-?").unwrap().task, Task::Help);
    let own = parse("--allow-destroy=/dev/x --record=r.json --with-serials t").unwrap().own;
    assert_eq!((own.allow_destroy, own.record), (vec!["/dev/x".into()], Some("r.json".into())));
}

#[test]
fn what_is_wrong_is_refused_with_the_reason() {
    for (line, reason) in [
        ("-b4K", "no target"),
        ("-q t", "no such option"),
        ("t -b4K", "parameters (-b4K) must come before targets"),
        ("-b 4K", "-b: expected"),
        ("-b0 t", "above 0"),
        ("-b1.5K t", "got '1.5K'"),
        ("-w t", "-w30"),
        ("-w101 t", "0 to 100"),
        ("-d0 t", "-d0"),
        ("-o0 t", "-o0"),
        ("-Sbu t", "one of them"),
        ("-Sr t", "SMB"),
        ("-Smu t", "page cache"),
        ("-Sx t", "'x'"),
        ("-Nn -Sm t", "msync"),
        ("-Nv t", "-Sm"),
        ("-yfevent t", "Windows"),
        ("-n -a0 t", "contradict"),
        ("-a0 -n t", "contradict"),
        ("-ag1,0 t", "group 0"),
        ("-F2 -t2 t", "-F and -t"),
        ("-O4 t", "-F"),
        ("-g1 -x t", "-g and -x"),
        ("-g1 -F2 -O2 t", "-g and -O"),
        ("-i5 t", "-i and -j"),
        ("-j5 t", "-i and -j"),
        ("-p -r t", "-p and -r"),
        ("-T1M -r -t2 t", "-T and -r"),
        ("-T1M t", "more than one thread"),
        ("-si -r t", "-si and -r"),
        ("-si -w50 t", "-w0 or -w100"),
        ("-f4K -B8K t", "above -B"),
        ("-Z4K -b8K t", "hold a block"),
        ("-rdpct60/10:50/20 t", "110 %"),
        ("-rdpct100/10 t", "0/90"),
        ("-rdpct50/100 t", "50 %"),
        ("-rdpct50 t", "90/10"),
        ("-Rjson t", "text or xml"),
        ("-X t", "-Xprofile.xml"),
        ("-Xp.xml", "p.xml is not there"),
        ("-Xp.xml -b4K", "a profile"),
        ("c: t", "/dev/sda1"),
        ("#1", "/dev/sda"),
        ("a$ncpus", "rename"),
        ("- t", "names no target"),
        ("--record t", "--record=PATH"),
        ("--bogus t", "--no-archive"),
    ] {
        let error = parse(line).unwrap_err().0;
        assert!(error.contains(reason), "{line}: {error}");
    }
    assert_eq!(parse(""), Err(Usage(String::new())));
}

#[test]
fn what_means_something_else_is_told() {
    for (line, warning) in [
        ("-ePROCESS t", "ETW"),
        ("-eq t", "ETW"),
        ("-ft t", "temporary"),
        ("-p -o1 t", "no effect"),
        ("-si t", "no effect"),
        ("-t2 t", "consider -si"),
        ("-vs t", "completion ports"),
        ("-r -s t", "overridden"),
        ("-w50 t", "position of their own"),
    ] {
        let warnings = parse(line).unwrap().remarks.warnings;
        assert!(warnings.iter().any(|text| text.contains(warning)), "{line}: {warnings:?}");
    }
    for (line, note) in [
        ("-x t", "completion routines"),
        ("-p t", "worker of its own"),
        ("-T64K -t2 t", "where it began"),
        ("-C5 t", "cool-down"),
        ("-P t", "dots"),
        ("-:1 t", "no effect"),
        ("-I1 t", "idle"),
        ("-F2 a b", "worker of its own"),
        ("-Z1M -w1 t", "random place"),
    ] {
        let notes = parse(line).unwrap().remarks.notes;
        assert!(notes.iter().any(|text| text.contains(note)), "{line}: {notes:?}");
    }
    let seed = parse("-c64M -w100 -b8K -F4 -r -o128 -W1 -d3 -Sh t").unwrap();
    assert_eq!(seed.remarks, Remarks::default());
}

#[test]
fn a_command_line_becomes_a_job() {
    assert_eq!(
        jobs("-c64M -w100 -b8K -F4 -r -o128 -W1 -d3 -Sh -Zr /mnt/a:b"),
        [
            "/mnt/a:b --filename=/mnt/a\\:b --size=67108864 --bs=1 --rw=read --create_only=1",
            "/mnt/a:b --filename=/mnt/a\\:b --offset=0 --size=67108864 --rw=randwrite \
             --norandommap=1 --blockalign=8192 --bs=8192 --ioengine=io_uring --iodepth=128 \
             --numjobs=4 --direct=1 --invalidate=0 --fadvise_hint=0 --sync=dsync \
             --refill_buffers=1 --cpus_allowed=0,1 --cpus_allowed_policy=split --randseed=0 \
             --time_based=1 --runtime=3s --ramp_time=1s"
        ]
    );
    let plain = &jobs("-W0 -n -Z -w100 t")[0];
    assert_eq!(
        plain,
        "t --filename=t --offset=0 --size=1048576 --rw=write --bs=65536 --ioengine=io_uring \
         --iodepth=2 --numjobs=1 --direct=0 --invalidate=0 --fadvise_hint=0 --zero_buffers=1 \
         --scramble_buffers=0 --randseed=0 --time_based=1 --runtime=10s"
    );
}

#[test]
fn each_option_reaches_its_job() {
    for (line, word) in [
        ("-o1 t", "--ioengine=psync --iodepth=1"),
        ("-Sm -Nv -w50 t", "--ioengine=mmap"),
        ("-Sm -Nv -w50 t", "--fsync=1"),
        ("-Sm -Sw -w50 t", "--fsync=1"),
        ("-w30 t", "--rw=rw --rwmixwrite=30"),
        ("-r -w30 t", "--rw=randrw"),
        ("-s128K t", "--rw=read:65536"),
        ("-b64K -s32K t", "--rw=read:-32768"),
        ("-si -t2 t", "--shared_cursor=1"),
        ("-rs30 t", "--percentage_random=30"),
        ("-rdpct90/10 t", "--random_distribution=zoned:90/10:10/90"),
        ("-rdabs90/256K t", "--random_distribution=zoned_abs:90/262144:10/786432"),
        ("-rdabs50/1M:30/1M t", "--random_distribution=zoned_abs:100/1048576"),
        ("-B128K:256K t", "--offset=131072 --size=262144"),
        ("-f512K t", "--offset=0 --size=524288"),
        ("-g10 -w100 t", "--rate=,10000"),
        ("-g100i -w30 t", "--rate_iops=70,30"),
        ("-i8 -j5 t", "--thinktime=5ms --thinktime_blocks=8"),
        ("-I1 t", "--prioclass=3"),
        ("-I2 t", "--prioclass=2 --prio=7"),
        ("-l t", "--iomem=mmaphuge"),
        ("-fr t", "--fadvise_hint=random"),
        ("-fs t", "--fadvise_hint=sequential"),
        ("-Sw t", "--direct=0 --invalidate=0 --fadvise_hint=0 --sync=dsync"),
        ("-p -o4 t", "--iodepth=1 --numjobs=4"),
        ("-D250 t", "--bwavgtime=250 --iopsavgtime=250"),
        ("-z9 t", "--randseed=9"),
        ("-a1 t", "--cpus_allowed=1"),
        ("-Z1M,a.bin -w1 t", "--buffer_pattern='a.bin'"),
        ("-w1 t", "--buffer_pattern=0x00010203"),
        ("-F2 -O8 a b", "--filename=a:b --offset=0 --size=2097152 --file_service_type=random"),
        ("-F2 -O8 a b", "--iodepth=8 --numjobs=2"),
    ] {
        let found = jobs(line);
        assert!(found[0].contains(word), "{line}: {word} is not in {found:?}");
    }
}

/// No files, no environment.
struct Bare;

impl job::Inputs for Bare {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        Err(std::io::Error::other(path))
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn keywords(&self) -> job::Keywords {
        job::Keywords { page_size: 4096, memory_mib: 1024, cpus: 2, place: None }
    }
}

#[test]
fn every_job_is_understood_by_fathom() {
    for line in [
        "t",
        "-c64M -w100 -b8K -F4 -r -o128 -W1 -d3 -Sh -Zr a:b",
        "-g10 -w100 t",
        "-g100i -w30 -r -b8K -r4K t",
        "-b64K -s32K -p -o4 -Z t",
        "-i8 -j5 -I1 -l -fr t",
        "-Sm -Nv -w50 -rs30 t",
        "-rdpct90/10:0/20 -D250 -z9 -a1 t",
        "-rdabs90/256K -n -C1 t",
        "-F2 -O8 -r a b",
        "-T64K -t3 -B64K -f512K t",
        "-si -t2 t",
    ] {
        let call = parse(line).unwrap();
        let files: Vec<(String, Option<Bytes>)> = call.files();
        let files: Vec<(&str, u64)> =
            files.iter().map(|(path, _)| (path.as_str(), 1 << 20)).collect();
        for step in Spans::new(&call.profile, &facts(&files)).unwrap().steps() {
            let parsed = job::parse(&step.arguments, job::Dialect::Fathom, &Bare);
            let jobs = parsed.unwrap_or_else(|error| panic!("{line}: {error}")).jobs;
            let paths: Vec<&str> = jobs[0].target.filenames.iter().map(String::as_str).collect();
            assert!(
                paths.iter().all(|path| files.iter().any(|(known, _)| known == path)),
                "{paths:?}"
            );
        }
    }
}

#[test]
fn threads_begin_apart_where_they_are_told_to() {
    let jobs = jobs("-T256K -t3 t");
    let regions = [
        "--offset=0 --size=1048576",
        "--offset=262144 --size=786432",
        "--offset=524288 --size=524288",
    ];
    assert_eq!(jobs.len(), 3);
    for (job, region) in jobs.iter().zip(regions) {
        assert!(job.contains(region) && job.contains("--numjobs=1"), "{job}");
    }
    let layout = super::jobs::layout(&span("-t2 -p -o4 a b"));
    let found: Vec<_> = layout.iter().map(|c| (c.target, c.first, c.threads, c.streams)).collect();
    assert_eq!(found, [(Some(0), 0, 2, 4), (Some(1), 2, 2, 4)]);
    let layout = super::jobs::layout(&span("-F2 a b"));
    assert!(layout.iter().all(|clones| (clones.first, clones.threads) == (0, 2)));
}

#[test]
fn targets_that_do_not_suit_are_refused_before_anything_runs() {
    for (line, files, reason) in [
        ("t", &[("t", 0)][..], "-c<size>"),
        ("t", &[("t", 4096)][..], "-b"),
        ("-B1M t", &[("t", 1 << 20)][..], "-B"),
        ("-T1M -t2 t", &[("t", 1 << 20)][..], "-T"),
        ("-F1 -O2 a b", &[("a", 1 << 20), ("b", 1 << 21)][..], "-f"),
    ] {
        let profile = parse(line).unwrap().profile;
        let error = Spans::new(&profile, &facts(files)).err().expect(line).0;
        assert!(error.contains(reason), "{line}: {error}");
    }
    let mut facts = facts(&[("t", 1 << 20)]);
    facts.targets.get_mut("t").unwrap().kind = TargetKind::Directory;
    let error = Spans::new(&parse("t").unwrap().profile, &facts).err().unwrap();
    assert!(error.0.contains("is a directory"), "{error}");
}

#[test]
fn timespans_run_in_turn_with_their_cool_down() {
    let profile = parse("-W1 -d2 -C3 t").unwrap().profile;
    let mut spans = Spans::new(&profile, &facts(&[("t", 1 << 20)])).unwrap();
    let names: Vec<String> = spans.steps().iter().map(|step| step.cell.name.clone()).collect();
    assert_eq!(names, ["timespan 1", "cool-down 1"]);
    assert!(spans.steps()[1].arguments.contains(&"--runtime=3s".to_owned()));
    let whole = spans.expected().whole;
    assert!(whole >= Nanos(6 * SECOND) && whole < Nanos(7 * SECOND), "{whole:?}");
    // Another engine is tried once.
    let error = record::ErrorCount {
        errno: 1,
        text: "not permitted".into(),
        operation: "use the I/O engine".into(),
        count: 1,
        first_file: String::new(),
        first_offset: None,
        first_length: None,
    };
    let failed = RunRecord {
        jobs: vec![JobRecord { errors: vec![error], error: 1, ..JobRecord::default() }],
        ..RunRecord::default()
    };
    assert!(spans.completed(&failed)[0].contains("libaio"));
    assert!(spans.next().unwrap().arguments.contains(&"--ioengine=libaio".to_owned()));
    spans.completed(&RunRecord::default());
    assert_eq!(spans.next().unwrap().cell.name, "cool-down 1");
    // What fails with that as well would fail again.
    assert!(spans.completed(&failed).is_empty());
    assert_eq!(spans.next(), None);
}

#[test]
fn files_are_made_as_long_as_they_are_told_before_all_else() {
    let profile = parse("-c2M -f1M -C1 t").unwrap().profile;
    let spans = || Spans::new(&profile, &facts(&[("t", 0)])).unwrap();
    let mut making = spans();
    let step = making.next().unwrap();
    assert_eq!(step.cell.name, "creating files");
    assert!(step.arguments.contains(&"--size=2097152".to_owned()), "{:?}", step.arguments);
    let made = RunRecord {
        jobs: vec![JobRecord::default()],
        cell: Some(step.cell),
        ..RunRecord::default()
    };
    assert!(only_created(&made));
    making.completed(&made);
    let step = making.next().unwrap();
    assert_eq!(step.cell.name, "timespan 1");
    assert!(step.arguments.contains(&"--size=1048576".to_owned()), "{:?}", step.arguments);
    // A disk that is full leaves nothing to measure.
    let mut full = made.clone();
    full.jobs[0].error = 28;
    assert!(!only_created(&full));
    let mut making = spans();
    making.completed(&full);
    assert_eq!(making.next(), None);
    // A device is as large as it is.
    let mut facts = facts(&[("t", 4 << 20)]);
    facts.targets.get_mut("t").unwrap().kind = TargetKind::Block;
    assert_eq!(Spans::new(&profile, &facts).unwrap().next().unwrap().cell.name, "timespan 1");
}

#[test]
fn a_profile_is_read_as_it_is_written() {
    for line in [
        "-Rxml t.dat",
        "-Rxml -b4K -r -rs30 -w30 -o8 -t2 -L -D -Sh -W1 -d2 -C3 -z7 a b",
        "-Rtext -rdpct90/10 -c1G -Zr -g100i -I2 -fr -n t",
        "-rdabs90/1G:10/2G -Z1M,f.bin -a0,1 -F3 -O4 t",
        "-si -t2 -B4K -f1G -i8 -j5 -l -ft t",
        "-p -Sm -Nv -w100 -Z t&<>",
    ] {
        let call = parse(line).unwrap();
        let text = to_xml::profile(&call.profile);
        let (again, _) = from_xml::profile(&text).unwrap_or_else(|e| panic!("{e} in {text}"));
        assert_eq!(again, call.profile, "{line}");
    }
}

#[test]
fn a_command_line_goes_over_a_profile() {
    let xml = "<Profile><TimeSpans><TimeSpan><Duration>30</Duration><Targets><Target><Path>*1</Path>\
               <Random>4096</Random></Target></Targets></TimeSpan></TimeSpans></Profile>";
    for bytes in [
        xml.as_bytes().to_vec(),
        [0xff, 0xfe].into_iter().chain(xml.encode_utf16().flat_map(u16::to_le_bytes)).collect(),
    ] {
        let read = |_: &str| Ok(bytes.clone());
        let parse =
            |line| DiskspdCommand::parse(&words(line), &ParseContext { read: &read, seed: 1 });
        let call = parse("-Xp.xml -d3 -Rxml x.dat").unwrap();
        assert_eq!(call.profile.format, Format::Xml);
        let span = &call.profile.spans[0];
        assert_eq!((span.duration_s, span.warmup_s), (3, 5));
        assert_eq!(span.targets[0].path, "x.dat");
        let error = parse("-Xp.xml").unwrap_err().0;
        assert!(error.contains("target number 1"), "{error}");
    }
}

#[test]
fn profiles_that_are_none_are_refused_with_the_line() {
    let within = |target: &str| {
        format!(
            "<Profile>\n<TimeSpans>\n<TimeSpan>\n<Targets>\n<Target>\n<Path>t</Path>\n{target}\n\
             </Target>\n</Targets>\n</TimeSpan>\n</TimeSpans>\n</Profile>"
        )
    };
    for (target, reason) in [
        ("<Blocksize>4</Blocksize>", "line 7: <Blocksize> has no meaning"),
        ("<BlockSize>4K</BlockSize>", "line 7: <BlockSize>"),
        ("<WriteRatio>200</WriteRatio>", "0 to 100"),
        ("<DisableLocalCache>true</DisableLocalCache>", "SMB"),
        ("<FlushType>NonVolatileMemory</FlushType>", "msync"),
        ("<ThreadTargets></ThreadTargets>", "timespan"),
        ("<Distribution><Percent><Range IO=\"9\">9</Range></Percent></Distribution>", "<Random>"),
        ("<RequestCount>0</RequestCount>", "1 to"),
        ("<UseLargePages>maybe</UseLargePages>", "true or false"),
    ] {
        let error = from_xml::profile(&within(target)).unwrap_err();
        assert!(error.contains(reason), "{target}: {error}");
    }
    for (text, reason) in [
        ("<Profile/>", "<TimeSpans>"),
        ("<Profile><TimeSpans/></Profile>", "no <TimeSpan>"),
        ("<Other/>", "expected <Profile>"),
        ("<Results/>", "no <Profile>"),
        ("nonsense", "unknown token"),
    ] {
        let error = from_xml::profile(text).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn no_command_line_makes_it_panic(line in "[-/#*:?a-zA-Z0-9,. ]{0,40}") {
        let _ = parse(&line);
    }

    #[test]
    fn shares_of_a_spread_always_add_up(
        ranges in prop::collection::vec((0_u64..=25, 1_u64..2_000), 1..4),
        length in 1_u64..5_000,
    ) {
        let spread = super::jobs::effective(&Spread { absolute: true, ranges }, length);
        prop_assert_eq!(spread.ranges.iter().map(|range| range.0).sum::<u64>(), 100);
        prop_assert_eq!(spread.ranges.iter().map(|range| range.1).sum::<u64>(), length);
    }
}
