//! Where one worker's I/O in one zoned file goes.
//!
//! # Rules
//! - A sequential pass continues where its last I/O was placed, not where it was drawn. At the unused
//!   end of a zone it continues in the next one, `zoneskip` further on. A pass of writes that meets zones
//!   that other workers fill meanwhile starts over at the beginning, until it has written as much as
//!   it would alone. So does a pass with `zoneskip`.
//! - A random write only selects a zone and goes to its write pointer. If no more zones may be open, it
//!   goes to an open one. A full zone is reset first; with verification, another zone is taken as long
//!   as there is one, and a pass ends when it has filled all of them.
//! - A read stays below the write pointer, unless `read_beyond_wp` is set. If its zone holds too
//!   little data, it goes to the next zone that holds enough.
//! - A random trim resets a zone that holds data. A sequential pass of trims takes each zone in turn.
//!
//! fio follows the same rules.

use super::state::{Zone, ZoneStates};
use crate::hot::op::{Op, OpKind};
use plan::Zbd;
use std::ops::Range;

/// The placement of an I/O that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// Issue this I/O.
    Go(Op),
    /// Reset this zone first. It is reserved until the caller reports the end of the reset.
    Reset(u32),
    /// Its zone is in use.
    Busy,
    /// This pass has no place for it.
    Skip,
    /// No I/O of this kind can be placed any more.
    Impossible,
}

/// Places one worker's I/O in one file.
#[derive(Debug)]
pub(super) struct ZonePlacer {
    region: Range<u64>,
    /// Zones of the region.
    zones: Range<u32>,
    /// Smallest block, in bytes.
    min: u64,
    random: bool,
    /// Reads and writes are mixed: reads that find no data leave it to the writes to progress.
    mixed: bool,
    read_beyond: bool,
    write_remainder: bool,
    skip: u64,
    max_open: usize,
    own_max_open: usize,
    /// Zones that this worker opened.
    own: Vec<u32>,
    /// Full zones are left as they are while others have room.
    keeps_full: bool,
    /// A pass of random writes writes each zone once.
    fills_once: bool,
    /// The zones that this pass has written, by their place in the region; only with `fills_once`.
    filled: Vec<bool>,
    /// No zone is left for a write of this pass.
    is_filled: bool,
    /// Where a sequential pass continues, and the last drawn offset, per direction.
    next: [u64; 3],
    drawn: [Option<u64>; 3],
    /// What a sequential pass of writes has done.
    pass: WritePass,
}

/// A sequential pass of writes, beside what other workers write in the same zones.
#[derive(Debug, Default)]
struct WritePass {
    /// Bytes that the pass writes in each zone if nobody else writes there. Empty before the first
    /// write of a pass that follows another one.
    rooms: Vec<u64>,
    /// Bytes written in the current zone.
    in_zone: u64,
    /// Bytes that others wrote where this pass would have written.
    owed: u64,
    /// The pass has started over for them.
    starts_over: bool,
}

impl WritePass {
    /// The first pass. It is made before any worker starts: what others write meanwhile must not look
    /// like what was there before. A full zone will be reset, and so has room for all it holds.
    fn first(zones: &[Zone], usable: impl Fn(u64) -> u64) -> WritePass {
        let room = |zone: &Zone| match usable(zone.room()) {
            _ if !zone.sequential || !zone.writable => 0,
            0 => usable(zone.limit - zone.start),
            room => room,
        };
        WritePass { rooms: zones.iter().map(room).collect(), ..WritePass::default() }
    }

    /// Begins a pass that follows another one at its first write. The one before has filled the zones.
    fn begin(&mut self, zones: &[Zone], usable: impl Fn(u64) -> u64) {
        if self.rooms.is_empty() {
            let whole = |zone: &Zone| match zone.sequential && zone.writable {
                true => usable(zone.limit - zone.start),
                false => 0,
            };
            self.rooms = zones.iter().map(whole).collect();
        }
    }

    /// `length` bytes were written.
    fn wrote(&mut self, length: u64) {
        match self.starts_over {
            true => self.owed = self.owed.saturating_sub(length),
            false => self.in_zone += length,
        }
    }

