//! IO500's configuration: sections with `key = value`, as its own program reads them.

use super::command::{Io500Command, Phase};
use crate::{Usage, ior};
use thiserror::Error;

/// A mistake in a configuration.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{file}:{line}: {what}")]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// Sections of phases that only the extended mode of IO500 has.
const EXTENDED: [&str; 9] = [
    "ior-rnd4K",
    "ior-rnd1MB",
    "mdworkbench",
    "mdworkbench-create",
    "mdworkbench-bench",
    "mdworkbench-delete",
    "find-easy",
    "find-hard",
    "concurrent",
];

/// The settings of a configuration, on top of the defaults.
///
/// # Errors
/// The first mistake.
pub fn parse(file: &str, text: &str) -> Result<Io500Command, ConfigError> {
    let mut call = Io500Command::default();
    let mut section = String::new();
    // Where each setting is.
    let mut places: Vec<(String, String, usize)> = Vec::new();
    let wrong = |line: usize, what: String| ConfigError { file: file.to_owned(), line, what };
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.split([';', '#']).next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        if let Some(name) = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim().to_owned();
            if !is_known(&section) && !is_extended(&section) {
                return Err(wrong(line, format!("[{section}] is no section of IO500")));
            }
            continue;
        }
        let Some((key, value)) = content.split_once('=') else {
            let what = format!("'{content}' is neither [SECTION] nor KEY = VALUE");
            return Err(wrong(line, what));
        };
        let (key, value) = (key.trim(), value.trim());
        if section.is_empty() {
            return Err(wrong(line, format!("{key} is in no section; [global] comes before it")));
        }
        if value.is_empty() {
            continue;
        }
        set(&mut call, &section, key, value).map_err(|what| wrong(line, what))?;
        places.push((section.clone(), key.to_owned(), line));
    }
    check(&call).map_err(|(section, key, what)| {
        let is_it = |place: &&(String, String, usize)| place.0 == section && place.1 == key;
        wrong(places.iter().rev().find(is_it).map_or(1, |place| place.2), what)
    })?;
    Ok(call)
}

/// Checks the settings of the tests together, as their own command lines do. An error has the section and the
/// key.
fn check(call: &Io500Command) -> Result<(), (&'static str, &'static str, String)> {
    let host = vec![String::new(); call.tasks as usize];
    let [easy, hard] = call.ior_lines("d");
    for (section, words) in [("ior-easy", easy), ("ior-hard", hard)] {
        ior::parse(&words).map_err(|usage| {
            let key = match usage.flag.as_str() {
                "-t" => "transferSize",
                "-b" => "blockSize",
                "-s" => "segmentCount",
                _ => "API",
            };
            (section, key, found(key, &usage))
        })?;
    }
    call.mdtest("d", &host).map(|_| ()).map_err(|usage| {
        let key = if usage.flag == "-n" { "n" } else { "API" };
        let is_easy = call.mdtest_api[1] == "POSIX";
        let section = if is_easy { "mdtest-easy" } else { "mdtest-hard" };
        (section, key, found(key, &usage))
    })
}

fn found(key: &str, usage: &Usage) -> String {
    match key {
        // What is wrong names what is there.
        "API" => format!("{key}: {}", usage.what),
        _ => format!("{key}: {}; {}", usage.what, usage.cure),
    }
}

/// The name of an interface, and options of it.
fn api(value: &str) -> Result<String, String> {
    let own = |word: &&str| !word.starts_with("--posix.") && !word.starts_with("--aio.");
    match value.split_whitespace().skip(1).find(own) {
        None => Ok(value.to_owned()),
        Some(word) => Err(format!(
            "API: '{word}' is no option of an interface; --posix.odirect and --aio.max-pending=N are"
        )),
    }
}

