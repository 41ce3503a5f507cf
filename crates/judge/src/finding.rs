//! What a check says.

use record::{Remedy, Sentence, Severity};

/// One thing the user should know about a figure, with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Id of the check ("served-from-cache").
    pub check: &'static str,
    /// How grave.
    pub severity: Severity,
    /// The jobs it is about; empty: the whole run.
    pub jobs: Vec<String>,
    /// What was seen, in one sentence with its figures.
    pub text: Sentence,
    /// The figures that decide it.
    pub figures: Vec<Figure>,
    /// What makes it so.
    pub cause: Sentence,
    /// What to do, precisely enough to be done: the option, the command.
    pub remedy: Remedy,
}

/// A figure with its name and unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What it is ("bytes the device read").
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Its unit: "bytes", "ns", "percent", "IOPS", "bytes/s", "count", "degrees C", "ratio" …
    pub unit: &'static str,
}

impl Figure {
    /// A figure.
    pub fn new(name: &'static str, value: f64, unit: &'static str) -> Figure {
        Figure { name, value, unit }
    }
}
