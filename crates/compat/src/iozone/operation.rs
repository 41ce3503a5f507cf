//! The operations of IOzone's tests and their names.

use Family::{Plain, Positioned, Stdio, Vectored};
use Operation::*;

/// An operation: a column of the table, or a phase of throughput mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A new file is written.
    Write,
    /// It is written again.
    Rewrite,
    /// It is read.
    Read,
    /// It is read again.
    Reread,
    /// Its records are read in random order.
    RandomRead,
    /// Its records are written in random order.
    RandomWrite,
    /// It is read from its end to its beginning.
    BackwardRead,
    /// One record is written again and again.
    RecordRewrite,
    /// Records are read with a stride.
    StrideRead,
    /// A new file is written by fwrite(3).
    Fwrite,
    /// It is written again by fwrite(3).
    Frewrite,
    /// It is read by fread(3).
    Fread,
    /// It is read again by fread(3).
    Freread,
    /// Reads and writes in random order.
    Mixed,
    /// A new file is written by pwrite(2).
    Pwrite,
    /// It is written again by pwrite(2).
    Repwrite,
    /// It is read by pread(2).
    Pread,
    /// It is read again by pread(2).
    Repread,
    /// A new file is written by pwritev(2).
    Pwritev,
    /// It is written again by pwritev(2).
    Repwritev,
    /// It is read by preadv(2).
    Preadv,
    /// It is read again by preadv(2).
    Repreadv,
}

/// The properties of an operation.
pub struct Kind {
    /// The operation.
    pub operation: Operation,
    /// Number of its test.
    pub test: u8,
    /// Name in records.
    pub name: &'static str,
    /// The ends of the two lines above its column.
    pub heads: [&'static str; 2],
    /// Width of its column.
    pub width: usize,
    /// Title of its spreadsheet block.
    pub sheet: &'static str,
    /// Whether it changes the file.
    pub writes: bool,
    /// Whether it is the second result of its test.
    pub again: bool,
    /// The system calls that it measures.
    pub calls: Family,
}

/// The system calls that an operation measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// lseek, then read or write.
    Plain,
    /// fread or fwrite.
    Stdio,
    /// pread or pwrite.
    Positioned,
    /// preadv or pwritev.
    Vectored,
}

