//! Messages of UDP. Some may be lost; their numbers tell.
//!
//! What passes beside the data is what fio's own end sends and understands, read off its messages:
//! eight bytes before the first message and after the last, and 24 bytes at the end of each message
//! that is long enough for them: a constant, its number, and its length, each of 64 bits, least byte
//! first. The word of the end is in the sender's byte order in fio, so both are understood.

use super::address::Address;
use super::wait::{CHECK_INTERVAL, TransferError, Transferred, check_retry};
use crate::engines::WaitLimit;
use plan::Socket as Plan;
use socket2::Socket;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// "link", and that it opens.
const OPEN: [u8; 8] = [b'l', b'i', b'n', b'k', 0, 0, 0, 0x98];
/// "link", and that it closes.
const CLOSE: [u8; 8] = [b'k', b'n', b'i', b'l', 0x89, 0, 0, 0];
const CLOSE_TURNED: [u8; 8] = [b'l', b'i', b'n', b'k', 0, 0, 0, 0x89];
/// What the numbers of a message begin with.
const NUMBERED: &[u8; 8] = b"ceUnuqse";
const NUMBERS: usize = 24;
/// How often the end is told: the message may be lost like any other.
const ENDS: u32 = 3;
const BETWEEN_ENDS: Duration = Duration::from_millis(5);

/// One end.
pub(super) struct Datagrams {
    socket: UdpSocket,
    /// Where messages go: the host named, or whoever sent the last one.
    to: Option<SocketAddr>,
    sent: u64,
    expected: u64,
    received: u64,
    lost: u64,
}

impl Datagrams {
    fn new(socket: Socket, to: Option<SocketAddr>) -> io::Result<Datagrams> {
        socket.set_read_timeout(Some(CHECK_INTERVAL))?;
        socket.set_write_timeout(Some(CHECK_INTERVAL))?;
        Ok(Datagrams { socket: socket.into(), to, sent: 0, expected: 0, received: 0, lost: 0 })
    }

