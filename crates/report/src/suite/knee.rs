//! What `fathom knee` found: the curve as a table, the depth to use, and the job that runs at it.

use super::files;
use super::parts::{duration, failures, findings, head, interruption};
use super::table::columns;
use crate::figures::{PLAIN, in_mebibytes, interval, time_with_interval};
use crate::style::Style;
use judge::Durability;
use record::human;
use suite::Estimated;
use suite::curve::{BoundResult, ChoiceReason, Conclusion, DepthChoice, Row};

/// Widths of the columns: depth, IOPS or MiB/s, mean and three percentiles, power. Marks follow.
const WIDTHS: [usize; 7] = [5, 11, 11, 11, 11, 11, 6];
/// From this size of I/Os on, the table shows bandwidth instead of IOPS.
const LARGE: u64 = 64 << 10;

/// `fathom knee`.
pub fn text(conclusion: &Conclusion, style: &Style) -> String {
    let mut out = head(&conclusion.stack, &what_was_measured(conclusion), style);
    if conclusion.durability == Some(Durability::Memory) {
        out += &style
            .paragraph("This is memory, not a disk: the figures show the speed of memory.", 0);
    }
    out += &table(conclusion, style);
    out += &failures(&conclusion.failures, style);
    for line in lines(conclusion) {
        out += &style.paragraph(&line, 0);
    }
    if let Some(line) = to_use(conclusion) {
        out += &style.heading(&style.wrap(&line, 0));
    }
    if let (Some(verdict), Some(choice)) = (&conclusion.verdict, conclusion.choice) {
        let line = format!(
            "At depth {} limited by: {}, confidence: {}: {}",
            choice.depth,
            verdict.limit.name(),
            verdict.confidence.name(),
            verdict.because
        );
        out += &style.paragraph(&line, 2);
    }
    out += &findings(&conclusion.findings, style);
    out + &interruption(conclusion.interrupted_by, "the table holds the runs that ended before")
}

fn what_was_measured(conclusion: &Conclusion) -> String {
    let Some(access) = conclusion.access else {
        return "nothing was measured".into();
    };
    let way = if conclusion.direct { "O_DIRECT" } else { "through the page cache" };
    let place = match conclusion.is_scratch {
        true => format!("in {}", files(conclusion.ranks, conclusion.size)),
        false => format!("in {} of {}", conclusion.size, conclusion.path),
    };
    let threads = match (conclusion.ranks, conclusion.threads) {
        (0 | 1, 0 | 1) => String::new(),
        (0 | 1, threads) => format!(", {threads} threads, each of that depth"),
        (_, 1) => ", each of that depth".to_owned(),
        (_, threads) => format!(", {threads} threads on each, all of that depth"),
    };
    let writes = match conclusion.durability.filter(|_| access.writes()) {
        Some(durability) => format!("; writes: {}", durability.name()),
        None => String::new(),
    };
    format!(
        "{} of {} {place}, {way}, {}{threads}, {}{writes}",
        access.title(),
        human::exact_size(conclusion.block.0),
        conclusion.engine,
        duration(conclusion.elapsed)
    )
}

fn is_large(conclusion: &Conclusion) -> bool {
    conclusion.block.0 >= LARGE
}

fn table(conclusion: &Conclusion, style: &Style) -> String {
    if conclusion.rows.is_empty() {
        return "Nothing was measured.\n".into();
    }
    let rate = if is_large(conclusion) { "MiB/s" } else { "IOPS" };
    let names = ["depth", rate, "mean", "p50", "p99", "p99.9", "power"].map(str::to_owned);
    let mut out = style.bold(&columns("", &names, &WIDTHS)) + "\n";
    out.extend(conclusion.rows.iter().map(|row| self::row(conclusion, row, style)));
    let legend = "Power: throughput over mean latency, against the greatest. knee: the deepest \
                  within 90 % of it; full: the least deep with 95 % of the most throughput. Below \
                  each row: 95 % intervals.";
    out + &style.dim(&style.wrap(legend, 0)) + "\n\n"
}

