//! What a cut left of each promise. Pure: sectors in, outcomes out.

use crate::class::Class;
use crate::sector::{Block, SECTOR, Sector};
use crate::session::{Session, Stream, Write};
use serde::{Deserialize, Serialize};

/// A write whose durability was acknowledged, and that no later acknowledged write replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The slot.
    pub slot: usize,
    /// What was written.
    pub block: Block,
    /// Number of the last write of its batch; later writes were issued after the acknowledgement.
    batch_end: u64,
}

/// What became of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is there, or a later write is.
    Kept,
    /// No write of this run is there.
    Lost,
    /// An earlier write to the same place is there.
    OldGeneration,
    /// Some of its sectors are there, or a sector is damaged.
    Torn,
    /// A write to another place is there.
    Misplaced,
}

record::named!(Outcome:
    Kept "kept",
    Lost "lost",
    OldGeneration "old generation",
    Torn "torn",
    Misplaced "misplaced",
);

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The thread.
    pub stream: u16,
    /// Its class.
    pub class: Class,
    /// The slot; for files, the number in its name.
    pub slot: usize,
    /// Offset in the file or device.
    pub offset: u64,
    /// Number of the write among those of its thread.
    pub number: u64,
    /// The generation that was promised.
    pub generation: u32,
    /// The length that was promised, in sectors.
    pub sectors: u16,
    /// What became of it.
    pub outcome: Outcome,
    /// The sectors that are not as promised, as ranges of first and last, counted from 0.
    pub bad: Vec<(u16, u16)>,
    /// The latest earlier generation among them.
    pub found_generation: Option<u32>,
    /// The offset for which a misplaced sector was written.
    pub found_offset: Option<u64>,
    /// How many of them have a wrong checksum, cannot be read, or lie behind the end.
    pub spoiled: Spoiled,
    /// A write that was issued after the acknowledgement survived.
    pub reordered: bool,
}

impl Loss {
    /// Whether something of the run is where the write belongs.
    pub fn has_trace(&self) -> bool {
        let bad: usize = self.bad.iter().map(|(first, last)| usize::from(last - first) + 1).sum();
        usize::from(self.sectors) > bad
            || self.found_generation.is_some()
            || self.found_offset.is_some()
            || self.spoiled.damaged > 0
    }
}

/// Sectors without readable content of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spoiled {
    /// With a wrong checksum.
    pub damaged: u16,
    /// That return an error.
    pub unreadable: u16,
    /// Behind the end of the file or device.
    pub missing: u16,
}

/// What became of the promises of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamResult {
    /// The stream.
    pub stream: u16,
    /// Its class.
    pub class: Class,
    /// Promises made.
    pub made: u64,
    /// Promises that a later one replaced, so that they cannot be checked.
    pub replaced: u64,
    /// Promises that were kept.
    pub kept: u64,
    /// Promises that were not.
    pub losses: Vec<Loss>,
    /// Writes that were not acknowledged and survived; they promise nothing.
    pub surplus: u64,
}

/// What a check found, as the log keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// The run.
    pub run: u64,
    /// Each class.
    pub classes: Vec<ClassResult>,
    /// Whether the tester was cut off. A check of a session that ended otherwise proves nothing.
    pub is_cut: bool,
}

/// What became of the promises of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassResult {
    /// The class.
    pub class: Class,
    /// Promises made.
    pub made: u64,
    /// Promises that later ones replaced.
    pub replaced: u64,
    /// Promises that were kept.
    pub kept: u64,
    /// Promises of which nothing of this run is there.
    pub lost: u64,
    /// Promises in place of which an earlier generation is there.
    pub old: u64,
    /// Promises of which some sectors are there.
    pub torn: u64,
    /// Promises in place of which another place's content is there.
    pub misplaced: u64,
    /// How many of these were not kept although a later write survived.
    pub reordered: u64,
}

impl ClassResult {
    /// Promises that were checked.
    pub fn checked(&self) -> u64 {
        self.kept + self.broken()
    }

    /// Promises that were not kept.
    pub fn broken(&self) -> u64 {
        self.lost + self.old + self.torn + self.misplaced
    }
}

impl Checked {
    /// Number of broken promises, without the classes that promise nothing.
    pub fn broken(&self) -> u64 {
        self.classes.iter().filter(|c| c.class.promises()).map(ClassResult::broken).sum()
    }

