use super::*;
use crate::testing;
use record::{
    Bytes, Cell, Coordinate, DeviceFacts, Direction, FilesystemFacts, Fleet, FleetWindow, GroupKey,
    Histogram, LatencyHistory, Nanos, PerDirection, RankGroup, RankRecord, RankState, RecordSet,
    RunRecord, SourceText, TargetFacts,
};

fn judged_set(name: &str, runs: Vec<RunRecord>) -> JudgedSet {
    let kind = if runs.len() > 1 { "repeat" } else { "run" };
    JudgedSet::new(name, RecordSet { kind: kind.into(), runs, ..RecordSet::default() })
}

fn one(run: RunRecord) -> String {
    document(&[judged_set("a", vec![run])])
}

/// A run of so many seconds with a history of its latencies and a sample of the machine each tenth.
fn long(seconds: u64) -> RunRecord {
    let mut run = testing::mixed();
    let job = &mut run.jobs[0];
    job.interval_step = Nanos(testing::SECOND);
    job.ended = Nanos(seconds * testing::SECOND);
    let one = job.intervals[0];
    job.intervals = (0..seconds)
        .map(|at| record::Interval {
            start: Nanos(at * testing::SECOND),
            length: Nanos(testing::SECOND),
            ..one
        })
        .collect();
    job.latency_history = LatencyHistory::new(Nanos(testing::SECOND));
    for at in 0..seconds {
        let mut histogram = Histogram::new();
        (0..2000_u64).for_each(|i| histogram.record(50_000 + i * i + at * 100));
        let counts = PerDirection::all(histogram.coarse_since(&mut Vec::new()));
        job.latency_history.push(Nanos(at * testing::SECOND), counts);
    }
    let moment = |at: u64| {
        let cpu = record::CpuSample { user_ms: at * 20, idle_ms: at * 80, ..Default::default() };
        let disk = record::DiskSample { read_bytes: at << 20, ..Default::default() };
        record::Sample {
            at: Nanos(at * testing::SECOND / 10),
            cpus: vec![cpu; 4],
            disks: [("sda".to_owned(), disk)].into(),
            ..Default::default()
        }
    };
    run.timeline.samples = (0..=seconds * 10).map(moment).collect();
    run
}

#[test]
fn the_answer_comes_first_and_the_rest_in_its_order() {
    let text = one(long(20));
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing"));
    let order = [
        "What was measured?",
        "What are the results?",
        "Can I trust it?",
        "id=\"findings\"",
        "id=\"figures\"",
        "id=\"chart-iops\"",
        "id=\"chart-percentiles\"",
        "id=\"chart-heatmap\"",
        "id=\"chart-cpu\"",
        "Environment",
        "The job",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])));
}

#[test]
fn layers_and_code_of_a_run_are_sections_of_their_own() {
    let mut run = long(20);
    assert!(!one(run.clone()).contains("Layers of the I/Os"));
    let mut device = record::LayerTimes::default();
    device.histogram.record(80_000);
    device.sum = Nanos(80_000);
    device.history = run.jobs[0].latency_history.clone();
    let spans = record::LayerSpans { device: Nanos(70_000), ..record::LayerSpans::default() };
    let slow = record::SlowIo { total: Nanos(90_000), spans, ..record::SlowIo::default() };
    let path = record::LayerPath {
        device_name: "sda".into(),
        direction: Some(Direction::Read),
        ios: 1000,
        total: device.clone(),
        device,
        classes: vec![record::LayerClass { ios: 1000, spans }],
        slowest: vec![slow; 2],
        ..record::LayerPath::default()
    };
    let other = record::OtherRequests { name: "<b>".into(), ..record::OtherRequests::default() };
    run.evidence.layers = Some(record::Layers {
        paths: vec![path],
        others: vec![other],
        ..record::Layers::default()
    });
    let code = record::CodeUse {
        pid: 7,
        process: "fathom".into(),
        library: "libcrypto.so.3".into(),
        function: None,
        samples: 100,
    };
    let profile = record::CpuProfile { hz: 100, code: vec![code], ..record::CpuProfile::default() };
    run.evidence.cpu_profile = Some(profile);
    let text = one(run);
    // A layer that no I/O passed has no map.
    assert!(!text.contains("id=\"chart-layers-2\""));
    for part in [
        "all jobs: read on sda",
        "id=\"chart-layers\"",
        "Layer device over time: all jobs, read on sda",
        "The 2 slowest took 90 µs",
        "p90",
        "in the driver and the device",
        "&lt;b&gt;",
        "libcrypto.so.3",
    ] {
        assert!(text.contains(part), "{part} is missing");
    }
}

