//! Whether the machine was quiet during a run: what other programs use changes the limit.

use std::fs;
use std::time::Instant;

/// CPU time of other programs that disturbs a run, as a share of one CPU …
const CPU_SHARE: f64 = 0.05;
/// … and in ticks of 10 ms, which is how exactly the kernel counts.
const CPU_TICKS: u64 = 3;
/// CPU time that the hypervisor took that disturbs a run, as a share of all CPUs' time.
const STOLEN_SHARE: f64 = 0.05;
/// Bytes that other programs moved on the disk that disturb a run, as a share of all …
const DISK_SHARE: f64 = 0.03;
/// … and in bytes: file systems write some of their own.
const DISK_BYTES: u64 = 512 << 10;

/// What the machine and this process with its children have used so far.
pub struct Usage {
    at: Instant,
    /// Ticks in user mode: the kernel's own threads have none.
    user: u64,
    own_user: u64,
    /// Ticks that the hypervisor took.
    stolen: u64,
    /// Bytes moved by real disks.
    disk: u64,
    own_disk: u64,
}

impl Usage {
    /// As of now. What cannot be read counts as nothing.
    pub fn now() -> Usage {
        Usage {
            at: Instant::now(),
            user: cpu_ticks(0).unwrap_or(0) + cpu_ticks(1).unwrap_or(0),
            own_user: own_user_ticks().unwrap_or(0),
            stolen: cpu_ticks(7).unwrap_or(0),
            disk: disk_bytes(),
            own_disk: own_disk_bytes(),
        }
    }

    /// What other programs did since then that disturbs a run; `None` for a quiet machine.
    pub fn disturbance(&self) -> Option<String> {
        let now = Usage::now();
        let ticks = (now.user - self.user).saturating_sub(now.own_user - self.own_user);
        let all_ticks = (now.at - self.at).as_secs_f64() * 100.0;
        if ticks > CPU_TICKS && ticks as f64 > CPU_SHARE * all_ticks {
            return Some(format!("other programs used {ticks} ticks of CPU time"));
        }
        let stolen = now.stolen - self.stolen;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        if stolen > CPU_TICKS && stolen as f64 > STOLEN_SHARE * all_ticks * cpus {
            return Some(format!("the hypervisor took {stolen} ticks of CPU time"));
        }
        let moved = now.disk - self.disk;
        let others = moved.saturating_sub(now.own_disk - self.own_disk);
        (others > DISK_BYTES && others as f64 > DISK_SHARE * moved as f64)
            .then(|| format!("other programs moved {others} of {moved} bytes on the disks"))
    }
}

/// Ticks of all CPUs by the field of the first line: 0 and 1 are user mode, normal and of low priority, 7 is what
/// the hypervisor took.
fn cpu_ticks(field: usize) -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().next()?.split_whitespace().nth(field + 1)?.parse().ok()
}

/// Ticks in user mode of this process and of its children that have ended: the 14th and 16th field.
fn own_user_ticks() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, behind_name) = text.rsplit_once(") ")?;
    let mut fields = behind_name.split_whitespace().skip(11).map(str::parse::<u64>);
    Some(fields.next()?.ok()? + fields.nth(1)?.ok()?)
}

/// Bytes read and written by disks that are not memory and not made of others.
fn disk_bytes() -> u64 {
    let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let is_made =
        |name: &str| ["loop", "zram", "ram", "dm-", "md"].iter().any(|p| name.starts_with(p));
    let bytes = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let name = *fields.get(2)?;
        let is_whole = fs::exists(format!("/sys/block/{name}")).unwrap_or(false);
        let sectors = |at: usize| fields.get(at)?.parse::<u64>().ok();
        (is_whole && !is_made(name)).then_some(512 * (sectors(5)? + sectors(9)?))
    };
    text.lines().filter_map(bytes).sum()
}

/// Bytes that this process and its children that have ended moved on disks.
fn own_disk_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let field = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        ["read_bytes", "write_bytes"].contains(&name).then(|| value.parse::<u64>().ok())?
    };
    text.lines().filter_map(field).sum()
}
