//! `--idle-prof`: times the unit of work that measures idle CPU time.

use record::IdleProfile;
use std::hint::black_box;
use std::time::Instant;

/// Number of timings of the unit.
const ROUNDS: usize = 200;

/// Bytes that the unit sums.
const UNIT: usize = 4096;

/// Times the unit of work: 16 sums over a page. Leaves out the slowest tenth, which was probably
/// interrupted.
pub fn calibrate(per_cpu: bool) -> IdleProfile {
    let page = [0x5a_u8; UNIT];
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| unit(&page)).collect();
    times.sort_by(f64::total_cmp);
    times.truncate(ROUNDS * 9 / 10);
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
    IdleProfile { per_cpu, unit_mean_us: mean, unit_stddev_us: variance.sqrt() }
}

/// Microseconds one unit takes.
fn unit(page: &[u8; UNIT]) -> f64 {
    let begin = Instant::now();
    for round in 0..16_u64 {
        let sum = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        black_box(black_box(page).iter().fold(round, sum));
    }
    begin.elapsed().as_secs_f64() * 1e6
}
