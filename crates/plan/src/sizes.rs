//! Where a worker works in one file: its beginning, its length, and how large the file must be.

use crate::names::clones;
use job::{Job, ReadWrite, Size};

/// Largest offset a file can have.
pub(crate) const FILE_MAX: u64 = i64::MAX as u64;

/// How far a target reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// A regular file of this size; 0 when it has yet to be made.
    File(u64),
    /// A block device of this size.
    Device(u64),
    /// It takes what it is given: the null engine, character devices, pipes.
    Endless,
}

/// What one file of a worker is resolved from.
pub(crate) struct Ask<'a> {
    pub job: &'a Job,
    /// Smallest block of the job.
    pub min_block: u64,
    /// The one block size of a job that goes in sequence.
    pub stride: Option<u64>,
    /// Which clone, from 0.
    pub clone: u64,
    /// Files the worker has.
    pub files: u64,
    /// What was drawn from `filesize`.
    pub filesize: Option<u64>,
    /// Bytes free where the file is or would be; 0 where that is not known.
    pub free: u64,
    pub extent: Extent,
}

/// The region in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    pub start: u64,
    pub length: u64,
    /// Bytes of it that were asked for: the last block may reach over them.
    pub asked: u64,
    /// Size the file must have before the run.
    pub file_size: u64,
    /// Size of the whole target during the run.
    pub whole: u64,
    /// Bytes asked for that the device does not have.
    pub beyond: u64,
}

/// Why there is no region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRegion {
    /// Neither `size` nor anything to measure, or a device of 0 bytes.
    NoSize,
    /// The region would begin at or after the end.
    OffsetBeyondEnd { start: u64, size: u64 },
    /// Offsets above 2^63 - 1.
    TooLarge,
}

