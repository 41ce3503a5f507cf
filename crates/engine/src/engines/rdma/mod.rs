//! The `rdma` engine: memory of another host, and messages to it.
//!
//! # Rules
//! - The side with a `hostname` connects and says the verb; the other listens before any worker of its
//!   batch starts.
//! - `write` and `read` move data between the buffers of both sides, one buffer after the other, and only
//!   the connecting side takes part. It tells the other ten times a second and at the end how many I/Os
//!   have ended, and as many of the other side's I/Os end then.
//! - `send` and `recv` need a receive for each message. The receiving side tells how many it has posted;
//!   no message is sent before.
//! - The side that ends first ends the connection.

mod handshake;
#[cfg(test)]
mod tests;

use super::{Completion, Queued, Ring, RingSetup, WaitLimit};
use crate::files::{Action, FileError};
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use crate::sys::rdma::{Ended, Link, LinkEvent, LinkSize, Verb};
use handshake::{Answer, Control, Request, VALUE_MAX};
use plan::RdmaVerb;
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Longest wait before the stop flag and the timeout are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time from the end of the run until what the other side owes is given up.
const GRACE: Duration = Duration::from_secs(1);
/// Time between two messages about I/Os that have ended.
const TELL_INTERVAL: Duration = Duration::from_millis(100);
/// Identifier of messages of control; those of data are slots.
const CONTROL: u64 = u64::MAX;
/// Receive buffers for control messages, which limit how many of them may be in flight.
const CONTROL_RECEIVES: u32 = 64;
/// Depth of the other side for which there is room.
const PEER_DEPTH_MAX: u32 = 1024;

/// What this side does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Writes memory of the other side.
    Writes,
    /// Reads it.
    Reads,
    /// The other side reads or writes the buffers here.
    Serves,
    Sends,
    Receives,
}

impl Role {
    fn connecting(verb: RdmaVerb) -> Role {
        match verb {
            RdmaVerb::Write => Role::Writes,
            RdmaVerb::Read => Role::Reads,
            RdmaVerb::Send => Role::Sends,
            RdmaVerb::Recv => Role::Receives,
        }
    }

    /// Of the side that listens, if the other has this verb.
    fn listening(verb: RdmaVerb) -> Role {
        match verb {
            RdmaVerb::Write | RdmaVerb::Read => Role::Serves,
            RdmaVerb::Send => Role::Receives,
            RdmaVerb::Recv => Role::Sends,
        }
    }

    /// Whether its I/O ends only when the other side acts.
    fn is_passive(self) -> bool {
        matches!(self, Role::Serves | Role::Receives)
    }
}

/// The `rdma` engine.
pub struct Rdma {
    socket: plan::Socket,
    verb: RdmaVerb,
    label: String,
    block: u64,
    depth: u32,
    time_based: bool,
    slots: Slots,
    link: Option<Link>,
    role: Role,
    /// Connected, and not ended.
    is_open: bool,
    peer: Answer,
    /// Buffers of the other side that are used, and the next of them.
    remote: (u64, u64),
    /// Length of the I/O of each slot.
    lengths: Vec<u32>,
    /// Slots that wait for the other side: to be posted, or to be told of.
    waiting: VecDeque<u32>,
    /// What may be posted, or was told of.
    credit: u64,
    /// Receives that the other side does not know of.
    granted: u32,
    /// I/Os that the other side does not know of, and when it was told last.
    untold: u64,
    told_at: Instant,
    is_ready_told: bool,
    /// Messages of control in flight.
    controls: u32,
    started: u32,
    ended: Vec<Ended>,
    done: Vec<Completion>,
    returned: usize,
    limit: WaitLimit,
    give_up_at: Option<Instant>,
    /// Whether I/O was cut off by the end of the connection.
    is_cut: bool,
    failed: Option<String>,
}

