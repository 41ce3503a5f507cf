//! What the network of a host did during a run that used it.

use crate::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The network during a run whose data is on other machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkUse {
    /// The time between both readings.
    pub window: Nanos,
    /// Interfaces that moved data, the busiest first, without loopback.
    pub interfaces: Vec<InterfaceUse>,
    /// TCP segments that this host sent, repeated ones included.
    pub segments: u64,
    /// TCP segments that it sent again.
    pub segments_again: u64,
    /// The NFS mounts of the run.
    pub nfs: Vec<NfsUse>,
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceUse {
    /// Its name.
    pub name: String,
    /// Speed of its link in bytes a second; `None` if it has none (virtual interfaces, radio).
    pub speed: Option<Bytes>,
    /// Bytes received.
    pub received: Bytes,
    /// Bytes sent.
    pub sent: Bytes,
    /// Packets that it dropped or that had errors, in both directions.
    pub lost: u64,
}

/// One NFS mount, over all its calls of READ, WRITE and COMMIT (RFC 8881).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NfsUse {
    /// Where it is mounted.
    pub mount_point: String,
    /// The server and its path ("nas:/export").
    pub source: String,
    /// Calls.
    pub calls: u64,
    /// Calls that were sent again.
    pub again: u64,
    /// Time that calls waited on this host until they were sent, together.
    pub queued: Nanos,
    /// Time from sending to the answer, together.
    pub answered: Nanos,
}

impl InterfaceUse {
    /// The busier direction, as a share of the link's speed; `None` if that is not known.
    pub fn load(&self, window: Nanos) -> Option<f64> {
        let speed = self.speed.filter(|speed| speed.0 > 0)?.0 as f64;
        let busier = self.received.max(self.sent).0 as f64;
        (window.0 > 0).then(|| busier / window.seconds() / speed)
    }
}
