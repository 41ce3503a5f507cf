//! Live views. Of a machine: rates from two samples ([`Rates`]), as lines for a pipe ([`plain`]),
//! as a log that can be read again ([`log`]), and as a picture on a terminal ([`Screen`],
//! [`Terminal`]). Of a run: [`run`], sent to other processes by its [`feed`] and as [`metrics`].
//!
//! Everything but [`Terminal`] and the sockets of [`feed`] is pure: samples in, text or a picture
//! out.

mod application;
mod cursor;
mod disk_history;
pub mod feed;
mod intervals;
pub mod json;
mod keys;
mod layers;
pub mod log;
pub mod metrics;
pub mod plain;
mod rates;
pub mod run;
mod screen;
mod stack;
mod terminal;
mod view;

pub use application::{ApplicationRates, GroupRates, summary as application_summary};
pub use disk_history::DiskHistory;
pub use intervals::{Interval, Intervals};
pub use keys::Key;
pub use rates::{
    CpuShares, DiskRates, MemoryNow, PagingRates, PressureShares, ProcessRates, Rates,
};
pub use screen::{Action, Screen, Title};
pub use stack::{Row, Stack};
pub use terminal::{Event, Terminal};
pub use view::{Palette, draw};
