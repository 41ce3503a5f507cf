//! Sweeps as JSON.

use super::fathom::finding;
use super::layers::layers_by_cell;
use super::suite::parts::{estimated, limited};
use super::tree::{Json, array, object, texts};
use judge::stats::Standing;
use record::{Coordinate, RecordSet};
use std::path::Path;
use suite::Estimated;
use suite::grid::Reading;
use suite::sweep::{
    Column, Conclusion, Design, Dimension, FailureGroup, LayerCost, Order, Row, Scaling, Table,
};

/// `fathom sweep --json`; `directory`: where its runs are saved.
pub fn sweep(
    conclusion: &Conclusion,
    design: &Design,
    set: &RecordSet,
    directory: &Path,
) -> String {
    object! {
        "kind" => "sweep",
        "fathom_version" => env!("CARGO_PKG_VERSION"),
        "directory" => directory.to_string_lossy().into_owned(),
        "dimensions" => array(&design.dimensions, dimension),
        "paired" => design.paired,
        "repeats" => design.repeats,
        "order" => if design.order == Order::Given { "given" } else { "random" },
        "seed" => design.seed,
        "cells" => conclusion.cells as u64,
        "runs_planned" => conclusion.planned as u64,
        "runs_made" => conclusion.made as u64,
        "took_ns" => conclusion.elapsed.0,
        "interrupted_by" => conclusion.interrupted_by,
        "tables" => array(&conclusion.tables, table),
        "mkfs_seconds" => Json::Object(
            conclusion.mkfs.iter().map(|(kind, time)| (kind.clone(), estimated(time))).collect(),
        ),
        "layers" => array(&conclusion.layers, layer),
        "layers_by_cell" => layers_by_cell(&set.runs),
        "scaling" => array(&conclusion.scaling, scaling),
        "limits" => array(&conclusion.limited, limited),
        "findings" => array(&conclusion.findings, finding),
        "failures" => array(&conclusion.failures, failed),
    }
    .to_text()
}

/// `fathom sweep --restore --json`: settings that were put back, that could not be, and that belong to a
/// sweep that still runs.
pub fn restored(done: &[String], failed: &[String], left_alone: &[String]) -> String {
    object! {
        "kind" => "restore",
        "fathom_version" => env!("CARGO_PKG_VERSION"),
        "restored" => texts(done),
        "failed" => texts(failed),
        "left_alone" => texts(left_alone),
    }
    .to_text()
}

fn dimension(dimension: &Dimension) -> Json {
    object! { "name" => &dimension.name, "values" => texts(&dimension.values) }
}

fn place(at: &[Coordinate]) -> Json {
    Json::Object(at.iter().map(|c| (c.dimension.clone(), (&c.value).into())).collect())
}

fn table(table: &Table) -> Json {
    object! {
        "metric" => table.measure.name(),
        "unit" => table.measure.unit(),
        "more_is_better" => table.measure.is_rate(),
        "compared" => &table.compared,
        "across" => table.across.as_deref(),
        "at" => place(&table.at),
        "comparisons" => table.comparisons as u64,
        "percent_of" => table.baseline.name(),
        "columns" => array(&table.columns, column),
    }
}

fn column(column: &Column) -> Json {
    object! {
        "value" => &column.value,
        "rows" => array(&column.rows, row),
        "total_percent" => column.total_share.map(|share| share.value * 100.0),
    }
}

fn row(row: &Row) -> Json {
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let mean = row.mean();
    let ends = row.share.and_then(|share| share.interval);
    let (state, why) = match &row.reading {
        Reading::Measured(_) => ("measured", None),
        Reading::Failed(why) => ("failed", Some(why.as_str())),
        Reading::Absent => ("absent", None),
        Reading::Missing => ("missing", None),
    };
    object! {
        "value" => &row.value,
        "state" => state,
        "why" => why,
        "runs" => array(row.values(), |value| (*value).into()),
        "runs_failed" => row.reading.measured().map(|measured| measured.failed as u64),
        "mean" => mean.map(|mean| mean.value),
        "low" => mean.and_then(|mean| finite(mean.low)),
        "high" => mean.and_then(|mean| finite(mean.high)),
        "percent" => row.share.map(|share| share.value * 100.0),
        "percent_low" => ends.map(|(low, _)| low * 100.0),
        "percent_high" => ends.map(|(_, high)| high * 100.0),
        "standing" => row.standing.map(standing),
    }
}

/// The standing of a cell in its column.
fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Best => "best",
        Standing::Tied => "tied",
        Standing::Behind => "behind",
        Standing::Undecided => "untold",
    }
}

fn layer(cost: &LayerCost) -> Json {
    object! {
        "at" => &cost.at,
        "layer" => &cost.layer,
        "below" => &cost.below,
        "added_ns" => estimated(&cost.added_ns),
        "ratio" => cost.ratio.as_ref().map_or(Json::Null, estimated),
    }
}

fn scaling(scaling: &Scaling) -> Json {
    let optional = |figure: &Option<Estimated>| figure.as_ref().map_or(Json::Null, estimated);
    object! {
        "dimension" => &scaling.dimension,
        "at" => &scaling.at,
        "metric" => &scaling.figure,
        "one" => estimated(&scaling.one),
        "contention" => estimated(&scaling.contention),
        "coherency" => estimated(&scaling.coherency),
        "peak" => optional(&scaling.peak),
        "most" => optional(&scaling.most),
        "largest" => scaling.largest,
        "efficiency" => scaling.efficiency,
        "deviation" => scaling.deviation,
        "is_followed" => scaling.is_followed(),
    }
}

fn failed(failed: &FailureGroup) -> Json {
    object! { "text" => &failed.text, "cells" => texts(&failed.cells) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_document_holds_the_figures_of_the_tables() {
        let design = Design {
            dimensions: vec![Dimension { name: "iodepth".into(), values: vec!["1".into()] }],
            repeats: 3,
            seed: 7,
            ..Design::default()
        };
        let conclusion = crate::sweep::tests::swept();
        let text = sweep(&conclusion, &design, &RecordSet::default(), Path::new("/x"));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["kind"], &value["seed"]), (&"sweep".into(), &7.into()));
        assert_eq!((&value["directory"], &value["order"]), (&"/x".into(), &"random".into()));
        let table = &value["tables"][0];
        assert_eq!((&table["metric"], &table["unit"]), (&"iops".into(), &"IOPS".into()));
        assert_eq!((&table["across"], &table["at"]["rw"]), (&"bs".into(), &"randread".into()));
        let rows = &table["columns"][0]["rows"];
        assert_eq!((&rows[2]["standing"], &rows[1]["standing"]), (&"best".into(), &"tied".into()));
        assert_eq!((&rows[2]["percent"], &rows[2]["state"]), (&100.0.into(), &"measured".into()));
        assert_eq!((&table["percent_of"], &rows[2]["percent_low"]), (&"best".into(), &Value::Null));
        assert_eq!(rows[2]["runs"].as_array().unwrap().len(), 3);
        assert!(rows[2]["low"].as_f64() < rows[2]["mean"].as_f64());
        let holed = &table["columns"][1]["rows"];
        assert_eq!((&holed[0]["state"], &holed[1]["why"]), (&"missing".into(), &"no space".into()));
        assert!(holed[0]["mean"].is_null() && holed[0]["standing"].is_null());
        assert_eq!(value["failures"][0]["cells"].as_array().unwrap().len(), 2);
        assert_eq!(value["limits"][0]["verdict"]["limit"], "device");
    }
}
