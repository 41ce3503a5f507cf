//! fio's JSON document, key by key; our own additions are under the one key "fathom".

mod fathom;
mod fio;
mod tree;

use crate::Dress;
use judge::Judged;
use record::RunRecord;

/// The JSON document of a run, with histogram bins (`json+`) when `bins`.
pub fn render(record: &RunRecord, judged: &Judged, bins: bool, dress: &Dress) -> String {
    fio::document(record, judged, bins, dress).to_text()
}

#[cfg(test)]
mod tests;
