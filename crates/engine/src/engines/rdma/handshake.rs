//! The messages between both sides of a connection. The protocol is fathom's own: fio's rdma engine does
//! not speak it.

use plan::RdmaVerb;

const MAGIC: [u8; 4] = *b"FTH1";

/// What the connecting side asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its verb.
    pub verb: RdmaVerb,
    /// Its I/Os in flight.
    pub depth: u32,
    /// Its block size, in bytes.
    pub block: u64,
}

/// The answer of the listening side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Its I/Os in flight.
    pub depth: u32,
    /// Its block size, in bytes.
    pub block: u64,
    /// Address of its buffers.
    pub address: u64,
    /// Bytes from one buffer to the next.
    pub stride: u64,
    /// Key of its memory.
    pub key: u32,
}

impl Request {
    /// As private data of the connection.
    pub fn encode(&self) -> Vec<u8> {
        let mut data = MAGIC.to_vec();
        data.extend((self.verb as u32).to_be_bytes());
        data.extend(self.depth.to_be_bytes());
        data.extend(self.block.to_be_bytes());
        data
    }

    /// `None` if the other side does not speak this protocol. Zeros may follow.
    pub fn decode(data: &[u8]) -> Option<Request> {
        let mut words = words(data)?;
        let verb = match words.next()? {
            0 => RdmaVerb::Write,
            1 => RdmaVerb::Read,
            2 => RdmaVerb::Send,
            3 => RdmaVerb::Recv,
            _ => return None,
        };
        let depth = words.next()?;
        Some(Request { verb, depth, block: long(&mut words)? })
    }
}

impl Answer {
    /// As private data of the connection.
    pub fn encode(&self) -> Vec<u8> {
        let mut data = MAGIC.to_vec();
        data.extend(self.depth.to_be_bytes());
        data.extend(self.block.to_be_bytes());
        data.extend(self.address.to_be_bytes());
        data.extend(self.stride.to_be_bytes());
        data.extend(self.key.to_be_bytes());
        data
    }

    /// As [`Request::decode`].
    pub fn decode(data: &[u8]) -> Option<Answer> {
        let mut words = words(data)?;
        Some(Answer {
            depth: words.next()?,
            block: long(&mut words)?,
            address: long(&mut words)?,
            stride: long(&mut words)?,
            key: words.next()?,
        })
    }
}

fn words(data: &[u8]) -> Option<impl Iterator<Item = u32> + '_> {
    let rest = data.strip_prefix(&MAGIC)?;
    Some(rest.chunks_exact(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]])))
}

fn long(words: &mut impl Iterator<Item = u32>) -> Option<u64> {
    Some(u64::from(words.next()?) << 32 | u64::from(words.next()?))
}

/// A control message. It is sent as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The number of buffers that hold data to read, or may be written.
    Ready(u32),
    /// The number of receives that were posted.
    Credit(u32),
    /// The number of RDMA reads or writes that have ended.
    Ended(u32),
}

/// The largest value of a control message.
pub const VALUE_MAX: u32 = (1 << 24) - 1;

impl Control {
    /// The message as a number.
    pub fn number(self) -> u32 {
        let (kind, value) = match self {
            Control::Ready(value) => (1, value),
            Control::Credit(value) => (2, value),
            Control::Ended(value) => (3, value),
        };
        kind << 24 | value.min(VALUE_MAX)
    }

    /// The message in a number; `None` if it is none.
    pub fn from_number(number: u32) -> Option<Control> {
        let value = number & VALUE_MAX;
        match number >> 24 {
            1 => Some(Control::Ready(value)),
            2 => Some(Control::Credit(value)),
            3 => Some(Control::Ended(value)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_understand_each_other() {
        for verb in [RdmaVerb::Write, RdmaVerb::Read, RdmaVerb::Send, RdmaVerb::Recv] {
            let request = Request { verb, depth: 16, block: 5 << 32 };
            let mut data = request.encode();
            assert!(data.len() <= 56, "room that a connection by TCP ports has");
            data.resize(56, 0);
            assert_eq!(Request::decode(&data), Some(request));
        }
        let answer = Answer { depth: 1, block: 4096, address: 1 << 40, stride: 4096, key: 7 };
        assert_eq!(Answer::decode(&answer.encode()), Some(answer));
        assert_eq!(Answer::decode(b"FTH1"), None);
        assert_eq!(Request::decode(&[0; 56]), None);
        assert_eq!(Request::decode(b""), None);
    }

    #[test]
    fn a_number_says_what_it_was_made_of() {
        for control in [Control::Ready(16), Control::Credit(1), Control::Ended(VALUE_MAX)] {
            assert_eq!(Control::from_number(control.number()), Some(control));
        }
        assert_eq!(Control::from_number(0), None);
    }
}
