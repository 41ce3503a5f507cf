//! The disks, filesystems and arrays whose power is cut.

use super::witness::Witness;
use test_servers::Lie;

/// Bytes of each disk: the least that XFS accepts.
pub const DISK: u64 = 320 << 20;

/// What cuts of a case must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No promise is broken.
    Kept,
    /// A broken promise is found, at the latest in the last cut.
    Found,
}

/// What the disk holds after the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// What the disk made of the cut.
    Disk,
    /// What dm-log-writes has in its log, on vdb.
    Log,
    /// The same without the last tenth of the log.
    ShortLog,
}

/// A storage whose power is cut.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// In words, for the table.
    pub storage: &'static str,
    /// How each disk lies: vda, vdb, and vdc, which has force unit access with every write.
    pub lies: [Lie; 3],
    /// Sectors that the disks never tear.
    pub atom: usize,
    /// A command of this machine that formats the image of vda, which is added to it; none for zeros.
    pub format: &'static [&'static str],
    /// Lines of shell on disks that honour flushes, before they are replaced by those that lie; none if
    /// empty.
    pub prepare: &'static str,
    /// Lines of shell before the writes.
    pub set_up: &'static str,
    /// What is written.
    pub target: &'static str,
    /// Options of `fathom powercut write`.
    pub options: &'static str,
    /// Lines of shell before the check.
    pub set_up_again: &'static str,
    /// What is checked.
    pub checked: &'static str,
    /// What the disk holds after the cut.
    pub left: Left,
    /// Commits rows beside the writes.
    pub witness: Option<Witness>,
    /// `fathom powercut campaign` writes and checks, and goes on after each start of the guest.
    pub is_campaign: bool,
    /// Cuts; of a disk that lies, the most.
    pub cuts: u64,
    /// What they must show.
    pub expected: Expected,
    /// Part of `--quick`.
    pub is_quick: bool,
}

const H: Lie = Lie::Honest;

/// Creates an array.
macro_rules! array {
    ($level:literal, $legs:literal) => {
        concat!(
            "mdadm --create /dev/md0 --run --assume-clean --bitmap=none --size=32M --level=",
            $level,
            " ",
            $legs,
            " 2>/dev/null && mdadm --stop /dev/md0 2>/dev/null"
        )
    };
}

/// Assembles an array.
macro_rules! assembled {
    ($legs:literal) => {
        concat!("mdadm --assemble --run /dev/md0 ", $legs, " 2>/dev/null")
    };
}

/// A disk of one lie, written as a device.
const fn device(name: &'static str, storage: &'static str, lie: Lie) -> Case {
    Case {
        name,
        storage,
        lies: [lie, H, H],
        atom: 1,
        format: &[],
        prepare: "",
        set_up: "true",
        target: "/dev/vda",
        options: "--allow-destroy=/dev/vda --class=direct-fdatasync --size=4m --threads=2",
        set_up_again: "true",
        checked: "/dev/vda",
        left: Left::Disk,
        witness: None,
        is_campaign: false,
        cuts: 10,
        expected: Expected::Found,
        is_quick: false,
    }
}

/// A filesystem on a disk that honours flushes, or ignores them.
const fn filesystem(
    name: &'static str,
    storage: &'static str,
    format: &'static [&'static str],
    mount: &'static str,
    expected: (Lie, Expected),
) -> Case {
    Case {
        lies: [expected.0, H, H],
        atom: 8,
        format,
        set_up: mount,
        target: "/mnt/test",
        options: "--size=8m --threads=1",
        set_up_again: mount,
        checked: "/mnt/test",
        cuts: if matches!(expected.1, Expected::Kept) { 5 } else { 10 },
        expected: expected.1,
        ..device(name, storage, H)
    }
}

/// A filesystem on which a database commits rows as well.
const fn witnessed(
    name: &'static str,
    storage: &'static str,
    witness: Witness,
    mount: &'static str,
    expected: (Lie, Expected),
) -> Case {
    Case {
        options: "--size=8m --threads=1 --class=fdatasync --class=rename",
        witness: Some(witness),
        ..filesystem(name, storage, EXT4, mount, expected)
    }
}

