//! What a run looks like: the same figures as fio's normal text, as its JSON and its terse line, as
//! a status line while it runs, and as fathom's own record.
//!
//! Nothing is computed here beyond the choice of units: figures come from [`judge`].

pub mod clients;
pub mod compare;
pub mod exhibit;
pub mod export;
pub(crate) mod figures;
pub mod gate;
pub mod header;
pub mod html;
pub mod import;
pub mod inspect;
pub mod json;
pub mod logs;
pub mod messages;
pub mod native;
pub mod normal;
pub mod numbers;
pub mod pictures;
pub mod plot;
mod rates;
mod repeats;
mod requests;
pub mod rounds;
pub mod runs;
pub mod status;
pub mod style;
pub mod suite;
pub mod sweep;
mod terse;
pub mod tools;
pub mod trend;
pub mod trim;
pub mod verdict;
mod when;

/// Whether a unit's options, or the global ones, set `name` to anything but `off`.
fn option_is_set(record: &RunRecord, unit: &judge::UnitMetrics, name: &str, off: &[&str]) -> bool {
    let own = unit.options.iter().rev().find(|(key, _)| key == name);
    let global = || record.global_options.iter().rev().find(|(key, _)| key == name);
    own.or_else(global).is_some_and(|(_, value)| !off.contains(&value.as_str()))
}

#[cfg(test)]
mod sample;

use judge::Judged;
use record::{RecordSet, RunRecord};
use std::path::{Path, PathBuf};
use style::Style;

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Semicolon-separated line.
    Terse,
    /// fio's JSON.
    Json,
    /// fio's JSON with histogram bins.
    JsonPlus,
    /// Text for people.
    Normal,
}

/// The version of fio whose formats these are, then our own.
pub const FIO_VERSION: &str = concat!("fio-3.42-fathom-", env!("CARGO_PKG_VERSION"));

/// How reports are dressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dress {
    /// Print exactly what fio prints and nothing else (called under the name fio).
    pub as_fio: bool,
    /// The version fio's fields name, "fio-3.NN".
    pub fio_version: String,
    /// Version of terse lines, 2 to 5.
    pub terse_version: u8,
    /// A JSON document takes one line, so that several are lines of JSON.
    pub json_lines: bool,
    /// The run goes on: what is left of it is not known.
    pub so_far: bool,
    /// Width and colours of what fio has not: verdict and findings.
    pub style: Style,
    /// The name of the run in the archive, or that of the set of several.
    pub archived_as: Option<String>,
}

impl Default for Dress {
    fn default() -> Self {
        Dress {
            as_fio: false,
            fio_version: FIO_VERSION.into(),
            terse_version: 3,
            json_lines: false,
            so_far: false,
            style: Style::default(),
            archived_as: None,
        }
    }
}

/// Where the records of runs are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// A file that was asked for.
    pub record: Option<PathBuf>,
    /// It was asked for, and could not be written.
    pub is_lost: bool,
    /// Their name in the archive.
    pub archived_as: Option<String>,
    /// That is the name of several runs made together.
    pub is_set: bool,
}

impl Kept {
    /// Lines for the end of a report.
    pub fn text(&self, shown: impl Fn(&Path) -> String) -> String {
        let archived = self.archived_as.as_ref().map(|id| {
            let short = id.get(..8).unwrap_or(id);
            let label = if self.is_set { "Runs:  " } else { "Run:   " };
            format!("{label} {short} (fathom runs show {short})\n")
        });
        let record = self.record.as_deref().map(|path| format!("Record: {}\n", shown(path)));
        match (archived, record) {
            (None, None) => "Record: not kept\n".into(),
            (archived, record) => archived.unwrap_or_default() + &record.unwrap_or_default(),
        }
    }
}

/// The report in all the `formats` asked for, in the order fio prints them: terse, JSON, normal.
/// `json+` includes `json`. After the normal text come verdict and findings, unless it is fio's.
pub fn render(record: &RunRecord, judged: &Judged, formats: &[Format], dress: &Dress) -> String {
    let mut out = String::new();
    if formats.contains(&Format::Terse) {
        out += &terse::render(judged, dress);
    }
    let bins = formats.contains(&Format::JsonPlus);
    if bins || formats.contains(&Format::Json) {
        out += &json::render(record, judged, bins, dress);
    }
    if formats.contains(&Format::Normal) {
        out += &normal::render(record, judged, dress);
        if !dress.as_fio {
            out += &verdict_and_gate(judged, dress);
        }
    }
    out
}

/// The report on a run that still goes on: as [`render`] has it, its text without verdict and
/// findings, for which it is too early.
pub fn render_so_far(
    record: &RunRecord,
    judged: &Judged,
    formats: &[Format],
    dress: &Dress,
) -> String {
    let (text, rest): (Vec<Format>, Vec<Format>) =
        formats.iter().partition(|format| **format == Format::Normal);
    let dress = Dress { so_far: true, ..dress.clone() };
    let bare = Dress { as_fio: true, ..dress.clone() };
    render(record, judged, &rest, &dress) + &render(record, judged, &text, &bare)
}

/// The report on runs made in a row, in the order of [`render`]: terse lines of each run, one JSON
/// document, and as text what the runs show together. In `judged` each run is judged on its own, in
/// `together` all are as one ([`judge::together`]).
pub fn render_set(
    set: &RecordSet,
    judged: &[Judged],
    together: &Judged,
    formats: &[Format],
    dress: &Dress,
) -> String {
    let mut out = String::new();
    if formats.contains(&Format::Terse) {
        out.extend(judged.iter().map(|judged| terse::render(judged, dress)));
    }
    let bins = formats.contains(&Format::JsonPlus);
    if bins || formats.contains(&Format::Json) {
        out += &json::render_set(set, judged, together, bins, dress);
    }
    if formats.contains(&Format::Normal) {
        out += &repeats::text(&judge::repeats(set), &dress.style);
        out += &verdict_and_gate(together, dress);
    }
    out
}

fn verdict_and_gate(judged: &Judged, dress: &Dress) -> String {
    let gate = judged.gate.as_ref().map_or(String::new(), |gated| {
        gate::text(&gated.results, gated.undecided_passes, &dress.style)
    });
    verdict::text(judged, &dress.style) + &gate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_come_in_one_order_whatever_was_asked() {
        let record = sample::mixed();
        let judged = judge::judge(&record);
        let formats = [Format::Normal, Format::Json, Format::Terse];
        let text = render(&record, &judged, &formats, &Dress::default());
        let at = |part: &str| text.find(part).expect(part);
        assert!(at("3;fio-3.42-fathom-") < at("{\n  \"fio version\""));
        assert!(at("\"jobs\"") < at("mixed: (groupid=0, jobs=1)"));
    }
}
