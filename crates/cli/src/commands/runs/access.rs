//! What the verbs of `fathom runs` and other commands share: opening the archive, finding runs, errors.

use crate::output::Output;
use anyhow::Result;
use archive::{Archive, Choice, Filter, Location, Now, RunId};
use report::style::Style;
use runner::Refusal;

/// Where the archive is.
///
/// # Errors
/// When there is to be none.
pub fn location(choice: &Choice) -> Result<Location> {
    choice.location().map_err(refused)?.ok_or_else(|| {
        Refusal::usage(
            "FATHOM_ARCHIVE says that there is to be no archive; name one with --archive=PATH",
        )
    })
}

/// The archive that is there.
///
/// # Errors
/// When there is none, or it cannot be used.
pub fn open(choice: &Choice) -> Result<Archive> {
    Archive::open_existing(&location(choice)?).map_err(refused)
}

/// What the archive says is wrong, with the exit code for what was asked for wrongly.
pub fn refused(error: archive::ArchiveError) -> anyhow::Error {
    use archive::ArchiveError::{Damaged, Unreadable, Unusable};
    match error {
        Damaged { .. } | Unreadable { .. } | Unusable { .. } => anyhow::Error::from(error),
        asked => Refusal::usage(asked.to_string()),
    }
}

/// The runs that words ask for.
///
/// # Errors
/// The word that says nothing.
pub fn filter(words: &[String]) -> Result<Filter> {
    Filter::from_words(words, Now::local()).map_err(|error| Refusal::usage(error.to_string()))
}

/// Every run that the names stand for, each once, in the order of the names.
///
/// # Errors
/// When a name stands for nothing.
pub fn find(archive: &Archive, names: &[String]) -> Result<Vec<RunId>> {
    let mut found: Vec<RunId> = Vec::new();
    for name in names {
        for id in archive.find_all(name).map_err(refused)? {
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// As wide as the terminal; where there is none, as COLUMNS says, or as wide as it is.
pub fn terminal_style(output: &Output) -> Style {
    let told = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok().filter(|width| *width > 0);
    let width = match output.is_terminal() {
        true => rustix::termios::tcgetwinsize(std::io::stdout())
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|width| *width > 0)
            .or_else(told)
            .unwrap_or(80),
        false => told().unwrap_or(240),
    };
    Style { width, ..output.style() }
}