fn row(conclusion: &Conclusion, row: &Row, style: &Style) -> String {
    let percentile = |index: usize| row.percentiles.get(index).map(|(_, value)| *value);
    let time = |value: Option<Estimated>| value.map_or("-".into(), |v| human::time(v.value));
    let ends =
        |value: Option<Estimated>| value.map_or(String::new(), |v| interval(&v, human::TIMES));
    let (rate, units) = match is_large(conclusion) {
        true => (in_mebibytes(row.bytes_per_second), PLAIN),
        false => (row.iops, human::COUNTS),
    };
    let figures = [
        row.depth.to_string(),
        human::in_units(rate.value, units),
        human::time(row.mean.value),
        time(percentile(0)),
        time(percentile(1)),
        time(percentile(2)),
        format!("{:.0}%", row.power * 100.0),
    ];
    let line = format!("{} {}", columns("", &figures, &WIDTHS), marks(conclusion, row));
    let chosen = conclusion.choice.is_some_and(|choice| choice.depth == row.depth);
    let line = line.trim_end();
    let mut out = if chosen { style.bold(line) } else { line.to_owned() } + "\n";
    let times = [ends(Some(row.mean)), ends(percentile(0)), ends(percentile(1))];
    let [mean, p50, p99] = times;
    let below = [String::new(), interval(&rate, units), mean, p50, p99, ends(percentile(2))];
    let line = columns("", &below, &WIDTHS);
    if !line.trim().is_empty() {
        out += &(style.dim(line.trim_end()) + "\n");
    }
    out
}

fn marks(conclusion: &Conclusion, row: &Row) -> String {
    let marks = [
        (conclusion.knee.as_ref().map(|knee| knee.at.depth), "knee"),
        (conclusion.saturated, "full"),
        (conclusion.choice.map(|choice| choice.depth), "use"),
    ];
    let here = marks.iter().filter(|(depth, _)| *depth == Some(row.depth));
    here.map(|(_, mark)| *mark).collect::<Vec<_>>().join(" ")
}

/// "95.2 k IOPS" or "512 MiB/s".
fn rate(conclusion: &Conclusion, row: &Row) -> String {
    match is_large(conclusion) {
        true => human::rate(row.bytes_per_second.value),
        false => human::count(row.iops.value) + " IOPS",
    }
}

/// The knee and the bounds, in sentences.
fn lines(conclusion: &Conclusion) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(knee) = &conclusion.knee {
        lines.extend(conclusion.row(knee.at.depth).map(|row| knee_line(conclusion, row)));
    }
    lines.extend(conclusion.held.iter().filter_map(|held| held_line(conclusion, held)));
    lines
}

fn knee_line(conclusion: &Conclusion, knee: &Row) -> String {
    let mut line = format!(
        "Knee: depth {} ({} at {})",
        knee.depth,
        rate(conclusion, knee),
        human::time(knee.mean.value)
    );
    match conclusion.rows.iter().find(|row| row.depth >= knee.depth * 2) {
        Some(deeper) => {
            let growth = |after: f64, before: f64| (after / before - 1.0) * 100.0;
            line += &format!(
                "; depth {} brings {:+.0} % throughput for {:+.0} % latency.",
                deeper.depth,
                growth(deeper.iops.value, knee.iops.value),
                growth(deeper.mean.value, knee.mean.value)
            );
        }
        None if conclusion.rows.last().is_some_and(|last| last.depth == knee.depth) => {
            line += ", the deepest that was measured: the knee may be deeper, name more depths with \
                     --depths.";
        }
        None => line += ".",
    }
    if let Some((low, high)) = conclusion.knees.filter(|(low, high)| low != high) {
        line += &format!(" In single rounds it is between {low} and {high}.");
    }
    line
}

/// "p99 <= 2 ms".
fn bound(held: &BoundResult) -> String {
    format!("{} <= {}", held.bound.figure.name(), human::time(held.bound.limit_ns))
}

/// The deepest depth that meets a bound, and how certain that is.
fn held_line(conclusion: &Conclusion, held: &BoundResult) -> Option<String> {
    let Some(row) = held.deepest.and_then(|depth| conclusion.row(depth)) else {
        let first = conclusion.rows.first()?;
        let figure = held.bound.figure.value(first)?;
        return Some(format!(
            "{} is not met at any depth: at depth {} it is {}.",
            bound(held),
            first.depth,
            time_with_interval(&figure)
        ));
    };
    let figure = held.bound.figure.value(row)?;
    let mut line = format!(
        "{} holds to depth {}: {} there",
        bound(held),
        row.depth,
        time_with_interval(&figure)
    );
    line += match (held.is_sure, figure.interval) {
        (true, _) => ".",
        (false, Some(_)) => {
            ", but its interval reaches beyond the bound: use longer runs (--time) or more of them \
             (--repeat)."
        }
        (false, None) => ", with too few I/Os or rounds for an interval: use a longer --time.",
    };
    if held.is_uneven {
        line += " A shallower depth exceeded the bound: the same disturbance may happen here.";
    }
    if conclusion.rows.last().is_some_and(|last| last.depth == row.depth) {
        line += " Deeper ones were not measured.";
    }
    Some(line)
}

