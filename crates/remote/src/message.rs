//! What is said. Who says what when:
//!
//! | client | server |
//! |---|---|
//! | `Hello` | `Hello`, or `Refused` |
//! | `Submit` | `Text`, `Messages` while it is looked at, then `Ready`, or `Refused` |
//! | `Files` | preceded by `Wants`, before `Ready`, where the jobs go by files of the client's |
//! | `Start` | `Text`, `Live` while it runs, `File` for what it left, then `Done` |
//! | `Report` at any time | `SoFar`, also by itself at each interval asked for |
//! | `Stop` at any time | |
//! | `Trigger` at any time | `File` for each state, `Kept` |
//! | `Held` | `Triggered` once its command ran |
//!
//! Both say `Alive` when they have said nothing else for a while.

use record::{Message, Nanos, PerDirection, RunRecord, Snapshot};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of what is said. Raise it when a message changes meaning or leaves; a new optional field
/// does not need it.
pub const PROTOCOL: u32 = 2;

/// The first thing either side says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`] of the side that says it.
    pub protocol: u32,
    /// Version of its program.
    pub version: String,
}

impl Hello {
    /// What is wrong with talking to this one, if anything.
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

/// The machine a server runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its own name.
    pub name: String,
    /// Its operating system ("Linux").
    pub system: String,
    /// Its processor ("x86-64").
    pub architecture: String,
    /// Bits of an address.
    pub bits: u32,
    /// Whether its bytes are in big-endian order.
    pub big_endian: bool,
    /// The version fio's fields name, "fio-3.NN".
    pub fio_version: String,
}

impl fmt::Display for Host {
    /// As fio says it when a server answers, without a newline.
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
    /// Its name, as the client was given it.
    pub name: String,
    /// Its bytes; it need not be text.
    pub bytes: Vec<u8>,
}

/// A part of a file that a run left. Parts come in order, those of one file after those of another;
/// a log may be longer than any message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// Path of the file there.
    pub name: String,
    /// Where the part begins, in bytes; 0 begins the file.
    pub at: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a server is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Called under the name fio.
    pub as_fio: bool,
    /// Options and the names of job files, as typed. One that is in `files` is meant as it is
    /// there; another is a file of the server's.
    pub arguments: Vec<String>,
    /// The job files of the client's.
    pub files: Vec<JobText>,
    /// How often to say what was measured so far; `None`: when asked.
    pub status_interval: Option<Nanos>,
}

/// A job that can be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// Its name.
    pub name: String,
    /// Which directions it has.
    pub directions: PerDirection<bool>,
}

/// Why a server does not run something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// All that is wrong, one mistake a line.
    pub text: String,
    /// With what the client is to end.
    pub exit_code: u8,
}

/// What a client says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromClient {
    /// Who it is.
    Hello(Hello),
    /// What to run.
    Submit(Submission),
    /// What of the files that were asked for is there.
    Files(Vec<JobText>),
    /// Every server is ready: run it.
    Start,
    /// Say what was measured so far.
    Report,
    /// End the run; the client met this signal.
    Stop {
        /// The signal's number.
        signal: i32,
    },
    /// The trigger was pulled: keep the state, end the run, then run the command.
    Trigger {
        /// A command of the server's shell.
        command: Option<String>,
    },
    /// What was sent before `Kept` is in files here.
    Held,
    /// Still there.
    Alive,
}

/// What a server says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromServer {
    /// Who it is, and on which machine.
    Hello(Hello, Host),
    /// It does not run what was asked for.
    Refused(Refusal),
    /// Text for people, as a run here would print it.
    Text(String),
    /// What the user should know.
    Messages(Vec<Message>),
    /// Files that the jobs go by, and that the client may have kept: states of an earlier run.
    Wants(Vec<String>),
    /// What was asked for can be run; its jobs.
    Ready(Vec<Announced>),
    /// How far the run is.
    Live(Snapshot),
    /// What was measured so far, as [`FromServer::Done`] would say it had the run ended.
    SoFar(Box<RunRecord>),
    /// Of a file that the run left, for the client to keep: a log, a state.
    File(FilePart),
    /// After the trigger was pulled: the client has all states.
    Kept,
    /// The command of the trigger has ended; how it failed, if it did.
    Triggered(Option<String>),
    /// The run has ended.
    Done(Box<RunRecord>),
    /// Still there.
    Alive,
}

impl FromClient {
    /// What kind of message it is, as traces name it.
    pub fn kind(&self) -> &'static str {
        match self {
            FromClient::Hello(_) => "PROBE",
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
    /// What kind of message it is, as traces name it.
    pub fn kind(&self) -> &'static str {
        match self {
            FromServer::Hello(..) => "PROBE",
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
