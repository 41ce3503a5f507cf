//! The state of the zones of one target.

use crate::sys::zones::{Condition, ZoneKind, ZoneReport};
use std::ops::Range;

/// One zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// Start, in bytes.
    pub start: u64,
    /// Start of the next zone.
    pub end: u64,
    /// End of its usable part.
    pub limit: u64,
    /// Write pointer.
    pub pointer: u64,
    /// Writes must be at the write pointer.
    pub sequential: bool,
    pub readable: bool,
    pub writable: bool,
    /// Reserved for a write, reset or finish.
    pub busy: bool,
    /// Bytes below the write pointer that are still in flight.
    pub in_flight: u64,
}

impl Zone {
    fn from_report(report: &ZoneReport) -> Zone {
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

    /// Bytes left for writes.
    pub fn room(&self) -> u64 {
        self.limit - self.pointer
    }

    /// End of the readable data.
    pub fn written(&self) -> u64 {
        self.pointer - self.in_flight
    }
}

/// The zones of a target. Partly written zones are *open*; the device and `max_open_zones` limit their
/// number.
#[derive(Debug)]
pub(super) struct ZoneStates {
    pub zones: Vec<Zone>,
    /// Distance between the starts of two zones, in bytes.
    pub size: u64,
    /// Open zones, in the order in which they were opened.
    pub open: Vec<u32>,
    /// Zones whose data counts for `zone_reset_threshold`. Empty if no worker has one.
    pub counted: Range<u32>,
    /// Bytes of data in them.
    pub held: u64,
    /// Writes above the threshold until the next reset.
    pub writes_until_reset: u64,
}

impl ZoneStates {
    /// From the device's report. `size` is the distance between the starts of two zones. A device
    /// that limits its active zones counts those that are closed.
    pub fn new(reports: &[ZoneReport], size: u64, counts_closed: bool) -> ZoneStates {
        let counts = |(_, report): &(u32, &ZoneReport)| match report.condition {
            Condition::Open => true,
            Condition::Closed => counts_closed,
            _ => false,
        };
        ZoneStates {
            zones: reports.iter().map(Zone::from_report).collect(),
            size,
            open: (0..).zip(reports).filter(counts).map(|(index, _)| index).collect(),
            counted: 0..0,
            held: 0,
            writes_until_reset: 0,
        }
    }

    /// Counts the data of these zones from now on.
    pub fn count(&mut self, zones: Range<u32>, writes_per_reset: u64) {
        if self.counted != zones {
            self.counted = zones;
            let counted = self.counted.clone().map(|index| &self.zones[index as usize]);
            self.held = counted.filter(|z| z.sequential).map(|z| z.pointer - z.start).sum();
            self.writes_until_reset = writes_per_reset;
        }
    }

    /// Moves the write pointer of a zone.
    pub fn move_pointer(&mut self, index: u32, to: u64) {
        let zone = &mut self.zones[index as usize];
        let before = std::mem::replace(&mut zone.pointer, to);
        if zone.sequential && self.counted.contains(&index) {
            self.held = (self.held + to).saturating_sub(before);
        }
    }

    /// The zone of `offset`; the last zone if `offset` is beyond it.
    pub fn index(&self, offset: u64) -> u32 {
        (offset / self.size).min(self.zones.len() as u64 - 1) as u32
    }

    pub fn zone(&mut self, index: u32) -> &mut Zone {
        &mut self.zones[index as usize]
    }

    /// Counts a zone as open.
    pub fn mark_open(&mut self, index: u32) {
        if !self.open.contains(&index) {
            self.open.push(index);
        }
    }

    /// Counts a zone as full or empty.
    pub fn mark_closed(&mut self, index: u32) {
        self.open.retain(|open| *open != index);
    }

    /// A zone was reset.
    pub fn was_reset(&mut self, index: u32) {
        self.move_pointer(index, self.zones[index as usize].start);
        let zone = self.zone(index);
        zone.in_flight = 0;
        zone.busy = false;
    }

    /// A zone was finished.
    pub fn was_finished(&mut self, index: u32) {
        self.move_pointer(index, self.zones[index as usize].limit);
        self.zone(index).busy = false;
        self.mark_closed(index);
    }

    /// The device reported one zone again.
    pub fn was_reported(&mut self, index: u32, report: &ZoneReport) {
        let reported = Zone::from_report(report);
        self.move_pointer(index, reported.pointer);
        *self.zone(index) = reported;
        match report.condition {
            Condition::Open | Condition::Closed => self.mark_open(index),
            _ => self.mark_closed(index),
        }
    }
}
