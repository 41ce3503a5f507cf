//! Reads the lines of a text log, with a limit on their length.

use crate::error::TraceError;
use std::io::BufRead;

/// Longest line: more than a path of the maximum length needs.
const LONGEST: usize = 8192;

/// Reads lines and counts them.
pub(crate) struct Lines<R> {
    input: R,
    line: u64,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        Lines { input, line: 0, bytes: Vec::new() }
    }

    /// The next line without its end; `None` at the end of the log.
    pub fn next(&mut self) -> Result<Option<&str>, TraceError> {
        self.bytes.clear();
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                if self.bytes.is_empty() {
                    return Ok(None);
                }
                break;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            self.bytes.extend_from_slice(&available[..taken]);
            self.input.consume(end.map_or(taken, |end| end + 1));
            if self.bytes.len() > LONGEST {
                self.line += 1;
                return Err(self.wrong(format!("longer than {LONGEST} bytes: this is no iolog")));
            }
            if end.is_some() {
                break;
            }
        }
        self.line += 1;
        let line = self.line;
        let text = std::str::from_utf8(&self.bytes).map_err(|_| TraceError::Line {
            line,
            what: "not UTF-8 text; give names in UTF-8".into(),
        })?;
        Ok(Some(text))
    }

    /// An error about the last line.
    pub fn wrong(&self, what: String) -> TraceError {
        TraceError::Line { line: self.line, what }
    }
}
