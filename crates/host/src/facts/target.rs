//! Facts about a target path.

use super::mounts::Mount;
use super::{Survey, TargetQuery};
use record::{Bytes, FilesystemFacts, TargetFacts, TargetKind};
use rustix::fs::{Access, AtFlags, CWD, accessat, statvfs};
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

impl Survey<'_> {
    /// All facts about a target.
    pub(super) fn target(&mut self, query: &TargetQuery) -> TargetFacts {
        let path = Path::new(&query.path);
        match fs::metadata(self.host.real(path)) {
            Ok(metadata) => self.present(query, path, &metadata),
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    self.add_unknown(format!("{}: cannot be examined: {error}", query.path));
                }
                self.missing(query, path)
            }
        }
    }

    fn present(&mut self, query: &TargetQuery, path: &Path, metadata: &Metadata) -> TargetFacts {
        let canonical = self.host.canonical(path).unwrap_or_else(|_| path.to_path_buf());
        if let Some(name) = self.host.device_by_path(&canonical) {
            return self.block(query, &canonical, &name);
        }
        let kind = kind_of(metadata.file_type());
        if kind == TargetKind::Block {
            return self.unlisted_block(query, &canonical, metadata);
        }
        if kind == TargetKind::Char
            && let Some(name) = self.host.block_device_of(&canonical)
        {
            // What is done to it is done to the disk.
            let block = Path::new("/dev").join(&name);
            let disk = self.block(query, &block, &name);
            let canonical = canonical.to_string_lossy().into_owned();
            return TargetFacts { kind, canonical, direct: None, ..disk };
        }
        let real = self.host.real(path);
        let mut target = TargetFacts {
            kind,
            size: Bytes(match kind {
                TargetKind::File => metadata.len(),
                TargetKind::Char => self.host.size_of_character(&canonical).unwrap_or(0),
                _ => 0,
            }),
            readable: may_access(&real, Access::READ_OK),
            writable: may_access(&real, Access::WRITE_OK),
            parent_exists: true,
            canonical: canonical.to_string_lossy().into_owned(),
            ..TargetFacts::default()
        };
        if matches!(kind, TargetKind::File | TargetKind::Directory) {
            self.add_filesystem(&mut target, &canonical);
        }
        target.direct = self.direct(kind, &real, query.will_write, target.device.as_deref());
        target
    }

    fn missing(&mut self, query: &TargetQuery, path: &Path) -> TargetFacts {
        let (nearest, rest) = self.nearest_existing(path);
        let real = self.host.real(&nearest);
        let may_create = may_access(&real, Access::WRITE_OK | Access::EXEC_OK) && real.is_dir();
        let mut target = TargetFacts {
            kind: TargetKind::Missing,
            readable: may_create,
            writable: may_create,
            parent_exists: rest.components().count() <= 1 && real.is_dir(),
            canonical: nearest.join(&rest).to_string_lossy().into_owned(),
            ..TargetFacts::default()
        };
        self.add_filesystem(&mut target, &nearest);
        let device = target.device.as_deref();
        target.direct = self.direct(TargetKind::Missing, &real, query.will_write, device);
        target
    }

    fn block(&mut self, query: &TargetQuery, canonical: &Path, name: &str) -> TargetFacts {
        let path = canonical.to_string_lossy().into_owned();
        let real = self.host.real(canonical);
        let device = self.host.device(name).unwrap_or_default();
        // A container or sandbox may forbid devices despite the permission bits.
        let opened = File::open(&real);
        let forbidden = |e: &io::Error| e.kind() == ErrorKind::PermissionDenied;
        let refused = opened.as_ref().err().is_some_and(forbidden);
        drop(opened);
        TargetFacts {
            kind: TargetKind::Block,
            size: device.size,
            readable: may_access(&real, Access::READ_OK) && !refused,
            writable: may_access(&real, Access::WRITE_OK) && !refused && !device.read_only,
            parent_exists: true,
            device: Some(name.to_owned()),
            direct: self.direct(TargetKind::Block, &real, query.will_write, Some(name)),
            uses: self.uses(name, &path, query.will_write),
            canonical: path,
            ..TargetFacts::default()
        }
    }

    /// A block device that /sys does not list, as in a container without it.
    fn unlisted_block(
        &mut self,
        query: &TargetQuery,
        canonical: &Path,
        metadata: &Metadata,
    ) -> TargetFacts {
        let path = canonical.to_string_lossy().into_owned();
        let real = self.host.real(canonical);
        self.add_unknown(format!(
            "{path}: /sys does not list this device, so its partitions and what is stacked on it \
             were not checked"
        ));
        let number = metadata.rdev();
        let dev = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        let size = File::open(&real).and_then(|mut file| file.seek(SeekFrom::End(0)));
        TargetFacts {
            kind: TargetKind::Block,
            size: Bytes(size.as_ref().copied().unwrap_or(0)),
            readable: size.is_ok(),
            writable: size.is_ok() && may_access(&real, Access::WRITE_OK),
            parent_exists: true,
            direct: self.direct(TargetKind::Block, &real, query.will_write, None),
            uses: self.uses_of_unlisted(&dev, &path, query.will_write),
            canonical: path,
            ..TargetFacts::default()
        }
    }

    /// The existing part of a path with links resolved, and the missing part. A dangling link
    /// counts as its destination, because creating the file follows it.
    fn nearest_existing(&self, path: &Path) -> (PathBuf, PathBuf) {
        let followed = fs::read_link(self.host.real(path))
            .map(|to| path.parent().unwrap_or(Path::new("")).join(to));
        let path = followed.unwrap_or_else(|_| path.to_path_buf());
        for ancestor in path.ancestors() {
            let here = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
            if let Ok(canonical) = self.host.canonical(here) {
                let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
                return (canonical, rest.to_path_buf());
            }
        }
        (PathBuf::from("/"), path)
    }

    /// Fills in the filesystem and the device of a target in a filesystem.
    fn add_filesystem(&mut self, target: &mut TargetFacts, existing: &Path) {
        let Some(mount) = self.mount_of(existing).cloned() else {
            let canonical = &target.canonical;
            self.add_unknown(format!("{canonical}: its filesystem is unknown"));
            return;
        };
        let filesystem = match self.filesystems.get(&mount.id) {
            Some(known) => known.clone(),
            None => {
                let devices = self.devices_of(&mount);
                let facts = self.filesystem(&mount, existing, devices);
                self.filesystems.insert(mount.id, facts.clone());
                facts
            }
        };
        if filesystem.devices.is_empty() && filesystem.kind == "overlay" {
            let canonical = &target.canonical;
            self.add_unknown(format!(
                "{canonical}: is in an overlay filesystem (a container); the device under it is not \
                 visible"
            ));
        }
        target.device = filesystem.devices.first().cloned();
        target.filesystem = Some(filesystem);
    }

    fn filesystem(
        &mut self,
        mount: &Mount,
        existing: &Path,
        devices: Vec<String>,
    ) -> FilesystemFacts {
        let mut facts = FilesystemFacts {
            kind: mount.kind.clone(),
            mount_point: mount.point.to_string_lossy().into_owned(),
            source: mount.source.clone(),
            options: mount.options.clone(),
            read_only: mount.read_only,
            devices,
            ..FilesystemFacts::default()
        };
        match statvfs(self.host.real(existing)) {
            Ok(space) => {
                facts.total = Bytes(space.f_blocks.saturating_mul(space.f_frsize));
                facts.free = Bytes(space.f_bavail.saturating_mul(space.f_frsize));
                facts.unused = Bytes(space.f_bfree.saturating_mul(space.f_frsize));
                facts.block_size = Bytes(space.f_bsize);
            }
            Err(error) => {
                let point = &facts.mount_point;
                self.add_unknown(format!("{point}: its free space could not be read: {error}"));
            }
        }
        facts
    }
}

fn kind_of(file_type: FileType) -> TargetKind {
    match file_type {
        t if t.is_file() => TargetKind::File,
        t if t.is_dir() => TargetKind::Directory,
        t if t.is_block_device() => TargetKind::Block,
        t if t.is_char_device() => TargetKind::Char,
        t if t.is_fifo() => TargetKind::Fifo,
        _ => TargetKind::Other,
    }
}

/// Whether the effective user has this access.
fn may_access(path: &Path, access: Access) -> bool {
    accessat(CWD, path, access, AtFlags::EACCESS).is_ok()
}
