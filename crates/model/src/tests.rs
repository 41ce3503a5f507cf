use crate::fit::Skew;
use crate::job::JobOptions;
use crate::testing::{Draw, IO, MS, SECOND, ZipfTable, closed, entries, file, model_of, thread};
use crate::{Builder, Loop, Model, Splitter, draw, job, replay, score};
use trace::ftr::{Entry, Event, Flags, Level, Operation};

#[test]
fn a_zipf_load_is_fitted_and_written_into_the_job() {
    let mut random = Draw::new(1);
    let table = ZipfTable::new(0.9, 16_384);
    let events = closed(4, 20_000, &mut random, |draw, _, _| {
        // Ranks are scattered over the file.
        let block = table.draw(draw).wrapping_mul(0x9E37_79B1) % 16_384;
        (Event { offset: block * 4096, duration_ns: Some(100_000), ..IO }, 50_000)
    });
    let model = model_of(events);
    let stream = &model.streams[0];
    let fit = stream.skew.unwrap();
    let Skew::Zipf(theta) = fit.skew else { panic!("{fit:?}") };
    assert!((theta - 0.9).abs() < 0.05 && fit.distance < 0.05, "{fit:?}");
    assert_eq!((stream.concurrency, stream.pacing), (4, Loop::Closed), "{}", stream.reason);
    assert!(stream.sequential < 0.01);
    let text = job::text(&model, &[], &JobOptions::default());
    assert!(text.contains("random_distribution=zipf:0."), "{text}");
    assert!(text.contains("numjobs=4\n") && text.contains("rw=randread\n"), "{text}");
    assert!(text.contains("bssplit=4096/100\n"), "{text}");
}

#[test]
fn compute_between_ios_is_told_from_sleep_and_limits_the_gain() {
    let mut random = Draw::new(2);
    let events = closed(1, 5000, &mut random, |draw, _, _| {
        let think = 900_000;
        let io = Event { offset: draw.below(16_384) * 4096, duration_ns: Some(100_000), ..IO };
        (Event { cpu_before_ns: Some(think), ..io }, think)
    });
    let model = model_of(events);
    let cpu = model.cpu.as_ref().unwrap();
    assert!((cpu.gain - 0.111).abs() < 0.005, "{cpu:?}");
    assert!(cpu.computing.unwrap() > 0.85);
    let stream = &model.streams[0];
    assert_eq!(stream.pacing, Loop::Closed);
    assert!((stream.think.mean_ns / 9e5 - 1.0).abs() < 0.02, "{:?}", stream.think);
    let text = job::text(&model, &[], &JobOptions::default());
    let think: f64 = option(&text, "thinktime").trim_end_matches("us").parse().unwrap();
    let spin: f64 = option(&text, "thinktime_spin").trim_end_matches("us").parse().unwrap();
    assert!((think - 900.0).abs() < 10.0 && (spin - 900.0).abs() < 10.0, "{text}");
}

fn option<'a>(job: &'a str, name: &str) -> &'a str {
    let line = job.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("no {name} in {job}"))
}

/// Reads at scheduled times, by one thread that is late where an I/O takes longer than the gap.
fn scheduled(gap: impl Fn(&mut Draw) -> u64) -> Model {
    let mut random = Draw::new(3);
    let (mut due, mut free, mut events) = (0, 0, Vec::new());
    for _ in 0..20_000 {
        due += gap(&mut random);
        let at = due.max(free);
        let latency = 50_000 + random.exponential(100_000.0);
        events.push(Event {
            at_ns: at,
            duration_ns: Some(latency),
            offset: random.below(16_384) * 4096,
            ..IO
        });
        free = at + latency;
    }
    model_of(events)
}

#[test]
fn open_loops_are_told_from_closed_ones_and_poisson_from_regular_arrivals() {
    let poisson = scheduled(|draw| draw.exponential(2e6));
    let stream = &poisson.streams[0];
    assert_eq!(stream.pacing, Loop::Open, "{}", stream.reason);
    assert!(poisson.arrivals.poisson, "{:?}", poisson.arrivals);
    assert!((poisson.arrivals.rate / 500.0 - 1.0).abs() < 0.03);
    let text = job::text(&poisson, &[], &JobOptions::default());
    assert!(text.contains("rate_process=poisson"), "{text}");
    let regular = scheduled(|_| 2_000_000);
    assert_eq!(regular.streams[0].pacing, Loop::Open, "{}", regular.streams[0].reason);
    assert!(!regular.arrivals.poisson);
    let text = job::text(&regular, &[], &JobOptions::default());
    assert!(text.contains("rate_iops=500\n") && !text.contains("poisson"), "{text}");
}

