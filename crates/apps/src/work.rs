//! The works there are, and the phases of each.

mod database_phases;
mod files;

use crate::programs::{self, Program};
use crate::task::{Action, Caches, Task, Timed};
use crate::{Connection, Database, Failure};
use record::{Amount, Bytes, Nanos};
use std::path::{Path, PathBuf};
use suite::app::Phase;

pub use crate::tree::measure;

/// Work of real life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One archive is compressed.
    Gzip,
    /// It is decompressed.
    Gunzip,
    /// A tree of files is copied.
    Copy,
    /// A C project is configured and compiled.
    Compile,
    /// The tests with a database.
    Database(Database),
}

/// What is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct AppRequest {
    /// The works, in their order.
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
    /// Compilers at a time.
    pub jobs: u32,
    /// The time it takes to write everything out belongs to each phase.
    pub sync: bool,
    /// Each phase begins with empty caches.
    pub cold: bool,
    /// A tree of the user's own.
    pub tree: Option<UserTree>,
    /// The user's own command that compiles it.
    pub command: Option<String>,
}

/// A tree of the user's own; it is copied, and never written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserTree {
    /// Where it is.
    pub path: PathBuf,
    /// Its files.
    pub files: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// The database of a work.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseTarget {
    /// How to get there.
    pub connection: Connection,
    /// A table of ours.
    pub table: String,
    /// It can be restarted, so that it has nothing in memory.
    pub restarts: bool,
}

/// One phase and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPhase {
    /// The phase.
    pub phase: Phase,
    /// What it does.
    pub task: Task,
    /// The server it needs, when it is one of ours.
    pub server: Option<Database>,
    /// That server has to be started anew.
    pub restart: bool,
}

impl Kind {
    /// Name of the work.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Gzip => "gzip",
            Kind::Gunzip => "gunzip",
            Kind::Copy => "copy",
            Kind::Compile => "compile",
            Kind::Database(database) => database.name(),
        }
    }

    /// The programs it calls; those of servers are looked for when they are prepared.
    fn programs(self) -> &'static [Program] {
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
    /// Whether the programs it needs are there.
    ///
    /// # Errors
    /// The first that is not, with the package that holds it.
    pub fn check(&self) -> Result<(), Failure> {
        let own = self.command.is_some() || self.tree.is_some();
        let needed = self.kinds.iter().flat_map(|kind| kind.programs());
        // A project of the user's own may need no C compiler.
        let mut needed = needed.filter(|program| !(own && ["make", "cc"].contains(&program.name)));
        needed.try_for_each(|program| programs::find(*program).map(drop))
    }

    /// Space that all of it takes at most, in bytes, roughly.
    pub fn space(&self) -> u64 {
        let tree = self.tree.as_ref().map_or(self.size.0, |tree| tree.bytes);
        let row = 220;
        let of = |kind: &Kind| match kind {
            // The tree, its archive, and what that is packed to.
            Kind::Gzip | Kind::Gunzip => tree * 5 / 2,
            Kind::Copy => tree * 2,
            Kind::Compile if self.tree.is_some() => tree * 3,
            Kind::Compile => u64::from(self.sources) * 100_000,
            Kind::Database(Database::Sqlite) => self.rows * row * 5 + (16 << 20),
            // Files that every server has, and its log of what it writes.
            Kind::Database(_) => self.rows * row * 6 + (400 << 20),
        };
        self.kinds.iter().map(of).sum()
    }

    /// All phases, in their order. `databases` are those of the databases among them, in order.
    pub fn plan(&self, directory: &Path, databases: &[DatabaseTarget]) -> Vec<PlannedPhase> {
        let mut databases = databases.iter();
        let phases = |kind: &Kind| match kind {
            Kind::Gzip => files::gzip(self, directory),
            Kind::Gunzip => files::gunzip(self, directory),
            Kind::Copy => files::copy(self, directory),
            Kind::Compile => files::compile(self, directory),
            Kind::Database(database) => match databases.next() {
                Some(base) => database_phases::phases(self, *database, base, directory),
                None => Vec::new(),
            },
        };
        self.kinds.iter().flat_map(phases).collect()
    }

    fn caches(&self) -> Caches {
        if self.cold { Caches::Emptied } else { Caches::Left }
    }

    /// A phase that needs no database.
    fn phase(&self, phase: FilePhase, directory: &Path) -> PlannedPhase {
        let FilePhase { name, label, work, seconds, before, action, amount } = phase;
        let mut timed = vec![Timed { name: name.to_owned(), action }];
        timed.extend(self.sync.then(|| Timed { name: "sync".into(), action: Action::Sync }));
        PlannedPhase {
            phase: Phase {
                name: name.to_owned(),
                label,
                work: work.name().into(),
                duration: Nanos(((seconds + 1.0) * 1e9) as u64),
            },
            task: Task {
                directory: directory.into(),
                before,
                caches: self.caches(),
                database: None,
                timed,
                amount,
            },
            server: None,
            restart: false,
        }
    }
}

/// What makes one phase unlike others.
struct FilePhase {
    name: &'static str,
    label: String,
    work: Kind,
    /// How long it may take.
    seconds: f64,
    before: Vec<Action>,
    action: Action,
    amount: Option<Amount>,
}

#[cfg(test)]
mod tests;
