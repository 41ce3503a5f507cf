//! The programs that tests call. This is the one list of them.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Debian package and a program of it (or another file, by its path) whose presence proves it.
pub struct Package {
    /// Name of the package.
    pub name: &'static str,
    /// Name of the program.
    pub program: &'static str,
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
    // Certificates that the guide names.
    Package { name: "openssl", program: "openssl" },
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
    // Fetches what checks the pages.
    Package { name: "npm", program: "npm" },
    // Commands of the guide: reads an archive, asks a server, shows a man page.
    Package { name: "sqlite3", program: "sqlite3" },
    Package { name: "curl", program: "curl" },
    Package { name: "man-db", program: "man" },
    // Serves a block device over NBD.
    Package { name: "nbdkit", program: "nbdkit" },
    // Servers of NFS, with what it registers at, and of iSCSI, and the libraries that reach them.
    Package { name: "nfs-ganesha", program: "ganesha.nfsd" },
    Package { name: "nfs-ganesha-vfs", program: "/usr/lib/x86_64-linux-gnu/ganesha/libfsalvfs.so" },
    Package { name: "rpcbind", program: "rpcbind" },
    Package { name: "iproute2", program: "ss" },
    Package { name: "libnfs13", program: "/usr/lib/x86_64-linux-gnu/libnfs.so.13" },
    Package { name: "tgt", program: "tgtd" },
    Package { name: "libiscsi7", program: "/usr/lib/x86_64-linux-gnu/libiscsi.so.7" },
    // Start ranks, and bring the libraries that these speak through.
    Package { name: "openmpi-bin", program: "mpirun.openmpi" },
    Package { name: "mpich", program: "mpirun.mpich" },
    // Serves WebDAV.
    Package { name: "nginx", program: "nginx" },
    // Checks metrics.
    Package { name: "prometheus", program: "promtool" },
    // A guest with devices that this machine lacks.
    Package { name: "qemu-system-x86", program: "qemu-system-x86_64" },
    Package { name: "busybox-static", program: "busybox" },
    Package { name: "cpio", program: "cpio" },
    Package { name: "kmod", program: "depmod" },
    // Soft RoCE in the guest: the libraries and their provider.
    Package { name: "librdmacm1", program: "/usr/lib/x86_64-linux-gnu/librdmacm.so.1" },
    Package {
        name: "ibverbs-providers",
        program: "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so",
    },
    // Compile the BPF programs, list what is loaded, and count what they count.
    Package { name: "clang", program: "clang" },
    Package { name: "llvm", program: "llvm-strip" },
    Package { name: "bpftool", program: "bpftool" },
    Package { name: "bpftrace", program: "bpftrace" },
    Package { name: "mdadm", program: "mdadm" },
    Package { name: "dmsetup", program: "dmsetup" },
    Package { name: "sqlite3", program: "sqlite3" },
    // Renders the man page.
    Package { name: "groff-base", program: "groff" },
];

/// What the tests of Ceph call, which are run by themselves because it is large.
pub const CEPH: &[Package] = &[
    Package { name: "ceph-mon", program: "ceph-mon" },
    Package { name: "ceph-osd", program: "ceph-osd" },
    Package { name: "ceph-common", program: "rbd" },
    Package { name: "librbd1", program: "/usr/lib/x86_64-linux-gnu/librbd.so.1" },
];

/// What the tests of ranks that Slurm starts call. Its interface pmix opens a library by the name that only
/// the package for developers has.
pub const SLURM: &[Package] = &[
    Package { name: "slurm-wlm", program: "srun" },
    Package { name: "munge", program: "munged" },
    Package { name: "libpmix-dev", program: "/usr/lib/x86_64-linux-gnu/libpmix.so" },
    Package { name: "openmpi-bin", program: "mpirun.openmpi" },
    Package { name: "mpich", program: "mpirun.mpich" },
];

/// Makes sure that every needed package is there: installs what is missing as root, else says what
/// to run. Returns the exit code of the stage.
pub fn ensure() -> Result<u8> {
    match installed(NEEDED)? {
        0 => from_registries(),
        code => Ok(code),
    }
}

/// fio-plot, which a test draws charts with, moto, which serves S3, what our Python module is used with, and
/// axe, which checks pages.
fn from_registries() -> Result<u8> {
    match testbed::fio_plot()
        .and_then(|_| testbed::moto())
        .and_then(|_| testbed::python())
        .and_then(|_| testbed::axe())
    {
        Ok(_) => Ok(0),
        Err(why) => {
            eprintln!("{why}");
            Ok(1)
        }
    }
}

/// Makes sure that the packages are there, as [`ensure`] does.
pub fn installed(packages: &[Package]) -> Result<u8> {
    let missing = missing(packages, &search_path());
    if missing.is_empty() {
        return Ok(0);
    }
    let apt = search_path().iter().any(|directory| directory.join("apt-get").is_file());
    if !rustix::process::geteuid().is_root() || !apt {
        eprintln!("programs are needed that are not here; install them, on Debian so:");
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

/// Of the packages those whose program is in none of `directories`.
fn missing(packages: &[Package], directories: &[PathBuf]) -> Vec<&'static str> {
    let is_there = |program: &str| directories.iter().any(|at| at.join(program).is_file());
    packages
        .iter()
        .filter(|package| !is_there(package.program))
        .map(|package| package.name)
        .collect()
}

/// Whether a program is on this machine.
pub fn is_installed(program: &str) -> bool {
    search_path().iter().any(|directory| directory.join(program).is_file())
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
        // Files that are named by their paths are looked for there.
        let on_path = NEEDED.iter().filter(|package| !package.program.starts_with('/'));
        let on_path: Vec<Package> =
            on_path.map(|&Package { name, program }| Package { name, program }).collect();
        assert_eq!(missing(&on_path, &path).len(), on_path.len());
        for package in on_path.iter().filter(|package| package.name != "strace") {
            std::fs::write(scratch.path().join(package.program), "").unwrap();
        }
        assert_eq!(missing(&on_path, &path), ["strace"]);
        let here = scratch.path().join("strace").display().to_string();
        let named = Package { name: "file", program: Box::leak(here.into_boxed_str()) };
        assert_eq!(missing(&[named], &[]), ["file"]);
    }
}
