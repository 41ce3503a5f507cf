//! Functions and structures of librdmacm and libibverbs.
//!
//! Layouts are those of rdma-core 44 (rdma/rdma_cma.h, infiniband/verbs.h), which its stable binary
//! interface (librdmacm.so.1, libibverbs.so.1) keeps. The sizes and offsets in the test were printed by a C
//! program that was compiled from these headers for a 64-bit machine. Of structures that the
//! libraries make, only the fields up to the last one used are declared.

use crate::sys::stores::library::{Library, functions};
use std::ffi::{c_char, c_int, c_uint, c_void};

functions!(pub(super) Manager {
    rdma_create_event_channel: fn() -> *mut EventChannel;
    rdma_destroy_event_channel: fn(*mut EventChannel);
    rdma_create_id: fn(*mut EventChannel, *mut *mut Id, *mut c_void, c_int) -> c_int;
    rdma_destroy_id: fn(*mut Id) -> c_int;
    rdma_bind_addr: fn(*mut Id, *const c_void) -> c_int;
    rdma_listen: fn(*mut Id, c_int) -> c_int;
    rdma_resolve_addr: fn(*mut Id, *const c_void, *const c_void, c_int) -> c_int;
    rdma_resolve_route: fn(*mut Id, c_int) -> c_int;
    rdma_create_qp: fn(*mut Id, *mut Domain, *mut QueuePairSetup) -> c_int;
    rdma_destroy_qp: fn(*mut Id);
    rdma_connect: fn(*mut Id, *mut Parameters) -> c_int;
    rdma_accept: fn(*mut Id, *mut Parameters) -> c_int;
    rdma_reject: fn(*mut Id, *const c_void, u8) -> c_int;
    rdma_disconnect: fn(*mut Id) -> c_int;
    rdma_get_cm_event: fn(*mut EventChannel, *mut *mut Event) -> c_int;
    rdma_ack_cm_event: fn(*mut Event) -> c_int;
});

functions!(pub(super) Verbs {
    ibv_alloc_pd: fn(*mut Context) -> *mut Domain;
    ibv_dealloc_pd: fn(*mut Domain) -> c_int;
    ibv_reg_mr: fn(*mut Domain, *mut c_void, usize, c_int) -> *mut Memory;
    ibv_dereg_mr: fn(*mut Memory) -> c_int;
    ibv_create_comp_channel: fn(*mut Context) -> *mut CompletionChannel;
    ibv_destroy_comp_channel: fn(*mut CompletionChannel) -> c_int;
    ibv_create_cq: fn(*mut Context, c_int, *mut c_void, *mut CompletionChannel, c_int) -> *mut Queue;
    ibv_destroy_cq: fn(*mut Queue) -> c_int;
    ibv_get_cq_event: fn(*mut CompletionChannel, *mut *mut Queue, *mut *mut c_void) -> c_int;
    ibv_ack_cq_events: fn(*mut Queue, c_uint);
    ibv_wc_status_str: fn(c_int) -> *const c_char;
});

/// Both libraries.
pub(super) fn load() -> Result<(Manager, Verbs), String> {
    let manager = Library::open(&["librdmacm.so.1"], "librdmacm1 ibverbs-providers")?;
    let verbs = Library::open(&["libibverbs.so.1"], "libibverbs1 ibverbs-providers")?;
    Ok((Manager::load(manager)?, Verbs::load(verbs)?))
}

/// enum rdma_port_space: RDMA_PS_TCP.
pub(super) const PORTS_TCP: c_int = 0x0106;
/// enum ibv_qp_type: IBV_QPT_RC.
pub(super) const RELIABLE: c_int = 2;
/// enum ibv_access_flags: local write, remote write, remote read.
pub(super) const ACCESS_ALL: c_int = 1 | 2 | 4;
/// enum ibv_send_flags: IBV_SEND_SIGNALED.
pub(super) const SIGNALED: c_uint = 2;
/// enum ibv_wc_flags: IBV_WC_WITH_IMM.
pub(super) const WITH_NUMBER: c_uint = 2;
/// enum ibv_wc_status: IBV_WC_WR_FLUSH_ERR.
pub(super) const FLUSHED: c_int = 5;
/// enum ibv_wc_opcode: IBV_WC_RECV and what follows it are receives.
pub(super) const RECEIVED: c_int = 1 << 7;

/// struct rdma_event_channel.
#[repr(C)]
pub(super) struct EventChannel {
    pub fd: c_int,
}

/// struct rdma_cm_id, up to its queue pair.
#[repr(C)]
pub(super) struct Id {
    pub context: *mut Context,
    pub channel: *mut EventChannel,
    pub user: *mut c_void,
    pub pair: *mut QueuePair,
}

/// struct ibv_pd.
pub(super) enum Domain {}

/// struct ibv_cq, up to its context.
#[repr(C)]
pub(super) struct Queue {
    pub context: *mut Context,
}

/// struct ibv_qp, up to its context.
#[repr(C)]
pub(super) struct QueuePair {
    pub context: *mut Context,
}

/// struct ibv_comp_channel, up to its descriptor.
#[repr(C)]
pub(super) struct CompletionChannel {
    pub context: *mut Context,
    pub fd: c_int,
}

/// struct ibv_context, up to its functions.
#[repr(C)]
pub(super) struct Context {
    pub device: *mut c_void,
    pub functions: ContextFunctions,
}

