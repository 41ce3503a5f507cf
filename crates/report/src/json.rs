//! fio's JSON document, key by key; our own additions are under the one key "fathom".

mod clients;
mod exchange;
mod fathom;
mod fio;
mod set;
pub mod suite;
pub mod sweep;
mod tree;

use crate::Dress;
use crate::clients::Clients;
use judge::Judged;
use record::{RecordSet, RunRecord};

/// The JSON document of a run, with histogram bins (`json+`) when `bins`.
pub fn render(record: &RunRecord, judged: &Judged, bins: bool, dress: &Dress) -> String {
    shown(&fio::document(record, judged, bins, dress), dress)
}

/// The JSON document of several runs made together, in `judged` each judged on its own and in
/// `together` as one.
pub fn render_set(
    set: &RecordSet,
    judged: &[Judged],
    together: &Judged,
    bins: bool,
    dress: &Dress,
) -> String {
    set::document(set, judged, together, bins, dress).to_text()
}

/// The JSON document of jobs on several servers, with histogram bins (`json+`) when `bins`.
pub fn render_clients(reports: &Clients, bins: bool, dress: &Dress) -> String {
    shown(&clients::document(reports, bins, dress), dress)
}

fn shown(document: &tree::Json, dress: &Dress) -> String {
    if dress.json_lines { document.to_line() } else { document.to_text() }
}

#[cfg(test)]
mod tests;
