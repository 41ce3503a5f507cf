//! What limits a job, and how sure that is.

use crate::finding::Figure;
use record::Sentence;

/// What limited a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// The storage device, its queue or its medium.
    Device,
    /// Another process on the same storage device.
    Neighbour,
    /// The processors.
    Cpu,
    /// Memory: the page cache served the I/O.
    Cache,
    /// The load generator itself: filling buffers, verifying, keeping a schedule.
    Client,
    /// A limit that somebody set: control group, cloud quota, heat.
    Throttle,
    /// The server, or the network to it.
    Server,
    /// The link of a network interface of this host is full.
    Network,
    /// The rate the job asks for.
    Rate,
    /// The evidence does not decide it.
    Unknown,
}

impl Limit {
    const ALL: [Limit; 10] = [
        Limit::Device,
        Limit::Neighbour,
        Limit::Cpu,
        Limit::Cache,
        Limit::Client,
        Limit::Throttle,
        Limit::Server,
        Limit::Network,
        Limit::Rate,
        Limit::Unknown,
    ];

    /// The limit with this name; [`Limit::Unknown`] if none has it.
    pub fn of_name(name: &str) -> Limit {
        Limit::ALL.into_iter().find(|limit| limit.name() == name).unwrap_or(Limit::Unknown)
    }

    /// As it is printed: "device", "CPU" …
    pub fn name(self) -> &'static str {
        match self {
            Limit::Device => "device",
            Limit::Neighbour => "neighbour",
            Limit::Cpu => "CPU",
            Limit::Cache => "cache",
            Limit::Client => "client",
            Limit::Throttle => "throttle",
            Limit::Server => "server",
            Limit::Network => "network",
            Limit::Rate => "rate",
            Limit::Unknown => "unknown",
        }
    }
}

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// One indicator, or indicators that disagree.
    Low,
    /// The indicators agree, but a deciding one is missing.
    Medium,
    /// The deciding figures are there and clear.
    High,
}

impl Confidence {
    /// The confidence with this name; low if none has it.
    pub fn of_name(name: &str) -> Confidence {
        let all = [Confidence::Medium, Confidence::High];
        all.into_iter().find(|confidence| confidence.name() == name).unwrap_or(Confidence::Low)
    }

    /// As it is printed: "low", "medium", "high".
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// The verdict on one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The job.
    pub job: String,
    /// What limited it.
    pub limit: Limit,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why, in one sentence with the deciding figures.
    pub because: Sentence,
    /// The two or three figures that decide it.
    pub figures: Vec<Figure>,
    /// For what the figure is valid, in one sentence.
    pub valid_for: String,
}
