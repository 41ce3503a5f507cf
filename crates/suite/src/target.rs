//! The file or device that a suite measures, and the jobs of its runs.

use crate::step::Step;
use record::{Bytes, Cell, Nanos, RunRecord};

/// Time of a run beside its ramp and window: it reads the state of the machine at both ends, starts a
/// thread and waits for the I/O in flight.
const OVERHEAD: Nanos = Nanos::from_millis(150);

/// Name of the run that fills the target before the measurement.
pub(crate) const FILL: &str = "fill";
/// Block size of random I/O.
pub(crate) const SMALL: Bytes = Bytes(4096);
/// Block size of sequential I/O.
pub(crate) const LARGE: Bytes = Bytes(1 << 20);
/// Assumed speed of a fill until it is measured, in bytes a second.
pub(crate) const FILL_SPEED: f64 = 500e6;

/// EINVAL: the error of open(2) if the filesystem does not support O_DIRECT.
const EINVAL: i32 = 22;

/// A file or device, and how runs access it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its path.
    pub path: String,
    /// Whether it supports O_DIRECT.
    pub direct: bool,
    /// The engine of runs that keep several I/Os in flight.
    pub engine: &'static str,
}

impl Target {
    /// A path, opened with O_DIRECT if `direct` is set.
    pub fn new(path: impl Into<String>, direct: bool) -> Target {
        Target { path: path.into(), direct, engine: "io_uring" }
    }

    /// Falls back if the run failed because O_DIRECT or io_uring does not work here, and returns a
    /// sentence about it. `None` if the run succeeded, or failed for another reason.
    pub(crate) fn step_down(&mut self, record: &RunRecord) -> Option<String> {
        let error = record.jobs.iter().find(|job| job.error != 0)?.errors.first()?;
        match error.operation.as_str() {
            "open" if self.direct && error.errno == EINVAL => {
                self.direct = false;
                Some(format!(
                    "{} does not support O_DIRECT: using the page cache, so figures include memory",
                    self.path
                ))
            }
            "use the I/O engine" if self.engine == "io_uring" => {
                self.engine = "libaio";
                Some(format!("io_uring cannot be used here ({}): using libaio", error.text))
            }
            _ => None,
        }
    }

    /// The step that writes the first `size` bytes once, in sequence.
    pub(crate) fn fill(
        &self,
        description: &str,
        size: Bytes,
        seed: u64,
        limit: Option<Nanos>,
    ) -> Step {
        let expected = Nanos((size.0 as f64 / FILL_SPEED * 1e9) as u64);
        let expected = limit.map_or(expected, |limit| expected.min(limit));
        self.step(&JobSpec {
            cell: Cell { name: FILL.into(), round: 0, ..Cell::default() },
            description: description.into(),
            rw: "write",
            block: LARGE,
            region: size,
            depth: 8,
            synchronous: false,
            seed,
            // Each block has different content, and all of it is on the medium before the next run.
            more: vec!["--refill_buffers=1", "--end_fsync=1"],
            until: EndCondition::Written { limit, expected },
        })
    }

    /// The step that runs a job on this target.
    pub(crate) fn step(&self, run: &JobSpec) -> Step {
        let option = |name: &str, value: &str| format!("--{name}={value}");
        let engine = if run.synchronous { "psync" } else { self.engine };
        let mut arguments = vec![
            option("name", &run.cell.name),
            option("filename", &self.path.replace(':', "\\:")),
            option("rw", run.rw),
            option("bs", &run.block.0.to_string()),
            option("size", &run.region.0.to_string()),
            option("ioengine", engine),
            option("iodepth", &run.depth.to_string()),
            option("direct", if self.direct { "1" } else { "0" }),
            // The option holds 63 bits.
            option("randseed", &(run.seed >> 1).to_string()),
        ];
        // Only the percentiles that reports show.
        arguments.push(option("percentile_list", "50:99:99.9"));
        arguments.extend(run.more.iter().map(|more| (*more).to_owned()));
        arguments.extend(run.until.options());
        let duration = match run.until {
            EndCondition::Time { ramp, time } => ramp + time,
            EndCondition::Written { expected, .. } => expected,
        };
        Step {
            cell: run.cell.clone(),
            description: run.description.clone(),
            arguments,
            duration: duration + OVERHEAD,
        }
    }
}