/// struct ibv_context_ops: the functions that headers of C call without the library.
#[repr(C)]
pub(super) struct ContextFunctions {
    before: [*mut c_void; 11],
    pub poll: unsafe extern "C" fn(*mut Queue, c_int, *mut Completion) -> c_int,
    pub arm: unsafe extern "C" fn(*mut Queue, c_int) -> c_int,
    between: [*mut c_void; 12],
    pub send:
        unsafe extern "C" fn(*mut QueuePair, *mut SendRequest, *mut *mut SendRequest) -> c_int,
    pub receive: unsafe extern "C" fn(
        *mut QueuePair,
        *mut ReceiveRequest,
        *mut *mut ReceiveRequest,
    ) -> c_int,
    after: [*mut c_void; 5],
}

/// struct ibv_mr.
#[repr(C)]
pub(super) struct Memory {
    pub context: *mut Context,
    pub domain: *mut Domain,
    pub address: *mut c_void,
    pub length: usize,
    pub handle: u32,
    pub local_key: u32,
    pub remote_key: u32,
}

/// struct ibv_sge.
#[repr(C)]
pub(super) struct Part {
    pub address: u64,
    pub length: u32,
    pub local_key: u32,
}

/// struct ibv_send_wr. Of its unions the members `imm_data` and `wr.rdma` are used.
#[repr(C)]
pub(super) struct SendRequest {
    pub identifier: u64,
    pub next: *mut SendRequest,
    pub parts: *mut Part,
    pub part_count: c_int,
    pub opcode: c_int,
    pub flags: c_uint,
    /// In the order of bytes of the network.
    pub number: u32,
    pub remote_address: u64,
    pub remote_key: u32,
    pub padding: u32,
    pub unused: [u64; 9],
}

/// struct ibv_recv_wr.
#[repr(C)]
pub(super) struct ReceiveRequest {
    pub identifier: u64,
    pub next: *mut ReceiveRequest,
    pub parts: *mut Part,
    pub part_count: c_int,
}

/// struct ibv_wc.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Completion {
    pub identifier: u64,
    pub status: c_int,
    pub opcode: c_int,
    pub vendor_error: u32,
    pub length: u32,
    /// In the order of bytes of the network.
    pub number: u32,
    pub pair_number: u32,
    pub source: u32,
    pub flags: c_uint,
    pub key_index: u16,
    pub source_lid: u16,
    pub service_level: u8,
    pub path_bits: u8,
}

/// struct ibv_qp_init_attr, with its struct ibv_qp_cap.
#[repr(C)]
pub(super) struct QueuePairSetup {
    pub user: *mut c_void,
    pub send_queue: *mut Queue,
    pub receive_queue: *mut Queue,
    pub shared_receives: *mut c_void,
    pub sends_max: u32,
    pub receives_max: u32,
    pub send_parts_max: u32,
    pub receive_parts_max: u32,
    pub inline_max: u32,
    pub kind: c_int,
    pub signals_all: c_int,
}

/// struct rdma_conn_param.
#[repr(C)]
pub(super) struct Parameters {
    pub data: *const c_void,
    pub data_length: u8,
    /// Reads of the other side that may be in flight, and reads of this side.
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub flow_control: u8,
    pub retries: u8,
    /// 7: without end.
    pub receiver_retries: u8,
    pub shared_receives: u8,
    pub pair_number: u32,
}

/// struct rdma_cm_event.
#[repr(C)]
pub(super) struct Event {
    pub id: *mut Id,
    pub listener: *mut Id,
    pub kind: c_int,
    pub status: c_int,
    /// Of its union; valid for connections.
    pub parameters: Parameters,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn structures_are_laid_out_as_in_the_headers() {
        assert_eq!(size_of::<Part>(), 16);
        assert_eq!(size_of::<SendRequest>(), 128);
        assert_eq!(offset_of!(SendRequest, opcode), 28);
        assert_eq!(offset_of!(SendRequest, number), 36);
        assert_eq!(offset_of!(SendRequest, remote_address), 40);
        assert_eq!(size_of::<ReceiveRequest>(), 32);
        assert_eq!(size_of::<Completion>(), 48);
        assert_eq!(offset_of!(Completion, length), 20);
        assert_eq!(offset_of!(Completion, flags), 36);
        assert_eq!(size_of::<QueuePairSetup>(), 64);
        assert_eq!(offset_of!(QueuePairSetup, kind), 52);
        assert_eq!(size_of::<Parameters>(), 24);
        assert_eq!(size_of::<Memory>(), 48);
        assert_eq!(offset_of!(Memory, remote_key), 40);
        assert_eq!(size_of::<ContextFunctions>(), 256);
        assert_eq!(offset_of!(ContextFunctions, poll), 88);
        assert_eq!(offset_of!(ContextFunctions, arm), 96);
        assert_eq!(offset_of!(ContextFunctions, send), 200);
        assert_eq!(offset_of!(ContextFunctions, receive), 208);
        assert_eq!(offset_of!(Context, functions), 8);
        assert_eq!(offset_of!(CompletionChannel, fd), 8);
        assert_eq!(offset_of!(Id, pair), 24);
        assert_eq!(offset_of!(Event, kind), 16);
        assert_eq!(offset_of!(Event, parameters), 24);
    }
}