    /// The pass has started over and written all that it owed.
    fn has_caught_up(&self) -> bool {
        self.starts_over && self.owed == 0
    }

    /// The pass leaves a zone.
    fn leaves(&mut self, zone: usize) {
        if !self.starts_over {
            self.owed = (self.owed + self.rooms[zone]).saturating_sub(self.in_zone);
            self.in_zone = 0;
        }
    }
}

impl ZonePlacer {
    /// For a region of a file with the zones `state`. `min` is the smallest block, in bytes.
    pub fn new(
        region: Range<u64>,
        state: &ZoneStates,
        plan: &Zbd,
        min: u64,
        mixed: bool,
    ) -> ZonePlacer {
        let last = region.end.max(region.start + 1) - 1;
        let zones = state.index(region.start)..state.index(last) + 1;
        let filled = if plan.fills_once { zones.len() } else { 0 };
        let of_region = &state.zones[zones.start as usize..zones.end as usize];
        let pass = WritePass::first(of_region, usable(plan.write_remainder, min));
        ZonePlacer {
            zones,
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
            keeps_full: plan.keeps_full,
            fills_once: plan.fills_once,
            filled: vec![false; filled],
            is_filled: false,
            pass,
        }
    }

    /// Zones of the region.
    pub fn zones(&self) -> Range<u32> {
        self.zones.clone()
    }

    /// A pass has ended, and another one may follow.
    pub fn pass_ended(&mut self) {
        self.filled.fill(false);
        self.is_filled = false;
    }

    /// A new I/O was drawn. One that begins before the last one starts a new pass.
    pub fn begin(&mut self, op: &Op) {
        let Some(direction) = op.kind.direction().map(|direction| direction as usize) else {
            return;
        };
        if self.drawn[direction].is_some_and(|last| op.offset <= last) {
            self.next[direction] = self.region.start;
            if op.kind == OpKind::Write {
                self.pass = WritePass::default();
            }
        }
        self.drawn[direction] = Some(op.offset);
    }

