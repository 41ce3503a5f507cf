//! Other tools by their own names, a file a tool: what is said and shown is in the `fronts` crate, how
//! it is run is as for every measurement of several runs.

mod carry;
pub mod dd;
pub mod diskspd;
pub mod hdparm;
pub mod iozone;

use crate::several::{self, Refusal};
use crate::spine;
use std::ffi::OsString;
use std::process::ExitCode;

/// A front end: it is given what was typed after its name.
pub type Front = fn(Vec<String>) -> ExitCode;

/// The front end that is another tool, by that tool's name.
pub fn called(name: &str) -> Option<Front> {
    match name {
        "dd" => Some(dd::main),
        "diskspd" => Some(diskspd::main),
        "hdparm" => Some(hdparm::main),
        "iozone" => Some(iozone::main),
        _ => None,
    }
}

/// Is that tool.
pub fn main(front: Front, words: Vec<OsString>) -> ExitCode {
    match spine::texts(words) {
        Ok(words) => front(words),
        Err(text) => ExitCode::from(several::fail(&Refusal::usage(text))),
    }
}
