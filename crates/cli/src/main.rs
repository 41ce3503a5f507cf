//! fathom: job text → Job → Plan → RunRecord → Judged → report. The way of a run is in the `runner`
//! crate; `commands/` holds a file or folder for each subcommand.

mod archived;
mod commands;
mod error;
mod exit;
mod output;
mod suites;

use clap::{CommandFactory, FromArgMatches, Parser};
use commands::Command;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// A storage benchmark that cannot be fooled and does not fool its user.
#[derive(Parser)]
#[command(name = "fathom", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Help of a command: what it is for, examples, then the options.
const HELP: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The command line of the program.
fn command() -> clap::Command {
    Cli::command().mut_subcommands(|command| command.help_template(HELP))
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let name = Path::new(&name).file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let done = match commands::named_tool(name) {
        Some(tool) => tool(&arguments.collect::<Vec<_>>()),
        None => match Cli::from_arg_matches(&command().get_matches()) {
            Ok(cli) => cli.command.run(),
            Err(error) => error.exit(),
        },
    };
    ExitCode::from(done.unwrap_or_else(|error| error::fail(&error)))
}
