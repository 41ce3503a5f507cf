//! Errors of commands: how they are printed, and the exit code of each.

use crate::exit;
use crate::output::write_stderr;
use runner::{Refusal, RefusalKind, describe};

/// Prints an error and returns its exit code.
pub fn fail(error: &anyhow::Error) -> u8 {
    write_stderr(&format!("fathom: error: {}\n", describe(error)));
    exit_code(error)
}

/// The exit code of an error: that of a refusal, else 1.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        return match refusal.kind {
            RefusalKind::Usage => exit::USAGE,
            RefusalKind::Target => exit::REFUSED,
            RefusalKind::Interrupted(signal) => exit::interrupted(signal, false),
        };
    }
    let planned = error.downcast_ref::<plan::PlanError>().map(|error| error.exit_code() as u8);
    planned.unwrap_or(exit::ERRORS)
}
