//! Whether discards reach the device: which filesystems can trim, which layers pass discards on, and
//! what to do where one does not.

use record::{Bytes, DeviceFacts, DeviceKind, Facts, FilesystemFacts, TargetKind, Use};

/// The filesystem and the layers that a discard of a path passes through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discards {
    /// The filesystem of the path; `None` for a device.
    pub filesystem: Option<FilesystemFacts>,
    /// Its kernel name and size, for a path that is a device.
    pub device: Option<(String, Bytes)>,
    /// Why the device is not free to be emptied.
    pub uses: Vec<Use>,
    /// Layers with a queue of their own, each before those below it.
    pub layers: Vec<Layer>,
}

/// A layer of the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Kernel name.
    pub name: String,
    /// "loop over /srv/x.img", "dm crypt", "raid5", "virtio disk".
    pub what: String,
    /// Largest discard it takes; 0: none.
    pub most: Bytes,
    /// Unit of its discards; 0: not said.
    pub granularity: Bytes,
    /// Whether the discard reaches it: a loop device turns discards into holes in its file and passes
    /// nothing on.
    pub is_reached: bool,
    /// How to enable discards; empty where they work.
    pub cure: String,
}

impl Layer {
    /// Whether it takes discards.
    pub fn takes(&self) -> bool {
        self.most.0 > 0
    }
}

/// Why a discard cannot be made, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Why.
    pub reason: String,
    /// What to do.
    pub cure: String,
}

/// Filesystems of Linux 6.12 that answer FITRIM.
const TRIMMING: [&str; 15] = [
    "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "gfs2", "jfs", "msdos", "nilfs2",
    "ntfs3", "ocfs2", "vfat", "xfs",
];

/// Others that do not, with what to do instead.
const NOT_TRIMMING: [(&str, &str); 6] = [
    ("proc", MEMORY),
    ("sysfs", MEMORY),
    ("overlay", "choose a path on the filesystem that holds the overlay's files"),
    ("zfs", "zfs trims by itself: zpool trim POOL"),
    ("squashfs", READ_ONLY),
    ("iso9660", READ_ONLY),
];
const MEMORY: &str = "there is nothing to trim: it is memory, freed when files are deleted";
const SERVER: &str = "trim it on the machine that has the disks";
const READ_ONLY: &str = "there is nothing to trim: it is read-only";

/// Follows a discard from a path down its stack.
pub fn discards(facts: &Facts, path: &str) -> Discards {
    let Some(target) = facts.targets.get(path) else { return Discards::default() };
    let is_device = target.kind == TargetKind::Block;
    let stack: Vec<&DeviceFacts> =
        facts.stack_under(path).into_iter().filter_map(|name| facts.devices.get(name)).collect();
    let mut hidden: Vec<&str> = Vec::new();
    let mut layers = Vec::new();
    for device in stack {
        let is_hidden = hidden.contains(&device.name.as_str());
        if is_hidden || matches!(device.kind, DeviceKind::Loop { .. }) {
            hidden.extend(device.below.iter().map(String::as_str));
        }
        // A partition has no queue of its own.
        if device.kind != DeviceKind::Partition {
            layers.push(layer(device, !is_hidden));
        }
    }
    let device = target.device.clone().filter(|_| is_device).map(|name| (name, target.size));
    Discards {
        filesystem: target.filesystem.clone().filter(|_| !is_device),
        device,
        uses: target.uses.clone(),
        layers,
    }
}

fn layer(device: &DeviceFacts, is_reached: bool) -> Layer {
    let takes = device.discard_max.0 > 0;
    Layer {
        name: device.name.clone(),
        what: describe(device),
        most: device.discard_max,
        granularity: device.discard_granularity,
        is_reached,
        cure: if takes { String::new() } else { cure(device) },
    }
}

