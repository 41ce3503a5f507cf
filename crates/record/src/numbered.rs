//! Objects of a store that are known by number.

use serde::{Deserialize, Serialize};

/// The numbered objects that a worker put, well or not: their paths are `below` and the number in
/// eight digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectsPut {
    /// "/bucket/prefix/CLONE/".
    pub below: String,
    /// The first number.
    pub from: u32,
    /// One more than the last.
    pub to: u32,
}
