//! Numbered objects of a store.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The numbered objects that a worker tried to put; [`numbered_path`] makes their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectsPut {
    /// "/bucket/prefix/CLONE/".
    pub below: String,
    /// The first number.
    pub from: u32,
    /// The number after the last.
    pub to: u32,
}

/// Replaces `path` by the path of object `number`: `below` and the number with eight digits.
pub fn numbered_path(below: &str, number: u32, path: &mut String) {
    path.clear();
    // Writing to a string cannot fail.
    let _ = write!(path, "{below}{number:08}");
}
