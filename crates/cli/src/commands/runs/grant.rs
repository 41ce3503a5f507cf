//! `fathom runs grant`.

use super::access::{open, refused};
use crate::output::write_stderr;
use anyhow::Result;
use archive::{Choice, Role};
use clap::{Args, ValueEnum};

/// Arguments of `fathom runs grant`.
#[derive(Args)]
pub struct Arguments {
    /// What the role may do.
    #[arg(value_enum)]
    rights: Rights,
    /// A role of the server, which CREATE ROLE made.
    #[arg(value_name = "ROLE")]
    role: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rights {
    /// List and show runs.
    Reader,
    /// Also add, label and judge runs; remove none.
    Writer,
}

/// Grants the rights.
///
/// # Errors
/// When the archive is a file, the role is not known, or the user may not grant.
pub fn main(arguments: &Arguments, choice: &Choice) -> Result<()> {
    let (rights, what) = match arguments.rights {
        Rights::Reader => (Role::Reader, "read"),
        Rights::Writer => (Role::Writer, "read and add runs"),
    };
    let archive = open(choice)?;
    archive.grant(rights, &arguments.role).map_err(refused)?;
    write_stderr(&format!("{} may {what} in {}\n", arguments.role, archive.path().display()));
    Ok(())
}
