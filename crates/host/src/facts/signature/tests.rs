use super::*;
use proptest::prelude::*;
use std::io::Cursor;

const SIZE: usize = 4 << 20;

fn image(size: usize, parts: &[(u64, &[u8])]) -> Cursor<Vec<u8>> {
    let mut bytes = vec![0; size];
    for (offset, part) in parts {
        bytes[*offset as usize..][..part.len()].copy_from_slice(part);
    }
    Cursor::new(bytes)
}

fn found_in(parts: &[(u64, &[u8])]) -> Vec<(&'static str, u64)> {
    let found = signatures(&mut image(SIZE, parts)).unwrap();
    found.into_iter().map(|s| (s.what, s.offset)).collect()
}

#[test]
fn every_magic_of_the_table_is_found_where_it_belongs_and_nowhere_else() {
    for (what, offset, magic) in MAGICS {
        assert_eq!(found_in(&[(*offset, magic)]), [(*what, *offset)]);
        assert_eq!(found_in(&[(offset + 1, magic)]), [], "{what} one byte late");
    }
}

#[test]
fn an_empty_or_tiny_device_has_none() {
    assert_eq!(found_in(&[]), []);
    for size in [0, 1, 511, 512, 4096, 8191, 65536] {
        assert_eq!(signatures(&mut image(size, &[])).unwrap(), []);
    }
}

#[test]
fn ext_features_tell_the_generation() {
    let ext = |compatible: u32, incompatible: u32, read_only: u32| {
        let (c, i, r) =
            (compatible.to_le_bytes(), incompatible.to_le_bytes(), read_only.to_le_bytes());
        found_in(&[(1080, &[0x53, 0xef]), (1116, &c), (1120, &i), (1124, &r)])
    };
    assert_eq!(ext(0, 0x2, 0x3), [("ext2", 1080)]);
    assert_eq!(ext(0x4, 0x6, 0x3), [("ext3", 1080)]);
    assert_eq!(ext(0x4, 0x2c2, 0x46b), [("ext4", 1080)]);
    assert_eq!(ext(0x4, 0x2, 0x400), [("ext4", 1080)]);
    assert_eq!(ext(0, 0x8, 0), [("ext journal", 1080)]);
    assert_eq!(found_in(&[(1080, &[0x53, 0xef]), (1048, &[9])]), [], "blocks of 512 KiB");
}

#[test]
fn a_boot_sector_is_a_partition_table_only_with_plausible_entries() {
    let entry = |flag, kind, sectors: u8| {
        let mut entry = [0; 16];
        (entry[0], entry[4], entry[8], entry[12]) = (flag, kind, 1, sectors);
        entry
    };
    let table = |at: u64, entry: [u8; 16]| found_in(&[(510, &[0x55, 0xaa]), (at, &entry)]);
    assert_eq!(table(446, entry(0x80, 0x83, 9)), [("MBR partition table", 510)]);
    assert_eq!(table(494, entry(0, 0x07, 1)), [("MBR partition table", 510)]);
    assert_eq!(table(446, entry(0, 0, 0)), []);
    assert_eq!(table(446, entry(0x42, 0x83, 9)), []);
    assert_eq!(table(446, entry(0, 0x83, 0)), []);
    assert_eq!(table(446, entry(0, 0xee, 9)), [], "GPT's guard");
    assert_eq!(found_in(&[(446, &entry(0x80, 0x83, 9))]), [], "no 55 AA");
}

#[test]
fn gpt_is_found_at_both_ends_for_both_blocks() {
    let end = SIZE as u64;
    for at in [512, 4096, end - 512, end - 4096] {
        assert_eq!(found_in(&[(at, b"EFI PART")]), [("GPT", at)]);
    }
}

#[test]
fn md_metadata_is_found_at_each_of_its_four_places() {
    let end = SIZE as u64;
    let one = [MD_MAGIC, [1, 0, 0, 0]].concat();
    let zero = [MD_MAGIC, [0, 0, 0, 0]].concat();
    assert_eq!(found_in(&[(0, &one)]), [("md member (1.1)", 0)]);
    assert_eq!(found_in(&[(4096, &one)]), [("md member (1.2)", 4096)]);
    assert_eq!(found_in(&[(end - 8192, &one)]), [("md member (1.0)", end - 8192)]);
    assert_eq!(found_in(&[(end - 65536, &zero)]), [("md member (0.90)", end - 65536)]);
    let big_endian = [0xa9, 0x2b, 0x4e, 0xfc];
    assert_eq!(found_in(&[(end - 65536, &big_endian)]), [("md member (0.90)", end - 65536)]);
    let odd = SIZE + 3 * 512;
    let found = signatures(&mut image(odd, &[(end - 8192, &one)])).unwrap();
    assert_eq!(found, [Signature { what: "md member (1.0)", offset: end - 8192 }]);
}

