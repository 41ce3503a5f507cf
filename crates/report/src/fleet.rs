//! The ranks of a fleet: what all did together, then each.

use crate::style::{Style, printable, shorten};
use judge::{FleetFigures, Judged};
use record::human::{count, counted, rate, time};
use record::{Direction, Fleet, RankGroup, RankRecord, RankState};
use std::collections::BTreeSet;

/// Ranks that are shown one by one; of more, the slowest.
const ROWS: usize = 16;
/// Width of the column of hosts.
const HOST: usize = 14;

/// The section: begins with an empty line.
pub(crate) fn text(fleet: &Fleet, judged: &Judged, style: &Style) -> String {
    let hosts: BTreeSet<&str> = fleet.ranks.iter().map(|rank| rank.host.as_str()).collect();
    let measured = fleet.ranks.iter().filter(|rank| rank.state == RankState::Ran).count();
    let head = format!(
        "Fleet: {} on {} ({})",
        counted(fleet.ranks.len(), "rank"),
        counted(hosts.len(), "host"),
        fleet.library
    );
    let mut out = format!("\n{}\n", style.bold(&printable(&head)));
    if measured < fleet.ranks.len() {
        out += &format!("  measured on {measured} of {}\n", counted(fleet.ranks.len(), "rank"));
    }
    for figures in &judged.fleet {
        if judged.fleet.len() > 1 {
            out += &format!("  group {}:\n", figures.group);
        }
        out += &together(figures);
    }
    out += &clocks(fleet);
    let costs = fleet.costs;
    let cost = |ns: record::Nanos| time(ns.0 as f64);
    out += &format!(
        "  the fleet itself took: join {}, clocks {}, start {}, merge {}\n",
        cost(costs.join),
        cost(costs.clocks),
        cost(costs.start),
        cost(costs.merge)
    );
    let groups: BTreeSet<u32> = judged.fleet.iter().map(|figures| figures.group).collect();
    for group in groups {
        out += &ranks(fleet, group, judged.fleet.len() > 1);
    }
    out
}

/// What all ranks did in their common window.
fn together(figures: &FleetFigures) -> String {
    if figures.window_ns == 0 {
        return "  no window in which all ranks ran\n".into();
    }
    let mut out = String::new();
    for (direction, (iops, bytes)) in figures.rates.iter().filter(|(_, rates)| rates.0 > 0.0) {
        let name = direction.name();
        out += &format!("  {name}: IOPS={}, BW={}\n", count(*iops), rate(*bytes));
    }
    out += &format!(
        "  while {} ran: {} of {}\n",
        match figures.ranks {
            1 => "one rank".to_owned(),
            2 => "both ranks".to_owned(),
            ranks => format!("all {ranks} ranks"),
        },
        time(figures.window_ns as f64),
        time(figures.span_ns as f64)
    );
    out += &format!(
        "  ranks started within {} of each other (±{})\n",
        time(figures.skew_ns as f64),
        time(figures.skew_bound_ns as f64)
    );
    let rates = || figures.by_rank.iter().map(|(_, rate)| *rate);
    let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    if figures.ranks > 1 && most > 0.0 {
        let ratio =
            if least > 0.0 { format!(" (1 to {:.2})", most / least) } else { String::new() };
        let (least, most) = (count(least), count(most));
        out += &format!("  IOPS of a rank: from {least} to {most}{ratio}\n");
    }
    out
}

/// The clock that is farthest off, and the least exact comparison.
fn clocks(fleet: &Fleet) -> String {
    let others: Vec<_> = fleet.ranks.iter().filter(|rank| rank.clock.before.is_some()).collect();
    let Some(worst) = others.iter().max_by_key(|rank| rank.clock.bound()) else {
        return "  clocks: all ranks have the clock of rank 0\n".into();
    };
    let drift = |rank: &&&RankRecord| rank.clock.drift_ppm().map(|(drift, _)| drift.abs());
    let drifting = others
        .iter()
        .max_by(|a, b| drift(a).partial_cmp(&drift(b)).unwrap_or(std::cmp::Ordering::Equal));
    let drift = drifting.and_then(|rank| {
        let (drift, bound) = rank.clock.drift_ppm()?;
        Some(format!(", drift up to {:.1} ±{:.1} ppm (rank {})", drift, bound, rank.rank))
    });
    format!(
        "  clocks: compared with rank 0 to ±{} at worst (rank {}){}\n",
        time(worst.clock.bound() as f64),
        worst.rank,
        drift.unwrap_or_default()
    )
}

/// A table of the ranks of a group.
fn ranks(fleet: &Fleet, group: u32, is_named: bool) -> String {
    let mut shown: Vec<(&RankRecord, Option<&RankGroup>)> =
        fleet.ranks.iter().map(|rank| (rank, rank.group(group))).collect();
    if shown.len() > ROWS {
        shown.sort_by_key(|(rank, group)| {
            (rank.state == RankState::Ran, group.map_or(0, RankGroup::ios), rank.rank)
        });
        shown.truncate(ROWS);
        shown.sort_by_key(|(rank, _)| rank.rank);
    }
    let window = fleet.windows.iter().find(|window| window.group == group);
    let seconds = window.map_or(0.0, |window| (window.end - window.start).seconds());
    let start = window.map_or(0, |window| window.start.0);
    let title = if is_named { format!("group {group}") } else { "rank".to_owned() };
    let mut out = format!(
        "  {title:>7} {:<HOST$}{:>12}{:>10}{:>12}{:>10}{:>10}  limited by\n",
        "host", "start", "IOPS", "BW", "mean", "p99"
    );
    for (rank, group) in &shown {
        let host = shorten(&printable(&rank.host), HOST - 1);
        let name = format!("  {:>7} {host:<HOST$}", rank.rank);
        out += &match group {
            Some(group) => name + &row(rank, group, seconds, start),
            None => format!("{name}  {}", printable(&without_io(rank))),
        };
        out.push('\n');
    }
    if fleet.ranks.len() > shown.len() {
        let more = fleet.ranks.len() - shown.len();
        out += &format!("  and {} that made more I/Os each; JSON has all\n", counted(more, "rank"));
    }
    out
}

fn row(rank: &RankRecord, group: &RankGroup, seconds: f64, start: u64) -> String {
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let bytes = Direction::ALL.into_iter().map(|d| group.within[d].1.0).sum();
    // The last rank's start is the start of the window.
    let early = start.saturating_sub(group.started.0);
    let late = group.started.0.saturating_sub(start);
    let start = match late {
        0 => format!("-{}", time(early as f64)),
        late => format!("+{}", time(late as f64)),
    };
    let limits: BTreeSet<&str> = rank.verdicts.iter().map(|v| v.limit.as_str()).collect();
    let limits: Vec<&str> = limits.into_iter().collect();
    let why = if rank.why.is_empty() { String::new() } else { format!("  {}", rank.why) };
    format!(
        "{start:>12}{:>10}{:>12}{:>10}{:>10}  {}{}{}",
        count(per_second(group.ios())),
        rate(per_second(bytes)),
        time(group.clat_mean.0 as f64),
        time(group.clat_p99.0 as f64),
        limits.join(", "),
        if group.in_window { "" } else { "  not in the window" },
        printable(&why),
    )
}

/// What became of a rank that made no I/O.
fn without_io(rank: &RankRecord) -> String {
    let state = match rank.state {
        RankState::Ran => "no I/O",
        other => other.name(),
    };
    match rank.why.lines().next() {
        Some(why) => format!("{state}: {why}"),
        None => state.to_owned(),
    }
}
