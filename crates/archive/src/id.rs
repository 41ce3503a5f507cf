//! How runs and sets are called.

use serde::Serialize;
use std::fmt;

/// Characters of an id that are shown: one of a hundred archives of ten thousand runs has two runs
/// that share so many.
const SHOWN: usize = 8;

/// A run: 16 hexadecimal digits, drawn at random, so that ids stay different where archives are
/// brought together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct RunId(pub(crate) String);

/// Runs that were made together; as [`RunId`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SetId(pub(crate) String);

impl RunId {
    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its beginning, as it is shown.
    pub fn short(&self) -> &str {
        short(&self.0)
    }
}

impl SetId {
    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its beginning, as it is shown.
    pub fn short(&self) -> &str {
        short(&self.0)
    }
}

fn short(id: &str) -> &str {
    id.get(..SHOWN).unwrap_or(id)
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
