//! Inputs made of texts, so that no test touches a file.

#![allow(dead_code, reason = "each test program uses its own part")]

use job::{Inputs, Keywords};
use std::collections::BTreeMap;
use std::io;

/// Files and variables by name.
pub struct Texts {
    pub files: BTreeMap<String, Vec<u8>>,
    pub variables: BTreeMap<String, String>,
    pub keywords: Keywords,
}

impl Default for Texts {
    fn default() -> Self {
        let keywords = Keywords { page_size: 4096, memory_mib: 1000, cpus: 2, place: None };
        Texts { files: BTreeMap::new(), variables: BTreeMap::new(), keywords }
    }
}

impl Texts {
    /// One file, `quick.fio`.
    pub fn one(text: impl Into<Vec<u8>>) -> Self {
        Texts::default().file("quick.fio", text)
    }

    /// One more file.
    pub fn file(mut self, name: &str, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(name.into(), text.into());
        self
    }
}

impl Inputs for Texts {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn keywords(&self) -> Keywords {
        self.keywords.clone()
    }
}
