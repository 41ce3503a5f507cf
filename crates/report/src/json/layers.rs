//! The layers of the I/Os.

use super::tree::{Json, array, object, texts};
use judge::{
    BesideOthers, CellLayers, IoLayer, LayerRow, LayerTable, LayersAt, LayersJudged, OtherUse,
    SizeLayers, SlowMember, SlowSize, SyncParts,
};
use record::{DeviceEvents, RunRecord, SlowIo};

/// The layers as JSON.
pub(super) fn layers(layers: &LayersJudged) -> Json {
    object! {
        "paths" => array(&layers.tables, path),
        "others" => array(&layers.others, other),
        "journals" => array(&layers.journals, |them| events("commits", them)),
        "flushes" => array(&layers.flushes, |them| events("flushes", them)),
        "sync" => layers.sync.as_ref().map(sync),
        "gaps" => texts(&layers.gaps),
        "timed_by_default" => layers.is_default,
        "timed_since_ns" => layers.since.0,
        "cost_ns_per_io" => layers.cost_ns,
    }
}

/// The mean time of each layer, for each cell of a suite that timed them.
pub(super) fn layers_by_cell(runs: &[RunRecord]) -> Json {
    let cell = |cell: &CellLayers| {
        object! {
            "cell" => &cell.cell,
            "job" => &cell.job,
            "disk" => &cell.device,
            "operation" => cell.direction.name(),
            "ios" => cell.ios,
            "latency_ns" => cell.latency_ns,
            "layers" => array(&cell.means_ns, mean),
        }
    };
    array(&judge::layers_by_cell(runs), cell)
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
        "percentiles" => array(&table.percentiles, at_percentile),
        "sizes" => array(&table.sizes, size),
        "slowest" => table.slowest.as_ref().map(|slowest| array(&slowest.ios, slow_io)),
        "slowest_of_steps" => array(&table.slowest_of_steps, slow_io),
        "slow_size" => table.slow_size.as_ref().map(slow_size),
        "slow_member" => table.slow_member.as_ref().map(slow_member),
        "beside_others" => table.beside_others.as_ref().map(beside_others),
    }
}

fn events(count: &'static str, events: &DeviceEvents) -> Json {
    object! {
        "disk" => &events.device,
        count => events.count,
        "mean_ns" => events.mean_ns(),
        "longest_ns" => events.longest.0,
    }
}

fn sync(parts: &SyncParts) -> Json {
    object! {
        "latency_ns" => parts.latency_ns,
        "journal_ns" => parts.journal_ns,
        "flush_ns" => parts.flush_ns,
    }
}

fn size(size: &SizeLayers) -> Json {
    object! {
        "up_to_bytes" => size.up_to.map(|up_to| up_to.0),
        "ios" => size.ios,
        "mean_ns" => size.mean_ns(),
        "layers" => array(&size.means_ns, mean),
        "percentiles" => array(&size.percentiles, at_percentile),
    }
}

fn slow_size(size: &SlowSize) -> Json {
    object! {
        "size" => &size.name,
        "share_of_slow_ios" => size.slow_share,
        "share_of_ios" => size.share,
    }
}

fn slow_member(member: &SlowMember) -> Json {
    object! {
        "disk" => &member.device,
        "share_of_slow_ios" => member.slow_share,
        "share_of_ios" => member.share,
    }
}

fn beside_others(beside: &BesideOthers) -> Json {
    object! {
        "ios" => beside.ios,
        "share_of_device_time" => beside.time_share,
        "mean_ns" => beside.mean_ns,
        "mean_otherwise_ns" => beside.otherwise_ns,
    }
}

fn mean((layer, time): &(IoLayer, f64)) -> Json {
    object! {
        "layer" => layer.name(),
        "mean_ns" => *time,
    }
}

fn at_percentile(at: &LayersAt) -> Json {
    object! {
        "percentile" => at.percentile,
        "mean_ns" => at.total_ns(),
        "layers" => array(&at.times_ns, mean),
    }
}

fn slow_io(io: &SlowIo) -> Json {
    object! {
        "completed_ns" => io.at.0,
        "total_ns" => io.total.0,
        "request_ns" => io.spans.request.0,
        "plug_ns" => io.spans.plug.0,
        "scheduler_ns" => io.spans.scheduler.0,
        "device_ns" => io.spans.device.0,
        "offset" => io.offset.0,
        "bytes" => io.bytes.0,
        "merged" => io.merged,
        "requeued" => io.requeued,
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
        "process" => (requests.pid > 0).then_some(requests.pid),
        "cgroup" => requests.cgroup.as_deref(),
        "own" => requests.own,
        "disk" => &requests.device,
        "requests" => requests.requests,
        "bytes" => requests.bytes.0,
        "device_time_ns" => requests.device_time.0,
        "device_share" => other.device_share,
    }
}
