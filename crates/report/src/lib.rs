//! Reports on runs: fio's normal text, terse line and JSON, fathom's own text and HTML, and the status
//! line of a run that goes on.
//!
//! Figures come from [`judge`]; this crate chooses their units. It does no file I/O.

pub mod clients;
pub mod compare;
mod cpu_profile;
pub(crate) mod figures;
pub mod fio_numbers;
mod fio_rates;
mod fio_rows;
mod fleet;
pub mod gate;
pub mod header;
pub mod html;
pub mod inspect;
pub mod json;
pub mod judged_set;
mod junit;
pub mod layers;
pub mod messages;
pub mod model;
pub mod normal;
mod options;
pub mod pictures;
pub mod plot;
mod render;
mod repeats;
mod request_text;
pub mod run_lines;
pub mod runs;
pub mod status;
pub mod style;
mod subject;
pub mod suite;
pub mod sweep;
mod terse;
pub mod trend;
pub mod trim;
pub mod verdict;

#[cfg(test)]
mod testing;

pub use options::{FIO_VERSION, RenderOptions, version_line};
pub use render::{render, render_as};
pub use subject::Subject;
