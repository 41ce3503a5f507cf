//! A connection by RDMA: memory that the other side may read and write, and messages.

mod abi;

use super::buffers::Slots;
use super::poll;
use abi::{
    ACCESS_ALL, Completion, CompletionChannel, Domain, Event, EventChannel, FLUSHED, Id, Manager,
    Memory, PORTS_TCP, Parameters, Part, Queue, QueuePairSetup, RECEIVED, RELIABLE, ReceiveRequest,
    SIGNALED, SendRequest, Verbs, WITH_NUMBER,
};
use socket2::SockAddr;
use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::net::SocketAddr;
use std::ptr;
use std::time::Duration;

/// Time that librdmacm has to resolve an address or a route.
const RESOLVE_MS: c_int = 5000;
/// Completions taken at a time.
const BATCH: usize = 64;
/// Reads of each side in flight; a device lowers it.
const READS_MAX: u8 = 16;
const RETRIES: u8 = 7;
const LISTENERS: c_int = 8;

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The address of the other side is known, and with it the device.
    AddressResolved,
    /// The way to it is known.
    RouteResolved,
    /// The other side asks for a connection.
    Requested,
    /// The connection is there.
    Established,
    /// The other side refuses.
    Rejected,
    /// The connection has ended.
    Disconnected,
    /// The connection cannot be made.
    Failed,
    /// Anything else.
    Other,
}

/// What is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Writes memory of the other side, at this address.
    Write(u64),
    /// Reads it.
    Read(u64),
    /// Sends a message.
    Send,
    /// Receives one.
    Receive,
}

/// How much a connection can hold.
#[derive(Clone, Copy, Debug)]
pub struct LinkSize {
    /// Sends, reads and writes in flight.
    pub sends: u32,
    /// Receives in flight.
    pub receives: u32,
}

/// The end of something that was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The identifier it was posted with.
    pub identifier: u64,
    /// Bytes received.
    pub length: u32,
    /// The number that a message of control carries.
    pub control: Option<u32>,
    /// Whether it was a receive.
    pub received: bool,
    /// Whether the connection ended first.
    pub flushed: bool,
    /// A status other than success and the end of the connection.
    pub failed: Option<i32>,
}

/// One side of a connection, before and after it is made.
pub struct Link {
    manager: Manager,
    verbs: Verbs,
    channel: *mut EventChannel,
    /// The listening side's; null on the other.
    listener: *mut Id,
    id: *mut Id,
    domain: *mut Domain,
    memory: *mut Memory,
    completions: *mut CompletionChannel,
    queue: *mut Queue,
    has_pair: bool,
    buffers: Option<Slots>,
    /// Data that the other side sent with the last event.
    pub data: Vec<u8>,
    remote_key: u32,
    batch: [Completion; BATCH],
}

// SAFETY: both libraries may be called from any thread, and a link is used by one at a time.
unsafe impl Send for Link {}

fn last_error(what: &str) -> String {
    format!("{what}: {}", io::Error::last_os_error())
}

/// The result of a function that returns -1 and sets errno.
fn check(result: c_int, what: &str) -> Result<(), String> {
    if result == 0 { Ok(()) } else { Err(last_error(what)) }
}

/// The result of a function that returns a pointer, or null and sets errno.
fn made<T>(pointer: *mut T, what: &str) -> Result<*mut T, String> {
    if pointer.is_null() { Err(last_error(what)) } else { Ok(pointer) }
}

impl Link {
    /// Opens the libraries.
    pub fn new() -> Result<Link, String> {
        let (manager, verbs) = abi::load()?;
        // SAFETY: a function without arguments.
        let channel = unsafe { (manager.rdma_create_event_channel)() };
        let channel = made(channel, "no RDMA device, or rdma_ucm is not loaded")?;
        Ok(Link {
            manager,
            verbs,
            channel,
            listener: ptr::null_mut(),
            id: ptr::null_mut(),
            domain: ptr::null_mut(),
            memory: ptr::null_mut(),
            completions: ptr::null_mut(),
            queue: ptr::null_mut(),
            has_pair: false,
            buffers: None,
            data: Vec::new(),
            remote_key: 0,
            batch: [Completion::default(); BATCH],
        })
    }

    fn new_id(&self) -> Result<*mut Id, String> {
        let mut id = ptr::null_mut();
        // SAFETY: the channel is open; the function writes one pointer.
        let result = unsafe {
            (self.manager.rdma_create_id)(self.channel, &raw mut id, ptr::null_mut(), PORTS_TCP)
        };
        check(result, "rdma_create_id").map(|()| id)
    }

