//! What jobs are read from: files, standard input, the environment, this machine.

use job::{Inputs, Keywords};
use record::Facts;
use std::fs::File;
use std::io::{self, Read};

/// More than this is no job file: a device that never ends, or the wrong file.
const LARGEST: u64 = 64 << 20;

/// The real inputs.
pub struct Machine {
    keywords: Keywords,
}

impl Machine {
    /// Keywords stand for what `facts` say.
    pub fn new(facts: &Facts) -> Self {
        let keywords = Keywords {
            page_size: facts.page_size.0,
            memory_mib: facts.memory.0 >> 20,
            cpus: facts.cpu.online.into(),
        };
        Machine { keywords }
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
        self.keywords
    }
}

/// The bytes of a job file; "-" is standard input.
///
/// # Errors
/// Those of the system; it is larger than a job file can be.
pub fn read(path: &str) -> io::Result<Vec<u8>> {
    match path {
        "-" => bounded(io::stdin().lock()),
        path => bounded(File::open(path)?),
    }
}

fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(io::Error::other(format!("it is larger than {} MiB", LARGEST >> 20))),
        false => Ok(bytes),
    }
}
