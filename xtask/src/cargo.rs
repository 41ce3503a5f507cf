//! Calling cargo.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Variables that cargo sets for the programs that it runs. Build scripts that watch them, such as ring's,
/// would otherwise run again whenever cargo is called by hand and by this program in turn, and all that
/// depends on them would be compiled again.
const SET_BY_CARGO: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// A cargo command in `root`, with the same cargo that runs this program.
pub fn command(root: &Path, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root);
    for (name, _) in std::env::vars_os() {
        if SET_BY_CARGO.iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
    command
}

/// The exit code of `status`, or 1 if a signal ended it.
pub fn exit_code(status: ExitStatus) -> u8 {
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

/// Builds the release program and returns its path.
pub fn release_binary(root: &Path) -> Result<PathBuf> {
    release(root, &["--package", "fathom"], "fathom")
}

/// The program to measure: the given one, or else the release build.
pub fn measured_program(root: &Path, given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string()),
        None => release_binary(root),
    }
}

/// Builds an example of a package in release mode and returns its path.
pub fn release_example(root: &Path, package: &str, name: &str) -> Result<PathBuf> {
    release(root, &["--package", package, "--example", name], &format!("examples/{name}"))
}

fn release(root: &Path, what: &[&str], place: &str) -> Result<PathBuf> {
    let status = command(root, &[&["build", "--quiet", "--release"], what].concat())
        .status()
        .context("starting cargo")?;
    if !status.success() {
        bail!("cargo build --release failed");
    }
    Ok(target_directory(root).join("release").join(place))
}

/// The target directory of cargo.
pub fn target_directory(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
