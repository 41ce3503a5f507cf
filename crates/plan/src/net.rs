//! Sockets of the network engines.

use crate::model::{RdmaUse, Socket};
use crate::problem::Diagnostics;
use job::{Engine, Job, Medium, Protocol, ReadWrite};

/// Largest message of UDP over IPv4, in bytes.
const MESSAGE_MAX: u64 = 65_507;

/// Whether an address is a multicast group.
fn is_multicast(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_multicast())
}

fn is_reader(job: &Job) -> bool {
    matches!(job.pattern.rw, ReadWrite::Read)
}

/// The socket of a clone; `None` for other engines. Oracle: each clone has its own port. With UDP
/// and UNIX sockets, the reader waits for the writer.
pub(crate) fn socket(job: &Job, clone: u64) -> Option<Socket> {
    if job.queue.engine.medium() != Medium::Socket {
        return None;
    }
    let net = &job.queue.options.net;
    let unix = net.protocol == Protocol::Unix;
    let is_rdma = job.queue.engine == Engine::Rdma;
    let path = job.target.filenames.first().filter(|_| unix);
    let reads = is_reader(job);
    Some(Socket {
        protocol: net.protocol,
        host: path.or(net.hostname.as_ref()).cloned(),
        port: net.port.unwrap_or(0).saturating_add(u16::try_from(clone).unwrap_or(u16::MAX)),
        waits: is_rdma && net.hostname.is_none()
            || net.listens
            || reads && (unix || net.protocol.is_udp()),
        pingpong: net.pingpong,
        nodelay: net.nodelay,
        interface: net.interface.clone(),
        ttl: u32::try_from(net.ttl.unwrap_or(1)).unwrap_or(u32::MAX),
        window: net.window,
        mss: u32::try_from(net.mss).unwrap_or(u32::MAX),
        splices: job.queue.engine == Engine::Netsplice,
        rdma: is_rdma.then(|| RdmaUse { verb: net.verb, bind: net.bind.clone() }),
    })
}

/// Checks the options of a connection.
pub(crate) fn check(job: &Job, (smallest, largest): (u64, u64), diagnostics: &mut Diagnostics) {
    let Some(socket) = socket(job, crate::names::clones(job).saturating_sub(1)) else { return };
    let name = socket.protocol.name();
    let rw = job.pattern.rw;
    if !matches!(rw, ReadWrite::Read | ReadWrite::Write) {
        let what = format!("rw={} over a network", rw.name());
        diagnostics.usage(job, "rw", what, "data goes one way in sequence: give read or write");
    }
    if socket.rdma.is_some() && smallest != largest {
        let what = format!("blocks of {smallest} to {largest} bytes");
        let cure = "give one bs: each side must know how long the blocks of the other are";
        diagnostics.usage(job, "bs", what, cure);
    }
    if socket.splices && socket.protocol.is_udp() {
        let what = format!("netsplice over {name}");
        diagnostics.usage(job, "protocol", what, "take tcp or unix, or ioengine=net");
    }
    if socket.protocol.is_udp() && largest > MESSAGE_MAX {
        let what = format!("a block of {largest} bytes, a message holds {MESSAGE_MAX}");
        diagnostics.usage(job, "bs", what, "lower it");
    }
    check_port(job, &socket, diagnostics);
    check_host(job, &socket, diagnostics);
}

fn check_port(job: &Job, socket: &Socket, diagnostics: &mut Diagnostics) {
    let name = if socket.rdma.is_some() { "rdma" } else { socket.protocol.name() };
    let clones = crate::names::clones(job);
    match (socket.protocol, job.queue.options.net.port) {
        (Protocol::Unix, Some(port)) => {
            let what = format!("port {port} of a UNIX socket");
            diagnostics.usage(job, "port", what, "leave it out: filename says where it is");
        }
        (Protocol::Unix, None) => {}
        (_, None) => {
            diagnostics.usage(job, "port", format!("{name} needs a port"), "give 1 to 65535");
        }
        (_, Some(port)) if u64::from(port) + clones > 65_536 => {
            let what = format!("{clones} clones take as many ports from {port} on");
            diagnostics.usage(job, "port", what, "lower it, or numjobs");
        }
        _ => {}
    }
}

fn check_host(job: &Job, socket: &Socket, diagnostics: &mut Diagnostics) {
    let name = socket.protocol.name();
    let (udp, listens) = (socket.protocol.is_udp(), job.queue.options.net.listens);
    if listens && udp {
        let what = format!("listening for connections, which {name} does not have");
        diagnostics.usage(job, "listen", what, "leave it out: the reader waits for messages");
    }
    if let (Protocol::UdpV6, Some(interface)) = (socket.protocol, &socket.interface) {
        let what = format!("interface={interface} with {name}");
        diagnostics.usage(job, "interface", what, "leave it out: it is an address of IPv4");
    }
    match &socket.host {
        None if socket.protocol == Protocol::Unix => {
            let what = "a UNIX socket without a path".to_owned();
            diagnostics.usage(job, "filename", what, "give the same path to both sides");
        }
        None if !socket.waits => {
            let cure = "give the host to connect to, or listen on this side";
            diagnostics.usage(job, "hostname", "no host to connect to".to_owned(), cure);
        }
        Some(host)
            if socket.waits
                && socket.protocol != Protocol::Unix
                && !(udp && is_multicast(host)) =>
        {
            let what = format!("hostname={host} on the side that waits for the other");
            diagnostics.usage(
                job,
                "hostname",
                what,
                "leave it out, or name a multicast group for udp",
            );
        }
        _ => {}
    }
}
