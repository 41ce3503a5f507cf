//! The feed of a run: lines of JSON over a unix socket.
//!
//! Each process with a run listens at `PID.sock` in a private directory ([`default_directory`]). A
//! client receives [`Line::Run`], the last moments, then a [`Line::Moment`] a second,
//! [`Line::Ended`] and [`Line::Saved`]. Moments are computed only while somebody listens. The run
//! never waits for a slow client.

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
    /// The run that the following lines are about.
    Run(RunInfo),
    /// Its state, once a second.
    Moment(Box<Moment>),
    /// Its end.
    Ended(RunEnd),
    /// Its id in the archive.
    #[serde(rename = "kept")]
    Saved(SavedTo),
}

impl Line {
    /// The line as it is sent, with its line feed.
    pub fn text(&self) -> String {
        // Every key is text, so there is no failure.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Parses a line; `None` if it is unknown, from a newer program, or incomplete.
    pub fn parse(line: &str) -> Option<Line> {
        serde_json::from_slice(line.as_bytes()).ok()
    }
}
