//! What a job is read from, read once: a sweep reads its job for every cell, perhaps days apart, and
//! it has to be the same job.

use job::{Inputs, Keywords};
use record::SourceText;
use runner::inputs::Machine;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use suite::sweep::Manifest;

/// Inputs that are asked for once each.
pub struct Remembered {
    machine: Machine,
    texts: RefCell<BTreeMap<String, String>>,
    variables: RefCell<BTreeMap<String, Option<String>>>,
}

impl Remembered {
    /// Nothing remembered yet.
    pub fn new(machine: Machine) -> Remembered {
        Remembered { machine, texts: RefCell::default(), variables: RefCell::default() }
    }

    /// What a sweep remembered when it began.
    pub fn of(manifest: &Manifest, machine: Machine) -> Remembered {
        let texts = manifest.sources.iter().map(|s| (s.name.clone(), s.text.clone()));
        Remembered {
            machine,
            texts: RefCell::new(texts.collect()),
            variables: RefCell::new(manifest.variables.clone()),
        }
    }

    /// Files that were read.
    pub fn sources(&self) -> Vec<SourceText> {
        let texts = self.texts.borrow();
        let source = |(name, text): (&String, &String)| SourceText {
            name: name.clone(),
            text: text.clone(),
        };
        texts.iter().map(source).collect()
    }

    /// Variables that were asked for.
    pub fn variables(&self) -> BTreeMap<String, Option<String>> {
        self.variables.borrow().clone()
    }
}

impl Inputs for Remembered {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if let Some(text) = self.texts.borrow().get(path) {
            return Ok(text.clone().into_bytes());
        }
        let text = String::from_utf8(self.machine.read(path)?).map_err(|_| {
            io::Error::other("it is not UTF-8 text, and a sweep keeps its job as text")
        })?;
        self.texts.borrow_mut().insert(path.into(), text.clone());
        Ok(text.into_bytes())
    }

    fn variable(&self, name: &str) -> Option<String> {
        let mut known = self.variables.borrow_mut();
        known.entry(name.into()).or_insert_with(|| self.machine.variable(name)).clone()
    }

    fn keywords(&self) -> Keywords {
        self.machine.keywords()
    }
}