    /// The result of a check, from those of the streams.
    pub fn new(run: u64, streams: &[StreamResult], is_cut: bool) -> Checked {
        let mut classes: Vec<ClassResult> = Vec::new();
        for stream in streams {
            let at = classes.iter().position(|class| class.class == stream.class);
            let at = at.unwrap_or_else(|| {
                classes.push(ClassResult::empty(stream.class));
                classes.len() - 1
            });
            classes[at].add(stream);
        }
        classes.sort_by_key(|class| class.class);
        Checked { run, classes, is_cut }
    }
}

impl ClassResult {
    fn empty(class: Class) -> ClassResult {
        ClassResult {
            class,
            made: 0,
            replaced: 0,
            kept: 0,
            lost: 0,
            old: 0,
            torn: 0,
            misplaced: 0,
            reordered: 0,
        }
    }

    fn add(&mut self, stream: &StreamResult) {
        self.made += stream.made;
        self.replaced += stream.replaced;
        self.kept += stream.kept;
        for loss in &stream.losses {
            match loss.outcome {
                Outcome::Kept => {}
                Outcome::Lost => self.lost += 1,
                Outcome::OldGeneration => self.old += 1,
                Outcome::Torn => self.torn += 1,
                Outcome::Misplaced => self.misplaced += 1,
            }
            self.reordered += u64::from(loss.reordered);
        }
    }
}

/// Checks the promises of a stream whose first `durable` batches were acknowledged. `observe` adds the
/// sectors that are found in a slot.
pub fn check_stream(
    session: &Session,
    stream: &Stream,
    durable: u64,
    mut observe: impl FnMut(&Promise, &mut Vec<Sector>),
) -> StreamResult {
    let promised = promises(session, stream, durable);
    let mut result = StreamResult {
        stream: stream.id,
        class: stream.class,
        made: promised.made,
        replaced: promised.made - promised.standing.len() as u64,
        kept: 0,
        losses: Vec::new(),
        surplus: 0,
    };
    let mut ends = Vec::new();
    let (mut newest, mut sectors) = (0, Vec::new());
    for promise in &promised.standing {
        sectors.clear();
        observe(promise, &mut sectors);
        let state = slot_state(promise, &sectors, stream.class.is_of_files());
        newest = state.newest.max(newest);
        result.surplus += u64::from(state.newest > promised.last);
        match judge(promise, session, stream, &state) {
            None => result.kept += 1,
            Some(loss) => {
                result.losses.push(loss);
                ends.push(promise.batch_end);
            }
        }
    }
    for (loss, end) in result.losses.iter_mut().zip(ends) {
        loss.reordered = newest > end;
    }
    result
}

/// The promises of a stream.
struct Promised {
    made: u64,
    /// Number of the last promised write.
    last: u64,
    /// The last promise of each slot, in the order of the slots.
    standing: Vec<Promise>,
}

fn promises(session: &Session, stream: &Stream, durable: u64) -> Promised {
    let mut writes = session.writes(stream);
    let mut standing = vec![None; writes.slots().len()];
    let (mut batch, mut made, mut last): (Vec<Write>, _, _) = (Vec::new(), 0, 0);
    for _ in 0..durable {
        batch.clear();
        writes.next_batch(&mut batch);
        let end = batch.last().map_or(0, |write| write.block.number);
        for Write { slot, block } in &batch {
            standing[*slot] = Some(Promise { slot: *slot, block: *block, batch_end: end });
        }
        made += batch.len() as u64;
        last = end;
    }
    Promised { made, last, standing: standing.into_iter().flatten().collect() }
}

/// What a slot holds, beside what it was promised to hold.
#[derive(Default)]
struct SlotState {
    /// Sectors that are there as promised, or newer.
    good: u16,
    bad: Vec<(u16, u16)>,
    old: Option<u32>,
    /// Stream and offset for which a misplaced sector was written.
    elsewhere: Option<(u16, u64)>,
    spoiled: Spoiled,
    /// The highest number of a write to this place that is there.
    newest: u64,
}

