//! The log of samples (`--log`).

use anyhow::{Context, Result};
use live::log::{Entry, Reader, line};
use runner::Refusal;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Appends entries to a log.
pub struct Log {
    file: File,
    name: String,
}

impl Log {
    /// Opens a log to append to it, or creates it.
    ///
    /// # Errors
    /// When the file cannot be written, or exists and is not a log.
    pub fn open(path: &Path) -> Result<Log> {
        let wrong = |why: &dyn std::fmt::Display| file_error("log", path, why);
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

    /// Writes an entry to the file.
    ///
    /// # Errors
    /// When it cannot be written, such as on a full disk.
    pub fn add(&mut self, entry: &Entry) -> Result<()> {
        let line = line(entry)?;
        self.file
            .write_all(line.as_bytes())
            .with_context(|| format!("--log: cannot write '{}'; the log ends here", self.name))
    }
}

/// A usage error about the file of an option.
pub fn file_error(option: &str, file: &Path, why: impl std::fmt::Display) -> anyhow::Error {
    let why = why.to_string();
    let why = why.split(" (os error ").next().unwrap_or_default();
    Refusal::usage(format!("--{option}: '{}': {why}", file.display()))
}

/// Whether the last line of a log is cut off.
///
/// # Errors
/// Why entries cannot be appended to the file.
fn check(path: &Path) -> Result<bool, String> {
    let text = |error: std::io::Error| crate::output::describe(&error.into());
    let mut file = File::open(path).map_err(text)?;
    Reader::new(BufReader::new(&file)).next_entry().map_err(|error| error.to_string())?;
    file.seek(SeekFrom::End(-1)).map_err(text)?;
    let mut last = [0];
    file.read_exact(&mut last).map_err(text)?;
    Ok(last != *b"\n")
}
