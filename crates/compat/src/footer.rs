//! The report footer below a tool's own figures: latencies, how much of the target the page cache
//! held, and how durable a completed write is.

use judge::{Judged, LatencyStats, durability, durability_reason};
use record::{Bytes, Direction, FileEvidence, JobRecord, RunRecord, human};
use report::style::Style;

/// Where the text of a line begins.
const INDENT: usize = 14;

/// A run whose lines are wanted.
pub struct ReportFooter<'a> {
    /// Its record.
    pub record: &'a RunRecord,
    /// What it comes to.
    pub judged: &'a Judged,
    /// What it wrote; `None`: it only read.
    pub written: Option<&'a str>,
    /// Style of the text.
    pub style: &'a Style,
}

impl ReportFooter<'_> {
    /// The lines on latency, page cache and durability; empty when nothing was done.
    pub fn lines(&self) -> String {
        let Some(job) = self.record.jobs.first().filter(|job| !job.did_nothing()) else {
            return String::new();
        };
        let latencies = self.latencies(job);
        let mut out: String = latencies.iter().map(|text| self.line("latency", text)).collect();
        out += &self.line("cache", &self.cache(job));
        if let Some(path) = self.written {
            out += &self.line("durability", &self.durability(job, path));
        }
        out
    }

    /// One line: its label, and its text wrapped beside it.
    pub fn line(&self, label: &str, text: &str) -> String {
        let wrapped = self.style.wrap(text, INDENT);
        let text = wrapped.get(INDENT..).unwrap_or_default();
        format!("  {}{text}\n", self.style.bold(&format!("{label:<width$}", width = INDENT - 2)))
    }

    fn latencies(&self, job: &JobRecord) -> Vec<String> {
        let units = self.judged.units.iter();
        let directions = units.clone().flat_map(|unit| unit.directions.iter());
        let mut lines: Vec<String> = directions
            .filter_map(|(direction, figures)| {
                let block = job.workload.block_size[direction].1.0;
                let size = human::exact_size(block);
                let what = match figures.ios {
                    1 => format!("1 {}", direction.name()),
                    ios => format!("{ios} {}s", direction.name()),
                };
                Some(format!("{what} of {size}: {}", quantiles(figures.clat.as_ref()?)))
            })
            .collect();
        lines.extend(units.filter_map(|unit| {
            let latency = unit.sync.latency.as_ref()?;
            let what = match unit.sync.count {
                1 => "1 synchronisation".to_owned(),
                count => format!("{count} synchronisations"),
            };
            Some(format!("{what}: {}", quantiles(latency)))
        }));
        lines
    }

    fn cache(&self, job: &JobRecord) -> String {
        let way = match Direction::ALL.map(|direction| job.workload.is_direct_in(direction)) {
            [true, true, _] => "passed by with O_DIRECT",
            [true, false, _] => "passed by with O_DIRECT by reads, in use for writes",
            [false, true, _] => "in use for reads, passed by with O_DIRECT by writes",
            _ => "in use",
        };
        let files = job.workload.files.iter();
        let seen = files.filter_map(|path| {
            let evidence = self.record.evidence.files.get(path)?;
            let is_dropped = self.is_dropped(job, path);
            let read_in = job.workload.settings.contains_key("pre_read").then_some(job);
            let read_in = read_in.map(|job| job.workload.region);
            Some(format!("; of {path} it held {}", cached_share(evidence, is_dropped, read_in)?))
        });
        way.to_owned() + &seen.collect::<String>()
    }

    /// Whether what the page cache held of a file was dropped after it was looked at, and before the
    /// first I/O. What is not written back stays there.
    fn is_dropped(&self, job: &JobRecord, path: &str) -> bool {
        let kept = |name: &str| job.workload.settings.contains_key(name);
        let failed = |text: &str| text.starts_with(path) && text.contains("could not be dropped");
        let look = self.record.evidence.files.get(path).and_then(|file| file.before.as_ref());
        let clean = look.is_some_and(|look| look.dirty.is_none_or(|dirty| dirty.0 == 0));
        let is_reported = self.record.messages.iter().any(|message| failed(&message.text));
        clean && !kept("invalidate") && !kept("pre_read") && !is_reported
    }

    fn durability(&self, job: &JobRecord, path: &str) -> String {
        let facts = &self.record.facts;
        let class = durability(facts, path);
        format!(
            "{} ({}): {}. {}.",
            class.name(),
            durability_reason(facts, path),
            class.meaning(),
            made_durable(job)
        )
    }
}

