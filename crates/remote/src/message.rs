//! The messages, and who sends them when:
//!
//! | client | server |
//! |---|---|
//! | `Hello` | `Hello`, or `Refused`; with a token, `Challenge` |
//! | `Proof` after `Challenge` | `Proof`, then `Hello`; or `Refused` |
//! | `Submit` | `Text`, `Messages`, then `Ready` or `Refused` |
//! | `Files` | preceded by `Wants`, before `Ready`, if the jobs need files of the client |
//! | `Start` | `Text`, `Live` during the run, `File` for its files, then `Done` |
//! | `Report` at any time | `SoFar`; also at each requested interval |
//! | `Stop` at any time | |
//! | `Trigger` at any time | `File` for each state, `Kept` |
//! | `Held` | `Triggered` after its command |
//!
//! Both sides send `Alive` at regular intervals.

use crate::token::Nonce;
use record::{Message, Nanos, PerDirection, RunRecord, Snapshot};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the protocol. Raise it when a message changes its meaning or is removed; a new
/// optional field does not need it.
pub const PROTOCOL: u32 = 2;

/// The greeting of either side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of the sender.
    pub protocol: u32,
    /// Version of the sender's program.
    pub version: String,
}

impl Hello {
    /// Why this program cannot talk to the sender, if it cannot.
    pub fn objection(&self) -> Option<String> {
        (self.protocol != PROTOCOL).then(|| {
            format!(
                "fathom {} speaks version {} of the protocol, this one version {PROTOCOL}; use \
                 the same fathom on both sides",
                self.version, self.protocol
            )
        })
    }
}

/// The machine of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its host name.
    pub name: String,
    /// Its operating system ("Linux").
    pub system: String,
    /// Its processor ("x86-64").
    pub architecture: String,
    /// Bits of an address.
    pub bits: u32,
    /// Whether its bytes are in big-endian order.
    pub big_endian: bool,
    /// The version for fio's fields, "fio-3.NN".
    pub fio_version: String,
}

impl fmt::Display for Host {
    /// fio's line about a server, without a newline.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "hostname={}, be={}, {}-bit, os={}, arch={}, fio={}, flags=1",
            self.name,
            u8::from(self.big_endian),
            self.bits,
            self.system,
            self.architecture,
            self.fio_version,
        )
    }
}

/// A job file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobText {
    /// Its name on the command line of the client.
    pub name: String,
    /// Its bytes; it need not be text.
    pub bytes: Vec<u8>,
}

/// A part of a file that a run wrote. Logs may be longer than a message, so files are sent in
/// parts, one file after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// Path of the file on the server.
    pub name: String,
    /// Offset of the part in bytes; 0 begins the file.
    pub at: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The jobs that a server is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Whether the client was called as fio.
    pub as_fio: bool,
    /// Options and names of job files, as typed. A job file that is not in `files` is a file of the
    /// server.
    pub arguments: Vec<String>,
    /// The job files of the client.
    pub files: Vec<JobText>,
    /// Interval of interim results; `None`: on request only.
    pub status_interval: Option<Nanos>,
}

/// A job that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// Its name.
    pub name: String,
    /// Its directions.
    pub directions: PerDirection<bool>,
}

/// The reason why a server refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// All mistakes, one per line.
    pub text: String,
    /// The exit code for the client.
    pub exit_code: u8,
}

/// The messages of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromClient {
    /// The greeting.
    Hello(Hello),
    /// The answer to [`FromServer::Challenge`].
    Proof {
        /// Random bytes of the client.
        nonce: Nonce,
        /// The proof that the client knows the token.
        proof: [u8; 32],
    },
    /// The jobs to run.
    Submit(Submission),
    /// The requested files that exist.
    Files(Vec<JobText>),
    /// Start the run; every server is ready.
    Start,
    /// Send interim results.
    Report,
    /// End the run; the client received this signal.
    Stop {
        /// The signal's number.
        signal: i32,
    },
    /// The trigger was pulled: save the verify states, end the run, then run the command.
    Trigger {
        /// A shell command for the server.
        command: Option<String>,
    },
    /// The files sent before `Kept` are stored.
    Held,
    /// Heartbeat.
    Alive,
}

/// The messages of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromServer {
    /// The greeting, with the machine.
    Hello(Hello, Host),
    /// The server has a token and wants a proof that the client knows it.
    Challenge(Nonce),
    /// The proof that the server knows the token.
    Proof([u8; 32]),
    /// The server refuses.
    Refused(Refusal),
    /// Text for the output of the client.
    Text(String),
    /// Messages for the user.
    Messages(Vec<Message>),
    /// Names of verify states of earlier runs that the jobs need, which the client may have stored.
    Wants(Vec<String>),
    /// The jobs, which are ready to run.
    Ready(Vec<Announced>),
    /// A snapshot of the run.
    Live(Snapshot),
    /// Interim results: the record as if the run had ended now.
    SoFar(Box<RunRecord>),
    /// A part of a log or verify state, which the client stores.
    File(FilePart),
    /// All verify states have been sent, after the trigger was pulled.
    Kept,
    /// The command of the trigger has ended, with its failure if it failed.
    Triggered(Option<String>),
    /// The run has ended.
    Done(Box<RunRecord>),
    /// Heartbeat.
    Alive,
}

impl FromClient {
    /// The kind of the message, as named in traces.
    pub fn kind(&self) -> &'static str {
        match self {
            FromClient::Hello(_) | FromClient::Proof { .. } => "PROBE",
            FromClient::Submit(_) => "JOB",
            FromClient::Files(_) => "SENDFILE",
            FromClient::Start => "RUN",
            FromClient::Report => "SEND_ETA",
            FromClient::Stop { .. } => "QUIT",
            FromClient::Trigger { .. } | FromClient::Held => "VTRIGGER",
            FromClient::Alive => "ALIVE",
        }
    }
}

impl FromServer {
    /// The kind of the message, as named in traces.
    pub fn kind(&self) -> &'static str {
        match self {
            FromServer::Hello(..) | FromServer::Challenge(_) | FromServer::Proof(_) => "PROBE",
            FromServer::Refused(_) => "STOP",
            FromServer::Text(_) | FromServer::Messages(_) => "TEXT",
            FromServer::Wants(_) => "SENDFILE",
            FromServer::Ready(_) => "START",
            FromServer::Live(_) => "ETA",
            FromServer::SoFar(_) | FromServer::Done(_) => "TS",
            FromServer::File(_) => "IOLOG",
            FromServer::Kept | FromServer::Triggered(_) => "VTRIGGER",
            FromServer::Alive => "ALIVE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_objected_to_with_both_numbers() {
        let hello = |protocol| Hello { protocol, version: "9.9".into() };
        assert_eq!(hello(PROTOCOL).objection(), None);
        let text = hello(PROTOCOL + 6).objection().unwrap();
        assert!(text.contains("9.9") && text.contains('8') && text.contains("version 2"), "{text}");
    }

    #[test]
    fn every_message_survives_its_way() {
        let mut record = RunRecord { fathom_version: "1".into(), ..RunRecord::default() };
        record.jobs.push(record::JobRecord::default());
        let messages = [
            FromServer::Live(Snapshot { workers: vec![Default::default()], ..Snapshot::default() }),
            FromServer::File(FilePart { name: "a".into(), at: 0, bytes: vec![0, 255] }),
            FromServer::Done(Box::new(record)),
        ];
        for message in messages {
            let mut bytes = Vec::new();
            crate::write(&mut bytes, &message).unwrap();
            assert_eq!(crate::read::<FromServer>(&bytes[..], 1 << 20).unwrap(), message);
        }
    }
}
