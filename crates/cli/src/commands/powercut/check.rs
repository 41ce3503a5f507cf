//! `fathom powercut check`: what a cut left of every promise.

use super::server::{ServerArguments, of_client};
use super::target::Target;
use crate::exit;
use crate::output::{Output, write_file, write_stderr};
use crate::suites::{ArchiveArguments, device};
use anyhow::Result;
use clap::Args;
use host::Host;
use powercut::check::{Checked, StreamResult};
use powercut::checker;
use powercut::client::Client;
use powercut::promises::{Damage, Promises};
use powercut::protocol::{Kept, Reply, Request};
use powercut::report::Report;
use powercut::session::{Session, TargetIdentity};
use record::{Cell, Message, RunRecord};
use runner::{Refusal, RunArchive, Runner};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Arguments of `fathom powercut check`.
#[derive(Args)]
pub struct Arguments {
    /// The directory, file or device that was written.
    #[arg(value_name = "TARGET")]
    target: OsString,
    /// The server.
    #[arg(long, value_name = "HOST:PORT")]
    from: String,
    #[command(flatten)]
    server: ServerArguments,
    /// Number of the run to check, as `write` printed it [default: the latest of this target]. Checks the
    /// target even if nothing of the run is on it.
    #[arg(long, value_name = "RUN", value_parser = run_number)]
    run: Option<u64>,
    /// The filesystem does not mount after the cut: count every promise as lost.
    #[arg(long, requires = "run")]
    unmountable: bool,
    #[command(flatten)]
    output: ReportArguments,
}

/// What becomes of a report.
#[derive(Args)]
#[command(next_help_heading = "Results")]
pub struct ReportArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Also write the report as an HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    pub archive: ArchiveArguments,
}

fn run_number(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|_| "expected hexadecimal digits".into())
}

/// Checks and reports. 0: every promise was kept; 1: one was not.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let path = device::utf8(&arguments.target)?;
    let archive = arguments.output.archive.for_one_run(KIND)?;
    let mut client = arguments.server.connect(&arguments.from)?;
    let kept = sessions(&mut client)?;
    let chosen = chosen(arguments.run, path, &kept)?;
    let is_named = arguments.run.is_some();
    let found = check(path, &mut client, &kept, chosen, is_named, arguments.unmountable)?;
    found.archive(archive, None);
    found.print(&arguments.output)?;
    Ok(if found.report().is_broken() { exit::ERRORS } else { 0 })
}

const UNMOUNTABLE: &str =
    "The filesystem does not mount after the cut: every promise counts as lost.";

/// The kind of an archived check.
pub const KIND: &str = "powercut";

/// What a check found.
pub struct Found {
    session: Session,
    results: Vec<StreamResult>,
    /// Their sum.
    pub checked: Checked,
    /// The last check of each session of this target, this one included.
    pub history: Vec<Checked>,
    damage: Vec<Damage>,
    notes: Vec<String>,
}

impl Found {
    /// Its report.
    pub fn report(&self) -> Report<'_> {
        Report {
            session: &self.session,
            streams: &self.results,
            checked: &self.checked,
            history: &self.history,
            damage: &self.damage,
            notes: &self.notes,
        }
    }

    /// Writes the page that is asked for.
    pub fn save(&self, output: &ReportArguments) -> Result<()> {
        let Some(file) = &output.html else { return Ok(()) };
        write_file(file, self.report().html().as_bytes()).map_err(anyhow::Error::msg)
    }

    /// Writes the page that is asked for, and prints the report.
    pub fn print(&self, output: &ReportArguments) -> Result<()> {
        self.save(output)?;
        let mut stdout = Output::Stdout;
        stdout.write(&match output.json {
            true => self.report().json(),
            false => self.report().text(&stdout.style()),
        })?;
        Ok(())
    }

    /// Archives the check, as the given cut of a campaign or alone.
    pub fn archive(&self, mut archive: RunArchive, cut: Option<u32>) {
        let report = self.report();
        let verdict = report.verdict();
        let message = match report.is_broken() {
            true => Message::error(None, verdict),
            false => Message::note(None, verdict),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        archive.add_with_summary(&RunRecord {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            invocation: record::Invocation {
                arguments: shown_arguments(
                    std::env::args_os().map(|word| word.to_string_lossy().into_owned()),
                ),
                started_unix_ms: self.session.started_unix_ms,
                ended_unix_ms: now,
                ..record::Invocation::default()
            },
            facts: Runner::new(false).machine().clone(),
            cell: cut.map(|round| Cell { name: KIND.into(), round, at: Vec::new() }),
            messages: vec![message],
            powercut: serde_json::from_slice(report.json().as_bytes()).ok(),
            ..RunRecord::default()
        });
        write_stderr(&archive.take_notes());
    }
}

