//! The request on an object that performs an I/O.

use crate::hot::op::{Op, OpKind};
use objects::Action;

/// The request and the bytes it sends or receives; `None` if there is no request for the kind of
/// I/O. With `ranges`, a read fetches only its part of the object.
pub(super) fn object_request(op: &Op, ranges: bool) -> Option<(Action, u64)> {
    match op.kind {
        OpKind::Read => {
            let range = ranges.then_some((op.offset, op.length));
            Some((Action::Get { range }, op.length))
        }
        OpKind::Write => Some((Action::Put, op.length)),
        OpKind::Trim => Some((Action::Delete, 0)),
        OpKind::Stat => Some((Action::Head, 0)),
        OpKind::ResetZone | OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_) => None,
    }
}
