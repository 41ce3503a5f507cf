//! A copy, block by block. It generates the events of a recording, so that they need no memory.

use crate::event::{Event, Kind};
use record::Direction;

/// The input or output of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyEnd {
    /// Start in its file, in bytes.
    pub start: u64,
    /// Whether copied data is dropped from the page cache.
    pub forgets: bool,
    /// How its file is opened if the job has O_DIRECT.
    pub opened: Opened,
}

/// How a file of a copy is opened if the job has O_DIRECT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opened {
    /// With O_DIRECT.
    #[default]
    Direct,
    /// With O_DIRECT, and a second time without it for a last block that is shorter than the
    /// others, because O_DIRECT may not support its length. At the end that block is dropped from
    /// the page cache.
    DirectButLast,
    /// Without O_DIRECT.
    Buffered,
}

/// A copy. Each block is read and then written; complete ranges are then dropped from the page
/// cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copying {
    /// The input, which is the first file; `None`: written data is generated.
    pub source: Option<CopyEnd>,
    /// The output, which is the next file; `None`: read data is discarded.
    pub target: Option<CopyEnd>,
    /// Size of a block in bytes; at least 1. The last block may be shorter.
    pub block: u64,
    /// Total bytes.
    pub total: u64,
    /// Size of the ranges that are dropped from the page cache; at least 1. The rest is dropped at
    /// the end.
    pub forgotten: u64,
    /// The synchronisation at the end.
    pub sync: Option<Kind>,
}

impl Copying {
    /// Its events in order, all at time 0.
    pub fn events(&self) -> Copied {
        Copied::new(self)
    }

    /// The existing ends, the source first.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (Direction, CopyEnd)> {
        let ends = [(Direction::Read, self.source), (Direction::Write, self.target)];
        ends.into_iter().filter_map(|(direction, end)| Some((direction, end?)))
    }

    /// Bytes of the last block.
    pub(crate) fn last(&self) -> u64 {
        let blocks = self.total.div_ceil(self.block.max(1));
        self.total - blocks.saturating_sub(1) * self.block
    }

    /// Whether the last block of an end uses a separately opened file.
    pub(crate) fn tail(&self, end: &CopyEnd) -> bool {
        let is_shorter = self.total > self.block && self.last() < self.block;
        end.opened == Opened::DirectButLast && is_shorter
    }

    /// The event that drops a last block from the page cache.
    fn left(&self, end: &CopyEnd, file: u32) -> Event {
        let length = self.last();
        let offset = end.start + self.total - length;
        Event { at: 0, offset, length, file, kind: Kind::Forget }
    }
}

/// A step for a block at one of the ends.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// Its I/O.
    Move(Kind),
    /// Complete ranges are dropped from the page cache.
    Forget,
}

/// The events of a copy; see [`Copying::events`].
#[derive(Clone, Debug)]
pub struct Copied {
    copying: Copying,
    /// The steps for each block: the files for full blocks and for the last block, and the start
    /// offset.
    turns: Vec<(Turn, [u32; 2], u64)>,
    next: usize,
    /// Bytes of finished blocks.
    done: u64,
    sync: Option<Kind>,
    /// The ranges dropped at the end, in reverse order.
    left: Vec<Event>,
}

impl Copied {
    fn new(copying: &Copying) -> Copied {
        let ends: Vec<_> = (0..).zip(copying.ends()).collect();
        // Files that are opened a second time come last.
        let mut again = ends.len() as u32..;
        let mut files = |file: u32, end: &CopyEnd| {
            let other = copying.tail(end).then(|| again.next()).flatten();
            [file, other.unwrap_or(file)]
        };
        let ends: Vec<_> =
            ends.into_iter().map(|(file, (way, end))| (way, files(file, &end), end)).collect();
        let moves = ends.iter().map(|(way, files, end)| {
            let kind = if *way == Direction::Read { Kind::Read } else { Kind::Write };
            (Turn::Move(kind), *files, end.start)
        });
        let forgetting = ends.iter().filter(|(_, _, end)| end.forgets);
        let forgets = forgetting.map(|(_, files, end)| (Turn::Forget, *files, end.start));
        let turns = moves.chain(forgets).collect();
        let tails = ends.iter().filter(|(_, _, end)| copying.tail(end));
        let left = tails.map(|(_, files, end)| copying.left(end, files[1])).rev().collect();
        Copied { copying: *copying, turns, next: 0, done: 0, sync: copying.sync, left }
    }

