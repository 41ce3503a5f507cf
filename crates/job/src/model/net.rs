//! What the network engines connect to, as typed.

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
}

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
    /// Every protocol with its name.
    const NAMES: [(Protocol, &str); 6] = [
        (Protocol::Tcp, "tcp"),
        (Protocol::TcpV6, "tcpv6"),
        (Protocol::Udp, "udp"),
        (Protocol::UdpV6, "udpv6"),
        (Protocol::Unix, "unix"),
        (Protocol::Vsock, "vsock"),
    ];

    /// The protocol of this name; TCP for any other.
    pub fn named(name: &str) -> Protocol {
        Self::NAMES.iter().find(|(_, known)| *known == name).map_or(Protocol::Tcp, |(p, _)| *p)
    }

    /// fio's name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Single messages, each sent and received as a whole, or not at all.
    pub const fn is_udp(self) -> bool {
        matches!(self, Protocol::Udp | Protocol::UdpV6)
    }
}
