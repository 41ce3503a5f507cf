//! `fathom app --json`.

use super::parts::{document, estimated, failure, findings, limited};
use crate::json::tree::{Json, array, object, texts};
use judge::{DeviceStep, Limit};
use record::SavedTo;
use suite::app::{Conclusion, Gain, Incomparable, Row};

/// `fathom app --json`; `saved`: where the records of its runs are.
pub fn app(conclusion: &Conclusion, seed: u64, saved: &SavedTo) -> String {
    let rest = object! {
        "directory" => &conclusion.directory,
        "stack" => texts(&conclusion.stack),
        "rounds" => conclusion.rounds,
        "took_ns" => conclusion.elapsed.0,
        "interrupted_by" => conclusion.interrupted_by,
        "share_of" => conclusion.share_of.as_deref().unwrap_or("total"),
        "phases" => array(&conclusion.rows, row),
        "total_seconds" => conclusion.total.as_ref().map_or(Json::Null, estimated),
        "total_gain" => conclusion.total_gain.as_ref().map_or(Json::Null, gain),
        "limits" => array(&conclusion.limited, limited),
        "findings" => findings(&conclusion.findings),
        "failures" => array(&conclusion.failures, failure),
    };
    document("app", Some(seed), saved, rest)
}

fn row(row: &Row) -> Json {
    let part = |(name, seconds): &(String, f64)| object! { "name" => name, "seconds" => *seconds };
    let incomparable = match &row.gain {
        Some(Err(Incomparable::Missing)) => Some("the reference has no such phase".to_owned()),
        Some(Err(Incomparable::Other(why))) => Some(why.clone()),
        _ => None,
    };
    let gained = row.gain.as_ref().and_then(|gain| gain.as_ref().ok());
    object! {
        "phase" => &row.phase,
        "description" => &row.label,
        "rounds" => row.rounds,
        "seconds" => estimated(&row.seconds),
        "share" => row.share.as_ref().map_or(Json::Null, estimated),
        "parts" => array(&row.parts, part),
        "amount" => row.amount.map(|amount| amount.count),
        "unit" => row.amount.map(|amount| amount.unit.name()),
        "per_second" => row.rate.as_ref().map_or(Json::Null, estimated),
        "io_over_time" => array(&row.io, step),
        "caches" => row.cache.name(),
        "limit" => row.limit.map(Limit::name),
        "gain" => gained.map_or(Json::Null, gain),
        "not_compared" => incomparable,
    }
}

fn step(step: &DeviceStep) -> Json {
    object! {
        "start_ns" => step.start,
        "read_bytes_per_second" => step.read,
        "write_bytes_per_second" => step.written,
        "in_flight" => step.in_flight,
    }
}

fn gain(gain: &Gain) -> Json {
    object! {
        "reference_seconds" => estimated(&gain.reference),
        "percent" => estimated(&gain.percent),
        "is_shown" => gain.is_shown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_document_holds_the_figures_of_the_table() {
        let text = app(
            &crate::suite::app::tests::done(),
            7,
            &SavedTo { record: Some("/x.json".into()), ..SavedTo::default() },
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["kind"], &value["seed"]), (&"app".into(), &7.into()));
        let gzip = &value["phases"][0];
        assert_eq!((&gzip["phase"], &gzip["caches"]), (&"gzip".into(), &"dropped".into()));
        assert_eq!((&value["share_of"], &gzip["share"]["value"]), (&"total".into(), &0.984.into()));
        assert_eq!((&gzip["unit"], &gzip["parts"][1]["name"]), (&"bytes".into(), &"sync".into()));
        assert_eq!(gzip["gain"]["percent"]["low"], 30.1);
        assert_eq!(gzip["gain"]["is_shown"], true);
        assert_eq!(value["phases"][1]["not_compared"], "caches warm here, dropped there");
        assert!(value["phases"][1]["gain"].is_null() && value["total_gain"].is_null());
    }
}
