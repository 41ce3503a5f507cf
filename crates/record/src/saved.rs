//! Where runs were saved, as the last lines of a report.

use std::path::{Path, PathBuf};

/// Where the records of runs were saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedTo {
    /// The file that the user named.
    pub record: Option<PathBuf>,
    /// That file could not be written.
    pub is_lost: bool,
    /// The id of the run or set in the archive.
    pub archived_as: Option<String>,
    /// Whether the id is that of a set of runs.
    pub is_set: bool,
}

impl SavedTo {
    /// Lines for the end of a report; `shown` writes a path.
    pub fn text(&self, shown: impl Fn(&Path) -> String) -> String {
        let archived = self.archived_as.as_ref().map(|id| {
            let short = id.get(..8).unwrap_or(id);
            let label = if self.is_set { "Runs:  " } else { "Run:   " };
            format!("{label} {short} (fathom runs show {short})\n")
        });
        let record = self.record.as_deref().map(|path| format!("Record: {}\n", shown(path)));
        match (archived, record) {
            (None, None) => "Record: not kept\n".into(),
            (archived, record) => archived.unwrap_or_default() + &record.unwrap_or_default(),
        }
    }
}
