//! `cargo xtask tidy`: the rules of the house that the compiler does not know, one file a rule.
//!
//! Every check takes the root of a workspace, so its test can give it one that breaks the rule.

mod arrows;
mod circles;
mod engines;
mod features;
mod finding;
mod functions;
mod generated;
mod guide;
mod hot;
mod imports;
mod layout;
mod length;
mod lists;
mod options;
mod proofs;
mod unfinished;
mod unsafety;

use anyhow::Result;
use finding::Finding;
use std::path::Path;

type Check = fn(&Path) -> Result<Vec<Finding>>;

const CHECKS: &[(&str, Check)] = &[
    ("crate arrows", arrows::check),
    ("circles of imports", circles::check),
    ("features of xtask", features::check),
    ("file length", length::check),
    ("function length", functions::check),
    ("subcommands and engines stated once", lists::check),
    ("hot loop", hot::check),
    ("unsafe code", unsafety::check),
    ("unfinished work", unfinished::check),
    ("layout of text", layout::check),
    ("options documented", options::check),
    ("generated docs", generated::check),
    ("guide", guide::check),
    ("table of engines", engines::check),
    ("proofs of checks", proofs::check),
];

/// Runs every check on the workspace at `root` and prints what they find. True: nothing found.
pub fn run(root: &Path) -> Result<bool> {
    let mut count = 0;
    for (name, check) in CHECKS {
        for finding in check(root)? {
            println!("tidy: {name}: {finding}");
            count += 1;
        }
    }
    match count {
        0 => println!("tidy: {} checks passed", CHECKS.len()),
        _ => println!("tidy: {count} findings"),
    }
    Ok(count == 0)
}

/// A workspace for tests: these files under a scratch directory.
#[cfg(test)]
fn scratch(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}