fn set(call: &mut Io500Command, section: &str, key: &str, value: &str) -> Result<(), String> {
    match (section, key) {
        (name, _) if is_extended(name) => extended_is_off(name, key, value)?,
        ("global", "datadir") => call.datadir = value.trim_end_matches('/').to_owned(),
        ("global", "resultdir") => call.resultdir = value.trim_end_matches('/').to_owned(),
        ("global", "timestamp-datadir") => call.timestamp_datadir = truth(key, value)?,
        ("global", "timestamp-resultdir") => call.timestamp_resultdir = truth(key, value)?,
        ("global", "drop-caches") => {
            off(key, value, "use API = POSIX --posix.odirect, or more data")?
        }
        ("global", "io-buffers-on-gpu") => off(key, value, "buffers are in main memory")?,
        ("debug", "stonewall-time") => call.stonewall_s = number(key, value)?,
        ("ior-easy", "API") => call.ior_api[0] = api(value)?,
        ("ior-hard", "API") => call.ior_api[1] = api(value)?,
        ("mdtest-easy", "API") => call.mdtest_api[0] = api(value)?,
        ("mdtest-hard", "API") => call.mdtest_api[1] = api(value)?,
        ("ior-easy", "transferSize") => call.transfer = value.to_owned(),
        ("ior-easy", "blockSize") => call.block = value.to_owned(),
        ("ior-easy", "filePerProc") => call.per_process = truth(key, value)?,
        ("ior-easy", "uniqueDir") => off(key, value, "all files are in one directory")?,
        ("ior-hard", "segmentCount") => call.segments = number(key, value)?,
        ("ior-easy-write" | "ior-hard-write" | "ior-hard" | "ior-hard-read", "collective") => {
            off(key, value, "collective I/O needs MPI-IO")?;
        }
        ("mdtest-easy", "n") => call.files[0] = number(key, value)?,
        ("mdtest-hard", "n") => call.files[1] = number(key, value)?,
        ("find", "nproc") => {
            call.find_threads = usize::try_from(number(key, value)?).unwrap_or(usize::MAX);
        }
        ("find", "external-script") => {
            return Err(
                "external-script: no script is run; leave it empty, and fathom searches".into()
            );
        }
        (_, "verbosity" | "drop-caches-cmd" | "hintsFileName") | ("find", _) if key != "run" => {
            call.notes.push(format!("[{section}] {key} changes nothing"));
        }
        (name, "run") => leave_out(call, name, truth(key, value)?)?,
        (name, _) => return Err(format!("[{name}] {key} is not known here; leave it away")),
    }
    Ok(())
}

fn is_extended(section: &str) -> bool {
    EXTENDED.iter().any(|name| section == *name || section.starts_with(&format!("{name}-")))
}

/// Phases of the extended mode may be named, and do not run.
fn extended_is_off(section: &str, key: &str, value: &str) -> Result<(), String> {
    match key == "run" && truth(key, value)? {
        true => Err(format!(
            "[{section}] is a phase of the extended mode, which is not there; say run = FALSE"
        )),
        false => Ok(()),
    }
}

fn is_known(section: &str) -> bool {
    matches!(section, "global" | "debug") || !phases_of(section).is_empty()
}

/// The phases that a section is about: those of a test, or one.
fn phases_of(section: &str) -> Vec<Phase> {
    let is_of = |phase: &Phase| {
        phase.name() == section
            || phase.name().strip_prefix(section).is_some_and(|rest| rest.starts_with('-'))
    };
    Phase::ALL.into_iter().filter(is_of).collect()
}

/// `run` of a section.
fn leave_out(call: &mut Io500Command, section: &str, runs: bool) -> Result<(), String> {
    let phases = phases_of(section);
    if phases.is_empty() {
        return Err(format!("[{section}] is no section with a phase"));
    }
    match runs {
        true => call.without.retain(|phase| !phases.contains(phase)),
        false => call.without.extend(phases),
    }
    Ok(())
}

fn truth(key: &str, value: &str) -> Result<bool, String> {
    match value.to_ascii_uppercase().as_str() {
        "TRUE" | "1" => Ok(true),
        "FALSE" | "0" => Ok(false),
        _ => Err(format!("{key}: '{value}' is neither TRUE nor FALSE")),
    }
}

