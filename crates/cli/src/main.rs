//! fathom: job text → Job → Plan → RunRecord → Judged → report.

mod call;
mod checksums;
mod client;
mod clocks;
mod compare;
mod debug;
mod diagnose;
mod exit;
mod gate;
mod idle;
mod inputs;
mod inspect;
mod interims;
mod kernel;
mod output;
mod precondition;
mod repeat;
mod replay;
mod runner;
mod server;
mod several;
mod signals;
mod spine;
mod test;
mod ticker;
mod trigger;
mod watch;
mod wire;

use clap::{Parser, Subcommand};
use job::Dialect;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// A storage benchmark that cannot be fooled and does not fool its user.
#[derive(Parser)]
#[command(name = "fathom", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Test the storage under a path: one table, what limits it, what to believe. Safe on a
    /// filesystem in use.
    Test(test::Arguments),
    /// Run job files and jobs given as options (fio's), and report.
    #[command(disable_help_flag = true)]
    Run {
        /// fio's options and job files; `fathom run --help` lists fathom's own.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Say what is under a path and what that means for a benchmark; changes nothing.
    Inspect(inspect::Inspect),
    /// Find out in five steps why the storage under a path is slow.
    Diagnose(diagnose::Arguments),
    /// Compare two records, or sets of them, with intervals: what is faster, slower, or not shown to
    /// differ.
    Compare(compare::Arguments),
    /// Overwrite a device or file until it is as steady as after long use.
    Precondition(precondition::Arguments),
    /// Be fio: its command line, its output and nothing else. Also when called as `fio`.
    #[command(disable_help_flag = true)]
    Fio {
        /// What fio takes.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called_as_fio =
        arguments.next().is_some_and(|name| Path::new(&name).file_stem() == Some("fio".as_ref()));
    if called_as_fio {
        return spine::main(Dialect::Fio, arguments.collect());
    }
    match Cli::parse().command {
        Command::Test(arguments) => test::main(&arguments),
        Command::Diagnose(arguments) => diagnose::main(&arguments),
        Command::Compare(arguments) => compare::main(&arguments),
        Command::Precondition(arguments) => precondition::main(&arguments),
        Command::Run { arguments } => spine::main(Dialect::Fathom, arguments),
        Command::Inspect(arguments) => inspect::main(arguments),
        Command::Fio { arguments } => spine::main(Dialect::Fio, arguments),
    }
}
