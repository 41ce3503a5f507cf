//! The files of every package: the program, its man pages and completions, documents.

use super::bill;
use super::process::{call, output};
use super::workshop::Workshop;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Documents of the tree that packages hold, and their names there.
const DOCUMENTS: &[(&str, &str)] = &[
    ("README.md", "README.md"),
    // As Debian names it.
    ("CHANGELOG.md", "changelog"),
    ("SECURITY.md", "SECURITY.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
];

/// Makes everything but the program, with a `program` that runs here, and returns its directory.
pub fn documents(shop: &Workshop, program: &Path) -> Result<PathBuf> {
    let made = shop.packages.join("documents");
    let _ = fs::remove_dir_all(&made);
    for directory in ["man", "completions", "doc"] {
        fs::create_dir_all(made.join(directory))?;
    }
    call(Command::new(program).args(["man", "--into"]).arg(made.join("man")))?;
    for (shell, file) in [("bash", "fathom.bash"), ("zsh", "_fathom"), ("fish", "fathom.fish")] {
        let script = output(Command::new(program).args(["completions", shell]))?;
        fs::write(made.join("completions").join(file), script)?;
    }
    for (from, to) in DOCUMENTS {
        fs::copy(shop.root.join(from), made.join("doc").join(to))
            .with_context(|| (*from).to_owned())?;
    }
    fs::write(made.join("doc/THIRD-PARTY.txt"), bill::licences(shop.root)?)?;
    fs::write(made.join("changelog"), debian_changelog(shop)?)?;
    bill::of_materials(shop)?;
    let pages = fs::read_dir(made.join("man"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    let long = ["changelog", "THIRD-PARTY.txt"].map(|name| made.join("doc").join(name));
    call(Command::new("gzip").arg("-9n").args(pages).args(long))?;
    Ok(made)
}

/// Fills the stage anew with a program and what belongs to it.
pub fn fill(shop: &Workshop, program: &Path, documents: &Path) -> Result<()> {
    let stage = shop.stage();
    let _ = fs::remove_dir_all(&stage);
    call(Command::new("cp").arg("-r").args([documents, &stage]))?;
    call(Command::new("cp").arg("-r").arg(shop.root.join("examples")).arg(&stage))?;
    fs::copy(program, stage.join("fathom")).with_context(|| program.display().to_string())?;
    Ok(())
}

/// Debian's form of a changelog, which points to ours.
fn debian_changelog(shop: &Workshop) -> Result<String> {
    let at = format!("@{}", shop.epoch);
    let date = output(Command::new("date").args(["--utc", "--rfc-email", "--date", &at]))?;
    Ok(format!(
        "fathom-storage ({}-1) unstable; urgency=medium\n\n  * See changelog.gz for what changed.\n\n \
         -- {MAINTAINER}  {date}",
        shop.version
    ))
}

/// As in the package's description.
const MAINTAINER: &str = "fathom contributors <fathom@users.noreply.fathom.invalid>";
