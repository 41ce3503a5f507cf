//! The connections of a client.

use crate::wire::{Reading, Stream};
use std::collections::VecDeque;
use std::ops::Range;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is being established.
    Connecting,
    /// The TLS handshake is in progress.
    Agreeing,
    /// It carries requests.
    Open,
}

/// One connection and the request on it.
pub struct Connection {
    /// Its stream.
    pub stream: Stream,
    /// Distinguishes it from earlier connections at this place in the pool.
    pub generation: u32,
    /// Its endpoint, and the index of its address at the endpoint.
    pub endpoint: usize,
    /// See [`Connection::endpoint`].
    pub address: usize,
    /// Number of addresses that were tried.
    pub tried: usize,
    /// Its phase.
    pub phase: Phase,
    /// The bucket before the endpoint's name in the host name of the TLS handshake.
    pub bucket: Option<String>,
    /// The slot whose request it carries or was started for.
    pub slot: Option<u32>,
    /// Number of requests it has carried.
    pub served: u64,
    /// Time at which bytes last moved or were expected to, and the traffic at that time.
    pub moved: u64,
    /// See [`Connection::moved`].
    pub traffic: u64,
    /// Whether its inactivity timer runs.
    pub armed: bool,
    /// Start of the attempt to connect, and start of the TLS handshake.
    pub connect_begin: u64,
    /// See [`Connection::connect_begin`].
    pub agree_begin: u64,
    /// Head of the request, and its body unless the body is content of the slot.
    pub head: Vec<u8>,
    /// Range of the slot's content that follows the head.
    pub content: Range<usize>,
    /// Bytes of both that were sent.
    pub sent: usize,
    /// Whether nothing is left to send.
    pub flushed: bool,
    /// The failure while sending. An answer may still have been received.
    pub broken: Option<crate::Failure>,
    /// The answer.
    pub reading: Option<Reading>,
}

impl Connection {
    /// Bytes of the whole request.
    pub fn due(&self) -> usize {
        self.head.len() + self.content.len()
    }
}

/// All connections.
pub struct Pool {
    places: Vec<Option<Connection>>,
    /// Places without a connection. The place that was freed first is reused first, so that all
    /// endpoints are tried in turn even if one is down.
    free: VecDeque<u32>,
    idle: VecDeque<u32>,
    generation: u32,
}

impl Pool {
    /// A pool of at most `most` connections.
    pub fn new(most: u32) -> Pool {
        Pool {
            places: (0..most).map(|_| None).collect(),
            free: (0..most).collect(),
            idle: VecDeque::new(),
            generation: 0,
        }
    }

    /// Number of connections.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Maximum number of connections.
    pub fn most(&self) -> usize {
        self.places.len()
    }

    /// Takes a free place.
    pub fn reserve(&mut self) -> Option<(u32, u32)> {
        let index = self.free.pop_front()?;
        self.generation = self.generation.wrapping_add(1);
        Some((index, self.generation))
    }

    /// Frees a place that received no connection.
    pub fn release(&mut self, index: u32) {
        self.free.push_back(index);
    }

    /// Puts a connection at the place that was reserved for it.
    pub fn put(&mut self, index: u32, connection: Connection) {
        self.places[index as usize] = Some(connection);
    }

    /// The connection at a place.
    pub fn get(&mut self, index: u32) -> Option<&mut Connection> {
        self.places.get_mut(index as usize)?.as_mut()
    }

    /// The connection at a place, if it is of this generation.
    pub fn same(&mut self, index: u32, generation: u32) -> Option<&mut Connection> {
        self.get(index).filter(|connection| connection.generation == generation)
    }

    /// Takes an idle connection.
    pub fn take_idle(&mut self) -> Option<u32> {
        self.idle.pop_front()
    }

    /// Takes the first idle connection that is `fit`.
    pub fn take_fit(&mut self, fit: impl Fn(&Connection) -> bool) -> Option<u32> {
        let is_fit = |index: &u32| self.places[*index as usize].as_ref().is_some_and(&fit);
        let position = self.idle.iter().position(is_fit)?;
        self.idle.remove(position)
    }

    /// Keeps a connection for another request.
    pub fn put_idle(&mut self, index: u32) {
        self.idle.push_back(index);
    }

    /// Removes a connection. Dropping it closes it.
    pub fn remove(&mut self, index: u32) -> Option<Connection> {
        let connection = self.places.get_mut(index as usize)?.take()?;
        if connection.slot.is_none() {
            self.idle.retain(|idle| *idle != index);
        }
        self.free.push_back(index);
        Some(connection)
    }

    /// Places of connections that are not open yet.
    pub fn unfinished(&self) -> Vec<u32> {
        let pending = |place: &Option<Connection>| {
            place.as_ref().is_some_and(|connection| connection.phase != Phase::Open)
        };
        (0..)
            .zip(&self.places)
            .filter(|(_, place)| pending(place))
            .map(|(index, _)| index)
            .collect()
    }
}
