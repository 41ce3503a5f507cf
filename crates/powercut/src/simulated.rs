//! A disk with a volatile cache that honours flushes or lies, cut by seeds. The truth is what the disk
//! itself left undone; the checker has to report that and nothing else.

use crate::check::{Loss, Outcome, check_stream};
use crate::class::Class;
use crate::sector::{Block, SECTOR, Sector};
use crate::session::{RULES, Session, Stream, TargetIdentity, Write};
use crate::statistics::trials_needed;
use record::SplitMix64;
use test_servers::{Lie, LyingDisk};

const AREA: u64 = 48 << 10;

/// What a sector of the medium holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    /// Number of the write; 0 for none.
    number: u64,
    /// Its index in the write.
    index: u16,
    /// The sector that it was meant for.
    place: usize,
}

/// A session on the disk, up to the cut.
struct Scene {
    session: Session,
    durable: u64,
    disk: LyingDisk<Held>,
    /// Every block written, by its number less 1.
    blocks: Vec<Block>,
    /// The promise of each slot: the last acknowledged number and the end of its batch.
    owed: Vec<Option<(u64, u64)>>,
}

fn first_sector(block: &Block) -> usize {
    (block.offset / SECTOR as u64) as usize
}

/// What a write of a block has for its sectors.
fn sectors(block: &Block) -> Vec<Held> {
    let first = first_sector(block);
    let held = |index| Held { number: block.number, index, place: first + usize::from(index) };
    (0..block.sectors).map(held).collect()
}

fn scene(lie: Lie, seed: u64) -> Scene {
    let class = if lie == Lie::FuaIgnored { Class::Fua } else { Class::DirectFdatasync };
    let stream = Stream { id: 3, class, start: 0, length: AREA };
    let session = Session {
        run: SplitMix64::nth(seed, 7),
        rules: RULES,
        seed,
        target: TargetIdentity::default(),
        streams: vec![stream],
        started_unix_ms: 0,
    };
    let mut random = SplitMix64::new(seed);
    let durable = 1 + random.below(9);
    let medium = vec![Held::default(); (AREA / SECTOR as u64) as usize];
    let mut disk = LyingDisk::with_sectors(medium, lie, random.bits());
    let is_fua = class == Class::Fua;
    let mut writes = session.writes(&session.streams[0]);
    let mut owed = vec![None; writes.slots().len()];
    let mut blocks = Vec::new();
    let mut batch: Vec<Write> = Vec::new();
    for _ in 0..durable {
        batch.clear();
        writes.next_batch(&mut batch);
        for write in &batch {
            disk.write_sectors(first_sector(&write.block), &sectors(&write.block), is_fua);
        }
        if !is_fua {
            disk.flush();
        }
        let end = batch.last().unwrap().block.number;
        for write in &batch {
            owed[write.slot] = Some((write.block.number, end));
        }
        blocks.extend(batch.iter().map(|write| write.block));
    }
    // What is in flight at the cut is not acknowledged.
    batch.clear();
    writes.next_batch(&mut batch);
    let issued = random.below(batch.len() as u64 + 1) as usize;
    for write in &batch[..issued] {
        disk.write_sectors(first_sector(&write.block), &sectors(&write.block), is_fua);
    }
    blocks.extend(batch.iter().map(|write| write.block));
    disk.cut();
    Scene { session, durable, disk, blocks, owed }
}

impl Scene {
    /// The sectors of the medium where a block belongs, each with its place.
    fn held(&self, block: &Block) -> impl Iterator<Item = (usize, Held)> + Clone {
        let sectors = self.disk.medium().iter().copied().enumerate();
        sectors.skip(first_sector(block)).take(block.sectors.into())
    }

    /// The numbers of the promises that the disk broke, with their outcomes, by the disk's own account.
    fn truth(&self) -> Vec<(u64, Outcome, bool)> {
        let mut broken = Vec::new();
        let mut newest = 0;
        for (number, end) in self.owed.iter().flatten() {
            let block = &self.blocks[*number as usize - 1];
            let held = self.held(block);
            let is_own = |(at, held): &(usize, Held)| held.number == 0 || held.place == *at;
            let own = held.clone().filter(is_own).map(|(_, held)| held.number);
            let good = own.clone().filter(|found| found >= number).count();
            newest = own.max().unwrap_or(0).max(newest);
            let outcome = match () {
                () if good == usize::from(block.sectors) => continue,
                () if !held.clone().all(|held| is_own(&held)) => Outcome::Misplaced,
                () if good > 0 => Outcome::Torn,
                () if held.clone().any(|(_, held)| held.number > 0) => Outcome::OldGeneration,
                () => Outcome::Lost,
            };
            broken.push((*number, outcome, *end));
        }
        broken.into_iter().map(|(number, outcome, end)| (number, outcome, newest > end)).collect()
    }

