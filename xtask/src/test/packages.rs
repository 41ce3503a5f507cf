//! The programs that tests call. This is the one list of them.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Debian package and a program (or another file, by its path) whose presence proves it.
struct Package {
    name: &'static str,
    program: &'static str,
}

const NEEDED: &[Package] = &[
    // The oracle that parsing, layout and output are held against.
    Package { name: "fio", program: "fio" },
    // Its example job files.
    Package { name: "fio-examples", program: "/usr/share/doc/fio/examples/aio-read.fio" },
    // Filesystems made on loop devices.
    Package { name: "e2fsprogs", program: "mkfs.ext4" },
    Package { name: "xfsprogs", program: "mkfs.xfs" },
    Package { name: "btrfs-progs", program: "mkfs.btrfs" },
    // Loop devices and their mounts.
    Package { name: "mount", program: "losetup" },
    Package { name: "util-linux", program: "mkswap" },
    // A terminal to draw on.
    Package { name: "bsdutils", program: "script" },
    // What a run asks of the kernel.
    Package { name: "strace", program: "strace" },
    // Runs what follows fio's output, in an environment of its own (see testbed::fio_plot),
    // and an S3 server likewise.
    Package { name: "python3-venv", program: "python3" },
    // Puts recorded block traces in order.
    Package { name: "blktrace", program: "blkparse" },
    // The oracle of the front end of that name.
    Package { name: "hdparm", program: "hdparm" },
    // What is cached of a file, and what runs.
    Package { name: "util-linux-extra", program: "fincore" },
    Package { name: "procps", program: "pgrep" },
    // Compiles a project.
    Package { name: "gcc", program: "cc" },
    Package { name: "make", program: "make" },
    Package { name: "gzip", program: "gzip" },
    // Servers that rows are put into.
    Package { name: "mariadb-server", program: "mariadbd" },
    Package { name: "postgresql", program: "psql" },
    // Looks at the pages.
    Package { name: "chromium", program: "chromium" },
    Package { name: "chromium-driver", program: "chromedriver" },
    // Serves WebDAV.
    Package { name: "nginx", program: "nginx" },
    // Renders the man page.
    Package { name: "groff-base", program: "groff" },
];

/// Makes sure that every needed package is there: installs what is missing as root, else says what
/// to run. Returns the exit code of the stage.
pub fn ensure() -> Result<u8> {
    match packages()? {
        0 => from_pypi(),
        code => Ok(code),
    }
}

/// fio-plot, which a test draws charts with, and moto, which serves S3.
fn from_pypi() -> Result<u8> {
    match testbed::fio_plot().and_then(|_| testbed::moto()) {
        Ok(_) => Ok(0),
        Err(why) => {
            eprintln!("{why}");
            Ok(1)
        }
    }
}

fn packages() -> Result<u8> {
    let missing = missing(&search_path());
    if missing.is_empty() {
        return Ok(0);
    }
    let apt = search_path().iter().any(|directory| directory.join("apt-get").is_file());
    if !rustix::process::geteuid().is_root() || !apt {
        eprintln!("the tests need programs that are not here; install them, on Debian so:");
        eprintln!("    sudo apt-get install -y {}", missing.join(" "));
        return Ok(1);
    }
    eprintln!("installing {}", missing.join(" "));
    // A machine that never read the package lists knows no package; reading them needs the network.
    if install(&missing)? || (apt_get(&["update", "-qq"])? && install(&missing)?) {
        return Ok(0);
    }
    eprintln!("apt-get install -y {} failed", missing.join(" "));
    Ok(1)
}

fn install(packages: &[&str]) -> Result<bool> {
    let options = ["install", "-y", "-qq", "--no-install-recommends"];
    apt_get(&[&options, packages].concat())
}

fn apt_get(arguments: &[&str]) -> Result<bool> {
    let status = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(std::io::stderr())
        .status()
        .context("starting apt-get")?;
    Ok(status.success())
}

/// Packages whose program is in none of `directories`.
fn missing(directories: &[PathBuf]) -> Vec<&'static str> {
    let is_there = |program: &str| directories.iter().any(|at| at.join(program).is_file());
    NEEDED.iter().filter(|package| !is_there(package.program)).map(|package| package.name).collect()
}

/// PATH, and the directories of administrators' programs, which users' PATH lacks.
fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(|directory| Path::new(directory).to_path_buf());
    std::env::split_paths(&path).chain(system).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_on_the_path_is_missing() {
        let scratch = tempfile::tempdir().unwrap();
        let path = [scratch.path().to_path_buf()];
        assert_eq!(missing(&path).len(), NEEDED.len());
        for package in NEEDED.iter().filter(|package| package.name != "strace") {
            std::fs::write(scratch.path().join(package.program), "").unwrap();
        }
        assert_eq!(missing(&path), ["strace"]);
    }
}
