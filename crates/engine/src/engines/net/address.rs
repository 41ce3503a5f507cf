//! Addresses of sockets.

use plan::{Protocol, Socket};
use socket2::{Domain, SockAddr, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// VMADDR_CID_ANY.
const ANY_CID: u32 = u32::MAX;

/// An address and its kind of socket.
pub(super) struct Address {
    pub address: SockAddr,
    domain: Domain,
    kind: Type,
    /// The path of a UNIX socket.
    pub path: Option<String>,
}

impl Address {
    /// The address that `socket` connects to or listens at. Fails if the host name is unknown or has no
    /// address of the protocol.
    pub fn resolve(socket: &Socket) -> io::Result<Address> {
        let host = socket.host.as_deref();
        let (kind, domain) = match socket.protocol {
            Protocol::Tcp => (Type::STREAM, Domain::IPV4),
            Protocol::TcpV6 => (Type::STREAM, Domain::IPV6),
            Protocol::Udp => (Type::DGRAM, Domain::IPV4),
            Protocol::UdpV6 => (Type::DGRAM, Domain::IPV6),
            Protocol::Unix => (Type::STREAM, Domain::UNIX),
            Protocol::Vsock => (Type::STREAM, Domain::VSOCK),
        };
        let address = match socket.protocol {
            Protocol::Unix => SockAddr::unix(host.unwrap_or_default())?,
            Protocol::Vsock => {
                let cid = host.map_or(Ok(ANY_CID), str::parse).map_err(|_| {
                    io::Error::new(io::ErrorKind::InvalidInput, "expected a VSOCK CID, a number")
                })?;
                SockAddr::vsock(cid, socket.port.into())
            }
            _ => internet(host, socket.port, domain == Domain::IPV6)?.into(),
        };
        let path = host.filter(|_| domain == Domain::UNIX).map(str::to_owned);
        Ok(Address { address, domain, kind, path })
    }

    /// A socket of this kind with the worker's options.
    pub fn socket(&self, plan: &Socket) -> io::Result<socket2::Socket> {
        let socket = socket2::Socket::new(self.domain, self.kind, None)?;
        if plan.window > 0 {
            let bytes = usize::try_from(plan.window).unwrap_or(usize::MAX);
            socket.set_send_buffer_size(bytes)?;
            socket.set_recv_buffer_size(bytes)?;
        }
        let tcp = matches!(plan.protocol, Protocol::Tcp | Protocol::TcpV6);
        if tcp && plan.mss > 0 {
            socket.set_tcp_mss(plan.mss)?;
        }
        Ok(socket)
    }

    /// The address, if it is a multicast group.
    pub fn multicast_group(&self) -> Option<IpAddr> {
        self.address.as_socket().map(|a| a.ip()).filter(IpAddr::is_multicast)
    }
}

fn internet(host: Option<&str>, port: u16, six: bool) -> io::Result<SocketAddr> {
    let Some(host) = host else {
        let any: IpAddr =
            if six { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        return Ok((any, port).into());
    };
    let resolved = (host, port).to_socket_addrs()?.find(|address| address.is_ipv6() == six);
    let version = if six { "IPv6" } else { "IPv4" };
    resolved.ok_or_else(|| io::Error::other(format!("the host has no {version} address")))
}
