//! `fathom inspect`: shows the storage under a path, and what it means for a benchmark.

use crate::output::{Output, describe};
use anyhow::Result;
use clap::Args;
use host::{Host, TargetQuery};
use record::Facts;
use runner::{Refusal, System};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom inspect /data
  fathom inspect --json /dev/nvme0n1";

/// Arguments of `fathom inspect`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Directory, file or block device.
    #[arg(value_name = "PATH|DEVICE", default_value = ".")]
    path: OsString,
    /// Print JSON with all facts.
    #[arg(long)]
    json: bool,
    /// Show the serial numbers of disks.
    #[arg(long)]
    with_serials: bool,
}

/// Shows the storage under the path. Changes nothing.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let facts = facts(arguments).map_err(Refusal::usage)?;
    let path = arguments.path.to_string_lossy();
    let inspection = judge::inspect(&facts, &path);
    let mut output = Output::Stdout;
    let text = match arguments.json {
        true => report::inspect::json(&inspection, &facts),
        false => report::inspect::text(&inspection, output.style()),
    };
    output.write(&text).map(|()| 0)
}

/// An existing path as text, and its metadata. The error names another path to `verb`.
pub fn existing<'a>(path: &'a OsStr, verb: &str) -> Result<(&'a str, Metadata), String> {
    let Some(path) = path.to_str() else {
        let shown = path.to_string_lossy();
        return Err(format!("'{shown}' is not UTF-8 text; give names in UTF-8"));
    };
    if path.is_empty() {
        return Err(format!("the path is empty: name what to {verb}"));
    }
    match fs::metadata(path) {
        Ok(metadata) => Ok((path, metadata)),
        Err(error) => Err(match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => missing(Path::new(path), verb),
            ErrorKind::PermissionDenied => {
                format!(
                    "{path}: may not be looked at; try as root, or name a directory you may enter"
                )
            }
            _ => format!("{path}: {}", describe(&error.into())),
        }),
    }
}

/// The facts about the machine and the path.
fn facts(arguments: &Arguments) -> Result<Facts, String> {
    let (path, metadata) = existing(&arguments.path, "inspect")?;
    // For a directory, will_write also finds the alignment that new files need, with an unnamed file. For
    // a device it would open the device exclusively.
    let query = TargetQuery { path: path.to_owned(), will_write: metadata.is_dir() };
    let mut facts = Host::at("/").with_kernel(Arc::new(System)).facts(&[query]);
    if !arguments.with_serials {
        facts.forget_serials();
    }
    Ok(facts)
}

/// The message about a path that does not exist.
fn missing(path: &Path, verb: &str) -> String {
    let shown = path.display();
    let device = Path::new("/dev").join(path);
    if path.components().count() == 1 && device.exists() {
        return format!("{shown}: not there; for the device say {}", device.display());
    }
    let there = |ancestor: &&Path| ancestor.as_os_str().is_empty() || ancestor.exists();
    let nearest = path.ancestors().skip(1).find(there).unwrap_or(Path::new(""));
    let nearest = if nearest.as_os_str().is_empty() { Path::new(".") } else { nearest };
    let nearest = nearest.display();
    format!("{shown}: not there; make it first, or {verb} {nearest}, the nearest that is there")
}
