//! What `cargo xtask test --quick` runs: the crates that differ from main, and those that depend on
//! them directly.

use crate::cargo;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A package of the workspace.
#[derive(Debug)]
struct Package {
    name: String,
    /// Its directory below the root, such as "crates/host".
    directory: String,
    /// Packages of the workspace that it depends on.
    needs: Vec<String>,
    is_library: bool,
}

/// What to check, as selections for cargo.
#[derive(Debug, PartialEq, Eq)]
pub struct Selection {
    /// Packages that differ.
    pub changed: Vec<String>,
    /// Arguments for `cargo test`, one list for each build.
    pub tests: Vec<Vec<String>>,
}

/// What differs between the working tree in `root` and the commit where its branch left main.
pub fn selection(root: &Path) -> Result<Selection> {
    let base = ["main", "origin/main"]
        .into_iter()
        .find_map(|main| git(root, &["merge-base", "HEAD", main]).ok())
        .context("there is no branch main to compare with")?;
    let differing = git(root, &["diff", "--name-only", base.trim()])?;
    let added = git(root, &["ls-files", "--others", "--exclude-standard"])?;
    let files: Vec<&str> = differing.lines().chain(added.lines()).collect();
    Ok(select(&packages(root)?, &files))
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let done = Command::new("git").args(arguments).current_dir(root).output();
    let done = done.context("starting git")?;
    if !done.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn packages(root: &Path) -> Result<Vec<Package>> {
    let done = cargo::command(root, &["metadata", "--no-deps", "--format-version=1"]).output();
    let metadata: Value = serde_json::from_slice(&done.context("starting cargo metadata")?.stdout)
        .context("reading cargo metadata")?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let package = |package: &Value| {
        let manifest = text(&package["manifest_path"]);
        let directory = Path::new(&manifest).parent().unwrap_or(root);
        let here = list(&package["dependencies"]).into_iter().filter(|d| d["path"].is_string());
        let mut targets = list(&package["targets"]).into_iter();
        Package {
            name: text(&package["name"]),
            directory: directory.strip_prefix(root).unwrap_or(directory).display().to_string(),
            needs: here.map(|dependency| text(&dependency["name"])).collect(),
            is_library: targets.any(|target| list(&target["kind"]).contains(&"lib".into())),
        }
    };
    Ok(list(&metadata["packages"]).iter().map(package).collect())
}

/// Programs of the cli's tests run only where they differ: they take longer than all unit tests.
fn select(packages: &[Package], files: &[&str]) -> Selection {
    let below = |package: &Package, file: &str| {
        file.strip_prefix(&package.directory).is_some_and(|rest| rest.starts_with('/'))
    };
    let differs = |package: &&Package| files.iter().any(|file| below(package, file));
    let changed: Vec<&Package> = packages.iter().filter(differs).collect();
    let depends = |package: &&Package| {
        package.is_library
            && !differs(package)
            && package.needs.iter().any(|need| changed.iter().any(|other| other.name == *need))
    };
    let mut tests = Vec::new();
    let mut add = |names: Vec<&String>, targets: &[String]| {
        let packages = names.iter().map(|name| format!("--package={name}"));
        if !names.is_empty() {
            tests.push(packages.chain(targets.iter().cloned()).collect());
        }
    };
    let (cli, others): (Vec<&Package>, Vec<&Package>) =
        changed.iter().partition(|package| package.directory == "crates/cli");
    let names = |packages: &[&Package]| packages.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
    add(others.iter().map(|package| &package.name).collect(), &[]);
    add(packages.iter().filter(depends).map(|package| &package.name).collect(), &["--lib".into()]);
    let program = |file: &&str| {
        let (program, module) = file.strip_prefix("crates/cli/tests/")?.split_once('/')?;
        (program != "common" && module.ends_with(".rs")).then(|| format!("--test={program}"))
    };
    let programs: BTreeSet<String> = files.iter().filter_map(program).collect();
    let bin = std::iter::once("--bins".to_owned());
    add(
        cli.iter().map(|package| &package.name).collect(),
        &bin.chain(programs).collect::<Vec<_>>(),
    );
    Selection { changed: names(&changed), tests }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, directory: &str, needs: &[&str]) -> Package {
        let needs = needs.iter().map(ToString::to_string).collect();
        let (name, directory) = (name.to_owned(), directory.to_owned());
        Package { name, directory, needs, is_library: true }
    }

    fn workspace() -> Vec<Package> {
        let mut cli = package("fathom", "crates/cli", &["f-host", "f-plan"]);
        cli.is_library = false;
        vec![
            package("f-host", "crates/host", &[]),
            package("f-hosts", "crates/hosts", &[]),
            package("f-plan", "crates/plan", &["f-host"]),
            package("f-engine", "crates/engine", &["f-plan"]),
            cli,
        ]
    }

    #[test]
    fn a_changed_crate_and_the_libraries_that_use_it_are_tested() {
        let found = select(&workspace(), &["crates/host/src/lib.rs", "README.md"]);
        assert_eq!(found.changed, ["f-host"]);
        assert_eq!(found.tests, [vec!["--package=f-host"], vec!["--package=f-plan", "--lib"]]);
    }

    #[test]
    fn of_the_cli_only_changed_programs_run() {
        let files = ["crates/cli/tests/web/runs.rs", "crates/cli/tests/common/mod.rs"];
        let found = select(&workspace(), &files);
        assert_eq!(found.changed, ["fathom"]);
        assert_eq!(found.tests, [vec!["--package=fathom", "--bins", "--test=web"]]);
    }

    #[test]
    fn a_change_outside_all_crates_selects_nothing() {
        let found = select(&workspace(), &["docs/guide.md"]);
        assert_eq!(found, Selection { changed: Vec::new(), tests: Vec::new() });
    }

    #[test]
    fn packages_are_those_of_the_workspace() {
        let found = packages(&crate::workspace::root()).unwrap();
        let xtask = found.iter().find(|package| package.name == "xtask").unwrap();
        assert_eq!((xtask.directory.as_str(), xtask.is_library), ("xtask", false));
        assert!(xtask.needs.contains(&"fathom-record".to_owned()), "{xtask:?}");
    }
}
