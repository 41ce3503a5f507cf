//! The feed of a run: lines of JSON over a unix socket, for whoever wants to see what it does.
//!
//! Each process that runs something listens at `PID.sock` in a directory of its user's own
//! ([`directory`]). Who connects is told [`Line::Run`], the last moments that were made, and from
//! then on a [`Line::Moment`] a second, [`Line::Ended`] and [`Line::Saved`]. Nothing is made while
//! nobody listens, and one who does not read is left behind, never waited for.

mod client;
mod directory;
mod hub;
mod server;

pub use client::{FeedProcess, FeedReader, list};
pub use directory::{DirectoryError, default_directory};
pub use hub::{Hub, Subscription};
pub use server::Server;

use crate::run::{Moment, RunEnd, RunInfo, SavedTo};
use serde::{Deserialize, Serialize};

/// A line of a feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// Which run is under way; what follows is about it.
    Run(RunInfo),
    /// What it does now.
    Moment(Box<Moment>),
    /// How it ended.
    Ended(RunEnd),
    /// Where it is now.
    #[serde(rename = "kept")]
    Saved(SavedTo),
}

impl Line {
    /// As it is sent, its end included.
    pub fn text(&self) -> String {
        // Every key is text, so there is no failure.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// From a line; `None` for one that is not known, of a newer program or not whole.
    pub fn parse(line: &str) -> Option<Line> {
        serde_json::from_str(line).ok()
    }
}
