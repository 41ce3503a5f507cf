//! What is measured: one row a case.

use anyhow::{Result, bail};
use std::path::Path;

/// What a case works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nothing: the program's own cost.
    Null,
    /// A compressed RAM disk: a real device that answers in a microsecond.
    Zram,
    /// A file on a disk, past the page cache.
    File,
}

/// What a case is measured beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// fio, given the same arguments.
    Fio,
    /// Ourselves, with one more argument.
    OursWith(&'static str),
}

/// One comparison. Both programs get the same arguments, everything else at its default.
#[derive(Debug)]
pub struct Case {
    /// As in the table and in `--cases`.
    pub name: &'static str,
    /// What it works on.
    pub target: Target,
    engine: &'static str,
    rw: &'static str,
    iodepth: u32,
    numjobs: u32,
    /// What it is measured beside.
    pub peer: Peer,
}

/// Depth 32 of a synchronous engine is 32 jobs of one I/O each.
const CASES: &[Case] = &[
    case("null-1", Target::Null, "null", "read", 1, 1),
    case("null-32", Target::Null, "null", "read", 32, 1),
    case("zram-io_uring-128", Target::Zram, "io_uring", "randread", 128, 1),
    case("zram-libaio-128", Target::Zram, "libaio", "randread", 128, 1),
    case("disk-io_uring-1", Target::File, "io_uring", "randread", 1, 1),
    case("disk-libaio-1", Target::File, "libaio", "randread", 1, 1),
    case("disk-psync-1", Target::File, "psync", "randread", 1, 1),
    case("disk-io_uring-32", Target::File, "io_uring", "randread", 32, 1),
    case("disk-libaio-32", Target::File, "libaio", "randread", 32, 1),
    case("disk-psync-32", Target::File, "psync", "randread", 1, 32),
    // What sampling the machine ten times a second costs where an I/O costs least.
    case("sampler-zram-128", Target::Zram, "io_uring", "randread", 128, 1).beside("--sample-hz=0"),
];

const fn case(
    name: &'static str,
    target: Target,
    engine: &'static str,
    rw: &'static str,
    iodepth: u32,
    numjobs: u32,
) -> Case {
    Case { name, target, engine, rw, iodepth, numjobs, peer: Peer::Fio }
}

impl Case {
    const fn beside(self, argument: &'static str) -> Case {
        Case { peer: Peer::OursWith(argument), ..self }
    }
}

/// Cases whose name holds one of `words`; all of them without words.
pub fn select(words: &[String]) -> Result<Vec<&'static Case>> {
    let wanted = |case: &&Case| {
        words.is_empty() || words.iter().any(|word| case.name.contains(word.as_str()))
    };
    let found: Vec<_> = CASES.iter().filter(wanted).collect();
    if found.is_empty() {
        let names: Vec<_> = CASES.iter().map(|case| case.name).collect();
        bail!("--cases {}: no such case; there are {}", words.join(","), names.join(", "));
    }
    Ok(found)
}

impl Case {
    /// The job as both programs are given it, its target and the form of its output aside.
    pub fn job(&self) -> Vec<String> {
        let mut options = vec![
            format!("--ioengine={}", self.engine),
            format!("--rw={}", self.rw),
            "--bs=4k".to_string(),
            format!("--iodepth={}", self.iodepth),
        ];
        if self.target != Target::Null {
            options.push("--direct=1".to_string());
        }
        if self.numjobs > 1 {
            options.extend([format!("--numjobs={}", self.numjobs), "--group_reporting".into()]);
        }
        options
    }

    /// Everything on the command line but where the output goes.
    pub fn arguments(&self, target: Option<&Path>, seconds: u32) -> Vec<String> {
        let mut arguments = vec![format!("--name={}", self.name)];
        arguments.extend(self.job());
        match target {
            // A colon would end the name of the file.
            Some(path) => arguments
                .push(format!("--filename={}", path.display().to_string().replace(':', "\\:"))),
            None => arguments.push("--size=1g".to_string()),
        }
        arguments.extend(["--time_based".to_string(), format!("--runtime={seconds}")]);
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_select_cases() {
        let names = |words: &[&str]| -> Vec<_> {
            let words: Vec<_> = words.iter().map(ToString::to_string).collect();
            select(&words).unwrap().into_iter().map(|case| case.name).collect()
        };
        assert_eq!(names(&[]).len(), CASES.len());
        assert_eq!(names(&["null"]), ["null-1", "null-32"]);
        assert_eq!(names(&["null-1", "zram-lib"]), ["null-1", "zram-libaio-128"]);
        let none = select(&["tape".to_string()]).unwrap_err().to_string();
        assert!(none.contains("tape") && none.contains("null-1"), "{none}");
    }

    #[test]
    fn arguments_name_the_target() {
        let disk = &CASES[9];
        let arguments = disk.arguments(Some(Path::new("/a:b/file")), 3);
        assert!(arguments.contains(&"--filename=/a\\:b/file".to_string()), "{arguments:?}");
        assert!(arguments.contains(&"--numjobs=32".to_string()), "{arguments:?}");
        assert!(!CASES[0].arguments(None, 3).iter().any(|a| a.starts_with("--direct")));
    }
}
