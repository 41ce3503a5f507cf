//! The state of a slot and its request.

use crate::{Action, Attempt, Failure, Request, Stamps, Verb};

/// The state of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// There is none.
    #[default]
    Nowhere,
    /// It waits for a connection.
    Waiting,
    /// It is assigned to this connection.
    On(u32),
    /// It pauses before a retry, or before its failure is reported.
    Paused,
}

/// One slot and its request.
#[derive(Debug, Default)]
pub struct Slot {
    /// State of the request.
    pub at: At,
    /// Counts requests and retries, to distinguish timers of earlier ones.
    pub turn: u32,
    action: Option<Action>,
    path: String,
    length: u64,
    /// Times of the current attempt.
    pub stamps: Stamps,
    /// Its endpoint.
    pub endpoint: Option<usize>,
    /// Its failure, if that is reported after a pause.
    pub failed: Option<Failure>,
    /// Earlier attempts.
    pub lost: Vec<Attempt>,
    /// Whether an idle connection was closed before it was sent, and whether it thus needs a new
    /// one.
    pub resent: bool,
    /// See [`Slot::resent`].
    pub fresh: bool,
}

impl Slot {
    /// Starts a request at `now`.
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

    /// Starts another attempt.
    pub fn again(&mut self) {
        self.at = At::Waiting;
        self.turn = self.turn.wrapping_add(1);
        self.stamps = Stamps { begun: self.stamps.begun, ..Stamps::default() };
        self.endpoint = None;
    }

    /// Records that the current attempt has failed and another one follows.
    pub fn lose(&mut self, failure: Failure) {
        let Stamps { connect, tls, .. } = self.stamps;
        self.lost.push(Attempt { failure, endpoint: self.endpoint, connect, tls });
        self.fresh = false;
        self.pause();
    }

    /// Starts a pause.
    pub fn pause(&mut self) {
        self.at = At::Paused;
        self.turn = self.turn.wrapping_add(1);
    }

    /// Calls `with` with the request.
    pub fn request<T>(&mut self, with: impl FnOnce(&Request<'_>) -> T) -> T {
        // The request borrows the path and owns the action, which is moved into it and back to
        // avoid a copy.
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

    /// Path of its object.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Bytes it sends or expects.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// First byte of the requested range of the object.
    pub fn from(&self) -> Option<u64> {
        match self.action {
            Some(Action::Get { range: Some((from, _)) }) => Some(from),
            _ => None,
        }
    }
}
