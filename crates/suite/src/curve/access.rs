//! Kinds of I/O that a curve can measure.

/// A kind of access: a value of `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access(&'static str);

impl Access {
    /// Their names.
    pub const NAMES: [&'static str; 6] =
        ["randread", "randwrite", "read", "write", "randrw", "readwrite"];

    /// The access with this name.
    pub fn named(name: &str) -> Option<Access> {
        Access::NAMES.into_iter().find(|known| *known == name).map(Access)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Whether it overwrites data.
    pub fn writes(self) -> bool {
        !matches!(self.0, "read" | "randread")
    }

    /// "random reads".
    pub fn title(self) -> &'static str {
        match self.0 {
            "randread" => "random reads",
            "randwrite" => "random writes",
            "read" => "sequential reads",
            "write" => "sequential writes",
            "randrw" => "random reads and writes",
            _ => "sequential reads and writes",
        }
    }

    pub(super) fn is_sequential(self) -> bool {
        !self.0.starts_with("rand")
    }
}