/// One job of a suite.
pub(crate) struct JobSpec {
    pub cell: Cell,
    pub description: String,
    pub rw: &'static str,
    pub block: Bytes,
    /// Size of the region it accesses, from the start of the target.
    pub region: Bytes,
    pub depth: u32,
    /// Each I/O is a system call (psync).
    pub synchronous: bool,
    pub seed: u64,
    pub more: Vec<&'static str>,
    pub until: EndCondition,
}

/// The condition that ends a job.
#[derive(Clone, Copy)]
pub(crate) enum EndCondition {
    /// After this time.
    Time { ramp: Nanos, time: Nanos },
    /// After its region is written, or after `limit`.
    Written { limit: Option<Nanos>, expected: Nanos },
}

impl EndCondition {
    fn options(self) -> Vec<String> {
        let time = |name: &str, time: Nanos| format!("--{name}={}ms", time.millis().max(1));
        match self {
            EndCondition::Time { ramp, time: length } => vec![
                "--time_based=1".into(),
                time("ramp_time", ramp),
                time("runtime", length),
                // At least ten points: fio's default of half a second gives short runs too few.
                format!("--bwavgtime={}", (length.millis() / 10).clamp(20, 500)),
            ],
            EndCondition::Written { limit, .. } => {
                limit.map(|limit| time("runtime", limit)).into_iter().collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn shape() -> JobSpec {
        JobSpec {
            cell: Cell { name: "randread-d1".into(), round: 2, ..Cell::default() },
            description: "random read".into(),
            rw: "randread",
            block: Bytes(4096),
            region: Bytes(1 << 30),
            depth: 4,
            synchronous: false,
            seed: 7,
            more: vec!["--fsync=1"],
            until: EndCondition::Time {
                ramp: Nanos::from_millis(250),
                time: Nanos::from_millis(2500),
            },
        }
    }

    #[test]
    fn a_step_is_a_job_of_the_command_line() {
        let step = Target::new("/mnt/a:b/x y", true).step(&shape());
        let expected = "--name=randread-d1 --filename=/mnt/a\\:b/x y --rw=randread --bs=4096 \
                        --size=1073741824 --ioengine=io_uring --iodepth=4 --direct=1 --randseed=3 \
                        --percentile_list=50:99:99.9 --fsync=1 --time_based=1 --ramp_time=250ms --runtime=2500ms \
                        --bwavgtime=250";
        assert_eq!(step.arguments.join(" "), expected);
        assert_eq!(step.duration, Nanos::from_millis(2900));
        let written = EndCondition::Written { limit: None, expected: Nanos::SECOND };
        let step = Target::new("x", false).step(&JobSpec { until: written, ..shape() });
        assert!(step.arguments.iter().all(|a| !a.contains("time")));
        assert!(step.arguments.contains(&"--direct=0".to_owned()));
    }

    #[test]
    fn only_what_failed_is_given_up() {
        let failed = |operation, errno| testing::failed("fill", operation, errno);
        let mut target = Target::new("x", true);
        assert_eq!(target.step_down(&failed("open", 13)), None);
        assert_eq!(target.step_down(&failed("write", EINVAL)), None);
        assert!(target.step_down(&failed("open", EINVAL)).is_some_and(|t| t.contains("O_DIRECT")));
        assert!(!target.direct);
        assert_eq!(target.step_down(&failed("open", EINVAL)), None, "given up already");
        assert!(target.step_down(&failed("use the I/O engine", 38)).is_some());
        assert_eq!(target.engine, "libaio");
        assert_eq!(target.step_down(&failed("use the I/O engine", 38)), None);
    }
}