impl Ring for Rdma {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let worker = setup.worker;
        let socket = worker.socket.clone().ok_or(io::ErrorKind::NotFound)?;
        let verb = socket.rdma.as_ref().map_or(RdmaVerb::Write, |rdma| rdma.verb);
        let depth = setup.depth.max(1);
        Ok(Rdma {
            label: socket.label(),
            verb,
            block: worker.max_block(),
            depth,
            time_based: worker.stop.time_based,
            slots: setup.buffers.slots(),
            link: None,
            role: Role::connecting(verb),
            is_open: false,
            peer: Answer::default(),
            remote: (1, 0),
            lengths: vec![0; depth as usize],
            waiting: VecDeque::with_capacity(depth as usize),
            credit: 0,
            granted: 0,
            untold: 0,
            told_at: Instant::now(),
            is_ready_told: false,
            controls: 0,
            started: 0,
            ended: Vec::new(),
            done: Vec::with_capacity(depth as usize),
            returned: 0,
            limit: WaitLimit::default(),
            give_up_at: None,
            is_cut: false,
            failed: None,
            socket,
        })
    }

    fn prepare(&mut self) -> Result<(), FileError> {
        if !self.socket.waits {
            return Ok(());
        }
        let address = self.address(self.bind_host(), self.socket.port)?;
        let listens = Link::new().and_then(|mut link| link.listen(address).map(|()| link));
        self.link = Some(listens.map_err(|why| self.error(Action::Listen, why))?);
        Ok(())
    }

    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        let (action, made) = match self.socket.waits {
            true => (Action::Accept, self.accept()),
            false => {
                let to = self.address(self.socket.host.as_deref(), self.socket.port)?;
                let from = self.bind_host().map(|host| self.address(Some(host), 0)).transpose()?;
                (Action::Connect, self.connect(from, to))
            }
        };
        self.is_open = made.map_err(|why| self.error(action, why))?;
        if !self.is_open && limit.has_timed_out() {
            return Err(self.error(action, "nobody connected in time".to_owned()));
        }
        self.limit = limit.restarted();
        Ok(())
    }

    fn end(&mut self) -> Vec<String> {
        self.finish();
        let mut notes: Vec<String> = self.failed.take().into_iter().collect();
        if self.is_cut && !self.time_based && notes.is_empty() {
            notes.push("the other side ended before all of size was moved".into());
        }
        notes
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return Queued::Done(-i64::from(libc::EOPNOTSUPP));
        }
        if !self.may_advance() {
            self.is_cut = true;
            return Queued::Done(-i64::from(libc::ESHUTDOWN));
        }
        self.lengths[slot as usize] = op.length as u32;
        match self.role {
            Role::Receives => {
                if let Err(errno) = self.post(slot) {
                    return Queued::Done(-i64::from(errno));
                }
                self.granted += 1;
            }
            _ => self.waiting.push_back(slot),
        }
        self.advance();
        self.started += 1;
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        if self.granted > 0 {
            let granted = std::mem::take(&mut self.granted);
            self.send_control(Control::Credit(granted));
        }
        Ok(std::mem::take(&mut self.started))
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.done.drain(..self.returned);
        let deadline = Instant::now() + timeout.map_or(CHECK_INTERVAL, |t| t.min(CHECK_INTERVAL));
        if min > 0 {
            self.tell_ready();
        }
        loop {
            self.take_completions();
            let left = deadline.saturating_duration_since(Instant::now());
            let enough = (min.min(max) as usize).max(1);
            if self.done.len() >= enough || min == 0 || left.is_zero() {
                break;
            }
            self.wait(left);
            self.check_limit();
        }
        self.returned = self.done.len().min(max as usize);
        Ok(self.returned as u32)
    }

    #[inline]
    fn completion(&self, index: u32) -> Completion {
        self.done[index as usize]
    }
}

/// Making the connection.
impl Rdma {
    fn error(&self, action: Action, why: String) -> FileError {
        FileError::new(action, &self.label, io::Error::other(why))
    }