#[test]
fn bursts_and_their_pauses_are_found() {
    let mut random = Draw::new(4);
    let model = model_of(closed(1, 20_000, &mut random, |draw, n, _| {
        let think = if n % 32 == 0 { 20 * MS } else { 5_000 };
        (Event { offset: draw.below(16_384) * 4096, duration_ns: Some(80_000), ..IO }, think)
    }));
    let think = model.streams[0].think;
    assert!((think.burst - 32.0).abs() < 1.0, "{think:?}");
    assert!((think.pause_ns / 2e7 - 1.0).abs() < 0.1, "{think:?}");
    assert!(!model.arrivals.poisson && model.arrivals.gap_variation > 2.0, "{:?}", model.arrivals);
    assert!(job::text(&model, &[], &JobOptions::default()).contains("thinktime_blocks=32\n"));
}

#[test]
fn runs_strides_mixes_and_sizes_are_those_of_the_trace() {
    let mut random = Draw::new(5);
    let mut at = 0;
    let model = model_of(closed(1, 40_000, &mut random, |draw, n, _| {
        at = if n % 8 == 0 { draw.below(500) * 131_072 } else { at + 16_384 };
        (Event { offset: at, length: 16_384, duration_ns: Some(50_000), ..IO }, 1000)
    }));
    let stream = &model.streams[0];
    assert!((stream.sequential - 0.875).abs() < 0.01 && (stream.run_mean - 8.0).abs() < 0.1);
    assert!(job::text(&model, &[], &JobOptions::default()).contains("rw=randread:8\n"));
    let strided = model_of(closed(1, 8000, &mut random, |_, n, _| {
        (Event { offset: n % 1000 * 65_536, duration_ns: Some(50_000), ..IO }, 1000)
    }));
    let (stride, share) = strided.streams[0].stride.unwrap();
    assert!(stride == 65_536 && share > 0.98, "{stride} {share}");
    let mixed = model_of(closed(1, 20_000, &mut random, |draw, _, _| {
        let operation = if draw.below(10) < 7 { Operation::Read } else { Operation::Write };
        let length = if draw.below(4) == 0 { 65_536 } else { 8192 };
        (
            Event {
                operation,
                length,
                offset: draw.below(1000) * 65_536,
                duration_ns: Some(9000),
                ..IO
            },
            1000,
        )
    }));
    let text = job::text(&mixed, &[], &JobOptions::default());
    let share: u64 = option(&text, "rwmixread").parse().unwrap();
    assert!((69..=71).contains(&share), "{text}");
    let sizes = &mixed.streams[0].read_sizes;
    assert!(sizes[0].value == 8192 && (sizes[0].share - 0.75).abs() < 0.02, "{sizes:?}");
}

