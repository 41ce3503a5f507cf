//! The image of a container, built from its Containerfile and run without a registry: its base is the
//! same fresh Debian root in which packages are tried.

use super::process::{call, output};
use super::workshop::Workshop;
use anyhow::{Result, ensure};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Images of a directory of their own, which ends with the value's.
struct Images(PathBuf);

impl Images {
    fn buildah(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("buildah");
        command.arg("--storage-driver=vfs");
        command.arg("--root").arg(self.0.join("root")).arg("--runroot").arg(self.0.join("run"));
        command.args(arguments);
        command
    }

    fn buildah_output(&self, arguments: &[&str]) -> Result<String> {
        Ok(output(&mut self.buildah(arguments))?.trim().to_owned())
    }
}

/// Builds the image and does I/O in it, as its own user. `root` is a tar of a Debian root.
pub fn check(shop: &Workshop, root: &Path) -> Result<()> {
    let file = shop.root.join("packaging/container/Containerfile");
    let scratch = tempfile::tempdir_in(&shop.packages)?;
    let images = Images(scratch.path().to_owned());
    let base = images.buildah_output(&["from", "scratch"])?;
    call(images.buildah(&["add", "--quiet", &base]).arg(root).arg("/"))?;
    images.buildah_output(&["commit", "--quiet", "--rm", &base, "debian:12-slim"])?;
    let context = scratch.path().join("context");
    std::fs::create_dir(&context)?;
    let package = shop.package("fathom-", "x86_64.tar.gz")?;
    std::fs::copy(&package, context.join(package.file_name().unwrap_or_default()))?;
    let build = ["bud", "--isolation=chroot", "--pull-never", "--quiet", "--tag=fathom", "--file"];
    call(images.buildah(&build).arg(file).arg(&context))?;
    let data = scratch.path().join("data");
    std::fs::create_dir(&data)?;
    let container = images.buildah_output(&["from", "--pull-never", "fathom"])?;
    let user =
        images.buildah_output(&["inspect", "--format={{.OCIv1.Config.User}}", &container])?;
    ensure!(user == "65532:65532", "the image runs as '{user}'");
    chown(&data, Some(65532), Some(65532))?;
    let volume = format!("{}:/data", data.display());
    let run = ["run", "--isolation=chroot", "--volume", &volume, &container, "--"];
    let job = ["/usr/bin/fathom", "run", "--name=a", "--rw=randwrite", "--size=4m"];
    let said = output(&mut images.buildah(&[&run[..], &job].concat()))?;
    ensure!(said.contains("limited by"), "a run in the container said: {said}");
    let size = images.buildah_output(&["images", "--format={{.Size}}", "fathom"])?;
    println!("container image: {size}");
    Ok(())
}
