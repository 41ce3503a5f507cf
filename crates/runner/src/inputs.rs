//! Inputs of the job parser: files, standard input, the environment, this machine.

use job::{Inputs, Keywords, RankPlace};
use record::Facts;
use std::fs::File;
use std::io::{self, Read};

/// Largest job file. More is the wrong file, or a device that never ends.
const JOB_FILE_MAX: u64 = 64 << 20;

/// The real inputs.
pub struct Machine {
    keywords: Keywords,
}

impl Machine {
    /// The values of keywords come from `facts`.
    pub fn new(facts: &Facts) -> Self {
        let keywords = Keywords {
            page_size: facts.page_size.0,
            memory_mib: facts.memory.0 >> 20,
            cpus: facts.cpu.online.into(),
            place: None,
        };
        Machine { keywords }
    }

    /// The same with the place among ranks.
    pub fn at(mut self, place: RankPlace) -> Self {
        self.keywords.place = Some(place);
        self
    }
}

impl Inputs for Machine {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        read(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn keywords(&self) -> Keywords {
        self.keywords.clone()
    }
}

/// Reads a job file; "-" is standard input.
///
/// # Errors
/// When it cannot be read or is larger than 64 MiB.
pub fn read(path: &str) -> io::Result<Vec<u8>> {
    match path {
        "-" => bounded(io::stdin().lock()),
        path => bounded(File::open(path)?),
    }
}

fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(JOB_FILE_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > JOB_FILE_MAX {
        true => Err(io::Error::other(format!("it is larger than {} MiB", JOB_FILE_MAX >> 20))),
        false => Ok(bytes),
    }
}