#[test]
fn phases_are_found_where_the_load_changes() {
    let mut random = Draw::new(6);
    let mut events = Vec::new();
    for n in 0..30_000 {
        let read = Event { offset: random.below(16_384) * 4096, duration_ns: Some(20_000), ..IO };
        events.push(Event { at_ns: n * SECOND / 3000, ..read });
        if n < 10_000 {
            let write = Event { operation: Operation::Write, length: 1 << 20, thread: 1, ..read };
            events.push(Event { at_ns: 10 * SECOND + n * SECOND / 2000, file: 1, ..write });
        }
    }
    let model = model_of(events.clone());
    let starts: Vec<f64> = model.phases.iter().map(|phase| phase.from).collect();
    assert_eq!(starts.len(), 2, "{:?}", model.phases);
    assert!((starts[1] - 10.0).abs() < 0.2, "{starts:?}");
    assert!(model.phases[0].read_share > 0.99 && model.phases[1].read_share < 0.01);
    assert!((model.phases[0].iops / 3000.0 - 1.0).abs() < 0.05);
    let mut splitter = Splitter::new(&model).unwrap();
    entries(events).iter().for_each(|entry| splitter.entry(entry));
    let phases = splitter.finish();
    // A window lies across the change.
    assert!(phases[0].totals.reads > 29_500 && phases[1].totals.writes > 9_500);
    let text = job::text(&model, &phases, &JobOptions::default());
    let sections: Vec<&str> = text.lines().filter(|line| line.starts_with("[phase")).collect();
    assert!(sections.len() >= 2 && sections[0].starts_with("[phase1-"), "{text}");
    let (first, second) = text.split_at(text.find("[phase2-").unwrap());
    assert!(!first.contains("stonewall") && second.contains("runtime=5\nstonewall=1\n"), "{text}");
    assert!(first.contains("runtime=10\n"), "{text}");
    let drawing = draw::drawing(&model, &phases, "");
    let reader =
        drawing.threads.iter().find(|threads| threads.name.starts_with("phase1-")).unwrap();
    let writer =
        drawing.threads.iter().find(|threads| threads.name.starts_with("phase2-")).unwrap();
    assert!(reader.from < 100 && reader.to < 10_200, "{reader:?}");
    assert!((9800..10_200).contains(&writer.from) && writer.to > 14_900, "{writer:?}");
}

#[test]
fn files_are_filled_as_far_as_they_were_there() {
    let writes = |offset: fn(u64, &mut Draw) -> u64| {
        let mut random = Draw::new(11);
        let io = |draw: &mut Draw, n, _| {
            let at = Event { operation: Operation::Write, file: 2, ..IO };
            (Event { offset: offset(n, draw), duration_ns: Some(50_000), ..at }, 1000)
        };
        model_of(closed(1, 4000, &mut random, io))
    };
    for (model, filled, line) in [
        (writes(|_, draw| draw.below(2048) * 4096), 8 << 20, "overwrite=1\n"),
        // A file of 8 MiB grows by as much.
        (writes(|n, _| (2048 + n % 2048) * 4096), 8 << 20, "overwrite=1\n"),
        (writes(|n, _| (2048 + n) * 4096), 8 << 20, "fallocate=none\n"),
    ] {
        let text = job::text(&model, &[], &JobOptions::default());
        assert!(text.contains(line), "{text}");
        assert_eq!(draw::drawing(&model, &[], "").files[0].filled, filled);
    }
}

#[test]
fn outstanding_ios_of_a_queue_are_its_depth() {
    // Sixteen in flight: each completion is followed by the next I/O at once.
    let mut random = Draw::new(7);
    let (mut slots, mut events) = ([0_u64; 16], Vec::new());
    for _ in 0..20_000 {
        let slot = (0..16).min_by_key(|slot| slots[*slot]).unwrap();
        let latency = 100_000 + random.exponential(50_000.0);
        let io =
            Event { flags: Flags::ASYNC.with(Flags::DIRECT), duration_ns: Some(latency), ..IO };
        events.push(Event { at_ns: slots[slot], offset: random.below(16_384) * 4096, ..io });
        slots[slot] += latency;
    }
    let model = model_of(events);
    let stream = &model.streams[0];
    assert!((model.outstanding_mean - 16.0).abs() < 0.3, "{}", model.outstanding_mean);
    assert_eq!((stream.depth, stream.pacing), (16, Loop::Closed), "{}", stream.reason);
    let text = job::text(&model, &[], &JobOptions::default());
    assert!(text.contains("iodepth=16\ndirect=1\n"), "{text}");
}

/// A log: eight writes, then fdatasync, of the second file, beside reads of the first.
fn logging() -> Model {
    let mut random = Draw::new(8);
    let mut at = 0;
    model_of(closed(2, 27_000, &mut random, |draw, n, _| {
        let step = n % 18;
        let read = Event { offset: draw.below(16_384) * 4096, duration_ns: Some(90_000), ..IO };
        let write = Event { operation: Operation::Write, file: 1, duration_ns: Some(5000), ..IO };
        match step {
            0..9 => (read, 10_000),
            9..17 => {
                at = (at + 4096) % (16 << 20);
                (Event { offset: at, ..write }, 2000)
            }
            _ => {
                let sync = Event { operation: Operation::Fdatasync, length: 0, ..write };
                (Event { duration_ns: Some(MS), ..sync }, 1000)
            }
        }
    }))
}

