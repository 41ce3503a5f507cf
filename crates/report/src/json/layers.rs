//! The layers of the I/Os.

use super::tree::{Json, array, object, texts};
use judge::{LayerRow, LayerTable, LayersJudged, OtherUse};

/// The layers as JSON.
pub(super) fn layers(layers: &LayersJudged) -> Json {
    object! {
        "paths" => array(&layers.tables, path),
        "others" => array(&layers.others, other),
        "gaps" => texts(&layers.gaps),
    }
}

fn path(table: &LayerTable) -> Json {
    let event = |(name, count): &(&'static str, u64)| {
        object! {
            "event" => *name,
            "count" => *count,
        }
    };
    object! {
        "job" => &table.job,
        "disk" => &table.device,
        "below_another_disk" => table.is_member,
        "operation" => table.direction.map_or("flush", record::Direction::name),
        "ios" => table.ios,
        "job_ios" => table.job_ios,
        "shares_of" => if table.is_whole { "latency" } else { "block layer" },
        "latency_ns" => table.latency_ns,
        "layers" => array(&table.rows, row),
        "events" => array(&table.events, event),
    }
}

fn row(row: &LayerRow) -> Json {
    let percentile = |index: usize| row.percentiles_ns.map(|all| all[index]);
    object! {
        "layer" => row.layer.name(),
        "meaning" => row.layer.meaning(),
        "mean_ns" => row.mean_ns,
        "p50_ns" => percentile(0),
        "p99_ns" => percentile(1),
        "p99_9_ns" => percentile(2),
        "share" => row.share,
    }
}

fn other(other: &OtherUse) -> Json {
    let requests = &other.requests;
    object! {
        "name" => &requests.name,
        "own" => requests.own,
        "disk" => &requests.device,
        "requests" => requests.requests,
        "bytes" => requests.bytes.0,
        "device_time_ns" => requests.device_time.0,
        "device_share" => other.device_share,
    }
}
