//! The findings of checks.

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
    /// What happened, in one sentence with its figures.
    pub text: Sentence,
    /// The figures that decide it.
    pub figures: Vec<Figure>,
    /// The cause.
    pub cause: Sentence,
    /// What to do: the option, the command.
    pub remedy: Remedy,
}

impl Finding {
    /// The same with the figures that decide it.
    pub(crate) fn figures(self, figures: impl Into<Vec<Figure>>) -> Finding {
        Finding { figures: figures.into(), ..self }
    }

    /// The same with another cause than its check's.
    pub(crate) fn cause(self, cause: impl Into<Sentence>) -> Finding {
        Finding { cause: cause.into(), ..self }
    }

    /// The same with another remedy than its check's.
    pub(crate) fn remedy(self, remedy: impl Into<Remedy>) -> Finding {
        Finding { remedy: remedy.into(), ..self }
    }
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
