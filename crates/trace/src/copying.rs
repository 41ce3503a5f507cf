//! A copy, block by block: a rule that gives the events of a recording, however many they are.

use crate::event::{Event, Kind};
use crate::recording::{FileUse, Held, Recording};
use record::{Direction, PerDirection};

/// One end of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyEnd {
    /// Where it begins in its file, in bytes.
    pub start: u64,
    /// The page cache is told to drop what was moved.
    pub forgets: bool,
}

/// What is copied: each block is read and then written, then what is complete of it is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copying {
    /// What is read, the first file; `None`: what is written comes from elsewhere.
    pub source: Option<CopyEnd>,
    /// What is written, the file after it; `None`: what is read goes nowhere.
    pub target: Option<CopyEnd>,
    /// Bytes of a block; at least 1. The last one may be shorter.
    pub block: u64,
    /// Bytes in all.
    pub total: u64,
    /// Bytes that are forgotten at once; at least 1. At the end the rest is.
    pub forgotten: u64,
    /// How what was written is synchronised at the end.
    pub sync: Option<Kind>,
}

impl Copying {
    /// Its events, in order, all at the beginning of time.
    pub fn events(&self) -> Copied {
        Copied::new(self)
    }

    /// The recording of it. `paths` are those of the ends there are, the source first.
    pub fn recording(&self, paths: Vec<String>) -> Recording {
        let blocks = self.total.div_ceil(self.block.max(1));
        let last = self.total - blocks.saturating_sub(1) * self.block;
        let sizes = (blocks > 0).then_some((last, if blocks > 1 { self.block } else { last }));
        let ends = [(Direction::Read, self.source), (Direction::Write, self.target)];
        let mut seen = Recording::default();
        seen.held = Held::Copy(*self);
        let there = ends.into_iter().filter_map(|(direction, end)| Some((direction, end?)));
        for ((direction, end), path) in there.zip(paths) {
            let mut ios = PerDirection::default();
            ios[direction] = blocks;
            let reach = end.start + self.total;
            let read_end = if direction == Direction::Read { reach } else { 0 };
            let grain = sizes.map_or(0, |(low, high)| end.start | low | high);
            let grain = 1 << grain.trailing_zeros().min(62);
            seen.files.push(FileUse {
                path,
                ios,
                end: reach,
                read_end,
                grain,
                ..FileUse::default()
            });
            seen.sizes[direction] = sizes;
            seen.bytes[direction] = self.total;
            seen.ios += blocks;
        }
        if self.sync.is_some() {
            seen.ios += 1;
            seen.files.last_mut().into_iter().for_each(|file| file.syncs = 1);
        }
        seen
    }
}

/// What is done to a block, at one of the ends.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The I/O there.
    Move(Kind),
    /// The page cache drops what is full of a round.
    Forget,
}

/// The events of a copy; see [`Copying::events`].
#[derive(Clone, Debug)]
pub struct Copied {
    copying: Copying,
    /// What is done to each block, at which place of which file.
    turns: Vec<(Turn, u32, u64)>,
    next: usize,
    /// Bytes of blocks that are done with.
    done: u64,
    sync: Option<Kind>,
}

impl Copied {
    fn new(copying: &Copying) -> Copied {
        let ends = [(Kind::Read, copying.source), (Kind::Write, copying.target)];
        let ends = ends.into_iter().filter_map(|(kind, end)| Some((kind, end?)));
        let ends: Vec<_> = (0..).zip(ends).collect();
        let moves = ends.iter().map(|(file, (kind, end))| (Turn::Move(*kind), *file, end.start));
        let forgetting = ends.iter().filter(|(_, (_, end))| end.forgets);
        let forgets = forgetting.map(|(file, (_, end))| (Turn::Forget, *file, end.start));
        let turns = moves.chain(forgets).collect();
        Copied { copying: *copying, turns, next: 0, done: 0, sync: copying.sync }
    }

    /// Takes the next turn for the block under way; `None` where it has nothing to do.
    #[inline]
    fn take_turn(&mut self) -> Option<Event> {
        let (turn, file, start) = *self.turns.get(self.next)?;
        let begin = self.done;
        let length = self.copying.block.min(self.copying.total - begin);
        self.next += 1;
        if self.next == self.turns.len() {
            (self.next, self.done) = (0, begin + length);
        }
        match turn {
            Turn::Move(kind) => Some(Event { at: 0, offset: start + begin, length, file, kind }),
            Turn::Forget => self.forgotten(file, start, begin, begin + length),
        }
    }

    /// What is full of a round is dropped when bytes from `begin` to `end` were moved, and all of it
    /// when they were the last.
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

    #[inline]
    fn next(&mut self) -> Option<Event> {
        while self.done < self.copying.total && !self.turns.is_empty() {
            let event = self.take_turn();
            if event.is_some() {
                return event;
            }
        }
        // What is written is the last of the files.
        let file = u32::from(self.copying.source.is_some());
        self.sync.take().map(|kind| Event { at: 0, offset: 0, length: 0, file, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERA: u64 = 1 << 40;

    fn copying(source: Option<u64>, target: Option<u64>, block: u64, total: u64) -> Copying {
        let end = |start: Option<u64>| start.map(|start| CopyEnd { start, forgets: false });
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
        copy.target = Some(CopyEnd { start: 50, forgets: true });
        let forgotten = |copy: &Copying| {
            let events = copy.events().filter(|event| event.kind == Kind::Forget);
            events.map(|e| (e.file, e.offset, e.length)).collect::<Vec<_>>()
        };
        assert_eq!(forgotten(&copy), [(1, 50, 8), (1, 58, 5)]);
        copy.block = 100;
        copy.source = Some(CopyEnd { start: 0, forgets: true });
        assert_eq!(forgotten(&copy), [(0, 0, 13), (1, 50, 13)]);
    }

    /// The sums come from the rule; this goes through the events.
    #[test]
    fn a_recording_sums_up_its_events() {
        for (source, target, block, total) in [
            (Some(512), Some(4096), 4096, 10_000),
            (Some(0), None, 1 << 20, 1 << 20),
            (None, Some(1 << 21), 1 << 20, 5 << 20),
            (None, Some(3), 512, 100),
        ] {
            let mut copy = copying(source, target, block, total);
            copy.sync = target.map(|_| Kind::Datasync);
            let there = usize::from(source.is_some()) + usize::from(target.is_some());
            let seen = copy.recording(vec!["name".into(); there]);
            let events: Vec<Event> = copy.events().collect();
            assert_eq!(seen.ios, events.len() as u64);
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
