//! `fathom runs`: what is in the archive; finding, labelling, taking out and bringing in runs.

pub mod access;
mod label;
mod rejudge;
mod show;
mod transfer;

use crate::output::{Output, say};
use access::{filter, location, refused, terminal_style};
use anyhow::Result;
use archive::{Archive, Choice, Row};
use clap::{Args, Subcommand};
use report::runs::RunRow;
use runner::Refusal;
use std::collections::HashMap;
use std::path::PathBuf;

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom runs host=db1 since=7d
  fathom runs 'read.p99>2ms' sort=-iops
  fathom runs show latest
  fathom runs export latest -o run.json";

/// What `fathom runs` takes.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "FILTER words all have to hold: host=, device=, model=, kernel=, job=, rw=, bs=, \
                  kind=, tag=, verdict=, finding=, since=7d, until=2026-11-01, figures (iops>100k, \
                  p99<1ms, read.bandwidth>=1g), sort=iops or sort=-iops; any other word is looked for \
                  as text. Runs are named by id or four or more digits it begins with, tag, latest, \
                  latest~2, or the id of a set. docs/RUNS.md tells more, docs/ARCHIVE.md of the archive."
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Only runs for which all of these words hold.
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// A line for each run, also of those made together.
    #[arg(long)]
    all: bool,
    /// Lines at most; 0: all.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Print JSON: an array of runs, each on its own.
    #[arg(long)]
    json: bool,
    /// The archive; otherwise that of FATHOM_ARCHIVE, or the usual one.
    #[arg(long, value_name = "PATH", global = true)]
    archive: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Verb {
    /// Show the report of runs, judged by the rules of this fathom.
    Show(show::Arguments),
    /// Give a run tags, or take them away.
    Tag(label::Tag),
    /// Note something on a run; an empty text removes it.
    Note(label::Note),
    /// Remove runs from the archive; a set as a whole.
    Rm(label::Remove),
    /// Write runs to a file: their records as JSON, or intervals or percentiles as CSV or Parquet.
    Export(transfer::Export),
    /// Bring runs into the archive: records and sets of fathom, directories of sweeps, JSON and JSON+
    /// of fio 3. What is there already is not doubled.
    Import(transfer::Import),
    /// Judge archived runs again by the rules of this fathom, and say which verdicts changed.
    Rejudge(rejudge::Arguments),
}

/// Lists, or does what the verb says. 0: done; 1: something could not be written or read; 2: the words
/// or a name cannot be used; 3: refused.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let choice = Choice::from_options(arguments.archive.as_deref(), false);
    let is_for_list = arguments.all || arguments.json;
    let done = match &arguments.verb {
        Some(_) if is_for_list => Err(Refusal::usage(
            "--all and --json before a verb say how to list; after it stand the names of runs and its \
             own options",
        )),
        None => list(arguments, &choice),
        Some(Verb::Show(arguments)) => show::main(arguments, &choice),
        Some(Verb::Tag(arguments)) => label::tag(arguments, &choice),
        Some(Verb::Note(arguments)) => label::note(arguments, &choice),
        Some(Verb::Rm(arguments)) => label::remove(arguments, &choice),
        Some(Verb::Export(arguments)) => transfer::export(arguments, &choice),
        Some(Verb::Import(arguments)) => transfer::import(arguments, &choice),
        Some(Verb::Rejudge(arguments)) => rejudge::main(arguments, &choice),
    };
    done.map(|()| 0)
}

/// The verbs, which stand before names and words.
const VERBS: [&str; 7] = ["show", "tag", "note", "rm", "export", "import", "rejudge"];

fn list(arguments: &Arguments, choice: &Choice) -> Result<()> {
    if let Some(verb) = arguments.filter.iter().find(|word| VERBS.contains(&word.as_str())) {
        let text = format!(
            "{verb} comes first: fathom runs {verb} …, and the runs by their names after it (to look \
             for the word: text={verb})"
        );
        return Err(Refusal::usage(text));
    }
    let filter = filter(&arguments.filter)?;
    let rows = match Archive::open_existing(&location(choice)?) {
        Ok(archive) => archive.list(&filter).map_err(refused)?,
        Err(error @ archive::ArchiveError::Missing { .. }) => {
            say(&format!("fathom: {error}\n"));
            Vec::new()
        }
        Err(error) => return Err(refused(error)),
    };
    let mut output = Output::Stdout;
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    if arguments.json {
        let rows = &rows[..rows.len().min(most)];
        return output.write(&(serde_json::to_string_pretty(rows)? + "\n"));
    }
    let lines = if arguments.all { rows.iter().map(listed).collect() } else { folded(&rows) };
    if lines.is_empty() {
        let what = if filter.matches_all() { "No runs." } else { "No runs match." };
        return output.write(&format!("{what}\n"));
    }
    let shown = &lines[..lines.len().min(most)];
    output.write(&report::runs::list(shown, &terminal_style(&output)))?;
    if shown.len() < lines.len() {
        let count = lines.len();
        say(&format!("{} of {count} lines; --limit=0 shows all, words narrow it\n", shown.len()));
    }
    Ok(())
}

/// A run as a line.
pub fn listed(row: &Row) -> RunRow {
    let doubts = row.found.map_or((0, 0), |found| (found.errors, found.warnings));
    RunRow {
        id: row.id.short().to_owned(),
        started_unix_ms: row.started_unix_ms,
        utc_offset_seconds: row.utc_offset_seconds,
        kind: row.kind.clone(),
        runs: 1,
        host: row.host.clone(),
        job: row.job.clone(),
        device: row.device.clone(),
        what: row.access_pattern(),
        iops: row.iops,
        bandwidth: row.bandwidth,
        p99_ns: row.p99_ns,
        verdict: row.verdict.clone().unwrap_or_default(),
        doubts,
        tags: row.tags.clone(),
        note: row.note.clone(),
    }
}

/// Runs made together as one line, where the first of them stood.
fn folded(rows: &[Row]) -> Vec<RunRow> {
    let mut lines: Vec<Vec<&Row>> = Vec::new();
    let mut sets: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        match row.set.as_ref().map(|set| *sets.entry(set.as_str()).or_insert(lines.len())) {
            Some(at) if at < lines.len() => lines[at].push(row),
            _ => lines.push(vec![row]),
        }
    }
    let line = |rows: Vec<&Row>| match (&rows[..], &rows[0].set) {
        ([_, _, ..], Some(set)) => {
            let cell = |row: &Row| row.cell.clone().unwrap_or_default();
            let members: Vec<(RunRow, String)> =
                rows.iter().map(|row| (listed(row), cell(row))).collect();
            report::runs::together(set.short(), &members)
        }
        _ => listed(rows[0]),
    };
    lines.into_iter().map(line).collect()
}
