//! Rates from two samples.

use crate::ApplicationRates;
use crate::layers::{self, LayersNow};
use record::{
    ArraySample, CpuSample, DiskSample, LayerSample, OtherRequests, PagingSample, PressureSample,
    Sample, SlowSample,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rates of the machine between two samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Time between the samples.
    pub seconds: f64,
    /// Block devices in both samples, by kernel name.
    pub disks: BTreeMap<String, DiskRates>,
    /// All CPUs together; `None` if no CPU time was counted.
    pub cpu: Option<CpuShares>,
    /// Each CPU (index = CPU number); `None` for those offline.
    pub cpus: Vec<Option<CpuShares>>,
    /// Memory at the later sample.
    pub memory: MemoryNow,
    /// Transfers between memory and devices.
    pub paging: Option<PagingRates>,
    /// Share of the time in which tasks waited.
    pub pressure: Option<PressureShares>,
    /// Arrays of md by kernel name, at the later sample.
    pub arrays: BTreeMap<String, ArraySample>,
    /// The watched application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationRates>,
    /// Mean times of I/Os in each layer of the kernel, for each disk and direction; empty if layers are not
    /// timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayersNow>,
    /// Processes with requests, if they are timed: the one with most time in the devices first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<ProcessRates>,
}

/// What a process asked of a disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessRates {
    /// Its name, or the kind of a kernel thread.
    pub name: String,
    /// Its number; 0: a thread of the kernel.
    pub pid: u32,
    /// Path of the control group that is charged; `None` if that is not known.
    pub cgroup: Option<String>,
    /// Kernel name of the disk.
    pub device: String,
    /// Requests a second.
    pub requests_per_second: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Requests in the device, mean.
    pub in_device: f64,
    /// Its share in the time that all requests spent in the device, in percent.
    pub device_percent: f64,
}

/// The rates of a block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskRates {
    /// Reads completed a second.
    pub reads_per_second: f64,
    /// Bytes read a second.
    pub read_bytes_per_second: f64,
    /// Mean latency of the completed reads, in milliseconds; `None` without any.
    pub read_ms: Option<f64>,
    /// Writes completed a second.
    pub writes_per_second: f64,
    /// Bytes written a second.
    pub write_bytes_per_second: f64,
    /// Mean latency of the completed writes, in milliseconds; `None` without any.
    pub write_ms: Option<f64>,
    /// Discards completed a second.
    pub discards_per_second: f64,
    /// Flushes completed a second.
    pub flushes_per_second: f64,
    /// Mean latency of the completed flushes, in milliseconds; `None` without any.
    pub flush_ms: Option<f64>,
    /// Mean number of I/Os in the device or its queue: total latency of the completed I/Os over the
    /// elapsed time (Little's law).
    pub queue: f64,
    /// Share of the time with at least one I/O in flight, in percent.
    pub busy_percent: f64,
    /// The counts behind the rates; `in_flight` is that of the later sample.
    pub counted: DiskSample,
}

/// Shares of CPU time in percent; their sum is 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuShares {
    /// User space, including nice and guest time.
    pub user: f64,
    /// Kernel.
    pub system: f64,
    /// Interrupts.
    pub irq: f64,
    /// Soft interrupts: most completions of I/O and the network.
    pub softirq: f64,
    /// Stolen by the hypervisor.
    pub steal: f64,
    /// Idle while I/O was outstanding.
    pub iowait: f64,
    /// Idle otherwise.
    pub idle: f64,
}

/// Memory, in bytes (/proc/meminfo).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryNow {
    /// Available to programs without swapping.
    pub available: u64,
    /// Page cache.
    pub cached: u64,
    /// Waiting to be written back.
    pub dirty: u64,
    /// Being written back.
    pub writeback: u64,
}

/// Transfers between memory and block devices; see [`PagingSample`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PagingRates {
    /// Read from block devices, in bytes a second.
    pub in_bytes_per_second: f64,
    /// Written to block devices, in bytes a second.
    pub out_bytes_per_second: f64,
    /// Read again after it had been dropped from the page cache, in bytes a second.
    pub refault_bytes_per_second: f64,
    /// Read from swap, in bytes a second.
    pub swap_in_bytes_per_second: f64,
    /// Written to swap, in bytes a second.
    pub swap_out_bytes_per_second: f64,
    /// Page faults that waited for a device, a second.
    pub major_faults_per_second: f64,
}

