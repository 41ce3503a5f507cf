//! The origins of a job's options (`--explain`).

use crate::apply::{Draft, Given};
use crate::options;
use std::fmt::Write;

/// Options that are shown even if they were not given, because they influence results most.
const ALWAYS: [&str; 8] =
    ["rw", "bs", "size", "ioengine", "iodepth", "direct", "numjobs", "runtime"];

/// A job's options, one per line, in the order they took effect: the effective value, where it was
/// given, and what it replaced. Then the options of `ALWAYS` that were not given.
pub fn job(draft: &Draft) -> String {
    let given: Vec<&Given> = draft.global.iter().chain(&draft.own).collect();
    let mut lines: Vec<(String, String)> = Vec::new();
    for (at, option) in given.iter().enumerate() {
        let same = |other: &&&Given| other.name == option.name;
        if given[at + 1..].iter().any(|other| other.name == option.name) {
            continue;
        }
        // An option that overrides job files occurs twice in the list, but was given once.
        let replaced: Vec<String> = given[..at]
            .iter()
            .filter(same)
            .filter(|other| (&other.value, &other.origin) != (&option.value, &option.origin))
            .map(|other| format!("{} ({})", typed(other), other.origin))
            .collect();
        let mut origin = option.origin.to_string();
        if !replaced.is_empty() {
            let _ = write!(origin, ", over {}", replaced.join(", "));
        }
        lines.push((typed(option), origin));
    }
    for name in ALWAYS {
        let default = options::find(name).map(|def| def.default).filter(|text| !text.is_empty());
        if let Some(default) = default.filter(|_| given.iter().all(|option| option.name != name)) {
            lines.push((format!("{name}={default}"), "default".into()));
        }
    }
    let width = lines.iter().map(|(option, _)| option.chars().count()).max().unwrap_or(0);
    let identity = &draft.job.identity;
    let mut text = format!("[{}]  {}\n", identity.name, identity.origin);
    for (option, origin) in lines {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {option:width$}  {origin}");
    }
    text
}

fn typed(given: &Given) -> String {
    match &given.value {
        Some(value) => format!("{}={value}", given.name),
        None => given.name.to_owned(),
    }
}
