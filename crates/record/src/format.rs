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

/// The version of fio whose forms reports have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FioVersion {
    /// fio 3.42.
    #[default]
    V3_42,
    /// fio 3.33: JSON without `job_start`, sectors of disks and options without a value.
    V3_33,
}

impl FioVersion {
    /// The version of this number.
    pub fn from_number(number: &str) -> Option<FioVersion> {
        match number {
            "3.42" => Some(FioVersion::V3_42),
            "3.33" => Some(FioVersion::V3_33),
            _ => None,
        }
    }
}
