//! Commands that run as other tools. Options and layouts of the tools are in the `compat` crate.

pub mod dd;
pub mod diskspd;
pub mod hdparm;
pub mod io500;
pub mod ior;
pub mod iozone;
pub mod mdtest;
mod remarks;

use crate::commands::run::command_line::utf8_arguments;
use anyhow::Result;
use runner::Refusal;
use std::ffi::OsString;

/// Runs as a tool: takes its arguments, prints errors in its terms, returns an exit code.
pub type FrontEnd = fn(&[String]) -> u8;

/// Runs a front end with the arguments after its name.
///
/// # Errors
/// When an argument is not UTF-8.
pub fn main(front_end: FrontEnd, words: &[OsString]) -> Result<u8> {
    let words = utf8_arguments(words).map_err(Refusal::usage)?;
    Ok(front_end(&words))
}
