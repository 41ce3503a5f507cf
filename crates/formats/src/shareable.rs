//! Records to show to others: without serial numbers, host names, paths and command lines.

use record::{RecordSet, RunRecord};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Names that say nothing about a machine, although they are those of a path.
const PUBLIC: [&str; 4] = ["", "/", "/data", "/tmp"];

/// The records, with what identifies a machine or a person replaced or left out. The workloads, the
/// figures, and the models and settings of the storage stay.
///
/// # Panics
/// Never: a record with other texts is a record.
pub fn shareable(set: &RecordSet) -> RecordSet {
    let mut set = set.clone();
    let mut names = BTreeSet::new();
    for run in &mut set.runs {
        names.extend(private_names(run));
        forget(run);
    }
    // Longer names first, because a longer name may contain a shorter one.
    let mut names: Vec<(String, &str)> = names.into_iter().collect();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let json = serde_json::to_vec(&set).expect("a record can be written");
    let mut value = serde_json::from_slice(&json).expect("what was written");
    replace(&mut value, &names);
    let json = serde_json::to_vec(&value).expect("a record with other texts");
    serde_json::from_slice(&json).expect("a record with other texts")
}

/// The names in a record that others must not see, each with what stands for it.
fn private_names(run: &RunRecord) -> Vec<(String, &'static str)> {
    let mut names =
        vec![(run.facts.hostname.clone(), "HOST"), (run.invocation.directory.clone(), "DIRECTORY")];
    for (path, target) in &run.facts.targets {
        names.extend([path, &target.canonical].map(|path| (path.clone(), "FILE")));
        if let Some(filesystem) = &target.filesystem {
            names.push((filesystem.mount_point.clone(), "MOUNT"));
            if !filesystem.source.starts_with("/dev/") && filesystem.source.contains(['/', ':']) {
                names.push((filesystem.source.clone(), "SOURCE"));
            }
        }
    }
    names.extend(
        run.jobs.iter().flat_map(|job| &job.workload.files).map(|file| (file.clone(), "FILE")),
    );
    names.extend(run.evidence.files.keys().map(|file| (file.clone(), "FILE")));
    // What is in a private directory has a private name, too.
    let directories = names.iter().filter(|(_, to)| *to == "FILE").filter_map(|(path, _)| {
        let (above, _) = path.rsplit_once('/')?;
        Some((above.to_owned(), "DIRECTORY"))
    });
    let directories: Vec<_> = directories.collect();
    names.extend(directories);
    // A short name would be found within words. Where a host's name is a field of its own, it is replaced.
    names.retain(|(name, _)| {
        name.len() > 2 && !PUBLIC.contains(&name.as_str()) && !name.starts_with("/dev/")
    });
    names
}

fn forget(run: &mut RunRecord) {
    run.facts.forget_serials();
    run.facts.hostname = "HOST".into();
    run.facts.environment.command_line.clear();
    run.invocation.arguments.truncate(1);
    run.invocation.arguments.iter_mut().for_each(|program| *program = "fathom".into());
    run.sources.clear();
    for target in run.facts.targets.values_mut() {
        if let Some(filesystem) = &mut target.filesystem {
            filesystem
                .options
                .retain(|option| !option.contains(['/', ':']) && !option.contains("addr="));
        }
    }
}

/// Replaces names in every text of a document, keys of objects included.
fn replace(value: &mut Value, names: &[(String, &str)]) {
    let new =
        |text: &str| names.iter().fold(text.to_owned(), |text, (name, to)| text.replace(name, to));
    match value {
        Value::String(text) => *text = new(text),
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, names)),
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            let mut kept = Map::new();
            for (key, mut value) in old {
                replace(&mut value, names);
                let key = if key.contains(['/', '.']) { unused(&kept, new(&key)) } else { key };
                kept.insert(key, value);
            }
            *fields = kept;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The key, with a number if there is such a key already: two files have two entries.
fn unused(fields: &Map<String, Value>, key: String) -> String {
    let numbered =
        std::iter::once(key.clone()).chain((2..).map(|number| format!("{key} {number}")));
    numbered.into_iter().find(|key| !fields.contains_key(key)).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn what_names_a_machine_is_gone_and_the_figures_stay() {
        let mut run = testing::mixed();
        let secrets = ["secret-host", "/srv/customers/acme", "S3R1AL", "root=UUID=1234"];
        run.facts.hostname = secrets[0].into();
        run.facts.environment.command_line = secrets[3].into();
        run.invocation.directory = secrets[1].into();
        run.invocation.arguments =
            vec!["/home/x/fathom".into(), format!("--filename={}/db", secrets[1])];
        let path = format!("{}/db", secrets[1]);
        let target = run.facts.targets.values().next().cloned().unwrap_or_default();
        run.facts.targets.insert(path.clone(), target);
        run.jobs[0].workload.files = vec![path.clone()];
        if let Some(device) = run.facts.devices.values_mut().next() {
            device.serial = Some(secrets[2].into());
        }
        run.messages.push(record::Message::note(None, format!("{path} is on secret-host")));
        let set = RecordSet { runs: vec![run], ..RecordSet::default() };
        assert!(secrets.iter().any(|secret| serde_json::to_string(&set).unwrap().contains(secret)));
        let shared = shareable(&set);
        let text = serde_json::to_string(&shared).unwrap();
        for secret in secrets.iter().chain(&["/home/x", "acme"]) {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!(shared.runs[0].jobs[0].results, set.runs[0].jobs[0].results);
        assert_eq!(shared.runs[0].facts.targets.len(), set.runs[0].facts.targets.len());
    }
}
