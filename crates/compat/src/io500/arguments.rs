//! The command line.

use crate::Usage;
use crate::hpc::{self, Own};

const TOOL: &str = "io500";

const HELP: &str = "\
Usage: fathom io500 [CONFIG.ini] [OPTIONS]
       fathom io500 defaults

The 12 phases of IO500 on fathom's engine: those of IOR and mdtest, and a search for files. It prints the result
of each phase and the score, and below them what they leave out. Without CONFIG.ini it has the settings of the
rules, with data below ./datafiles and results below ./results. The data is removed at the end.

Examples:
  fathom io500 defaults > config.ini              the settings, to change them
  fathom io500 config.ini --tasks=4               4 tasks on this host
  mpirun -n 40 --hostfile hosts fathom io500 config.ini

  defaults, --list      print a configuration with all settings and their defaults
  --dry-run             print the command lines of the phases, and run nothing
  --tasks=N             tasks: workers of this machine; 1, or the ranks of mpirun
  --keep                keep the data
  -h, --help            this text

fathom's own:
  --record=FILE         keep the records of all runs in this file as well as in the archive
  --no-archive          do not archive the runs
  --with-serials        keep serial numbers of disks in them
";

/// The output of `fathom io500 -h`.
pub fn help() -> &'static str {
    HELP
}

/// The request of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Measure.
    Run(Arguments),
    /// Print a configuration with the defaults.
    Defaults,
    /// Print help.
    Help,
}

/// What to measure, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The configuration; `None`: the defaults.
    pub config: Option<String>,
    /// `--tasks`; `None`: one.
    pub tasks: Option<u32>,
    /// Print the command lines of the phases only.
    pub dry_run: bool,
    /// Keep the data.
    pub keep: bool,
    /// fathom's own options.
    pub own: Own,
}

fn wrong(word: &str, what: impl Into<String>, cure: impl Into<String>) -> Usage {
    Usage::line(TOOL, word, what, cure)
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// The first mistake.
pub fn parse_arguments(words: &[String]) -> Result<Request, Usage> {
    let mut arguments = Arguments::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || {
            let next = attached.clone().or_else(|| rest.next().cloned());
            next.ok_or_else(|| wrong(name, "has no value behind it", format!("give {name}=VALUE")))
        };
        match name {
            "-h" | "--help" => return Ok(Request::Help),
            "defaults" | "--list" => return Ok(Request::Defaults),
            "--tasks" => {
                let given = value()?;
                let tasks = hpc::tasks(&given);
                let tasks = tasks.map_err(|what| wrong(name, what, "give a number of tasks"))?;
                arguments.tasks = Some(tasks);
            }
            "--record" => arguments.own.record = Some(value()?),
            "--mode" => match value()?.as_str() {
                "standard" => {}
                mode => {
                    let what = format!("'{mode}' cannot be had here");
                    return Err(wrong(
                        name,
                        what,
                        "leave it away: the phases are those of the standard mode",
                    ));
                }
            },
            _ if attached.is_some() => return Err(unknown(name)),
            "--dry-run" => arguments.dry_run = true,
            "--keep" => arguments.keep = true,
            "--no-archive" | "--no-record" => arguments.own.no_archive = true,
            "--with-serials" => arguments.own.with_serials = true,
            _ if name.starts_with('-') => return Err(unknown(name)),
            path => {
                if let Some(first) = arguments.config.replace(path.to_owned()) {
                    let what = format!("{first} is a configuration already");
                    return Err(wrong(path, what, "name one file"));
                }
            }
        }
    }
    Ok(Request::Run(arguments))
}

fn unknown(name: &str) -> Usage {
    wrong(name, "is not an option of fathom io500", "fathom io500 -h lists the options")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Request, Usage> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse_arguments(&words)
    }

    #[test]
    fn arguments_are_read() {
        let line = "c.ini --tasks=3 --record r.json --keep --dry-run --no-archive --mode=standard";
        let Ok(Request::Run(found)) = read(line) else { panic!("{line}") };
        assert_eq!((found.config.as_deref(), found.tasks), (Some("c.ini"), Some(3)));
        assert_eq!(found.own.record.as_deref(), Some("r.json"));
        assert!(found.keep && found.dry_run && found.own.no_archive && !found.own.with_serials);
        assert_eq!(read("--list"), Ok(Request::Defaults));
        assert_eq!(read("c.ini -h"), Ok(Request::Help));
        // The number that was typed counts, not that of the ranks before it.
        let Ok(Request::Run(found)) = read("--tasks=8 --tasks=2") else { panic!() };
        assert_eq!(found.tasks, Some(2));
    }

    #[test]
    fn mistakes_are_refused_with_a_cure() {
        for (line, flag) in [
            ("a b", "b"),
            ("--tasks=0", "--tasks"),
            ("--tasks", "--tasks"),
            ("--keep=1", "--keep"),
            ("--nothing", "--nothing"),
            ("--mode=extended", "--mode"),
        ] {
            let error = read(line).expect_err(line);
            assert_eq!(error.flag, flag, "{error}");
            assert!(!error.cure.is_empty(), "{error}");
        }
    }

    #[test]
    fn every_option_of_the_help_is_taken() {
        let options = HELP.lines().filter_map(|line| line.strip_prefix("  -"));
        let mut count = 0;
        for option in options {
            let option = option.split([' ', ',']).next().unwrap();
            let option = option.replace("=N", "=1").replace("=FILE", "=f");
            assert!(read(&format!("-{option}")).is_ok(), "-{option}");
            count += 1;
        }
        assert_eq!(count, 7);
    }
}
