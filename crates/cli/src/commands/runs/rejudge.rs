//! `fathom runs rejudge`.

use super::access::{find, open, refused};
use crate::output::{Output, write_stderr};
use anyhow::{Result, bail};
use archive::{Archive, Choice, Filter, Row, RunId, Summary};
use clap::Args;
use judge::Judged;
use record::human::counted;

/// Arguments of `fathom runs rejudge`.
#[derive(Args)]
pub struct Arguments {
    /// Names of runs or sets.
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    names: Vec<String>,
    /// Every run of the archive.
    #[arg(long)]
    all: bool,
}

/// Judges runs again, archives the verdicts, and prints what changed.
///
/// # Errors
/// When there is no such run, or the archive cannot be written; after judging the others, when a record
/// could not be read.
pub fn main(arguments: &Arguments, choice: &Choice) -> Result<()> {
    let mut archive = open(choice)?;
    let ids = match arguments.all {
        true => archive.ids(&Filter::all()).map_err(refused)?,
        false => find(&archive, &arguments.names)?,
    };
    let mut output = Output::Stdout;
    let (mut changed, mut unread) = (0, 0);
    for id in &ids {
        let before = archive.row(id).map_err(refused)?;
        match rejudge(&mut archive, id)? {
            Some(after) => {
                let lines = changes(&before, &after);
                changed += usize::from(!lines.is_empty());
                output.write(&lines)?;
            }
            None => unread += 1,
        }
    }
    let plural = if ids.len() == 1 { "" } else { "s" };
    output.write(&format!(
        "{} run{plural} judged by fathom {}: {changed} changed\n",
        ids.len() - unread,
        env!("CARGO_PKG_VERSION")
    ))?;
    match unread {
        0 => Ok(()),
        unread => bail!("{} could not be read", counted(unread, "record")),
    }
}

/// Judges a run again. Returns its new row; prints why and returns `None` when its record cannot be read.
fn rejudge(archive: &mut Archive, id: &RunId) -> Result<Option<Row>> {
    let record = match archive.load(id) {
        Ok(record) => record,
        Err(error @ archive::ArchiveError::Unreadable { .. }) => {
            write_stderr(&format!("fathom: {error}\n"));
            return Ok(None);
        }
        Err(error) => return Err(refused(error)),
    };
    let judged = judge::judge(&record);
    archive.save_summary(id, &Summary::new(&record, &judged)).map_err(refused)?;
    archive.row(id).map(Some).map_err(refused)
}

/// One line with what changed about a run, or an empty text.
fn changes(before: &Row, after: &Row) -> String {
    let mut changes: Vec<String> = Vec::new();
    let never = "not judged".to_owned();
    let (then, now) =
        (before.verdict.as_ref().unwrap_or(&never), after.verdict.as_ref().unwrap_or(&never));
    if then != now {
        changes.push(format!("{then} → {now}"));
    }
    let findings = |row: &Row| row.found.unwrap_or_default();
    let (then, now) = (findings(before), findings(after));
    for (name, then, now) in [
        ("errors", then.errors, now.errors),
        ("warnings", then.warnings, now.warnings),
        ("notes", then.notes, now.notes),
    ] {
        if then != now {
            changes.push(format!("{name} {then} → {now}"));
        }
    }
    match changes.is_empty() {
        true => String::new(),
        false => format!("{} {}: {}\n", after.id.short(), after.job, changes.join(", ")),
    }
}

/// The bottlenecks of the jobs and their confidence, for lists.
pub fn verdict(judged: &Judged) -> String {
    let mut all: Vec<String> = Vec::new();
    for verdict in &judged.verdicts {
        let text = format!("{} ({})", verdict.limit.name(), verdict.confidence.name());
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all.join(", ")
}
