//! What a program did that a run ran (`ioengine=exec`), where the program tells of it.

use crate::{Nanos, named};
use serde::{Deserialize, Serialize};

/// The work of a program, as it told it itself: what it did before and after is not part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// How much was done; `None` where that has no number.
    #[serde(default)]
    pub amount: Option<Amount>,
    /// What was in memory when it began.
    #[serde(default)]
    pub cache: CacheState,
    /// What it was made of, one after the other.
    #[serde(default)]
    pub parts: Vec<WorkPart>,
    /// Why it is not whole.
    #[serde(default)]
    pub failure: Option<String>,
}

/// An amount of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// Of what.
    pub unit: WorkUnit,
}

/// What an amount of work counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkUnit {
    /// Bytes, of what is not compressed.
    #[default]
    Bytes,
    /// Files.
    Files,
    /// Rows of a table.
    Rows,
    /// Programs that were compiled to see whether they do.
    Checks,
}

named!(WorkUnit: Bytes "bytes", Files "files", Rows "rows", Checks "checks");

/// What was in memory when work began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// Whatever work before had left there.
    #[default]
    Warm,
    /// The kernel was advised, file by file, to give up what it had of the files
    /// (posix_fadvise(2), POSIX_FADV_DONTNEED); names and attributes may have stayed.
    Advised,
    /// Nothing that could be read again (/proc/sys/vm/drop_caches, 3).
    Dropped,
}

named!(CacheState: Warm "warm", Advised "advised", Dropped "dropped");

/// A part of some work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkPart {
    /// What was done ("gzip", "sync").
    pub name: String,
    /// When it began, from the program's start.
    pub from: Nanos,
    /// How long it took.
    pub length: Nanos,
    /// CPU time that this process and its children used; `None` where a server did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Nanos>,
}

impl Work {
    /// Time that all its parts took.
    pub fn length(&self) -> Nanos {
        Nanos(self.parts.iter().map(|part| part.length.0).sum())
    }

    /// CPU time of all its parts; `None` where that of one is unknown.
    pub fn cpu(&self) -> Option<Nanos> {
        self.parts.iter().map(|part| Some(part.cpu?.0)).sum::<Option<u64>>().map(Nanos)
    }

    /// When its first part began and its last ended, from the program's start; `None` without any.
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