/// A mirror of two disks that lie or do not.
const fn mirror(name: &'static str, storage: &'static str, legs: [Lie; 2]) -> Case {
    Case {
        lies: [legs[0], legs[1], H],
        prepare: array!("1 --raid-devices=2", "/dev/vda /dev/vdb"),
        set_up: assembled!("/dev/vda /dev/vdb"),
        target: "/dev/md0",
        options: "--allow-destroy=/dev/md0 --size=8m --threads=1",
        set_up_again: assembled!("/dev/vda /dev/vdb"),
        checked: "/dev/md0",
        ..device(name, storage, H)
    }
}

/// A disk whose durable writes dm-log-writes records.
const fn logged(name: &'static str, storage: &'static str) -> Case {
    Case {
        set_up: "dmsetup create logged --table '0 131072 log-writes /dev/vda /dev/vdb'",
        target: "/dev/mapper/logged",
        options: "--allow-destroy=/dev/mapper/logged --size=8m --threads=1",
        ..device(name, storage, H)
    }
}

const EXT4: &[&str] = &["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0"];
const XFS: &[&str] = &["mkfs.xfs", "-q", "-f", "-K"];
const BTRFS: &[&str] = &["mkfs.btrfs", "-q", "-f", "-K"];
const KEPT: (Lie, Expected) = (H, Expected::Kept);
const NO_BARRIER: (Lie, Expected) = (H, Expected::Found);
const LIAR: (Lie, Expected) = (Lie::FlushIgnored, Expected::Found);
const THROUGH: &str = "--allow-destroy=/dev/vdc --class=fua --class=dsync --size=4m --threads=2";

/// Makes a directory for the test on what is mounted.
macro_rules! mounted {
    ($mount:literal) => {
        concat!("mount ", $mount, " /dev/vda /mnt && mkdir -p /mnt/test && sync")
    };
}

