//! The figures of a report unit: one worker, or several merged workers.

use super::classes::LatencyClasses;
use super::direction::{self, DirectionMetrics};
use super::exchange;
use super::latency::{LatencyStats, merged};
use super::steady::SteadyMetrics;
use super::window::{busy, common_ns, union_ns};
use record::{
    BlockStates, Direction, ErrorCount, Exchange, GroupKey, JobRecord, LatencyDepth, PerDirection,
    SharedStamps, Show, SizeMap,
};

/// Figures of one report unit. A merged unit has the name and options of its first worker's job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitMetrics {
    /// Name of its (first) job.
    pub name: String,
    /// `description` of that job.
    pub description: String,
    /// Group and report it belongs to.
    pub group: GroupKey,
    /// Options of that job, as typed.
    pub options: Vec<(String, String)>,
    /// What that job asks the report to show.
    pub show: Show,
    /// The job's start clock when its first worker began, in milliseconds.
    pub start_clock_ms: u64,
    /// The states of blocks with counted trims.
    pub blocks: Option<BlockStates>,
    /// Workers in it.
    pub workers: u32,
    /// Thread id of the first.
    pub tid: u32,
    /// (job name, workers of that job) merged here, in order.
    pub merged: Vec<(String, u32)>,
    /// Figures per direction.
    pub directions: PerDirection<DirectionMetrics>,
    /// All directions together, when `unified_rw_reporting` asks for them.
    pub mixed: Option<DirectionMetrics>,
    /// Synchronisations.
    pub sync: SyncMetrics,
    /// Zones that were reset before they were written again; `None` without `zonemode=zbd`.
    pub zone_resets: Option<u64>,
    /// Completion latencies of all directions by class.
    pub latency_classes: LatencyClasses,
    /// Queue depth.
    pub depth: DepthMetrics,
    /// Stamps that end one I/O and begin the next.
    pub shared_stamps: SharedStamps,
    /// CPU use.
    pub cpu: CpuMetrics,
    /// Sum of the workers' measured windows, in nanoseconds.
    pub job_runtime_ns: u64,
    /// From the first worker's thread start to the last one's end, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time in which at least one worker ran, in nanoseconds.
    pub busy_ns: u64,
    /// Time in which all workers ran, in nanoseconds.
    pub common_ns: u64,
    /// errno that ended its first failed worker; without one that of the first error the job went
    /// on after, as with fio; or 0.
    pub error: i32,
    /// Errors by kind.
    pub errors: Vec<ErrorCount>,
    /// What watching for steadiness gave, of all its workers together.
    pub steady: Option<SteadyMetrics>,
    /// What the search of its first worker for the depth its latency allows gave.
    pub latency_depth: Option<LatencyDepth>,
    /// What was asked of an object store.
    pub exchange: Option<Exchange>,
}

impl UnitMetrics {
    /// I/Os that failed, of every kind.
    pub fn total_errors(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}

/// Synchronisations of a unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncMetrics {
    /// How many.
    pub count: u64,
    /// Their latency; `None` when there were none.
    pub latency: Option<LatencyStats>,
}

/// Queue depth of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthMetrics {
    /// iodepth its (first) job asked for.
    pub requested: u32,
    /// I/Os in flight a worker, mean over the workers' measured time.
    pub achieved_mean: f64,
    /// Percentages of I/Os issued at depth 1, 2–3, 4–7, 8–15, 16–31, 32–63, 64 and above.
    pub level: [f64; 7],
    /// Percentages of submissions of 0, 1–4, 5–8, 9–16, 17–32, 33–64 and more I/Os.
    pub submit: [f64; 7],
    /// Percentages of reaps of 0, 1–4, 5–8, 9–16, 17–32, 33–64 and more I/Os.
    pub complete: [f64; 7],
}

/// CPU use of a unit. Percentages are of the workers' measured time, so 100 is one CPU a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuMetrics {
    /// User mode, in percent.
    pub user: f64,
    /// Kernel, in percent.
    pub system: f64,
    /// Runnable but waiting for a CPU, in percent, where the kernel says.
    pub run_delay: Option<f64>,
    /// Context switches.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

fn blocks(jobs: &[&JobRecord]) -> Option<BlockStates> {
    let mut counted = jobs.iter().filter_map(|job| job.blocks.as_ref());
    let mut all = counted.next()?.clone();
    counted.for_each(|more| all.add(more));
    Some(all)
}

