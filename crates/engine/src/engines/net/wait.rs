//! Waiting for the other side of a connection.

use crate::engines::WaitLimit;
use std::io;
use std::time::Duration;

/// Timeout of each call on a socket; the wait limit is checked in between.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Why a block was not transferred.
pub(super) enum TransferError {
    /// The wait limit was reached.
    Limit,
    /// The other side has ended.
    Closed,
    /// The call failed.
    Failed(io::Error),
}

impl From<io::Error> for TransferError {
    fn from(error: io::Error) -> Self {
        TransferError::Failed(error)
    }
}

/// Bytes moved.
pub(super) type Transferred = Result<usize, TransferError>;

/// `Ok` if the call only timed out and may be repeated.
pub(super) fn check_retry(error: io::Error, limit: &WaitLimit) -> Result<(), TransferError> {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {
            if limit.is_reached() { Err(TransferError::Limit) } else { Ok(()) }
        }
        _ => Err(TransferError::Failed(error)),
    }
}