#[test]
fn a_short_run_is_trusted_for_its_seconds_only() {
    assert!(one(long(20)).contains("<strong>Yes.</strong>"));
    let short = one(long(1));
    assert!(short.contains("<strong>For these seconds.</strong>"), "{short}");
    assert!(!short.contains("<strong>Yes.</strong>"));
}

#[test]
fn it_asks_for_nothing_from_elsewhere_and_runs_nothing() {
    let text = one(long(20));
    for forbidden in ["<script", "<link", "<img", "src=", "url(", "@import", "javascript:", " on"] {
        let found = text.match_indices(forbidden).find(|(at, _)| {
            // Words of sentences are no attributes.
            forbidden != " on"
                || text[at + 3..].chars().take(12).collect::<String>().contains("=\"")
        });
        assert!(found.is_none(), "{forbidden}: {found:?}");
    }
    let links = text.match_indices("http").map(|(at, _)| &text[at..text.len().min(at + 30)]);
    let allowed = |link: &str| {
        link.starts_with("http://www.w3.org/2000/svg") || link.starts_with("http-equiv")
    };
    links.for_each(|link| assert!(allowed(link), "{link}"));
}

#[test]
fn whatever_a_record_holds_is_text() {
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;</style></svg>]]>";
    let mut run = long(20);
    let job = &mut run.jobs[0];
    job.name = evil.into();
    job.description = evil.into();
    job.options.push((evil.into(), evil.into()));
    job.workload.rw = evil.into();
    job.workload.ioengine = evil.into();
    job.workload.files = vec![evil.into()];
    job.workload.settings.insert(evil.into(), evil.into());
    run.sources = vec![SourceText { name: evil.into(), text: evil.into() }];
    run.invocation.arguments = vec![evil.into()];
    run.facts.hostname = evil.into();
    run.facts.cpu.model = evil.into();
    run.facts.cpu.online = 4;
    let device = DeviceFacts {
        name: evil.into(),
        model: Some(evil.into()),
        scheduler: Some(evil.into()),
        ..DeviceFacts::default()
    };
    run.facts.devices.insert(evil.into(), device);
    let filesystem = FilesystemFacts {
        kind: evil.into(),
        mount_point: evil.into(),
        source: evil.into(),
        options: vec![evil.into()],
        ..FilesystemFacts::default()
    };
    let target = TargetFacts {
        filesystem: Some(filesystem),
        device: Some(evil.into()),
        ..Default::default()
    };
    run.facts.targets.insert(evil.into(), target);
    run.messages.push(record::Message::warning(Some(evil), evil.to_owned()));
    for sample in &mut run.timeline.samples {
        let disk = sample.disks.remove("sda").unwrap_or_default();
        sample.disks.insert(evil.into(), disk);
    }
    let mut later = run.clone();
    later.facts.kernel = evil.into();
    let text = document(&[judged_set(evil, vec![run]), judged_set("b", vec![later])]);
    for tag in ["<script", "<img", "</style></svg>"] {
        assert!(!text.contains(tag), "{tag}");
    }
    assert_eq!(text.matches("</style>").count(), 1);
    assert!(text.contains("&lt;script&gt;alert(1)"), "it is shown as it is");
}

