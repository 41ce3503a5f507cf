//! The program in the packages. Zig links it against the symbols of an old glibc, so that one file runs on
//! every distribution since 2012, and the same bytes wherever it is built.

use super::process::{call, output};
use super::workshop::Workshop;
use crate::cargo;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What servers and workstations mostly are.
pub const X86_64: &str = "x86_64-unknown-linux-gnu";
/// ARM servers and boards.
pub const AARCH64: &str = "aarch64-unknown-linux-gnu";
/// The oldest glibc that the program runs with, that of RHEL 7.
pub const GLIBC: &str = "2.17";

/// A build of the commit that is checked out.
pub struct Build {
    commit: String,
}

impl Build {
    /// Names the commit, with `-dirty` where files differ from it.
    pub fn of_commit(root: &Path) -> Result<Build> {
        let describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
        let commit = output(Command::new("git").args(describe).current_dir(root))?;
        Ok(Build { commit: commit.trim().into() })
    }

    /// Builds the program and the wheel around it, and returns the program.
    pub fn program(&self, shop: &Workshop) -> Result<PathBuf> {
        self.with_wheel(shop, &cargo::target_directory(shop.root), &shop.packages)
    }

    /// Builds again in another directory. An error where the bytes differ.
    pub fn reproduce(&self, shop: &Workshop, program: &Path) -> Result<()> {
        let directory = shop.packages.join("again");
        let again = self.with_wheel(shop, &directory, &directory.join("wheels"))?;
        let (one, other) = (std::fs::read(program)?, std::fs::read(&again)?);
        ensure!(one == other, "{} differs from {}", again.display(), program.display());
        println!("reproduced: {}", again.display());
        Ok(())
    }

    /// One build for both: maturin calls cargo otherwise than cargo-zigbuild does, so that cargo would build
    /// everything again.
    fn with_wheel(&self, shop: &Workshop, directory: &Path, wheels: &Path) -> Result<PathBuf> {
        let mut maturin = Command::new(shop.tools.python("maturin"));
        maturin
            .args(["build", "--zig", "--target", X86_64, "--compatibility", "manylinux2014"])
            .arg("--out")
            .arg(wheels)
            .current_dir(shop.root.join("python"));
        self.run(shop, &mut maturin, directory, X86_64)
    }

    /// The program for ARM, without a wheel.
    pub fn for_arm(&self, shop: &Workshop) -> Result<PathBuf> {
        call(Command::new("rustup").args(["target", "add", AARCH64]))?;
        let build = ["zigbuild", "--locked", "--package=fathom", "--profile=dist", "--target"];
        let mut zigbuild = cargo::command(shop.root, &build);
        zigbuild.arg(format!("{AARCH64}.{GLIBC}"));
        self.run(shop, &mut zigbuild, &cargo::target_directory(shop.root), AARCH64)
    }

    fn run(
        &self,
        shop: &Workshop,
        build: &mut Command,
        directory: &Path,
        target: &str,
    ) -> Result<PathBuf> {
        self.environment(shop, build, directory)?;
        call(build)?;
        Ok(directory.join(target).join("dist/fathom"))
    }

    /// No path of this machine gets into the program.
    fn environment(&self, shop: &Workshop, command: &mut Command, directory: &Path) -> Result<()> {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
        let sources = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/src");
        let mut prefixes =
            vec![(shop.root.to_path_buf(), "/fathom"), (directory.to_path_buf(), "/build")];
        // A registry's directory is named for its address. It is there once anything was built.
        for registry in std::fs::read_dir(&sources).into_iter().flatten() {
            prefixes.push((registry?.path(), "/registry"));
        }
        let flag =
            |(from, to): &(PathBuf, &str)| format!("--remap-path-prefix={}={to}", from.display());
        let flags: Vec<String> = prefixes.iter().map(flag).collect();
        command
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
            .env("CARGO_TARGET_DIR", directory)
            .env("FATHOM_COMMIT", &self.commit)
            .env("SOURCE_DATE_EPOCH", &shop.epoch)
            .env("PATH", shop.tools.path()?);
        Ok(())
    }
}
