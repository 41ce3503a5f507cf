//! What a slot is up to.

use crate::{Action, Attempt, Failure, Request, Stamps, Verb};

/// Where a request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// There is none.
    #[default]
    Nowhere,
    /// It waits for a connection.
    Waiting,
    /// It has this one.
    On(u32),
    /// It pauses before it is repeated, or before its failure is told.
    Paused,
}

/// One slot and its request.
#[derive(Debug, Default)]
pub struct Slot {
    /// Where the request is.
    pub at: At,
    /// Counts the requests and their repeats, to tell old timers from new ones.
    pub turn: u32,
    action: Option<Action>,
    path: String,
    length: u64,
    /// Of the attempt at hand.
    pub stamps: Stamps,
    /// Where it goes to.
    pub endpoint: Option<usize>,
    /// What it failed with, when that is told after a pause.
    pub failed: Option<Failure>,
    /// Attempts before it.
    pub lost: Vec<Attempt>,
    /// Whether the connection was closed under it once, and whether it therefore needs a new one.
    pub resent: bool,
    /// See [`Slot::resent`].
    pub fresh: bool,
}

impl Slot {
    /// Begins a request at `now`.
    pub fn begin(&mut self, request: &Request<'_>, now: u64) {
        self.at = At::Waiting;
        self.turn = self.turn.wrapping_add(1);
        self.action = Some(request.action.clone());
        self.path.clear();
        self.path.push_str(request.path);
        self.length = request.length;
        self.stamps = Stamps { begun: now, ..Stamps::default() };
        self.endpoint = None;
        self.failed = None;
        self.lost.clear();
        self.resent = false;
        self.fresh = false;
    }

    /// Begins another attempt.
    pub fn again(&mut self) {
        self.at = At::Waiting;
        self.turn = self.turn.wrapping_add(1);
        self.stamps = Stamps { begun: self.stamps.begun, ..Stamps::default() };
        self.endpoint = None;
    }

    /// The attempt at hand has failed, and another one is to follow.
    pub fn lose(&mut self, failure: Failure) {
        let Stamps { connect, tls, .. } = self.stamps;
        self.lost.push(Attempt { failure, endpoint: self.endpoint, connect, tls });
        self.fresh = false;
        self.pause();
    }

    /// Nothing is to happen until a pause is over.
    pub fn pause(&mut self) {
        self.at = At::Paused;
        self.turn = self.turn.wrapping_add(1);
    }

    /// Calls `with` with the request.
    pub fn request<T>(&mut self, with: impl FnOnce(&Request<'_>) -> T) -> T {
        // The request borrows the path and owns the action: lent and taken back, not copied.
        let action = self.action.take().unwrap_or(Action::Head);
        let request = Request { action, path: &self.path, length: self.length };
        let result = with(&request);
        self.action = Some(request.action);
        result
    }

    /// Its kind.
    pub fn verb(&self) -> Verb {
        self.action.as_ref().map_or(Verb::Head, Action::verb)
    }

    /// To what.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Bytes it sends or is to bring.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// First byte of the part of the object it is to bring.
    pub fn from(&self) -> Option<u64> {
        match self.action {
            Some(Action::Get { range: Some((from, _)) }) => Some(from),
            _ => None,
        }
    }
}
