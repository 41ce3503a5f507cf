//! What the program consists of: the texts of the licences of its libraries, and a bill of materials.

use super::process::call;
use super::workshop::Workshop;
use crate::cargo;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The target whose libraries are listed.
const TARGET: &str = super::program::X86_64;

/// A library of the program.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Library {
    name: String,
    version: String,
    licence: String,
    directory: PathBuf,
}

/// The libraries that the program is linked from, each with its licence, then every text of a licence once.
pub fn licences(root: &Path) -> Result<String> {
    let libraries = libraries(&metadata(root)?);
    ensure!(libraries.len() > 100, "only {} libraries found", libraries.len());
    let mut texts: BTreeMap<String, Vec<&Library>> = BTreeMap::new();
    for library in &libraries {
        for text in licence_texts(&library.directory)? {
            texts.entry(text).or_default().push(library);
        }
    }
    let mut out = String::from("Libraries that are part of the program, and their licences.\n\n");
    for Library { name, version, licence, .. } in &libraries {
        writeln!(out, "{name} {version}: {licence}")?;
    }
    for (text, users) in &texts {
        let users: Vec<&str> = users.iter().map(|library| library.name.as_str()).collect();
        write!(out, "\n{}\n{}\n\n{text}\n", "-".repeat(78), users.join(", "))?;
    }
    Ok(out)
}

/// Writes `fathom-VERSION.cdx.json`, a CycloneDX bill of materials.
pub fn of_materials(shop: &Workshop) -> Result<()> {
    let name = format!("fathom-{}.cdx", shop.version);
    let mut tool = shop.cargo_tool("cargo-cyclonedx");
    tool.args(["cyclonedx", "--quiet", "--format=json", "--spec-version=1.5", "--target", TARGET])
        .args(["--manifest-path", "crates/cli/Cargo.toml", "--override-filename", &name]);
    call(&mut tool)?;
    // It writes one beside each manifest of the workspace.
    let file = format!("{name}.json");
    for directory in crate::workspace::crates(shop.root)? {
        let made = directory.join(&file);
        if directory.ends_with("crates/cli") {
            fs::copy(&made, shop.packages.join(&file)).context("the bill of materials")?;
        }
        let _ = fs::remove_file(made);
    }
    Ok(())
}

fn metadata(root: &Path) -> Result<Value> {
    let arguments = ["metadata", "--format-version=1", "--locked", "--filter-platform", TARGET];
    let done = cargo::command(root, &arguments).output().context("starting cargo metadata")?;
    serde_json::from_slice(&done.stdout).context("reading cargo metadata")
}

/// What the package `fathom` needs to run, without what only builds or tests it.
fn libraries(metadata: &Value) -> BTreeSet<Library> {
    let empty = Vec::new();
    let list = |value: &Value| value.as_array().unwrap_or(&empty).clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: BTreeMap<String, Value> = list(&metadata["packages"])
        .into_iter()
        .map(|package| (text(&package["id"]), package))
        .collect();
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (text(&node["id"]), node))
        .collect();
    let mut open: Vec<String> = packages
        .iter()
        .filter(|(_, package)| package["name"] == "fathom")
        .map(|(id, _)| id.clone())
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let is_linked =
            |need: &Value| list(&need["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let needs = nodes.get(&id).map(|node| list(&node["deps"])).unwrap_or_default();
        open.extend(needs.iter().filter(|need| is_linked(need)).map(|need| text(&need["pkg"])));
    }
    let foreign = seen
        .iter()
        .filter_map(|id| packages.get(id))
        .filter(|package| package["source"].is_string());
    foreign
        .map(|package| Library {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: package["license"].as_str().unwrap_or("see its text").to_owned(),
            directory: Path::new(&text(&package["manifest_path"]))
                .parent()
                .map(Path::to_path_buf)
                .unwrap_or_default(),
        })
        .collect()
}

/// The texts that a library's authors ship with it.
fn licence_texts(directory: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE"]
            .iter()
            .any(|start| name.starts_with(start));
        if is_licence && path.is_file() {
            let text = String::from_utf8_lossy(&fs::read(&path)?).replace('\r', "");
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            texts.push(lines.join("\n").trim().to_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_program_are_listed_and_those_of_its_tests_not() {
        let libraries = libraries(&metadata(&crate::workspace::root()).unwrap());
        let has = |name: &str| libraries.iter().any(|library| library.name == name);
        assert!(has("rustls") && has("rusqlite") && has("clap"));
        assert!(!has("s3s") && !has("proptest") && !has("fathom-record"));
    }
}