#[test]
fn zfs_labels_are_found_at_both_ends_in_both_byte_orders() {
    const LABEL: u64 = 256 << 10;
    let end = SIZE as u64;
    let magic = 0x00ba_b10c_u64;
    let mut starts = vec![0, LABEL];
    starts.extend([end - 2 * LABEL, end - LABEL]);
    for start in starts {
        let at = start + LABEL / 2 + 5 * 1024;
        assert_eq!(found_in(&[(at, &magic.to_le_bytes())]), [("zfs member", at)]);
        assert_eq!(found_in(&[(at, &magic.to_be_bytes())]), [("zfs member", at)]);
    }
    assert_eq!(found_in(&[(1024, &magic.to_le_bytes())]), [], "not in the ring");
}

#[test]
fn swap_is_found_for_every_page_size_and_after_suspending() {
    for page in [4096, 8192, 16384, 32768, 65536] {
        assert_eq!(found_in(&[(page - 10, b"SWAPSPACE2")]), [("swap", page - 10)]);
        assert_eq!(found_in(&[(page - 10, b"S1SUSPEND\0")]), [("suspended machine", page - 10)]);
    }
}

#[test]
fn metadata_of_the_last_sectors_is_found() {
    let end = SIZE as u64;
    let drbd = 0x8374_026d_u32.to_be_bytes();
    assert_eq!(found_in(&[(end - 4096 + 60, &drbd)]), [("DRBD", end - 4036)]);
    assert_eq!(
        found_in(&[(end - 1024, b"Intel Raid ISM Cfg Sig. ")]),
        [("Intel RAID member", end - 1024)]
    );
    assert_eq!(found_in(&[(end - 512, b"\xde\x11\xde\x11")]), [("DDF RAID member", end - 512)]);
}

#[test]
fn remains_of_several_uses_are_all_found() {
    let found = found_in(&[(0, b"XFSB"), (4086, b"SWAPSPACE2"), (32769, b"CD001")]);
    assert_eq!(found, [("xfs", 0), ("swap", 4086), ("iso9660", 32769)]);
}

#[test]
fn fat_needs_a_boot_sector_besides_its_name() {
    let sector: &[u8] = &512_u16.to_le_bytes();
    assert_eq!(found_in(&[(0, &[0xeb]), (11, sector), (82, b"FAT32   ")]), [("vfat", 82)]);
    assert_eq!(found_in(&[(0, &[0xe9]), (11, sector), (54, b"FAT16   ")]), [("vfat", 54)]);
    assert_eq!(found_in(&[(82, b"FAT32   ")]), []);
}

/// Runs a tool on a fresh image of 320 MiB and says what the image then carries; `None` where the
/// tool is not installed.
fn made_by(tool: &str, arguments: &[&str]) -> Option<Vec<&'static str>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(320 << 20).unwrap();
    let mut command = testbed::command(tool);
    command.args(arguments).arg(file.path());
    let table = tempfile::tempfile().unwrap();
    std::os::unix::fs::FileExt::write_all_at(&table, b"start=2048\n", 0).unwrap();
    let output = command.stdin(table).output().ok()?;
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    let found = signatures(&mut file.reopen().unwrap()).unwrap();
    Some(found.into_iter().map(|s| s.what).collect())
}

/// The others are not worth a package of their own.
const NEEDED: [&str; 4] = ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkswap"];

#[test]
fn signatures_of_the_installed_tools_are_found() {
    let cases: [(&str, &[&str], &[&str]); 15] = [
        ("mkfs.ext4", &["-q", "-F"], &["ext4"]),
        ("mkfs.ext4", &["-q", "-F", "-t", "ext3"], &["ext3"]),
        ("mkfs.ext4", &["-q", "-F", "-t", "ext2"], &["ext2"]),
        ("mkfs.xfs", &["-q", "-f"], &["xfs"]),
        ("mkfs.btrfs", &["-q", "-f"], &["btrfs"]),
        ("mkfs.f2fs", &["-q", "-f"], &["f2fs"]),
        ("mkfs.ntfs", &["-q", "-F", "-f"], &["ntfs"]),
        ("mkfs.vfat", &["-F", "32"], &["vfat"]),
        ("mkfs.vfat", &["-F", "16"], &["vfat"]),
        ("mkfs.exfat", &[], &["exfat"]),
        ("mkreiserfs", &["-q", "-f", "-f"], &["reiserfs"]),
        ("mkswap", &[], &["swap"]),
        ("make-bcache", &["-B"], &["bcache"]),
        ("sfdisk", &["-q", "--label", "gpt"], &["GPT"]),
        ("sfdisk", &["-q", "--label", "dos"], &["MBR partition table"]),
    ];
    for (tool, arguments, expected) in cases {
        if let Some(found) = made_by(tool, arguments) {
            assert_eq!(found, expected, "{tool} {arguments:?}");
        } else {
            assert!(!NEEDED.contains(&tool), "{tool} is not installed");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..20_000)) {
        signatures(&mut Cursor::new(bytes)).unwrap();
    }

    #[test]
    fn a_magic_at_either_end_is_found_on_every_size(sectors in 17_u64..9000) {
        let size = sectors * 512;
        let found = signatures(&mut image(size as usize, &[(size - 512, b"EFI PART")])).unwrap();
        prop_assert_eq!(found, [Signature { what: "GPT", offset: size - 512 }]);
    }
}