/// Share of the time in which tasks were stalled, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PressureShares {
    /// At least one task waited for a CPU.
    pub cpu_some: f64,
    /// At least one task waited for I/O.
    pub io_some: f64,
    /// All non-idle tasks waited for I/O.
    pub io_full: f64,
    /// At least one task waited for memory.
    pub memory_some: f64,
    /// All non-idle tasks waited for memory.
    pub memory_full: f64,
}

impl Rates {
    /// Rates between two samples; `None` when no time passed.
    pub fn between(earlier: &Sample, later: &Sample) -> Option<Rates> {
        let seconds = (later.at - earlier.at).seconds();
        if seconds <= 0.0 {
            return None;
        }
        let disks = later.disks.iter().filter_map(|(name, now)| {
            let before = earlier.disks.get(name)?;
            Some((name.clone(), DiskRates::from_counts(now.since(before), seconds)))
        });
        let spent: Vec<CpuSample> = later
            .cpus
            .iter()
            .zip(&earlier.cpus)
            .map(|(now, before)| now.zip(before, u64::saturating_sub))
            .collect();
        let all = spent.iter().fold(CpuSample::default(), |sum, cpu| sum.zip(cpu, |a, b| a + b));
        let slow = earlier.slow.as_ref().zip(later.slow.as_ref());
        Some(Rates {
            seconds,
            disks: disks.collect(),
            cpu: CpuShares::from_times(&all),
            cpus: spent.iter().map(CpuShares::from_times).collect(),
            memory: MemoryNow {
                available: later.memory_available,
                cached: later.memory_cached,
                dirty: later.memory_dirty,
                writeback: later.memory_writeback,
            },
            paging: slow.and_then(|(before, now)| paging(before, now, seconds)),
            pressure: slow.and_then(|(before, now)| pressure(before, now, seconds)),
            application: earlier
                .application
                .as_ref()
                .zip(later.application.as_ref())
                .map(|(before, now)| ApplicationRates::between(before, now, seconds)),
            arrays: later.slow.as_ref().map(|slow| slow.arrays.clone()).unwrap_or_default(),
            layers: later.layers.as_ref().map_or_else(Vec::new, |now| {
                let before = earlier.layers.as_ref().map_or(&[][..], |before| &before.paths);
                layers::since(before.iter(), now.paths.clone())
            }),
            processes: processes(earlier.layers.as_ref(), later.layers.as_ref(), seconds),
        })
    }
}

/// What processes asked of disks between two samples.
fn processes(
    earlier: Option<&LayerSample>,
    later: Option<&LayerSample>,
    seconds: f64,
) -> Vec<ProcessRates> {
    let before = |now: &OtherRequests| {
        let same = |other: &&OtherRequests| {
            (other.pid, &other.name, &other.cgroup, &other.device)
                == (now.pid, &now.name, &now.cgroup, &now.device)
        };
        earlier.and_then(|sample| sample.processes.iter().find(same)).cloned().unwrap_or_default()
    };
    let mut found: Vec<ProcessRates> = Vec::new();
    for now in later.iter().flat_map(|sample| &sample.processes) {
        let before = before(now);
        let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
        let requests = since(now.requests, before.requests);
        if requests > 0.0 {
            found.push(ProcessRates {
                name: now.name.clone(),
                pid: now.pid,
                cgroup: now.cgroup.clone(),
                device: now.device.clone(),
                requests_per_second: requests / seconds,
                bytes_per_second: since(now.bytes.0, before.bytes.0) / seconds,
                in_device: since(now.device_time.0, before.device_time.0) / 1e9 / seconds,
                device_percent: 0.0,
            });
        }
    }
    let mut all: BTreeMap<String, f64> = BTreeMap::new();
    for process in &found {
        *all.entry(process.device.clone()).or_default() += process.in_device;
    }
    for process in &mut found {
        process.device_percent =
            process.in_device * 100.0 / all[&process.device].max(f64::MIN_POSITIVE);
    }
    found.sort_by(|a, b| b.in_device.total_cmp(&a.in_device));
    found
}

