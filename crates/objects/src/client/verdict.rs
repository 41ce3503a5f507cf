//! The meaning of an answer for its request.

use super::slot::Slot;
use crate::answer::{Hints, failure, hidden_failure};
use crate::wire::{Head, Reading};
use crate::{Answer, Failure, Verb};
use std::time::SystemTime;

/// The answer to a slot's request, or its failure.
pub fn verdict(slot: &Slot, head: Head, text: Vec<u8>) -> Result<Answer, Failure> {
    let now = SystemTime::now();
    if head.status >= 300 {
        let mut hints = Hints::default();
        for (name, value) in &head.headers {
            hints.read_header(name, value.as_bytes());
        }
        return Err(failure(head.status, &hints, &text, now));
    }
    let verb = slot.verb();
    // The server sent status 200 before it knew the result.
    if verb == Verb::EndUpload
        && let Some(failure) = hidden_failure(head.status, &text, now)
    {
        return Err(failure);
    }
    Ok(Answer {
        status: head.status,
        moved: match verb {
            Verb::Put | Verb::PutPart | Verb::Get => slot.length(),
            _ => 0,
        },
        tag: head.tag,
        length: head.length.filter(|_| verb == Verb::Head),
        document: text,
    })
}

/// Whether the server closed the connection while it was idle, as it may, and not because of this
/// request.
pub fn was_closed_idle(failure: &Failure, served: u64, reading: Option<&Reading>) -> bool {
    let closed = matches!(failure, Failure::Broken(_) | Failure::Short { .. });
    closed && served > 0 && reading.is_none_or(|reading| !reading.has_begun())
}