/// Every case.
pub const CASES: &[Case] = &[
    Case {
        options: "--allow-destroy=/dev/vda --size=8m --threads=1",
        cuts: 100,
        expected: Expected::Kept,
        is_quick: true,
        ..device("device", "a disk that honours flushes, every class", H)
    },
    Case {
        target: "/dev/vdc",
        checked: "/dev/vdc",
        options: THROUGH,
        cuts: 20,
        expected: Expected::Kept,
        ..device("device-fua", "a disk that honours force unit access", H)
    },
    Case {
        is_quick: true,
        ..device("flush-ignored", "a disk that ignores flushes", Lie::FlushIgnored)
    },
    Case {
        lies: [H, H, Lie::FuaIgnored],
        target: "/dev/vdc",
        checked: "/dev/vdc",
        options: THROUGH,
        ..device("fua-ignored", "a disk that ignores force unit access", H)
    },
    device("torn", "a disk that tears writes at 512 bytes", Lie::Torn),
    Case { atom: 8, ..device("torn-4k", "a disk that stores some 4 KiB of a write", Lie::Torn) },
    device("reordered", "a disk that stores the first write of a flush last", Lie::Reordered),
    device("half-flush", "a disk that stores every second write of a flush", Lie::HalfFlush),
    device("stale", "a disk that loses one write in eight", Lie::Stale),
    device("misdirected", "a disk that puts one write in eight elsewhere", Lie::Misdirected),
    filesystem("ext4", "ext4", EXT4, mounted!("-t ext4"), KEPT),
    filesystem(
        "ext4-writeback",
        "ext4 with data=writeback",
        EXT4,
        mounted!("-t ext4 -o data=writeback"),
        KEPT,
    ),
    filesystem(
        "ext4-nobarrier",
        "ext4 with nobarrier, on a disk that honours flushes",
        EXT4,
        mounted!("-t ext4 -o nobarrier"),
        NO_BARRIER,
    ),
    filesystem("ext4-liar", "ext4 on a disk that ignores flushes", EXT4, mounted!("-t ext4"), LIAR),
    filesystem("xfs", "XFS", XFS, mounted!("-t xfs"), KEPT),
    filesystem("xfs-liar", "XFS on a disk that ignores flushes", XFS, mounted!("-t xfs"), LIAR),
    filesystem("btrfs", "btrfs", BTRFS, mounted!("-t btrfs"), KEPT),
    filesystem(
        "btrfs-nobarrier",
        "btrfs with nobarrier, on a disk that honours flushes",
        BTRFS,
        mounted!("-t btrfs -o nobarrier"),
        NO_BARRIER,
    ),
    filesystem(
        "btrfs-liar",
        "btrfs on a disk that ignores flushes",
        BTRFS,
        mounted!("-t btrfs"),
        LIAR,
    ),
    witnessed("sqlite", "SQLite on ext4", Witness::Sqlite, mounted!("-t ext4"), KEPT),
    witnessed(
        "sqlite-nobarrier",
        "SQLite on ext4 with nobarrier",
        Witness::Sqlite,
        mounted!("-t ext4 -o nobarrier"),
        NO_BARRIER,
    ),
    witnessed("postgres", "PostgreSQL on ext4", Witness::Postgres, mounted!("-t ext4"), KEPT),
    witnessed(
        "postgres-nobarrier",
        "PostgreSQL on ext4 with nobarrier",
        Witness::Postgres,
        mounted!("-t ext4 -o nobarrier"),
        NO_BARRIER,
    ),
    Case {
        cuts: 5,
        expected: Expected::Kept,
        ..mirror("raid1", "md RAID-1 of two disks that honour flushes", [H, H])
    },
    mirror("raid1-liar", "md RAID-1 whose first leg ignores flushes", [Lie::FlushIgnored, H]),
    // After a start without a clean stop, md reads the first leg and copies it to the others.
    Case {
        cuts: 5,
        expected: Expected::Kept,
        ..mirror(
            "raid1-hidden-liar",
            "md RAID-1 whose second leg ignores flushes, which a check of the array does not see",
            [H, Lie::FlushIgnored],
        )
    },
    Case {
        set_up_again: assembled!("/dev/vdb"),
        ..mirror(
            "raid1-second-leg",
            "the same, assembled from its second leg alone",
            [H, Lie::FlushIgnored],
        )
    },
    Case {
        prepare: array!("5 --raid-devices=3", "/dev/vda /dev/vdb /dev/vdc"),
        set_up: assembled!("/dev/vda /dev/vdb /dev/vdc"),
        target: "/dev/md0",
        options: "--allow-destroy=/dev/md0 --size=8m --threads=1",
        set_up_again: assembled!("/dev/vda /dev/vdb /dev/vdc"),
        checked: "/dev/md0",
        ..device("raid5-liar", "md RAID-5 with a leg that ignores flushes", Lie::FlushIgnored)
    },
    Case {
        set_up: "dmsetup create flakey --table '0 131072 flakey /dev/vda 0 1 1 1 drop_writes'",
        target: "/dev/mapper/flakey",
        options: "--allow-destroy=/dev/mapper/flakey --class=direct-fdatasync --size=4m --threads=2",
        ..device("dm-flakey", "dm-flakey, which drops all writes of every second second", H)
    },
    Case {
        left: Left::Log,
        cuts: 5,
        expected: Expected::Kept,
        ..logged("dm-log-writes", "the log of dm-log-writes, replayed")
    },
    Case {
        left: Left::ShortLog,
        ..logged("dm-log-writes-short", "the same without its last tenth")
    },
    Case {
        is_campaign: true,
        cuts: 3,
        ..filesystem("campaign", "a campaign on ext4", EXT4, mounted!("-t ext4"), KEPT)
    },
    Case {
        is_campaign: true,
        cuts: 3,
        ..device(
            "campaign-liar",
            "a campaign on a disk that stores every second write of a flush",
            Lie::HalfFlush,
        )
    },
];

/// The cases to run.
pub fn chosen(quick: bool, only: Option<&str>) -> Vec<&'static Case> {
    let wanted = |case: &&Case| {
        (!quick || case.is_quick) && only.is_none_or(|word| case.name.contains(word))
    };
    CASES.iter().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_quick_part_has_a_good_disk_and_a_liar() {
        let mut names: Vec<_> = CASES.iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CASES.len());
        let quick: Vec<Expected> = chosen(true, None).iter().map(|case| case.expected).collect();
        assert_eq!(quick, [Expected::Kept, Expected::Found]);
        assert!(chosen(false, Some("xfs")).iter().all(|case| case.name.contains("xfs")));
    }
}
