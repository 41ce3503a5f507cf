//! Every engine has its row in the guide's table of engines.

use super::Finding;
use anyhow::{Context, Result};
use record::{ENGINES, UNBUILT_ENGINES};
use std::fs;
use std::path::Path;

/// The table.
const DOCUMENT: &str = "docs/ENGINES.md";

/// Engines without a row in the table, and rows without an engine.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(root.join(DOCUMENT)).context(DOCUMENT)?;
    let built = ENGINES.iter().map(|engine| engine.name);
    let names: Vec<&str> = built.chain(UNBUILT_ENGINES.iter().map(|engine| engine.name)).collect();
    Ok(compare(&text, &names))
}

fn compare(text: &str, names: &[&str]) -> Vec<Finding> {
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let rows: Vec<(usize, String)> =
        (1..).zip(text.lines()).filter_map(|(number, line)| Some((number, row(line)?))).collect();
    let mut findings = Vec::new();
    for name in names {
        match rows.iter().filter(|(_, row)| row == name).count() {
            1 => {}
            count => {
                let message = format!("the engine {name} has {count} rows in place of one");
                findings.push(Finding::new(DOCUMENT, 0, message));
            }
        }
    }
    for (number, row) in rows.iter().filter(|(_, row)| !names.contains(&row.as_str())) {
        let message = format!("{row} is no engine of crates/record/src/engine.rs");
        findings.push(Finding::new(DOCUMENT, *number, message));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_without_a_row_and_a_row_without_an_engine_are_found() {
        let text = "| engine | does |\n|---|---|\n| `psync` | x |\n| `gone` | y |\n";
        let told: Vec<String> =
            compare(text, &["psync", "mmap"]).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("the engine mmap has 0 rows"), "{told:?}");
        assert!(told[1].contains("docs/ENGINES.md:4: gone is no engine"), "{told:?}");
        assert!(compare(text, &["psync", "gone"]).is_empty());
    }
}
