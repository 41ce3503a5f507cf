//! The ranks of a fleet.

use super::tree::{Json, array, object, texts};
use judge::{FleetFigures, Straggler};
use record::{ClockOffset, Direction, Fleet, RankFinding, RankGroup, RankRecord, RankVerdict};

/// The fleet of a run.
pub(super) fn fleet(fleet: &Fleet, figures: &[FleetFigures]) -> Json {
    object! {
        "library" => &fleet.library,
        "groups" => array(figures, group_object),
        "costs" => object! {
            "join_ns" => fleet.costs.join.0,
            "clocks_ns" => fleet.costs.clocks.0,
            "start_ns" => fleet.costs.start.0,
            "merge_ns" => fleet.costs.merge.0,
        },
        "ranks" => array(&fleet.ranks, rank),
    }
}

fn group_object(figures: &FleetFigures) -> Json {
    let mut out = object! {
        "group" => figures.group,
        "ranks" => figures.ranks,
        "window_ns" => figures.window_ns,
        "span_ns" => figures.span_ns,
        "skew_ns" => figures.skew_ns,
        "skew_bound_ns" => figures.skew_bound_ns,
        "outside" => Json::Array(figures.outside.iter().map(|rank| (*rank).into()).collect()),
        "stragglers" => array(&figures.stragglers, straggler),
    };
    for (direction, (iops, bytes)) in figures.rates.iter() {
        out.push(direction.name(), object! { "iops" => *iops, "bw_bytes" => *bytes });
    }
    out
}

fn straggler(slow: &Straggler) -> Json {
    object! {
        "rank" => slow.rank,
        "host" => &slow.host,
        "iops" => slow.iops,
        "iops_of_others" => slow.others,
        "slower_in_parts" => slow.slower_in,
        "parts" => slow.parts,
        "probability" => slow.probability,
    }
}

fn rank(rank: &RankRecord) -> Json {
    let drift = rank.clock.drift_ppm();
    object! {
        "rank" => rank.rank,
        "host" => &rank.host,
        "kernel" => &rank.kernel,
        "version" => &rank.version,
        "mounts" => texts(&rank.mounts),
        "state" => rank.state.name(),
        "why" => Some(&rank.why).filter(|why| !why.is_empty()),
        "exit_code" => u64::from(rank.exit_code),
        "clock" => object! {
            "same_as_rank_0" => rank.clock.same,
            "before" => rank.clock.before.as_ref().map(offset),
            "after" => rank.clock.after.as_ref().map(offset),
            "drift_ppm" => drift.map(|(drift, _)| drift),
            "drift_bound_ppm" => drift.map(|(_, bound)| bound),
            "jump_ns" => rank.clock.jump().map(Json::Whole),
        },
        "groups" => array(&rank.groups, group),
        "verdicts" => array(&rank.verdicts, verdict),
        "findings" => array(&rank.findings, finding),
    }
}

fn offset(offset: &ClockOffset) -> Json {
    object! {
        "ahead_ns" => Json::Whole(offset.ahead),
        "bound_ns" => offset.bound,
    }
}

fn group(group: &RankGroup) -> Json {
    let mut out = object! {
        "group" => group.group,
        "started_ns" => group.started.0,
        "ended_ns" => group.ended.0,
        "in_window" => group.in_window,
        "clat_mean_ns" => group.clat_mean.0,
        "clat_p99_ns" => group.clat_p99.0,
        "ios_by_part" => Json::Array(group.parts.iter().map(|ios| (*ios).into()).collect()),
    };
    for direction in Direction::ALL {
        let (ios, bytes) = group.within[direction];
        out.push(direction.name(), object! { "ios" => ios, "bytes" => bytes.0 });
    }
    out
}

fn verdict(verdict: &RankVerdict) -> Json {
    object! {
        "job" => &verdict.job,
        "limited_by" => &verdict.limit,
        "confidence" => &verdict.confidence,
        "because" => &verdict.because,
    }
}

fn finding(finding: &RankFinding) -> Json {
    object! {
        "check" => &finding.check,
        "jobs" => texts(&finding.jobs),
        "text" => &finding.text,
    }
}
