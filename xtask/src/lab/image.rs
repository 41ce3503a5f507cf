//! The kernel and the first file system of the guest.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What boots.
pub struct Image {
    /// The kernel.
    pub kernel: PathBuf,
    /// Its initial file system.
    pub initrd: PathBuf,
}

/// Modules the guest loads, those they depend on first.
const MODULES: [&str; 3] = ["nvme", "sd_mod", "scsi_debug"];

const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
for module in /modules/*.ko*; do insmod $module 2>/dev/null; done
sleep 2
echo GUEST-BEGINS
sh /script 2>&1
echo GUEST-ENDS
poweroff -f
";

/// Puts an image together in `directory`: Debian's kernel, fetched once, busybox, our program with
/// its libraries, and the script.
pub fn make(directory: &Path, program: &Path, script: &str) -> Result<Image> {
    fs::create_dir_all(directory)?;
    let unpacked = kernel_package(directory)?;
    let release = only_name_in(&unpacked.join("lib/modules"))?;
    let guest = directory.join("root");
    if guest.exists() {
        fs::remove_dir_all(&guest)?;
    }
    for name in ["bin", "proc", "sys", "dev", "tmp", "modules"] {
        fs::create_dir_all(guest.join(name))?;
    }
    fs::copy("/bin/busybox", guest.join("bin/busybox")).context("/bin/busybox (busybox-static)")?;
    fs::copy(program, guest.join("bin/fathom"))?;
    libraries(program, &guest)?;
    modules(&unpacked, &release, &guest)?;
    fs::write(guest.join("script"), script)?;
    fs::write(guest.join("init"), INIT)?;
    fs::set_permissions(guest.join("init"), fs::Permissions::from_mode(0o755))?;
    let initrd = directory.join("initrd");
    shell(&guest, &format!("find . | cpio --quiet -o -H newc > '{}'", initrd.display()))?;
    Ok(Image { kernel: unpacked.join(format!("boot/vmlinuz-{release}")), initrd })
}

/// Debian's kernel, unpacked; fetched when it is not there yet.
fn kernel_package(directory: &Path) -> Result<PathBuf> {
    let unpacked = directory.join("kernel");
    if !unpacked.join("lib/modules").exists() {
        shell(
            directory,
            "apt-get download \"$(apt-cache depends linux-image-amd64 | \
             sed -n 's/.*Depends: \\(linux-image-[^ ]*\\)$/\\1/p' | head -n 1)\" && \
             dpkg -x linux-image-*.deb kernel",
        )
        .context("fetching Debian's kernel")?;
    }
    Ok(unpacked)
}

fn only_name_in(directory: &Path) -> Result<String> {
    let first = fs::read_dir(directory)?.next().context("no kernel in the package")??;
    Ok(first.file_name().to_string_lossy().into_owned())
}

/// What the dynamic linker loads for the program, at the places where it looks.
fn libraries(program: &Path, guest: &Path) -> Result<()> {
    let listed = Command::new("ldd").arg(program).output().context("ldd")?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    for library in listed.split_whitespace().filter(|word| word.starts_with('/')) {
        let place = guest.join(library.trim_start_matches('/'));
        fs::create_dir_all(place.parent().unwrap_or(guest))?;
        fs::copy(library, place).with_context(|| library.to_owned())?;
    }
    Ok(())
}

/// Copies the modules, numbered in the order in which they load.
fn modules(unpacked: &Path, release: &str, guest: &Path) -> Result<()> {
    let base = unpacked.display();
    shell(unpacked, &format!("depmod -b '{base}' '{release}'"))?;
    let mut seen: Vec<String> = Vec::new();
    for module in MODULES {
        let shown = Command::new("/sbin/modprobe")
            .args(["--show-depends", "-S", release, "-d"])
            .arg(unpacked)
            .arg(module)
            .output()
            .context("modprobe (kmod)")?;
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        let files = shown.lines().filter_map(|line| line.strip_prefix("insmod "));
        for file in files.map(|file| file.trim().to_owned()) {
            if !seen.contains(&file) {
                seen.push(file);
            }
        }
    }
    for (index, file) in seen.iter().enumerate() {
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        fs::copy(file, guest.join(format!("modules/{index:03}-{name}")))?;
    }
    Ok(())
}

fn shell(directory: &Path, line: &str) -> Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(directory).stdout(Stdio::null());
    command.env("PATH", format!("{}:/sbin:/usr/sbin", std::env::var("PATH").unwrap_or_default()));
    let status = command.status().context("sh")?;
    ensure!(status.success(), "failed: {line}");
    Ok(())
}