fn describe(device: &DeviceFacts) -> String {
    let disk = || {
        let transport = device.transport.clone();
        transport.map_or("disk".into(), |transport| format!("{transport} disk"))
    };
    match &device.kind {
        DeviceKind::Disk | DeviceKind::Partition => disk(),
        DeviceKind::DeviceMapper { subsystem, .. } if subsystem.is_empty() => {
            "device mapper".into()
        }
        DeviceKind::DeviceMapper { subsystem, .. } => {
            format!("device mapper, {}", subsystem.to_lowercase())
        }
        DeviceKind::Md { level } => level.clone(),
        DeviceKind::Loop { backing_file } => format!("loop over {backing_file}"),
        DeviceKind::Zram => "compressed memory".into(),
        DeviceKind::Ram => "memory".into(),
        DeviceKind::Network => "network device".into(),
    }
}

/// How to enable discards of a layer.
fn cure(device: &DeviceFacts) -> String {
    if device.discard_max_hardware.0 > 0 {
        // Linux 6.18 takes no number there any more once it is 0: its units have become 0, too.
        return format!(
            "the device supports it, but 0 was written to \
             /sys/class/block/{}/queue/discard_max_bytes, most likely by a udev rule: remove the \
             rule, then reattach the device or reboot",
            device.name
        );
    }
    match (&device.kind, device.transport.as_deref()) {
        (DeviceKind::DeviceMapper { name, subsystem }, _) if subsystem.starts_with("CRYPT") => {
            format!(
                "encryption hides free blocks by default: cryptsetup refresh \
                 --allow-discards {name}, or discard in /etc/crypttab"
            )
        }
        (DeviceKind::DeviceMapper { .. }, _) => {
            "device mapper supports discards when all devices below it do: check those".into()
        }
        (DeviceKind::Md { level }, _) if ["raid4", "raid5", "raid6"].contains(&level.as_str()) => {
            "if all members read as zeros after a discard, load raid456 with \
             devices_handle_discard_safely=Y"
                .into()
        }
        (DeviceKind::Md { .. }, _) => "an array supports discards when all its members do".into(),
        (DeviceKind::Loop { .. }, _) => {
            "keep its file on a filesystem that can punch holes (ext4, xfs, btrfs, tmpfs), and \
             attach it writable"
                .into()
        }
        (_, Some("virtio" | "xen" | "hyperv")) => {
            "the hypervisor offers none: in QEMU set discard=unmap for the drive and, for \
             virtio-blk, discard=on for the device"
                .into()
        }
        (_, Some("usb")) => {
            "many USB bridges hide it: if the disk supports UNMAP, write unmap to its \
             provisioning_mode below /sys/class/scsi_disk"
                .into()
        }
        _ if device.rotational == Some(true) => "spinning disks do not need it".into(),
        _ => "the device reports no support: check whether its firmware or controller hides \
             it"
        .into(),
    }
}

impl Discards {
    /// The unit that the layers reached agree on: less is not discarded. 0 where none says.
    pub fn granularity(&self) -> Bytes {
        let reached = self.layers.iter().filter(|layer| layer.is_reached && layer.takes());
        reached.map(|layer| layer.granularity).max().unwrap_or_default()
    }

    /// Why a discard is impossible; `None` when no obstacle is visible.
    pub fn obstacle(&self) -> Option<Obstacle> {
        self.filesystem_obstacle().or_else(|| self.layer_obstacle())
    }

    fn filesystem_obstacle(&self) -> Option<Obstacle> {
        let filesystem = self.filesystem.as_ref()?;
        let (kind, point) = (filesystem.kind.as_str(), &filesystem.mount_point);
        let instead = match NOT_TRIMMING.iter().find(|(name, _)| *name == kind) {
            Some((_, cure)) => Some(*cure),
            None if filesystem.is_in_memory() => Some(MEMORY),
            None if filesystem.is_remote() => Some(SERVER),
            None => kind.starts_with("fuse").then_some(
                "FUSE filesystems cannot be trimmed: trim the filesystem that holds their data",
            ),
        };
        if let Some(cure) = instead {
            return Some(Obstacle {
                reason: format!("{kind} (at {point}) cannot be trimmed"),
                cure: cure.into(),
            });
        }
        if filesystem.read_only {
            return Some(Obstacle {
                reason: format!("the filesystem at {point} ({kind}) is mounted read-only"),
                cure: format!("mount it read-write: mount -o remount,rw {point}"),
            });
        }
        None
    }

