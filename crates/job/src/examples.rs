//! Job files for questions that people have, as the program brings them along.

use crate::value;

/// A job file.
pub struct Example {
    /// Its name.
    pub name: &'static str,
    /// The file. Its first line is a comment with the question that it answers.
    pub text: &'static str,
}

impl Example {
    /// The question that it answers.
    pub fn question(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

macro_rules! examples {
    ($($name:literal,)+) => {
        &[$(Example {
            name: $name,
            text: include_str!(concat!("../../../examples/", $name, ".fio")),
        }),+]
    };
}

/// All examples, by name.
pub const EXAMPLES: &[Example] = examples![
    "analytics-scan",
    "backup-stream",
    "burst-against-sustained",
    "checkpoint-write",
    "database-checkpoint",
    "durability-cost",
    "etcd-fsync",
    "first-touch",
    "group-commit",
    "kafka-log",
    "latency-under-load",
    "log-ingest",
    "mail-server",
    "mixed-tenants",
    "ml-training-reads",
    "object-store-put",
    "oltp",
    "random-read-iops",
    "random-read-latency",
    "random-write-iops",
    "read-modify-write",
    "redis-aof",
    "restore-beside-service",
    "sequential-read",
    "sequential-write",
    "small-files",
    "steady-state",
    "swap",
    "video-edit",
    "vm-host",
    "wal-fsync",
];

/// What the name of an example begins with where job files are named.
const PREFIX: &str = "example:";

/// The example of a name. The error suggests another.
pub fn example(name: &str) -> Result<&'static Example, String> {
    EXAMPLES.iter().find(|example| example.name == name).ok_or_else(|| {
        let about: Vec<&str> = mentioning(name).map(|example| example.name).collect();
        let hint = match value::nearest(name, EXAMPLES.iter().map(|example| example.name)) {
            Some(nearest) => format!("did you mean '{nearest}'?"),
            None if !about.is_empty() => format!("these mention it: {}", about.join(", ")),
            None => "'fathom examples' lists them".to_owned(),
        };
        format!("no example is called '{name}'; {hint}")
    })
}

/// The examples whose name or text has a word, in either case.
pub fn mentioning(word: &str) -> impl Iterator<Item = &'static Example> {
    let word = word.to_lowercase();
    EXAMPLES.iter().filter(move |example| {
        example.name.contains(&word) || example.text.to_lowercase().contains(&word)
    })
}

/// The name of an example as a job file.
pub(crate) fn path(example: &Example) -> String {
    format!("{PREFIX}{}", example.name)
}

/// The text of a job file that is an example.
pub(crate) fn text(path: &str) -> Option<&'static str> {
    Some(example(path.strip_prefix(PREFIX)?).ok()?.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_begins_with_its_question_and_says_how_to_read_it() {
        for example in EXAMPLES {
            assert!(example.question().ends_with('?'), "{}", example.name);
            assert!(example.text.contains("\n# Read: "), "{}", example.name);
        }
    }

    #[test]
    fn every_file_of_the_directory_is_an_example() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let mut found: Vec<String> = std::fs::read_dir(directory)
            .unwrap()
            .filter_map(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                Some(name.strip_suffix(".fio")?.to_owned())
            })
            // It stands in the README, for any fio.
            .filter(|name| name != "quick")
            .collect();
        found.sort();
        let known: Vec<&str> = EXAMPLES.iter().map(|example| example.name).collect();
        assert_eq!(found, known);
    }

    #[test]
    fn a_mistyped_name_is_told_the_nearest() {
        assert!(example("etcd-fsync").is_ok());
        let error = |name| example(name).err().unwrap();
        assert!(error("etcd-fsnc").contains("did you mean 'etcd-fsync'?"));
        assert!(error("zzzzzzzzzzzz").contains("fathom examples"));
    }
}
