//! The zones of the targets of a run, shared by the workers on them.

use super::state::ZoneStates;
use crate::mutex::lock;
use crate::sys::memory::errno;
use crate::sys::zones::{Condition, ZoneKind, ZoneReport, finish, report, reset};
use plan::{Worker, ZonedFile};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// The zone operations of a target.
pub(super) trait ZoneDevice: Send + Sync {
    /// The zones from the one at `from` on, as many as fit into one report.
    fn report(&self, from: u64) -> io::Result<Vec<ZoneReport>>;
    /// Makes a zone empty.
    fn reset(&self, start: u64, length: u64) -> io::Result<()>;
    /// Makes a zone full.
    fn finish(&self, start: u64, length: u64) -> io::Result<()>;
}

/// A zoned block device.
struct Device(File);

impl ZoneDevice for Device {
    fn report(&self, from: u64) -> io::Result<Vec<ZoneReport>> {
        report(&self.0, from)
    }

    fn reset(&self, start: u64, length: u64) -> io::Result<()> {
        match reset(self.0.as_raw_fd(), start, length) {
            error if error < 0 => Err(errno(-error as i32)),
            _ => Ok(()),
        }
    }

    fn finish(&self, start: u64, length: u64) -> io::Result<()> {
        finish(&self.0, start, length)
    }
}

/// A target without zones, which are emulated and empty at the start of the run.
pub(super) struct EmulatedZones {
    pub size: u64,
    pub capacity: u64,
    pub whole: u64,
}

impl ZoneDevice for EmulatedZones {
    fn report(&self, from: u64) -> io::Result<Vec<ZoneReport>> {
        let zone = |start: u64| {
            let length = self.size.min(self.whole - start);
            ZoneReport {
                start,
                length,
                capacity: self.capacity.min(length),
                pointer: start,
                kind: ZoneKind::Sequential,
                condition: Condition::Empty,
            }
        };
        let first = from / self.size;
        let count = self.whole.div_ceil(self.size);
        Ok((first..count).map(|index| zone(index * self.size)).collect())
    }

    fn reset(&self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn finish(&self, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// A target and its zones.
pub(super) struct ZonedTarget {
    state: Mutex<ZoneStates>,
    changed: Condvar,
    pub device: Box<dyn ZoneDevice>,
}

impl ZonedTarget {
    /// Reads all zones of the device.
    pub fn new(
        device: Box<dyn ZoneDevice>,
        size: u64,
        counts_closed: bool,
    ) -> io::Result<ZonedTarget> {
        let mut reports: Vec<ZoneReport> = Vec::new();
        loop {
            let from = reports.last().map_or(0, |zone| zone.start + zone.length);
            let more = device.report(from)?;
            // A device that repeats zones has no more.
            if more.first().is_none_or(|first| first.start < from) {
                break;
            }
            reports.extend(more);
        }
        if reports.is_empty() || size == 0 {
            return Err(io::Error::other("it reports no zones"));
        }
        let state = Mutex::new(ZoneStates::new(&reports, size, counts_closed));
        Ok(ZonedTarget { state, changed: Condvar::new(), device })
    }

    /// Locks the zones.
    pub fn state(&self) -> MutexGuard<'_, ZoneStates> {
        lock(&self.state)
    }

    /// Wakes the workers that wait for a zone.
    pub fn notify(&self) {
        self.changed.notify_all();
    }

    /// Waits until another worker releases a zone, at most for `max`.
    pub fn wait(&self, max: Duration) {
        let state = self.state();
        if state.zones.iter().any(|zone| zone.busy) {
            // The caller checks again in any case.
            drop(self.changed.wait_timeout(state, max));
        }
    }
}

/// The zoned targets of a run, by name.
#[derive(Default)]
pub(crate) struct ZonedTargets(Mutex<HashMap<String, Arc<ZonedTarget>>>);

impl ZonedTargets {
    /// Reads the zones of a worker's targets that no other worker has read. Fails if a target cannot be
    /// opened or reports no zones, or if more zones are open than the worker may open.
    pub fn prepare(&self, worker: &Worker) -> io::Result<()> {
        let Some(zoned) = &worker.zbd else { return Ok(()) };
        let mut known = lock(&self.0);
        for (file, planned) in zoned.files.iter().zip(&worker.files) {
            if !known.contains_key(&file.name) {
                let target = ZonedTarget::new(open(file)?, file.size, file.counts_closed)?;
                known.insert(file.name.clone(), Arc::new(target));
            }
            let open = known[&file.name].state().open.len();
            let limit = zoned.max_open as usize;
            if worker.pattern.rw.writes() && limit > 0 && open > limit {
                return Err(io::Error::other(format!(
                    "{}: {open} zones are open already and max_open_zones allows {limit}; reset \
                     or finish some of them (blkzone reset)",
                    planned.path
                )));
            }
        }
        Ok(())
    }

    /// One target, known by `name`.
    #[cfg(test)]
    pub(super) fn with(name: &str, target: ZonedTarget) -> ZonedTargets {
        ZonedTargets(Mutex::new(HashMap::from([(name.to_owned(), Arc::new(target))])))
    }

    /// The targets of a prepared worker, by file.
    pub(super) fn of_worker(&self, worker: &Worker) -> Vec<Arc<ZonedTarget>> {
        let known = lock(&self.0);
        let files = worker.zbd.iter().flat_map(|zoned| &zoned.files);
        files.filter_map(|file| known.get(&file.name).cloned()).collect()
    }
}

/// Opens a zoned target. A device is opened for writing only if it has a worker that changes it.
fn open(file: &ZonedFile) -> io::Result<Box<dyn ZoneDevice>> {
    if !file.device {
        let ZonedFile { size, capacity, whole, .. } = *file;
        return Ok(Box::new(EmulatedZones { size, capacity, whole }));
    }
    let device = OpenOptions::new().read(true).write(file.is_changed).open(&file.name)?;
    Ok(Box::new(Device(device)))
}
