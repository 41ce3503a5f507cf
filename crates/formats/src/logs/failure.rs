//! Messages of log files that cannot be written.

use std::io;

pub(super) fn cannot_write(path: &str, error: &io::Error) -> String {
    format!("cannot write log '{path}': {}", os_error_text(error))
}

/// The text of an error without the error number that Rust appends.
pub(super) fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().into()
}