    /// Places `op`, which is as drawn. With `reset`, the zone of a write is reset first.
    pub fn place(&mut self, state: &mut ZoneStates, op: &Op, reset: bool) -> Placement {
        match op.kind {
            OpKind::Read if self.read_beyond => Placement::Go(*op),
            OpKind::Read if self.random => self.read_random(state, op),
            OpKind::Read => self.read_sequential(state, op),
            OpKind::Write => self.write(state, op, reset),
            OpKind::Trim | OpKind::ResetZone => self.trim(state, op),
            OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_) | OpKind::Stat => {
                Placement::Go(*op)
            }
        }
    }

    /// The zone for a write or trim: that of the drawn offset if random, that of the pass if
    /// sequential; `None` at the end of the pass.
    fn wanted(&self, state: &ZoneStates, op: &Op, direction: usize) -> Option<u32> {
        let place = if self.random { op.offset } else { self.next[direction] };
        let zone = state.index(place);
        (self.random || place < self.region.end).then_some(zone)
    }

    /// All zones of the region, from `first` on and then from the start.
    fn zones_from(&self, first: u32) -> impl Iterator<Item = u32> + Clone + use<> {
        let first = first.clamp(self.zones.start, self.zones.end - 1);
        (first..self.zones.end).chain(self.zones.start..first)
    }

    fn read_sequential(&mut self, state: &ZoneStates, op: &Op) -> Placement {
        let direction = 0;
        let began = self.next[direction];
        while self.next[direction] < self.region.end {
            let from = self.next[direction];
            let zone = &state.zones[state.index(from) as usize];
            let end = if zone.sequential { zone.written() } else { zone.limit };
            let end = if zone.readable { end.min(self.region.end) } else { 0 };
            let length = self.whole_blocks(op.length.min(end.saturating_sub(from)));
            if length > 0 {
                self.next[direction] = from + length;
                return Placement::Go(Op { offset: from, length, ..*op });
            }
            if from < zone.pointer && zone.busy {
                return Placement::Busy;
            }
            self.next[direction] = zone.end + self.skip;
        }
        if self.mixed {
            // The writes will provide the data that comes next.
            self.next[direction] = began;
        }
        Placement::Skip
    }

    fn read_random(&self, state: &ZoneStates, op: &Op) -> Placement {
        let drawn = state.index(op.offset);
        let from = op.offset - state.zones[drawn as usize].start;
        let mut busy = false;
        for index in self.zones_from(drawn) {
            let zone = &state.zones[index as usize];
            if !zone.sequential && zone.readable {
                let offset = if index == drawn { op.offset } else { zone.start };
                let length = op.length.min(zone.limit.saturating_sub(offset));
                if length > 0 {
                    return Placement::Go(Op { offset, length, ..*op });
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
            let length = self.whole_blocks(op.length.min(range - at));
            return Placement::Go(Op { offset: zone.start + at, length, ..*op });
        }
        match (busy, self.mixed) {
            (true, _) => Placement::Busy,
            (false, true) => Placement::Skip,
            (false, false) => Placement::Impossible,
        }
    }

    fn trim(&mut self, state: &mut ZoneStates, op: &Op) -> Placement {
        let direction = 2;
        let Some(first) = self.wanted(state, op, direction) else { return Placement::Skip };
        let mut busy = false;
        let holds =
            self.zones_from(first).filter(|index| self.random || *index >= first).find(|at| {
                let zone = &state.zones[*at as usize];
                busy |= zone.busy;
                // Oracle: a sequential pass resets empty zones too.
                let holds = !self.random || zone.pointer > zone.start;
                zone.sequential && zone.writable && !zone.busy && holds
            });
        let Some(index) = holds else {
            return match (busy, self.random) {
                (true, _) => Placement::Busy,
                (false, true) => Placement::Impossible,
                (false, false) => Placement::Skip,
            };
        };
        let zone = state.zone(index);
        (zone.busy, zone.in_flight) = (true, 0);
        let length = op.length.min(zone.end - zone.start);
        self.next[direction] = zone.end;
        Placement::Go(Op { offset: zone.start, length, ..*op })
    }

    fn write(&mut self, state: &mut ZoneStates, op: &Op, reset: bool) -> Placement {
        let direction = 1;
        if !self.random {
            self.begin_pass(state);
        }
        if self.is_filled || (self.skip == 0 && self.pass.has_caught_up()) {
            return Placement::Skip;
        }
        let Some(wanted) = self.wanted(state, op, direction) else { return Placement::Skip };
        let place = if self.random { op.offset } else { self.next[direction] };
        let chosen = match self.choose(state, wanted, place) {
            Ok(chosen) => chosen,
            Err(placement) => return placement,
        };
        let zone = state.zone(chosen);
        if !zone.sequential {
            let offset = if chosen == wanted { place } else { zone.start };
            let length = self.whole_blocks(op.length.min(zone.limit - offset));
            self.next[direction] = if length == 0 { zone.end + self.skip } else { offset + length };
            return if length == 0 { Placement::Skip } else { placed(op, offset, length) };
        }
        if zone.busy {
            return Placement::Busy;
        }
        let full = self.usable(zone.room()) == 0;
        // A pass whose zone is full continues in the next one.
        if full && !reset && !self.random && place > zone.start && chosen == wanted {
            self.leave(state, chosen);
            return self.write(state, op, false);
        }
        if reset || full {
            zone.busy = true;
            self.mark_open(state, chosen);
            return Placement::Reset(chosen);
        }
        self.mark_open(state, chosen);
        let zone = state.zone(chosen);
        let offset = zone.pointer;
        let whole = self.whole_blocks(op.length.min(zone.room()));
        let length = if whole == 0 { zone.room() } else { whole };
        (zone.busy, zone.in_flight) = (true, length);
        let room = zone.room() - length;
        if let Some(filled) = self.filled.get_mut((chosen - self.zones.start) as usize) {
            *filled = true;
        }
        state.move_pointer(chosen, offset + length);
        if !self.random {
            self.next[direction] = offset + length;
            self.pass.wrote(length);
            if self.usable(room) == 0 {
                self.leave(state, chosen);
            }
        }
        placed(op, offset, length)
    }

    /// Bytes of `room` that can be written.
    fn usable(&self, room: u64) -> u64 {
        usable(self.write_remainder, self.min)(room)
    }

    /// Begins a sequential pass at its first write, and starts over at the end of the region if it owes
    /// writes.
    fn begin_pass(&mut self, state: &ZoneStates) {
        let zones = &state.zones[self.zones.start as usize..self.zones.end as usize];
        self.pass.begin(zones, usable(self.write_remainder, self.min));
        // Oracle: what `zoneskip` leaves out of the pass is written in the zones from the start on.
        let is_short = self.pass.owed > 0 || self.skip > 0;
        if self.next[1] >= self.region.end && is_short {
            (self.next[1], self.pass.starts_over) = (self.region.start, true);
        }
    }

    /// A sequential pass of writes goes on behind a zone.
    fn leave(&mut self, state: &ZoneStates, index: u32) {
        self.next[1] = state.zones[index as usize].end + self.skip;
        if let Some(at) = index.checked_sub(self.zones.start) {
            self.pass.leaves(at as usize);
        }
    }

    /// The zone for a write that would go to `wanted`.
    fn choose(&mut self, state: &ZoneStates, wanted: u32, place: u64) -> Result<u32, Placement> {
        let writable = |index: &u32| state.zones[*index as usize].writable;
        let mut wanted = self.zones_from(wanted).find(writable).ok_or(Placement::Impossible)?;
        if self.keeps_full {
            wanted = match self.zone_with_room(state, wanted) {
                Some(index) => index,
                None if self.fills_once => {
                    self.is_filled = true;
                    return Err(Placement::Skip);
                }
                None => wanted,
            };
        }
        if !state.zones[wanted as usize].sequential {
            return Ok(wanted);
        }
        // Other workers may have filled zones that this one opened.
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
            return Err(if busy { Placement::Busy } else { Placement::Impossible });
        }
        // Each open zone represents an equal share of the region.
        let share = u128::from(place.saturating_sub(self.region.start)) * reachable.len() as u128;
        let length = u128::from(self.region.end - self.region.start).max(1);
        let first = ((share / length) as usize).min(reachable.len() - 1);
        let mut turn = reachable[first..].iter().chain(&reachable[..first]);
        let free = turn.find(|index| !state.zones[**index as usize].busy);
        free.copied().ok_or(Placement::Busy)
    }

    /// The next zone from `wanted` on that has room, else one that is reset for this pass.
    fn zone_with_room(&self, state: &ZoneStates, wanted: u32) -> Option<u32> {
        let is_usable = |index: &u32| {
            let zone = &state.zones[*index as usize];
            // Elsewhere in a conventional zone a write would hit what this pass wrote.
            zone.writable && (zone.sequential || *index == wanted)
        };
        let has_room = |index: &u32| {
            let zone = &state.zones[*index as usize];
            !zone.sequential || self.usable(zone.room()) > 0
        };
        let is_unwritten =
            |index: &u32| self.filled.get((*index - self.zones.start) as usize) == Some(&false);
        let mut usable = self.zones_from(wanted).filter(is_usable);
        usable.clone().find(has_room).or_else(|| usable.find(is_unwritten))
    }

    fn mark_open(&mut self, state: &mut ZoneStates, index: u32) {
        state.mark_open(index);
        if self.own_max_open > 0 && !self.own.contains(&index) {
            self.own.push(index);
        }
    }

    /// A write at `offset` ended with `moved` bytes (0 after an error). Returns the zone if it must be
    /// finished because the rest of it is too small for a block.
    pub fn write_ended(&mut self, state: &mut ZoneStates, offset: u64, moved: u64) -> Option<u32> {
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

    /// A zone is no longer open.
    pub fn close(&mut self, state: &mut ZoneStates, index: u32) {
        state.mark_closed(index);
        self.own.retain(|own| *own != index);
    }

    /// `length` rounded down to whole blocks.
    fn whole_blocks(&self, length: u64) -> u64 {
        length - length % self.min.max(1)
    }
}

/// The bytes of a room that can be written: without `write_remainder`, whole blocks of at least `min`.
fn usable(write_remainder: bool, min: u64) -> impl Fn(u64) -> u64 {
    let block = if write_remainder { 1 } else { min.max(1) };
    move |room| room - room % block
}

fn placed(op: &Op, offset: u64, length: u64) -> Placement {
    Placement::Go(Op { offset, length, ..*op })
}
