//! Building xtask compiles each crate with the features that the whole workspace gives to it: otherwise
//! `cargo xtask test` compiles that crate, and all that depend on it, a second time.

use super::Finding;
use crate::cargo;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::Path;

/// Every crate that xtask alone would get with other features.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let own = tree(root, &["--package", "xtask", "--edges", "normal,build"])?;
    let whole = tree(root, &["--workspace", "--edges", "normal,build,dev"])?;
    Ok(differences(&own, &whole))
}

/// Lines "name version features".
fn tree(root: &Path, selection: &[&str]) -> Result<String> {
    let form = ["tree", "--locked", "--prefix", "none", "--format", "{p} {f}"];
    let ran = cargo::command(root, &[&form, selection].concat()).output();
    let ran = ran.context("starting cargo tree")?;
    ensure!(ran.status.success(), "cargo tree: {}", String::from_utf8_lossy(&ran.stderr));
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

fn differences(own: &str, whole: &str) -> Vec<Finding> {
    // A crate that was shown before is marked with a star.
    let line = |text: &'_ str| text.trim_end_matches(" (*)").trim_end().to_owned();
    let whole: BTreeSet<String> = whole.lines().map(line).collect();
    let own: BTreeSet<String> = own.lines().map(line).collect();
    let different = own.difference(&whole).map(|krate| {
        let name = krate.split(' ').next().unwrap_or(krate);
        let message = format!(
            "{krate}: the workspace gives {name} other features; ask for the same here, or state them in \
             the workspace's dependencies"
        );
        Finding::new("xtask/Cargo.toml", 0, message)
    });
    different.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_with_other_features_is_found() {
        let whole = "serde_json v1.0.154 default,raw_value,std\ntoml v1.2.1 std (*)\n";
        assert!(differences("toml v1.2.1 std\n", whole).is_empty());
        let found = differences("serde_json v1.0.154 default,std\n", whole);
        assert!(found[0].message.contains("the workspace gives serde_json"), "{found:?}");
        assert_eq!(found.len(), 1);
    }
}
