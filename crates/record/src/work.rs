//! The work of a program that a run executes (`ioengine=exec`), if the program reports it.

use crate::{Nanos, named};
use serde::{Deserialize, Serialize};

/// The work that a program reports, without what it did before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The amount of work; `None` if it has no number.
    #[serde(default)]
    pub amount: Option<Amount>,
    /// The content of the page cache at the start.
    #[serde(default)]
    pub cache: CacheState,
    /// Its parts, in sequence.
    #[serde(default)]
    pub parts: Vec<WorkPart>,
    /// Why it is incomplete.
    #[serde(default)]
    pub failure: Option<String>,
}

/// An amount of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// The unit.
    pub unit: WorkUnit,
}

/// The unit of an amount of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkUnit {
    /// Uncompressed bytes.
    #[default]
    Bytes,
    /// Files.
    Files,
    /// Rows of a table.
    Rows,
    /// Test programs that were compiled.
    Checks,
}

named!(WorkUnit: Bytes "bytes", Files "files", Rows "rows", Checks "checks");

/// The content of the page cache at the start of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// What earlier work left there.
    #[default]
    Warm,
    /// The kernel was advised, file by file, to drop its pages of the files (posix_fadvise(2),
    /// POSIX_FADV_DONTNEED). Names and attributes may have remained.
    Advised,
    /// Nothing of the files (/proc/sys/vm/drop_caches, 3).
    Dropped,
}

named!(CacheState: Warm "warm", Advised "advised", Dropped "dropped");

/// A part of work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkPart {
    /// Its name ("gzip", "sync").
    pub name: String,
    /// Its start, from the program's start.
    pub from: Nanos,
    /// Its length.
    pub length: Nanos,
    /// CPU time of this process and its children; `None` if a server did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Nanos>,
}

impl Work {
    /// Total time of its parts.
    pub fn length(&self) -> Nanos {
        Nanos(self.parts.iter().map(|part| part.length.0).sum())
    }

    /// CPU time of all parts; `None` if that of a part is unknown.
    pub fn cpu(&self) -> Option<Nanos> {
        self.parts.iter().map(|part| Some(part.cpu?.0)).sum::<Option<u64>>().map(Nanos)
    }

    /// Start of its first part and end of its last, from the program's start; `None` without parts.
    pub fn window(&self) -> Option<(Nanos, Nanos)> {
        let (first, last) = (self.parts.first()?, self.parts.last()?);
        Some((first.from, last.from + last.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_as_long_as_its_parts_and_lies_between_their_ends() {
        let part = |from, length| WorkPart {
            name: "x".into(),
            from: Nanos(from),
            length: Nanos(length),
            cpu: None,
        };
        let work = Work { parts: vec![part(10, 5), part(20, 7)], ..Work::default() };
        assert_eq!((work.length(), work.window()), (Nanos(12), Some((Nanos(10), Nanos(27)))));
        assert_eq!((Work::default().length(), Work::default().window()), (Nanos(0), None));
    }

    #[test]
    fn a_field_that_an_older_program_does_not_write_is_unknown() {
        let work: Work = serde_json::from_str("{}").unwrap();
        assert_eq!(work, Work::default());
    }
}
