//! Passes a task to the process that carries it out, and its result back, in a file in memory: a full
//! disk loses nothing.

use anyhow::{Context, Result};
use apps::Task;
use record::Work;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;

/// A file in memory for one task and its result.
pub struct Channel {
    file: File,
    /// Its path for other processes of this user. Has no spaces, because the arguments of a program
    /// are split there.
    pub name: String,
}

impl Channel {
    /// Creates an empty file.
    pub fn new() -> Result<Channel> {
        let file = memfd_create("fathom-app", MemfdFlags::CLOEXEC)
            .context("cannot create a file in memory for the task of a phase")?;
        let file = File::from(file);
        let name = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok(Channel { file, name })
    }

    /// Writes the task.
    pub fn write_task(&mut self, task: &Task) -> Result<()> {
        write(&mut self.file, &serde_json::to_vec(task)?)
    }

    /// Reads the result; `None` if there is none.
    pub fn read_result(&mut self) -> Option<Work> {
        serde_json::from_slice(&read(&mut self.file).ok()?).ok()
    }
}

/// Reads a channel's file.
pub fn read(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces the contents of a channel's file.
pub fn write(file: &mut File, bytes: &[u8]) -> Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn a_result_of_another_process_is_read() {
        let mut channel = Channel::new().unwrap();
        assert_eq!(channel.read_result(), None);
        let mut other = OpenOptions::new().read(true).write(true).open(&channel.name).unwrap();
        write(&mut other, b"a text that is no result, and longer than the result that follows it")
            .unwrap();
        assert_eq!(channel.read_result(), None, "the text is not a result");
        let work = Work { failure: Some("why".into()), ..Work::default() };
        write(&mut other, &serde_json::to_vec(&work).unwrap()).unwrap();
        assert_eq!(channel.read_result(), Some(work));
    }
}
