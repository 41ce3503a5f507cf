//! Messages of `verbose` on stderr.

use super::slot::Slot;
use crate::sign::without_secrets;
use crate::wire::Head;
use crate::{Answer, Endpoint, Failure};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Shows the head of a request.
pub fn request(slot: u32, to: &Endpoint, head: &[u8]) {
    let text = without_secrets(head);
    show(&format!("objects: slot {slot} to {to}:\n{}", indented(&text, "> ")));
}

/// Shows the head of an answer.
pub fn answer(slot: u32, head: &Head) {
    let mut text = format!("status {}", head.status);
    for (name, value) in &head.headers {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{name}: {value}");
    }
    let text = without_secrets(text.as_bytes());
    show(&format!("objects: slot {slot} is answered:\n{}", indented(&text, "< ")));
}

/// Shows the result of a request.
pub fn end(slot: &Slot, result: &Result<Answer, Failure>, now: u64) {
    let what = match result {
        Ok(answer) => answer.status.to_string(),
        Err(failure) => failure.to_string(),
    };
    let ms = now.saturating_sub(slot.stamps.begun) as f64 / 1e6;
    show(&format!("objects: {} {} {what} ({ms:.3} ms)", slot.verb().name(), slot.path()));
}

/// Shows why a request is retried.
pub fn repeat(slot: &Slot, failure: &Failure) {
    show(&format!("objects: {} {} again: {failure}", slot.verb().name(), slot.path()));
}

fn show(text: &str) {
    // Control characters from a server must not reach the terminal.
    let plain = |char: char| if char.is_control() && char != '\n' { '?' } else { char };
    let text: String = text.chars().map(plain).collect();
    // The run continues even if stderr is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn indented(text: &str, with: &str) -> String {
    text.lines().map(|line| format!("{with}{line}")).collect::<Vec<_>>().join("\n")
}