impl Ask<'_> {
    /// Resolves it. All rules were read off the oracle's offsets and file sizes:
    /// - `size` is divided by the number of files, rounded down; 0 means the file's own size.
    /// - `filesize` is the file's size, and the region all of it; `size` then only says how much I/O
    ///   is done there.
    /// - A file is extended to offset + size; a device cuts the region off.
    /// - A percentage is one of the file as it is before the run (of `filesize`, when given), cut
    ///   down to whole blocks and never reaching over the end.
    /// - In sequence, a block that begins in the region is done whole when the file goes on.
    pub fn region(&self) -> Result<Region, NoRegion> {
        if self.extent == Extent::Device(0) {
            return Err(NoRegion::NoSize);
        }
        let start = self.start()?;
        let (wanted, file_size) = self.wanted(start)?;
        let end = match self.extent {
            Extent::Device(size) if start >= size => {
                return Err(NoRegion::OffsetBeyondEnd { start, size });
            }
            Extent::Device(size) => size,
            Extent::File(_) | Extent::Endless => FILE_MAX,
        };
        let asked = wanted.min(end - start);
        if asked < wanted && !matches!(self.extent, Extent::Device(_)) {
            return Err(NoRegion::TooLarge);
        }
        let length = self.whole_blocks(start, asked);
        let whole = match self.extent {
            Extent::Device(size) => size,
            Extent::File(size) => size.max(file_size),
            Extent::Endless => file_size,
        };
        Ok(Region { start, length, asked, file_size, whole, beyond: wanted - asked })
    }

    /// The length with its last block completed, where the target is long enough for it. A
    /// `filesize` below one block stays too small.
    fn whole_blocks(&self, start: u64, asked: u64) -> u64 {
        if self.filesize.is_some() && asked < self.min_block {
            return asked;
        }
        let whole = self.stride.and_then(|block| asked.checked_next_multiple_of(block));
        let end = whole.and_then(|length| length.checked_add(start));
        match (whole, end) {
            (Some(whole), Some(end)) if end <= self.real() => whole,
            _ => asked,
        }
    }

    /// Size before the run.
    fn real(&self) -> u64 {
        match self.extent {
            Extent::File(size) | Extent::Device(size) => size,
            Extent::Endless => 0,
        }
    }

    /// What a percentage is of: a target without an end, as the null engine's, has the size asked for.
    fn real_or_share(&self) -> u64 {
        match (self.extent, self.job.target.size) {
            (Extent::Endless, Some(Size::Bytes(bytes))) => bytes.0 / self.files,
            _ => self.real(),
        }
    }

    /// Oracle: a percentage, be it the offset's or the increment's, is rounded up to offset_align
    /// or the smallest block; bytes are taken as they are.
    fn start(&self) -> Result<u64, NoRegion> {
        let target = &self.job.target;
        if target.file_append
            && let Extent::File(size) = self.extent
        {
            return Ok(size);
        }
        let bytes = |s: Option<Size>| match s {
            Some(Size::Bytes(b)) => b.0,
            Some(Size::Percent(p)) => percent_of(self.real_or_share(), p),
            Some(Size::Zones(_)) | None => 0,
        };
        let step = bytes(target.offset_increment).checked_mul(self.clone);
        let start = step.and_then(|s| s.checked_add(bytes(target.offset)));
        let percent = |s: Option<Size>| matches!(s, Some(Size::Percent(_)));
        let start = match percent(target.offset) || percent(target.offset_increment) {
            true => start.and_then(|s| s.checked_next_multiple_of(self.alignment())),
            false => start,
        };
        start.filter(|s| *s <= FILE_MAX).ok_or(NoRegion::TooLarge)
    }

    fn alignment(&self) -> u64 {
        match self.job.target.offset_align.0 {
            0 => self.min_block,
            align => align,
        }
    }

    /// Bytes asked for from `start` on, and the size the file needs for it.
    fn wanted(&self, start: u64) -> Result<(u64, u64), NoRegion> {
        let real = Some(self.real()).filter(|real| *real > 0).or_else(|| self.free_share());
        let whole = self.filesize.or(real);
        let behind = |size: u64| match start < size {
            true => Ok(size - start),
            false => Err(NoRegion::OffsetBeyondEnd { start, size }),
        };
        let share = match self.job.target.size {
            Some(Size::Bytes(b)) => Some(b.0 / self.files).filter(|s| *s > 0),
            Some(Size::Percent(percent)) => {
                let whole = whole.ok_or(NoRegion::NoSize)?;
                let part = percent_of(whole, percent).min(behind(whole)?);
                let length = part - part % self.min_block;
                return Ok((length, start + length));
            }
            Some(Size::Zones(_)) | None => None,
        };
        match (share, self.filesize) {
            (Some(share), None) => Ok((share, start.saturating_add(share))),
            (Some(_), Some(size)) => Ok((behind(size)?, size)),
            (None, _) if self.fills() => Ok((FILE_MAX - start, 0)),
            (None, _) => {
                let size = whole.ok_or(NoRegion::NoSize)?;
                Ok((behind(size)?, size))
            }
        }
    }

    /// `fill_device` without a size: a file yet to be made gets its share of what is free, less what
    /// the filesystem may need to keep account of it.
    fn free_share(&self) -> Option<u64> {
        let target = &self.job.target;
        let applies = target.fill_device && matches!(self.extent, Extent::File(_));
        let files = self.files.checked_mul(clones(self.job))?.max(1);
        let share = (self.free - self.free / 64) / files;
        Some(share - share % self.min_block.max(1)).filter(|share| applies && *share > 0)
    }

    /// `fill_device` without a size, written in sequence: the region is as large as a file can be,
    /// ENOSPC ends it.
    fn fills(&self) -> bool {
        self.job.target.fill_device
            && self.filesize.is_none()
            && self.job.pattern.rw == ReadWrite::Write
            && matches!(self.extent, Extent::File(_))
    }
}

/// Percentage of a size, rounded down, without the loss of floating point on large sizes.
pub(crate) fn percent_of(size: u64, percent: f64) -> u64 {
    let millionths = (percent.clamp(0.0, 1e6) * 1e6).round() as u128;
    u64::try_from(u128::from(size) * millionths / 100_000_000).unwrap_or(u64::MAX)
}

/// A size in the largest unit that leaves no fraction.
pub(crate) fn human(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes > 0 && bytes.trailing_zeros() >= *shift) {
        Some((unit, shift)) => format!("{} {unit}", bytes >> shift),
        None if bytes == 1 => "1 byte".into(),
        None => format!("{bytes} bytes"),
    }
}
