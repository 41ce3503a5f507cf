//! What jobs are read from: files, standard input, the environment, this machine.

use job::{Inputs, Keywords};
use record::Facts;
use std::io::{self, Read};

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
        if path != "-" {
            return std::fs::read(path);
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn keywords(&self) -> Keywords {
        self.keywords
    }
}
