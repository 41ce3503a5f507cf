//! UDP messages. Sequence numbers show which were lost.
//!
//! The protocol is fio's, as observed on the wire: eight bytes before the first message and after the
//! last, and a trailer of 24 bytes in each message that is long enough: a constant, the sequence
//! number and the length, each as 64 bits, little-endian. fio sends the closing word in the sender's
//! byte order, so both orders are accepted.

use super::address::Address;
use super::wait::{CHECK_INTERVAL, TransferError, Transferred, check_retry};
use crate::engines::WaitLimit;
use plan::Socket as Plan;
use socket2::Socket;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// "link", opening.
const OPEN: [u8; 8] = [b'l', b'i', b'n', b'k', 0, 0, 0, 0x98];
/// "link", closing.
const CLOSE: [u8; 8] = [b'k', b'n', b'i', b'l', 0x89, 0, 0, 0];
const CLOSE_SWAPPED: [u8; 8] = [b'l', b'i', b'n', b'k', 0, 0, 0, 0x89];
/// The first eight bytes of a trailer.
const TRAILER_MAGIC: &[u8; 8] = b"ceUnuqse";
const TRAILER_LENGTH: usize = 24;
/// How often the closing word is sent, since it may be lost.
const CLOSE_REPEATS: u32 = 3;
const CLOSE_INTERVAL: Duration = Duration::from_millis(5);

/// One side of the exchange.
pub(super) struct Datagrams {
    socket: UdpSocket,
    /// The receiver of messages: the given host, or the sender of the last message.
    peer: Option<SocketAddr>,
    sent: u64,
    expected: u64,
    received: u64,
    lost: u64,
}

impl Datagrams {
    fn new(socket: Socket, peer: Option<SocketAddr>) -> io::Result<Datagrams> {
        socket.set_read_timeout(Some(CHECK_INTERVAL))?;
        socket.set_write_timeout(Some(CHECK_INTERVAL))?;
        Ok(Datagrams { socket: socket.into(), peer, sent: 0, expected: 0, received: 0, lost: 0 })
    }

    /// A receiver. It joins the group if `address` is a multicast group.
    pub fn bind(plan: &Plan, address: &Address) -> io::Result<Datagrams> {
        let socket = address.socket(plan)?;
        let group = address.multicast_group();
        if group.is_some() {
            // All members on this machine bind to the group's port.
            socket.set_reuse_address(true)?;
        }
        socket.bind(&address.address)?;
        match group {
            Some(IpAddr::V4(group)) => {
                socket.join_multicast_v4(&group, &interface(plan)?.unwrap_or(Ipv4Addr::UNSPECIFIED))
            }
            Some(IpAddr::V6(group)) => socket.join_multicast_v6(&group, 0),
            None => Ok(()),
        }?;
        Datagrams::new(socket, None)
    }

    /// A sender to `address`. It sends the opening word.
    pub fn connect(plan: &Plan, address: &Address) -> io::Result<Datagrams> {
        let socket = address.socket(plan)?;
        match address.multicast_group() {
            Some(IpAddr::V4(_)) => {
                socket.set_multicast_ttl_v4(plan.ttl)?;
                if let Some(interface) = interface(plan)? {
                    socket.set_multicast_if_v4(&interface)?;
                }
            }
            Some(IpAddr::V6(_)) => socket.set_multicast_hops_v6(plan.ttl)?,
            None => {}
        }
        let datagrams = Datagrams::new(socket, address.address.as_socket())?;
        datagrams.send_word(&OPEN)?;
        Ok(datagrams)
    }

    fn send_word(&self, word: &[u8; 8]) -> io::Result<()> {
        match self.peer {
            Some(peer) => self.socket.send_to(word, peer).map(drop),
            None => Ok(()),
        }
    }

    /// Waits for the opening word, or for the first message if that word was lost.
    pub fn await_open(&mut self, limit: &WaitLimit) -> Result<(), TransferError> {
        let mut head = [0; 9];
        loop {
            match self.socket.peek_from(&mut head) {
                Ok((length, _)) => match word(&head[..length]) {
                    Some(Word::Open) => {
                        self.socket.recv_from(&mut head)?;
                        return Ok(());
                    }
                    // An earlier sender may have sent it.
                    Some(Word::Close) => drop(self.socket.recv_from(&mut head)?),
                    None => return Ok(()),
                },
                Err(error) => check_retry(error, limit)?,
            }
        }
    }

    /// Sends one message.
    pub fn send(&mut self, buffer: &mut [u8], limit: &WaitLimit) -> Transferred {
        let length = buffer.len();
        if let Some(start) = length.checked_sub(TRAILER_LENGTH) {
            let trailer = &mut buffer[start..];
            trailer[..8].copy_from_slice(TRAILER_MAGIC);
            trailer[8..16].copy_from_slice(&self.sent.to_le_bytes());
            trailer[16..].copy_from_slice(&(length as u64).to_le_bytes());
        }
        let Some(peer) = self.peer else { return Err(TransferError::Closed) };
        loop {
            match self.socket.send_to(buffer, peer) {
                Ok(moved) => {
                    self.sent += 1;
                    return Ok(moved);
                }
                Err(error) => check_retry(error, limit)?,
            }
        }
    }

