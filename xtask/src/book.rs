//! `cargo xtask book`: the guide as a book, by mdBook.

use crate::cargo;
use anyhow::{Context, Result};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Builds `target/book` from `docs/`. Returns the exit code of mdBook, or 1 if it is not installed.
pub fn build(root: &Path) -> Result<u8> {
    match Command::new("mdbook").arg("build").current_dir(root).status() {
        Ok(status) => {
            println!("{}", root.join("target/book/index.html").display());
            Ok(cargo::exit_code(status))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("mdbook is not installed; install it with:\n    cargo install mdbook");
            Ok(1)
        }
        Err(error) => Err(error).context("starting mdbook"),
    }
}
