//! fathom: job text → Job → Plan → RunRecord → Judged → report. The way of a run is in the `runner`
//! crate; `commands/` holds a file or folder for each subcommand.

mod archived;
mod commands;
mod error;
mod exit;
mod output;
mod ranks;
mod suites;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let name = Path::new(&name).file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let done = match commands::named_tool(name) {
        Some(tool) => tool(&arguments.collect::<Vec<_>>()),
        None => match commands::parse() {
            Ok(cli) => cli.run(),
            Err(error) => error.exit(),
        },
    };
    ExitCode::from(done.unwrap_or_else(|error| error::fail(&error)))
}
