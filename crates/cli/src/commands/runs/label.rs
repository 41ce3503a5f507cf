//! `fathom runs tag`, `note` and `rm`.

use super::access::{find, open, refused};
use crate::output::write_stderr;
use anyhow::Result;
use archive::Choice;
use clap::Args;
use record::human::counted;
use runner::Refusal;

/// Arguments of `fathom runs tag`.
#[derive(Args)]
pub struct Tag {
    /// Name of the run or set.
    #[arg(value_name = "NAME")]
    name: String,
    /// Tags, one word each.
    #[arg(value_name = "TAG", required = true)]
    tags: Vec<String>,
    /// Remove these tags.
    #[arg(short, long)]
    remove: bool,
}

/// Adds tags to every run of a name, or removes them.
///
/// # Errors
/// When there is no such run, or a word cannot be a tag.
pub fn tag(arguments: &Tag, choice: &Choice) -> Result<()> {
    let mut archive = open(choice)?;
    let ids = find(&archive, std::slice::from_ref(&arguments.name))?;
    for tag in &arguments.tags {
        let mut had = false;
        for id in &ids {
            match arguments.remove {
                true => had |= archive.untag(id, tag).map_err(refused)?,
                false => archive.tag(id, tag).map_err(refused)?,
            }
        }
        if arguments.remove && !had {
            write_stderr(&format!("fathom: '{}' had no tag '{tag}'\n", arguments.name));
        }
    }
    Ok(())
}

/// Arguments of `fathom runs note`.
#[derive(Args)]
pub struct Note {
    /// Name of the run or set.
    #[arg(value_name = "NAME")]
    name: String,
    /// Text of the note; several words are joined.
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
}

/// Sets the note of every run of a name.
///
/// # Errors
/// When there is no such run.
pub fn set_note(arguments: &Note, choice: &Choice) -> Result<()> {
    let mut archive = open(choice)?;
    let text = arguments.text.join(" ");
    for id in find(&archive, std::slice::from_ref(&arguments.name))? {
        archive.set_note(&id, &text).map_err(refused)?;
    }
    Ok(())
}

/// Arguments of `fathom runs rm`.
#[derive(Args)]
pub struct Remove {
    /// Names of runs or sets.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Allow the removal of more than one run.
    #[arg(short, long)]
    yes: bool,
}

/// Removes all runs of the names, or none.
///
/// # Errors
/// When there is no such run, or there are several and --yes is missing.
pub fn remove(arguments: &Remove, choice: &Choice) -> Result<()> {
    let mut archive = open(choice)?;
    let ids = find(&archive, &arguments.names)?;
    if ids.len() > 1 && !arguments.yes {
        let text = format!(
            "{} runs match, and their removal cannot be undone; nothing was removed. Add --yes to \
             remove them, or export them first",
            ids.len()
        );
        return Err(Refusal::target(text));
    }
    archive.remove(&ids).map_err(refused)?;
    write_stderr(&format!("{} removed\n", counted(ids.len(), "run")));
    Ok(())
}
