//! Where the I/O of one worker in one zoned file goes.
//!
//! # Rules
//! - A sequential pass goes on where its last I/O really went, not where it was drawn: over the
//!   unused end of a zone to the next one, `zoneskip` further where that is given.
//! - A random write chooses its zone only; it goes to that zone's pointer. Where no more zones may be
//!   open, it goes to one that is. A full zone is reset first.
//! - A read keeps to what is written, unless `read_beyond_wp` is given; where its zone holds too
//!   little, it goes to the next one that holds enough.
//! - A trim empties a zone that holds something.
//!
//! This is how fio does it.

use super::state::State;
use crate::hot::op::{Op, OpKind};
use plan::Zbd;
use std::ops::Range;

/// What becomes of an I/O that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It goes here.
    Go(Op),
    /// This zone is to be reset first; it is the asker's until it says that it is done.
    Reset(u32),
    /// What it needs is in use.
    Busy,
    /// There is no place for it in this pass.
    Skip,
    /// There is no place for any I/O like it.
    Nowhere,
}

/// A worker's side of one file.
#[derive(Debug)]
pub(super) struct Keeper {
    region: Range<u64>,
    /// Zones of the region.
    zones: Range<u32>,
    /// Smallest block.
    min: u64,
    random: bool,
    /// Its I/O goes both ways: reads that find nothing yet leave the rest to the writes.
    mixed: bool,
    read_beyond: bool,
    write_remainder: bool,
    skip: u64,
    max_open: usize,
    own_max_open: usize,
    /// Zones that this worker opened.
    own: Vec<u32>,
    /// Where a sequential pass goes on, and what was drawn last, per direction.
    next: [u64; 3],
    drawn: [Option<u64>; 3],
}

impl Keeper {
    /// The keeper of a region of a file whose zones are `state`. `min` is the smallest block.
    pub fn new(region: Range<u64>, state: &State, plan: &Zbd, min: u64, mixed: bool) -> Keeper {
        let last = region.end.max(region.start + 1) - 1;
        Keeper {
            zones: state.index(region.start)..state.index(last) + 1,
            next: [region.start; 3],
            drawn: [None; 3],
            region,
            min,
            random: plan.random,
            mixed,
            read_beyond: plan.read_beyond,
            write_remainder: plan.write_remainder,
            skip: plan.skip,
            max_open: plan.max_open as usize,
            own_max_open: plan.job_max_open as usize,
            own: Vec::new(),
        }
    }

    /// Bytes that sequential zones of the region hold.
    pub fn held(&self, state: &State) -> u64 {
        let zones = &state.zones[self.zones.start as usize..self.zones.end as usize];
        zones.iter().filter(|z| z.sequential).map(|z| z.pointer - z.start).sum()
    }

    /// Takes note of what was drawn: what begins before the last one begins a new pass.
    pub fn begin(&mut self, op: &Op) {
        let Some(way) = op.kind.direction().map(|direction| direction as usize) else { return };
        if self.drawn[way].is_some_and(|last| op.offset <= last) {
            self.next[way] = self.region.start;
        }
        self.drawn[way] = Some(op.offset);
    }

