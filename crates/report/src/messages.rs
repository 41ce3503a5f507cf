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

/// One message as a line without its end: "fathom: warning: job1: text".
fn line(program: &str, message: &Message) -> String {
    let severity = severity(message.severity);
    match &message.job {
        Some(job) => format!("{program}: {severity}: {job}: {}", message.text),
        None => format!("{program}: {severity}: {}", message.text),
    }
}

/// All messages, a line each, equal ones of one job once.
pub fn lines<'a>(program: &str, messages: impl IntoIterator<Item = &'a Message>) -> String {
    let mut said = HashSet::new();
    let lines = messages.into_iter().map(|message| line(program, message) + "\n");
    lines.filter(|text| said.insert(text.clone())).collect()
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
