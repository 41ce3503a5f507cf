//! The formats of reports.

use crate::named;

/// A format, in the order in which several are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// fio's terse lines: fields separated by semicolons.
    Terse,
    /// fio's JSON.
    Json,
    /// fio's JSON with every bin of the histograms.
    JsonPlus,
    /// Text for people.
    Normal,
}

named!(Format: Terse "terse", Json "json", JsonPlus "json+", Normal "normal");

impl Format {
    /// All formats, in the order in which they are printed.
    pub const ALL: [Format; 4] = [Format::Terse, Format::Json, Format::JsonPlus, Format::Normal];

    /// The format with this name; "minimal" is another name of terse in fio.
    pub fn from_name(name: &str) -> Option<Format> {
        let name = if name == "minimal" { "terse" } else { name };
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether it is JSON.
    pub fn is_json(self) -> bool {
        matches!(self, Format::Json | Format::JsonPlus)
    }
}
