//! `cargo xtask`: the project's own commands. They stand in Rust beside the code they serve, so
//! they run wherever the project builds.

mod bench;
mod book;
mod bpf;
mod cargo;
mod comparisons;
mod dist;
mod docs;
mod fleet;
mod fuzz;
mod interrupt;
mod lab;
mod powercut;
mod predict;
mod recording;
mod rooms;
mod rust_text;
mod selection;
mod test;
mod tidy;
mod truth;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// fathom's development commands.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything that must pass before a change lands: format, lints, tidy, tests.
    Test(test::Options),
    /// Check the rules of the house that the compiler does not know.
    Tidy,
    /// Measure our program against fio, turn by turn.
    Bench(bench::Options),
    /// Boot a guest with devices this machine lacks: health of disks, engines that speak to devices.
    Lab(lab::Options),
    /// Cut the power of a guest whose disks honour flushes or lie, and check what is found.
    Powercut(powercut::Options),
    /// Hold the engines of Ceph against a cluster of one node.
    Ceph,
    /// Start ranks by Slurm's srun on this machine, as one node.
    Slurm,
    /// Make situations whose limit is known, and count where the verdict is right.
    Truth(truth::Options),
    /// Compare equal and unequal runs, and count where the comparison is right.
    Comparisons(comparisons::Options),
    /// Predict the speed of applications on other storage from their models, and count how far off that is.
    Predict(predict::Options),
    /// Start many ranks on this machine by both MPI launchers, and count where their measurement is right.
    Fleet(fleet::Options),
    /// Damage inputs for a parser until it fails or time is up.
    Fuzz(fuzz::Options),
    /// Make the packages that users install, and check them.
    Dist(dist::Options),
    /// Compile the BPF programs that time the layers of an I/O; needs clang and llvm.
    Bpf,
    /// Record `fathom test` in a terminal, for the README.
    Recording(recording::Options),
    /// Build the guide from docs/ with mdBook.
    Book,
    /// Write the documents that are made from tables: options, checks, crates.
    Docs,
}

fn main() -> ExitCode {
    let root = workspace::root();
    let done = match Args::parse().command {
        Command::Test(options) => test::run(&root, &options),
        Command::Tidy => tidy::run(&root).map(|clean| u8::from(!clean)),
        Command::Bench(options) => bench::run(&root, &options).map(|()| 0),
        Command::Lab(options) => lab::run(&root, &options).map(|()| 0),
        Command::Powercut(options) => powercut::run(&root, &options).map(|()| 0),
        Command::Ceph => test::ceph(&root),
        Command::Slurm => test::slurm(&root),
        Command::Truth(options) => truth::run(&root, &options).map(|()| 0),
        Command::Comparisons(options) => comparisons::run(&root, &options).map(|()| 0),
        Command::Predict(options) => predict::run(&root, &options).map(|()| 0),
        Command::Fleet(options) => fleet::run(&root, &options).map(|()| 0),
        Command::Fuzz(options) => fuzz::run(&root, &options),
        Command::Dist(options) => dist::run(&root, &options).map(|()| 0),
        Command::Bpf => bpf::build(&root).map(|()| 0),
        Command::Recording(options) => recording::record(&root, &options).map(|()| 0),
        Command::Book => book::build(&root),
        Command::Docs => docs::write(&root).map(|()| 0),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