impl DiskRates {
    fn from_counts(counted: DiskSample, seconds: f64) -> DiskRates {
        let per_second = |count: u64| count as f64 / seconds;
        let mean = |ticks_ms: u64, ios: u64| (ios > 0).then(|| ticks_ms as f64 / ios as f64);
        let elapsed_ms = seconds * 1000.0;
        DiskRates {
            reads_per_second: per_second(counted.read_ios),
            read_bytes_per_second: per_second(counted.read_bytes),
            read_ms: mean(counted.read_ticks_ms, counted.read_ios),
            writes_per_second: per_second(counted.write_ios),
            write_bytes_per_second: per_second(counted.write_bytes),
            write_ms: mean(counted.write_ticks_ms, counted.write_ios),
            discards_per_second: per_second(counted.discard_ios),
            flushes_per_second: per_second(counted.flush_ios),
            flush_ms: mean(counted.flush_ticks_ms, counted.flush_ios),
            queue: counted.queue_ms as f64 / elapsed_ms,
            // The two clocks are not read at the same time.
            busy_percent: (counted.busy_ms as f64 * 100.0 / elapsed_ms).min(100.0),
            counted,
        }
    }
}

impl CpuShares {
    fn from_times(spent: &CpuSample) -> Option<CpuShares> {
        let CpuSample { user_ms, system_ms, idle_ms, iowait_ms, irq_ms, softirq_ms, steal_ms } =
            *spent;
        let total = user_ms + system_ms + idle_ms + iowait_ms + irq_ms + softirq_ms + steal_ms;
        let share = |ms: u64| ms as f64 * 100.0 / total as f64;
        (total > 0).then(|| CpuShares {
            user: share(user_ms),
            system: share(system_ms),
            irq: share(irq_ms),
            softirq: share(softirq_ms),
            steal: share(steal_ms),
            iowait: share(iowait_ms),
            idle: share(idle_ms),
        })
    }

    /// Share of busy and stolen time.
    pub fn busy(&self) -> f64 {
        self.user + self.system + self.irq + self.softirq + self.steal
    }
}

fn paging(before: &SlowSample, now: &SlowSample, seconds: f64) -> Option<PagingRates> {
    let (before, now): (PagingSample, PagingSample) = (before.paging?, now.paging?);
    let rate = |of: fn(&PagingSample) -> u64| of(&now).saturating_sub(of(&before)) as f64 / seconds;
    Some(PagingRates {
        in_bytes_per_second: rate(|p| p.in_bytes),
        out_bytes_per_second: rate(|p| p.out_bytes),
        refault_bytes_per_second: rate(|p| p.refault_bytes),
        swap_in_bytes_per_second: rate(|p| p.swap_in_bytes),
        swap_out_bytes_per_second: rate(|p| p.swap_out_bytes),
        major_faults_per_second: rate(|p| p.major_faults),
    })
}

