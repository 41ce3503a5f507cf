use super::*;
use proptest::prelude::*;
use record::{Cell, Invocation};
use std::collections::BTreeSet;

fn dimension(name: &str, values: &[&str]) -> Dimension {
    Dimension { name: name.into(), values: values.iter().map(|v| (*v).into()).collect() }
}

fn design() -> Design {
    Design {
        dimensions: vec![dimension("iodepth", &["1", "2", "4"]), dimension("bs", &["4k", "8k"])],
        repeats: 3,
        seed: 1,
        ..Design::default()
    }
}

fn record(cell: Cell, milliseconds: u64) -> RunRecord {
    let invocation = Invocation { ended_unix_ms: milliseconds, ..Invocation::default() };
    RunRecord {
        cell: Some(cell),
        invocation,
        jobs: vec![Default::default()],
        ..RunRecord::default()
    }
}

#[test]
fn cells_are_all_combinations_or_pairs() {
    let grid = design();
    assert_eq!(grid.cells(), 6);
    let names: Vec<String> =
        (0..6).map(|cell| grid.cell(RunSlot { cell, round: 0 }).name).collect();
    assert_eq!(names[..3], ["iodepth=1 bs=4k", "iodepth=1 bs=8k", "iodepth=2 bs=4k"]);
    let paired = Design {
        dimensions: vec![dimension("iodepth", &["1", "2"]), dimension("bs", &["4k", "8k"])],
        paired: true,
        ..design()
    };
    assert_eq!(paired.check(), Ok(()));
    let names: Vec<String> =
        (0..paired.cells()).map(|cell| paired.cell(RunSlot { cell, round: 0 }).name).collect();
    assert_eq!(names, ["iodepth=1 bs=4k", "iodepth=2 bs=8k"]);
}

#[test]
fn a_design_that_cannot_be_run_is_refused() {
    let with = |change: &dyn Fn(&mut Design)| {
        let mut changed = design();
        change(&mut changed);
        changed.check().unwrap_err()
    };
    assert!(with(&|d| d.dimensions.clear()).contains("nothing to vary"));
    assert!(with(&|d| d.paired = true).contains("iodepth has 3 values and bs has 2"));
    assert!(with(&|d| d.repeats = 0).contains("at least 1"));
    assert!(with(&|d| d.dimensions[1].name = "iodepth".into()).contains("given twice"));
    let many: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let large = with(&|d| d.dimensions.iter_mut().for_each(|one| one.values.clone_from(&many)));
    assert!(large.contains("more than 100000 runs"));
}

#[test]
fn each_round_has_an_order_of_its_own() {
    let order = Design { repeats: 4, ..design() }.order();
    let rounds: Vec<Vec<usize>> =
        order.chunks(6).map(|round| round.iter().map(|place| place.cell).collect()).collect();
    assert!(rounds.windows(2).any(|two| two[0] != two[1]), "{rounds:?}");
    let given = Design { order: Order::Given, ..design() }.order();
    assert!(given.chunks(6).all(|round| round.iter().enumerate().all(|(i, p)| p.cell == i)));
}

#[test]
fn what_is_left_is_told_from_what_cells_took() {
    let mut sweep = Sweep::new(design(), &BTreeMap::new(), Nanos::from_millis(500));
    assert_eq!(sweep.expected().whole, Nanos::from_millis(500 * 18));
    let step = sweep.next().unwrap();
    assert!(step.description.starts_with("run 1 of 18: iodepth="), "{}", step.description);
    sweep.completed(&record(step.cell, 1000));
    assert_eq!(sweep.expected().left, Nanos::from_millis(17_000));
    sweep.took_setting(Nanos::from_millis(100));
    assert_eq!(sweep.expected().left, Nanos::from_millis(17 * 1100));
    assert_eq!(sweep.expected().whole, Nanos::from_millis(17 * 1100 + 1100));
    let step = sweep.next().unwrap();
    let stopped = RunRecord { interrupted_by: Some(2), ..record(step.cell.clone(), 10) };
    sweep.completed(&stopped);
    assert_eq!((sweep.next().unwrap().cell, sweep.left()), (step.cell, 17), "it is made again");
}

proptest! {
    #[test]
    fn every_run_is_made_once_whatever_interrupts(
        lengths in proptest::collection::vec(1_usize..5, 1..4),
        repeats in 1_u32..4,
        seed: u64,
        random: bool,
        stops in proptest::collection::vec(0_usize..20, 0..12),
    ) {
        let dimensions = lengths.iter().enumerate().map(|(index, length)| Dimension {
            name: format!("d{index}"),
            values: (0..*length).map(|value| value.to_string()).collect(),
        });
        let order = if random { Order::Random } else { Order::Given };
        let design =
            Design { dimensions: dimensions.collect(), repeats, order, seed, paired: false };
        let mut made: Vec<RunSlot> = Vec::new();
        // Each time so many runs more are made and kept; the one under way then is lost.
        for stop in stops.into_iter().chain([usize::MAX]) {
            let done = made.iter().map(|place| (*place, Nanos(1))).collect();
            let mut sweep = Sweep::new(design.clone(), &done, Nanos(1));
            let mut count = 0;
            while let (Some(place), Some(step)) = (sweep.place(), sweep.next()) {
                if count == stop {
                    break;
                }
                prop_assert_eq!(&step.cell, &design.cell(place));
                sweep.completed(&record(step.cell, 1));
                made.push(place);
                count += 1;
            }
        }
        prop_assert_eq!(&made, &design.order(), "in the same order as without a stop");
        let once: BTreeSet<RunSlot> = made.iter().copied().collect();
        prop_assert_eq!(once.len(), design.cells() * repeats as usize);
        prop_assert_eq!(once.len(), made.len());
    }
}
