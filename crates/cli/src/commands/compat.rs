//! Other tools by their own names, a file a tool. Their options and layouts are in the `compat` crate;
//! their runs are made as any suite.

pub mod dd;
pub mod diskspd;
pub mod hdparm;
pub mod iozone;
mod remarks;

use crate::commands::run::command_line::utf8_arguments;
use anyhow::Result;
use runner::Refusal;
use std::ffi::OsString;

/// A front end: takes the arguments of its tool, prints errors in its terms, returns an exit code.
pub type FrontEnd = fn(&[String]) -> u8;

/// Runs a front end with the words behind its name.
///
/// # Errors
/// A word that is not UTF-8.
pub fn main(front_end: FrontEnd, words: &[OsString]) -> Result<u8> {
    let words = utf8_arguments(words).map_err(Refusal::usage)?;
    Ok(front_end(&words))
}