const fn kind(
    operation: Operation,
    test: u8,
    calls: Family,
    name: &'static str,
    heads: [&'static str; 2],
    width: usize,
    sheet: &'static str,
) -> Kind {
    Kind { operation, test, name, heads, width, sheet, writes: false, again: false, calls }
}

impl Kind {
    const fn writes(self) -> Kind {
        Kind { writes: true, ..self }
    }

    const fn again(self) -> Kind {
        Kind { again: true, ..self }
    }
}

/// All operations, in the order of the table's columns.
static KINDS: [Kind; 22] = [
    kind(Write, 0, Plain, "write", ["", "write"], 9, "Writer report").writes(),
    kind(Rewrite, 0, Plain, "rewrite", ["", "rewrite"], 9, "Re-writer report").writes().again(),
    kind(Read, 1, Plain, "read", ["", "read "], 9, "Reader report"),
    kind(Reread, 1, Plain, "reread", ["", "reread"], 9, "Re-Reader report").again(),
    kind(RandomRead, 2, Plain, "randread", ["random", "read"], 8, "Random read report"),
    kind(RandomWrite, 2, Plain, "randwrite", ["random", "write"], 10, "Random write report")
        .writes(),
    kind(BackwardRead, 3, Plain, "bkwdread", ["bkwd", "read"], 9, "Backward read report"),
    kind(RecordRewrite, 4, Plain, "recrewrite", ["record", "rewrite"], 10, "Record rewrite report")
        .writes(),
    kind(StrideRead, 5, Plain, "strideread", ["stride", "read"], 10, "Stride read report"),
    kind(Fwrite, 6, Stdio, "fwrite", ["", "fwrite"], 9, "Fwrite report").writes(),
    kind(Frewrite, 6, Stdio, "frewrite", ["", "frewrite"], 9, "Re-Fwrite report").writes().again(),
    kind(Fread, 7, Stdio, "fread", ["", "fread"], 9, "Fread report"),
    kind(Freread, 7, Stdio, "freread", ["", "freread"], 9, "Re-Fread report").again(),
    kind(Pwrite, 9, Positioned, "pwrite", ["", "pwrite"], 8, "Pwrite report").writes(),
    kind(Repwrite, 9, Positioned, "repwrite", ["", "repwrite"], 9, "Re-Pwrite report")
        .writes()
        .again(),
    kind(Pread, 10, Positioned, "pread", ["", "pread"], 8, "Pread report"),
    kind(Repread, 10, Positioned, "repread", ["", "repread"], 9, "Re-Pread report").again(),
    kind(Pwritev, 11, Vectored, "pwritev", ["", "pwritev"], 10, "Pwritev report").writes(),
    kind(Repwritev, 11, Vectored, "repwritev", ["", "repwritev"], 10, "Re-Pwritev report")
        .writes()
        .again(),
    kind(Preadv, 12, Vectored, "preadv", ["", "preadv"], 10, "Preadv report"),
    kind(Repreadv, 12, Vectored, "repreadv", ["", "repreadv"], 10, "Re-Preadv report").again(),
    kind(Mixed, 8, Plain, "mixed", ["mixed", "workload"], 9, "Mixed workload report").writes(),
];

/// Phases of throughput mode, in order: the name of their processes in the report, and the title of
/// their spreadsheet row.
const PHASES: [(Operation, &str, &str); 13] = [
    (Write, "initial writers", "Initial write"),
    (Rewrite, "rewriters", "Rewrite"),
    (Read, "readers", "Read"),
    (Reread, "re-readers", "Re-read"),
    (BackwardRead, "reverse readers", "Reverse Read"),
    (StrideRead, "stride readers", "Stride read"),
    (RandomRead, "random readers", "Random read"),
    (Mixed, "mixed workload", "Mixed workload"),
    (RandomWrite, "random writers", "Random write"),
    (Pwrite, "pwrite writers", "Pwrite"),
    (Pread, "pread readers", "Pread"),
    (Fwrite, "fwriters", "Fwrite"),
    (Fread, "freaders", "Fread"),
];

impl Operation {
    /// The operations with a column, in the order of the columns.
    pub fn in_tables() -> impl Iterator<Item = Operation> {
        KINDS.iter().map(|kind| kind.operation).filter(|operation| *operation != Operation::Mixed)
    }

    /// The columns of the table: always those of the first eight tests, because scripts find
    /// figures by their positions; then pwrite and pread, pwritev and preadv if requested.
    pub fn columns(positioned: bool, vectored: bool) -> Vec<Operation> {
        let shown = |operation: &Operation| match operation.kind().test {
            9 | 10 => positioned,
            11 | 12 => vectored,
            _ => true,
        };
        Operation::in_tables().filter(shown).collect()
    }

    /// The operations that are phases of throughput mode, in order.
    pub fn in_throughput() -> impl Iterator<Item = Operation> {
        PHASES.iter().map(|(operation, ..)| *operation)
    }

    /// Its properties.
    pub fn kind(self) -> &'static Kind {
        // The table has every operation, which a test checks.
        KINDS.iter().find(|kind| kind.operation == self).unwrap_or(&KINDS[0])
    }

    /// Whether it begins without a file.
    pub fn begins_anew(self) -> bool {
        self == Operation::Write
    }

    /// Whether it creates its file if that does not exist.
    pub fn makes_its_file(self) -> bool {
        matches!(self, Write | Fwrite | Pwrite | Pwritev)
    }

    /// The name of its processes in throughput mode.
    pub fn phase(self) -> &'static str {
        PHASES.iter().find(|phase| phase.0 == self).map_or("", |phase| phase.1)
    }

    /// The title of its row among those of throughput mode, for spreadsheets.
    pub fn phase_sheet(self) -> &'static str {
        PHASES.iter().find(|phase| phase.0 == self).map_or("", |phase| phase.2)
    }

    /// The operation with this name in records.
    pub fn named(name: &str) -> Option<Operation> {
        KINDS.iter().find(|kind| kind.name == name).map(|kind| kind.operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_itself_by_name_and_by_kind() {
        for kind in &KINDS {
            assert_eq!(kind.operation.kind().name, kind.name);
            assert_eq!(Operation::named(kind.name), Some(kind.operation));
            let head = kind.heads.map(|head| head.len());
            assert!(head[0].max(head[1]) < kind.width, "{}: no blank before it", kind.name);
        }
        assert_eq!(Operation::named("readd"), None);
    }

    #[test]
    fn phases_and_columns_are_ones_that_are() {
        assert_eq!(Operation::in_tables().count(), 21);
        for (operation, phase, sheet) in PHASES {
            assert!(!sheet.is_empty());
            assert_eq!(operation.phase(), phase);
        }
        assert_eq!(Operation::RecordRewrite.phase(), "");
    }

    #[test]
    fn only_what_writes_makes_files() {
        for kind in &KINDS {
            let makes = kind.operation.makes_its_file();
            assert!(kind.writes && !kind.again || !makes, "{}", kind.name);
        }
    }
}
