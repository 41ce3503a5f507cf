//! The judgement of a run, for the columns of the archive.

use crate::database::{Database, DatabaseError};
use crate::search_terms::{block_sizes, unique};
use crate::{Archive, ArchiveError, RunId};
use judge::{Judged, Measure, Stage, Verdict};
use record::{Direction, Histogram, JobRecord, RunRecord, Severity, distinct};
use rusqlite::params;
use rusqlite::types::Value;

/// Figures, verdict and findings of a run. Newer rules can derive them again from the record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Figures by the names of [`Measure`], in its units.
    pub figures: Vec<(String, f64)>,
    /// The subject of the figures, if it is not the whole run or the figures are not those of plain
    /// I/Os: "randread 4k of b, 2 of 3 in turn", "LIST".
    pub figures_of: Option<String>,
    /// The longest latency, in nanoseconds.
    pub max_ns: Option<f64>,
    /// The limit of each job and its confidence, without repetitions: "device (high)".
    pub verdicts: Vec<(&'static str, &'static str)>,
    /// Ids of the checks that found something, without repetitions.
    pub findings: Vec<&'static str>,
    /// Findings that are errors, warnings and notes.
    pub counts: [u32; 3],
}

impl Summary {
    /// From a record and its judgement.
    pub fn new(record: &RunRecord, judged: &Judged) -> Summary {
        let figures = Measure::every().into_iter().filter_map(|measure| {
            let value = measure.value(record).filter(|value| value.is_finite())?;
            Some((measure.name(), value))
        });
        let words = |verdict: &Verdict| (verdict.limit.name(), verdict.confidence.name());
        let count =
            |severity| judged.findings.iter().filter(|f| f.severity == severity).count() as u32;
        Summary {
            figures: figures.collect(),
            figures_of: figures_of(&judge::main_stage(record)),
            max_ns: longest(&judge::main_stage(record)),
            verdicts: distinct(judged.verdicts.iter().map(words)),
            findings: distinct(judged.findings.iter().map(|finding| finding.check)),
            counts: [Severity::Error, Severity::Warning, Severity::Note].map(count),
        }
    }

    fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    fn verdict(&self) -> Option<String> {
        let words = |(limit, confidence): &(&str, &str)| format!("{limit} ({confidence})");
        let words: Vec<String> = self.verdicts.iter().map(words).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// See [`Summary::figures_of`].
fn figures_of(stage: &Stage) -> Option<String> {
    let requests = stage.jobs.iter().filter_map(|job| job.exchange.as_ref());
    let requests = requests.flat_map(|exchange| &exchange.requests).filter(|one| one.sent > 0);
    let requests = unique(requests.map(|one| one.request.clone()));
    if !requests.is_empty() {
        let moves = ["GET", "PUT", "UploadPart"];
        let unit = match requests.iter().any(|request| moves.contains(&request.as_str())) {
            true => "",
            // What is counted is no I/O of a block size.
            false => ", IOPS are requests",
        };
        return Some(format!("{}{unit}", requests.join(", ")));
    }
    if stage.count < 2 {
        return None;
    }
    let jobs = || stage.jobs.iter();
    let is_phase = jobs().any(|job| job.directions().count() > stage.directions.len());
    let patterns = match is_phase {
        true => stage.directions.iter().map(|d| d.name().to_owned()).collect(),
        false => unique(jobs().map(|job| job.workload.rw.clone())),
    };
    let sizes = unique(jobs().flat_map(|job| block_sizes(job, &stage.directions)));
    let depth = match jobs().map(|job| job.workload.iodepth).max() {
        Some(depth) if depth > 1 => format!(", depth {depth}"),
        _ => String::new(),
    };
    let names = unique(jobs().map(|job| job.name.clone())).join(", ");
    let (patterns, sizes) = (patterns.join(", "), sizes.join(", "));
    let turn = format!("{} of {} in turn", stage.number, stage.count);
    Some(format!("{patterns} {sizes}{depth} of {names}, {turn}"))
}

/// The longest latency of any I/O, of the kind whose percentiles [`Measure`] takes.
fn longest(stage: &Stage) -> Option<f64> {
    let longest = |of: fn(&JobRecord, Direction) -> Option<&Histogram>| {
        let all = stage.jobs.iter().flat_map(|job| stage.directions.iter().map(|d| of(job, *d)));
        all.flatten().filter(|histogram| !histogram.is_empty()).map(Histogram::max).max()
    };
    let longest = longest(|job, d| job.results[d].latency.response.as_ref())
        .or_else(|| longest(|job, d| job.results[d].latency.clat.as_ref()))
        .or_else(|| longest(|job, d| job.results[d].latency.lat.as_ref()));
    longest.map(|ns| ns as f64)
}

const JUDGED: &str = "UPDATE runs SET iops = ?2, bandwidth = ?3, mean_ns = ?4, p50_ns = ?5, \
     p99_ns = ?6, p99_9_ns = ?7, max_ns = ?8, verdict = ?9, found_errors = ?10, \
     found_warnings = ?11, found_notes = ?12, judged_by = ?13 WHERE number = ?1";

impl Archive {
    /// Saves the judgement of a run, replacing an earlier one. It can be derived again from the
    /// record, so this does not wait until it is durable.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be written.
    pub fn save_summary(&mut self, id: &RunId, summary: &Summary) -> Result<(), ArchiveError> {
        let number = self.number(id)?;
        self.without_sync(|archive| {
            archive.write(|database| write_summary(database, number, summary))
        })
    }
}

fn write_summary(database: &Database, number: i64, summary: &Summary) -> Result<(), DatabaseError> {
    let [errors, warnings, notes] = summary.counts;
    let values = params![
        number,
        summary.figure("iops"),
        summary.figure("bandwidth"),
        summary.figure("mean"),
        summary.figure("p50"),
        summary.figure("p99"),
        summary.figure("p99.9"),
        summary.max_ns,
        summary.verdict(),
        errors,
        warnings,
        notes,
        env!("CARGO_PKG_VERSION"),
    ];
    database.execute(JUDGED, values)?;
    database.execute("DELETE FROM figures WHERE run = ?1", params![number])?;
    let figure = |(name, value): &(String, f64)| -> Vec<Value> {
        vec![number.into(), name.clone().into(), (*value).into()]
    };
    database.insert("figures", &summary.figures.iter().map(figure).collect::<Vec<_>>())?;
    database.execute(
        "DELETE FROM facts WHERE run = ?1 AND name IN ('verdict', 'confidence', 'finding', 'figures_of')",
        params![number],
    )?;
    let fact = |name: &str, value: &str| -> Vec<Value> {
        vec![number.into(), name.to_owned().into(), value.to_owned().into()]
    };
    let mut facts = Vec::new();
    for (limit, confidence) in &summary.verdicts {
        facts.extend([fact("verdict", limit), fact("confidence", confidence)]);
    }
    facts.extend(summary.findings.iter().map(|check| fact("finding", check)));
    facts.extend(summary.figures_of.iter().map(|what| fact("figures_of", what)));
    database.insert("facts", &facts)
}
