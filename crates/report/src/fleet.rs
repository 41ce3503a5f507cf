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
    let mut out = format!("\n{}\n", style.bold(&printable(&format!("Fleet: {}", head(fleet)))));
    out.extend(lines(fleet, judged).iter().map(|line| format!("  {line}\n")));
    out.extend(tables(fleet, judged).iter().map(RankTable::text));
    out
}

/// "4 ranks on 2 hosts (Open MPI v4.1.4)".
pub(crate) fn head(fleet: &Fleet) -> String {
    let hosts: BTreeSet<&str> = fleet.ranks.iter().map(|rank| rank.host.as_str()).collect();
    let (ranks, hosts) = (counted(fleet.ranks.len(), "rank"), counted(hosts.len(), "host"));
    format!("{ranks} on {hosts} ({})", fleet.library)
}

/// What all ranks did together, and what the fleet took.
pub(crate) fn lines(fleet: &Fleet, judged: &Judged) -> Vec<String> {
    let mut lines = Vec::new();
    let measured = fleet.ranks.iter().filter(|rank| rank.state == RankState::Ran).count();
    if measured < fleet.ranks.len() {
        lines.push(format!("measured on {measured} of {}", counted(fleet.ranks.len(), "rank")));
    }
    for figures in &judged.fleet {
        if judged.fleet.len() > 1 {
            lines.push(format!("group {}:", figures.group));
        }
        lines.extend(window_lines(figures));
    }
    lines.push(clocks(fleet));
    let costs = fleet.costs;
    let cost = |ns: record::Nanos| time(ns.0 as f64);
    lines.push(format!(
        "the fleet itself took: join {}, clocks {}, start {}, merge {}",
        cost(costs.join),
        cost(costs.clocks),
        cost(costs.start),
        cost(costs.merge)
    ));
    lines
}

/// What all ranks did in their common window.
fn window_lines(figures: &FleetFigures) -> Vec<String> {
    if figures.window_ns == 0 {
        return vec!["no window in which all ranks ran".into()];
    }
    let rate_of = |(direction, (iops, bytes)): (Direction, &(f64, f64))| {
        format!("{}: IOPS={}, BW={}", direction.name(), count(*iops), rate(*bytes))
    };
    let rates = figures.rates.iter().filter(|(_, rates)| rates.0 > 0.0);
    let mut lines: Vec<String> = rates.map(rate_of).collect();
    lines.push(format!(
        "while {} ran: {} of {}",
        match figures.ranks {
            1 => "one rank".to_owned(),
            2 => "both ranks".to_owned(),
            ranks => format!("all {ranks} ranks"),
        },
        time(figures.window_ns as f64),
        time(figures.span_ns as f64)
    ));
    lines.push(format!(
        "ranks started within {} of each other (±{})",
        time(figures.skew_ns as f64),
        time(figures.skew_bound_ns as f64)
    ));
    let rates = || figures.by_rank.iter().map(|(_, rate)| *rate);
    let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    if figures.ranks > 1 && most > 0.0 {
        let ratio =
            if least > 0.0 { format!(" (1 to {:.2})", most / least) } else { String::new() };
        lines.push(format!("IOPS of a rank: from {} to {}{ratio}", count(least), count(most)));
    }
    lines
}

/// The clock that is farthest off, and the least exact comparison.
fn clocks(fleet: &Fleet) -> String {
    let others: Vec<_> = fleet.ranks.iter().filter(|rank| rank.clock.bound() > Some(0)).collect();
    let Some(worst) = others.iter().max_by_key(|rank| rank.clock.bound()) else {
        return "clocks: all ranks have the clock of rank 0".into();
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
        "clocks: compared with rank 0 to ±{} at worst (rank {}){}",
        time(worst.clock.bound().unwrap_or(0) as f64),
        worst.rank,
        drift.unwrap_or_default()
    )
}

/// The ranks of a group of jobs.
pub(crate) struct RankTable {
    /// The number of the group; `None` if it is the only one.
    pub group: Option<u32>,
    /// The ranks; of many, the slowest.
    pub rows: Vec<RankRow>,
    /// Ranks without a row.
    pub more: usize,
}

