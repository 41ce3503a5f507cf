//! Where packages are made, and the calls that make them.

use super::process::{call, output};
use super::tools::Tools;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the packages are made, and with what.
pub struct Workshop<'a> {
    /// Of the workspace.
    pub root: &'a Path,
    /// `target/packages`; finished packages are in it, everything else is below it.
    pub packages: PathBuf,
    /// Programs that make packages.
    pub tools: Tools,
    /// Time of the commit: the time of every file in the packages.
    pub epoch: String,
    /// Of fathom.
    pub version: String,
}

impl Workshop<'_> {
    /// The directory that packages are filled from.
    pub fn stage(&self) -> PathBuf {
        self.packages.join("stage")
    }

    /// A tar.gz that is the same bytes for the same files.
    pub fn tar(&self, target: &str) -> Result<()> {
        let name =
            format!("fathom-{}-{}", self.version, target.trim_end_matches("-unknown-linux-gnu"));
        let (file, stage) = (format!("{name}.tar"), self.stage());
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX"])
            .arg(format!("--mtime=@{}", self.epoch))
            .arg(format!("--transform=s,^\\.,{name},"))
            .args(["--create", "--file"])
            .args([&file, "--directory"])
            .arg(stage)
            .arg(".");
        call(tar.current_dir(&self.packages))?;
        call(Command::new("gzip").args(["-9nf", &file]).current_dir(&self.packages))
    }

    /// The packages `fathom-storage` and `fathom-fio`.
    pub fn debian(&self) -> Result<()> {
        for variant in [&[][..], &["--variant=fio"]] {
            let mut deb = self.cargo_tool("cargo-deb");
            deb.args(["deb", "--package=fathom", "--no-build", "--no-strip", "--quiet"])
                .args(variant)
                .arg("--output")
                .arg(&self.packages);
            call(&mut deb)?;
        }
        Ok(())
    }

    /// The RPMs of the same names.
    pub fn rpm(&self) -> Result<()> {
        for variant in [&[][..], &["--variant=fio"]] {
            let mut rpm = self.cargo_tool("cargo-generate-rpm");
            rpm.args(["generate-rpm", "--package=crates/cli", "--payload-compress=zstd"])
                .args(["--source-date", &self.epoch, "--arch=x86_64"])
                .args(variant)
                .arg("--output")
                .arg(&self.packages);
            call(&mut rpm)?;
        }
        Ok(())
    }

    /// A subcommand of cargo, called as cargo calls it.
    pub fn cargo_tool(&self, name: &str) -> Command {
        let mut command = Command::new(self.tools.cargo_tool(name));
        command.current_dir(self.root).env("SOURCE_DATE_EPOCH", &self.epoch);
        command
    }

    /// Writes SHA256SUMS and prints what there is.
    pub fn sums(&self) -> Result<()> {
        let names: Vec<String> = self
            .finished()?
            .iter()
            .filter_map(|path| path.file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        let sums = output(Command::new("sha256sum").args(&names).current_dir(&self.packages))?;
        std::fs::write(self.packages.join("SHA256SUMS"), &sums)?;
        print!("{sums}");
        println!("{}", self.packages.display());
        Ok(())
    }

    /// The packages, sorted by name.
    pub fn finished(&self) -> Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(&self.packages)?.collect::<std::io::Result<Vec<_>>>()?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.retain(|path| {
            let end = path.extension().unwrap_or_default().to_string_lossy();
            ["gz", "deb", "rpm", "whl", "json"].contains(&&*end)
        });
        paths.sort();
        Ok(paths)
    }

    /// The one package whose name ends so.
    pub fn package(&self, prefix: &str, end: &str) -> Result<PathBuf> {
        let is_it = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(end)
        };
        self.finished()?
            .into_iter()
            .find(is_it)
            .with_context(|| format!("there is no {prefix}…{end}"))
    }
}
