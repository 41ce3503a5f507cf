//! Where tables go.

use crate::cargo;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Prints a table, and keeps it beside the build and where the options say.
pub fn publish(root: &Path, output: Option<&Path>, text: &str, name: &str) -> Result<()> {
    println!("{text}");
    let kept = cargo::target_directory(root);
    fs::create_dir_all(&kept).with_context(|| format!("making {}", kept.display()))?;
    let kept = kept.join(name);
    for path in output.into_iter().chain([kept.as_path()]) {
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
        eprintln!("written to {}", path.display());
    }
    Ok(())
}
