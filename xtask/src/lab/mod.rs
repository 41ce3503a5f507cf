//! `cargo xtask lab`: our program on disks that a build machine does not have. A guest is booted
//! with emulated NVMe disks that tell their health and a SCSI disk made of memory; one NVMe disk is
//! worn out while the guest runs. It needs QEMU and the network once, takes about a minute, and is
//! not part of `cargo xtask test`.

mod guest;
mod image;

use crate::cargo;
use anyhow::{Context, Result, bail, ensure};
pub use image::Content;
use serde_json::Value;
use std::path::Path;

/// What the guest does. It prints one `== NAME` line before each document.
const SCRIPT: &str = include_str!("script.sh");

/// Builds the program, boots the guest, and holds what it says of its disks against what they are.
pub fn run(root: &Path) -> Result<()> {
    let built = cargo::command(root, &["build", "--release", "--quiet"]).status()?;
    ensure!(built.success(), "the release build failed");
    let directory = root.join("target/lab");
    let content = Content {
        program: &root.join("target/release/fathom"),
        script: SCRIPT,
        modules: &["nvme", "sd_mod", "scsi_debug"],
        tools: &[],
    };
    let said = boot(&directory, &content)?;
    let documents = documents(&said)?;
    let mut failed = 0;
    for (name, expected) in EXPECTED {
        let health = health(&documents, name)?;
        for row in *expected {
            let found = health.contains(row);
            println!("{name}: {row}: {}", if found { "as it should be" } else { "MISSING" });
            failed += u32::from(!found);
        }
        println!("{name}: said: {health}");
    }
    ensure!(failed == 0, "{failed} of what the disks tell is missing");
    Ok(())
}

/// Boots a guest in `directory`, and returns what its script printed.
pub fn boot(directory: &Path, content: &Content) -> Result<String> {
    guest::run(directory, &image::make(directory, content)?)
}

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

/// The JSON documents of the guest: (name, document).
pub fn documents(said: &str) -> Result<Vec<(String, Value)>> {
    let mut documents = Vec::new();
    for part in said.split("== ").skip(1) {
        let (name, text) = part.split_once('\n').context("a document without a name")?;
        let document = serde_json::from_str(text)
            .with_context(|| format!("what the guest said of {name}: {text}"))?;
        documents.push((name.trim().to_owned(), document));
    }
    Ok(documents)
}

/// The section on health of a document, as text.
fn health(documents: &[(String, Value)], name: &str) -> Result<String> {
    let Some((_, document)) = documents.iter().find(|(known, _)| known == name) else {
        bail!("the guest said nothing of {name}");
    };
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
        let documents = documents(said).unwrap();
        assert!(health(&documents, "a").unwrap().contains("ok"));
        assert!(health(&documents, "b").is_err());
        assert!(super::documents("== a\nkernel panic\n").is_err());
    }
}
