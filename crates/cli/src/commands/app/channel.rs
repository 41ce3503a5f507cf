//! How a task gets to the process that carries it out, and what it tells gets back: a file that is
//! nowhere but in memory, so that a full disk loses nothing.

use anyhow::{Context, Result};
use apps::Task;
use record::Work;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;

/// The file, and its name for other processes of this user.
pub struct Channel {
    file: File,
    /// Without blanks, at which the arguments of a program are split.
    pub name: String,
}

impl Channel {
    /// An empty one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> Result<Channel> {
        let file = memfd_create("fathom-app", MemfdFlags::CLOEXEC)
            .context("no memory for what a phase is told")?;
        let file = File::from(file);
        let name = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok(Channel { file, name })
    }

    /// Leaves a task in it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn give(&mut self, task: &Task) -> Result<()> {
        write(&mut self.file, &serde_json::to_vec(task)?)
    }

    /// What was told of the task; `None` when nothing was.
    pub fn told(&mut self) -> Option<Work> {
        serde_json::from_slice(&read(&mut self.file).ok()?).ok()
    }
}

/// All of a channel.
pub fn read(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces all of a channel.
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
    fn what_another_process_writes_is_told() {
        let mut channel = Channel::new().unwrap();
        assert_eq!(channel.told(), None);
        let mut other = OpenOptions::new().read(true).write(true).open(&channel.name).unwrap();
        write(&mut other, b"a text that is longer than what comes after it, by far, and no task")
            .unwrap();
        assert_eq!(channel.told(), None, "what is no work is nothing");
        let work = Work { failure: Some("why".into()), ..Work::default() };
        write(&mut other, &serde_json::to_vec(&work).unwrap()).unwrap();
        assert_eq!(channel.told(), Some(work));
    }
}