/// The recommended depth, and the reason.
pub(crate) fn to_use(conclusion: &Conclusion) -> Option<String> {
    if conclusion.is_unmet() {
        let bounds: Vec<String> = conclusion.held.iter().map(bound).collect();
        return Some(format!("No depth keeps to {}.", bounds.join(" and ")));
    }
    let DepthChoice { depth, why } = conclusion.choice?;
    let row = conclusion.row(depth)?;
    let threads = match (conclusion.ranks, conclusion.threads) {
        (0 | 1, 0 | 1) => String::new(),
        (0 | 1, threads) => format!(" in each of {threads} threads"),
        (ranks, 1) => format!(" on each of {ranks} ranks"),
        (ranks, threads) => format!(" in each of {threads} threads on each of {ranks} ranks"),
    };
    let gives = format!("{} at a mean of {}", rate(conclusion, row), human::time(row.mean.value));
    let most = conclusion.rows.iter().map(|row| row.iops.value).fold(0.0, f64::max);
    let share = row.iops.value / most * 100.0;
    let mut text = format!("Use iodepth={depth}{threads}: ");
    text += &match why {
        ChoiceReason::Knee => format!(
            "beyond it latency grows faster than throughput. It gives {gives}, {share:.0} % of the \
             most that was measured."
        ),
        ChoiceReason::Bounds => {
            let bounds: Vec<String> = conclusion.held.iter().map(bound).collect();
            format!(
                "the deepest with {}. It gives {gives}, {share:.0} % of the most that was measured.",
                bounds.join(" and ")
            )
        }
    };
    if let Some(full) =
        conclusion.saturated.filter(|full| *full < depth && why == ChoiceReason::Bounds)
    {
        text += &format!(" Depth {full} gives as much with less latency.");
    }
    Some(text)
}

/// Characters with a meaning in job files.
const SIGNS: [char; 6] = ['#', ';', '$', '"', '\n', '\r'];

/// Whether a path can be written in a job file.
pub fn fits_job_file(path: &str) -> bool {
    !path.contains(SIGNS) && path.trim() == path
}

/// Options of the runs that a separate job does not need.
const LEFT_OUT: [&str; 6] = ["name", "filename", "randseed", "bwavgtime", "ramp_time", "runtime"];

/// A job file for the recommended depth, for fathom and fio; `None` without a recommendation.
pub fn job_file(conclusion: &Conclusion) -> Option<String> {
    let (access, choice) = (conclusion.access?, conclusion.choice?);
    let value = |name: &str| {
        conclusion.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    let mut out = format!(
        "# Written by fathom {} (fathom knee).\n# {}\n",
        env!("CARGO_PKG_VERSION"),
        what_was_measured(conclusion)
    );
    if !conclusion.stack.is_empty() {
        out += &format!("# on {}\n", conclusion.stack.join(" > ").replace(['\n', '\r'], " "));
    }
    let comments = lines(conclusion).into_iter().chain(to_use(conclusion));
    out.extend(comments.map(|line| format!("# {line}\n")));
    let filename = match (conclusion.is_scratch, value("filename")?) {
        (true, typed) => {
            out += "# The first run creates the file and keeps it.\n";
            let directory = typed.rsplit_once('/').map_or("", |(directory, _)| directory);
            format!("{directory}/fathom-knee.data")
        }
        (false, typed) if access.writes() => {
            out += "# It overwrites existing data.\n";
            typed.to_owned()
        }
        (false, typed) => typed.to_owned(),
    };
    out += &format!("[{}-d{}]\nfilename={filename}\n", access.name(), choice.depth);
    let kept = conclusion.options.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    out.extend(kept.map(|(name, value)| format!("{name}={value}\n")));
    out += "ramp_time=2s\nruntime=30s\n";
    Some(out)
}

#[cfg(test)]
pub(crate) mod tests;