#[test]
fn syncs_and_what_follows_what_are_kept() {
    let model = logging();
    assert_eq!(model.streams.len(), 2, "{:?}", model.streams);
    let log = model.streams.iter().find(|stream| stream.writes > 0).unwrap();
    assert!(log.datasync && (log.writes_per_sync.unwrap() - 8.0).abs() < 0.01, "{log:?}");
    assert!((model.syncs.writes_per_sync.unwrap() - 8.0).abs() < 0.1, "{:?}", model.syncs);
    let text = job::text(&model, &[], &JobOptions::default());
    assert!(text.contains("fdatasync=8\n"), "{text}");
    let drawing = draw::drawing(&model, &[], "");
    let steps = &drawing.threads[0].steps;
    assert_eq!((drawing.threads[0].count, steps.len(), drawing.files.len()), (2, 3, 2));
    let sync = steps.iter().find(|step| step.sizes.is_empty()).unwrap();
    let all: u64 = sync.next.iter().map(|(_, weight)| weight).sum();
    let reads =
        steps.iter().position(|step| step.operation == trace::DrawnOperation::Read).unwrap();
    assert!(sync.next.iter().any(|(to, weight)| *to == reads && *weight * 100 > all * 99));
    let again = trace::Drawing::parse(&drawing.text()).unwrap();
    assert_eq!(again, drawing);
}

#[test]
fn threads_with_direct_reads_write_their_log_in_blocks() {
    let model = model_of(closed(1, 9000, &mut Draw::new(3), |draw, n, _| match n % 3 {
        0 => {
            let write = Event { operation: Operation::Write, file: 1, offset: n * 430, ..IO };
            (Event { length: 430, ..write }, 2000)
        }
        _ => {
            let direct = Flags::default().with(Flags::DIRECT);
            (Event { offset: draw.below(4096) * 4096, flags: direct, ..IO }, 10_000)
        }
    }));
    let threads = &draw::drawing(&model, &[], "").threads[0];
    assert!(threads.direct);
    let of = |operation| threads.steps.iter().find(|step| step.operation == operation).unwrap();
    let write = of(trace::DrawnOperation::Write);
    assert_eq!((write.align, &write.sizes[..]), (4096, &[(4096, write.sizes[0].1)][..]));
    let read = of(trace::DrawnOperation::Read);
    assert_eq!((read.align, read.sizes[0].0), (4096, IO.length));
}

#[test]
fn writing_back_that_is_asked_for_is_no_synchronisation() {
    let mut random = Draw::new(8);
    let model = model_of(closed(1, 9000, &mut random, |_, n, _| {
        let write = Event { operation: Operation::Write, duration_ns: Some(5000), ..IO };
        match n % 9 {
            8 => (Event { operation: Operation::SyncRange, ..write }, 1000),
            _ => (Event { offset: n % 2048 * 4096, ..write }, 2000),
        }
    }));
    let stream = &model.streams[0];
    assert_eq!((stream.writes_per_sync, model.syncs.range), (None, 1000), "{stream:?}");
    assert!((stream.writes_per_range_sync.unwrap() - 8.0).abs() < 0.01, "{stream:?}");
    let text = job::text(&model, &[], &JobOptions::default());
    assert!(text.contains("\nsync_file_range=write:8\n") && !text.contains("sync=8"), "{text}");
    let drawing = draw::drawing(&model, &[], "");
    let mut operations = drawing.threads[0].steps.iter().map(|step| step.operation);
    assert!(operations.any(|operation| operation == trace::DrawnOperation::SyncRange));
    assert_eq!(trace::Drawing::parse(&drawing.text()).unwrap(), drawing);
}

#[test]
fn a_trace_scores_100_against_itself_and_less_against_others() {
    let model = logging();
    let same = score::scores(&model, &model, false, 1);
    assert!(same.len() >= 9, "{same:?}");
    assert!(score::mark(&same) > 99.9, "{same:?}");
    let other = scheduled(|draw| draw.exponential(2e6));
    let apart = score::scores(&model, &other, false, 1);
    assert!(score::mark(&apart) < 50.0, "{apart:?}");
    assert!(apart.iter().all(|one| one.low <= one.distance && one.distance <= one.high));
    assert!(apart.iter().any(|one| one.property == "durability" && one.mark == 0.0));
    assert!(apart.iter().any(|one| one.property == "write sizes" && one.mark == 0.0));
    assert_eq!(score::worst(&apart).unwrap().mark, 0.0);
}

