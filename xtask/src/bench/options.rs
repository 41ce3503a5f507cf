//! What to measure, how long, against what.

use super::{capture, s3, targets};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What to measure, how long, against what.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    pub other: Option<Other>,
    /// fio to measure against.
    #[arg(long, value_name = "PATH", default_value = "fio")]
    pub fio: PathBuf,
    /// Measure this program as ours instead of building it; a second fio here shows what the
    /// comparison itself is worth.
    #[arg(long, value_name = "PATH")]
    pub fathom: Option<PathBuf>,
    /// Rounds of each case.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(5..))]
    pub rounds: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// Only cases whose name holds one of these words.
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Directory for the file on disk.
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub dir: PathBuf,
    /// Size of the file on disk: bytes, or with k, m, g.
    #[arg(long, default_value = "1g", value_parser = targets::parse_size)]
    pub size: u64,
    /// Measure the front ends against hdparm and dd instead, on zram.
    #[arg(long, conflicts_with_all = ["fio", "seconds", "cases", "dir", "size"])]
    pub tools: bool,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What is measured beside something else than fio.
#[derive(Subcommand)]
pub enum Other {
    /// Measure what object storage costs the client, beside the least that it can cost.
    S3(s3::Options),
    /// Measure what a capture costs the application that is captured.
    Capture(capture::Options),
}
