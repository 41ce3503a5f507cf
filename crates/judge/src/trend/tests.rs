use super::*;
use crate::checks::testing::{job, record};
use record::Direction;

/// Values around levels, each for so many runs.
fn invented(random: &mut Random, stretches: &[(usize, f64)], cv: f64) -> Vec<f64> {
    let mut values = Vec::new();
    for (count, level) in stretches {
        values.extend((0..*count).map(|_| level * (1.0 + cv * random.normal())));
    }
    values
}

fn places(course: &Levels) -> Vec<usize> {
    course.changes.iter().map(|change| change.at).collect()
}

#[test]
fn noise_alone_has_one_level() {
    for (count, cv) in [(8, 0.02), (20, 0.1), (60, 0.3)] {
        let mut random = Random::new(count as u64);
        let is_alarm = |_: &u32| {
            let course = find_levels(&invented(&mut random, &[(count, 1000.0)], cv));
            !course.changes.is_empty() || course.drift.is_some()
        };
        let alarms = (0..300).filter(is_alarm).count();
        assert!(alarms <= 9, "{count} runs, cv {cv}: {alarms} of 300");
    }
}

#[test]
fn a_step_is_found_where_it_is_with_both_levels() {
    let mut random = Random::new(3);
    let mut found = 0;
    for _ in 0..50 {
        let course = find_levels(&invented(&mut random, &[(12, 1000.0), (10, 850.0)], 0.03));
        let [change] = course.changes[..] else { continue };
        found += u32::from(change.at.abs_diff(12) <= 1 && (change.ratio() - 0.85).abs() < 0.03);
        assert!(change.chance <= CHANCE_MAX);
    }
    assert!(found >= 45, "{found} of 50");
}

#[test]
fn what_is_taken_back_is_found_too() {
    let mut random = Random::new(4);
    let stretches = [(20, 1000.0), (8, 700.0), (20, 1000.0)];
    let course = find_levels(&invented(&mut random, &stretches, 0.03));
    assert_eq!(places(&course), [20, 28], "{course:?}");
    assert_eq!(course.levels.len(), 3);
}

#[test]
fn a_ramp_drifts_and_has_no_steps() {
    let mut random = Random::new(5);
    let ramp: Vec<f64> =
        (0_u32..40).map(|n| 1000.0 - 10.0 * f64::from(n) + 10.0 * random.normal()).collect();
    let course = find_levels(&ramp);
    assert!(course.changes.is_empty(), "{course:?}");
    assert!((course.drift.unwrap() + 0.48).abs() < 0.05, "{course:?}");
}

#[test]
fn one_wild_run_is_one_run() {
    let mut random = Random::new(6);
    let mut values = invented(&mut random, &[(30, 1000.0)], 0.02);
    values[17] = 5.0;
    assert_eq!(find_levels(&values).changes, []);
    values[29] = 1e9;
    assert_eq!(find_levels(&values).changes, []);
}

#[test]
fn short_equal_and_barely_different_series() {
    assert_eq!(find_levels(&[]), Levels::default());
    assert_eq!(find_levels(&[5.0]).levels, [Level { from: 0, to: 1, median: 5.0 }]);
    assert!(find_levels(&[7.0; 50]).changes.is_empty());
    let steady = [[100.0; 10], [100.5; 10]].concat();
    assert_eq!(find_levels(&steady).changes, [], "half a per cent is nothing to tell of");
    let clear = [[100.0; 10], [120.0; 10]].concat();
    assert_eq!(places(&find_levels(&clear)), [10]);
}

#[test]
fn many_runs_take_no_time() {
    let mut random = Random::new(7);
    let began = std::time::Instant::now();
    let course = find_levels(&invented(&mut random, &[(1200, 100.0), (800, 90.0)], 0.05));
    assert_eq!(course.changes.len(), 1);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn what_changed_on_the_machine_then_is_told_the_closest_first() {
    let run = |kernel: &str, scheduler: &str| {
        let mut run = record(vec![job("read", Direction::Read, 5)]);
        run.facts.kernel = kernel.into();
        run.facts.devices.get_mut("sda").unwrap().scheduler = Some(scheduler.into());
        run
    };
    let runs = [run("6.1", "none"), run("6.1", "bfq"), run("6.12", "bfq"), run("6.12", "bfq")];
    let change = Change { at: 12, ..Change::default() };
    let range = around(&change, 14);
    assert_eq!(range, 10..14);
    let found = coincidences(&change, range.start, &runs.iter().collect::<Vec<_>>());
    let told: Vec<(usize, &str)> =
        found.iter().map(|one| (one.at, one.difference.what.as_str())).collect();
    assert_eq!(told, [(12, "kernel"), (11, "scheduler of disk sda")]);
    assert_eq!(around(&Change { at: 1, ..change }, 3), 0..3);
}
