//! The connections of a client.

use crate::wire::{Reading, Stream};
use std::collections::VecDeque;
use std::ops::Range;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It was asked for.
    Connecting,
    /// Keys are being agreed on.
    Agreeing,
    /// It carries requests.
    Open,
}

/// One connection and the request on it.
pub struct Connection {
    /// Its bytes.
    pub stream: Stream,
    /// Which one of those that had this place in the pool.
    pub generation: u32,
    /// Where it goes to, and to which of the addresses there.
    pub endpoint: usize,
    /// See [`Connection::endpoint`].
    pub address: usize,
    /// Addresses that were tried.
    pub tried: usize,
    /// How far it is.
    pub phase: Phase,
    /// The bucket in front of the endpoint's name in that of the host which it is encrypted for.
    pub bucket: Option<String>,
    /// Whose request it carries, or is made for.
    pub slot: Option<u32>,
    /// Requests it has carried.
    pub served: u64,
    /// When bytes last moved, or were to, and how many had by then.
    pub moved: u64,
    /// See [`Connection::moved`].
    pub traffic: u64,
    /// Whether a timer looks after it.
    pub armed: bool,
    /// When the attempt to connect began, and the one to agree on keys.
    pub connect_begin: u64,
    /// See [`Connection::connect_begin`].
    pub agree_begin: u64,
    /// The request's head, and its body where that is not content.
    pub head: Vec<u8>,
    /// What of the slot's content goes behind it.
    pub content: Range<usize>,
    /// Bytes of both that are on their way.
    pub sent: usize,
    /// Whether nothing is left to send.
    pub flushed: bool,
    /// What broke it while it sent; an answer may still have come.
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

/// All connections, at their places.
pub struct Pool {
    places: Vec<Option<Connection>>,
    /// Places without a connection; the one that was left first is taken first, so that endpoints
    /// have their turn also where one is down.
    free: VecDeque<u32>,
    idle: VecDeque<u32>,
    generation: u32,
}

impl Pool {
    /// A pool with room for `most` connections.
    pub fn new(most: u32) -> Pool {
        Pool {
            places: (0..most).map(|_| None).collect(),
            free: (0..most).collect(),
            idle: VecDeque::new(),
            generation: 0,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// How many there may be.
    pub fn most(&self) -> usize {
        self.places.len()
    }

    /// Takes a free place.
    pub fn reserve(&mut self) -> Option<(u32, u32)> {
        let index = self.free.pop_front()?;
        self.generation = self.generation.wrapping_add(1);
        Some((index, self.generation))
    }

    /// Gives back a place that got no connection.
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

    /// The connection at a place, if it is the one that is meant.
    pub fn same(&mut self, index: u32, generation: u32) -> Option<&mut Connection> {
        self.get(index).filter(|connection| connection.generation == generation)
    }

    /// Takes a connection that has nothing to do.
    pub fn take_idle(&mut self) -> Option<u32> {
        self.idle.pop_front()
    }

    /// Takes the first one that has nothing to do and is `fit`.
    pub fn take_fit(&mut self, fit: impl Fn(&Connection) -> bool) -> Option<u32> {
        let is_fit = |index: &u32| self.places[*index as usize].as_ref().is_some_and(&fit);
        let position = self.idle.iter().position(is_fit)?;
        self.idle.remove(position)
    }

    /// Keeps a connection for another request.
    pub fn put_idle(&mut self, index: u32) {
        self.idle.push_back(index);
    }

    /// Takes a connection out; it is closed when dropped.
    pub fn remove(&mut self, index: u32) -> Option<Connection> {
        let connection = self.places.get_mut(index as usize)?.take()?;
        if connection.slot.is_none() {
            self.idle.retain(|idle| *idle != index);
        }
        self.free.push_back(index);
        Some(connection)
    }

    /// Places whose connections are not open yet.
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
