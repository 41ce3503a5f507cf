//! A disk with a volatile write cache, whose power can be cut. It honours flushes, or lies in a way that is
//! chosen.

use testbed::Seeded;

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// How a disk lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Not at all.
    Honest,
    /// A flush stores nothing.
    FlushIgnored,
    /// A write with force unit access stays in the cache.
    FuaIgnored,
    /// A flush returns while one of its writes is stored in part.
    Torn,
    /// A flush stores all writes but the first.
    Reordered,
    /// A flush stores every second write.
    HalfFlush,
    /// One write in eight never reaches the medium.
    Stale,
    /// One write in eight goes to another place.
    Misdirected,
    /// One flush in a thousand stores nothing.
    OneFlushInThousand,
}

/// A sector in the cache.
struct Cached<S> {
    sector: usize,
    content: S,
    /// Number of the write that it belongs to.
    write: u64,
}

/// A disk in memory. Its sectors hold bytes, or values that stand for them.
pub struct LyingDisk<S = [u8; SECTOR]> {
    lie: Lie,
    random: Seeded,
    medium: Vec<S>,
    /// In the order of the writes.
    cache: Vec<Cached<S>>,
    writes: u64,
    /// Sectors that a cut stores or loses together.
    atom: usize,
}

impl LyingDisk {
    /// A disk of zeros.
    pub fn new(bytes: usize, lie: Lie, seed: u64) -> LyingDisk {
        LyingDisk::with_sectors(vec![[0; SECTOR]; bytes / SECTOR], lie, seed)
    }

    /// A disk that holds an image, of whole sectors.
    pub fn holding(image: &[u8], lie: Lie, seed: u64) -> LyingDisk {
        LyingDisk::with_sectors(image.as_chunks().0.to_vec(), lie, seed)
    }

    /// Its size, in bytes.
    pub fn size(&self) -> usize {
        self.medium.len() * SECTOR
    }

    /// What it returns for a read: the cache before the medium.
    ///
    /// # Panics
    /// If the range is not of whole sectors within the disk.
    pub fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        assert!(offset.is_multiple_of(SECTOR) && length.is_multiple_of(SECTOR));
        let range = offset / SECTOR..(offset + length) / SECTOR;
        let mut sectors = self.medium[range.clone()].to_vec();
        for cached in self.cache.iter().filter(|cached| range.contains(&cached.sector)) {
            sectors[cached.sector - range.start] = cached.content;
        }
        sectors.concat()
    }

    /// Takes a write of whole sectors into the cache, and stores it with force unit access.
    ///
    /// # Panics
    /// If it is not of whole sectors within the disk.
    pub fn write(&mut self, offset: usize, bytes: &[u8], is_fua: bool) {
        assert!(offset.is_multiple_of(SECTOR) && bytes.len().is_multiple_of(SECTOR));
        let (sectors, _) = bytes.as_chunks();
        self.write_sectors(offset / SECTOR, sectors, is_fua);
    }
}

impl<S: Copy> LyingDisk<S> {
    /// A disk whose sectors hold these.
    pub fn with_sectors(medium: Vec<S>, lie: Lie, seed: u64) -> LyingDisk<S> {
        LyingDisk { lie, random: Seeded::new(seed), medium, cache: Vec::new(), writes: 0, atom: 1 }
    }

    /// The same disk, on which a cut tears writes only at multiples of so many sectors.
    pub fn tearing_at(self, sectors: usize) -> LyingDisk<S> {
        LyingDisk { atom: sectors, ..self }
    }

    /// What is stored on the medium, by sector.
    pub fn medium(&self) -> &[S] {
        &self.medium
    }

    /// Takes a write that begins at the sector `first` into the cache, and stores it with force unit
    /// access.
    ///
    /// # Panics
    /// If it reaches beyond the disk.
    pub fn write_sectors(&mut self, first: usize, sectors: &[S], is_fua: bool) {
        let range = first..first + sectors.len();
        assert!(range.end <= self.medium.len());
        self.writes += 1;
        let write = self.writes;
        let cached = |(sector, content): (usize, &S)| Cached { sector, content: *content, write };
        self.cache.extend(range.clone().zip(sectors).map(cached));
        if is_fua && self.lie != Lie::FuaIgnored {
            // What was written before to the same sectors would otherwise be stored over it later.
            self.destage(|_, cached| range.contains(&cached.sector));
        }
    }

