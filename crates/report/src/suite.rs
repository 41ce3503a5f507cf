//! Reports of measurements that consist of several runs, as text.

pub(crate) mod app;
mod knee;
pub(crate) mod objects;
pub(crate) mod parts;
pub(crate) mod table;

pub use app::app;
pub(crate) use knee::to_use;
pub use knee::{fits_job_file, job_file, text as knee};
pub use objects::objects;

use crate::figures;
use crate::style::Style;
use judge::Durability;
use parts::{duration, failures, findings, head, interruption, remedies, verdicts};
use record::{Bytes, Direction, human};
use suite::{diagnose, precondition, test};

/// The report of `fathom test`.
pub fn test(conclusion: &test::Conclusion, style: &Style) -> String {
    let mut out = head(&conclusion.stack, &what_was_tested(conclusion), style);
    if conclusion.durability == Some(Durability::Memory) {
        out += &style
            .paragraph("This is memory, not a disk: the figures show the speed of memory.", 0);
    }
    out += &table::text(conclusion, style);
    for (direction, knee) in &conclusion.knees {
        out += &style.paragraph(&knee_line(*direction, knee), 0);
    }
    out += &readers(&conclusion.readers, style);
    out += &positions(&conclusion.positions, style);
    if let Some(last) = conclusion.course.last {
        let line = format!(
            "Random writes before, {} rounds: {}, {}.",
            conclusion.course.iops.len(),
            if last.is_steady { "steady" } else { "not steady" },
            steadiness(&last)
        );
        out += &style.paragraph(&line, 0);
    }
    out += &failures(&conclusion.failures, style);
    out += &limits(conclusion, style);
    out += &findings(&conclusion.findings, style);
    out + &interruption(conclusion.interrupted_by, "the table holds the runs that ended before")
}

/// The speed of one reader and of two, and which disks they read.
fn readers(rows: &[test::ReadersRow], style: &Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |[readers, speed, ends, of_one, disks]: [&str; 5]| {
        format!("{readers:<8}{speed:>10}{ends:>16}{of_one:>10}  {disks}").trim_end().to_owned()
            + "\n"
    };
    let head = line(["readers", "MiB/s", "95 % interval", "of one", "share of each disk"]);
    let mut out = format!("\n{}", style.bold(&head));
    for row in rows {
        let speed = figures::in_mebibytes(row.bytes_per_second);
        let of_one = row.of_one.map_or(String::new(), |of| format!("{:.2} ×", of.value));
        let share = |(disk, share): &(String, f64)| format!("{disk} {:.0} %", share * 100.0);
        let disks: Vec<String> = row.shares.iter().map(share).collect();
        out += &line([
            &row.readers.to_string(),
            &figures::mebibytes(row.bytes_per_second.value),
            &figures::interval(&speed, figures::PLAIN),
            &of_one,
            &disks.join(", "),
        ]);
    }
    let idle = rows.iter().rfind(|row| row.readers > 1).into_iter().flat_map(|row| &row.shares);
    let idle: Vec<&str> =
        idle.filter(|(_, share)| *share < 0.05).map(|(disk, _)| disk.as_str()).collect();
    let mut text =
        "Sequential reads of 1 MiB, depth 8 each, each reader in its half of the file.".to_owned();
    if !idle.is_empty() {
        text += &format!(" Two readers do not use {}.", idle.join(", "));
    }
    out + &style.paragraph(&text, 0) + "\n"
}

/// The report of `fathom test` for one screen of 24 lines: figures without intervals, and what to do before
/// they are believed.
pub fn test_in_brief(conclusion: &test::Conclusion, style: &Style) -> String {
    let mut out = head(&conclusion.stack, &what_was_tested(conclusion), style);
    out += &table::brief(conclusion, style);
    for (direction, knee) in &conclusion.knees {
        out += &style.paragraph(&knee_at(*direction, knee), 0);
    }
    out += &failures(&conclusion.failures, style);
    out += &remedies(&conclusion.findings, style);
    out + &interruption(conclusion.interrupted_by, "the table holds the runs that ended before")
}

/// The speed of each disk by position.
fn positions(rows: &[test::PositionRow], style: &Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |[at, start, speed, ends, share]: [&str; 5]| {
        format!("{at:<24}{start:>12}{speed:>10}{ends:>16}{share:>12}").trim_end().to_owned() + "\n"
    };
    let head = line(["position", "from", "MiB/s", "95 % interval", "of start"]);
    let mut out = format!("\n{}", style.bold(&head));
    for row in rows {
        let speed = figures::in_mebibytes(row.bytes_per_second);
        let share =
            row.share.map_or(String::new(), |share| format!("{:.1} %", share.value * 100.0));
        out += &line([
            &format!("{}, {}", row.disk, row.position),
            &human::size(row.start.0 as f64),
            &figures::mebibytes(row.bytes_per_second.value),
            &figures::interval(&speed, figures::PLAIN),
            &share,
        ]);
    }
    let mut text = "Sequential reads of 1 MiB, depth 8, of the disk itself.".to_owned();
    if rows.iter().any(|row| row.rotational != Some(true)) {
        text += " A disk without moving parts answers blocks that nobody wrote without its medium, so \
                 a difference there may be one of content.";
    }
    out + &style.paragraph(&text, 0) + "\n"
}

