//! Runs beside Debian's fio: its output, its layouts, its logs, and what other programs read of them.

#[path = "../common/mod.rs"]
mod common;

mod aggregates;
mod consumers;
mod consumers_fio_plot;
mod debug;
mod debug_areas;
mod eta;
mod example_jobs;
mod layout;
mod logs;
mod model;
mod output;
mod purity;
mod replay;
mod replay_bad;
mod replay_traces;
mod runs;
mod status_interval;
mod sums;
mod values;
mod verify;
mod verify_state;
mod zbd;
