//! What is counted, and how much of it.

use super::job::Job;

/// How much slower the later side is made.
pub const SLOWER: f64 = 0.10;
/// Runs of each side where nothing is known of their spread.
pub const RUNS: u32 = 5;
/// Runs whose mean stands for the truth.
pub const MANY: usize = 200;

/// What was counted of one job.
pub struct Counted {
    pub job: &'static Job,
    /// Comparisons of equal runs that called a difference.
    pub false_calls: u32,
    /// Runs of each side, as advised for each comparison with a slower side.
    pub runs: Vec<u32>,
    /// Comparisons with a slower side that called it slower.
    pub found: u32,
    /// Their ratios.
    pub ratios: Vec<f64>,
}