    /// Where `op`, as drawn, goes. `reset` asks for the zone of a write to be reset first.
    pub fn place(&mut self, state: &mut State, op: &Op, reset: bool) -> Verdict {
        match op.kind {
            OpKind::Read if self.read_beyond => Verdict::Go(*op),
            OpKind::Read if self.random => self.read_anywhere(state, op),
            OpKind::Read => self.read_on(state, op),
            OpKind::Write => self.write(state, op, reset),
            OpKind::Trim | OpKind::ResetZone => self.trim(state, op),
            OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_) | OpKind::Stat => {
                Verdict::Go(*op)
            }
        }
    }

    /// The zone a write or a trim drawn like this goes to: at random by what was drawn, in sequence
    /// by where the pass is; `None` when the pass has come to its end.
    fn wanted(&self, state: &State, op: &Op, way: usize) -> Option<u32> {
        let place = if self.random { op.offset } else { self.next[way] };
        let zone = state.index(place);
        (self.random || place < self.region.end).then_some(zone)
    }

    /// The zones of the region once around, from `first` on.
    fn around(&self, first: u32) -> impl Iterator<Item = u32> + use<> {
        let first = first.clamp(self.zones.start, self.zones.end - 1);
        (first..self.zones.end).chain(self.zones.start..first)
    }

    fn read_on(&mut self, state: &State, op: &Op) -> Verdict {
        let way = 0;
        let began = self.next[way];
        while self.next[way] < self.region.end {
            let from = self.next[way];
            let zone = &state.zones[state.index(from) as usize];
            let end = if zone.sequential { zone.written() } else { zone.limit };
            let end = if zone.readable { end.min(self.region.end) } else { 0 };
            let length = self.whole(op.length.min(end.saturating_sub(from)));
            if length > 0 {
                self.next[way] = from + length;
                return Verdict::Go(Op { offset: from, length, ..*op });
            }
            if from < zone.pointer && zone.busy {
                return Verdict::Busy;
            }
            self.next[way] = zone.end + self.skip;
        }
        if self.mixed {
            // The writes have yet to bring what comes next.
            self.next[way] = began;
        }
        Verdict::Skip
    }

    fn read_anywhere(&self, state: &State, op: &Op) -> Verdict {
        let drawn = state.index(op.offset);
        let from = op.offset - state.zones[drawn as usize].start;
        let mut busy = false;
        for index in self.around(drawn) {
            let zone = &state.zones[index as usize];
            if !zone.sequential && zone.readable {
                let offset = if index == drawn { op.offset } else { zone.start };
                let length = op.length.min(zone.limit.saturating_sub(offset));
                if length > 0 {
                    return Verdict::Go(Op { offset, length, ..*op });
                }
                continue;
            }
            let range = if zone.readable { zone.written() - zone.start } else { 0 };
            if range < self.min {
                busy |= zone.busy;
                continue;
            }
            let at = if from + self.min <= range { from } else { from % (range - self.min + 1) };
            let at = at - at % self.min;
            let length = self.whole(op.length.min(range - at));
            return Verdict::Go(Op { offset: zone.start + at, length, ..*op });
        }
        match (busy, self.mixed) {
            (true, _) => Verdict::Busy,
            (false, true) => Verdict::Skip,
            (false, false) => Verdict::Nowhere,
        }
    }

    fn trim(&mut self, state: &mut State, op: &Op) -> Verdict {
        let way = 2;
        let Some(first) = self.wanted(state, op, way) else { return Verdict::Skip };
        let mut busy = false;
        let holds = self.around(first).filter(|index| self.random || *index >= first).find(|at| {
            let zone = &state.zones[*at as usize];
            busy |= zone.busy;
            zone.sequential && zone.writable && !zone.busy && zone.pointer > zone.start
        });
        let Some(index) = holds else {
            return match (busy, self.random) {
                (true, _) => Verdict::Busy,
                (false, true) => Verdict::Nowhere,
                (false, false) => Verdict::Skip,
            };
        };
        let zone = state.zone(index);
        (zone.busy, zone.in_flight) = (true, 0);
        let length = op.length.min(zone.end - zone.start);
        self.next[way] = zone.end;
        Verdict::Go(Op { offset: zone.start, length, ..*op })
    }

    fn write(&mut self, state: &mut State, op: &Op, reset: bool) -> Verdict {
        let way = 1;
        let Some(wanted) = self.wanted(state, op, way) else { return Verdict::Skip };
        let place = if self.random { op.offset } else { self.next[way] };
        let chosen = match self.choose(state, wanted, place) {
            Ok(chosen) => chosen,
            Err(verdict) => return verdict,
        };
        let min = self.min;
        let zone = state.zone(chosen);
        if !zone.sequential {
            let offset = if chosen == wanted { place } else { zone.start };
            let length = self.whole(op.length.min(zone.limit - offset));
            self.next[way] = if length == 0 { zone.end + self.skip } else { offset + length };
            return if length == 0 { Verdict::Skip } else { go(op, offset, length) };
        }
        if zone.busy {
            return Verdict::Busy;
        }
        let full = zone.room() < if self.write_remainder { 1 } else { min };
        // A pass that wrote the zone itself goes on to the next one.
        if full && !self.random && place > zone.start && chosen == wanted {
            self.next[way] = zone.end + self.skip;
            return self.write(state, op, false);
        }
        if reset || full {
            zone.busy = true;
            self.note_open(state, chosen);
            return Verdict::Reset(chosen);
        }
        self.note_open(state, chosen);
        let zone = state.zone(chosen);
        let offset = zone.pointer;
        let whole = self.whole(op.length.min(zone.room()));
        let length = if whole == 0 { zone.room() } else { whole };
        (zone.busy, zone.in_flight) = (true, length);
        zone.pointer += length;
        let spent = zone.room() < if self.write_remainder { 1 } else { min };
        self.next[way] = if spent { zone.end + self.skip } else { zone.pointer };
        go(op, offset, length)
    }

    /// Which zone a write goes to that would like to go to `wanted`.
    fn choose(&mut self, state: &State, wanted: u32, place: u64) -> Result<u32, Verdict> {
        let writable = |index: &u32| state.zones[*index as usize].writable;
        let wanted = self.around(wanted).find(writable).ok_or(Verdict::Nowhere)?;
        if !state.zones[wanted as usize].sequential {
            return Ok(wanted);
        }
        // Others may have filled what this worker opened.
        self.own.retain(|own| state.open.contains(own));
        let open = state.open.contains(&wanted);
        let may_open = open || self.max_open == 0 || state.open.len() < self.max_open;
        let limit = self.own_max_open;
        let may_own = limit == 0 || self.own.contains(&wanted) || self.own.len() < limit;
        if may_open && may_own {
            return Ok(wanted);
        }
        let from = if may_own { &state.open } else { &self.own };
        let reachable: Vec<u32> =
            from.iter().copied().filter(|index| self.zones.contains(index)).collect();
        if reachable.is_empty() {
            let busy = state.open.iter().any(|index| state.zones[*index as usize].busy);
            return Err(if busy { Verdict::Busy } else { Verdict::Nowhere });
        }
        // Each open zone stands for its share of the region.
        let share = u128::from(place.saturating_sub(self.region.start)) * reachable.len() as u128;
        let length = u128::from(self.region.end - self.region.start).max(1);
        let first = ((share / length) as usize).min(reachable.len() - 1);
        let mut turn = reachable[first..].iter().chain(&reachable[..first]);
        let free = turn.find(|index| !state.zones[**index as usize].busy);
        free.copied().ok_or(Verdict::Busy)
    }

    fn note_open(&mut self, state: &mut State, index: u32) {
        state.note_open(index);
        if self.own_max_open > 0 && !self.own.contains(&index) {
            self.own.push(index);
        }
    }

    /// Bytes of a write at `offset` moved, or none after an error. Returns a zone that is to be
    /// finished: what is left of it holds no block.
    pub fn wrote(&mut self, state: &mut State, offset: u64, moved: u64) -> Option<u32> {
        let index = state.index(offset);
        let zone = state.zone(index);
        if !zone.sequential || !zone.busy {
            return None;
        }
        zone.in_flight = if moved == 0 { 0 } else { zone.in_flight.saturating_sub(moved) };
        if zone.in_flight > 0 {
            return None;
        }
        zone.busy = false;
        let room = zone.room();
        if room == 0 {
            self.close(state, index);
            return None;
        }
        if room >= self.min || self.write_remainder {
            return None;
        }
        zone.busy = true;
        Some(index)
    }

    /// A zone is not open any more.
    pub fn close(&mut self, state: &mut State, index: u32) {
        state.note_closed(index);
        self.own.retain(|own| *own != index);
    }

    /// Whole blocks of `length`.
    fn whole(&self, length: u64) -> u64 {
        length - length % self.min.max(1)
    }
}

fn go(op: &Op, offset: u64, length: u64) -> Verdict {
    Verdict::Go(Op { offset, length, ..*op })
}
