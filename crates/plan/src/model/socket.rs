//! One end of a connection.

use job::{Protocol, RdmaVerb};

/// A worker's end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Socket {
    /// The protocol.
    pub protocol: Protocol,
    /// Host to connect to, or multicast group; the path of a UNIX socket.
    pub host: Option<String>,
    /// Port to listen on or connect to; 0 for UNIX sockets.
    pub port: u16,
    /// Whether it waits for the other side: it listens or binds.
    pub waits: bool,
    /// Whether each block is answered.
    pub pingpong: bool,
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// Address of the interface for multicast.
    pub interface: Option<String>,
    /// Time to live of multicast.
    pub ttl: u32,
    /// Bytes of the socket's buffers; 0 for the default of the system.
    pub window: u64,
    /// Maximum segment size of TCP, in bytes; 0 for the default of the system.
    pub mss: u32,
    /// Whether data is sent with splice and vmsplice.
    pub splices: bool,
    /// What only RDMA has; `None` for sockets.
    pub rdma: Option<RdmaUse>,
}

/// How a worker uses RDMA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RdmaUse {
    /// The verb, if this side connects.
    pub verb: RdmaVerb,
    /// Name or address of the local device.
    pub bind: Option<String>,
}

impl Socket {
    /// Its name in messages: "tcp:127.0.0.1:8888", "unix:/tmp/socket".
    pub fn label(&self) -> String {
        let protocol = if self.rdma.is_some() { "rdma" } else { self.protocol.name() };
        match (&self.host, self.protocol) {
            (Some(path), Protocol::Unix) => format!("{protocol}:{path}"),
            (Some(host), _) => format!("{protocol}:{host}:{}", self.port),
            (None, _) => format!("{protocol}:*:{}", self.port),
        }
    }
}
