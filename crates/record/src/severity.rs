//! How grave messages and findings are.

use serde::{Deserialize, Serialize};

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// The figures may mislead.
    Warning,
    /// Something failed.
    Error,
}
