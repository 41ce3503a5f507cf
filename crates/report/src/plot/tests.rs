use super::*;
use crate::testing;
use record::{Cell, Coordinate, RecordSet, RunRecord};

/// A run at these values of dimensions, with `ios` reads.
fn run(at: &[(&str, &str)], round: u32, ios: u64) -> RunRecord {
    let mut run = testing::mixed();
    run.facts.hostname = "alpha".into();
    run.jobs[0].results.read.ios = ios;
    let at: Vec<Coordinate> = at
        .iter()
        .map(|(dimension, value)| Coordinate {
            dimension: (*dimension).into(),
            value: (*value).into(),
        })
        .collect();
    let name = at.iter().map(|at| at.value.as_str()).collect::<Vec<_>>().join(" ");
    run.cell = Some(Cell { name, round, at });
    run
}

fn source(name: &str, runs: Vec<RunRecord>) -> Source {
    let set = RecordSet { fathom_version: "0.1.0".into(), runs, ..RecordSet::default() };
    Source::new(name, &format!("{name}.json"), set)
}

/// A full grid over these dimensions, twice, with rising figures.
fn grid<'a>(name: &str, dimensions: &[(&'a str, &'a [&'a str])]) -> Source {
    let mut places: Vec<Vec<(&'a str, &'a str)>> = vec![Vec::new()];
    for (dimension, values) in dimensions {
        places = places
            .iter()
            .flat_map(|place| {
                values.iter().map(move |value| [&place[..], &[(*dimension, *value)]].concat())
            })
            .collect();
    }
    let runs = (0..2).flat_map(|round| {
        places.iter().enumerate().map(move |(index, at)| run(at, round, 1000 + 10 * index as u64))
    });
    source(name, runs.collect())
}

const DEPTHS: (&str, &[&str]) = ("iodepth", &["1", "4", "16"]);
const SIZES: (&str, &[&str]) = ("bs", &["4k", "64k"]);
const SCHEDULERS: (&str, &[&str]) = ("scheduler", &["none", "bfq"]);

fn drawn(sources: &[Source], request: &Request) -> (Kind, usize, usize, String) {
    let drawn = picture(sources, request).unwrap();
    (drawn.kind, drawn.places, drawn.missing, drawn.picture.svg())
}

fn refused(sources: &[Source], request: &Request) -> String {
    picture(sources, request).unwrap_err()
}

#[test]
fn the_kind_follows_from_the_varied_parameters() {
    let usual = Request::default();
    let cases: [(Vec<Source>, Kind, usize); 6] = [
        (vec![grid("a", &[DEPTHS])], Kind::Lines, 3),
        (vec![grid("a", &[SCHEDULERS])], Kind::Bars, 2),
        (vec![grid("a", &[SIZES, DEPTHS])], Kind::Heatmap, 6),
        (vec![grid("a", &[SIZES, SCHEDULERS, DEPTHS])], Kind::Heatmap, 12),
        (vec![grid("a", &[DEPTHS]), grid("b", &[DEPTHS])], Kind::Lines, 6),
        (vec![grid("a", &[]), grid("b", &[])], Kind::Bars, 2),
    ];
    for (sources, kind, places) in cases {
        let (found, count, missing, _) = drawn(&sources, &usual);
        assert_eq!((found, count, missing), (kind, places, 0));
    }
}

#[test]
fn captions_name_the_figure_and_its_source() {
    let (.., svg) =
        drawn(&[grid("a", &[SIZES, ("rw", &["randread"]), DEPTHS])], &Request::default());
    for expected in [
        "IOPS by block size and queue depth",
        "rw=randread; 2 runs each",
        "fathom 0.1.0 on alpha 2026-11-20: a.json",
        "queue depth (I/Os)",
        "block size (bytes)",
    ] {
        assert!(svg.contains(&format!(">{expected}<")), "{expected}: {svg}");
    }
    let request = Request { title: Some("Mine".into()), ..Request::default() };
    let (.., svg) = drawn(&[grid("a", &[DEPTHS]), grid("b", &[DEPTHS])], &request);
    assert!(svg.contains(">Mine<") && svg.contains(">a<") && svg.contains(">b<"), "{svg}");
}

