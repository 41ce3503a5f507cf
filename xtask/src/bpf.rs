//! `cargo xtask bpf`: compiles the BPF programs of `crates/layers`.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "layers.bpf.c";
const OBJECT: &str = "layers.bpf.o";
const DIRECTORY: &str = "crates/layers/bpf";

/// Compiles the programs and puts the object beside their source.
pub fn build(root: &Path) -> Result<()> {
    let directory = root.join(DIRECTORY);
    compile(&directory, &directory.join(OBJECT))
}

/// Compiles with clang; the same source gives the same bytes in every directory. What describes the
/// program to debuggers is removed, what describes its types to the kernel (BTF) stays.
fn compile(directory: &Path, object: &Path) -> Result<()> {
    let mut clang = Command::new("clang");
    clang.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror"]);
    clang.args(["-fno-ident", "-fdebug-compilation-dir=.", "-c", SOURCE, "-o"]);
    clang.arg(object).current_dir(directory);
    let mut strip = Command::new("llvm-strip");
    strip.arg("--strip-debug").arg(object);
    for (mut command, package) in [(clang, "clang"), (strip, "llvm")] {
        let help = || format!("starting {package}: install it with apt-get install {package}");
        let status = command.status().with_context(help)?;
        ensure!(status.success(), "{command:?} failed: {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn the_kept_object_is_that_of_its_source() {
        let directory = workspace::root().join(DIRECTORY);
        let copy = tempfile::tempdir().unwrap();
        std::fs::copy(directory.join(SOURCE), copy.path().join(SOURCE)).unwrap();
        let object = copy.path().join(OBJECT);
        compile(copy.path(), &object).unwrap();
        let read = |path: &Path| std::fs::read(path).unwrap();
        let same = read(&object) == read(&directory.join(OBJECT));
        assert!(same, "the source has changed: run cargo xtask bpf");
    }
}
