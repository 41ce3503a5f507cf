//! Counters of the kernel: disks, CPUs, threads, memory.

use crate::Host;
use record::{CpuSample, DiskSample, WorkerSample};

/// Sectors of /sys/class/block/NAME/stat, whatever the device's own block is.
const SECTOR_BYTES: u64 = 512;

impl Host {
    /// The counters of a block device by kernel name ("sda1", "dm-0"); `None` if there is no such
    /// device.
    pub fn disk_sample(&self, name: &str) -> Option<DiskSample> {
        parse_disk(&self.text(format!("/sys/class/block/{name}/stat"))?)
    }

    /// Run time and CPU wait time of a thread of this process; `None` if there is no such thread,
    /// or the kernel does not count them.
    pub fn worker_sample(&self, tid: u32) -> Option<WorkerSample> {
        parse_schedstat(&self.text(format!("/proc/self/task/{tid}/schedstat"))?)
    }

    /// CPU time of this process so far, in milliseconds.
    pub(crate) fn own_cpu_ms(&self) -> Option<u64> {
        self.cpu_ms("self", 2)
    }

    /// The same of another process.
    pub(crate) fn process_cpu_ms(&self, pid: u32) -> Option<u64> {
        self.cpu_ms(&pid.to_string(), 2)
    }

    /// CPU time so far of this process and of its children that it has waited for, with their own, in
    /// milliseconds.
    pub fn family_cpu_ms(&self) -> Option<u64> {
        self.cpu_ms("self", 4)
    }

    /// The sum of the first `fields` CPU times of a process, in milliseconds.
    fn cpu_ms(&self, pid: &str, fields: usize) -> Option<u64> {
        let ticks = parse_cpu_ticks(&self.text(format!("/proc/{pid}/stat"))?, fields)?;
        Some(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
    }

    /// Times of every CPU since boot; 0 for offline CPUs.
    pub(crate) fn cpu_samples(&self) -> Vec<CpuSample> {
        let ticks_per_second = rustix::param::clock_ticks_per_second();
        self.text("/proc/stat").map(|text| parse_cpus(&text, ticks_per_second)).unwrap_or_default()
    }

    /// Figures of /proc/meminfo in bytes, in the order of `names`; 0 for unknown names.
    pub(crate) fn memory_bytes<const N: usize>(&self, names: [&str; N]) -> [u64; N] {
        let text = self.text("/proc/meminfo").unwrap_or_default();
        let mut found = [0; N];
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            if let Some(at) = names.iter().position(|n| *n == name) {
                let kib = value.split_whitespace().next().and_then(|v| v.parse::<u64>().ok());
                found[at] = kib.unwrap_or(0) * 1024;
            }
        }
        found
    }
}

/// Fields in the kernel's order (Documentation/block/stat.rst). Kernels before 4.18 have no
/// discards and those before 5.5 no flushes; these stay 0.
fn parse_disk(text: &str) -> Option<DiskSample> {
    let fields: Vec<u64> = text.split_whitespace().map_while(|f| f.parse().ok()).collect();
    if fields.len() < 11 {
        return None;
    }
    let field = |at: usize| fields.get(at).copied().unwrap_or(0);
    Some(DiskSample {
        read_ios: field(0),
        read_merges: field(1),
        read_bytes: field(2) * SECTOR_BYTES,
        read_ticks_ms: field(3),
        write_ios: field(4),
        write_merges: field(5),
        write_bytes: field(6) * SECTOR_BYTES,
        write_ticks_ms: field(7),
        in_flight: field(8),
        busy_ms: field(9),
        queue_ms: field(10),
        discard_ios: field(11),
        discard_bytes: field(13) * SECTOR_BYTES,
        flush_ios: field(15),
        flush_ticks_ms: field(16),
    })
}

fn parse_schedstat(text: &str) -> Option<WorkerSample> {
    let mut fields = text.split_whitespace().map(str::parse);
    Some(WorkerSample { run_ns: fields.next()?.ok()?, delay_ns: fields.next()?.ok()? })
}

/// The fields of /proc/PID/stat (proc_pid_stat(5)) from the third on. The second is a name in
/// brackets, which may hold spaces and brackets.
pub(crate) fn stat_fields(text: &str) -> Option<impl Iterator<Item = &str>> {
    Some(text.rsplit_once(')')?.1.split_whitespace())
}