#[test]
fn dimensions_go_where_they_are_asked_to() {
    let all = [grid("a", &[SIZES, SCHEDULERS, DEPTHS])];
    let request = Request {
        x: Some("scheduler".into()),
        y: Some("iodepth".into()),
        at: vec![("bs".into(), "65536".into())],
        metric: Some(Measure::parse("read.iops").unwrap()),
        ..Request::default()
    };
    let (kind, places, _, svg) = drawn(&all, &request);
    assert_eq!((kind, places), (Kind::Heatmap, 6));
    assert!(
        svg.contains("Read IOPS by queue depth and scheduler") && svg.contains("bs=64k"),
        "{svg}"
    );
    let lines = Request {
        kind: Some(Kind::Lines),
        series: Some("scheduler".into()),
        at: vec![("bs".into(), "4k".into())],
        ..Request::default()
    };
    let (_, places, _, svg) = drawn(&all, &lines);
    assert_eq!(places, 6);
    assert!(svg.contains(">bfq<"), "{svg}");
    let bars = Request { kind: Some(Kind::Bars), ..Request::default() };
    let (_, _, _, svg) = drawn(&[grid("a", &[SIZES, DEPTHS])], &bars);
    assert!(svg.contains(">queue depth 16<"), "{svg}");
}

#[test]
fn an_impossible_request_is_answered_with_the_dimensions() {
    let all = [grid("a", &[SIZES, SCHEDULERS, DEPTHS])];
    let with = |change: &dyn Fn(&mut Request)| {
        let mut request = Request::default();
        change(&mut request);
        refused(&all, &request)
    };
    let unknown = with(&|request| request.x = Some("depth".into()));
    assert!(unknown.starts_with("--x: there is no dimension 'depth'; there are bs (4k, 64k); "));
    assert!(unknown.ends_with("iodepth (1, 4, 16)"), "{unknown}");
    let twice = with(&|request| (request.x, request.y) = (Some("bs".into()), Some("bs".into())));
    assert!(twice.contains("another place already"), "{twice}");
    let never = with(&|request| request.at = vec![("bs".into(), "8k".into())]);
    assert_eq!(never, "--at: bs was never 8k; it was 4k, 64k");
    let many = with(&|request| request.kind = Some(Kind::Lines));
    assert!(many.contains("--at=scheduler=VALUE"), "{many}");
    let y = with(&|request| (request.kind, request.y) = (Some(Kind::Bars), Some("bs".into())));
    assert!(y.starts_with("--y: bars have"), "{y}");
    let flat = refused(
        &[grid("a", &[DEPTHS])],
        &Request { kind: Some(Kind::Surface), ..Request::default() },
    );
    assert!(flat.contains("needs two dimensions"), "{flat}");
    let one = refused(&[grid("a", &[])], &Request::default());
    assert!(one.contains("nothing was varied"), "{one}");
    let other = refused(&[grid("a", &[DEPTHS]), grid("b", &[SIZES])], &Request::default());
    assert!(other.contains("b.json: iodepth was not varied there"), "{other}");
    let figure =
        Request { metric: Some(Measure::parse("trim.iops").unwrap()), ..Request::default() };
    assert!(refused(&all, &figure).contains("--metric"));
}

#[test]
fn too_many_surfaces_are_refused_with_a_way_out() {
    let five: &[&str] = &["1", "2", "3", "4", "5"];
    let all = [grid("a", &[SIZES, DEPTHS, ("numjobs", five)])];
    let request = Request { kind: Some(Kind::Surface), ..Request::default() };
    assert!(refused(&all, &request).contains("--kind=heatmap"));
    assert_eq!(drawn(&all, &Request::default()).1, 30);
}

#[test]
fn a_parameter_with_one_value_in_each_source_is_not_a_dimension() {
    let at = |scheduler: &'static str| {
        source(
            scheduler,
            vec![
                run(&[("scheduler", scheduler), ("iodepth", "1")], 0, 1000),
                run(&[("scheduler", scheduler), ("iodepth", "8")], 0, 2000),
            ],
        )
    };
    let (kind, places, missing, svg) = drawn(&[at("none"), at("bfq")], &Request::default());
    assert_eq!((kind, places, missing), (Kind::Lines, 4, 0));
    assert!(!svg.contains("scheduler=") && svg.contains("one run each"), "{svg}");
}