/// The command line without the command of `--cut`, which may hold a password.
fn shown_arguments(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut follows = false;
    let shown = |word: String| match word.as_str() {
        _ if std::mem::take(&mut follows) => "***".into(),
        text if text.starts_with("--cut=") => "--cut=***".into(),
        text => {
            follows = text == "--cut";
            word
        }
    };
    words.map(shown).collect()
}

/// Checks a run and tells the server what was found. A run that was named is checked whatever the target
/// is.
///
/// # Errors
/// When the promises cannot be had, or the target cannot be read or is another one.
pub fn check(
    path: &str,
    client: &mut Client,
    kept: &[Kept],
    run: u64,
    is_named: bool,
    is_unmountable: bool,
) -> Result<Found> {
    let promises = fetch(client, run)?;
    let session = promises
        .session()
        .map_err(|why| Refusal::target(format!("the promises of {run:016x}: {why}")))?
        .clone();
    let mut notes = Vec::new();
    let results = match is_unmountable {
        true => {
            notes.push(UNMOUNTABLE.into());
            checker::all_lost(&session, &promises)
        }
        false => check_target(is_named, path, &session, &promises, &mut notes)?,
    };
    let why_not_cut = checker::why_not_cut(&promises, was_restarted(&session.target));
    let checked = Checked::new(session.run, &results, why_not_cut.is_none());
    notes.extend(why_not_cut);
    client.request(&Request::Checked(checked.clone())).map_err(of_client)?;
    let history = checker::history(kept, &session, &checked);
    Ok(Found { session, results, checked, history, damage: promises.damage, notes })
}

/// Whether this machine was started since the target was written, or is another one.
fn was_restarted(was: &TargetIdentity) -> bool {
    Host::at("/").boot_id().is_none_or(|boot| boot != was.boot)
}

/// The sessions that the server keeps, the latest last.
pub fn sessions(client: &mut Client) -> Result<Vec<Kept>> {
    match client.request(&Request::List).map_err(of_client)? {
        Reply::Sessions(kept) => Ok(kept),
        reply => Err(anyhow::anyhow!("the server replied {reply:?} to a list of sessions")),
    }
}

fn fetch(client: &mut Client, run: u64) -> Result<Promises> {
    match client.request(&Request::Fetch(run)).map_err(of_client)? {
        Reply::Promises(promises) => Ok(*promises),
        reply => Err(anyhow::anyhow!("the server replied {reply:?} to a request for promises")),
    }
}

/// The run to check: the one that was named, or the latest of this target.
fn chosen(named: Option<u64>, path: &str, kept: &[Kept]) -> Result<u64> {
    if let Some(run) = named {
        return Ok(run);
    }
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    checker::latest_run(kept, path, &resolved).map_err(Refusal::target)
}

/// Checks a target that can be read.
fn check_target(
    is_named: bool,
    path: &str,
    session: &Session,
    promises: &Promises,
    notes: &mut Vec<String>,
) -> Result<Vec<StreamResult>> {
    let runner = Runner::new(false);
    let now = Target::inspect(path, &runner).map_err(|error| match &session.target.filesystem {
        Some(was) => error.context(format!(
            "{path} is not there, and {} was mounted at {} when it was written",
            was.kind, was.mount_point
        )),
        None => error,
    })?;
    if !is_named {
        checker::check_identity(path, &session.target, &now.identity).map_err(Refusal::target)?;
    }
    notes.extend(checker::size_note(&session.target, &now.identity));
    let results = checker::check_target(path, Path::new(&now.path), session, promises)?;
    if !is_named && checker::has_nothing_of_run(&results) {
        return Err(Refusal::target(format!(
            "nothing of run {:016x} is on {path}: is it the target that was written? If it is, \
             --run={:016x} counts every promise as lost",
            session.run, session.run
        )));
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_cuts_is_not_archived() {
        let words = ["campaign", "--cut=ipmitool -P x", "--cut", "ipmitool -P x", "--cuts=9"];
        let shown = shown_arguments(words.into_iter().map(str::to_owned));
        assert_eq!(shown, ["campaign", "--cut=***", "--cut", "***", "--cuts=9"]);
    }
}
