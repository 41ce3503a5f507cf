//! Keeps keys, passwords and tokens out of what is kept of a run.

use crate::options;
use record::{RunRecord, without_password};

/// What stands where a secret was.
const HIDDEN: &str = "***";

/// Options of commands whose values are secret.
const OF_COMMANDS: [&str; 4] = ["secret-key", "session-token", "sse-c-key", "token"];

/// Replaces the values of secret options wherever a record holds them as typed: command line, job
/// files, options.
pub fn hide_secrets(record: &mut RunRecord) {
    hide_in_arguments(&mut record.invocation.arguments);
    hide_in_options(&mut record.global_options);
    record.jobs.iter_mut().for_each(|job| hide_in_options(&mut job.options));
    for source in &mut record.sources {
        hide_in_file(&mut source.text);
    }
}

/// The same for a command line alone. The password of a URL is removed as well.
pub fn hide_in_arguments(arguments: &mut [String]) {
    let mut follows = false;
    for argument in arguments {
        *argument = without_password(argument);
        let name = argument.trim_start_matches('-');
        if std::mem::take(&mut follows) {
            *argument = HIDDEN.into();
        } else if name.len() == argument.len() {
            continue;
        } else if let Some((name, _)) = name.split_once('=') {
            if is_secret(name) {
                let kept = argument.find('=').unwrap_or(argument.len());
                argument.replace_range(kept.., &format!("={HIDDEN}"));
            }
        } else {
            follows = is_secret(name);
        }
    }
}

fn hide_in_options(options: &mut [(String, String)]) {
    for (_, value) in options.iter_mut().filter(|(name, _)| is_secret(name)) {
        *value = HIDDEN.into();
    }
}

fn hide_in_file(text: &mut String) {
    let secret = |line: &str| line.split_once('=').is_some_and(|(name, _)| is_secret(name.trim()));
    if !text.lines().any(secret) {
        return;
    }
    let hidden = |line: &str| {
        let name = line.split_once('=').map_or("", |(name, _)| name);
        let end = if line.ends_with('\n') { "\n" } else { "" };
        format!("{name}={HIDDEN}{end}")
    };
    let lines = text.split_inclusive('\n');
    *text = lines.map(|l| if secret(l) { hidden(l) } else { l.to_owned() }).collect();
}

fn is_secret(name: &str) -> bool {
    OF_COMMANDS.contains(&name)
        || options::all().any(|def| def.secret && def.names().any(|known| known == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Invocation, JobRecord, SourceText};

    #[test]
    fn the_password_of_a_url_is_removed() {
        let cases = [
            ("--archive=postgres://me:s@cret@db:5432/runs", "--archive=postgres://me@db:5432/runs"),
            ("mysql://me:secret@db/shop", "mysql://me@db/shop"),
            ("postgres://me@db/a:b@c", "postgres://me@db/a:b@c"),
            ("http://db:8080/", "http://db:8080/"),
            ("a:b@c", "a:b@c"),
        ];
        for (typed, kept) in cases {
            let mut arguments = [typed.to_owned()];
            hide_in_arguments(&mut arguments);
            assert_eq!(arguments[0], kept);
        }
    }

    #[test]
    fn no_secret_is_left_in_a_record() {
        let text = "[global]\nhttp_s3_key = hidden-words\nhttp_host=a\r\n[a]\nbs=4k";
        let typed = |name: &str| (name.to_owned(), "hidden-words".to_owned());
        let arguments = ["fathom", "run", "--http_s3_key=hidden-words", "--http_pass"];
        let mut record = RunRecord {
            invocation: Invocation {
                arguments: arguments
                    .iter()
                    .chain(&["hidden-words", "a.fio"])
                    .map(|a| (*a).into())
                    .collect(),
                ..Invocation::default()
            },
            sources: vec![SourceText { name: "a.fio".into(), text: text.into() }],
            global_options: vec![typed("http_swift_auth_token")],
            jobs: vec![JobRecord {
                options: vec![typed("http_s3_key"), ("bs".into(), "4k".into())],
                ..JobRecord::default()
            }],
            ..RunRecord::default()
        };
        hide_secrets(&mut record);
        assert!(!format!("{record:?}").contains("hidden-words"));
        assert_eq!(record.sources[0].text, "[global]\nhttp_s3_key =***\nhttp_host=a\r\n[a]\nbs=4k");
        let shown = ["fathom", "run", "--http_s3_key=***", "--http_pass", "***", "a.fio"];
        assert_eq!(record.invocation.arguments, shown);
        assert_eq!(record.jobs[0].options[1].1, "4k");
        let mut typed =
            ["fathom", "s3", "put", "--secret-key", "a", "--session-token=b"].map(String::from);
        hide_in_arguments(&mut typed);
        assert_eq!(typed[3..], ["--secret-key", "***", "--session-token=***"]);
    }
}
