//! Files and variables that a job reads. A sweep parses its job for every cell, perhaps days apart, and
//! it must stay the same job, so each is read once and stored.

use job::{Inputs, Keywords};
use record::SourceText;
use runner::inputs::Machine;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use suite::sweep::Manifest;

/// Inputs of a job, each read once.
pub struct JobInputs {
    machine: Machine,
    texts: RefCell<BTreeMap<String, String>>,
    variables: RefCell<BTreeMap<String, Option<String>>>,
}

impl JobInputs {
    /// Inputs of a new sweep.
    pub fn new(machine: Machine) -> JobInputs {
        JobInputs { machine, texts: RefCell::default(), variables: RefCell::default() }
    }

    /// The inputs that a sweep stored when it started.
    pub fn from_manifest(manifest: &Manifest, machine: Machine) -> JobInputs {
        let texts = manifest.sources.iter().map(|s| (s.name.clone(), s.text.clone()));
        JobInputs {
            machine,
            texts: RefCell::new(texts.collect()),
            variables: RefCell::new(manifest.variables.clone()),
        }
    }

    /// The files that were read.
    pub fn sources(&self) -> Vec<SourceText> {
        let texts = self.texts.borrow();
        let source = |(name, text): (&String, &String)| SourceText {
            name: name.clone(),
            text: text.clone(),
        };
        texts.iter().map(source).collect()
    }

    /// The variables that were read; `None`: not set.
    pub fn variables(&self) -> BTreeMap<String, Option<String>> {
        self.variables.borrow().clone()
    }
}

impl Inputs for JobInputs {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if let Some(text) = self.texts.borrow().get(path) {
            return Ok(text.clone().into_bytes());
        }
        let text = String::from_utf8(self.machine.read(path)?).map_err(|_| {
            io::Error::other("it is not UTF-8 text; a sweep stores its job as text")
        })?;
        self.texts.borrow_mut().insert(path.into(), text.clone());
        Ok(text.into_bytes())
    }

    fn variable(&self, name: &str) -> Option<String> {
        let mut variables = self.variables.borrow_mut();
        variables.entry(name.into()).or_insert_with(|| self.machine.variable(name)).clone()
    }

    fn keywords(&self) -> Keywords {
        self.machine.keywords()
    }
}