    fn losses(&self, mut sector: impl FnMut(Held) -> Sector) -> Vec<Loss> {
        let stream = &self.session.streams[0];
        let result = check_stream(&self.session, stream, self.durable, |promise, found| {
            found.extend(self.held(&promise.block).map(|(_, held)| sector(held)));
        });
        assert_eq!(result.kept + result.losses.len() as u64 + result.replaced, result.made);
        result.losses
    }

    /// What the checker reports if sectors are read as values.
    fn reported(&self) -> Vec<(u64, Outcome, bool)> {
        let losses = self.losses(|held| match held.number {
            0 => Sector::Foreign,
            number => Sector::Whole { block: self.blocks[number as usize - 1], index: held.index },
        });
        losses.iter().map(|loss| (loss.number, loss.outcome, loss.reordered)).collect()
    }

    /// The same if they are read as bytes.
    fn reported_of_bytes(&self) -> Vec<(u64, Outcome, bool)> {
        let losses = self.losses(|held| {
            let Some(block) = self.blocks.get((held.number as usize).wrapping_sub(1)) else {
                return Sector::decode(&[0; SECTOR]);
            };
            let mut bytes = vec![0; usize::from(block.sectors) * SECTOR];
            block.encode(&mut bytes);
            Sector::decode(&bytes[usize::from(held.index) * SECTOR..][..SECTOR])
        });
        losses.iter().map(|loss| (loss.number, loss.outcome, loss.reordered)).collect()
    }
}

const LIES: [Lie; 9] = [
    Lie::Honest,
    Lie::FlushIgnored,
    Lie::FuaIgnored,
    Lie::Torn,
    Lie::Reordered,
    Lie::HalfFlush,
    Lie::Stale,
    Lie::Misdirected,
    Lie::OneFlushInThousand,
];

/// The number of cuts of `cuts` in which a lie broke a promise. Every cut is compared with the truth.
fn cut_often(lie: Lie, cuts: u64) -> u64 {
    cuts_that_broke(lie, cuts).len() as u64
}

fn cuts_that_broke(lie: Lie, cuts: u64) -> Vec<u64> {
    let mut broken = Vec::new();
    for seed in 0..cuts {
        let scene = scene(lie, SplitMix64::nth(lie as u64, seed));
        let truth = scene.truth();
        assert_eq!(scene.reported(), truth, "{lie:?}, cut {seed}");
        if !truth.is_empty() {
            broken.push(seed);
        }
    }
    broken
}

#[test]
fn a_million_cuts_report_every_loss_that_was_made_and_nothing_else() {
    const CUTS: u64 = 112_000;
    let count = |lie| {
        let broken = cut_often(lie, CUTS);
        match lie {
            Lie::Honest => assert_eq!(broken, 0),
            // Flushes are few before each cut, and the cache keeps half of what was not flushed.
            Lie::OneFlushInThousand => assert!(broken > CUTS / 4000, "{broken}"),
            // Within ten cuts with a probability of 95 % and more.
            lie => assert!(broken > CUTS * 26 / 100, "{lie:?}: {broken}"),
        }
    };
    let (first, second) = LIES.split_at(5);
    std::thread::scope(|scope| {
        for lies in [first, second] {
            scope.spawn(move || lies.iter().for_each(|lie| count(*lie)));
        }
    });
}

#[test]
fn one_flush_in_a_thousand_is_found_within_the_cuts_that_were_said_before() {
    const CAMPAIGNS: u64 = 40;
    // The cache keeps a write of the last flush with half of its sectors, so that nearly each such flush
    // before a cut is a loss.
    let needed = trials_needed(0.001);
    let broken = cuts_that_broke(Lie::OneFlushInThousand, CAMPAIGNS * needed);
    let found = (0..CAMPAIGNS)
        .filter(|at| broken.iter().any(|cut| (at * needed..(at + 1) * needed).contains(cut)));
    let found = found.count();
    // 95 % of 40 are 38; fewer than 34 come in one of 200 such tests.
    assert!(found >= 34, "{found} of {CAMPAIGNS}");
}

#[test]
fn bytes_are_judged_as_the_values_they_stand_for() {
    for lie in LIES {
        for seed in 0..150 {
            let scene = scene(lie, seed);
            assert_eq!(scene.reported_of_bytes(), scene.truth(), "{lie:?}, cut {seed}");
        }
    }
}

#[test]
fn each_lie_leaves_the_marks_that_belong_to_it() {
    let seen = |lie, of: &dyn Fn(&(u64, Outcome, bool)) -> bool| {
        (0..500).any(|seed| scene(lie, seed).reported().iter().any(of))
    };
    assert!(seen(Lie::Torn, &|loss| loss.1 == Outcome::Torn));
    assert!(seen(Lie::Reordered, &|loss| loss.2));
    assert!(seen(Lie::Stale, &|loss| loss.1 == Outcome::OldGeneration));
    assert!(seen(Lie::Stale, &|loss| loss.1 == Outcome::Lost));
    assert!(seen(Lie::Misdirected, &|loss| loss.1 == Outcome::Misplaced));
    assert!(!seen(Lie::FlushIgnored, &|loss| loss.1 == Outcome::Misplaced));
}
