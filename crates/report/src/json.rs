//! fio's JSON document, key by key; our own additions are under the one key "fathom".

mod clients;
mod cpu_profile;
mod exchange;
mod fathom;
mod fio;
mod fleet;
mod latency;
mod layers;
mod set;
pub mod suite;
pub mod sweep;
mod tree;

use crate::options::RenderOptions;
use crate::subject::Subject;

/// The JSON document of a subject, with histogram bins (`json+`) when `bins`.
pub fn render(subject: Subject, bins: bool, options: &RenderOptions) -> String {
    let document = match subject {
        Subject::Run(record, judged) => fio::document(record, judged, bins, options),
        Subject::Set { set, judged, together } => {
            set::document(set, judged, together, bins, options)
        }
        Subject::Clients(clients) => clients::document(clients, bins, options),
    };
    if options.json_lines { document.to_line() } else { document.to_text() }
}

#[cfg(test)]
mod tests;
