//! The messages; see the crate for who sends them when.

use crate::part::{Gather, GroupTime, Part};
use serde::{Deserialize, Serialize};

/// What a rank is and is about to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Enrolment {
    /// Version of the messages it understands; [`Fleet::enrol`](crate::Fleet::enrol) sets it.
    pub protocol: u32,
    /// Version of its fathom.
    pub version: String,
    /// Its host.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// The filesystems of its targets, each once.
    pub mounts: Vec<String>,
    /// Identifies its clock: ranks with equal texts have the same clock.
    pub clock: String,
    /// Its files: the path, hashed, and the end of its region in it.
    pub files: Vec<(u64, u64)>,
    /// Why it does not run, with its exit code; `None` if it does.
    pub refusal: Option<(String, u8)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Message {
    Enrolled(Box<Enrolment>),
    Ping(u64),
    Pong(u64, u64),
    Begin,
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
    pub fn to_bytes(&self) -> Vec<u8> {
        // None of the types can fail to be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn of_bytes(bytes: &[u8]) -> Result<Message, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }
}