    /// One that waits for messages, as a member of the group that `address` may stand for.
    ///
    /// # Errors
    /// The port is in use, the group cannot be joined.
    pub fn bound(plan: &Plan, address: &Address) -> io::Result<Datagrams> {
        let socket = address.socket(plan)?;
        let group = address.group();
        if group.is_some() {
            // Every member on this machine binds to the group's port.
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

    /// One that sends to `address`, and says so there.
    ///
    /// # Errors
    /// There is no way to it.
    pub fn towards(plan: &Plan, address: &Address) -> io::Result<Datagrams> {
        let socket = address.socket(plan)?;
        match address.group() {
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
        datagrams.tell(&OPEN)?;
        Ok(datagrams)
    }

    fn tell(&self, word: &[u8; 8]) -> io::Result<()> {
        match self.to {
            Some(to) => self.socket.send_to(word, to).map(drop),
            None => Ok(()),
        }
    }

    /// Waits until the other side begins: by saying so, or by its first message if that was lost.
    pub fn await_open(&mut self, limit: &WaitLimit) -> Result<(), TransferError> {
        let mut head = [0; 9];
        loop {
            match self.socket.peek_from(&mut head) {
                Ok((length, _)) => match word(&head[..length]) {
                    Some(Word::Open) => {
                        self.socket.recv_from(&mut head)?;
                        return Ok(());
                    }
                    // Left from a sender before this one.
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
        if let Some(place) = length.checked_sub(NUMBERS) {
            let numbers = &mut buffer[place..];
            numbers[..8].copy_from_slice(NUMBERED);
            numbers[8..16].copy_from_slice(&self.sent.to_le_bytes());
            numbers[16..].copy_from_slice(&(length as u64).to_le_bytes());
        }
        let Some(to) = self.to else { return Err(TransferError::Closed) };
        loop {
            match self.socket.send_to(buffer, to) {
                Ok(moved) => {
                    self.sent += 1;
                    return Ok(moved);
                }
                Err(error) => check_retry(error, limit)?,
            }
        }
    }

    /// Receives one message, for no longer than `patience`.
    pub fn receive(
        &mut self,
        buffer: &mut [u8],
        limit: &WaitLimit,
        patience: Option<Duration>,
    ) -> Transferred {
        let begun = Instant::now();
        loop {
            match self.socket.recv_from(buffer) {
                Ok((length, from)) => match word(&buffer[..length]) {
                    Some(Word::Close) => return Err(TransferError::Closed),
                    Some(Word::Open) => {}
                    None => {
                        self.note(&buffer[..length]);
                        self.to = self.to.filter(|_| patience.is_some()).or(Some(from));
                        return Ok(length);
                    }
                },
                Err(error) => check_retry(error, limit)?,
            }
            if patience.is_some_and(|patience| begun.elapsed() > patience) {
                return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT).into());
            }
        }
    }

    /// Looks at the number of a message that came.
    fn note(&mut self, message: &[u8]) {
        self.received += 1;
        let numbers = message.len().checked_sub(NUMBERS).map(|place| &message[place..]);
        let Some(number) = numbers.filter(|n| n[..8] == *NUMBERED).map(|n| &n[8..16]) else {
            return;
        };
        let mut bytes = [0; 8];
        bytes.copy_from_slice(number);
        let number = u64::from_le_bytes(bytes);
        if number < self.expected {
            // It is late, and was taken for lost.
            self.lost = self.lost.saturating_sub(1);
        } else {
            self.lost += number - self.expected;
            self.expected = number.saturating_add(1);
        }
    }

    /// Says that nothing more comes.
    pub fn tell_end(&self) {
        for turn in 0..ENDS {
            if turn > 0 {
                std::thread::sleep(BETWEEN_ENDS);
            }
            // Whoever is not there any more need not know.
            let _ = self.tell(&CLOSE);
        }
    }

    /// What got lost, as a sentence.
    pub fn losses(&self) -> Option<String> {
        let all = self.received + self.lost;
        (self.lost > 0).then(|| format!("{} of {all} messages were lost", self.lost))
    }
}

/// What passes beside the data.
enum Word {
    Open,
    Close,
}

fn word(message: &[u8]) -> Option<Word> {
    match message {
        _ if message == OPEN => Some(Word::Open),
        _ if message == CLOSE || message == CLOSE_TURNED => Some(Word::Close),
        _ => None,
    }
}

fn interface(plan: &Plan) -> io::Result<Option<Ipv4Addr>> {
    let parsed = plan.interface.as_deref().map(str::parse).transpose();
    parsed.map_err(|_| io::Error::other("interface= takes the address of a local interface"))
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
        let reader = Datagrams::bound(&waiting, &Address::of(&waiting).unwrap()).unwrap();
        let port = reader.socket.local_addr().unwrap().port();
        let sending = plan(Some("127.0.0.1"), port);
        let writer = Datagrams::towards(&sending, &Address::of(&sending).unwrap()).unwrap();
        (reader, writer)
    }

    #[test]
    fn messages_that_do_not_arrive_are_counted() {
        let (mut reader, mut writer) = pair();
        let limit = WaitLimit::default();
        let mut message = [7; 64];
        assert!(reader.await_open(&limit).is_ok());
        for number in [0, 1, 4, 3, 5, 9] {
            writer.sent = number;
            assert!(matches!(writer.send(&mut message, &limit), Ok(64)));
            assert!(matches!(reader.receive(&mut message, &limit, None), Ok(64)));
        }
        assert_eq!(reader.losses().as_deref(), Some("4 of 10 messages were lost"));
        writer.tell_end();
        assert!(matches!(reader.receive(&mut message, &limit, None), Err(TransferError::Closed)));
    }

    #[test]
    fn a_message_stands_for_an_opening_that_was_lost_and_stays() {
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
