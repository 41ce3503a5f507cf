//! Tags, notes, and removing runs.

use super::access::{find, open, refused};
use crate::output::say;
use anyhow::Result;
use archive::Choice;
use clap::Args;
use runner::Refusal;

/// What `fathom runs tag` takes.
#[derive(Args)]
pub struct Tag {
    /// The run, or the set of runs.
    #[arg(value_name = "NAME")]
    name: String,
    /// Tags, one word each.
    #[arg(value_name = "TAG", required = true)]
    tags: Vec<String>,
    /// Take these tags away.
    #[arg(short, long)]
    remove: bool,
}

/// Tags every run of a name, or takes the tags away.
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
            say(&format!("fathom: '{}' had no tag '{tag}'\n", arguments.name));
        }
    }
    Ok(())
}

/// What `fathom runs note` takes.
#[derive(Args)]
pub struct Note {
    /// The run, or the set of runs.
    #[arg(value_name = "NAME")]
    name: String,
    /// What to note; several words are one text.
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
}

/// Notes a text on every run of a name.
///
/// # Errors
/// When there is no such run.
pub fn note(arguments: &Note, choice: &Choice) -> Result<()> {
    let mut archive = open(choice)?;
    let text = arguments.text.join(" ");
    for id in find(&archive, std::slice::from_ref(&arguments.name))? {
        archive.set_note(&id, &text).map_err(refused)?;
    }
    Ok(())
}

/// What `fathom runs rm` takes.
#[derive(Args)]
pub struct Remove {
    /// The runs, or sets of them.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Remove more than one run without asking back.
    #[arg(short, long)]
    yes: bool,
}

/// Removes all runs of the names, or none.
///
/// # Errors
/// When there is no such run; when they are several and that was not confirmed.
pub fn remove(arguments: &Remove, choice: &Choice) -> Result<()> {
    let mut archive = open(choice)?;
    let ids = find(&archive, &arguments.names)?;
    if ids.len() > 1 && !arguments.yes {
        let text = format!(
            "that is {} runs, and removing them cannot be undone; nothing was removed. Add --yes to \
             remove them, or export them first",
            ids.len()
        );
        return Err(Refusal::target(text));
    }
    archive.remove(&ids).map_err(refused)?;
    let plural = if ids.len() == 1 { "" } else { "s" };
    say(&format!("{} run{plural} removed\n", ids.len()));
    Ok(())
}
