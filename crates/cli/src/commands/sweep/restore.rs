//! `fathom sweep --restore`: the machine as it was before sweeps that were killed.

use super::machine::failed;
use crate::output::Output;
use anyhow::Result;
use host::Host;
use runner::Refusal;
use tuning::RestoreReport;

/// Puts back what sweeps that live no more noted, and tells of it.
///
/// # Errors
/// A job is given besides; where they note it cannot be read, or is not to be believed.
pub fn restore(as_json: bool, job: &[String]) -> Result<u8> {
    if let Some(first) = job.first() {
        return Err(Refusal::usage(format!("'{first}': --restore runs nothing and takes no job")));
    }
    let state = tuning::state_directory().map_err(failed)?;
    let put_back = tuning::restore_leftovers(&Host::at("/"), &state).map_err(failed)?;
    let is_whole = put_back.failed.is_empty();
    Output::Stdout.write(&match as_json {
        true => report::json::sweep::restored(&put_back.done, &put_back.failed, &put_back.left),
        false => text(&put_back),
    })?;
    Ok(if is_whole { 0 } else { crate::exit::ERRORS })
}

fn text(put_back: &RestoreReport) -> String {
    let RestoreReport { done, failed, left } = put_back;
    if done.is_empty() && failed.is_empty() && left.is_empty() {
        return "nothing to put back: no sweep left the machine changed\n".into();
    }
    let lines = done
        .iter()
        .cloned()
        .chain(left.iter().map(|line| format!("left alone: {line}")))
        .chain(failed.iter().map(|line| format!("not put back: {line}")));
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_what_was_not_and_what_was_left_alone_are_told_apart() {
        let one = |line: &str| vec![line.to_owned()];
        let put_back = RestoreReport { done: one("a"), failed: one("b"), left: one("c") };
        assert_eq!(text(&put_back), "a\nleft alone: c\nnot put back: b\n");
        assert!(text(&RestoreReport::default()).starts_with("nothing to put back"));
    }
}