fn pressure(before: &SlowSample, now: &SlowSample, seconds: f64) -> Option<PressureShares> {
    let (before, now): (PressureSample, PressureSample) = (before.pressure?, now.pressure?);
    let share = |of: fn(&PressureSample) -> u64| {
        (of(&now).saturating_sub(of(&before)) as f64 / (seconds * 1e4)).min(100.0)
    };
    Some(PressureShares {
        cpu_some: share(|p| p.cpu_some_us),
        io_some: share(|p| p.io_some_us),
        io_full: share(|p| p.io_full_us),
        memory_some: share(|p| p.memory_some_us),
        memory_full: share(|p| p.memory_full_us),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Nanos;

    fn sample(at_ms: u64, disk: DiskSample, cpu: CpuSample) -> Sample {
        Sample {
            at: Nanos::from_millis(at_ms),
            cpus: vec![cpu, CpuSample::default()],
            disks: BTreeMap::from([("sda".to_owned(), disk)]),
            ..Sample::default()
        }
    }

    #[test]
    fn disk_rates_are_counts_over_elapsed_time() {
        let before = DiskSample { read_ios: 100, busy_ms: 5, ..DiskSample::default() };
        let after = DiskSample {
            read_ios: 300,
            read_bytes: 200 * 4096,
            read_ticks_ms: 50,
            flush_ios: 4,
            flush_ticks_ms: 10,
            busy_ms: 1005,
            queue_ms: 3000,
            in_flight: 7,
            ..before
        };
        let idle = CpuSample::default();
        let rates =
            Rates::between(&sample(1000, before, idle), &sample(3000, after, idle)).unwrap();
        let disk = &rates.disks["sda"];
        assert_eq!((rates.seconds, disk.reads_per_second), (2.0, 100.0));
        assert_eq!(disk.read_bytes_per_second, 100.0 * 4096.0);
        assert_eq!((disk.read_ms, disk.write_ms, disk.flush_ms), (Some(0.25), None, Some(2.5)));
        assert_eq!((disk.queue, disk.busy_percent), (1.5, 50.0));
        assert_eq!((disk.counted.read_ios, disk.counted.in_flight), (200, 7));
    }

    #[test]
    fn busy_is_never_more_than_all_and_a_counter_that_went_back_counts_as_nothing() {
        let idle = CpuSample::default();
        let before = DiskSample { write_ios: 50, ..DiskSample::default() };
        let after = DiskSample { write_ios: 3, busy_ms: 1010, ..DiskSample::default() };
        let rates = Rates::between(&sample(0, before, idle), &sample(1000, after, idle)).unwrap();
        let disk = &rates.disks["sda"];
        assert_eq!((disk.busy_percent, disk.writes_per_second), (100.0, 0.0));
    }

    #[test]
    fn no_time_makes_no_rates_and_disks_come_and_go() {
        let idle = CpuSample::default();
        let one = sample(5, DiskSample::default(), idle);
        assert_eq!(Rates::between(&one, &one), None);
        let gone = Sample { disks: BTreeMap::new(), ..sample(9, DiskSample::default(), idle) };
        assert!(Rates::between(&one, &gone).unwrap().disks.is_empty());
        assert!(
            Rates::between(&gone, &sample(19, DiskSample::default(), idle))
                .unwrap()
                .disks
                .is_empty()
        );
    }

    #[test]
    fn cpu_shares_add_up_and_offline_cpus_have_none() {
        let before = CpuSample { user_ms: 100, idle_ms: 100, ..CpuSample::default() };
        let after = CpuSample {
            user_ms: 150,
            system_ms: 20,
            idle_ms: 110,
            iowait_ms: 10,
            softirq_ms: 5,
            steal_ms: 5,
            irq_ms: 0,
        };
        let disk = DiskSample::default();
        let rates = Rates::between(&sample(0, disk, before), &sample(100, disk, after)).unwrap();
        let cpu = rates.cpus[0].unwrap();
        assert_eq!((cpu.user, cpu.system, cpu.iowait), (50.0, 20.0, 10.0));
        assert_eq!((cpu.softirq, cpu.steal, cpu.idle, cpu.busy()), (5.0, 5.0, 10.0, 80.0));
        assert_eq!((rates.cpus[1], rates.cpu), (None, Some(cpu)));
    }

    #[test]
    fn paging_and_pressure_need_both_samples() {
        let slow = |n: u64| {
            Some(SlowSample {
                paging: Some(PagingSample { in_bytes: n * 1000, ..PagingSample::default() }),
                pressure: Some(PressureSample {
                    io_some_us: n * 1000,
                    ..PressureSample::default()
                }),
                ..SlowSample::default()
            })
        };
        let disk = DiskSample::default();
        let cpu = CpuSample::default();
        let before = Sample { slow: slow(0), ..sample(0, disk, cpu) };
        let after = Sample { slow: slow(250), ..sample(500, disk, cpu) };
        let rates = Rates::between(&before, &after).unwrap();
        assert_eq!(rates.paging.unwrap().in_bytes_per_second, 500_000.0);
        assert_eq!(rates.pressure.unwrap().io_some, 50.0);
        let rates = Rates::between(&sample(0, disk, cpu), &after).unwrap();
        assert_eq!((rates.paging, rates.pressure), (None, None));
    }
}