    /// A fast path: the next event if it is I/O of a block other than the last; `None`: call `next`
    /// instead, which returns the same event.
    #[inline(always)]
    pub fn at_hand(&mut self) -> Option<Event> {
        let &(Turn::Move(kind), files, start) = self.turns.get(self.next)? else { return None };
        let (begin, length) = (self.done, self.copying.block);
        if self.copying.total - begin <= length {
            return None;
        }
        self.pass(length);
        Some(Event { at: 0, offset: start + begin, length, file: files[0], kind })
    }

    /// Takes the next step for the current block; `None` if it has nothing to do.
    fn take_turn(&mut self) -> Option<Event> {
        let (turn, files, start) = *self.turns.get(self.next)?;
        let begin = self.done;
        let length = self.copying.block.min(self.copying.total - begin);
        let file = files[usize::from(length < self.copying.block)];
        self.pass(length);
        match turn {
            Turn::Move(kind) => Some(Event { at: 0, offset: start + begin, length, file, kind }),
            Turn::Forget => self.forgotten(file, start, begin, begin + length),
        }
    }

    /// Ends a step. After the last step the block of `length` bytes is finished.
    #[inline(always)]
    fn pass(&mut self, length: u64) {
        self.next += 1;
        if self.next == self.turns.len() {
            self.next = 0;
            self.done += length;
        }
    }

    /// The event that drops the ranges completed by the bytes from `begin` to `end`, and everything
    /// after the last block.
    fn forgotten(&self, file: u32, start: u64, begin: u64, end: u64) -> Option<Event> {
        let Copying { total, forgotten, .. } = self.copying;
        let rounds = |bytes: u64| bytes / forgotten * forgotten;
        let begun = rounds(begin);
        let full = if end == total { end } else { rounds(end) };
        let (offset, length) = (start + begun, full.saturating_sub(begun));
        (length > 0).then_some(Event { at: 0, offset, length, file, kind: Kind::Forget })
    }
}

