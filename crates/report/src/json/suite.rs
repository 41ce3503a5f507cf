//! Measurements that consist of several runs, as JSON.

mod app;
mod objects;
pub(super) mod parts;

pub use app::app;
pub use objects::objects;

use super::fathom::verdict;
use super::layers::layers_by_cell;
use super::tree::{Json, array, object, texts};
use judge::{Durability, Limit};
use parts::{document, estimated, failure, findings, limited, path};
use record::{RecordSet, SavedTo};
use std::path::Path;
use suite::knee::{Knee, Point};
use suite::saturate::SteadyProgress;
use suite::test::Row;
use suite::{curve, diagnose, precondition, test};

/// `fathom test --json`; `saved`: where the records of its runs are.
pub fn test(conclusion: &test::Conclusion, set: &RecordSet, saved: &SavedTo) -> String {
    let rest = object! {
        "stack" => texts(&conclusion.stack),
        "size_bytes" => conclusion.size.0,
        "direct" => conclusion.direct,
        "ioengine" => &conclusion.engine,
        "durability" => conclusion.durability.map(Durability::name),
        "ranks" => Some(conclusion.ranks).filter(|ranks| *ranks > 1),
        "rounds" => conclusion.rounds,
        "took_ns" => conclusion.elapsed.0,
        "interrupted_by" => conclusion.interrupted_by,
        "cells" => array(&conclusion.rows, row),
        "knees" => array(&conclusion.knees, |(direction, knee)| self::knee(direction.name(), knee)),
        "readers" => array(&conclusion.readers, readers),
        "positions" => array(&conclusion.positions, position),
        "precondition" => course(&conclusion.course),
        "limits" => array(&conclusion.limited, limited),
        "use_for" => &conclusion.valid_for,
        "layers_by_cell" => layers_by_cell(&set.runs),
        "findings" => findings(&conclusion.findings),
        "failures" => array(&conclusion.failures, failure),
    };
    document("test", Some(set.seed), saved, rest)
}

fn readers(row: &test::ReadersRow) -> Json {
    let share = |(disk, share): &(String, f64)| object! { "disk" => disk, "share" => *share };
    object! {
        "readers" => row.readers,
        "bytes_per_second" => estimated(&row.bytes_per_second),
        "of_one" => row.of_one.as_ref().map_or(Json::Null, estimated),
        "disks" => array(&row.shares, share),
    }
}

fn position(row: &test::PositionRow) -> Json {
    object! {
        "disk" => &row.disk,
        "position" => &row.position,
        "start_bytes" => row.start.0,
        "bytes_per_second" => estimated(&row.bytes_per_second),
        "share_of_start" => row.share.as_ref().map_or(Json::Null, estimated),
    }
}

/// `fathom precondition --json`.
pub fn precondition(conclusion: &precondition::Conclusion, saved: &SavedTo) -> String {
    let rest = object! {
        "size_bytes" => conclusion.size.0,
        "filled_bytes" => conclusion.filled.0,
        "fill_bytes_per_second" => conclusion.bytes_per_second,
        "is_steady" => conclusion.is_steady(),
        "precondition" => course(&conclusion.course),
        "took_ns" => conclusion.elapsed.0,
        "interrupted_by" => conclusion.interrupted_by,
        "failures" => array(conclusion.failure.as_slice(), failure),
    };
    document("precondition", None, saved, rest)
}

/// `fathom diagnose --json`.
pub fn diagnose(conclusion: &diagnose::Conclusion, set: &RecordSet, saved: &SavedTo) -> String {
    let look = |look: &diagnose::DiagnosisStep| {
        object! {
            "question" => look.title,
            "ran" => &look.ran,
            "saw" => texts(&look.observed),
            "concluded" => &look.conclusion,
        }
    };
    let rest = object! {
        "steps" => array(&conclusion.steps, look),
        "cause" => object! {
            "text" => &conclusion.cause.text,
            "confidence" => conclusion.cause.confidence.map(judge::Confidence::name),
            "cure" => &conclusion.cause.cure,
        },
        "layers_by_cell" => layers_by_cell(&set.runs),
        "findings" => findings(&conclusion.findings),
        "failures" => array(&conclusion.failures, failure),
        "interrupted_by" => conclusion.interrupted_by,
    };
    document("diagnose", None, saved, rest)
}

/// `fathom knee --json`; `job_file`: where the job at the depth to use was written.
pub fn curve(
    conclusion: &curve::Conclusion,
    set: &RecordSet,
    saved: &SavedTo,
    job_file: Option<&Path>,
) -> String {
    let ends = |ends: (u32, u32)| Json::Array(vec![ends.0.into(), ends.1.into()]);
    let rest = object! {
        "job_file" => path(job_file),
        "stack" => texts(&conclusion.stack),
        "path" => &conclusion.path,
        "is_scratch" => conclusion.is_scratch,
        "size_bytes" => conclusion.size.0,
        "rw" => conclusion.access.map(curve::Access::name),
        "block_bytes" => conclusion.block.0,
        "direct" => conclusion.direct,
        "ioengine" => &conclusion.engine,
        "threads" => conclusion.threads,
        "ranks" => Some(conclusion.ranks).filter(|ranks| *ranks > 1),
        "durability" => conclusion.durability.map(Durability::name),
        "took_ns" => conclusion.elapsed.0,
        "interrupted_by" => conclusion.interrupted_by,
        "curve" => array(&conclusion.rows, depth),
        "layers_by_cell" => layers_by_cell(&set.runs),
        "knee" => conclusion.knee.as_ref().map(|knee| point(&knee.at)),
        "knee_of_rounds" => conclusion.knees.map(ends),
        "saturated_at" => conclusion.saturated,
        "bounds" => array(&conclusion.held, held),
        "use" => conclusion.choice.map(|choice| choice.depth),
        "why" => crate::suite::to_use(conclusion),
        "limit" => conclusion.verdict.as_ref().map(verdict),
        "findings" => findings(&conclusion.findings),
        "failures" => array(&conclusion.failures, failure),
    };
    document("knee", Some(set.seed), saved, rest)
}

