//! What is known of the zones of one target.

use crate::sys::zones::{Condition, ZoneKind, ZoneReport};

/// One zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// Where it begins.
    pub start: u64,
    /// Where the next one begins.
    pub end: u64,
    /// Where its usable part ends.
    pub limit: u64,
    /// Where the next write goes, and what is read ends.
    pub pointer: u64,
    /// Writes go to the pointer.
    pub sequential: bool,
    /// It may be read.
    pub readable: bool,
    /// It may be written.
    pub writable: bool,
    /// Who changes it has to wait: a write is in flight, or it is reset or finished.
    pub busy: bool,
    /// Bytes below the pointer that are still in flight.
    pub in_flight: u64,
}

impl Zone {
    fn of(report: &ZoneReport) -> Zone {
        let offline = report.condition == Condition::Offline;
        Zone {
            start: report.start,
            end: report.start + report.length,
            limit: report.start + report.capacity,
            pointer: if offline { report.start } else { report.pointer },
            sequential: report.kind == ZoneKind::Sequential,
            readable: !offline,
            writable: !offline && report.condition != Condition::ReadOnly,
            busy: false,
            in_flight: 0,
        }
    }

    /// Bytes that can still be written.
    pub fn room(&self) -> u64 {
        self.limit - self.pointer
    }

    /// Where what can be read ends.
    pub fn written(&self) -> u64 {
        self.pointer - self.in_flight
    }
}

/// The zones of a target. Those that a part is written of are *open*: as many as the device, or
/// `max_open_zones`, allows.
#[derive(Debug)]
pub(super) struct State {
    pub zones: Vec<Zone>,
    /// Distance from the beginning of a zone to that of the next.
    pub size: u64,
    /// Open zones, in the order in which they were opened.
    pub open: Vec<u32>,
}

impl State {
    /// From what the device says. `size` is the distance of its zones.
    pub fn new(reports: &[ZoneReport], size: u64) -> State {
        let active = |(_, report): &(u32, &ZoneReport)| report.condition == Condition::Active;
        State {
            zones: reports.iter().map(Zone::of).collect(),
            size,
            open: (0..).zip(reports).filter(active).map(|(index, _)| index).collect(),
        }
    }

    /// The zone that holds `offset`; the last one for what is behind it.
    pub fn index(&self, offset: u64) -> u32 {
        (offset / self.size).min(self.zones.len() as u64 - 1) as u32
    }

    pub fn zone(&mut self, index: u32) -> &mut Zone {
        &mut self.zones[index as usize]
    }

    /// Counts a zone as open.
    pub fn note_open(&mut self, index: u32) {
        if !self.open.contains(&index) {
            self.open.push(index);
        }
    }

    /// It is full, or empty: it counts no more.
    pub fn note_closed(&mut self, index: u32) {
        self.open.retain(|open| *open != index);
    }

    /// A zone was reset.
    pub fn was_reset(&mut self, index: u32) {
        let zone = self.zone(index);
        zone.pointer = zone.start;
        zone.in_flight = 0;
        zone.busy = false;
    }

    /// A zone was finished.
    pub fn was_finished(&mut self, index: u32) {
        let zone = self.zone(index);
        zone.pointer = zone.limit;
        zone.busy = false;
        self.note_closed(index);
    }

    /// The device was asked for one zone again.
    pub fn was_reported(&mut self, index: u32, report: &ZoneReport) {
        *self.zone(index) = Zone::of(report);
        match report.condition {
            Condition::Active => self.note_open(index),
            _ => self.note_closed(index),
        }
    }
}
