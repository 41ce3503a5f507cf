//! Reads one sample of the machine.

use crate::Host;
use crate::slow_reader::SlowReader;
use record::{Nanos, OwnIo, Sample};
use std::collections::BTreeMap;
use std::time::Instant;

/// The amount of data in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Only counters.
    Counters,
    /// Also data that cost more to read.
    Slow,
    /// Also data whose reading may disturb the disks.
    All,
}

/// Reads samples of the machine and of some block devices.
pub struct SampleReader {
    host: Host,
    devices: Vec<String>,
    origin: Instant,
    slow: SlowReader,
}

impl SampleReader {
    /// `devices` are kernel names; unknown ones are left out of the samples. Times count from
    /// `origin`; earlier times are 0.
    pub fn new(host: Host, devices: Vec<String>, origin: Instant) -> SampleReader {
        let slow = SlowReader::new(&host, &devices);
        SampleReader { host, devices, origin, slow }
    }

    /// Reads a sample. `tids` are the threads of this process to include.
    pub fn read(&self, tids: &[u32], detail: Detail) -> Sample {
        let host = &self.host;
        let at = Instant::now().saturating_duration_since(self.origin);
        let [memory_available, memory_cached, memory_dirty, memory_writeback] =
            host.memory_bytes(["MemAvailable", "Cached", "Dirty", "Writeback"]);
        let slow = || self.slow.read(host, detail == Detail::All);
        Sample {
            at: Nanos(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX)),
            cpus: host.cpu_samples(),
            disks: collect(&self.devices, |name| Some((name.clone(), host.disk_sample(name)?))),
            workers: collect(tids, |tid| Some((*tid, host.worker_sample(*tid)?))),
            memory_available,
            memory_cached,
            memory_dirty,
            memory_writeback,
            own: host
                .storage_io("self")
                .map(|[read_bytes, write_bytes]| OwnIo { read_bytes, write_bytes }),
            own_cpu_ms: host.own_cpu_ms(),
            application: None,
            layers: None,
            slow: (detail != Detail::Counters).then(slow),
        }
    }
}

fn collect<I, K: Ord, V>(items: &[I], read: impl Fn(&I) -> Option<(K, V)>) -> BTreeMap<K, V> {
    items.iter().filter_map(read).collect()
}
