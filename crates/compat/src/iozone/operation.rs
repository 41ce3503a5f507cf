//! The operations of IOzone's tests, and what each is called where.

/// What is measured: a column of the table, or a phase of throughput mode.
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
    /// A record is read, some are passed over.
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

/// What an operation is.
pub struct Kind {
    /// The operation.
    pub operation: Operation,
    /// Number of its test.
    pub test: u8,
    /// Name in records.
    pub name: &'static str,
    /// The two lines above its column, as they end.
    pub heads: [&'static str; 2],
    /// Width of its column.
    pub width: usize,
    /// Title of its spreadsheet block.
    pub sheet: &'static str,
    /// It changes the file.
    pub writes: bool,
    /// It is the second result of its test.
    pub again: bool,
    /// System calls it is about.
    pub calls: Family,
}

/// System calls an operation is about.
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

const READ: Kind = Kind {
    operation: Operation::Read,
    test: 1,
    name: "read",
    heads: ["", "read "],
    width: 9,
    sheet: "Reader report",
    writes: false,
    again: false,
    calls: Family::Plain,
};
const WRITE: Kind = Kind {
    operation: Operation::Write,
    test: 0,
    name: "write",
    heads: ["", "write"],
    sheet: "Writer report",
    writes: true,
    ..READ
};
const STDIO_READ: Kind = Kind {
    operation: Operation::Fread,
    test: 7,
    name: "fread",
    heads: ["", "fread"],
    sheet: "Fread report",
    calls: Family::Stdio,
    ..READ
};
const STDIO_WRITE: Kind = Kind {
    operation: Operation::Fwrite,
    test: 6,
    name: "fwrite",
    heads: ["", "fwrite"],
    sheet: "Fwrite report",
    calls: Family::Stdio,
    ..WRITE
};
const POSITIONED_WRITE: Kind = Kind {
    operation: Operation::Pwrite,
    test: 9,
    name: "pwrite",
    heads: ["", "pwrite"],
    width: 8,
    sheet: "Pwrite report",
    calls: Family::Positioned,
    ..WRITE
};
const POSITIONED_READ: Kind = Kind {
    operation: Operation::Pread,
    test: 10,
    name: "pread",
    heads: ["", "pread"],
    width: 8,
    sheet: "Pread report",
    calls: Family::Positioned,
    ..READ
};
const VECTORED_WRITE: Kind = Kind {
    operation: Operation::Pwritev,
    test: 11,
    name: "pwritev",
    heads: ["", "pwritev"],
    width: 10,
    sheet: "Pwritev report",
    calls: Family::Vectored,
    ..WRITE
};
const VECTORED_READ: Kind = Kind {
    operation: Operation::Preadv,
    test: 12,
    name: "preadv",
    heads: ["", "preadv"],
    width: 10,
    sheet: "Preadv report",
    calls: Family::Vectored,
    ..READ
};

/// All operations, in the order of the table's columns.
static KINDS: [Kind; 22] = [
    WRITE,
    Kind {
        operation: Operation::Rewrite,
        name: "rewrite",
        heads: ["", "rewrite"],
        sheet: "Re-writer report",
        again: true,
        ..WRITE
    },
    READ,
    Kind {
        operation: Operation::Reread,
        name: "reread",
        heads: ["", "reread"],
        sheet: "Re-Reader report",
        again: true,
        ..READ
    },
    Kind {
        operation: Operation::RandomRead,
        test: 2,
        name: "randread",
        heads: ["random", "read"],
        width: 8,
        sheet: "Random read report",
        ..READ
    },
    Kind {
        operation: Operation::RandomWrite,
        test: 2,
        name: "randwrite",
        heads: ["random", "write"],
        width: 10,
        sheet: "Random write report",
        ..WRITE
    },
    Kind {
        operation: Operation::BackwardRead,
        test: 3,
        name: "bkwdread",
        heads: ["bkwd", "read"],
        sheet: "Backward read report",
        ..READ
    },
    Kind {
        operation: Operation::RecordRewrite,
        test: 4,
        name: "recrewrite",
        heads: ["record", "rewrite"],
        width: 10,
        sheet: "Record rewrite report",
        ..WRITE
    },
    Kind {
        operation: Operation::StrideRead,
        test: 5,
        name: "strideread",
        heads: ["stride", "read"],
        width: 10,
        sheet: "Stride read report",
        ..READ
    },
    STDIO_WRITE,
    Kind {
        operation: Operation::Frewrite,
        name: "frewrite",
        heads: ["", "frewrite"],
        sheet: "Re-Fwrite report",
        again: true,
        ..STDIO_WRITE
    },
    STDIO_READ,
    Kind {
        operation: Operation::Freread,
        name: "freread",
        heads: ["", "freread"],
        sheet: "Re-Fread report",
        again: true,
        ..STDIO_READ
    },
    POSITIONED_WRITE,
    Kind {
        operation: Operation::Repwrite,
        name: "repwrite",
        heads: ["", "repwrite"],
        width: 9,
        sheet: "Re-Pwrite report",
        again: true,
        ..POSITIONED_WRITE
    },
    POSITIONED_READ,
    Kind {
        operation: Operation::Repread,
        name: "repread",
        heads: ["", "repread"],
        width: 9,
        sheet: "Re-Pread report",
        again: true,
        ..POSITIONED_READ
    },
    VECTORED_WRITE,
    Kind {
        operation: Operation::Repwritev,
        name: "repwritev",
        heads: ["", "repwritev"],
        sheet: "Re-Pwritev report",
        again: true,
        ..VECTORED_WRITE
    },
    VECTORED_READ,
    Kind {
        operation: Operation::Repreadv,
        name: "repreadv",
        heads: ["", "repreadv"],
        sheet: "Re-Preadv report",
        again: true,
        ..VECTORED_READ
    },
    Kind {
        operation: Operation::Mixed,
        test: 8,
        name: "mixed",
        heads: ["mixed", "workload"],
        sheet: "Mixed workload report",
        ..WRITE
    },
];

/// Phases of throughput mode, in their order: as the report names those who do them, and the title of
/// their spreadsheet row.
const PHASES: [(Operation, &str, &str); 13] = [
    (Operation::Write, "initial writers", "Initial write"),
    (Operation::Rewrite, "rewriters", "Rewrite"),
    (Operation::Read, "readers", "Read"),
    (Operation::Reread, "re-readers", "Re-read"),
    (Operation::BackwardRead, "reverse readers", "Reverse Read"),
    (Operation::StrideRead, "stride readers", "Stride read"),
    (Operation::RandomRead, "random readers", "Random read"),
    (Operation::Mixed, "mixed workload", "Mixed workload"),
    (Operation::RandomWrite, "random writers", "Random write"),
    (Operation::Pwrite, "pwrite writers", "Pwrite"),
    (Operation::Pread, "pread readers", "Pread"),
    (Operation::Fwrite, "fwriters", "Fwrite"),
    (Operation::Fread, "freaders", "Fread"),
];

impl Operation {
    /// Those that have a column, in the order of the columns.
    pub fn of_tables() -> impl Iterator<Item = Operation> {
        KINDS.iter().map(|kind| kind.operation).filter(|operation| *operation != Operation::Mixed)
    }