/// The sum of the first `fields` of: ticks of the process in user mode and in the kernel, and of its
/// children in user mode and in the kernel. The first is the 14th field.
fn parse_cpu_ticks(text: &str, fields: usize) -> Option<u64> {
    let mut ticks = stat_fields(text)?.skip(11).map(str::parse::<u64>);
    (0..fields).map(|_| ticks.next()?.ok()).sum()
}

fn parse_cpus(text: &str, ticks_per_second: u64) -> Vec<CpuSample> {
    let mut cpus = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(number) = words.next().and_then(|w| w.strip_prefix("cpu")) else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        let ms: Vec<u64> = words
            .map_while(|w| w.parse::<u64>().ok())
            .map(|ticks| ticks * 1000 / ticks_per_second.max(1))
            .collect();
        let field = |at: usize| ms.get(at).copied().unwrap_or(0);
        if cpus.len() <= number {
            cpus.resize(number + 1, CpuSample::default());
        }
        cpus[number] = CpuSample {
            user_ms: field(0) + field(1),
            system_ms: field(2),
            idle_ms: field(3),
            iowait_ms: field(4),
            irq_ms: field(5),
            softirq_ms: field(6),
            steal_ms: field(7),
        };
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_behind_the_name_whatever_it_holds() {
        let stat = "77 (a) b (c) S 1 77 77 0 -1 4194560 9 0 0 0 12 34 60 40 20 0 1 0 5 6 7";
        assert_eq!(parse_cpu_ticks(stat, 2), Some(46));
        assert_eq!(parse_cpu_ticks(stat, 4), Some(146));
        assert_eq!(parse_cpu_ticks("77 (a) S 1", 2), None);
    }

    #[test]
    fn disk_counters_follow_the_kernels_order() {
        let text = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
        let sample = parse_disk(text).unwrap();
        assert_eq!((sample.read_ios, sample.read_merges), (1, 2));
        assert_eq!((sample.read_bytes, sample.read_ticks_ms), (3 * 512, 4));
        assert_eq!((sample.write_ios, sample.write_merges), (5, 6));
        assert_eq!((sample.write_bytes, sample.write_ticks_ms), (7 * 512, 8));
        assert_eq!((sample.in_flight, sample.busy_ms, sample.queue_ms), (9, 10, 11));
        assert_eq!((sample.discard_ios, sample.discard_bytes), (12, 14 * 512));
        assert_eq!((sample.flush_ios, sample.flush_ticks_ms), (16, 17));
    }

    #[test]
    fn old_kernels_have_fewer_disk_counters() {
        let sample = parse_disk("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((sample.queue_ms, sample.discard_ios, sample.flush_ios), (11, 0, 0));
        assert_eq!(parse_disk("1 2 3"), None);
        assert_eq!(parse_disk(""), None);
    }

    #[test]
    fn cpu_times_are_milliseconds_and_offline_cpus_keep_their_place() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 5 20 300 4 1 2 3 0 0\ncpu2 1 0 0 0 0 0 0 0\n\
                    intr 12 0 0\nctxt 5\n";
        let cpus = parse_cpus(text, 100);
        assert_eq!(cpus.len(), 3);
        assert_eq!((cpus[0].user_ms, cpus[0].system_ms, cpus[0].idle_ms), (150, 200, 3000));
        assert_eq!((cpus[0].iowait_ms, cpus[0].irq_ms), (40, 10));
        assert_eq!((cpus[0].softirq_ms, cpus[0].steal_ms), (20, 30));
        assert_eq!(cpus[1], CpuSample::default());
        assert_eq!(cpus[2].user_ms, 10);
    }

    #[test]
    fn schedstat_gives_run_and_wait() {
        let sample = parse_schedstat("75833 45438 2\n").unwrap();
        assert_eq!((sample.run_ns, sample.delay_ns), (75833, 45438));
        assert_eq!(parse_schedstat("75833"), None);
    }

    #[test]
    fn this_machine_has_counters() {
        let host = Host::at("/");
        assert!(!host.cpu_samples().is_empty());
        let [available, cached, nothing] = host.memory_bytes(["MemAvailable", "Cached", "Nosuch"]);
        assert!(available > 0 && cached > 0);
        assert_eq!(nothing, 0);
        assert_eq!(host.disk_sample("no-such-disk"), None);
    }
}