    fn bind_host(&self) -> Option<&str> {
        self.socket.rdma.as_ref().and_then(|rdma| rdma.bind.as_deref())
    }

    fn address(&self, host: Option<&str>, port: u16) -> Result<SocketAddr, FileError> {
        let found = (host.unwrap_or("0.0.0.0"), port).to_socket_addrs();
        let first = found.and_then(|mut all| all.next().ok_or(io::ErrorKind::NotFound.into()));
        first.map_err(|error| FileError::new(Action::Find, &self.label, error))
    }

    fn size(&self) -> LinkSize {
        LinkSize {
            sends: 2 * self.depth + CONTROL_RECEIVES,
            receives: self.depth.max(PEER_DEPTH_MAX) + CONTROL_RECEIVES,
        }
    }

    /// Waits for an event; `None` once the limit is reached.
    fn await_event(&self, link: &mut Link, wanted: LinkEvent) -> Result<Option<()>, String> {
        loop {
            if self.limit.is_reached() {
                return Ok(None);
            }
            match link.event(self.limit.next_wait(CHECK_INTERVAL))? {
                Some((event, _)) if event == wanted => return Ok(Some(())),
                Some((LinkEvent::Rejected, status)) => return Err(refusal(&link.data, status)),
                Some((event @ (LinkEvent::Failed | LinkEvent::Disconnected), status)) => {
                    return Err(format!("no connection ({event:?}, status {status})"));
                }
                Some(_) | None => {}
            }
        }
    }

    /// Connects; false if the limit was reached before.
    fn connect(&mut self, from: Option<SocketAddr>, to: SocketAddr) -> Result<bool, String> {
        let mut link = Link::new()?;
        link.resolve(from, to)?;
        if self.await_event(&mut link, LinkEvent::AddressResolved)?.is_none() {
            return Ok(false);
        }
        link.resolve_route()?;
        if self.await_event(&mut link, LinkEvent::RouteResolved)?.is_none() {
            return Ok(false);
        }
        link.set_up(self.size(), self.slots, self.depth)?;
        if self.role != Role::Receives {
            receive_controls(&mut link, CONTROL_RECEIVES)?;
        }
        let request = Request { verb: self.verb, depth: self.depth, block: self.block };
        link.connect(&request.encode())?;
        if self.await_event(&mut link, LinkEvent::Established)?.is_none() {
            return Ok(false);
        }
        self.peer = Answer::decode(&link.data).ok_or("the other side is not fathom")?;
        if self.role == Role::Sends {
            receive_controls(&mut link, self.peer.depth.min(PEER_DEPTH_MAX))?;
        }
        self.link = Some(link);
        Ok(true)
    }

    /// Waits for a connection; false if the limit was reached before.
    fn accept(&mut self) -> Result<bool, String> {
        let mut link = self.link.take().ok_or("not listening")?;
        if self.await_event(&mut link, LinkEvent::Requested)?.is_none() {
            return Ok(false);
        }
        let request = Request::decode(&link.data).ok_or("the other side is not fathom");
        let answer = Answer { depth: self.depth, block: self.block, ..Answer::default() };
        let request = match request {
            Ok(request) if request.block == self.block => request,
            Ok(Request { block, .. }) => {
                link.reject(&answer.encode());
                return Err(other_block(block));
            }
            Err(why) => {
                link.reject(&answer.encode());
                return Err(why.to_owned());
            }
        };
        self.role = Role::listening(request.verb);
        link.set_up(self.size(), self.slots, self.depth)?;
        match self.role {
            Role::Receives => {}
            Role::Sends => {
                let depth = request.depth.min(PEER_DEPTH_MAX);
                receive_controls(&mut link, CONTROL_RECEIVES + depth)?;
            }
            _ => receive_controls(&mut link, CONTROL_RECEIVES)?,
        }
        let (address, stride) = (self.slots.slot(0) as u64, self.slots.stride() as u64);
        let answer = Answer { address, stride, key: link.key(), ..answer };
        link.accept(&answer.encode())?;
        if self.await_event(&mut link, LinkEvent::Established)?.is_none() {
            return Ok(false);
        }
        self.peer.depth = request.depth;
        self.link = Some(link);
        Ok(true)
    }
}