impl Iterator for Copied {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while self.done < self.copying.total && !self.turns.is_empty() {
            let event = self.take_turn();
            if event.is_some() {
                return event;
            }
        }
        // The output comes after the input.
        let file = u32::from(self.copying.source.is_some());
        let sync = self.sync.take().map(|kind| Event { at: 0, offset: 0, length: 0, file, kind });
        sync.or_else(|| self.left.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERA: u64 = 1 << 40;

    fn copying(source: Option<u64>, target: Option<u64>, block: u64, total: u64) -> Copying {
        let end = |start: Option<u64>| start.map(|start| CopyEnd { start, ..CopyEnd::default() });
        let (source, target) = (end(source), end(target));
        Copying { source, target, block, total, forgotten: 8, sync: None }
    }

    fn listed(copying: &Copying) -> Vec<(Kind, u32, u64, u64)> {
        copying.events().map(|e| (e.kind, e.file, e.offset, e.length)).collect()
    }

    #[test]
    fn blocks_are_read_and_written_in_turn() {
        let mut copy = copying(Some(100), Some(7), 4, 6);
        copy.sync = Some(Kind::Sync);
        let io = [(Kind::Read, 0, 100, 4), (Kind::Write, 1, 7, 4), (Kind::Read, 0, 104, 2)];
        let end = [(Kind::Write, 1, 11, 2), (Kind::Sync, 1, 0, 0)];
        assert_eq!(listed(&copy), [&io[..], &end].concat());
        assert_eq!(listed(&copying(None, Some(1), 4, 3)), [(Kind::Write, 0, 1, 3)]);
        assert_eq!(listed(&copying(Some(1), None, 4, 3)), [(Kind::Read, 0, 1, 3)]);
        assert_eq!(listed(&copying(Some(1), Some(1), 4, 0)), []);
    }

    #[test]
    fn what_is_full_of_a_round_is_forgotten_and_at_the_end_the_rest() {
        let mut copy = copying(Some(100), Some(0), 5, 13);
        copy.target = Some(CopyEnd { start: 50, forgets: true, ..CopyEnd::default() });
        let forgotten = |copy: &Copying| {
            let events = copy.events().filter(|event| event.kind == Kind::Forget);
            events.map(|e| (e.file, e.offset, e.length)).collect::<Vec<_>>()
        };
        assert_eq!(forgotten(&copy), [(1, 50, 8), (1, 58, 5)]);
        copy.block = 100;
        copy.source = Some(CopyEnd { forgets: true, ..CopyEnd::default() });
        assert_eq!(forgotten(&copy), [(0, 0, 13), (1, 50, 13)]);
    }

    #[test]
    fn a_short_last_block_goes_through_a_file_of_its_own() {
        let mut copy = copying(Some(8), Some(16), 4, 6);
        for end in [&mut copy.source, &mut copy.target] {
            end.as_mut().unwrap().opened = Opened::DirectButLast;
        }
        copy.sync = Some(Kind::Sync);
        let io = [(Kind::Read, 0, 8, 4), (Kind::Write, 1, 16, 4), (Kind::Read, 2, 12, 2)];
        let end = [(Kind::Write, 3, 20, 2), (Kind::Sync, 1, 0, 0)];
        let left = [(Kind::Forget, 2, 12, 2), (Kind::Forget, 3, 20, 2)];
        assert_eq!(listed(&copy), [&io[..], &end, &left].concat());
        let seen = copy.recording(vec!["a".into(), "b".into()]);
        let files = seen.files.iter().map(|file| (file.path.as_str(), file.buffered, file.grain));
        let expected = [("a", false, 4), ("b", false, 4), ("a", true, 2), ("b", true, 2)];
        assert_eq!(files.collect::<Vec<_>>(), expected);
        assert_eq!(
            seen.files.iter().map(|file| file.again).collect::<Vec<_>>(),
            [false, false, true, true]
        );
        copy.source = None;
        assert_eq!(copy.events().map(|event| event.file).collect::<Vec<_>>(), [0, 1, 0, 1]);
        // Full blocks need no second file, nor does a single short block.
        copy.total = 8;
        assert_eq!(copy.recording(vec!["b".into()]).files.len(), 1);
        copy.total = 3;
        assert_eq!(copy.recording(vec!["b".into()]).files.len(), 1);
    }

    /// The sums are computed without events; this test compares them with the events.
    #[test]
    fn a_recording_sums_up_its_events() {
        for (source, target, block, total) in [
            (Some(512), Some(4096), 4096, 10_000),
            (Some(4096), Some(1536), 1024, 10_240),
            (Some(0), None, 1 << 20, 1 << 20),
            (None, Some(1 << 21), 1 << 20, 5 << 20),
            (None, Some(3), 512, 100),
        ] {
            let mut copy = copying(source, target, block, total);
            copy.sync = target.map(|_| Kind::Datasync);
            copy.target.iter_mut().for_each(|end| end.opened = Opened::DirectButLast);
            let there = usize::from(source.is_some()) + usize::from(target.is_some());
            let seen = copy.recording(vec!["name".into(); there]);
            let events: Vec<Event> = copy.events().collect();
            let mut anew = copy.events();
            let quick = std::iter::from_fn(|| anew.at_hand().or_else(|| anew.next()));
            assert_eq!(quick.collect::<Vec<_>>(), events);
            let ios = events.iter().filter(|event| event.kind != Kind::Forget).count();
            assert_eq!(seen.ios, ios as u64);
            for (place, file) in seen.files.iter().enumerate() {
                let own =
                    |kind| events.iter().filter(move |e| (e.file, e.kind) == (place as u32, kind));
                let ends = |kind| own(kind).map(|e| e.offset + e.length).max().unwrap_or(0);
                let (reads, writes) = (own(Kind::Read).count(), own(Kind::Write).count());
                assert_eq!((file.ios.read, file.ios.write), (reads as u64, writes as u64));
                assert_eq!(file.read_end, ends(Kind::Read));
                assert_eq!(file.end, ends(Kind::Read).max(ends(Kind::Write)));
                assert_eq!(file.syncs, own(Kind::Datasync).count() as u64);
                let moved = own(Kind::Read).chain(own(Kind::Write));
                let grain = moved.fold(0, |grain, e| grain | e.offset | e.length);
                assert_eq!(file.grain, 1 << grain.trailing_zeros());
            }
            for (direction, kind) in
                [(Direction::Read, Kind::Read), (Direction::Write, Kind::Write)]
            {
                let lengths = || events.iter().filter(|e| e.kind == kind).map(|e| e.length);
                assert_eq!(seen.sizes[direction], lengths().min().zip(lengths().max()));
                assert_eq!(seen.bytes[direction], lengths().sum::<u64>());
            }
        }
    }

    #[test]
    fn a_copy_of_any_length_is_a_rule() {
        let copy = copying(Some(0), Some(0), 512, 16 * TERA);
        let seen = copy.recording(vec!["a".into(), "b".into()]);
        assert_eq!((seen.ios, seen.bytes.read), (64 * (TERA >> 10), 16 * TERA));
        assert_eq!(copy.events().nth(3).map(|event| event.offset), Some(512));
    }
}
