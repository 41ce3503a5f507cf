//! `fathom examples`: the job files that come with the program.

use crate::output::Output;
use anyhow::Result;
use clap::Args;
use job::examples::{self, EXAMPLES as FILES, Example};
use runner::Refusal;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom examples
  fathom examples etcd-fsync
  fathom examples database
  fathom run --example etcd-fsync .";

/// Below a list in a terminal.
const RUN: &str = "
Run one:  fathom run --example NAME DIRECTORY
Its files stay for the next run; --unlink=1 removes them.
";

/// Arguments of `fathom examples`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Print the example of this name, or list those that mention this word.
    name: Option<String>,
}

/// Lists the examples, or prints one. 0; 2: there is no such example.
pub fn main(arguments: &Arguments) -> Result<u8> {
    // A script reads one example a line.
    let run = if Output::Stdout.is_terminal() { RUN } else { "" };
    let text = match &arguments.name {
        Some(name) => match (examples::example(name), list(examples::mentioning(name))) {
            (Ok(example), _) => example.text.to_owned(),
            (Err(why), listed) if listed.is_empty() => return Err(Refusal::usage(why)),
            (Err(_), listed) => listed + run,
        },
        None => list(FILES.iter()) + run,
    };
    Output::Stdout.write(&text).map(|()| 0)
}

/// Each name with its question.
fn list(examples: impl Iterator<Item = &'static Example>) -> String {
    let width = FILES.iter().map(|example| example.name.len()).max().unwrap_or(0);
    examples.map(|e| format!("{:width$}  {}\n", e.name, e.question())).collect()
}
