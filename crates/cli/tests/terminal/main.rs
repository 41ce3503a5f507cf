//! What is drawn on a terminal or printed as lines while the machine works.

#[path = "../common/mod.rs"]
mod common;

mod feed;
mod first_minute;
mod inspect;
mod inspect_trees;
mod live_run;
mod plot;
mod watch;
mod watch_terminal;
