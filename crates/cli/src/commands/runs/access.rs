//! What the verbs of `fathom runs` and other commands share: opening the archive, finding runs, errors.

use crate::output::Output;
use anyhow::Result;
use archive::{Archive, Choice, Filter, Location, Now, RunId};
use report::style::Style;
use runner::Refusal;

/// The location of the archive.
///
/// # Errors
/// When the archive is turned off.
pub fn location(choice: &Choice) -> Result<Location> {
    choice.location().map_err(refused)?.ok_or_else(|| {
        Refusal::usage("FATHOM_ARCHIVE turns the archive off; name one with --archive=PATH")
    })
}

/// Opens the existing archive.
///
/// # Errors
/// When there is none, or it cannot be used.
pub fn open(choice: &Choice) -> Result<Archive> {
    Archive::open_existing(&location(choice)?).map_err(refused)
}

/// An error of the archive; a wrong name is a usage error.
pub fn refused(error: archive::ArchiveError) -> anyhow::Error {
    use archive::ArchiveError::{Damaged, Unreadable, Unusable};
    match error {
        Damaged { .. } | Unreadable { .. } | Unusable { .. } => anyhow::Error::from(error),
        asked => Refusal::usage(asked.to_string()),
    }
}

/// Parses filter words.
///
/// # Errors
/// The word that cannot be used.
pub fn filter(words: &[String]) -> Result<Filter> {
    Filter::from_words(words, Now::local()).map_err(|error| Refusal::usage(error.to_string()))
}

/// The runs of all names, each once, in the order of the names.
///
/// # Errors
/// When a name matches no run.
pub fn find(archive: &Archive, names: &[String]) -> Result<Vec<RunId>> {
    let mut ids: Vec<RunId> = Vec::new();
    for name in names {
        for id in archive.find_all(name).map_err(refused)? {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    Ok(ids)
}

/// The output's style with the width of the terminal. Without a terminal, the width is COLUMNS or 240.
pub fn terminal_style(output: &Output) -> Style {
    let columns =
        || std::env::var("COLUMNS").ok()?.parse::<usize>().ok().filter(|width| *width > 0);
    let width = match output.is_terminal() {
        true => rustix::termios::tcgetwinsize(std::io::stdout())
            .ok()
            .map(|size| usize::from(size.ws_col))
            .filter(|width| *width > 0)
            .or_else(columns)
            .unwrap_or(80),
        false => columns().unwrap_or(240),
    };
    Style { width, ..output.style() }
}