    /// Stores the cache, or what the lie leaves of that.
    pub fn flush(&mut self) {
        let Some(first) = self.cache.first().map(|cached| cached.write) else { return };
        match self.lie {
            Lie::Honest | Lie::FuaIgnored => self.destage(|_, _| true),
            Lie::FlushIgnored => {}
            Lie::Torn => {
                let one = self.random.between(first, self.writes);
                self.destage(|random, cached| cached.write != one || random.percent(50));
            }
            Lie::Reordered => self.destage(|_, cached| cached.write != first),
            Lie::HalfFlush => self.destage(|_, cached| cached.write % 2 == 0),
            Lie::Stale => {
                let stale: Vec<bool> = (first..=self.writes).map(|_| self.one_in(8)).collect();
                self.cache.retain(|cached| !stale[(cached.write - first) as usize]);
                self.destage(|_, _| true);
            }
            Lie::Misdirected => {
                let elsewhere: Vec<bool> = (first..=self.writes).map(|_| self.one_in(8)).collect();
                let sectors = self.medium.len();
                for cached in &mut self.cache {
                    if elsewhere[(cached.write - first) as usize] {
                        cached.sector = (cached.sector + 8) % sectors;
                    }
                }
                self.destage(|_, _| true);
            }
            Lie::OneFlushInThousand => {
                let is_stored = !self.one_in(1000);
                self.destage(|_, _| is_stored);
            }
        }
    }

    /// Cuts the power: any sector in the cache is stored or lost, or any group of sectors that the disk
    /// does not tear.
    pub fn cut(&mut self) {
        let atom = self.atom;
        let mut last = None;
        self.destage(|random, cached| {
            let group = (cached.write, cached.sector / atom);
            match last {
                Some((known, is_stored)) if known == group => is_stored,
                _ => {
                    let is_stored = random.percent(50);
                    last = Some((group, is_stored));
                    is_stored
                }
            }
        });
        self.cache.clear();
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.random.between(1, count) == 1
    }

    /// Stores what `is_stored` says of the cache, in order; the rest stays.
    fn destage(&mut self, mut is_stored: impl FnMut(&mut Seeded, &Cached<S>) -> bool) {
        for cached in std::mem::take(&mut self.cache) {
            if is_stored(&mut self.random, &cached) {
                self.medium[cached.sector] = cached.content;
            } else {
                self.cache.push(cached);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_honest_disk_loses_only_what_was_not_flushed() {
        let mut lost = 0;
        for seed in 0..100 {
            let mut disk = LyingDisk::new(16 * SECTOR, Lie::Honest, seed);
            disk.write(0, &[1; 2 * SECTOR], false);
            disk.flush();
            disk.write(SECTOR, &[2; SECTOR], false);
            disk.write(4 * SECTOR, &[3; SECTOR], true);
            assert_eq!(disk.read(SECTOR, SECTOR), [2; SECTOR]);
            disk.cut();
            assert_eq!(disk.read(0, SECTOR), [1; SECTOR]);
            assert_eq!(disk.read(4 * SECTOR, SECTOR), [3; SECTOR]);
            lost += usize::from(disk.read(SECTOR, SECTOR) == [1; SECTOR]);
        }
        assert!((20..80).contains(&lost), "{lost}");
    }

    #[test]
    fn a_write_through_is_not_replaced_by_what_was_cached_before() {
        for seed in 0..20 {
            let mut disk = LyingDisk::new(16 * SECTOR, Lie::Honest, seed);
            disk.write(0, &[1; SECTOR], false);
            disk.write(0, &[2; SECTOR], true);
            disk.cut();
            assert_eq!(disk.read(0, SECTOR), [2; SECTOR]);
        }
    }

    #[test]
    fn a_disk_of_large_sectors_tears_no_write_within_them() {
        let mut kept = 0;
        for seed in 0..50 {
            let mut disk = LyingDisk::holding(&[0; 16 * SECTOR], Lie::Honest, seed).tearing_at(8);
            disk.write(0, &[1; 16 * SECTOR], false);
            disk.cut();
            for half in [disk.read(0, 8 * SECTOR), disk.read(8 * SECTOR, 8 * SECTOR)] {
                assert!(half.iter().all(|byte| *byte == half[0]), "seed {seed}");
                kept += u32::from(half[0]);
            }
        }
        assert!((20..80).contains(&kept), "{kept}");
    }

    #[test]
    fn a_disk_that_ignores_flushes_loses_what_was_flushed() {
        let lost = (0..50).filter(|seed| {
            let mut disk = LyingDisk::new(16 * SECTOR, Lie::FlushIgnored, *seed);
            disk.write(0, &[1; SECTOR], false);
            disk.flush();
            disk.cut();
            disk.read(0, SECTOR) == [0; SECTOR]
        });
        assert!(lost.count() > 10);
    }
}