/// Figures of the workers `jobs` (at least one) together.
pub(crate) fn measure(jobs: &[&JobRecord]) -> UnitMetrics {
    let Some(first) = jobs.first() else { return UnitMetrics::default() };
    let mut percentiles = first.percentiles.clone();
    percentiles.sort_by(f64::total_cmp);
    let windows = busy(jobs, &Direction::ALL);
    let errors = errors(jobs);
    let counted = errors.first().map(|error| error.errno);
    let ended = |error: &i32| *error != 0;
    let ran = || jobs.iter().map(|job| job.summed().ran.0);
    UnitMetrics {
        name: first.name.clone(),
        description: first.description.clone(),
        group: first.group,
        options: first.options.clone(),
        show: first.show,
        start_clock_ms: jobs.iter().map(|job| job.start_clock_ms).min().unwrap_or(0),
        blocks: blocks(jobs),
        workers: jobs.iter().map(|job| job.summed().workers).sum(),
        tid: first.tid,
        merged: merged_names(jobs),
        directions: PerDirection::from_fn(|d| direction::measure(jobs, &[d], &percentiles)),
        mixed: (first.show.unified > 0)
            .then(|| direction::measure(jobs, &Direction::ALL, &percentiles)),
        sync: sync(jobs, &percentiles),
        zone_resets: jobs.iter().filter_map(|job| job.zone_resets).reduce(|a, b| a + b),
        latency_classes: LatencyClasses::from_histograms(
            jobs.iter()
                .flat_map(|job| job.results.iter())
                .filter_map(|(_, r)| r.latency.clat.as_ref()),
        ),
        depth: depth(jobs),
        shared_stamps: shared_stamps(jobs),
        cpu: cpu(jobs),
        job_runtime_ns: ran().sum(),
        elapsed_ns: jobs.iter().map(|job| job.elapsed.0).max().unwrap_or(0),
        busy_ns: union_ns(&windows),
        common_ns: common_ns(&windows),
        error: jobs.iter().map(|job| job.error).find(ended).or(counted).unwrap_or(0),
        errors,
        steady: first.steady.as_ref().map(SteadyMetrics::from_result),
        latency_depth: first.latency_depth,
        exchange: exchange::merged(jobs),
    }
}

fn merged_names(jobs: &[&JobRecord]) -> Vec<(String, u32)> {
    let mut names: Vec<(u32, String, u32)> = Vec::new();
    for job in jobs {
        match names.iter_mut().find(|(number, _, _)| *number == job.job) {
            Some(known) => known.2 += job.summed().workers,
            None => names.push((job.job, job.name.clone(), job.summed().workers)),
        }
    }
    names.into_iter().map(|(_, name, workers)| (name, workers)).collect()
}

fn sync(jobs: &[&JobRecord], percentiles: &[f64]) -> SyncMetrics {
    SyncMetrics {
        count: exchange::syncs(jobs).map(|sync| sync.count).sum(),
        latency: merged(exchange::syncs(jobs).map(|sync| &sync.latency))
            .map(|all| LatencyStats::from_histogram(&all, percentiles)),
    }
}

fn depth(jobs: &[&JobRecord]) -> DepthMetrics {
    let shares = |pick: fn(&JobRecord) -> &SizeMap| {
        let mut sum = SizeMap::default();
        jobs.iter().for_each(|job| sum.merge(pick(job)));
        let total = sum.total();
        sum.0.map(|count| if total == 0 { 0.0 } else { count as f64 * 100.0 / total as f64 })
    };
    let time: f64 = jobs.iter().map(|job| job.summed().ran.seconds()).sum();
    let in_flight: f64 =
        jobs.iter().map(|job| job.depth.achieved_mean * job.summed().ran.seconds()).sum();
    DepthMetrics {
        requested: jobs.first().map_or(0, |job| job.depth.requested),
        achieved_mean: if time > 0.0 { in_flight / time } else { 0.0 },
        level: shares(|job| &job.depth.at_issue),
        submit: shares(|job| &job.depth.submit),
        complete: shares(|job| &job.depth.complete),
    }
}

fn shared_stamps(jobs: &[&JobRecord]) -> SharedStamps {
    let mut all = SharedStamps::default();
    jobs.iter().for_each(|job| all.merge(&job.shared_stamps));
    all
}

fn cpu(jobs: &[&JobRecord]) -> CpuMetrics {
    let time: u64 = jobs.iter().map(|job| job.summed().ran.0).sum();
    let percent = |sum: u64| if time == 0 { 0.0 } else { sum as f64 * 100.0 / time as f64 };
    let delays: Option<Vec<u64>> =
        jobs.iter().map(|job| job.cpu.run_delay.map(|delay| delay.0)).collect();
    CpuMetrics {
        user: percent(jobs.iter().map(|job| job.cpu.user.0).sum()),
        system: percent(jobs.iter().map(|job| job.cpu.system.0).sum()),
        run_delay: delays.map(|all| percent(all.iter().sum())),
        context_switches: jobs.iter().map(|job| job.cpu.context_switches).sum(),
        major_faults: jobs.iter().map(|job| job.cpu.major_faults).sum(),
        minor_faults: jobs.iter().map(|job| job.cpu.minor_faults).sum(),
    }
}

/// Errors of all workers, merged by errno and operation, with the place of the first.
pub(crate) fn errors(jobs: &[&JobRecord]) -> Vec<ErrorCount> {
    let mut all = Vec::new();
    jobs.iter().for_each(|job| ErrorCount::add_all(&mut all, &job.errors));
    all
}
