//! The feed of a run: lines of JSON over a unix socket, for whoever wants to see what it does.
//!
//! Each process that runs something listens at `PID.sock` in a directory of its user's own
//! ([`directory`]). Who connects is told [`Line::Run`], the last moments that were made, and from
//! then on a [`Line::Moment`] a second, [`Line::Ended`] and [`Line::Kept`]. Nothing is made while
//! nobody listens, and one who does not read is left behind, never waited for.

mod client;
mod hub;
mod place;
mod server;

pub use client::{Follow, Listed, list};
pub use hub::{Hub, Wanted};
pub use place::{PlaceError, directory, usual};
pub use server::Server;

use crate::run::{Ended, Head, Kept, Moment};
use serde::{Deserialize, Serialize};

/// A line of a feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// Which run is under way; what follows is about it.
    Run(Head),
    /// What it does now.
    Moment(Box<Moment>),
    /// How it ended.
    Ended(Ended),
    /// Where it is now.
    Kept(Kept),
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