fn receive_controls(link: &mut Link, count: u32) -> Result<(), String> {
    let mut post = |_| link.receive_control(CONTROL);
    (0..count).try_for_each(&mut post).map_err(|errno| {
        format!("no receive can be posted: {}", io::Error::from_raw_os_error(errno))
    })
}

fn other_block(block: u64) -> String {
    format!("the other side has blocks of {block} bytes: give both sides the same bs")
}

/// Why the other side refuses.
fn refusal(data: &[u8], status: i32) -> String {
    match Answer::decode(data) {
        Some(answer) => other_block(answer.block),
        None => format!("refused: nobody listens there (status {status})"),
    }
}

/// I/O on the connection.
impl Rdma {
    fn complete(&mut self, slot: u32, result: i64) {
        self.done.push(Completion { slot, result });
    }

    /// Posts the I/O of a slot.
    fn post(&mut self, slot: u32) -> Result<(), i32> {
        let verb = match self.role {
            Role::Receives => Verb::Receive,
            Role::Sends => Verb::Send,
            Role::Writes | Role::Reads | Role::Serves => {
                let (buffers, next) = self.remote;
                self.remote.1 = next + 1;
                let address = self.peer.address + next % buffers.max(1) * self.peer.stride;
                if self.role == Role::Reads { Verb::Read(address) } else { Verb::Write(address) }
            }
        };
        let (length, key) = (self.lengths[slot as usize], self.peer.key);
        let Some(link) = &mut self.link else { return Err(libc::ENOTCONN) };
        link.post(slot, verb, length, key)
    }

    /// Whether I/O can end. I/Os that the other side told of before it ended the connection have
    /// taken place, also those that had no slot yet.
    fn may_advance(&self) -> bool {
        self.is_open || self.role == Role::Serves && self.credit > 0
    }

    /// Posts what may be posted, or ends what the other side told of.
    fn advance(&mut self) {
        while self.may_advance() && self.credit > 0 {
            let Some(slot) = self.waiting.pop_front() else { return };
            self.credit = if self.credit == u64::MAX { u64::MAX } else { self.credit - 1 };
            if self.role == Role::Serves {
                self.complete(slot, self.lengths[slot as usize].into());
            } else if let Err(errno) = self.post(slot) {
                self.complete(slot, -i64::from(errno));
            }
        }
    }

    /// Sends a message of control.
    fn send_control(&mut self, control: Control) {
        let Some(link) = self.link.as_mut().filter(|_| self.is_open) else { return };
        match link.send_control(CONTROL, control.number()) {
            Ok(()) => self.controls += 1,
            Err(errno) => {
                let error = io::Error::from_raw_os_error(errno);
                self.failed.get_or_insert(format!("a message cannot be sent: {error}"));
            }
        }
    }

    /// Tells that the buffers are filled, once no more I/O comes before others have ended.
    fn tell_ready(&mut self) {
        if self.role == Role::Serves && !self.is_ready_told && !self.waiting.is_empty() {
            self.is_ready_told = true;
            self.send_control(Control::Ready(self.waiting.len() as u32));
        }
    }

    /// Tells how many I/Os have ended, if that is due.
    fn tell_ended(&mut self, at_once: bool) {
        if self.untold > 0 && (at_once || self.told_at.elapsed() >= TELL_INTERVAL) {
            let count = self.untold.min(VALUE_MAX.into());
            self.untold -= count;
            self.told_at = Instant::now();
            self.send_control(Control::Ended(count as u32));
        }
    }