fn slot_state(promise: &Promise, found: &[Sector], is_file: bool) -> SlotState {
    let want = promise.block;
    let mut state = SlotState::default();
    // A newer version of a file replaces the promised one as a whole, with its own size.
    let version = found.iter().find_map(|sector| match sector {
        Sector::Whole { block, .. } if is_file && is_place(block, &want) => Some(*block),
        _ => None,
    });
    let expected = version.filter(|v| v.generation >= want.generation).unwrap_or(want);
    let length = match is_file {
        true => expected.sectors.max(u16::try_from(found.len()).unwrap_or(u16::MAX)),
        false => want.sectors,
    };
    for at in 0..length {
        let sector = found.get(usize::from(at)).copied().unwrap_or(Sector::Missing);
        let is_good = match sector {
            Sector::Whole { block, index } if is_place(&block, &want) && index == at => {
                state.newest = block.number.max(state.newest);
                let is_good = match is_file {
                    true => block == expected && at < expected.sectors,
                    false => block.generation >= want.generation,
                };
                if !is_good && block.generation < want.generation {
                    state.old = Some(block.generation).max(state.old);
                }
                is_good
            }
            Sector::Whole { block, .. } => {
                if block.run == want.run {
                    state.elsewhere = Some((block.stream, block.offset));
                }
                false
            }
            Sector::Foreign => false,
            Sector::Damaged => count(&mut state.spoiled.damaged),
            Sector::Missing => count(&mut state.spoiled.missing),
            Sector::Unreadable => count(&mut state.spoiled.unreadable),
        };
        match (is_good, state.bad.last_mut()) {
            (true, _) => state.good += 1,
            (false, Some(range)) if range.1 + 1 == at => range.1 = at,
            (false, _) => state.bad.push((at, at)),
        }
    }
    state
}

/// Counts a bad sector.
fn count(number: &mut u16) -> bool {
    *number += 1;
    false
}

/// Whether a block was written to the place of another.
fn is_place(block: &Block, other: &Block) -> bool {
    (block.run, block.stream, block.offset) == (other.run, other.stream, other.offset)
}

fn judge(promise: &Promise, session: &Session, stream: &Stream, state: &SlotState) -> Option<Loss> {
    let outcome = match state {
        state if state.bad.is_empty() => return None,
        SlotState { elsewhere: Some(_), .. } => Outcome::Misplaced,
        state if state.good > 0 || state.spoiled.damaged > 0 => Outcome::Torn,
        SlotState { old: Some(_), .. } => Outcome::OldGeneration,
        _ => Outcome::Lost,
    };
    let Promise { slot, block, .. } = *promise;
    Some(Loss {
        stream: stream.id,
        class: stream.class,
        slot,
        offset: stream.start + block.offset,
        number: block.number,
        generation: block.generation,
        sectors: block.sectors,
        outcome,
        bad: state.bad.clone(),
        found_generation: state.old,
        found_offset: state.elsewhere.map(|(id, offset)| {
            let stream = session.streams.iter().find(|stream| stream.id == id);
            stream.map_or(0, |stream| stream.start) + offset
        }),
        spoiled: state.spoiled,
        reordered: false,
    })
}

