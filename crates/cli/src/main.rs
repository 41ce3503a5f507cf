//! fathom: job text → Job → Plan → RunRecord → Judged → report.

mod app;
mod archive;
mod call;
mod checksums;
mod client;
mod clocks;
mod compare;
mod debug;
mod diagnose;
mod exit;
mod follow;
mod fronts;
mod gate;
mod idle;
mod inputs;
mod inspect;
mod interims;
mod kernel;
mod knee;
mod metrics;
mod output;
mod picture;
mod plot;
mod precondition;
mod repeat;
mod replay;
mod report;
mod runner;
mod runs;
mod s3;
mod serve;
mod server;
mod several;
mod signals;
mod spine;
mod sweep;
mod test;
mod ticker;
mod trend;
mod trigger;
mod trim;
mod watch;
mod wire;

use clap::{Args, Parser, Subcommand};
use job::Dialect;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// A storage benchmark that cannot be fooled and does not fool its user.
#[derive(Parser)]
#[command(name = "fathom", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What a command that reads its own options was given.
#[derive(Args)]
struct Words {
    /// Options and operands of that tool; its own help lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

#[derive(Subcommand)]
enum Command {
    /// Test the storage under a path: one table, what limits it, what to believe. Safe on a
    /// filesystem in use.
    Test(test::Arguments),
    /// Run job files and jobs given as options (fio's), and report.
    #[command(disable_help_flag = true)]
    Run(Words),
    /// Say what is under a path and what that means for a benchmark; changes nothing.
    Inspect(inspect::Inspect),
    /// Find out in five steps why the storage under a path is slow.
    Diagnose(diagnose::Arguments),
    /// Time work of real life: archives, compilation, databases. In phases, cold where asked, with
    /// the gain over a reference.
    App(Box<app::Arguments>),
    /// Carry out one phase of `fathom app`.
    #[command(name = "app-step", hide = true)]
    AppStep(app::step::Arguments),
    /// Find the queue depth beyond which latency grows faster than throughput, or the deepest within a
    /// bound on latency.
    Knee(knee::Arguments),
    /// Compare two records, or sets of them, with intervals: what is faster, slower, or not shown to
    /// differ.
    Compare(compare::Arguments),
    /// Run one job over values of its options, and compare: every cell several times, interleaved.
    #[command(disable_help_flag = true)]
    Sweep(Words),
    /// Draw records over what was varied in them: heat map, surface, lines or bars, as SVG or PNG.
    Plot(plot::Arguments),
    /// Write the report on records: one HTML file that holds everything, a table, or a picture.
    Report(report::Arguments),
    /// List archived runs, and show, label, export, import or remove them.
    Runs(runs::Arguments),
    /// Show how a figure of archived runs went over time: levels, changes, and what changed on the
    /// machine then.
    Trend(trend::Arguments),
    /// Show what the machine does now: each disk under a path with its legs, CPUs, memory, waiting.
    Watch(watch::Arguments),
    /// Show the archive of runs as web pages, and runs as they go on; on this machine alone unless
    /// told otherwise.
    Serve(serve::Arguments),
    /// Overwrite a device or file until it is as steady as after long use.
    Precondition(precondition::Arguments),
    /// Measure an S3 object store: put, get, stat, list, delete, mixed, multipart, with as many
    /// requests in flight as asked for.
    S3(Box<s3::Arguments>),
    /// Tell the disks under a filesystem what is free, or a device to forget all: a dry run unless
    /// --commit is given.
    Trim(trim::Arguments),
    /// Copy as dd does, with its last lines, and what they are worth. Also when called as `dd`.
    #[command(disable_help_flag = true)]
    Dd(Words),
    /// Time reads as hdparm -t and -T do, and say what that is worth. Also when called as `hdparm`.
    #[command(disable_help_flag = true)]
    Hdparm(Words),
    /// Be DISKSPD: its command line, its profiles and its results, then what they are worth. Also
    /// when called as `diskspd`.
    #[command(disable_help_flag = true)]
    Diskspd(Words),
    /// Be fio: its command line, its output and nothing else. Also when called as `fio`.
    #[command(disable_help_flag = true)]
    Fio(Words),
    /// Be IOzone: its tests and tables, and what answered each of them. Also when called as `iozone`.
    #[command(disable_help_flag = true)]
    Iozone(Words),
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let called = arguments.next().unwrap_or_default();
    let called = Path::new(&called).file_stem().and_then(OsStr::to_str);
    if called == Some("fio") {
        return spine::main(Dialect::Fio, arguments.collect());
    }
    if let Some(front) = called.and_then(fronts::called) {
        return fronts::main(front, arguments.collect());
    }
    match Cli::parse().command {
        Command::Test(arguments) => test::main(&arguments),
        Command::Diagnose(arguments) => diagnose::main(&arguments),
        Command::App(arguments) => app::main(&arguments),
        Command::AppStep(arguments) => app::step::main(&arguments),
        Command::Knee(arguments) => knee::main(&arguments),
        Command::Compare(arguments) => compare::main(&arguments),
        Command::Sweep(words) => sweep::main(words.arguments),
        Command::Serve(arguments) => serve::main(&arguments),
        Command::S3(arguments) => s3::main(&arguments),
        Command::Trim(arguments) => trim::main(&arguments),
        Command::Plot(arguments) => plot::main(&arguments),
        Command::Report(arguments) => report::main(&arguments),
        Command::Precondition(arguments) => precondition::main(&arguments),
        Command::Runs(arguments) => runs::main(&arguments),
        Command::Trend(arguments) => trend::main(&arguments),
        Command::Watch(arguments) => watch::main(&arguments),
        Command::Run(words) => spine::main(Dialect::Fathom, words.arguments),
        Command::Inspect(arguments) => inspect::main(arguments),
        Command::Dd(words) => fronts::main(fronts::dd::main, words.arguments),
        Command::Hdparm(words) => fronts::main(fronts::hdparm::main, words.arguments),
        Command::Diskspd(words) => fronts::main(fronts::diskspd::main, words.arguments),
        Command::Fio(words) => spine::main(Dialect::Fio, words.arguments),
        Command::Iozone(words) => fronts::main(fronts::iozone::main, words.arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_man_page_names_every_command() {
        let page = job::docs::man();
        let (_, commands) = page.split_once(".SH COMMANDS").unwrap();
        let (commands, _) = commands.split_once(".SH OPTIONS").unwrap();
        let names: Vec<&str> = commands.split(|sign: char| !sign.is_alphanumeric()).collect();
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(names.contains(&command.get_name()), "{}", command.get_name());
        }
    }
}
