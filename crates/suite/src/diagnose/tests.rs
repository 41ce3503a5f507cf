use super::*;
use crate::testing::{self, SimulatedDisk};
use judge::Confidence;
use record::RecordSet;

fn setting() -> Setting {
    Setting { target: Target::new("/mnt/x", true), size: Bytes(256 << 20), seed: 1 }
}

fn diagnosed(mut disk: SimulatedDisk) -> Conclusion {
    let runs = disk.drive(&mut Diagnose::new(setting()), 100).records;
    conclude(&RecordSet { kind: "diagnose".into(), runs, ..RecordSet::default() })
}

#[test]
fn a_diagnosis_has_five_steps() {
    let mut suite = Diagnose::new(setting());
    let expected = suite.expected().whole;
    assert!(expected < Nanos(40_000_000_000), "{expected:?}");
    let driven = SimulatedDisk::fast().drive(&mut suite, 100);
    assert_eq!(driven.names()[0], "fill");
    assert_eq!(driven.steps.len(), 1 + PROBES.len());
    assert!(driven.steps[5].arguments.contains(&"--ioengine=libaio".to_owned()));
    assert!(driven.steps[8].arguments.contains(&"--fsync=1".to_owned()));
    assert_eq!(suite.expected().left, Nanos(0));
    let conclusion = diagnosed(SimulatedDisk::fast());
    assert_eq!(conclusion.steps.len(), 5);
    assert!(
        conclusion
            .steps
            .iter()
            .all(|look| !look.observed.is_empty() && !look.conclusion.is_empty())
    );
}

#[test]
fn a_saturated_disk_is_distinguished_from_one_with_room() {
    // Its flushes are cheap, so nothing else explains it.
    let cheap = SimulatedDisk { flush_ns: 10_000, ..SimulatedDisk::fast() };
    let conclusion = diagnosed(cheap);
    assert!(conclusion.steps[1].conclusion.starts_with("saturated"), "{:?}", conclusion.steps[1]);
    let cause = &conclusion.cause;
    assert!(cause.text.starts_with("no fault found: depth 16 gets the most"), "{cause:?}");
    assert!(cause.text.contains("judged by errors"), "{cause:?}");
    assert_eq!(cause.confidence, Some(Confidence::Medium));
    let conclusion = diagnosed(SimulatedDisk { width: 256.0, ..cheap });
    assert!(conclusion.steps[1].conclusion.starts_with("neither"), "{:?}", conclusion.steps[1]);
    assert!(conclusion.cause.text.starts_with("no fault found"), "{:?}", conclusion.cause);
}

#[test]
fn slow_flushes_are_found() {
    let conclusion =
        diagnosed(SimulatedDisk { width: 256.0, flush_ns: 20_000_000, ..SimulatedDisk::fast() });
    assert!(conclusion.cause.text.contains("flushes"), "{:?}", conclusion.cause);
    assert!(conclusion.steps[4].observed[0].contains("write: 250 µs"), "{:?}", conclusion.steps[4]);
}

#[test]
fn errors_come_before_everything_else() {
    let mut suite = Diagnose::new(setting());
    let (disk, mut runs) = (SimulatedDisk::fast(), Vec::new());
    while let Some(step) = suite.next() {
        let record = match step.cell.name.as_str() {
            "depth-16" => testing::failed("depth-16", "read", 5),
            _ => disk.run(&step),
        };
        suite.completed(&record);
        runs.push(record);
    }
    let conclusion = conclude(&RecordSet { runs, ..RecordSet::default() });
    assert!(conclusion.cause.text.starts_with("errors: read failed"), "{:?}", conclusion.cause);
    assert!(conclusion.steps[1].conclusion.starts_with("no result"));
}

#[test]
fn a_failed_fill_or_a_signal_ends_the_diagnosis() {
    let mut suite = Diagnose::new(setting());
    suite.completed(&testing::failed("fill", "write", 28));
    assert!(suite.next().is_none() && suite.failed().is_some());
    let mut suite = Diagnose::new(setting());
    let step = suite.next().unwrap();
    suite.completed(&RunRecord { interrupted_by: Some(15), ..SimulatedDisk::fast().run(&step) });
    assert!(suite.next().is_none() && suite.failed().is_none());
    let conclusion = conclude(&RecordSet::default());
    assert!(conclusion.cause.text.starts_with("undecided"), "{:?}", conclusion.cause);
}
