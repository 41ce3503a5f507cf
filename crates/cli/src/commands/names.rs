//! `fathom names`: what completions complete that no list at build time knows.

use crate::archived::open_existing;
use crate::output::Output;
use anyhow::Result;
use archive::Choice;
use clap::{Args, ValueEnum};
use runner::Refusal;

/// Most runs whose ids are offered: those that somebody may still know.
const IDS_MOST: usize = 50;

/// Arguments of `fathom names`.
#[derive(Args)]
pub struct Arguments {
    /// What to list.
    kind: Kind,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Names of archived runs: `latest`, tags, and ids of the latest runs.
    Runs,
    /// Names of examples.
    Examples,
}

/// Prints the names, one a line. Without an archive there are none.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let names = match arguments.kind {
        Kind::Examples => job::examples::EXAMPLES.iter().map(|one| one.name.to_owned()).collect(),
        Kind::Runs => runs().map_err(Refusal::usage)?,
    };
    Output::Stdout
        .write(&names.iter().map(|name| format!("{name}\n")).collect::<String>())
        .map(|()| 0)
}

fn runs() -> Result<Vec<String>, String> {
    let Ok(archive) = open_existing(&Choice::from_options(None, false)) else {
        return Ok(Vec::new());
    };
    let tags = archive.tags().map_err(|error| error.to_string())?;
    let latest = super::runs::access::filter(&[]).map_err(|error| error.to_string())?;
    let rows = archive.list(&latest).map_err(|error| error.to_string())?;
    let mut names = vec!["latest".to_owned(), "latest~1".to_owned()];
    names.extend(tags.into_iter().map(|(tag, _)| tag));
    names.extend(rows.iter().take(IDS_MOST).map(|row| row.id.short().to_owned()));
    names.dedup();
    Ok(names)
}
