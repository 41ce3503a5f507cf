//! Locking what a thread that panicked may have held.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it, also after a panic: that leaves plain data behind, and what was measured must still be
/// shown.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
