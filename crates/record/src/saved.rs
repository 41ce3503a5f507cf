//! Where runs were saved, as the last lines of a report.

use std::path::{Path, PathBuf};

const ASK_FOR_INTENT: &str =
    "Why:    not given; --why=TEXT keeps what a run is for with its result\n";

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
    /// What the runs are for: shown, and asked for if it is empty; `None`: neither.
    pub intent: Option<String>,
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
        let intent = match self.intent.as_deref() {
            None => String::new(),
            Some("") => ASK_FOR_INTENT.into(),
            Some(why) => format!("Why:    {}\n", why.replace(char::is_control, " ")),
        };
        let places = match (archived, record) {
            (None, None) => "Record: not kept\n".into(),
            (archived, record) => archived.unwrap_or_default() + &record.unwrap_or_default(),
        };
        intent + &places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_shown_or_asked_for_or_left_alone() {
        let lines = |intent: Option<&str>| {
            let intent = intent.map(Into::into);
            SavedTo { intent, ..SavedTo::default() }.text(|_| String::new())
        };
        assert_eq!(lines(Some("new\u{1b}disk")), "Why:    new disk\nRecord: not kept\n");
        assert_eq!(lines(Some("")), format!("{ASK_FOR_INTENT}Record: not kept\n"));
        assert_eq!(lines(None), "Record: not kept\n");
    }
}