    /// Waits for connections at an address.
    pub fn listen(&mut self, address: SocketAddr) -> Result<(), String> {
        self.listener = self.new_id()?;
        let address = SockAddr::from(address);
        // SAFETY: the id is live, and the address is one of sockets.
        let bound =
            unsafe { (self.manager.rdma_bind_addr)(self.listener, address.as_ptr().cast()) };
        check(bound, "rdma_bind_addr")?;
        // SAFETY: the id is bound.
        check(unsafe { (self.manager.rdma_listen)(self.listener, LISTENERS) }, "rdma_listen")
    }

    /// Begins to look for the way to an address, from a device with the address `from`.
    pub fn resolve(&mut self, from: Option<SocketAddr>, to: SocketAddr) -> Result<(), String> {
        self.id = self.new_id()?;
        let (from, to) = (from.map(SockAddr::from), SockAddr::from(to));
        let from = from.as_ref().map_or(ptr::null(), |from| from.as_ptr().cast());
        // SAFETY: the id is live, and the addresses are those of sockets or null.
        let result = unsafe {
            (self.manager.rdma_resolve_addr)(self.id, from, to.as_ptr().cast(), RESOLVE_MS)
        };
        check(result, "rdma_resolve_addr")
    }

    /// Begins to look for the route, after [`LinkEvent::AddressResolved`].
    pub fn resolve_route(&mut self) -> Result<(), String> {
        // SAFETY: the id is bound to a device.
        let result = unsafe { (self.manager.rdma_resolve_route)(self.id, RESOLVE_MS) };
        check(result, "rdma_resolve_route")
    }

    /// The next event, if there is one within `wait`, and its status.
    pub fn event(&mut self, wait: Duration) -> Result<Option<(LinkEvent, i32)>, String> {
        if !self.wait_for(wait, false) {
            return Ok(None);
        }
        let mut event: *mut Event = ptr::null_mut();
        // SAFETY: the channel is open; the function writes one pointer. An event is there, so it
        // does not wait.
        let got = unsafe { (self.manager.rdma_get_cm_event)(self.channel, &raw mut event) };
        check(got, "rdma_get_cm_event")?;
        // SAFETY: the event is valid until it is acknowledged.
        let (kind, status, id) = unsafe { ((*event).kind, (*event).status, (*event).id) };
        let kind = match kind {
            0 => LinkEvent::AddressResolved,
            2 => LinkEvent::RouteResolved,
            4 => LinkEvent::Requested,
            9 => LinkEvent::Established,
            8 => LinkEvent::Rejected,
            10 | 11 => LinkEvent::Disconnected,
            1 | 3 | 6 | 7 => LinkEvent::Failed,
            _ => LinkEvent::Other,
        };
        if matches!(kind, LinkEvent::Requested | LinkEvent::Established | LinkEvent::Rejected) {
            // SAFETY: these events have the parameters of a connection, whose data is as long as they
            // say.
            self.data = unsafe {
                let parameters = &raw const (*event).parameters;
                let (data, length) = ((*parameters).data, (*parameters).data_length);
                match data.is_null() {
                    true => Vec::new(),
                    false => std::slice::from_raw_parts(data.cast::<u8>(), length.into()).to_vec(),
                }
            };
        }
        // SAFETY: the event is not used any more.
        unsafe { (self.manager.rdma_ack_cm_event)(event) };
        if kind == LinkEvent::Requested && self.id.is_null() {
            self.id = id;
        } else if kind == LinkEvent::Requested {
            // A second client: this side has one connection.
            // SAFETY: the id is new, and belongs to this event.
            unsafe {
                (self.manager.rdma_reject)(id, ptr::null(), 0);
                (self.manager.rdma_destroy_id)(id);
            }
            return Ok(Some((LinkEvent::Other, status)));
        }
        Ok(Some((kind, status)))
    }

    /// Makes the queues of a connection whose device is known, and registers the first `count` buffers.
    /// The worker keeps them until after it drops the ring, and with it the link.
    pub fn set_up(&mut self, size: LinkSize, buffers: Slots, count: u32) -> Result<(), String> {
        let (memory, length) = (buffers.slot(0), buffers.stride() * count as usize);
        self.buffers = Some(buffers);
        // SAFETY: the id is live and bound to a device.
        let context = unsafe { (*self.id).context };
        let made_context = made(context, "the connection has no device")?;
        let entries = (size.sends + size.receives) as c_int;
        // SAFETY: the context is that of an open device, and each call gets what the one before made;
        // the buffers outlive the link.
        unsafe {
            self.domain = made((self.verbs.ibv_alloc_pd)(made_context), "ibv_alloc_pd")?;
            self.completions =
                made((self.verbs.ibv_create_comp_channel)(context), "ibv_create_comp_channel")?;
            let queue =
                (self.verbs.ibv_create_cq)(context, entries, ptr::null_mut(), self.completions, 0);
            self.queue = made(queue, "ibv_create_cq")?;
            let registered =
                (self.verbs.ibv_reg_mr)(self.domain, memory.cast::<c_void>(), length, ACCESS_ALL);
            self.memory = made(registered, "ibv_reg_mr (is 'ulimit -l' too low?)")?;
            self.remote_key = (*self.memory).remote_key;
        }
        let mut setup = QueuePairSetup {
            user: ptr::null_mut(),
            send_queue: self.queue,
            receive_queue: self.queue,
            shared_receives: ptr::null_mut(),
            sends_max: size.sends,
            receives_max: size.receives,
            send_parts_max: 1,
            receive_parts_max: 1,
            inline_max: 0,
            kind: RELIABLE,
            signals_all: 1,
        };
        // SAFETY: the id is bound to the device of domain and queue.
        let result = unsafe { (self.manager.rdma_create_qp)(self.id, self.domain, &raw mut setup) };
        check(result, "rdma_create_qp (is iodepth too high for the device?)")?;
        self.has_pair = true;
        Ok(())
    }

