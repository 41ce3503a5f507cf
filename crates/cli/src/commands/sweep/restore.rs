//! `fathom sweep --restore`: restores settings that killed sweeps left changed.

use super::settings::to_refusal;
use crate::output::Output;
use anyhow::Result;
use host::Host;
use runner::Refusal;
use tuning::RestoreReport;

/// Restores what sweeps noted whose process has ended, and reports it.
///
/// # Errors
/// A job on the command line; a state directory that cannot be read or trusted.
pub fn restore(as_json: bool, job: &[String]) -> Result<u8> {
    if let Some(first) = job.first() {
        return Err(Refusal::usage(format!("'{first}': --restore takes no job; leave it out")));
    }
    let state = tuning::state_directory().map_err(to_refusal)?;
    let restored = tuning::restore_leftovers(&Host::at("/"), &state).map_err(to_refusal)?;
    let is_complete = restored.failed.is_empty();
    Output::Stdout.write(&match as_json {
        true => report::json::sweep::restored(&restored.done, &restored.failed, &restored.left),
        false => text(&restored),
    })?;
    Ok(if is_complete { 0 } else { crate::exit::ERRORS })
}

fn text(restored: &RestoreReport) -> String {
    let RestoreReport { done, failed, left } = restored;
    if done.is_empty() && failed.is_empty() && left.is_empty() {
        return "nothing to restore: no sweep left a setting changed\n".into();
    }
    let lines = done
        .iter()
        .cloned()
        .chain(left.iter().map(|line| format!("left alone: {line}")))
        .chain(failed.iter().map(|line| format!("not restored: {line}")));
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_separates_restored_failed_and_skipped_settings() {
        let one = |line: &str| vec![line.to_owned()];
        let restored = RestoreReport { done: one("a"), failed: one("b"), left: one("c") };
        assert_eq!(text(&restored), "a\nleft alone: c\nnot restored: b\n");
        assert!(text(&RestoreReport::default()).starts_with("nothing to restore"));
    }
}
