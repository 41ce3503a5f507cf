//! Signatures of filesystems, partition tables and volume managers on a device, from their
//! published on-disk formats. This protects data from being overwritten, so it errs towards finding
//! something.

use std::io::{self, Read, Seek, SeekFrom};

/// A signature found on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The format ("ext4", "LVM2 member", "GPT").
    pub what: &'static str,
    /// Byte offset of the magic.
    pub offset: u64,
}

/// Bytes read at each end. Except for VMFS, the signatures at the start are within 512 KiB, and
/// those at the end within the last two labels of ZFS.
const HEAD_BYTES: u64 = 2 * 1024 * 1024 + 4096;
const TAIL_BYTES: u64 = 768 * 1024;

/// The two ends of a device.
struct Ends {
    size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Ends {
    fn read(device: &mut (impl Read + Seek)) -> io::Result<Self> {
        let size = device.seek(SeekFrom::End(0))?;
        let tail_from = size.saturating_sub(TAIL_BYTES);
        let mut ends = Self { size, head: Vec::new(), tail: Vec::new() };
        device.seek(SeekFrom::Start(0))?;
        device.by_ref().take(HEAD_BYTES).read_to_end(&mut ends.head)?;
        device.seek(SeekFrom::Start(tail_from))?;
        device.by_ref().take(TAIL_BYTES).read_to_end(&mut ends.tail)?;
        Ok(ends)
    }

    /// Bytes at an offset; `None` if it is between the ends or beyond the device.
    fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        let slice = |bytes: &'_ [u8], from: u64| {
            let from = usize::try_from(offset.checked_sub(from)?).ok()?;
            Some(from..from.checked_add(length)?).filter(|r| r.end <= bytes.len())
        };
        if let Some(range) = slice(&self.head, 0) {
            return Some(&self.head[range]);
        }
        let range = slice(&self.tail, self.size.saturating_sub(TAIL_BYTES))?;
        Some(&self.tail[range])
    }

    /// The first of these offsets with one of these magic numbers.
    fn find(&self, places: impl IntoIterator<Item = u64>, magics: &[&[u8]]) -> Option<u64> {
        let mut places = places.into_iter();
        places.find(|at| magics.iter().any(|magic| self.has(*at, magic)))
    }

    fn has(&self, offset: u64, magic: &[u8]) -> bool {
        self.at(offset, magic.len()) == Some(magic)
    }

    fn array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        self.at(offset, N)?.try_into().ok()
    }

    fn le32(&self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    /// The offset at this distance from the end.
    fn before_end(&self, distance: u64) -> Option<u64> {
        self.size.checked_sub(distance)
    }
}

/// Every signature on a device or image, in order of their offsets; several when the remains of an
/// earlier use are still there. Reads 3 MiB at most.
pub fn signatures(device: &mut (impl Read + Seek)) -> io::Result<Vec<Signature>> {
    let ends = Ends::read(device)?;
    let mut found: Vec<Signature> = MAGICS
        .iter()
        .filter(|(_, offset, magic)| ends.has(*offset, magic))
        .map(|(what, offset, _)| Signature { what, offset: *offset })
        .collect();
    let finders: [fn(&Ends) -> Option<Signature>; 12] =
        [ext, fat, gpt, mbr, md_at_start, md_at_end, md_old, zfs, drbd, udf, imsm, ddf];
    found.extend(finders.iter().filter_map(|find| find(&ends)));
    for page in [4096, 8192, 16384, 32768, 65536] {
        found.extend(swap(&ends, page));
    }
    found.sort_by_key(|s| s.offset);
    found.dedup();
    Ok(found)
}