#[test]
fn a_few_writes_beside_reads_have_no_marks() {
    let reads = |writes: u64| {
        let mut random = Draw::new(12);
        model_of(closed(1, 4000, &mut random, |draw, n, _| {
            let operation = if n < writes { Operation::Write } else { Operation::Read };
            (
                Event {
                    operation,
                    offset: draw.below(4096) * 4096,
                    duration_ns: Some(50_000),
                    ..IO
                },
                1000,
            )
        }))
    };
    let of_writes = |model: &Model| {
        let scores = score::scores(&reads(0), model, false, 1);
        scores.iter().filter(|one| one.property.contains("write")).count()
    };
    assert_eq!([of_writes(&reads(2)), of_writes(&reads(400))], [0, 2]);
}

/// Reads of random blocks, each 1 ms after the one before. A device has all of them, or every `every`th.
fn cached(every: u64, ios: u64) -> Model {
    let mut random = Draw::new(9);
    let io = |n| Event {
        at_ns: n * MS,
        duration_ns: Some(100_000),
        offset: random.below(16_384) * 4096,
        ..IO
    };
    let asked: Vec<Event> = (0..ios).map(io).collect();
    let device = |event: &Event| Event { level: Level::Device, ..*event };
    let reach: Vec<Event> = asked.iter().step_by(every as usize).map(device).collect();
    model_of(asked.into_iter().chain(reach).collect())
}

#[test]
fn devices_and_the_page_cache_are_scored_if_both_traces_have_them() {
    let [all, tenth] = [cached(1, 20_000), cached(10, 20_000)];
    assert!(all.has_devices() && !logging().has_devices());
    let scores = score::scores(&all, &tenth, true, 1);
    let of = |name| scores.iter().find(|one| one.property == name).unwrap();
    for name in ["device IOPS", "device bandwidth", "page cache hits"] {
        let score = of(name);
        assert!((score.distance - 0.9).abs() < 0.01, "{score:?}");
        assert!(score.high - score.low < 0.1 && !score.advice.is_empty(), "{score:?}");
    }
    assert!(of("IOPS").mark > 99.0 && score::mark(&scores) < 90.0, "{scores:?}");
    let without = score::scores(&all, &tenth, false, 1);
    assert!(without.iter().all(|one| !one.property.contains("device")), "{without:?}");
}

#[test]
fn intervals_are_wider_with_fewer_ios_and_hold_the_distance() {
    let width = |ios| {
        let mut random = Draw::new(ios);
        let mut model = || {
            model_of(closed(2, ios, &mut random, |draw, _, _| {
                let operation = if draw.below(2) == 0 { Operation::Read } else { Operation::Write };
                let offset = draw.below(4096) * 4096;
                let duration_ns = Some(50_000 + draw.exponential(50_000.0));
                (Event { operation, offset, duration_ns, ..IO }, draw.exponential(100_000.0))
            }))
        };
        let scores = score::scores(&model(), &model(), false, 1);
        let of = |name| scores.iter().find(|one| one.property == name).unwrap();
        ["reads among I/Os", "locality", "outstanding I/Os"].map(|name| {
            let score = of(name);
            assert!(score.low <= score.distance && score.distance <= score.high, "{score:?}");
            score.high - score.low
        })
    };
    let (few, many) = (width(500), width(20_000));
    assert!(few.iter().zip(&many).all(|(few, many)| few > many), "{few:?} {many:?}");
}

