//! What the program reads of the health of emulated disks, one of which is worn out while the guest
//! runs.

use anyhow::{Context, Result};
use serde_json::Value;

/// What the guest does. It prints one `== NAME` line before each document.
pub const SCRIPT: &str = include_str!("health.sh");

/// Document → what its section on health must hold.
const EXPECTED: &[(&str, &[&str])] = &[
    (
        "nvme0n1",
        &["reports that it is healthy", "50 °C, warns at 70 °C", "0 % of its endurance used"],
    ),
    ("worn before", &["reports that it is healthy"]),
    ("worn after", &["spare below its threshold", "\"mark\":\"problem\""]),
    ("sda", &["reports that it is healthy", "38 °C", "\"mark\":\"ok\""]),
];

/// Prints what is there and what is missing; returns how much is missing.
pub fn check(parts: &[(String, String)]) -> Result<u32> {
    let mut failed = 0;
    for (name, expected) in EXPECTED {
        let health = health(parts, name)?;
        for row in *expected {
            let found = health.contains(row);
            println!("{name}: {row}: {}", if found { "as it should be" } else { "MISSING" });
            failed += u32::from(!found);
        }
    }
    Ok(failed)
}

/// The section on health of a document, as text.
fn health(parts: &[(String, String)], name: &str) -> Result<String> {
    let (_, text) = parts
        .iter()
        .find(|(known, _)| known == name)
        .with_context(|| format!("the guest said nothing of {name}"))?;
    let document: Value = serde_json::from_str(text)
        .with_context(|| format!("what the guest said of {name}: {text}"))?;
    let sections = document["sections"].as_array().context("no sections")?;
    let section = sections.iter().find(|section| section["id"] == "health");
    Ok(section.context("no section on health")?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_found_by_its_document() {
        let said = "== a\n{\"sections\":[{\"id\":\"cpu\"},{\"id\":\"health\",\"mark\":\"ok\"}]}\n";
        let parts = super::super::parts(said);
        assert!(health(&parts, "a").unwrap().contains("ok"));
        assert!(health(&parts, "b").is_err());
        assert!(health(&super::super::parts("== a\nkernel panic\n"), "a").is_err());
    }
}
