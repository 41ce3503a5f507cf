//! Several runs as one document: fio's tree for each, and what they show together.

use super::tree::{Json, object};
use super::{fathom, fio};
use crate::Dress;
use crate::when::asctime;
use judge::Judged;
use record::RecordSet;

/// The whole document. `judged` are the runs, `together` what they show as one.
pub(super) fn document(
    set: &RecordSet,
    judged: &[Judged],
    together: &Judged,
    bins: bool,
    dress: &Dress,
) -> Json {
    let run = |(record, judged): (&record::RunRecord, &Judged)| {
        let mut out = object! {
            "cell" => record.cell.as_ref().map(|cell| &*cell.name),
            "round" => record.cell.as_ref().map(|cell| cell.round),
        };
        if let (Json::Object(pairs), Json::Object(own)) =
            (&mut out, fio::document(record, judged, bins, dress))
        {
            pairs.extend(own);
        }
        out
    };
    let last = set.runs.last().map(|record| &record.invocation);
    let ended = last.map_or(0, |call| call.ended_unix_ms);
    object! {
        "fio version" => &dress.fio_version,
        "timestamp" => ended / 1000,
        "timestamp_ms" => ended,
        "time" => asctime(ended, last.map_or(0, |call| call.utc_offset_seconds)),
        "runs" => Json::Array(set.runs.iter().zip(judged).map(run).collect()),
        "fathom" => fathom::of_set(set, together),
    }
}