fn depth(row: &curve::Row) -> Json {
    let percentiles = row.percentiles.iter().map(|(p, value)| (format!("{p}"), estimated(value)));
    object! {
        "iodepth" => row.depth,
        "rounds" => row.rounds,
        "iops" => estimated(&row.iops),
        "bytes_per_second" => estimated(&row.bytes_per_second),
        "latency_ns_mean" => estimated(&row.mean),
        "latency_ns" => Json::Object(percentiles.collect()),
        "power" => row.power,
    }
}

fn held(held: &curve::BoundResult) -> Json {
    object! {
        "figure" => held.bound.figure.name(),
        "limit_ns" => held.bound.limit_ns,
        "deepest" => held.deepest,
        "is_sure" => held.is_sure,
        "is_uneven" => held.is_uneven,
    }
}

fn row(row: &Row) -> Json {
    let percentiles = row.percentiles.iter().map(|(p, value)| (format!("{p}"), estimated(value)));
    object! {
        "cell" => &row.cell,
        "direction" => row.direction.map(record::Direction::name),
        "iodepth" => row.depth,
        "rounds" => row.rounds,
        "iops" => estimated(&row.iops),
        "bytes_per_second" => estimated(&row.bytes_per_second),
        "latency_of" => if row.of_sync { "fsync" } else { "completion" },
        "latency_ns" => Json::Object(percentiles.collect()),
        "limit" => row.limit.map(Limit::name),
    }
}

fn point(point: &Point) -> Json {
    object! {
        "iodepth" => point.depth, "iops" => point.iops, "latency_ns_mean" => point.latency_ns,
    }
}

fn knee(direction: &str, knee: &Knee) -> Json {
    object! {
        "direction" => direction,
        "knee" => point(&knee.at),
        "most" => point(&knee.most),
        "curve" => array(&knee.curve, point),
    }
}

/// Null when there were no rounds.
fn course(course: &SteadyProgress) -> Json {
    if course.iops.is_empty() {
        return Json::Null;
    }
    object! {
        "iops" => array(&course.iops, |iops| (*iops).into()),
        "is_steady" => course.is_steady(),
        "range" => course.last.map(|last| last.range),
        "slope" => course.last.map(|last| last.slope),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn set(seed: u64) -> RecordSet {
        RecordSet { seed, ..RecordSet::default() }
    }

    #[test]
    fn the_document_holds_the_figures_of_the_table() {
        let tested = crate::suite::tests::tested();
        let text = test(
            &tested,
            &set(7),
            &SavedTo { record: Some("/x.json".into()), ..SavedTo::default() },
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["kind"], "test");
        assert_eq!((&value["seed"], &value["record"]), (&7.into(), &"/x.json".into()));
        let cells = value["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 3);
        assert_eq!(cells[2]["latency_of"], "fsync");
        let (iops, p99) = (&cells[0]["iops"], &cells[0]["latency_ns"]["99"]);
        assert!(iops["low"].as_f64() < iops["value"].as_f64(), "{iops}");
        assert!(p99["high"].as_f64() > p99["value"].as_f64(), "{p99}");
        assert_eq!(value["limits"][0]["verdict"]["limit"], "device");
        assert_eq!(value["findings"][0]["check"], "not-durable");
        assert_eq!(value["knees"][0]["knee"]["iodepth"], 16);
        assert!(value["precondition"].is_null() && value["interrupted_by"].is_null());
        let mut bare = test::Conclusion::default();
        bare.rows.push(Row::default());
        let value: Value =
            serde_json::from_str(&test(&bare, &set(1), &SavedTo::default())).unwrap();
        assert!(value["record"].is_null() && value["cells"][0]["iops"]["low"].is_null());
    }

    #[test]
    fn a_curve_holds_every_depth_and_the_one_to_use() {
        let job = Path::new("at.fio");
        let text = curve(&crate::suite::curved(), &set(7), &SavedTo::default(), Some(job));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["kind"], &value["use"]), (&"knee".into(), &16.into()));
        assert_eq!(value["curve"].as_array().map(Vec::len), Some(6));
        assert_eq!(value["curve"][4]["iops"]["value"].as_f64(), Some(96_000.0));
        assert_eq!((&value["knee"]["iodepth"], &value["job_file"]), (&16.into(), &"at.fio".into()));
        assert_eq!(value["knee_of_rounds"], serde_json::json!([8, 16]));
        assert!(value["why"].as_str().is_some_and(|why| why.starts_with("Use iodepth=16")));
        let text = curve(&suite::curve::Conclusion::default(), &set(7), &SavedTo::default(), None);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value["use"].is_null() && value["knee"].is_null() && value["rw"].is_null());
    }

    #[test]
    fn preconditioning_and_diagnosis_are_documents_too() {
        let value: Value = serde_json::from_str(&precondition(
            &precondition::Conclusion::default(),
            &SavedTo::default(),
        ))
        .unwrap();
        assert_eq!((&value["kind"], &value["is_steady"]), (&"precondition".into(), &false.into()));
        let value: Value = serde_json::from_str(&diagnose(
            &diagnose::Conclusion::default(),
            &set(1),
            &SavedTo::default(),
        ))
        .unwrap();
        assert_eq!(value["steps"], Value::Array(Vec::new()));
    }
}