#[test]
fn traces_without_much_in_them_make_models_that_say_so() {
    let empty = Builder::new().finish();
    assert_eq!(empty.warnings, ["the trace has no reads and no writes"]);
    assert!(empty.streams.is_empty() && empty.phases.is_empty());
    job::text(&empty, &[], &JobOptions::default());
    let one = model_of(vec![Event { duration_ns: Some(1000), ..IO }]);
    assert_eq!((one.totals.reads, one.streams.len()), (1, 1));
    assert!(one.warnings[0].contains("are few"), "{:?}", one.warnings);
    job::text(&one, &[], &JobOptions::default());
    draw::drawing(&one, &[], "");
    let syncs = model_of(vec![Event { operation: Operation::Fsync, ..IO }; 10]);
    assert_eq!(syncs.warnings, ["the trace has no reads and no writes"]);
    let blind =
        model_of((0..2000).map(|n| Event { at_ns: n * MS, duration_ns: None, ..IO }).collect());
    assert!(blind.warnings.iter().any(|text| text.contains("2000 events have no duration")));
}

#[test]
fn losses_clock_steps_and_unknown_files_and_threads_are_survived_and_said() {
    let mut builder = Builder::new();
    builder.entry(&Entry::Lost(500));
    for n in 0..3000_u64 {
        let at_ns = if n < 1500 { 3600 * SECOND + n * MS } else { n * MS };
        let odd = Event { at_ns, thread: 4 << 28, file: 4 << 28, offset: u64::MAX - 5, ..IO };
        builder.entry(&Entry::Event(Event { duration_ns: Some(u64::MAX), ..odd }));
        builder.entry(&Entry::Event(Event { duration_ns: Some(1000), ..odd }));
    }
    builder.entry(&file(4 << 28, "x", 1));
    builder.entry(&thread(4 << 28, "y"));
    let model = builder.finish();
    assert!(model.warnings[0].starts_with("500 events were lost"), "{:?}", model.warnings);
    assert!(
        model.warnings.iter().any(|text| text.starts_with("the clock went back")),
        "{:?}",
        model.warnings
    );
    job::text(&model, &[], &JobOptions::default());
    draw::drawing(&model, &[], "").text();
}

#[test]
fn thousands_of_files_and_threads_are_a_few_streams() {
    let mut builder = Builder::new();
    for n in 0..5000_u32 {
        builder.entry(&file(n, &format!("/mail/user{n}/cur/{n}.msg"), 8192));
        builder.entry(&thread(n, &format!("worker/{n}")));
        let io =
            Event { at_ns: u64::from(n) * MS, duration_ns: Some(1000), file: n, thread: n, ..IO };
        builder.entry(&Entry::Event(io));
    }
    let model = builder.finish();
    assert_eq!(model.streams.len(), 1);
    let stream = &model.streams[0];
    assert_eq!((stream.file_count, stream.files[0].as_str()), (5000, "/mail/user#/cur/#.msg"));
    assert_eq!(stream.file_bytes, 5000 * 8192);
}

#[test]
fn a_device_trace_is_modelled_with_a_warning_and_a_cache_share_needs_both_levels() {
    let at = |n: u64, level| Event {
        at_ns: n * MS,
        duration_ns: Some(1000),
        level,
        offset: n * 4096,
        ..IO
    };
    let device = model_of((0..2000).map(|n| at(n, Level::Device)).collect());
    assert_eq!(device.totals.level, "device");
    assert!(device.warnings.iter().any(|text| text.contains("only the device level")));
    let both =
        (0..4000).map(|n| at(n, if n % 4 == 0 { Level::Device } else { Level::Application }));
    let both = model_of(both.collect());
    assert!((both.cache_share.unwrap() - 2.0 / 3.0).abs() < 0.01);
}

#[test]
fn a_replay_has_all_events_in_order_and_scaled() {
    let mut text = Vec::new();
    let mut writer = replay::ReplayWriter::new(&mut text, Level::Application, 0.5).unwrap();
    writer.entry(&file(0, "/a", 1 << 20)).unwrap();
    for (at_ns, operation) in
        [(5000, Operation::Write), (3000, Operation::Read), (9000, Operation::Fsync)]
    {
        let event = Event { at_ns, operation, offset: 16_384, ..IO };
        writer.entry(&Entry::Event(event)).unwrap();
    }
    assert_eq!(writer.ios, 3);
    writer.finish().unwrap();
    let expected = "fio version 3 iolog\n0 /a add\n0 /a open\n0 /a write 8192 4096\n\
                    0 /a read 8192 4096\n4 /a sync 8192 0\n4 /a close\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}