    /// The key by which the other side reaches the memory.
    pub fn key(&self) -> u32 {
        self.remote_key
    }

    fn parameters(data: &[u8]) -> Parameters {
        Parameters {
            data: data.as_ptr().cast(),
            data_length: data.len() as u8,
            responder_resources: READS_MAX,
            initiator_depth: READS_MAX,
            flow_control: 1,
            retries: RETRIES,
            receiver_retries: RETRIES,
            shared_receives: 0,
            pair_number: 0,
        }
    }

    /// Asks for the connection; `data` goes along.
    pub fn connect(&mut self, data: &[u8]) -> Result<(), String> {
        let mut parameters = Link::parameters(data);
        // SAFETY: the id has a queue pair; the data is copied within the call.
        let result = unsafe { (self.manager.rdma_connect)(self.id, &raw mut parameters) };
        check(result, "rdma_connect")
    }

    /// Accepts the connection that was asked for.
    pub fn accept(&mut self, data: &[u8]) -> Result<(), String> {
        let mut parameters = Link::parameters(data);
        // SAFETY: the id has a queue pair; the data is copied within the call.
        let result = unsafe { (self.manager.rdma_accept)(self.id, &raw mut parameters) };
        check(result, "rdma_accept")
    }

    /// Refuses it.
    pub fn reject(&mut self, data: &[u8]) {
        // SAFETY: the id is that of a request; the data is copied within the call. Nobody is left to
        // tell of an error.
        let _ =
            unsafe { (self.manager.rdma_reject)(self.id, data.as_ptr().cast(), data.len() as u8) };
    }

    /// Ends the connection: what is in flight is flushed.
    pub fn disconnect(&mut self) {
        if self.has_pair {
            // SAFETY: the id has a queue pair. An error says that it has ended already.
            let _ = unsafe { (self.manager.rdma_disconnect)(self.id) };
        }
    }

    /// Posts what moves `length` bytes of the buffer of `slot`; its identifier is the slot. The device
    /// refuses what is not within the buffers.
    pub fn post(&mut self, slot: u32, verb: Verb, length: u32, key: u32) -> Result<(), i32> {
        let Some(buffers) = &self.buffers else { return Err(libc::ENOTCONN) };
        let (identifier, address) = (u64::from(slot), buffers.slot(slot) as u64);
        // SAFETY: `set_up` has registered the memory.
        let local_key = unsafe { (*self.memory).local_key };
        let mut part = Part { address, length, local_key };
        let parts = &raw mut part;
        // enum ibv_wr_opcode.
        let (opcode, remote_address) = match verb {
            Verb::Write(address) => (0, address),
            Verb::Send => (2, 0),
            Verb::Read(address) => (4, address),
            Verb::Receive => return self.post_receive(identifier, parts, 1),
        };
        self.post_send(SendRequest {
            identifier,
            next: ptr::null_mut(),
            parts,
            part_count: 1,
            opcode,
            flags: SIGNALED,
            number: 0,
            remote_address,
            remote_key: key,
            padding: 0,
            unused: [0; 9],
        })
    }

    /// Sends a message of control: a number without data.
    pub fn send_control(&mut self, identifier: u64, number: u32) -> Result<(), i32> {
        self.post_send(SendRequest {
            identifier,
            next: ptr::null_mut(),
            parts: ptr::null_mut(),
            part_count: 0,
            // IBV_WR_SEND_WITH_IMM.
            opcode: 3,
            flags: SIGNALED,
            number: number.to_be(),
            remote_address: 0,
            remote_key: 0,
            padding: 0,
            unused: [0; 9],
        })
    }

    /// Receives a message of control.
    pub fn receive_control(&mut self, identifier: u64) -> Result<(), i32> {
        self.post_receive(identifier, ptr::null_mut(), 0)
    }

