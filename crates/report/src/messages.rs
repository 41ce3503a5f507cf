//! Messages for stderr.

use record::{Message, Severity};
use std::collections::HashSet;

/// "note", "warning", "error".
pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// A message as a line without newline: "fathom: warning: job1: text".
fn line(program: &str, message: &Message) -> String {
    let severity = severity(message.severity);
    match &message.job {
        Some(job) => format!("{program}: {severity}: {job}: {}", message.text),
        None => format!("{program}: {severity}: {}", message.text),
    }
}

/// All messages, each on a line; equal messages of one job appear once.
pub fn lines<'a>(program: &str, messages: impl IntoIterator<Item = &'a Message>) -> String {
    let mut shown = HashSet::new();
    let lines = messages.into_iter().map(|message| line(program, message) + "\n");
    lines.filter(|text| shown.insert(text.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_program_severity_and_job() {
        let warning = Message::warning(Some("a"), "iodepth has no effect");
        assert_eq!(line("fathom", &warning), "fathom: warning: a: iodepth has no effect");
        assert_eq!(line("fio", &Message::error(None, "no job")), "fio: error: no job");
    }

    #[test]
    fn clones_do_not_repeat_a_message() {
        let note = Message::note(Some("a"), "x");
        assert_eq!(lines("fathom", [&note, &note]), "fathom: note: a: x\n");
    }
}
