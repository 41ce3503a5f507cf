//! Whether timing costs little: decided by the rate of the I/Os at the start of a run.

use host::Host;
use layers::Unavailable;
use std::time::{Duration, Instant};

/// How long the rate is measured.
const MEASURED: Duration = Duration::from_millis(250);
/// CPU time that the programs take for each I/O, in seconds: more than was measured on any machine that we
/// know (docs/LAYERS.md).
const COST: f64 = 700e-9;
/// Share of the workers' time that it may cost.
const SHARE_MAX: f64 = 0.02;

/// Counts the I/Os of the disks from the start of the first phase on.
#[derive(Default)]
pub(super) struct RateProbe(Option<(Instant, u64)>);

/// The rate of the I/Os.
pub(super) struct Rate {
    /// I/Os of the disks a second.
    pub iops: f64,
    /// How long it was measured.
    pub elapsed: Duration,
}

impl RateProbe {
    /// The workers begin. A second call changes nothing.
    pub fn start(&mut self, host: &Host, disks: &[String]) {
        self.0.get_or_insert_with(|| (Instant::now(), completed(host, disks)));
    }

    /// The rate since the start; `None` if it is too early for it.
    pub fn rate(&self, host: &Host, disks: &[String]) -> Option<Rate> {
        let (start, before) = self.0?;
        let elapsed = start.elapsed();
        let ios = (elapsed >= MEASURED).then(|| completed(host, disks).saturating_sub(before))?;
        Some(Rate { iops: ios as f64 / elapsed.as_secs_f64(), elapsed })
    }
}

impl Rate {
    /// Whether timing costs so many workers little.
    ///
    /// # Errors
    /// It costs too much.
    pub fn check(&self, workers: usize) -> Result<(), Unavailable> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let share = self.iops * COST / workers.clamp(1, cpus) as f64;
        match share <= SHARE_MAX {
            true => Ok(()),
            false => Err(Unavailable::Costly { iops: self.iops, share }),
        }
    }
}

/// I/Os that the disks have completed.
fn completed(host: &Host, disks: &[String]) -> u64 {
    let samples = disks.iter().filter_map(|name| host.disk_sample(name));
    samples.map(|disk| disk.read_ios + disk.write_ios + disk.discard_ios).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_makes_timing_dear_is_refused() {
        let check = |iops| Rate { iops, elapsed: MEASURED }.check(1);
        assert!(check(20_000.0).is_ok());
        let refused = check(80_000.0).unwrap_err().to_string();
        assert!(refused.contains("80000 I/Os") && refused.contains("6 %"), "{refused}");
    }

    #[test]
    fn the_rate_is_known_after_a_while() {
        let root = tempfile::tempdir().unwrap();
        let stat = |reads: u64| {
            let line = format!("{reads} 0 0 0 5 0 0 0 0 0 0\n");
            let directory = root.path().join("sys/class/block/sda");
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("stat"), line).unwrap();
        };
        stat(100);
        let (host, disks) = (Host::at(root.path()), ["sda".to_owned()]);
        let mut probe = RateProbe::default();
        assert!(probe.rate(&host, &disks).is_none());
        probe.start(&host, &disks);
        assert!(probe.rate(&host, &disks).is_none());
        let (start, before) = probe.0.unwrap();
        assert_eq!(before, 105);
        probe.0 = Some((start.checked_sub(Duration::from_secs(1)).unwrap(), before));
        stat(1100);
        let rate = probe.rate(&host, &disks).unwrap();
        assert!((900.0..=1000.0).contains(&rate.iops), "{}", rate.iops);
    }
}