    fn take_completions(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        if let Some(link) = &mut self.link
            && let Err(why) = link.poll(&mut ended)
        {
            self.failed.get_or_insert(why);
        }
        for one in ended.drain(..) {
            self.take(&one);
        }
        self.ended = ended;
        self.advance();
        self.tell_ended(false);
    }

    fn take(&mut self, ended: &Ended) {
        let is_control = ended.identifier == CONTROL;
        if ended.flushed || ended.failed.is_some() {
            let errno = self.lost(ended);
            if !is_control {
                self.complete(ended.identifier as u32, -i64::from(errno));
            }
            return;
        }
        let slot = ended.identifier as u32;
        match (is_control, ended.received) {
            (true, true) => self.take_control(ended.control.and_then(Control::from_number)),
            (true, false) => self.controls -= 1,
            (false, true) => self.complete(slot, ended.length.into()),
            (false, false) => {
                self.untold += u64::from(self.role != Role::Sends);
                self.complete(slot, self.lengths[slot as usize].into());
            }
        }
    }

    /// What ended because the connection did: its errno.
    fn lost(&mut self, ended: &Ended) -> i32 {
        let Some(status) = ended.failed else {
            self.is_cut |= ended.identifier != CONTROL;
            return libc::ESHUTDOWN;
        };
        let text = self.link.as_ref().map(|link| link.describe(status)).unwrap_or_default();
        self.failed.get_or_insert(format!("an I/O failed: {text}"));
        self.close();
        libc::EIO
    }

    fn take_control(&mut self, control: Option<Control>) {
        match control {
            Some(Control::Ready(buffers)) => {
                self.remote.0 = buffers.into();
                self.credit = u64::MAX;
            }
            Some(Control::Credit(count) | Control::Ended(count)) => {
                self.credit = self.credit.saturating_add(count.into());
            }
            None => {
                self.failed.get_or_insert("a message of control was not understood".to_owned());
            }
        }
        if let Some(link) = self.link.as_mut().filter(|_| self.is_open) {
            // The end of the connection is found elsewhere.
            let _ = link.receive_control(CONTROL);
        }
    }

    /// Waits for a completion or the end of the connection.
    fn wait(&mut self, wait: Duration) {
        let Some(link) = &mut self.link else { return };
        link.arm();
        let before = self.done.len();
        self.take_completions();
        if self.done.len() > before {
            return;
        }
        let Some(link) = &mut self.link else { return };
        if !link.wait(wait) {
            return;
        }
        if let Ok(Some((LinkEvent::Disconnected, _))) = link.event(Duration::ZERO) {
            // What arrived before counts.
            self.take_completions();
            self.close();
        }
    }

    /// Ends the connection: what waits for the other side ends, what is posted is flushed.
    fn close(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        if let Some(link) = &mut self.link {
            link.disconnect();
        }
        while let Some(slot) = self.waiting.pop_front() {
            self.is_cut = true;
            self.complete(slot, -i64::from(libc::ESHUTDOWN));
        }
    }

    /// Gives up what the other side owes when the run has ended.
    fn check_limit(&mut self) {
        let owes = self.role.is_passive() || !self.waiting.is_empty();
        if self.limit.is_interrupted() || owes && self.limit.is_reached() {
            let at = *self.give_up_at.get_or_insert_with(|| Instant::now() + GRACE);
            if Instant::now() >= at {
                self.close();
            }
        }
    }

    /// Tells the other side of the last I/Os, and ends the connection. The side that was served or has
    /// received leaves that to the other, whose last acknowledgement may be on its way.
    fn finish(&mut self) {
        let deadline = Instant::now() + GRACE;
        while self.untold > 0 && self.is_open {
            self.tell_ended(true);
        }
        while self.is_open
            && Instant::now() < deadline
            && (self.controls > 0 || self.role.is_passive())
        {
            self.wait(CHECK_INTERVAL);
            self.take_completions();
        }
        let was_cut = self.is_cut;
        self.close();
        self.is_cut = was_cut;
        self.link = None;
    }
}