    /// Receives one message. Fails with ETIMEDOUT after `timeout`.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        limit: &WaitLimit,
        timeout: Option<Duration>,
    ) -> Transferred {
        let started = Instant::now();
        loop {
            match self.socket.recv_from(buffer) {
                Ok((length, from)) => match word(&buffer[..length]) {
                    Some(Word::Close) => return Err(TransferError::Closed),
                    Some(Word::Open) => {}
                    None => {
                        self.count_message(&buffer[..length]);
                        self.peer = self.peer.filter(|_| timeout.is_some()).or(Some(from));
                        return Ok(length);
                    }
                },
                Err(error) => check_retry(error, limit)?,
            }
            if timeout.is_some_and(|timeout| started.elapsed() > timeout) {
                return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT).into());
            }
        }
    }

    /// Counts a received message, and the messages missing before it.
    fn count_message(&mut self, message: &[u8]) {
        self.received += 1;
        let trailer = message.len().checked_sub(TRAILER_LENGTH).map(|start| &message[start..]);
        let Some(number) = trailer.filter(|n| n[..8] == *TRAILER_MAGIC).map(|n| &n[8..16]) else {
            return;
        };
        let mut bytes = [0; 8];
        bytes.copy_from_slice(number);
        let number = u64::from_le_bytes(bytes);
        if number < self.expected {
            // It arrived out of order and was counted as lost.
            self.lost = self.lost.saturating_sub(1);
        } else {
            self.lost += number - self.expected;
            self.expected = number.saturating_add(1);
        }
    }

    /// Sends the closing word.
    pub fn close(&self) {
        for repeat in 0..CLOSE_REPEATS {
            if repeat > 0 {
                std::thread::sleep(CLOSE_INTERVAL);
            }
            // The receiver may have ended already.
            let _ = self.send_word(&CLOSE);
        }
    }

    /// A note for the user if messages were lost.
    pub fn loss_message(&self) -> Option<String> {
        let all = self.received + self.lost;
        (self.lost > 0).then(|| format!("{} of {all} messages were lost", self.lost))
    }
}

/// A message of the protocol itself.
enum Word {
    Open,
    Close,
}

fn word(message: &[u8]) -> Option<Word> {
    match message {
        _ if message == OPEN => Some(Word::Open),
        _ if message == CLOSE || message == CLOSE_SWAPPED => Some(Word::Close),
        _ => None,
    }
}

fn interface(plan: &Plan) -> io::Result<Option<Ipv4Addr>> {
    let parsed = plan.interface.as_deref().map(str::parse).transpose();
    parsed.map_err(|_| io::Error::other("interface= needs the address of a local interface"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Datagrams, Datagrams) {
        let plan = |host: Option<&str>, port| Plan {
            protocol: plan::Protocol::Udp,
            host: host.map(str::to_owned),
            port,
            ..Plan::default()
        };
        let waiting = plan(Some("127.0.0.1"), 0);
        let reader = Datagrams::bind(&waiting, &Address::resolve(&waiting).unwrap()).unwrap();
        let port = reader.socket.local_addr().unwrap().port();
        let sending = plan(Some("127.0.0.1"), port);
        let writer = Datagrams::connect(&sending, &Address::resolve(&sending).unwrap()).unwrap();
        (reader, writer)
    }

    #[test]
    fn lost_messages_are_counted() {
        let (mut reader, mut writer) = pair();
        let limit = WaitLimit::default();
        let mut message = [7; 64];
        assert!(reader.await_open(&limit).is_ok());
        for number in [0, 1, 4, 3, 5, 9] {
            writer.sent = number;
            assert!(matches!(writer.send(&mut message, &limit), Ok(64)));
            assert!(matches!(reader.receive(&mut message, &limit, None), Ok(64)));
        }
        assert_eq!(reader.loss_message().as_deref(), Some("4 of 10 messages were lost"));
        writer.close();
        assert!(matches!(reader.receive(&mut message, &limit, None), Err(TransferError::Closed)));
    }

    #[test]
    fn a_first_message_replaces_a_lost_opening_word_and_is_kept() {
        let (mut reader, mut writer) = pair();
        let limit = WaitLimit::default();
        let mut word = [0; 8];
        reader.socket.recv_from(&mut word).unwrap();
        assert_eq!(word, OPEN);
        let mut message = [1; 30];
        assert!(matches!(writer.send(&mut message, &limit), Ok(30)));
        assert!(reader.await_open(&limit).is_ok());
        assert!(matches!(reader.receive(&mut message, &limit, None), Ok(30)));
    }
}