#[test]
fn parameters_varied_together_are_one_dimension() {
    let runs = vec![
        run(&[("bs", "4k"), ("iodepth", "32")], 0, 1000),
        run(&[("bs", "1m"), ("iodepth", "4")], 0, 100),
    ];
    let (kind, places, missing, svg) = drawn(&[source("a", runs)], &Request::default());
    assert_eq!((kind, places, missing), (Kind::Bars, 2, 0));
    assert!(svg.contains(">4k + 32<") && svg.contains(">bs + iodepth<"), "{svg}");
}

#[test]
fn preparing_runs_are_not_drawn() {
    let fill = || run(&[], 0, 7);
    let depths = ["2", "16", "4", "1", "8"].map(|depth| run(&[("iodepth", depth)], 0, 1000));
    let knee = [&[fill()], &depths[..]].concat();
    let (kind, places, missing, svg) = drawn(&[source("knee", knee)], &Request::default());
    assert_eq!((kind, places, missing), (Kind::Lines, 5, 0));
    let order =
        ["1", "2", "4", "8", "16"].map(|depth| svg.find(&format!(">{depth}</text>")).unwrap());
    assert!(order.is_sorted() && !svg.contains('–'), "{svg}");
    let paired = vec![
        fill(),
        run(&[("bs", "4k"), ("iodepth", "32")], 0, 1000),
        run(&[("bs", "1m"), ("iodepth", "4")], 0, 100),
    ];
    let (kind, places, ..) = drawn(&[source("paired", paired)], &Request::default());
    assert_eq!((kind, places), (Kind::Bars, 2), "still varied together");
}

#[test]
fn sizes_in_kib_are_shown_as_sizes() {
    let records = [("file_kb", &["512", "4096"][..]), ("record_kb", &["4", "64"][..])];
    let (kind, .., svg) = drawn(&[grid("a", &records)], &Request::default());
    assert_eq!(kind, Kind::Heatmap);
    assert!(
        ["512 KiB", "4 MiB", "64 KiB"].iter().all(|t| svg.contains(&format!(">{t}<"))),
        "{svg}"
    );
}

#[test]
fn figures_of_requests_are_named_in_words() {
    for (name, words) in [
        ("ttfb.p99", "p99 time to first byte"),
        ("GET.ttfb.p99.9", "GET p99.9 time to first byte"),
        ("GET.p50", "GET p50 latency"),
        ("read.p99", "read p99 latency"),
        ("p99.9", "p99.9 latency"),
    ] {
        assert_eq!(quantity(&Measure::parse(name).unwrap()).name, words, "{name}");
    }
}

#[test]
fn gnuplot_gets_every_figure_and_a_script_that_draws_it() {
    let lines =
        picture(&[grid("a", &[DEPTHS]), grid("b", &[DEPTHS])], &Request::default()).unwrap();
    let data = &lines.gnuplot.data;
    let figures: Vec<&str> =
        data.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    assert_eq!(figures.len(), 6, "{data}");
    assert!(figures[1].starts_with("1 0 ") && figures[1].contains("\"4\""), "{data}");
    assert_eq!(data.matches("\n\n\n").count(), 1, "two series: {data}");
    let script = lines.gnuplot.script_for("my \"data\".dat");
    assert!(
        script.contains("plot \"my \\\"data\\\".dat\" index 0 using 1:3:4:5:xtic(6)"),
        "{script}"
    );
    assert!(script.contains("index 1") && script.contains("title \"b\""), "{script}");
    let mut holed = grid("a", &[SIZES, DEPTHS]);
    holed.set.runs.retain(|run| run.cell_name() != "64k 16");
    let map = picture(&[holed], &Request::default()).unwrap();
    assert!(map.gnuplot.data.contains("NaN NaN NaN"), "{}", map.gnuplot.data);
    assert!(map.gnuplot.script_for("x").contains("with image"));
    let of = |kind| Request { kind: Some(kind), ..Request::default() };
    for (kind, with) in [(Kind::Surface, "splot "), (Kind::Bars, "histogram")] {
        let dimensions = if kind == Kind::Bars { vec![DEPTHS] } else { vec![SIZES, DEPTHS] };
        let drawn = picture(&[grid("a", &dimensions)], &of(kind)).unwrap();
        assert!(drawn.gnuplot.script_for("x").contains(with), "{kind:?}");
    }
}
