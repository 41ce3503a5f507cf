//! The subcommands, a file or folder each. [`subcommands!`] is the one list of them.

mod app;
mod app_step;
mod compare;
mod compat;
mod diagnose;
mod inspect;
mod knee;
mod manual;
mod plot;
mod precondition;
mod report;
mod run;
mod runs;
mod s3;
mod serve;
mod sweep;
mod test;
mod trend;
mod trim;
mod watch;

use anyhow::Result;
use clap::{Args, Subcommand};
use job::Dialect;
use std::ffi::OsString;

/// The arguments of a command that parses its own options.
#[derive(Args)]
pub struct RawArguments {
    /// Options and operands of that tool; its own help lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Makes the enum that clap parses, and the call of each command, from one list: documentation, name,
/// type of the arguments, function.
macro_rules! subcommands {
    ($($(#[$attribute:meta])* $name:ident($arguments:ty) => $main:expr,)*) => {
        /// The subcommands of fathom.
        #[derive(Subcommand)]
        pub enum Command {
            $($(#[$attribute])* $name($arguments),)*
        }

        impl Command {
            /// Runs the command.
            ///
            /// # Errors
            /// Why it could not be done; [`crate::error`] has the exit code.
            pub fn run(&self) -> Result<u8> {
                match self {
                    $(Command::$name(arguments) => $main(arguments),)*
                }
            }
        }
    };
}

subcommands! {
    /// Test the storage under a path: one table, what limits it, what to believe. Safe on a
    /// filesystem in use.
    Test(test::Arguments) => test::main,
    /// Run job files and jobs given as options (fio's), and report.
    #[command(disable_help_flag = true)]
    Run(RawArguments) => |raw: &RawArguments| Ok(run::main(Dialect::Fathom, &raw.words)),
    /// Show what is under a path and what that means for a benchmark; changes nothing.
    Inspect(inspect::Arguments) => inspect::main,
    /// Find out in five steps why the storage under a path is slow.
    Diagnose(diagnose::Arguments) => diagnose::main,
    /// Time applications: archives, compilation, databases. In phases, with cold caches if asked,
    /// with the gain over a reference.
    App(Box<app::Arguments>) => app::main,
    /// Carry out one phase of `fathom app`.
    #[command(hide = true)]
    AppStep(app_step::Arguments) => app_step::main,
    /// Find the queue depth beyond which latency grows faster than throughput, or the deepest within a
    /// bound on latency.
    Knee(knee::Arguments) => knee::main,
    /// Compare two records, or sets of them, with intervals: what is faster, slower, or not shown to
    /// differ.
    Compare(compare::Arguments) => compare::main,
    /// Run one job over values of its options, and compare: every cell several times, interleaved.
    #[command(disable_help_flag = true)]
    Sweep(RawArguments) => sweep::main,
    /// Draw records over the options that vary in them: heat map, surface, lines or bars, as SVG or
    /// PNG.
    Plot(plot::Arguments) => plot::main,
    /// Write the report on records: one HTML file that holds everything, a table, or a picture.
    Report(report::Arguments) => report::main,
    /// List archived runs, and show, label, export, import or remove them.
    Runs(runs::Arguments) => runs::main,
    /// Show how a figure of archived runs changed over time: levels, changes, and what changed on the
    /// machine then.
    Trend(trend::Arguments) => trend::main,
    /// Show what the machine does now: each disk under a path with its members, CPUs, memory, waiting.
    Watch(watch::Arguments) => watch::main,
    /// Serve the archive as web pages, and runs in progress; on this machine alone unless told
    /// otherwise.
    Serve(serve::Arguments) => serve::main,
    /// Overwrite a device or file until it is as steady as after long use.
    Precondition(precondition::Arguments) => precondition::main,
    /// Measure an S3 object store: put, get, stat, list, delete, mixed, multipart, with the given
    /// number of requests in flight.
    S3(Box<s3::Arguments>) => s3::main,
    /// Discard the free blocks of a filesystem, or all blocks of a device: a dry run unless --commit
    /// is given.
    Trim(trim::Arguments) => trim::main,
    /// Print the man page of the program or of a command, in roff.
    Man(manual::ManArguments) => manual::man,
    /// Print completions for bash, zsh, fish and other shells.
    Completions(manual::CompletionArguments) => manual::completions,
    /// Copy as dd does, with its last lines, and what they are worth. Also when called as `dd`.
    #[command(disable_help_flag = true)]
    Dd(RawArguments) => |raw: &RawArguments| compat::main(compat::dd::main, &raw.words),
    /// Time reads as hdparm -t and -T do, and say what that is worth. Also when called as `hdparm`.
    #[command(disable_help_flag = true)]
    Hdparm(RawArguments) => |raw: &RawArguments| compat::main(compat::hdparm::main, &raw.words),
    /// Run as DISKSPD: its command line, its profiles and its results, then what they are worth. Also
    /// when called as `diskspd`.
    #[command(disable_help_flag = true)]
    Diskspd(RawArguments) => |raw: &RawArguments| compat::main(compat::diskspd::main, &raw.words),
    /// Run as fio: same options, same output. Also when called as `fio`.
    #[command(disable_help_flag = true)]
    Fio(RawArguments) => |raw: &RawArguments| Ok(run::main(Dialect::Fio, &raw.words)),
    /// Run as IOzone: its tests and tables, and what answered each of them. Also when called as
    /// `iozone`.
    #[command(disable_help_flag = true)]
    Iozone(RawArguments) => |raw: &RawArguments| compat::main(compat::iozone::main, &raw.words),
}

/// What runs another tool with the words behind its name.
pub type Tool = fn(&[OsString]) -> Result<u8>;

/// The tool whose name this program was called by.
pub fn named_tool(name: &str) -> Option<Tool> {
    match name {
        "dd" => Some(|words| compat::main(compat::dd::main, words)),
        "diskspd" => Some(|words| compat::main(compat::diskspd::main, words)),
        "fio" => Some(|words| Ok(run::main(Dialect::Fio, words))),
        "hdparm" => Some(|words| compat::main(compat::hdparm::main, words)),
        "iozone" => Some(|words| compat::main(compat::iozone::main, words)),
        _ => None,
    }
}
