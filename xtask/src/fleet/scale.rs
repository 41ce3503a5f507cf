//! How much is made.

use clap::Args;

/// How much is made.
#[derive(Args, Clone, Copy)]
pub struct Scale {
    /// Draws of each proof with each launcher.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..))]
    pub draws: u32,
    /// Ranks of a run.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(4..))]
    pub ranks: u32,
    /// The seed of what is drawn at random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}
