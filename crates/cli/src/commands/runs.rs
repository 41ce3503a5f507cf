//! `fathom runs`: lists, shows, labels, exports, imports and removes archived runs.

pub mod access;
mod grant;
mod label;
mod rejudge;
mod show;
mod transfer;

use crate::output::{Output, write_stderr};
use access::{filter, location, refused, terminal_style};
use anyhow::Result;
use archive::{Archive, Choice, Filter, Row};
use clap::{Args, Subcommand};
use report::runs::RunRow;
use runner::Refusal;
use std::path::PathBuf;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom runs host=db1 since=7d
  fathom runs 'read.p99>2ms' sort=-iops
  fathom runs show latest
  fathom runs export latest -o run.json
  fathom runs copy host=db1 --to=postgres://db.example/bench";

/// Arguments of `fathom runs`.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "FILTER words must all match: host=, device=, model=, kernel=, job=, rw=, bs=, \
                  kind=, tag=, verdict=, finding=, since=7d, until=2026-11-01, figures (iops>100k, \
                  p99<1ms, read.bandwidth>=1g), sort=iops or sort=-iops; any other word is searched as \
                  text. NAME of a run: its id or the first four or more digits of it, a tag, latest, \
                  latest~2, or the id of a set. See docs/RUNS.md and docs/ARCHIVE.md."
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Show only runs that match all of these words.
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    /// Show one line per run, also for the runs of a set.
    #[arg(long)]
    all: bool,
    /// Most lines to show; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Print JSON: an array of runs.
    #[arg(long)]
    json: bool,
    /// Archive to use: a file, or postgres://USER@HOST/DATABASE [default: FATHOM_ARCHIVE, or the user's
    /// archive].
    #[arg(long, value_name = "ARCHIVE", global = true)]
    archive: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Verb {
    /// Show the reports of runs, judged by the rules of this version.
    Show(show::Arguments),
    /// Add tags to a run, or remove them.
    Tag(label::Tag),
    /// Set the note of a run; an empty text removes it.
    Note(label::Note),
    /// Remove runs from the archive; a set as a whole.
    Rm(label::Remove),
    /// Export runs to a file: records as JSON, or intervals or percentiles as CSV or Parquet.
    Export(transfer::Export),
    /// Import runs into the archive: records and sets of fathom, directories of sweeps, JSON and JSON+
    /// of fio 3. Runs that are already there are skipped.
    Import(transfer::Import),
    /// Copy runs with their labels to another archive; those that are there are skipped.
    Copy(transfer::Copy),
    /// Let a role of a server of PostgreSQL read the archive there, or add to it.
    Grant(grant::Arguments),
    /// Judge archived runs again by the rules of this version, and show which verdicts changed.
    Rejudge(rejudge::Arguments),
}

/// Lists runs or carries out the verb. 0: done; 1: error of reading or writing; 2: usage error; 3: refused.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let choice = Choice::from_options(arguments.archive.as_deref(), false);
    let is_for_list = arguments.all || arguments.json;
    let done = match &arguments.verb {
        Some(_) if is_for_list => Err(Refusal::usage(
            "--all and --json apply to the list only; give the options of a verb after it",
        )),
        None => list(arguments, &choice),
        Some(Verb::Show(arguments)) => show::main(arguments, &choice),
        Some(Verb::Tag(arguments)) => label::tag(arguments, &choice),
        Some(Verb::Note(arguments)) => label::set_note(arguments, &choice),
        Some(Verb::Rm(arguments)) => label::remove(arguments, &choice),
        Some(Verb::Export(arguments)) => transfer::export(arguments, &choice),
        Some(Verb::Import(arguments)) => transfer::import(arguments, &choice),
        Some(Verb::Copy(arguments)) => transfer::copy(arguments, &choice),
        Some(Verb::Grant(arguments)) => grant::main(arguments, &choice),
        Some(Verb::Rejudge(arguments)) => rejudge::main(arguments, &choice),
    };
    done.map(|()| 0)
}

/// The verbs.
const VERBS: [&str; 9] =
    ["show", "tag", "note", "rm", "export", "import", "copy", "grant", "rejudge"];

fn list(arguments: &Arguments, choice: &Choice) -> Result<()> {
    if let Some(verb) = arguments.filter.iter().find(|word| VERBS.contains(&word.as_str())) {
        let text = format!(
            "{verb} must come first: fathom runs {verb} NAME… (to search for the word: text={verb})"
        );
        return Err(Refusal::usage(text));
    }
    let filter = filter(&arguments.filter)?;
    let archive = match Archive::open_existing(&location(choice)?) {
        Ok(archive) => Some(archive),
        Err(error @ archive::ArchiveError::Missing { .. }) => {
            write_stderr(&format!("fathom: {error}\n"));
            None
        }
        Err(error) => return Err(refused(error)),
    };
    let mut output = Output::Stdout;
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let rows = |most: usize| match &archive {
        Some(archive) => archive.list(&filter.at_most(most as u64)).map_err(refused),
        None => Ok(Vec::new()),
    };
    if arguments.json {
        return output.write(&(serde_json::to_string_pretty(&rows(most)?)? + "\n"));
    }
    // One more than is shown tells whether there are more.
    let lines = match &archive {
        Some(archive) if !arguments.all => folded(archive, &filter, most.saturating_add(1))?,
        _ => rows(most.saturating_add(1))?.iter().map(listed).collect(),
    };
    if lines.is_empty() {
        let what = if filter.matches_all() { "No runs." } else { "No runs match." };
        return output.write(&format!("{what}\n"));
    }
    let shown = &lines[..lines.len().min(most)];
    output.write(&report::runs::list(shown, &terminal_style(&output)))?;
    if shown.len() < lines.len() {
        write_stderr(&format!(
            "there are more than these {} lines; --limit=0 shows all, FILTER words select fewer\n",
            shown.len()
        ));
    }
    Ok(())
}

/// The line of a run.
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
        what: row.measured(),
        iops: row.iops,
        bandwidth: row.bandwidth,
        p99_ns: row.p99_ns,
        verdict: row.verdict.clone().unwrap_or_default(),
        doubts,
        tags: row.tags.clone(),
        note: row.note.clone(),
    }
}

/// At most so many lines, one per set of runs, at the position of its first run.
fn folded(archive: &Archive, filter: &Filter, most: usize) -> Result<Vec<RunRow>> {
    let firsts = archive.firsts(filter, most).map_err(refused)?;
    firsts.into_iter().map(|row| line(archive, filter, row)).collect()
}

/// The line of a run, or of its set with all runs that match.
fn line(archive: &Archive, filter: &Filter, first: Row) -> Result<RunRow> {
    let Some(set) = &first.set else { return Ok(listed(&first)) };
    let rows = archive.list(&filter.in_set(set).page(None, 0)).map_err(refused)?;
    if rows.len() < 2 {
        return Ok(listed(&first));
    }
    let cell = |row: &Row| row.cell.clone().unwrap_or_default();
    let members: Vec<(RunRow, String)> = rows.iter().map(|row| (listed(row), cell(row))).collect();
    Ok(report::runs::summary_row(set.short(), &members))
}