#[test]
fn runs_are_compared_with_the_first() {
    let mut slower = long(20);
    slower.facts.kernel = "7.0.0".into();
    let text = document(&[judged_set("before", vec![long(20)]), judged_set("after", vec![slower])]);
    for expected in [
        "What changed?",
        "<strong>after</strong> against <strong>before</strong>",
        "id=\"comparison\"",
        "Differences in the environment",
        "7.0.0",
        // The style colours this class.
        "<td class=\"change\">",
        "inconclusive: too few or too different runs to tell",
        "tr.bad .change{",
    ] {
        assert!(text.contains(expected), "{expected}");
    }
}

#[test]
fn a_single_set_is_compared_with_its_earlier_one() {
    let (before, now) = (judged_set("before", vec![long(20)]), judged_set("now", vec![long(20)]));
    let text = document(&[now.clone().since("7f3a12bc", before.set)]);
    assert!(text.contains("What changed since last time?"), "{text}");
    assert!(text.contains("<strong>now</strong> against <strong>7f3a12bc of "), "{text}");
    assert!(text.contains("inconclusive: too few or too different runs to tell"), "{text}");
    // Figures and pictures are of the one.
    assert_eq!(text.matches("What was measured?").count(), 1);
    assert!(!document(&[now]).contains("What changed"));
}

#[test]
fn a_run_that_did_nothing_and_no_run_at_all_are_reports_too() {
    let nothing = testing::run_of(vec![testing::worker("idle", 1, GroupKey::default())]);
    assert!(one(nothing).contains("No I/O completed."));
    assert!(one(RunRecord::default()).contains("A run without I/O"));
    assert!(document(&[]).contains("No runs"));
    assert!(document(&[judged_set("none", Vec::new())]).contains("no runs"));
}

#[test]
fn a_sweep_shows_its_varied_values_and_its_extremes() {
    let run = |iodepth: &str, factor: u64| {
        let mut run = testing::mixed();
        run.jobs[0].results.read.ios *= factor;
        let at = vec![Coordinate { dimension: "iodepth".into(), value: iodepth.into() }];
        run.cell = Some(Cell { name: format!("iodepth={iodepth}"), round: 0, at });
        run
    };
    let runs = vec![run("8", 3), run("1", 1), run("2", 2)];
    let set = RecordSet { kind: "sweep".into(), runs, ..RecordSet::default() };
    let text = document(&[JudgedSet::new("a", set)]);
    for expected in [
        "Runs over iodepth: ",
        "<strong>iodepth</strong> (1, 2, 8)",
        "Most, at <strong>iodepth=8: mixed</strong>",
        "Least, at <strong>iodepth=1: mixed</strong>",
        "id=\"chart-varied\"",
        "Knee of a: at depth",
    ] {
        assert!(text.contains(expected), "{expected}");
    }
    assert!(!text.contains("id=\"chart-iops\""), "each run is another thing");
}

#[test]
fn preparing_runs_are_no_part_of_the_sweep_in_the_summary() {
    let named = |name: &str, depth: Option<u32>| {
        let at = |depth: u32| Coordinate { dimension: "iodepth".into(), value: depth.to_string() };
        let at = depth.map(at).into_iter().collect();
        let mut run = testing::mixed();
        run.cell = Some(Cell { name: name.into(), round: 0, at });
        run.jobs[0].results.read.ios /= if depth.is_none() { 100 } else { 1 };
        run
    };
    let mut fill = named("fill", None);
    fill.jobs[0].workload.block_size = PerDirection::all((Bytes(1 << 20), Bytes(1 << 20)));
    let runs = vec![fill, named("d16", Some(16)), named("d2", Some(2)), named("d4", Some(4))];
    let text = document(&[judged_set("a", runs)]);
    let from = text.find("<h1>").unwrap();
    let to = text.find("id=\"findings\"").or(text.find("id=\"figures\"")).unwrap();
    let answers = &text[from..to];
    assert!(answers.contains("<strong>iodepth</strong> (2, 4, 16)"), "{answers}");
    for wrong in ["fill", "to 1 MiB", " more</h1>"] {
        assert!(!answers.contains(wrong), "{wrong}: {answers}");
    }
    assert!(text[to..].contains("fill: mixed"), "its figures are in the table all the same");
}

