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

/// A device of QEMU beside the three NVMe disks.
pub struct Device {
    /// Its arguments; `FILE` stands for the path of its image.
    pub arguments: &'static [&'static str],
    /// Name of its image, which is empty at the start.
    pub image: &'static str,
    /// Size of the image, in bytes.
    pub bytes: u64,
}

/// What is put into it.
pub struct Content<'a> {
    /// Our program.
    pub program: &'a Path,
    /// What runs in the guest.
    pub script: &'a str,
    /// Modules that the guest loads, with their parameters; those they depend on come first.
    pub modules: &'a [&'a str],
    /// Other programs of this machine.
    pub tools: &'a [&'a str],
    /// Programs and directories of this machine that are at the same place in the guest.
    pub files: &'a [PathBuf],
    /// Devices beside its NVMe disks.
    pub devices: &'a [Device],
}

const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mkdir -p /run
while read line; do insmod /modules/$line 2>/dev/null; done </modules/list
sleep 2
echo GUEST-BEGINS
sh /script 2>&1
echo GUEST-ENDS
poweroff -f
";

/// Puts an image together in `directory`: Debian's kernel, fetched once, busybox, our program and the
/// tools with their libraries, and the script.
pub fn make(directory: &Path, content: &Content) -> Result<Image> {
    fs::create_dir_all(directory)?;
    let unpacked = kernel_package(directory)?;
    let release = only_name_in(&unpacked.join("lib/modules"))?;
    let guest = directory.join("root");
    if guest.exists() {
        fs::remove_dir_all(&guest)?;
    }
    for name in ["bin", "proc", "sys", "dev", "tmp", "mnt", "modules"] {
        fs::create_dir_all(guest.join(name))?;
    }
    fs::copy("/bin/busybox", guest.join("bin/busybox")).context("/bin/busybox (busybox-static)")?;
    fs::copy(content.program, guest.join("bin/fathom"))?;
    // Symbols of a debug build would fill the guest's memory.
    let _ = Command::new("strip").arg(guest.join("bin/fathom")).status();
    libraries(content.program, &guest)?;
    for tool in content.tools {
        let path = tool_path(tool)?;
        fs::copy(&path, guest.join("bin").join(tool))?;
        libraries(&path, &guest)?;
    }
    for path in content.files {
        copy(path, &guest)?;
    }
    modules(&unpacked, &release, &guest, content.modules)?;
    fs::write(guest.join("script"), content.script)?;
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

/// Copies a program with its libraries, or a directory, to the same place.
fn copy(path: &Path, guest: &Path) -> Result<()> {
    let parent = path.parent().and_then(|parent| parent.strip_prefix("/").ok());
    let place = guest.join(parent.with_context(|| format!("{} is no file", path.display()))?);
    fs::create_dir_all(&place)?;
    ensure!(path.exists(), "{} is not there; 'cargo xtask test' lists its package", path.display());
    // A link to a file becomes the file.
    let follow = if path.is_file() { "L" } else { "" };
    shell(guest, &format!("cp -a{follow} '{}' '{}'", path.display(), place.display()))?;
    if path.is_file() { libraries(path, guest) } else { Ok(()) }
}

/// Where a program of this machine is.
fn tool_path(name: &str) -> Result<PathBuf> {
    let places = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
    let found = places.iter().map(|place| Path::new(place).join(name)).find(|path| path.exists());
    found.with_context(|| format!("{name} is not installed; try 'apt-get install {name}'"))
}

/// Copies the modules, and writes the list of them with their parameters, in the order in which they
/// load.
fn modules(unpacked: &Path, release: &str, guest: &Path, wanted: &[&str]) -> Result<()> {
    let base = unpacked.display();
    shell(unpacked, &format!("depmod -b '{base}' '{release}'"))?;
    let mut seen: Vec<String> = Vec::new();
    let mut list = String::new();
    for line in wanted {
        let (module, parameters) = line.split_once(' ').unwrap_or((line, ""));
        let shown = Command::new("/sbin/modprobe")
            .args(["--show-depends", "-S", release, "-d"])
            .arg(unpacked)
            .arg(module)
            .output()
            .context("modprobe (kmod)")?;
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        // Behind the file are parameters of this machine's configuration.
        let files =
            shown.lines().filter_map(|line| line.strip_prefix("insmod ")?.split(' ').next());
        for file in files.map(str::to_owned) {
            if seen.contains(&file) {
                continue;
            }
            let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy();
            fs::copy(&file, guest.join("modules").join(&*name))?;
            let is_wanted =
                name.replace('-', "_").starts_with(&format!("{}.", module.replace('-', "_")));
            list += &format!("{name} {}\n", if is_wanted { parameters } else { "" });
            seen.push(file);
        }
    }
    Ok(fs::write(guest.join("modules/list"), list)?)
}

fn shell(directory: &Path, line: &str) -> Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(directory).stdout(Stdio::null());
    command.env("PATH", format!("{}:/sbin:/usr/sbin", std::env::var("PATH").unwrap_or_default()));
    let status = command.status().context("sh")?;
    ensure!(status.success(), "failed: {line}");
    Ok(())
}
