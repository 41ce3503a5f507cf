//! The messages; see the crate for who sends them when.

use crate::part::{Gather, GroupTime, Part};
use serde::{Deserialize, Serialize};

/// What a rank says first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Version of the messages it understands.
    pub protocol: u32,
    /// Version of its fathom.
    pub version: String,
    /// Its host.
    pub host: String,
}

impl Hello {
    /// That of this process.
    pub fn from(host: &str) -> Hello {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Hello { protocol: crate::PROTOCOL, version, host: host.to_owned() }
    }
}

/// A run for ranks, as rank 0 announces it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// The ranks that take part, in ascending order; rank 0 is the first. Others wait for the next task.
    pub ranks: Vec<u32>,
    /// What to run, in a form that the program knows.
    pub body: String,
}

impl Task {
    /// What a rank has to do in it; `None` if it does not take part.
    pub fn assignment(&self, rank: u32) -> Option<Assignment> {
        let place = self.ranks.binary_search(&rank).ok()?;
        let (place, ranks) = (place as u32, self.ranks.len() as u32);
        Some(Assignment { place, ranks, body: self.body.clone() })
    }
}

/// The part of a rank in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Its place among those that take part, from 0.
    pub place: u32,
    /// How many take part.
    pub ranks: u32,
    /// [`Task::body`].
    pub body: String,
}

/// What a rank is about to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Enrolment {
    /// Kernel release.
    pub kernel: String,
    /// The filesystems of its targets, each once.
    pub mounts: Vec<String>,
    /// Identifies its clock: ranks with equal texts have the same clock.
    pub clock: String,
    /// Identifies the process ids that it sees: ranks with equal texts see the same processes.
    pub process_space: String,
    /// Its process id.
    pub process: u32,
    /// Its files: the path, hashed, and the end of its region in it.
    pub files: Vec<(u64, u64)>,
    /// Why it does not run, with its exit code; `None` if it does.
    pub refusal: Option<(String, u8)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Message {
    Hello(Hello),
    Task(Assignment),
    Enrolled(Box<Enrolment>),
    Ping(u64),
    Pong(u64, u64),
    /// With the processes of the other ranks on its machine.
    Begin(Vec<u32>),
    Reached(u32),
    Release(u32, Option<u64>),
    Progress(u64),
    Ended(Vec<GroupTime>),
    Gather(Box<Gather>),
    Part(Box<Part>),
    Resend(Box<Gather>),
    Stop(i32),
    Alive,
    /// Whether all ranks are there to say it to.
    Bye(bool),
}

impl Message {
    /// The message with the number of the round it belongs to.
    pub fn to_bytes(&self, round: u32) -> Vec<u8> {
        // None of the types can fail to be written.
        serde_json::to_vec(&(round, self)).unwrap_or_default()
    }

    /// The number of the round, and the message.
    pub fn of_bytes(bytes: &[u8]) -> Result<(u32, Message), String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }
}