/// Formats that are identified by a magic number at a fixed offset.
const MAGICS: &[(&str, u64, &[u8])] = &[
    ("xfs", 0, b"XFSB"),
    ("xfs log", 0, b"\xfe\xed\xba\xbe"),
    ("btrfs", 0x10040, b"_BHRfS_M"),
    ("bcachefs", 4096 + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    ("bcache", 4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    ("f2fs", 1024, b"\x10\x20\xf5\xf2"),
    ("LUKS1", 0, b"LUKS\xba\xbe\x00\x01"),
    ("LUKS2", 0, b"LUKS\xba\xbe\x00\x02"),
    // The second copy, at the place its size of metadata puts it.
    ("LUKS2", 0x4000, b"SKUL\xba\xbe\x00\x02"),
    ("LUKS2", 0x8000, b"SKUL\xba\xbe\x00\x02"),
    ("LUKS2", 0x10000, b"SKUL\xba\xbe\x00\x02"),
    ("LUKS2", 0x20000, b"SKUL\xba\xbe\x00\x02"),
    ("LUKS2", 0x40000, b"SKUL\xba\xbe\x00\x02"),
    ("LUKS2", 0x80000, b"SKUL\xba\xbe\x00\x02"),
    ("LUKS2", 0x100000, b"SKUL\xba\xbe\x00\x02"),
    ("LUKS2", 0x200000, b"SKUL\xba\xbe\x00\x02"),
    ("BitLocker", 3, b"-FVE-FS-"),
    // The label of a physical volume is in one of the first four sectors.
    ("LVM2 member", 24, b"LVM2 001"),
    ("LVM2 member", 512 + 24, b"LVM2 001"),
    ("LVM2 member", 1024 + 24, b"LVM2 001"),
    ("LVM2 member", 1536 + 24, b"LVM2 001"),
    ("Stratis", 512 + 4, b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("VDO", 0, b"dmvdo001"),
    ("Ceph BlueStore", 0, b"bluestore block device"),
    ("Oracle ASM", 32, b"ORCLDISK"),
    ("VMFS volume", 0x10_0000, b"\x0d\xd0\x01\xc0"),
    ("VMFS", 0x20_0000, b"\x5e\xf1\xab\x2f"),
    ("ntfs", 3, b"NTFS    "),
    ("refs", 3, b"ReFS\0"),
    ("exfat", 3, b"EXFAT   "),
    ("apfs", 32, b"NXSB"),
    ("hfs+", 1024, b"H+\0\x04"),
    ("hfsx", 1024, b"HX\0\x05"),
    ("iso9660", 32769, b"CD001"),
    ("squashfs", 0, b"hsqs"),
    ("squashfs", 0, b"sqsh"),
    ("erofs", 1024, b"\xe2\xe1\xf5\xe0"),
    ("cramfs", 0, b"\x45\x3d\xcd\x28"),
    ("romfs", 0, b"-rom1fs-"),
    ("zonefs", 0, b"SFOZ"),
    ("reiserfs", 65536 + 52, b"ReIsErFs"),
    ("reiserfs", 65536 + 52, b"ReIsEr2Fs"),
    ("reiserfs", 65536 + 52, b"ReIsEr3Fs"),
    ("reiserfs", 8192 + 52, b"ReIsErFs"),
    ("reiser4", 65536, b"ReIsEr4"),
    ("jfs", 32768, b"JFS1"),
    ("nilfs2", 1024 + 4, b"\0\0\x34\x34"),
    ("gfs2", 65536, b"\x01\x16\x19\x70\0\0\0\x01"),
    ("ocfs2", 1024, b"OCFSV2"),
    ("ocfs2", 2048, b"OCFSV2"),
    ("ocfs2", 4096, b"OCFSV2"),
    ("ocfs2", 8192, b"OCFSV2"),
    ("ufs", 8192 + 1372, b"\x54\x19\x01\x00"),
    ("ufs2", 65536 + 1372, b"\x19\x01\x54\x19"),
    ("BSD disklabel", 512, b"\x57\x45\x56\x82"),
    ("Apple partition map", 512, b"PM\0\0"),
];

fn found(what: &'static str, offset: u64) -> Option<Signature> {
    Some(Signature { what, offset })
}

/// ext2, ext3, ext4 and external journals share a magic number of two bytes. The features tell them
/// apart; a valid block size confirms the match.
fn ext(ends: &Ends) -> Option<Signature> {
    const SUPERBLOCK: u64 = 1024;
    const HAS_JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    // Other features (extents, 64bit, mmp, flex_bg …) mean ext4.
    const INCOMPATIBLE_OF_EXT3: u32 = 0x2 | 0x4 | 0x10;
    // sparse_super, large_file, btree_dir.
    const READ_ONLY_OF_EXT3: u32 = 0x1 | 0x2 | 0x4;
    let magic = SUPERBLOCK + 56;
    if !ends.has(magic, &[0x53, 0xef]) || ends.le32(SUPERBLOCK + 24)? > 6 {
        return None;
    }
    let compatible = ends.le32(SUPERBLOCK + 92)?;
    let incompatible = ends.le32(SUPERBLOCK + 96)?;
    let read_only = ends.le32(SUPERBLOCK + 100)?;
    if incompatible & JOURNAL_DEVICE != 0 {
        return found("ext journal", magic);
    }
    if incompatible & !INCOMPATIBLE_OF_EXT3 != 0 || read_only & !READ_ONLY_OF_EXT3 != 0 {
        return found("ext4", magic);
    }
    found(if compatible & HAS_JOURNAL != 0 { "ext3" } else { "ext2" }, magic)
}

/// The strings "FAT12" … are not magic numbers, so the boot sector must be plausible too.
fn fat(ends: &Ends) -> Option<Signature> {
    let sector_bytes = u16::from_le_bytes(ends.array(11)?);
    let jump = ends.at(0, 1)?[0];
    if !matches!(sector_bytes, 512 | 1024 | 2048 | 4096) || !matches!(jump, 0xeb | 0xe9) {
        return None;
    }
    let names: [(u64, &[u8]); 4] =
        [(54, b"FAT12   "), (54, b"FAT16   "), (54, b"FAT     "), (82, b"FAT32   ")];
    let (offset, _) = names.iter().find(|(offset, name)| ends.has(*offset, name))?;
    found("vfat", *offset)
}

/// The header is in the second block and, as a backup, in the last one; blocks of 512 or 4096.
fn gpt(ends: &Ends) -> Option<Signature> {
    let places = [Some(512), Some(4096), ends.before_end(512), ends.before_end(4096)];
    found("GPT", ends.find(places.into_iter().flatten(), &[b"EFI PART"])?)
}

/// Every boot sector ends in 55 AA, so the table must be plausible: each entry empty or with a
/// type, a size and a valid boot flag, and at least one not empty.
fn mbr(ends: &Ends) -> Option<Signature> {
    const PROTECTIVE: u8 = 0xee;
    if !ends.has(510, &[0x55, 0xaa]) {
        return None;
    }
    let table = ends.at(446, 64)?;
    let mut partitions = 0;
    for entry in table.chunks_exact(16) {
        let (flag, kind) = (entry[0], entry[4]);
        let sectors = u32::from_le_bytes([entry[12], entry[13], entry[14], entry[15]]);
        match (flag, kind, sectors) {
            (0, 0, 0) => {}
            // The protective entry of a GPT is not a second table.
            (0 | 0x80, PROTECTIVE, _) => {}
            (0 | 0x80, 1.., 1..) => partitions += 1,
            _ => return None,
        }
    }
    if partitions == 0 { None } else { found("MBR partition table", 510) }
}

const MD_MAGIC: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];

/// Metadata 1.1 is at the very start, 1.2 after 4 KiB.
fn md_at_start(ends: &Ends) -> Option<Signature> {
    let mut versions = [(0, "md member (1.1)"), (4096, "md member (1.2)")].into_iter();
    let (offset, what) = versions.find(|(offset, _)| is_md_1(ends, *offset))?;
    found(what, offset)
}

/// Metadata 1.0: at least 8 KiB from the end, on a boundary of 4 KiB.
fn md_at_end(ends: &Ends) -> Option<Signature> {
    let offset = ends.before_end(8192)? / 4096 * 4096;
    if is_md_1(ends, offset) { found("md member (1.0)", offset) } else { None }
}

fn is_md_1(ends: &Ends, offset: u64) -> bool {
    ends.has(offset, &MD_MAGIC) && ends.le32(offset + 4) == Some(1)
}

/// Metadata 0.90: the last 64 KiB at a multiple of 64 KiB, in the byte order of its host.
fn md_old(ends: &Ends) -> Option<Signature> {
    const RESERVED: u64 = 64 * 1024;
    let offset = (ends.size / RESERVED * RESERVED).checked_sub(RESERVED)?;
    let mut swapped = MD_MAGIC;
    swapped.reverse();
    let is_native = ends.has(offset, &MD_MAGIC) && ends.le32(offset + 4) == Some(0);
    if is_native || ends.has(offset, &swapped) { found("md member (0.90)", offset) } else { None }
}

/// Four labels of 256 KiB, two at each end, each with a ring of uberblocks in its second half.
fn zfs(ends: &Ends) -> Option<Signature> {
    const LABEL: u64 = 256 * 1024;
    const MAGIC: [u8; 8] = [0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0];
    let mut swapped = MAGIC;
    swapped.reverse();
    let last = ends.size / LABEL;
    let labels = [Some(0), Some(1), last.checked_sub(2), last.checked_sub(1)];
    let starts = labels.into_iter().flatten().map(|label| label * LABEL + LABEL / 2);
    let uberblocks = starts.flat_map(|start| (0..128).map(move |n| start + n * 1024));
    found("zfs member", ends.find(uberblocks, &[&MAGIC, &swapped])?)
}

/// Internal metadata ends the device: its superblock is the last 4 KiB, the magic 60 bytes in.
fn drbd(ends: &Ends) -> Option<Signature> {
    let offset = ends.before_end(4096)? / 4096 * 4096 + 60;
    let magic = u32::from_be_bytes(ends.array(offset)?);
    // 8.4 clean and unclean, 9.
    if matches!(magic, 0x8374_026b..=0x8374_026d) { found("DRBD", offset) } else { None }
}

/// The volume recognition sequence: sectors of 2 KiB from 32 KiB on.
fn udf(ends: &Ends) -> Option<Signature> {
    let places = (16..64).map(|sector| sector * 2048 + 1);
    found("udf", ends.find(places, &[b"NSR02", b"NSR03"])?)
}

/// Intel's firmware RAID: the last sector but one.
fn imsm(ends: &Ends) -> Option<Signature> {
    let places = [512, 4096].into_iter().filter_map(|sector| ends.before_end(2 * sector));
    found("Intel RAID member", ends.find(places, &[b"Intel Raid ISM Cfg Sig. "])?)
}

/// SNIA's format of firmware RAID: its anchor is in the last sector.
fn ddf(ends: &Ends) -> Option<Signature> {
    found("DDF RAID member", ends.find(ends.before_end(512), &[b"\xde\x11\xde\x11"])?)
}

/// The last ten bytes of the first page, whose size depends on the host. A suspended machine has
/// its own signature there.
fn swap(ends: &Ends, page: u64) -> Option<Signature> {
    const SUSPENDED: [&[u8]; 4] = [b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001"];
    let offset = page - 10;
    match ends.find([offset], &[b"SWAPSPACE2", b"SWAP-SPACE"]) {
        Some(_) => found("swap", offset),
        None => found("suspended machine", ends.find([offset], &SUSPENDED)?),
    }
}

#[cfg(test)]
mod tests;