/// "median 81.3 µs, 99 % 120 µs, most 3.1 ms": no percentile beyond which there is none of them.
fn quantiles(latency: &LatencyStats) -> String {
    if latency.count == 1 {
        return human::time(latency.mean);
    }
    let is_within = |percentile: f64| latency.count as f64 * (100.0 - percentile) >= 99.999;
    let shown = latency.percentiles.iter().filter(|(percentile, _)| is_within(*percentile));
    let shown = shown.map(|(percentile, value)| {
        let name = match percentile {
            50.0 => "median".to_owned(),
            other => format!("{other} %"),
        };
        format!("{name} {}, ", human::time(*value as f64))
    });
    shown.collect::<String>() + &format!("most {}", human::time(latency.max as f64))
}

/// What the page cache had of a file at both ends, where that could be told. `read_in`: what the job
/// put there before its first I/O, after the look at it. A new file had nothing.
fn cached_share(
    evidence: &FileEvidence,
    is_dropped: bool,
    read_in: Option<Bytes>,
) -> Option<String> {
    let size = Bytes;
    let look = evidence.before.as_ref().filter(|look| look.size.0 > 0);
    let before = look.and_then(|look| Some((look.cached?.0, look.size.0)));
    let after = evidence.after.as_ref().and_then(|look| Some((look.cached?.0, look.dirty)));
    let before = before.map(|(cached, of)| match is_dropped && cached > 0 {
        true => format!("{} of {}, dropped before the first I/O", size(cached), size(of)),
        false => match read_in.filter(|region| cached < region.0) {
            Some(region) => format!("{region} of {}, read into it before the first I/O", size(of)),
            None => format!("{} of {} before", size(cached), size(of)),
        },
    });
    let after = after.map(|(cached, dirty)| match dirty.filter(|dirty| dirty.0 > 0) {
        Some(dirty) => format!("{} after ({} not written back)", size(cached), size(dirty.0)),
        None => format!("{} after", size(cached)),
    });
    match (before, after) {
        (Some(before), Some(after)) => Some(format!("{before}, {after}")),
        (before, after) => before.or(after),
    }
}

/// What of what was written was made durable within the figure.
fn made_durable(job: &JobRecord) -> &'static str {
    let sync = job.workload.settings.get("sync").map(String::as_str);
    match (sync, job.sync.count, job.workload.is_direct_in(Direction::Write)) {
        (Some("sync"), ..) => "Each write was synchronised, and the figure holds it (O_SYNC)",
        (Some(_), ..) => "Each write was synchronised, and the figure holds it (O_DSYNC)",
        (None, 1.., _) => "What was written was synchronised, and the figure holds it",
        (None, 0, true) => "Nothing asked the disk to flush its cache",
        (None, 0, false) => "Nothing was synchronised: what the figure holds ends in memory",
    }
}

/// Bytes that a run moved in one direction.
pub(crate) fn moved(record: &RunRecord, direction: Direction) -> u64 {
    record.jobs.iter().map(|job| job.results[direction].bytes.0).sum()
}

/// Seconds from the first I/O to the end of the last.
pub(crate) fn seconds(record: &RunRecord) -> f64 {
    record.jobs.iter().map(|job| (job.ended - job.started).seconds()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_job_reads_in_first_is_held() {
        let look = |size: u64, cached: u64| {
            Some(record::FileLook {
                size: Bytes(size << 20),
                cached: Some(Bytes(cached << 20)),
                dirty: None,
                extents: None,
            })
        };
        let both = |before, after| FileEvidence { before, after, content: None };
        let cold = both(look(16, 0), look(16, 6));
        let read_in = Some(Bytes(2 << 20));
        let expected = "2 MiB of 16 MiB, read into it before the first I/O, 6 MiB after";
        assert_eq!(cached_share(&cold, false, read_in).unwrap(), expected);
        assert_eq!(cached_share(&cold, false, None).unwrap(), "0 B of 16 MiB before, 6 MiB after");
        let warm = both(look(16, 16), look(16, 16));
        assert_eq!(
            cached_share(&warm, false, read_in).unwrap(),
            "16 MiB of 16 MiB before, 16 MiB after"
        );
        assert_eq!(
            cached_share(&both(look(0, 0), look(16, 16)), false, None).unwrap(),
            "16 MiB after"
        );
    }

    #[test]
    fn only_percentiles_that_were_seen_are_told() {
        let told = |count| {
            quantiles(&LatencyStats {
                count,
                max: 9_000,
                mean: 5_000.0,
                percentiles: vec![(50.0, 4_000), (90.0, 7_000), (99.9, 8_000)],
                ..LatencyStats::default()
            })
        };
        assert_eq!(told(1), "5 µs");
        assert_eq!(told(2), "median 4 µs, most 9 µs");
        assert_eq!(told(9), "median 4 µs, most 9 µs");
        assert_eq!(told(10), "median 4 µs, 90 % 7 µs, most 9 µs");
        assert_eq!(told(1000), "median 4 µs, 90 % 7 µs, 99.9 % 8 µs, most 9 µs");
    }
}
