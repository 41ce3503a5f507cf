//! What the network engines connect to, as typed.

use super::named::named;

/// Options of `net` and `netsplice`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// `protocol`.
    pub protocol: Protocol,
    /// `hostname`.
    pub hostname: Option<String>,
    /// `port`.
    pub port: Option<u16>,
    /// `listen`.
    pub listens: bool,
    /// `pingpong`.
    pub pingpong: bool,
    /// `nodelay`.
    pub nodelay: bool,
    /// `interface`.
    pub interface: Option<String>,
    /// `ttl`; `None`: 1.
    pub ttl: Option<u64>,
    /// `window_size`, in bytes; 0: the system's.
    pub window: u64,
    /// `mss`, in bytes; 0: the system's.
    pub mss: u64,
    /// `bindname`.
    pub bind: Option<String>,
    /// `verb`.
    pub verb: RdmaVerb,
}

/// `verb`: what the connecting side of the rdma engine does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RdmaVerb {
    /// Writes memory of the other side.
    #[default]
    Write,
    /// Reads it.
    Read,
    /// Sends messages.
    Send,
    /// Receives them.
    Recv,
}

named!(RdmaVerb: Write "write", Read "read", Send "send", Recv "recv");

/// `protocol`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP over IPv4.
    #[default]
    Tcp,
    /// TCP over IPv6.
    TcpV6,
    /// UDP over IPv4.
    Udp,
    /// UDP over IPv6.
    UdpV6,
    /// A UNIX stream socket.
    Unix,
    /// A stream between a host and its guests.
    Vsock,
}

impl Protocol {
    /// Single messages, each sent and received as a whole, or not at all.
    pub const fn is_udp(self) -> bool {
        matches!(self, Protocol::Udp | Protocol::UdpV6)
    }
}

named!(Protocol: Tcp "tcp", TcpV6 "tcpv6", Udp "udp", UdpV6 "udpv6", Unix "unix", Vsock "vsock");
