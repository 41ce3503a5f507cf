//! Where unsafe code may stand: system calls and engines, each small enough to be reviewed whole, and
//! examples of engines that are programs of their own.

use super::Finding;
use crate::rust_text::{code_only, lines_with};
use crate::workspace;
use anyhow::Result;
use std::path::Path;

const ROOMS: &[&str] = &["crates/engine/src/sys", "crates/engine/src/engines", "examples/engines"];

/// Every `unsafe` outside [`ROOMS`].
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in workspace::sources(root, &["rs"])? {
        if ROOMS.iter().any(|room| source.path.with_extension("").starts_with(room)) {
            continue;
        }
        for line in lines_with(&code_only(&source.text), "unsafe") {
            let message = format!("unsafe code belongs in {}", ROOMS.join(" or "));
            findings.push(Finding::new(&source.path, line, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::super::scratch;
    use super::*;

    #[test]
    fn unsafe_outside_its_rooms_is_found() {
        let code = "// unsafe\nunsafe { f() }\n";
        let root = scratch(&[
            ("crates/engine/src/sys.rs", code),
            ("crates/engine/src/sys/mmap.rs", code),
            ("crates/engine/src/engines/uring.rs", code),
            ("crates/engine/src/system.rs", code),
        ]);
        let found = check(root.path()).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].path.as_path(), found[0].line),
            (Path::new("crates/engine/src/system.rs"), 2)
        );
    }
}