/// A rank.
pub(crate) struct RankRow {
    pub rank: u32,
    pub host: String,
    /// Start, IOPS, bandwidth, mean and p99 of the latency; or why there are none.
    pub figures: Result<[String; 5], String>,
    /// What limited it, and what is amiss.
    pub remarks: String,
}

/// Names of the columns of [`RankRow::figures`].
pub(crate) const FIGURES: [&str; 5] = ["start", "IOPS", "BW", "mean", "p99"];

/// The ranks of each group.
pub(crate) fn tables(fleet: &Fleet, judged: &Judged) -> Vec<RankTable> {
    let groups: BTreeSet<u32> = judged.fleet.iter().map(|figures| figures.group).collect();
    let named = |group| Some(group).filter(|_| groups.len() > 1);
    groups.iter().map(|group| table(fleet, *group, named(*group))).collect()
}

fn table(fleet: &Fleet, number: u32, named: Option<u32>) -> RankTable {
    let mut shown: Vec<(&RankRecord, Option<&RankGroup>)> =
        fleet.ranks.iter().map(|rank| (rank, rank.group(number))).collect();
    if shown.len() > ROWS {
        shown.sort_by_key(|(rank, group)| {
            (rank.state == RankState::Ran, group.map_or(0, RankGroup::ios), rank.rank)
        });
        shown.truncate(ROWS);
        shown.sort_by_key(|(rank, _)| rank.rank);
    }
    let window = fleet.windows.iter().find(|window| window.group == number);
    let window = window.map_or((0.0, 0), |span| ((span.end - span.start).seconds(), span.start.0));
    let more = fleet.ranks.len() - shown.len();
    let rows = shown.into_iter().map(|(rank, group)| row(rank, group, window)).collect();
    RankTable { group: named, rows, more }
}

fn row(rank: &RankRecord, group: Option<&RankGroup>, (seconds, start): (f64, u64)) -> RankRow {
    let (number, host) = (rank.rank, rank.host.clone());
    let Some(group) = group else {
        let figures = Err(without_io(rank));
        return RankRow { rank: number, host, figures, remarks: String::new() };
    };
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let bytes = Direction::ALL.into_iter().map(|d| group.within[d].1.0).sum();
    // The last rank's start is the start of the window.
    let early = start.saturating_sub(group.started.0);
    let start = match group.started.0.saturating_sub(start) {
        0 if early == 0 => time(0.0),
        0 => format!("-{}", time(early as f64)),
        late => format!("+{}", time(late as f64)),
    };
    let figures = [
        start,
        count(per_second(group.ios())),
        rate(per_second(bytes)),
        time(group.clat_mean.0 as f64),
        time(group.clat_p99.0 as f64),
    ];
    let limits: BTreeSet<&str> = rank.verdicts.iter().map(|v| v.limit.as_str()).collect();
    let limits: Vec<&str> = limits.into_iter().collect();
    let amiss = if group.in_window { "" } else { "  not in the window" };
    let why = if rank.why.is_empty() { String::new() } else { format!("  {}", rank.why) };
    let remarks = format!("{}{amiss}{why}", limits.join(", "));
    RankRow { rank: number, host, figures: Ok(figures), remarks }
}

impl RankTable {
    fn text(&self) -> String {
        let title = self.group.map_or("rank".to_owned(), |group| format!("group {group}"));
        let cells = |[start, iops, bandwidth, mean, p99]: [&str; 5]| {
            format!("{start:>12}{iops:>10}{bandwidth:>12}{mean:>10}{p99:>10}")
        };
        let mut out = format!("  {title:>7} {:<HOST$}{}  limited by\n", "host", cells(FIGURES));
        for row in &self.rows {
            let host = shorten(&printable(&row.host), HOST - 1);
            let figures = match &row.figures {
                Ok(figures) => cells(figures.each_ref().map(String::as_str)),
                Err(why) => printable(why),
            };
            out +=
                &format!("  {:>7} {host:<HOST$}{figures}  {}", row.rank, printable(&row.remarks));
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        if self.more > 0 {
            let more = counted(self.more, "rank");
            out += &format!("  and {more} that made more I/Os each; JSON has all\n");
        }
        out
    }
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
