//! Several runs as one document: fio's tree for each run, and verdicts and findings of all.

use super::tree::{Json, object};
use super::{fathom, fio};
use crate::options::RenderOptions;
use judge::Judged;
use record::RecordSet;
use record::date::asctime;

/// The whole document. `judged` holds each run, `together` all runs as one.
pub(super) fn document(
    set: &RecordSet,
    judged: &[Judged],
    together: &Judged,
    bins: bool,
    options: &RenderOptions,
) -> Json {
    let run = |(record, judged): (&record::RunRecord, &Judged)| {
        let mut out = object! {
            "cell" => record.cell.as_ref().map(|cell| &*cell.name),
            "round" => record.cell.as_ref().map(|cell| cell.round),
        };
        if let (Json::Object(pairs), Json::Object(own)) =
            (&mut out, fio::document(record, judged, bins, options))
        {
            pairs.extend(own);
        }
        out
    };
    let last = set.runs.last().map(|record| &record.invocation);
    let ended = last.map_or(0, |call| call.ended_unix_ms);
    object! {
        "fio version" => options.version_line(),
        "timestamp" => ended / 1000,
        "timestamp_ms" => ended,
        "time" => asctime(ended, last.map_or(0, |call| call.utc_offset_seconds)),
        "runs" => Json::Array(set.runs.iter().zip(judged).map(run).collect()),
        "fathom" => fathom::set_part(set, together),
    }
}