    /// The lowest layer without discards: the layers above it only pass on its ability.
    fn layer_obstacle(&self) -> Option<Obstacle> {
        let first = self.layers.first()?;
        if first.takes() {
            return None;
        }
        let reached = self.layers.iter().filter(|layer| layer.is_reached);
        let lacking = reached.take_while(|layer| !layer.takes()).last().unwrap_or(first);
        Some(Obstacle {
            reason: format!("{} ({}) does not support discards", lacking.name, lacking.what),
            cure: lacking.cure.clone(),
        })
    }

    /// Whether the filesystem is known to report its free blocks (FITRIM).
    pub fn is_known_to_trim(&self) -> bool {
        let kind = self.filesystem.as_ref().map(|filesystem| filesystem.kind.as_str());
        kind.is_some_and(|kind| TRIMMING.contains(&kind))
    }

    /// Notes: where discards stop on the way down, and whether the mount already discards.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(end) = self.layers.iter().find(|layer| !layer.is_reached) {
            remarks.push(format!(
                "The loop device turns discards into holes in its file: {} below receives them \
                 only when the filesystem of that file is trimmed, too.",
                end.name
            ));
        }
        let lost = |layer: &&Layer| layer.is_reached && !layer.takes();
        if let Some(layer) = self.layers.iter().skip(1).find(lost).filter(|_| self.takes_some()) {
            remarks.push(format!(
                "{} ({}) does not support discards, so its blocks stay allocated: {}.",
                layer.name, layer.what, layer.cure
            ));
        }
        let options = self.filesystem.iter().flat_map(|filesystem| &filesystem.options);
        let mut online = options.filter(|option| {
            *option == "discard" || (option.starts_with("discard=") && *option != "discard=off")
        });
        if let Some(option) = online.next() {
            remarks.push(format!(
                "It is mounted with {option}: blocks of deleted files are discarded at once."
            ));
        }
        remarks
    }

    fn takes_some(&self) -> bool {
        self.layers.first().is_some_and(Layer::takes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::TargetFacts;

    /// A path on a filesystem on "top", with devices below it by name: kind, discard_max, below.
    fn facts(kind: &str, devices: &[(&str, DeviceKind, u64, &[&str])]) -> Facts {
        let mut facts = Facts::default();
        for (name, device, most, below) in devices {
            let device = DeviceFacts {
                name: (*name).into(),
                kind: device.clone(),
                discard_max: Bytes(*most),
                discard_granularity: Bytes(if *most > 0 { 4096 } else { 0 }),
                below: below.iter().map(|b| (*b).into()).collect(),
                ..DeviceFacts::default()
            };
            facts.devices.insert((*name).into(), device);
        }
        let top = devices.first().map(|(name, ..)| (*name).to_owned());
        let filesystem = FilesystemFacts {
            kind: kind.into(),
            mount_point: "/mnt".into(),
            devices: top.iter().cloned().collect(),
            ..FilesystemFacts::default()
        };
        let target = TargetFacts {
            kind: TargetKind::Directory,
            device: top,
            filesystem: Some(filesystem),
            ..TargetFacts::default()
        };
        facts.targets.insert("/mnt".into(), target);
        facts
    }

    fn crypt() -> DeviceKind {
        DeviceKind::DeviceMapper { name: "secret".into(), subsystem: "CRYPT".into() }
    }

    #[test]
    fn the_layer_that_lacks_it_is_named_with_its_cure() {
        let all = facts(
            "ext4",
            &[
                ("dm-0", crypt(), 1 << 30, &["sda1"]),
                ("sda1", DeviceKind::Partition, 1 << 30, &["sda"]),
                ("sda", DeviceKind::Disk, 1 << 30, &[]),
            ],
        );
        let found = discards(&all, "/mnt");
        assert_eq!((found.obstacle(), found.granularity()), (None, Bytes(4096)));
        assert_eq!(found.layers.len(), 2, "a partition has no queue of its own");
        assert!(found.is_known_to_trim() && found.remarks().is_empty());

        let mut none = all.clone();
        none.devices.get_mut("dm-0").unwrap().discard_max = Bytes(0);
        let obstacle = discards(&none, "/mnt").obstacle().unwrap();
        assert_eq!(obstacle.reason, "dm-0 (device mapper, crypt) does not support discards");
        assert!(obstacle.cure.contains("--allow-discards secret"), "{obstacle:?}");

        none.devices.get_mut("sda").unwrap().discard_max = Bytes(0);
        none.devices.get_mut("sda").unwrap().discard_max_hardware = Bytes(8191);
        let obstacle = discards(&none, "/mnt").obstacle().unwrap();
        assert!(obstacle.reason.starts_with("sda (disk)"), "{obstacle:?}");
        assert!(obstacle.cure.contains("0 was written to /sys/class/block/sda/"), "{obstacle:?}");

        let raid = |level: &str| DeviceKind::Md { level: level.into() };
        let half = facts(
            "xfs",
            &[("md0", raid("raid1"), 8192, &["sdb"]), ("sdb", DeviceKind::Disk, 0, &[])],
        );
        let found = discards(&half, "/mnt");
        assert_eq!(found.obstacle(), None);
        assert!(
            found.remarks()[0].starts_with("sdb (disk) does not support"),
            "{:?}",
            found.remarks()
        );
        let parity = facts("xfs", &[("md0", raid("raid5"), 0, &[])]);
        let cure = discards(&parity, "/mnt").obstacle().unwrap().cure;
        assert!(cure.contains("devices_handle_discard_safely"), "{cure}");
    }

    #[test]
    fn a_loop_device_ends_the_way_down() {
        let file = DeviceKind::Loop { backing_file: "/srv/x.img".into() };
        let found = discards(
            &facts("btrfs", &[("loop0", file, 4096, &["sda"]), ("sda", DeviceKind::Disk, 0, &[])]),
            "/mnt",
        );
        assert_eq!(found.obstacle(), None);
        let reached: Vec<bool> = found.layers.iter().map(|layer| layer.is_reached).collect();
        assert_eq!(reached, [true, false]);
        assert_eq!(found.layers[0].what, "loop over /srv/x.img");
        let remarks = found.remarks();
        assert!(remarks.len() == 1 && remarks[0].contains("holes in its file"), "{remarks:?}");
    }

    #[test]
    fn filesystems_that_cannot_are_told_with_what_to_do_instead() {
        for (kind, cure) in [
            ("tmpfs", "it is memory"),
            ("nfs4", "on the machine that has the disks"),
            ("fuse.sshfs", "FUSE"),
            ("zfs", "zpool trim"),
        ] {
            let obstacle = discards(&facts(kind, &[]), "/mnt").obstacle().unwrap();
            assert!(obstacle.reason.contains(kind) && obstacle.cure.contains(cure), "{obstacle:?}");
        }
        let mut read_only = facts("ext4", &[("sda", DeviceKind::Disk, 1, &[])]);
        let target = read_only.targets.get_mut("/mnt").unwrap();
        target.filesystem.as_mut().unwrap().read_only = true;
        let obstacle = discards(&read_only, "/mnt").obstacle().unwrap();
        assert!(obstacle.cure.contains("remount,rw /mnt"), "{obstacle:?}");
        let unknown = discards(&facts("newfs", &[("sda", DeviceKind::Disk, 1, &[])]), "/mnt");
        assert!(unknown.obstacle().is_none() && !unknown.is_known_to_trim());
        assert_eq!(discards(&Facts::default(), "/mnt"), Discards::default());
    }

    #[test]
    fn a_filesystem_that_trims_by_itself_is_told() {
        let mut facts = facts("ext4", &[("sda", DeviceKind::Disk, 1, &[])]);
        let target = facts.targets.get_mut("/mnt").unwrap();
        target.filesystem.as_mut().unwrap().options = vec!["rw".into(), "discard=async".into()];
        let remarks = discards(&facts, "/mnt").remarks();
        assert!(remarks[0].contains("mounted with discard=async"), "{remarks:?}");
    }
}
