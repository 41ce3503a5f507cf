//! The shape of a run, drawn at random.

use testbed::Seeded;

/// What a run asks for.
#[derive(Clone, Debug)]
pub struct Shape {
    pub engine: &'static str,
    pub depth: u64,
    pub block: u64,
    pub rw: &'static str,
    pub size: u64,
    pub jobs: u64,
    /// Milliseconds; `None`: the run ends when all of `size` was read or written once.
    pub runtime_ms: Option<u64>,
}

/// Longest run that a size may make; slow disks do about 100 MiB/s.
const SIZE_BOUND_MAX: u64 = 64 << 20;

/// From `low` to `high`, every power of two as likely as another.
pub fn spread(seeded: &mut Seeded, low: u64, high: u64) -> u64 {
    let octaves = (high as f64 / low as f64).log2();
    let share = seeded.between(0, 1_000_000) as f64 / 1e6;
    ((low as f64) * (octaves * share).exp2()).round() as u64
}

/// A power of two from `low` to `high`.
pub fn power(seeded: &mut Seeded, low: u64, high: u64) -> u64 {
    let octaves = u64::from((high / low).ilog2());
    low << seeded.between(0, octaves)
}

impl Shape {
    /// A shape for a disk. Durations are from 10 ms to 10 s, sizes from 1 MiB to 1 GiB.
    pub fn draw(seeded: &mut Seeded, rw: &[&'static str]) -> Shape {
        let engines = ["psync", "sync", "pvsync", "libaio", "io_uring"];
        let engine = engines[seeded.below(engines.len())];
        let waits = !["libaio", "io_uring"].contains(&engine);
        let jobs = if seeded.percent(70) { 1 } else { seeded.between(2, 4) };
        let is_size_bound = seeded.percent(25);
        let size = match (is_size_bound, jobs) {
            (true, _) => power(seeded, 1 << 20, SIZE_BOUND_MAX),
            (false, 1) => power(seeded, 1 << 20, 1 << 30),
            (false, _) => power(seeded, 1 << 20, 128 << 20),
        };
        Shape {
            engine,
            depth: if waits { 1 } else { power(seeded, 1, 64) },
            block: power(seeded, 4096, 256 << 10).min(size / 16),
            rw: rw[seeded.below(rw.len())],
            size,
            jobs,
            runtime_ms: (!is_size_bound).then(|| spread(seeded, 10, 10_000)),
        }
    }

    /// The same with a runtime of at least so many milliseconds.
    pub fn lasting(mut self, seeded: &mut Seeded, least_ms: u64) -> Shape {
        self.runtime_ms = Some(spread(seeded, least_ms, 10_000));
        self
    }

    /// Whether libaio keeps one buffered I/O at a time in flight, in place of as many as the depth says,
    /// for as long as it takes to fill the queue twenty times. Holds of a job that ends by its size.
    pub fn submits_one_by_one(&self) -> bool {
        let filled = self.size / self.block >= 20 * self.depth;
        self.engine == "libaio" && self.depth > 1 && filled
    }

    /// The options.
    pub fn options(&self) -> Vec<String> {
        let mut options = vec![
            format!("--ioengine={}", self.engine),
            format!("--iodepth={}", self.depth),
            format!("--bs={}", self.block),
            format!("--rw={}", self.rw),
            format!("--size={}", self.size),
            format!("--numjobs={}", self.jobs),
            "--group_reporting".to_owned(),
        ];
        if let Some(ms) = self.runtime_ms {
            options.extend(["--time_based".to_owned(), format!("--runtime={ms}ms")]);
        }
        options
    }
}
