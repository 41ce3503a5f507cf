//! `fathom examples`: the job files that come with the program.

use crate::output::Output;
use anyhow::Result;
use clap::Args;
use job::examples::{self, EXAMPLES as FILES};
use runner::Refusal;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom examples
  fathom examples etcd-fsync
  fathom run --example etcd-fsync .";

/// Arguments of `fathom examples`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Print this example.
    name: Option<String>,
}

/// Lists the examples, or prints one. 0; 2: there is no such example.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let text = match &arguments.name {
        Some(name) => examples::example(name).map_err(Refusal::usage)?.text.to_owned(),
        None => list(),
    };
    Output::Stdout.write(&text).map(|()| 0)
}

/// Each name with its question.
fn list() -> String {
    let width = FILES.iter().map(|example| example.name.len()).max().unwrap_or(0);
    FILES.iter().map(|e| format!("{:width$}  {}\n", e.name, e.question())).collect()
}
