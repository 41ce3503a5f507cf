//! The application benchmarks, and the phases of each.

mod database_phases;
mod files;
mod request;

pub use crate::tree::measure;
pub use request::{AppRequest, DatabaseTarget, Kind, PlannedPhase, UserTree};

use crate::{Database, Failure, programs};
use std::path::Path;

impl AppRequest {
    /// Checks that the programs it needs are installed.
    ///
    /// # Errors
    /// The first missing program, with its package.
    pub fn check(&self) -> Result<(), Failure> {
        let is_own_project = self.command.is_some() || self.tree.is_some();
        let needed = self.kinds.iter().flat_map(|kind| kind.programs());
        // A project of the user may not need a C compiler.
        let mut needed =
            needed.filter(|program| !(is_own_project && ["make", "cc"].contains(&program.name)));
        needed.try_for_each(|program| programs::find(*program).map(drop))
    }

    /// The most space that all phases need in bytes, roughly.
    pub fn space(&self) -> u64 {
        let tree = self.tree.as_ref().map_or(self.size.0, |tree| tree.bytes);
        let row = 220;
        let space_of = |kind: &Kind| match kind {
            // The tree, its archive, and the compressed archive.
            Kind::Gzip | Kind::Gunzip => tree * 5 / 2,
            Kind::Copy => tree * 2,
            Kind::Compile if self.tree.is_some() => tree * 3,
            Kind::Compile => u64::from(self.sources) * 100_000,
            Kind::Database(Database::Sqlite) => self.rows * row * 5 + (16 << 20),
            // The system files of a server, and its write-ahead log.
            Kind::Database(_) => self.rows * row * 6 + (400 << 20),
        };
        self.kinds.iter().map(space_of).sum()
    }

    /// All phases, in order. `databases`: the target of each database benchmark, in order.
    pub fn plan(&self, directory: &Path, databases: &[DatabaseTarget]) -> Vec<PlannedPhase> {
        let mut databases = databases.iter();
        let phases = |kind: &Kind| match kind {
            Kind::Gzip => files::gzip(self, directory),
            Kind::Gunzip => files::gunzip(self, directory),
            Kind::Copy => files::copy(self, directory),
            Kind::Compile => files::compile(self, directory),
            Kind::Database(database) => match databases.next() {
                Some(target) => database_phases::phases(self, *database, target, directory),
                None => Vec::new(),
            },
        };
        self.kinds.iter().flat_map(phases).collect()
    }
}

#[cfg(test)]
mod tests;
