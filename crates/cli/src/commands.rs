//! The subcommands, a file or folder each. The list in `subcommands!` is the only one.

mod app;
mod app_step;
mod capture;
mod compare;
mod compat;
mod diagnose;
mod examples;
mod inspect;
mod knee;
mod manual;
mod model;
mod names;
mod plot;
mod powercut;
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
mod validate;
mod watch;
mod welcome;

use anyhow::Result;
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use job::Dialect;
use std::ffi::OsString;
use std::path::Path;

/// The arguments of a command with an option parser of its own.
#[derive(Args)]
pub struct RawArguments {
    /// Options and operands; see --help of the command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Makes the enum that clap parses and the call of each command from one list of documentation, name,
/// type of the arguments and function.
macro_rules! subcommands {
    ($($(#[$attribute:meta])* $name:ident($arguments:ty) => $main:expr,)*) => {
        /// The subcommands of fathom.
        #[derive(Subcommand)]
        pub enum Command {
            $($(#[$attribute])* $name($arguments),)*
        }

        impl Command {
            fn run(&self) -> Result<u8> {
                match self {
                    $(Command::$name(arguments) => $main(arguments),)*
                }
            }
        }
    };
}

/// Version, commit and profile of the build, such as `0.1.0 (1f2e3d4c5b6a, dist)`.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("FATHOM_BUILD"), ")");

/// A storage benchmark that cannot be fooled and does not fool its user.
#[derive(Parser)]
#[command(name = "fathom", version = VERSION)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

impl Cli {
    /// Runs the command; without one, shows what can be done here.
    ///
    /// # Errors
    /// When the command fails; [`crate::error`] has the exit code.
    pub fn run(&self) -> Result<u8> {
        self.command.as_ref().map_or_else(welcome::main, Command::run)
    }
}

/// Help of a command: what it is for, examples, then the options.
const HELP: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The command line.
///
/// # Errors
/// What is wrong with it, with a tip where a path or a job file stands in place of a command.
pub fn parse() -> Result<Cli, clap::Error> {
    let matched = program().try_get_matches();
    matched.and_then(|mut found| Cli::from_arg_matches_mut(&mut found)).map_err(|mut error| {
        if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
            let command = match Path::new(word) {
                path if path.is_dir() => Some("test"),
                path if path.is_file() => Some("run"),
                _ => None,
            };
            if let Some(command) = command {
                let tip = format!("'{word}' is a path; try 'fathom {command} {word}'");
                let tips = ContextValue::StyledStrs(vec![tip.into()]);
                error.insert(ContextKind::Suggested, tips);
            }
        }
        error
    })
}

/// The program with its subcommands, as clap parses it.
pub fn program() -> clap::Command {
    Cli::command().mut_subcommands(|command| command.help_template(HELP))
}

subcommands! {
    /// Test the storage under a path: one table, its bottleneck, and how reliable the figures are. Safe
    /// on a filesystem in use.
    Test(test::Arguments) => test::main,
    /// Run jobs from files or options (those of fio), and report.
    #[command(disable_help_flag = true)]
    Run(RawArguments) => |raw: &RawArguments| Ok(run::main(Dialect::Fathom, &raw.words)),
    /// List the job files that come with fathom, each with the question that it answers, or print one.
    Examples(examples::Arguments) => examples::main,
    /// Show the storage under a path and what it means for a benchmark; changes nothing.
    Inspect(inspect::Arguments) => inspect::main,
    /// Find in five steps why the storage under a path is slow.
    Diagnose(diagnose::Arguments) => diagnose::main,
    /// Time applications in phases: archiving, compilation, databases; optionally with cold caches or
    /// compared with a reference.
    App(Box<app::Arguments>) => app::main,
    /// Carry out one phase of `fathom app`.
    #[command(hide = true)]
    AppStep(app_step::Arguments) => app_step::main,
    /// Record what applications ask of storage and what reaches the devices; show and convert such
    /// traces.
    Capture(capture::Arguments) => capture::main,
    /// Find the queue depth beyond which latency grows faster than throughput, or the deepest one within
    /// a latency limit.
    Knee(knee::Arguments) => knee::main,
    /// Compare two records or sets, with confidence intervals: what is faster, slower, or not proven to
    /// differ.
    Compare(compare::Arguments) => compare::main,
    /// Run one job with several values of its options, and compare: every combination several times,
    /// interleaved.
    #[command(disable_help_flag = true)]
    Sweep(RawArguments) => |raw: &RawArguments| sweep::main(&raw.words),
    /// Draw figures of records over the options that vary: heat map, surface, lines or bars, as SVG or
    /// PNG.
    Plot(plot::Arguments) => plot::main,
    /// Write a report on records: a self-contained HTML file, a table, or a picture.
    Report(report::Arguments) => report::main,
    /// Model the workload of a trace: phases, streams, locality, arrivals; write a job that asks the same.
    Model(model::Arguments) => model::main,
    /// Run a job and score how close it comes to the trace of an application.
    Validate(validate::Arguments) => validate::main,
    /// List archived runs, and show, label, export, import or remove them.
    Runs(runs::Arguments) => runs::main,
    /// Show how a figure of archived runs changed over time, and what changed on the machine then.
    Trend(trend::Arguments) => trend::main,
    /// Show live figures of the machine: each disk under a path with its members, CPUs, memory, I/O wait.
    Watch(watch::Arguments) => watch::main,
    /// Serve the archive and runs in progress as web pages, by default only to this machine.
    Serve(serve::Arguments) => serve::main,
    /// Overwrite a device or file until it reaches the steady state of long use.
    Precondition(precondition::Arguments) => precondition::main,
    /// Cut the power while writes go on, and find which acknowledged writes the storage lost: keep the
    /// promises on another machine, write, check.
    Powercut(Box<powercut::Arguments>) => |arguments: &powercut::Arguments| powercut::main(arguments),
    /// Measure an S3 object store: put, get, stat, list, delete, mixed, multipart, with the given
    /// number of requests in flight.
    S3(Box<s3::Arguments>) => s3::main,
    /// Discard the free blocks of a filesystem, or all blocks of a device: a dry run unless --commit
    /// is given.
    Trim(trim::Arguments) => trim::main,
    /// Print the man page of the program or of a command, in roff.
    Man(manual::ManArguments) => |arguments: &manual::ManArguments| manual::man(arguments, program()),
    /// Print completions for bash, zsh, fish and other shells.
    Completions(manual::CompletionArguments) => |arguments: &manual::CompletionArguments| manual::completions(arguments, program()),
    /// Print names that completions complete.
    #[command(hide = true)]
    Names(names::Arguments) => names::main,
    /// Run as dd: same operands, same last lines, then how reliable they are. Also when called as `dd`.
    #[command(disable_help_flag = true)]
    Dd(RawArguments) => |raw: &RawArguments| compat::main(compat::dd::main, &raw.words),
    /// Run as hdparm -t and -T: same lines, then how reliable they are. Also when called as `hdparm`.
    #[command(disable_help_flag = true)]
    Hdparm(RawArguments) => |raw: &RawArguments| compat::main(compat::hdparm::main, &raw.words),
    /// Run as DISKSPD: same options, profiles and results, then how reliable they are. Also when called
    /// as `diskspd`.
    #[command(disable_help_flag = true)]
    Diskspd(RawArguments) => |raw: &RawArguments| compat::main(compat::diskspd::main, &raw.words),
    /// Run as fio: same options, same output. Also when called as `fio`.
    #[command(disable_help_flag = true)]
    Fio(RawArguments) => |raw: &RawArguments| Ok(run::main(Dialect::Fio, &raw.words)),
    /// Run IO500, also under mpirun: its 12 phases of IOR, mdtest and find, its score, then what it
    /// leaves out. Also when called as `io500`.
    #[command(disable_help_flag = true)]
    Io500(RawArguments) => |raw: &RawArguments| compat::main(compat::io500::main, &raw.words),
    /// Run as IOR, also under mpirun: same options, tables and summary, then what they leave out. Also
    /// when called as `ior`.
    #[command(disable_help_flag = true)]
    Ior(RawArguments) => |raw: &RawArguments| compat::main(compat::ior::main, &raw.words),
    /// Run as IOzone: same tests and tables, then what answered each of them. Also when called as
    /// `iozone`.
    #[command(disable_help_flag = true)]
    Iozone(RawArguments) => |raw: &RawArguments| compat::main(compat::iozone::main, &raw.words),
    /// Run as mdtest, also under mpirun: same options and summary, then what they leave out. Also when
    /// called as `mdtest`.
    #[command(disable_help_flag = true)]
    Mdtest(RawArguments) => |raw: &RawArguments| compat::main(compat::mdtest::main, &raw.words),
}

/// Runs as another tool, with its arguments.
pub type Tool = fn(&[OsString]) -> Result<u8>;

/// The tool with this name, for a program that was called by it.
pub fn named_tool(name: &str) -> Option<Tool> {
    match name {
        "dd" => Some(|words| compat::main(compat::dd::main, words)),
        "diskspd" => Some(|words| compat::main(compat::diskspd::main, words)),
        "fio" => Some(|words| Ok(run::main(Dialect::Fio, words))),
        "hdparm" => Some(|words| compat::main(compat::hdparm::main, words)),
        "io500" => Some(|words| compat::main(compat::io500::main, words)),
        "ior" => Some(|words| compat::main(compat::ior::main, words)),
        "iozone" => Some(|words| compat::main(compat::iozone::main, words)),
        "mdtest" => Some(|words| compat::main(compat::mdtest::main, words)),
        _ => None,
    }
}