fn number(key: &str, value: &str) -> Result<u64, String> {
    let parsed = value.parse().ok().filter(|number| *number > 0);
    parsed.ok_or_else(|| format!("{key}: '{value}' is not a whole number above 0"))
}

fn off(key: &str, value: &str, why: &str) -> Result<(), String> {
    match truth(key, value)? {
        true => Err(format!("{key} = TRUE cannot be had here: {why}")),
        false => Ok(()),
    }
}

/// A configuration with the defaults.
pub fn defaults() -> String {
    let call = Io500Command::default();
    format!(
        "[global]\ndatadir = {}\nresultdir = {}\ntimestamp-datadir = TRUE\ntimestamp-resultdir = TRUE\n\n\
         [debug]\n# Below 300 the result is [INVALID].\nstonewall-time = {}\n\n\
         [ior-easy]\n# POSIX --posix.odirect goes past the page cache.\nAPI = POSIX\ntransferSize = {}\n\
         blockSize = {}\nfilePerProc = TRUE\n\n\
         [mdtest-easy]\nAPI = POSIX\nn = {}\n\n\
         [ior-hard]\nAPI = POSIX\nsegmentCount = {}\n\n\
         [mdtest-hard]\nAPI = POSIX\nn = {}\n\n\
         [find]\n# Threads; empty: as many as tasks, or CPUs if they are fewer.\nnproc =\n",
        call.datadir,
        call.resultdir,
        call.stonewall_s,
        call.transfer,
        call.block,
        call.files[0],
        call.segments,
        call.files[1]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_rules() {
        assert_eq!(parse("x", &defaults()), Ok(Io500Command::default()));
    }

    #[test]
    fn settings_are_read() {
        let text = "[global]\ndatadir = /mnt/pfs/d/ ; here\nverbosity = 1\n[ior-easy]\nAPI = POSIX \
                    --posix.odirect\nrun = TRUE\n[mdtest-hard-stat]\nrun = FALSE\n[find]\nnproc = 3\n\
                    pfind-queue-length = 10\n[ior-rnd4K]\nrun = FALSE\n[debug]\nstonewall-time = 2\n";
        let call = parse("x", text).unwrap();
        assert_eq!(
            (call.datadir.as_str(), call.stonewall_s, call.find_threads),
            ("/mnt/pfs/d", 2, 3)
        );
        assert_eq!(call.ior_api[0], "POSIX --posix.odirect");
        assert_eq!(call.without, [Phase::MdtestHardStat]);
        assert_eq!(call.notes.len(), 2, "{:?}", call.notes);
    }

    #[test]
    fn mistakes_are_named_by_line() {
        for (text, what) in [
            ("[global]\nnothing = 1", "x:2: [global] nothing is not known"),
            ("[else]\na = 1", "x:1: [else] is no section"),
            ("datadir = d", "x:1: datadir is in no section"),
            ("[ior-easy]\nblockSize = 3m\ntransferSize = 2m", "x:2: blockSize: "),
            ("[ior-hard]\nAPI = MPIIO", "x:2: API: "),
            ("[ior-hard]\nAPI = POSIX -D 1", "x:2: API: '-D' is no option of an interface"),
            ("[mdtest-hard]\nrun = TRUE\nAPI = DFS", "x:3: API: 'DFS' is not POSIX"),
            ("[global]\ndatadir", "x:2: 'datadir' is neither"),
            ("[ior-easy]\n\nfilePerProc = maybe", "x:3: filePerProc: 'maybe' is neither"),
            ("[mdtest-easy]\nn = 0", "x:2: n: '0' is not"),
            ("[ior-rnd1MB-read]\nrun = TRUE", "x:2: [ior-rnd1MB-read] is a phase of the extended"),
            ("[find]\nexternal-script = a", "x:2: external-script: no script"),
            ("[global]\ndrop-caches = TRUE", "x:2: drop-caches = TRUE cannot be had"),
            ("[debug]\nrun = FALSE", "x:2: [debug] is no section with a phase"),
        ] {
            let error = parse("x", text).expect_err(text).to_string();
            assert!(error.starts_with(what), "{error}");
        }
    }
}
