//! Every row of the options table tells its reader what it needs to know.

use super::Finding;
use anyhow::Result;
use job::options::{self, OptionDef, Status};
use std::collections::HashSet;
use std::path::Path;

const TABLE: &str = "crates/job/src/options.rs";
const DOC_LENGTH_MAX: usize = 100;
const LONG_LENGTH_MIN: usize = 20;

/// Every option whose documentation is missing, too short to help or too long for its place, and
/// every name that stands twice.
pub fn check(_root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut seen = HashSet::new();
    for def in options::all() {
        let mut faults = faults(&Row::new(def));
        // An engine's option may bear the name of another engine's.
        for name in def.names() {
            if !seen.insert((name, def.engines)) {
                faults.push(format!("the name '{name}' stands in the table twice"));
            }
        }
        let named = |fault| Finding::new(TABLE, 0, format!("option '{}': {fault}", def.name));
        findings.extend(faults.into_iter().map(named));
    }
    Ok(findings)
}

/// What a row says in words.
struct Row<'a> {
    name: &'a str,
    doc: &'a str,
    long: &'a str,
    /// Why it has no effect, where it has none.
    accepted: Option<&'a str>,
    /// Its values and what is said about them.
    values: Vec<(&'a str, &'a str)>,
}

impl Row<'_> {
    fn new(def: &OptionDef) -> Row<'_> {
        let accepted = match def.status {
            Status::Accepted(why) => Some(why),
            Status::Works | Status::NotYet | Status::Needs(_) => None,
        };
        let values = def.values.iter().map(|value| (value.name, value.doc)).collect();
        Row { name: def.name, doc: def.doc, long: def.long, accepted, values }
    }
}

fn faults(row: &Row<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    if row.name.is_empty() {
        faults.push("it has no name".to_string());
    }
    if row.doc.trim().is_empty() || row.doc.contains('\n') {
        faults.push("its doc must be one line".to_string());
    }
    if row.doc.chars().count() > DOC_LENGTH_MAX {
        faults.push(format!("its doc is longer than {DOC_LENGTH_MAX} characters"));
    }
    if row.long.trim().chars().count() < LONG_LENGTH_MIN {
        faults.push(format!("its long doc is shorter than {LONG_LENGTH_MIN} characters"));
    }
    if row.accepted.is_some_and(|why| why.trim().is_empty()) {
        faults.push("it is accepted without effect and does not say why".to_string());
    }
    for (value, doc) in &row.values {
        if doc.trim().is_empty() {
            faults.push(format!("its value '{value}' has no doc"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row<'static> {
        Row {
            name: "bs",
            doc: "Bytes of one I/O",
            long: "How much data each I/O moves, by direction.",
            accepted: None,
            values: vec![("a", "The first")],
        }
    }

    #[test]
    fn a_documented_row_passes() {
        assert_eq!(faults(&row()), Vec::<String>::new());
        assert!(faults(&Row { accepted: Some("done always"), ..row() }).is_empty());
    }

    #[test]
    fn each_gap_is_found() {
        let long = "x".repeat(DOC_LENGTH_MAX + 1);
        for broken in [
            Row { name: "", ..row() },
            Row { doc: " ", ..row() },
            Row { doc: "two\nlines", ..row() },
            Row { doc: &long, ..row() },
            Row { long: "", ..row() },
            Row { accepted: Some(""), ..row() },
            Row { values: vec![("a", "The first"), ("b", "")], ..row() },
        ] {
            assert_eq!(faults(&broken).len(), 1, "{:?}", faults(&broken));
        }
    }
}