/// The sectors in bytes that were read from a place; a rest is a sector that is not whole.
pub fn sectors(bytes: &[u8]) -> impl Iterator<Item = Sector> {
    bytes.chunks(SECTOR).map(Sector::decode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::session;

    /// The stream of a class, its promises after ten batches, and the sectors as they must be.
    fn written(class: Class) -> (Session, Vec<Promise>) {
        let session = session(class, 256 << 10);
        let promised = promises(&session, &session.streams[0], 10).standing;
        (session, promised)
    }

    fn whole(block: Block) -> Vec<Sector> {
        (0..block.sectors).map(|index| Sector::Whole { block, index }).collect()
    }

    /// The result if `change` is applied to what the first promise with more than one sector finds.
    fn result(class: Class, change: impl Fn(&mut Vec<Sector>, Block)) -> StreamResult {
        let (session, promised) = written(class);
        let first = promised.iter().find(|p| p.block.sectors > 1 && p.block.generation > 1);
        let slot = first.expect("a place written twice").slot;
        check_stream(&session, &session.streams[0], 10, |promise, found| {
            found.extend(whole(promise.block));
            if promise.slot == slot {
                change(found, promise.block);
            }
        })
    }

    fn loss(class: Class, change: impl Fn(&mut Vec<Sector>, Block)) -> Loss {
        let result = result(class, change);
        assert_eq!(result.losses.len(), 1, "{result:?}");
        assert_eq!(result.kept + 1 + result.replaced, result.made);
        result.losses[0].clone()
    }

    fn older(block: Block) -> Block {
        Block { generation: block.generation - 1, number: block.number - 1, ..block }
    }

    #[test]
    fn what_is_there_is_kept_and_a_newer_write_keeps_it_too() {
        assert!(result(Class::Fsync, |_, _| {}).losses.is_empty());
        // The write in flight at the cut may leave a mix of old and new sectors.
        let newer = |found: &mut Vec<Sector>, block: Block| {
            let newer = Block { generation: block.generation + 1, number: 1000, ..block };
            found[1] = Sector::Whole { block: newer, index: 1 };
        };
        let result = result(Class::Fsync, newer);
        assert_eq!((result.losses.len(), result.surplus), (0, 1));
    }

    #[test]
    fn each_outcome_is_told_from_the_others() {
        let zeros = loss(Class::Fsync, |found, _| found.fill(Sector::Foreign));
        assert_eq!(zeros.outcome, Outcome::Lost);
        assert_eq!(zeros.bad, [(0, zeros.sectors - 1)]);
        let old = loss(Class::Fsync, |found, block| *found = whole(older(block)));
        assert_eq!(old.outcome, Outcome::OldGeneration);
        assert_eq!(old.found_generation, Some(old.generation - 1));
        let torn = loss(Class::Fsync, |found, block| {
            found[1] = Sector::Whole { block: older(block), index: 1 };
        });
        assert_eq!((torn.outcome, torn.bad), (Outcome::Torn, vec![(1, 1)]));
        let damaged = loss(Class::Fsync, |found, _| found.fill(Sector::Damaged));
        assert_eq!(damaged.outcome, Outcome::Torn);
        assert_eq!(damaged.spoiled.damaged, damaged.sectors);
        let misplaced = loss(Class::Fsync, |found, block| {
            *found = whole(Block { offset: 1 << 40, ..block });
        });
        let expected = (Outcome::Misplaced, Some(1 << 40));
        assert_eq!((misplaced.outcome, misplaced.found_offset), expected);
        let short = loss(Class::Fsync, |found, _| found.fill(Sector::Missing));
        assert_eq!((short.outcome, short.spoiled.missing), (Outcome::Lost, short.sectors));
    }

    #[test]
    fn the_content_of_another_run_is_no_content() {
        let loss =
            loss(Class::Fsync, |found, block| *found = whole(Block { run: 1, ..older(block) }));
        assert_eq!((loss.outcome, loss.found_generation), (Outcome::Lost, None));
    }

    #[test]
    fn a_sector_at_another_index_is_misplaced() {
        let loss = loss(Class::Fsync, |found, _| found.swap(0, 1));
        assert_eq!((loss.outcome, loss.bad), (Outcome::Misplaced, vec![(0, 1)]));
    }

    #[test]
    fn a_loss_before_a_surviving_write_is_reordered() {
        let (session, _) = written(Class::Dsync);
        let check = |lost: &dyn Fn(u64) -> bool| {
            check_stream(&session, &session.streams[0], 10, |promise, found| {
                match lost(promise.block.number) {
                    true => found.resize(promise.block.sectors.into(), Sector::Foreign),
                    false => found.extend(whole(promise.block)),
                }
            })
        };
        let last = check(&|number| number == 10);
        assert!(last.losses.len() == 1 && !last.losses[0].reordered, "{last:?}");
        let earlier = check(&|number| number == 9);
        assert!(earlier.losses.iter().all(|loss| loss.reordered), "{earlier:?}");
    }

    #[test]
    fn a_file_is_one_version_with_its_size() {
        let newer = |found: &mut Vec<Sector>, block: Block| {
            let sectors = block.sectors + 3;
            *found = whole(Block { generation: block.generation + 1, sectors, ..block });
        };
        assert!(result(Class::Rename, newer).losses.is_empty());
        let mixed = loss(Class::Rename, |found, block| {
            found[1] = Sector::Whole {
                block: Block { generation: block.generation + 1, ..block },
                index: 1,
            };
        });
        assert_eq!(mixed.outcome, Outcome::Torn);
        let longer = loss(Class::Rename, |found, _| found.push(Sector::Foreign));
        assert_eq!((longer.outcome, longer.bad.len()), (Outcome::Torn, 1));
        let gone = loss(Class::Rename, |found, _| found.clear());
        assert_eq!((gone.outcome, gone.spoiled.missing), (Outcome::Lost, gone.sectors));
        let empty = loss(Class::Rename, |found, block| *found = whole(older(block)));
        assert_eq!(empty.outcome, Outcome::OldGeneration);
    }

    #[test]
    fn classes_sum_their_streams() {
        let result = result(Class::Fsync, |found, _| found.fill(Sector::Foreign));
        let checked = Checked::new(9, &[result.clone(), result.clone()], true);
        let class = &checked.classes[0];
        assert_eq!((class.lost, class.checked()), (2, 2 * (result.kept + 1)));
        assert_eq!((checked.broken(), class.made), (2, 2 * result.made));
        let nothing = StreamResult { class: Class::SyncFileRange, ..result };
        assert_eq!(Checked::new(9, &[nothing], true).broken(), 0);
    }
}