    /// The columns of the table: the first eight tests always, as scripts look for figures by their
    /// places, then pwrite and pread, pwritev and preadv where they are wanted.
    pub fn columns(positioned: bool, vectored: bool) -> Vec<Operation> {
        let shown = |operation: &Operation| match operation.kind().test {
            9 | 10 => positioned,
            11 | 12 => vectored,
            _ => true,
        };
        Operation::of_tables().filter(shown).collect()
    }

    /// Those that are a phase of throughput mode, in the order of the phases.
    pub fn of_throughput() -> impl Iterator<Item = Operation> {
        PHASES.iter().map(|(operation, ..)| *operation)
    }

    /// What it is.
    pub fn kind(self) -> &'static Kind {
        // The table holds every operation, as its test shows.
        KINDS.iter().find(|kind| kind.operation == self).unwrap_or(&KINDS[0])
    }

    /// Whether it begins with a file that is not there.
    pub fn begins_anew(self) -> bool {
        self == Operation::Write
    }

    /// Whether it makes its file where there is none.
    pub fn makes_its_file(self) -> bool {
        use Operation::{Fwrite, Pwrite, Pwritev, Write};
        matches!(self, Write | Fwrite | Pwrite | Pwritev)
    }

    /// Who does it in throughput mode.
    pub fn phase(self) -> &'static str {
        PHASES.iter().find(|phase| phase.0 == self).map_or("", |phase| phase.1)
    }

    /// The title of its row among those of throughput mode, for spreadsheets.
    pub fn phase_sheet(self) -> &'static str {
        PHASES.iter().find(|phase| phase.0 == self).map_or("", |phase| phase.2)
    }

    /// By the name it has in records.
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
        assert_eq!(Operation::of_tables().count(), 21);
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
