use super::*;
use crate::testing::{self, SimulatedDisk};
use record::RecordSet;

fn setting() -> Setting {
    Setting {
        target: Target::new("/mnt/x", true),
        is_filled_first: true,
        access: Access::named("randread").unwrap(),
        block: Bytes(4096),
        region: Bytes(64 << 20),
        depths: depths("1,2,4..32").unwrap(),
        is_refined: true,
        threads: 1,
        repeat: 3,
        time: Nanos::from_millis(1000),
        bounds: Vec::new(),
        seed: 7,
    }
}

fn measured(setting: Setting, disk: SimulatedDisk) -> RecordSet {
    let mut curve = Curve::new(setting);
    let runs = { disk }.drive(&mut curve, 1000).records;
    assert_eq!(curve.expected().left, Nanos(0));
    RecordSet { kind: "knee".into(), seed: 7, runs, ..RecordSet::default() }
}

fn p99(limit_ns: f64) -> Bound {
    Bound { figure: Figure::Percentile(99.0), limit_ns }
}

#[test]
fn every_depth_is_measured_once_a_round_and_then_those_around_the_knee() {
    let mut curve = Curve::new(setting());
    let driven = SimulatedDisk::fast().drive(&mut curve, 1000);
    assert_eq!(driven.steps[0].cell.name, "fill");
    let of_round = |round: u32| {
        let steps = driven.steps[1..].iter().filter(|step| step.cell.round == round);
        steps.map(|step| step.cell.at[0].value.parse().unwrap()).collect::<Vec<u32>>()
    };
    let mut orders = Vec::new();
    for round in 0..6 {
        let order = of_round(round);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let expected: &[u32] = if round < 3 { &[1, 2, 4, 8, 16, 32] } else { &[6, 8, 12] };
        assert_eq!(sorted, expected, "round {round}");
        orders.push(order);
    }
    assert!(orders[0] != orders[1] || orders[1] != orders[2], "an order of its own");
    assert_eq!(driven.steps.len(), 1 + 3 * 6 + 3 * 3);
    let again = SimulatedDisk::fast().drive(&mut Curve::new(setting()), 1000);
    assert_eq!(driven.steps, again.steps, "the same seed");
    let bare = Setting { is_refined: false, is_filled_first: false, ..setting() };
    assert_eq!(SimulatedDisk::fast().drive(&mut Curve::new(bare), 1000).steps.len(), 18);
}

#[test]
fn the_knee_is_where_the_disk_serves_no_more_side_by_side() {
    let conclusion = conclude(&measured(setting(), SimulatedDisk::fast()), &[]);
    assert_eq!(conclusion.choice, Some(DepthChoice { depth: 8, why: ChoiceReason::Knee }));
    assert_eq!(conclusion.knee.as_ref().map(|knee| knee.at.depth), Some(8));
    assert_eq!((conclusion.knees, conclusion.saturated), (Some((8, 8)), Some(8)));
    assert_eq!(
        conclusion.rows.iter().map(|r| r.depth).collect::<Vec<_>>(),
        [1, 2, 4, 6, 8, 12, 16, 32]
    );
    let row = conclusion.row(8).unwrap();
    assert_eq!(row.rounds, 6);
    assert!((row.iops.value / 16_000.0 - 1.0).abs() < 0.01 && (row.power - 1.0).abs() < 1e-6);
    assert!((row.mean.value / 500_000.0 - 1.0).abs() < 0.01, "{}", row.mean.value);
    assert!((row.bytes_per_second.value / 16_000.0 / 4096.0 - 1.0).abs() < 0.01);
    assert!(conclusion.is_scratch && conclusion.direct && conclusion.failures.is_empty());
    assert_eq!(conclusion.access.map(Access::name), Some("randread"));
    assert_eq!((conclusion.block, conclusion.threads), (Bytes(4096), 1));
}

#[test]
fn a_bound_is_met_by_the_deepest_depth_within_it_or_by_none() {
    // Beyond 8 in flight each I/O waits: 62.5 us for each of them, a tenth more at the tail.
    let bounds = vec![p99(1_450_000.0)];
    let set = measured(Setting { bounds: bounds.clone(), ..setting() }, SimulatedDisk::fast());
    let conclusion = conclude(&set, &bounds);
    assert_eq!(conclusion.choice, Some(DepthChoice { depth: 20, why: ChoiceReason::Bounds }));
    let held = conclusion.held[0];
    assert_eq!((held.deepest, held.is_sure, held.is_uneven), (Some(20), true, false));
    let rows: Vec<u32> = conclusion.rows.iter().map(|row| row.depth).collect();
    assert_eq!(rows, [1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32]);
    let unmet = conclude(&set, &[p99(1_450_000.0), p99(400_000.0)]);
    assert!(unmet.is_unmet() && unmet.choice.is_none() && unmet.held[1].deepest.is_none());
    let mean = Bound { figure: Figure::Mean, limit_ns: 1e9 };
    assert_eq!(conclude(&set, &[mean]).choice.unwrap().depth, 32);
}

#[test]
fn what_was_broken_off_has_no_knee_before_every_depth_was_measured() {
    let mut set = measured(setting(), SimulatedDisk::fast());
    set.runs.truncate(5);
    set.runs[4].interrupted_by = Some(2);
    let conclusion = conclude(&set, &[]);
    assert_eq!((conclusion.rows.len(), conclusion.interrupted_by), (3, Some(2)));
    assert!(conclusion.knee.is_none() && conclusion.choice.is_none() && !conclusion.is_unmet());
    let mut set = measured(setting(), SimulatedDisk::fast());
    set.runs.truncate(9);
    set.runs[8].interrupted_by = Some(2);
    assert_eq!(conclude(&set, &[]).choice.map(|choice| choice.depth), Some(8));
    assert_eq!(conclude(&RecordSet::default(), &[]), Conclusion::default());
}

#[test]
fn threads_share_what_is_gone_through_in_order() {
    let threads = Setting { threads: 4, access: Access::named("read").unwrap(), ..setting() };
    let step = threads.step(2, 0);
    for option in
        ["--numjobs=4", "--group_reporting=1", "--size=16777216", "--offset_increment=16777216"]
    {
        assert!(step.arguments.iter().any(|a| a == option), "{option}: {:?}", step.arguments);
    }
    let random = Setting { threads: 4, ..setting() }.step(2, 0);
    assert!(random.arguments.iter().all(|a| !a.starts_with("--offset_increment")));
}

#[test]
fn failures_end_it_but_a_missing_way_is_gone_round() {
    let mut curve = Curve::new(Setting { is_filled_first: false, ..setting() });
    let lines = curve.completed(&testing::failed("randread-d1", "open", 22));
    assert!(lines[0].contains("O_DIRECT") && curve.next().is_some());
    assert!(curve.next().unwrap().arguments.contains(&"--direct=0".to_owned()));
    curve.completed(&testing::failed("randread-d1", "read", 5));
    assert!(curve.next().is_none());
    let mut curve = Curve::new(setting());
    curve.completed(&testing::failed("fill", "write", 28));
    assert!(curve.next().is_none());
    assert_eq!(curve.expected().left, Nanos(0));
}
