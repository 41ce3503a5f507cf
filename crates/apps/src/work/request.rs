//! The request of `fathom app`, and the phases planned for it.

use crate::programs::Program;
use crate::task::{Caches, Task};
use crate::{Connection, Database};
use record::Bytes;
use std::path::PathBuf;
use suite::app::Phase;

/// An application benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Compresses an archive.
    Gzip,
    /// Decompresses an archive.
    Gunzip,
    /// Copies a tree of files.
    Copy,
    /// Configures and compiles a C project.
    Compile,
    /// Runs statements on a database.
    Database(Database),
}

/// The benchmarks to run and their sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct AppRequest {
    /// The benchmarks, in order.
    pub kinds: Vec<Kind>,
    /// Bytes of the generated tree.
    pub size: Bytes,
    /// Files of the generated tree.
    pub files: u32,
    /// Source files of the generated project.
    pub sources: u32,
    /// Rows of the tables.
    pub rows: u64,
    /// Seed of everything that is generated.
    pub seed: u64,
    /// Number of compilers that run at a time.
    pub jobs: u32,
    /// The time of each phase includes writing its data to the disk.
    pub sync: bool,
    /// Each phase starts with empty caches.
    pub cold: bool,
    /// A tree of the user, used instead of the generated one.
    pub tree: Option<UserTree>,
    /// The command that compiles the user's tree.
    pub command: Option<String>,
    /// Statements of the user, a phase of each database; `{table}` is the table of the benchmark.
    pub sql: Option<String>,
}

/// A tree of the user. It is copied, never written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserTree {
    /// Its path.
    pub path: PathBuf,
    /// Number of its files.
    pub files: u64,
    /// Size of its files in bytes.
    pub bytes: u64,
}

/// The database of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseTarget {
    /// How to connect to it.
    pub connection: Connection,
    /// The table that the benchmark creates.
    pub table: String,
    /// It can be restarted to empty its memory.
    pub restarts: bool,
}

/// A phase and its task.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPhase {
    /// The phase.
    pub phase: Phase,
    /// Its task.
    pub task: Task,
    /// The server it needs, if fathom runs that server.
    pub server: Option<Database>,
    /// The server is restarted before the phase.
    pub restart: bool,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Gzip => "gzip",
            Kind::Gunzip => "gunzip",
            Kind::Copy => "copy",
            Kind::Compile => "compile",
            Kind::Database(database) => database.name(),
        }
    }

    /// The programs it calls, except database servers, which are found when they are prepared.
    pub(super) fn programs(self) -> &'static [Program] {
        const TAR: Program = Program { name: "tar", package: "tar" };
        const GZIP: Program = Program { name: "gzip", package: "gzip" };
        const CP: Program = Program { name: "cp", package: "coreutils" };
        const MAKE: Program = Program { name: "make", package: "make" };
        const CC: Program = Program { name: "cc", package: "gcc" };
        match self {
            Kind::Gzip | Kind::Gunzip => &[TAR, GZIP, CP],
            Kind::Copy => &[CP],
            Kind::Compile => &[CP, MAKE, CC],
            Kind::Database(_) => &[],
        }
    }
}

impl AppRequest {
    /// The state of caches at the start of a phase.
    pub(super) fn caches(&self) -> Caches {
        if self.cold { Caches::Emptied } else { Caches::Left }
    }
}