#[test]
fn ten_minutes_are_a_small_file() {
    let text = one(long(600));
    assert!(text.len() < 1_500_000, "{}", text.len());
}

#[test]
fn the_text_forms_hold_every_figure() {
    let mut run = long(20);
    run.jobs[0].name = "a|b, \"c\"\n=1".into();
    let table = rows(&[judged_set("=x", vec![run])]);
    let markdown = table.markdown();
    assert_eq!(markdown.lines().count(), 4, "{markdown}");
    assert!(markdown.contains("a\\|b, \"c\" =1") && markdown.contains("| read |"));
    let csv = table.csv();
    assert!(csv.starts_with("run,job,io,latency,runs,ios,figure,unit,value,low,high\r\n"));
    assert!(
        csv.contains("\r\n'=x,\"a|b, \"\"c\"\"\n=1\",read,completion,1,1000,IOPS,IOPS,500.000,")
    );
    assert_eq!(csv.matches("\r\n").count(), 1 + 2 * 7);
}

#[test]
fn a_picture_is_had_by_its_name() {
    let judged_sets = [judged_set("a", vec![long(20)])];
    for name in ["iops", "bandwidth", "latency", "percentiles", "heatmap", "heatmap-2", "cpu"] {
        assert!(crate::pictures::one(&judged_sets, name).is_ok(), "{name}");
    }
    let error = crate::pictures::one(&judged_sets, "heat").unwrap_err();
    assert!(error.starts_with("it has no picture 'heat'; it has iops, bandwidth"), "{error}");
}

#[test]
fn directions_without_a_history_have_no_map() {
    let judged_sets = [judged_set("a", vec![testing::mixed()])];
    assert!(crate::pictures::one(&judged_sets, "heatmap").is_err());
    assert_eq!(judged_sets[0].set.runs[0].jobs[0].directions().next(), Some(Direction::Read));
}

#[test]
fn requests_have_a_table_of_their_own() {
    let text = one(testing::objects());
    for part in ["id=\"requests\"", "200 x 900, 404 x 100", "404 NoSuchKey", "8 connections made"] {
        assert!(text.contains(part), "{part} is missing");
    }
    assert!(!one(testing::mixed()).contains("id=\"requests\""));
}

#[test]
fn ranks_have_a_table_and_a_lost_one_its_reason() {
    let mut run = long(2);
    let mut group = RankGroup { in_window: true, ..RankGroup::default() };
    group.within.read.0 = 200;
    let rank = |rank, state, why: &str, groups| RankRecord {
        rank,
        host: format!("node{rank}"),
        state,
        why: why.into(),
        groups,
        ..RankRecord::default()
    };
    run.fleet = Some(Fleet {
        library: "MPICH 4.0.2".into(),
        ranks: vec![
            rank(0, RankState::Ran, "", vec![group]),
            rank(1, RankState::Lost, "it was not heard of for <60 s>", Vec::new()),
        ],
        windows: vec![FleetWindow { end: Nanos(testing::SECOND), ..FleetWindow::default() }],
        ..Fleet::default()
    });
    let page = one(run);
    for text in [
        "2 ranks on 2 hosts (MPICH 4.0.2)",
        "<li>measured on 1 of 2 ranks</li>",
        "<td>node0</td><td class=\"number\">0 ns</td><td class=\"number\">200</td>",
        "<td colspan=\"5\">lost: it was not heard of for &lt;60 s&gt;</td>",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!one(long(2)).contains("id=\"fleet\""));
}
