//! The log of what is seen.

use super::wrong_file;
use anyhow::{Context, Result};
use live::log::{Entry, Reader, line};
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A log that is being written.
pub struct Log {
    file: File,
    name: String,
}

impl Log {
    /// Opens a log to go on with it, or makes one.
    ///
    /// # Errors
    /// When it cannot be written, or what is there is no log.
    pub fn open(path: &Path) -> Result<Log> {
        let wrong = |why: &dyn std::fmt::Display| wrong_file("log", path, why);
        let mut file =
            OpenOptions::new().append(true).create(true).open(path).map_err(|e| wrong(&e))?;
        let metadata = file.metadata().map_err(|e| wrong(&e))?;
        if metadata.is_file() && metadata.len() > 0 {
            let cut_off = check(path).map_err(|why| {
                wrong(&format!("{why}; nothing was written: name another file, or remove this one"))
            })?;
            if cut_off {
                file.write_all(b"\n").map_err(|e| wrong(&e))?;
            }
        }
        Ok(Log { file, name: path.display().to_string() })
    }

    /// Adds an entry, which is in the file when this returns.
    ///
    /// # Errors
    /// When it cannot be written: the disk is full, the file went away.
    pub fn add(&mut self, entry: &Entry) -> Result<()> {
        let line = line(entry)?;
        self.file
            .write_all(line.as_bytes())
            .with_context(|| format!("--log: cannot write '{}', which ends here", self.name))
    }
}

/// Whether the last line of a log is cut off.
///
/// # Errors
/// Why it is no log that could be gone on with.
fn check(path: &Path) -> Result<bool, String> {
    let text = |error: std::io::Error| crate::output::describe(&error.into());
    let mut file = File::open(path).map_err(text)?;
    Reader::new(BufReader::new(&file)).next_entry().map_err(|error| error.to_string())?;
    file.seek(SeekFrom::End(-1)).map_err(text)?;
    let mut last = [0];
    file.read_exact(&mut last).map_err(text)?;
    Ok(last != *b"\n")
}
