//! Dependencies between crates. They go one way, so each figure is computed in one crate only.

use super::Finding;
use crate::rooms::{ROOMS, XTASK_SEES};
use crate::workspace;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use toml::{Table, Value};

/// Every dependency between crates of the workspace that [`ROOMS`] does not allow. Test and build
/// dependencies count: a test that needs a forbidden crate belongs into `cli`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let shared = manifest(&root.join("Cargo.toml"))?;
    let shared = shared
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table)
        .cloned()
        .unwrap_or_default();
    let mut manifests = Vec::new();
    let mut names = BTreeMap::new();
    for directory in workspace::crates(root)? {
        let path = directory.join("Cargo.toml");
        let table = manifest(&path)?;
        let short = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(name) = table.get("package").and_then(|p| p.get("name")).and_then(Value::as_str)
        {
            names.insert(name.to_string(), short.clone());
        }
        let path = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        manifests.push((path, short, table));
    }
    let mut findings = Vec::new();
    for (path, from, table) in &manifests {
        let room = ROOMS.iter().find(|room| room.name == from).map(|room| room.sees);
        let Some(allowed) = room.or((from == "xtask").then_some(XTASK_SEES)) else {
            let message = format!("crate '{from}' has no row in xtask/src/rooms.rs: add it");
            findings.push(Finding::new(path, 0, message));
            continue;
        };
        for package in dependencies(table, &shared) {
            let Some(to) = names.get(&package) else { continue };
            if !allowed.contains(&"*") && !allowed.contains(&to.as_str()) {
                let message = format!("{from} may not depend on {to}; it may see {allowed:?}");
                findings.push(Finding::new(path, 0, message));
            }
        }
    }
    Ok(findings)
}

fn manifest(path: &Path) -> Result<Table> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    text.parse().with_context(|| format!("parsing {}", path.display()))
}

/// Package names of all dependencies of `manifest`, of every kind and platform.
fn dependencies(manifest: &Table, shared: &Table) -> Vec<String> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = platforms.filter_map(|(_, value)| value.as_table()).chain([manifest]);
    let mut found = Vec::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let listed = table.get(kind).and_then(Value::as_table).into_iter().flatten();
            found.extend(listed.map(|(key, value)| package_name(key, value, shared)));
        }
    }
    found
}

/// A dependency may be renamed in its place or in the workspace's list.
fn package_name(key: &str, value: &Value, shared: &Table) -> String {
    let named = |value: &Value| value.get("package").and_then(Value::as_str).map(str::to_string);
    named(value).or_else(|| shared.get(key).and_then(named)).unwrap_or_else(|| key.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    const ROOT: (&str, &str) = (
        "Cargo.toml",
        "[workspace.dependencies]\nrecord = { package = \"f-record\", path = \"crates/record\" }\n\
         engine = { package = \"f-engine\", path = \"crates/engine\" }\n",
    );
    const RECORD: (&str, &str) = ("crates/record/Cargo.toml", "[package]\nname = \"f-record\"\n");

    fn found(engine: &str, judge: &str) -> Vec<String> {
        let engine = format!("[package]\nname = \"f-engine\"\n{engine}");
        let judge = format!("[package]\nname = \"f-judge\"\n{judge}");
        let root = scratch(&[
            ROOT,
            RECORD,
            ("crates/engine/Cargo.toml", &engine),
            ("crates/judge/Cargo.toml", &judge),
        ]);
        check(root.path()).unwrap().iter().map(Finding::to_string).collect()
    }

    #[test]
    fn arrows_of_the_design_pass() {
        let engine = "[dependencies]\nrecord.workspace = true\nlibc = \"0.2\"\n";
        assert!(found(engine, "[dependencies]\nrecord.workspace = true\n").is_empty());
    }

    #[test]
    fn another_arrow_is_found_however_it_is_written() {
        for judge in [
            "[dependencies]\nengine.workspace = true\n",
            "[dev-dependencies]\nengine = { workspace = true }\n",
            "[dependencies]\nmotor = { package = \"f-engine\", path = \"../engine\" }\n",
            "[dependencies]\nf-engine = { path = \"../engine\" }\n",
            "[target.'cfg(unix)'.build-dependencies]\nengine.workspace = true\n",
        ] {
            let found = found("", judge);
            assert_eq!(found.len(), 1, "{judge}: {found:?}");
            assert!(found[0].contains("judge may not depend on engine"), "{found:?}");
        }
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let root =
            scratch(&[ROOT, RECORD, ("crates/new/Cargo.toml", "[package]\nname = \"f-new\"\n")]);
        let found = check(root.path()).unwrap();
        assert!(found[0].message.contains("crate 'new' has no row"), "{found:?}");
    }
}