    fn post_send(&mut self, mut request: SendRequest) -> Result<(), i32> {
        let mut bad = ptr::null_mut();
        // SAFETY: the queue pair is live. The request and its parts are copied within the call.
        let result = unsafe {
            let pair = (*self.id).pair;
            ((*(*pair).context).functions.send)(pair, &raw mut request, &raw mut bad)
        };
        if result == 0 { Ok(()) } else { Err(result) }
    }

    fn post_receive(&mut self, identifier: u64, parts: *mut Part, count: c_int) -> Result<(), i32> {
        let mut bad = ptr::null_mut();
        let mut request =
            ReceiveRequest { identifier, next: ptr::null_mut(), parts, part_count: count };
        // SAFETY: as in `post_send`.
        let result = unsafe {
            let pair = (*self.id).pair;
            ((*(*pair).context).functions.receive)(pair, &raw mut request, &raw mut bad)
        };
        if result == 0 { Ok(()) } else { Err(result) }
    }

    /// Adds what has ended to `ended`.
    pub fn poll(&mut self, ended: &mut Vec<Ended>) -> Result<(), String> {
        loop {
            // SAFETY: the queue is live, and the function writes at most `BATCH` completions.
            let count = unsafe {
                let poll = (*(*self.queue).context).functions.poll;
                poll(self.queue, BATCH as c_int, self.batch.as_mut_ptr())
            };
            let Ok(count) = usize::try_from(count) else {
                return Err("the completion queue cannot be polled".to_owned());
            };
            ended.extend(self.batch[..count].iter().map(|completion| {
                Ended {
                    identifier: completion.identifier,
                    length: completion.length,
                    control: (completion.status == 0 && completion.flags & WITH_NUMBER != 0)
                        .then(|| u32::from_be(completion.number)),
                    received: completion.opcode & RECEIVED != 0,
                    flushed: completion.status == FLUSHED,
                    failed: (completion.status != 0 && completion.status != FLUSHED)
                        .then_some(completion.status),
                }
            }));
            if count < BATCH {
                return Ok(());
            }
        }
    }

    /// Asks to be woken by the next completion. What has ended before has to be polled after this.
    pub fn arm(&mut self) {
        // SAFETY: the queue is live. Without a wake-up the wait ends at its timeout.
        let _ = unsafe { ((*(*self.queue).context).functions.arm)(self.queue, 0) };
    }

    /// Waits for a completion after [`Link::arm`], or for an event; true if there is an event.
    pub fn wait(&mut self, wait: Duration) -> bool {
        self.wait_for(wait, true)
    }

    fn wait_for(&mut self, wait: Duration, completions: bool) -> bool {
        let ready = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: both channels live as long as the link.
        let mut fds = unsafe {
            let woken =
                (completions && !self.completions.is_null()).then(|| (*self.completions).fd);
            // poll(2) leaves out -1.
            [ready((*self.channel).fd), ready(woken.unwrap_or(-1))]
        };
        // An error ends the wait like its timeout.
        if !poll::wait(&mut fds, Some(wait)).unwrap_or(false) {
            return false;
        }
        if fds[1].revents != 0 {
            self.take_wake_up();
        }
        fds[0].revents != 0
    }

    fn take_wake_up(&mut self) {
        let (mut queue, mut user) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the channel is open and a wake-up is there, so the function does not wait; it writes two
        // pointers. Each wake-up is acknowledged once.
        unsafe {
            let got =
                (self.verbs.ibv_get_cq_event)(self.completions, &raw mut queue, &raw mut user);
            if got == 0 {
                (self.verbs.ibv_ack_cq_events)(queue, 1);
            }
        }
    }

    /// A status of a completion in words.
    pub fn describe(&self, status: i32) -> String {
        // SAFETY: the function returns a text that stays, for any number.
        let text = unsafe { (self.verbs.ibv_wc_status_str)(status) };
        match text.is_null() {
            true => format!("status {status}"),
            // SAFETY: it ends with a NUL.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: each object is destroyed once, before those it was made of. Nobody is left to tell of an
        // error.
        unsafe {
            if self.has_pair {
                (self.manager.rdma_destroy_qp)(self.id);
            }
            if !self.queue.is_null() {
                let _ = (self.verbs.ibv_destroy_cq)(self.queue);
            }
            if !self.completions.is_null() {
                let _ = (self.verbs.ibv_destroy_comp_channel)(self.completions);
            }
            if !self.memory.is_null() {
                let _ = (self.verbs.ibv_dereg_mr)(self.memory);
            }
            if !self.domain.is_null() {
                let _ = (self.verbs.ibv_dealloc_pd)(self.domain);
            }
            for id in [self.id, self.listener].into_iter().filter(|id| !id.is_null()) {
                let _ = (self.manager.rdma_destroy_id)(id);
            }
            (self.manager.rdma_destroy_event_channel)(self.channel);
        }
    }
}
