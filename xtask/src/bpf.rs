//! `cargo xtask bpf`: compiles the BPF programs of `crates/layers` and `crates/capture`.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// Crates with programs; those of crate NAME are in `crates/NAME/bpf/NAME.bpf.c`.
const CRATES: [&str; 2] = ["layers", "capture"];

/// Compiles the programs and puts each object beside its source.
pub fn build(root: &Path) -> Result<()> {
    CRATES.iter().try_for_each(|name| {
        let directory = root.join(format!("crates/{name}/bpf"));
        compile(name, &directory, &directory.join(object(name)))
    })
}

fn source(name: &str) -> String {
    format!("{name}.bpf.c")
}

fn object(name: &str) -> String {
    format!("{name}.bpf.o")
}

/// Compiles with clang; the same source gives the same bytes in every directory. What describes the
/// program to debuggers is removed, what describes its types to the kernel (BTF) stays.
fn compile(name: &str, directory: &Path, object: &Path) -> Result<()> {
    let mut clang = Command::new("clang");
    clang.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror"]);
    clang.args(["-fno-ident", "-fdebug-compilation-dir=.", "-c", &source(name), "-o"]);
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
    fn the_kept_objects_are_those_of_their_sources() {
        for name in CRATES {
            let directory = workspace::root().join(format!("crates/{name}/bpf"));
            let copy = tempfile::tempdir().unwrap();
            std::fs::copy(directory.join(source(name)), copy.path().join(source(name))).unwrap();
            let made = copy.path().join(object(name));
            compile(name, copy.path(), &made).unwrap();
            let read = |path: &Path| std::fs::read(path).unwrap();
            let same = read(&made) == read(&directory.join(object(name)));
            assert!(same, "{name}.bpf.c has changed: run cargo xtask bpf");
        }
    }
}