fn what_was_tested(conclusion: &test::Conclusion) -> String {
    let way = if conclusion.direct { "O_DIRECT" } else { "through the page cache" };
    let rounds = human::counted(conclusion.rounds as usize, "round");
    let durability = conclusion.durability.map(Durability::name).unwrap_or("unknown");
    format!(
        "{}, {way}, {}, {rounds} in {}; writes: {durability}",
        files(conclusion.ranks, conclusion.size),
        conclusion.engine,
        duration(conclusion.elapsed)
    )
}

/// "one file of 1 GiB", "one file of 1 GiB on each of 4 ranks".
pub(super) fn files(ranks: u32, size: Bytes) -> String {
    match ranks {
        0 | 1 => format!("one file of {size}"),
        ranks => format!("one file of {size} on each of {ranks} ranks"),
    }
}

fn knee_line(direction: Direction, knee: &suite::knee::Knee) -> String {
    let at = knee_at(direction, knee);
    if knee.most.depth == knee.at.depth {
        return at + "; deeper queues bring no more.";
    }
    format!(
        "{at}; the most is {} IOPS at depth {}, with {} each.",
        human::count(knee.most.iops),
        knee.most.depth,
        human::time(knee.most.latency_ns)
    )
}

fn knee_at(direction: Direction, knee: &suite::knee::Knee) -> String {
    let what = if direction == Direction::Read { "reads" } else { "writes" };
    format!(
        "Knee of random {what}: depth {} ({} IOPS at {})",
        knee.at.depth,
        human::count(knee.at.iops),
        human::time(knee.at.latency_ns)
    )
}

/// The limits of the cells, and what the table is valid for.
fn limits(conclusion: &test::Conclusion, style: &Style) -> String {
    if conclusion.limited.is_empty() {
        return String::new();
    }
    let out = verdicts(&conclusion.limited, style);
    out + &style.paragraph(&format!("Valid for: {}.", conclusion.valid_for), 2)
}

/// The report of `fathom precondition`.
pub fn precondition(conclusion: &precondition::Conclusion, style: &Style) -> String {
    let line = format!(
        "Written from end to end: {} of {}, {}.",
        conclusion.filled,
        conclusion.size,
        human::rate(conclusion.bytes_per_second)
    );
    let mut out = style.paragraph(&line, 0);
    let course = &conclusion.course;
    if let (Some(first), Some(last)) = (course.iops.first(), course.iops.last()) {
        let line = format!(
            "Random writes: {} rounds, the first {} IOPS, the last {} IOPS.",
            course.iops.len(),
            human::count(*first),
            human::count(*last)
        );
        out += &style.paragraph(&line, 0);
    }
    if let Some(failure) = &conclusion.failure {
        out += &failures(std::slice::from_ref(failure), style);
    }
    let took = duration(conclusion.elapsed);
    let end = match (&course.last, conclusion.is_steady()) {
        (Some(last), true) => format!("Steady after {took}: {}.", steadiness(last)),
        (Some(last), false) => format!(
            "Not steady after {took}: {}. Its figures will still change; allow more rounds \
             (--rounds-max) or time (--time-max).",
            steadiness(last)
        ),
        (None, _) => format!(
            "Not known to be steady after {took}: this needs {} rounds of random writes, and there \
             were {}.",
            suite::saturate::WINDOW,
            course.iops.len()
        ),
    };
    out += &style.bold(&style.wrap(&end, 0));
    out + "\n" + &interruption(conclusion.interrupted_by, "what was written stays written")
}

fn steadiness(last: &judge::stats::SteadyState) -> String {
    format!(
        "over the last {} rounds, range {:.0} % of the average (20 % allowed), slope {:.0} % (10 % \
         allowed)",
        suite::saturate::WINDOW,
        last.range * 100.0,
        last.slope.abs() * 100.0
    )
}

/// The report of `fathom diagnose`.
pub fn diagnose(conclusion: &diagnose::Conclusion, style: &Style) -> String {
    let mut out = String::new();
    for (number, look) in (1..).zip(&conclusion.steps) {
        out += &format!("{}\n", style.bold(&format!("{number}. {}", look.title)));
        for (label, text) in [("ran ", &look.ran)]
            .into_iter()
            .chain(look.observed.iter().map(|saw| ("saw ", saw)))
            .chain([("=>  ", &look.conclusion)])
        {
            let wrapped = style.wrap(text, 7);
            out += &format!("   {}{}\n", style.dim(label), &wrapped[7..]);
        }
    }
    out += &failures(&conclusion.failures, style);
    out += &findings(&conclusion.findings, style);
    let cause = &conclusion.cause;
    let sure = cause
        .confidence
        .map_or(String::new(), |confidence| format!(" (confidence: {})", confidence.name()));
    out += &format!("\n{}\n", style.bold(&format!("Likely cause{sure}")));
    out += &style.paragraph(&cause.text, 2);
    if !cause.cure.is_empty() {
        out += &style.paragraph(&format!("What to do: {}", cause.cure), 2);
    }
    out + &interruption(conclusion.interrupted_by, "steps after that were not made")
}

#[cfg(test)]
pub(crate) use knee::tests::curved;
#[cfg(test)]
pub(crate) mod tests;
