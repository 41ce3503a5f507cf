//! File names, exactly as fio makes them, and the list of paths facts are needed on.

use crate::problem::Diagnostics;
use job::{Job, Medium, ReadWrite};
use record::Direction;
use std::collections::HashMap;
use trace::FileUse;

/// Files of all workers together that are planned for; a number beyond it is a typing error more
/// likely than a wish, and would only eat memory.
pub(crate) const MAX_FILES: u64 = 4 << 20;

/// A path the resolver needs facts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The path as the job names it, or a directory above it.
    pub path: String,
    /// Whether some job writes or trims it. Only then it has to be known whether a block device is
    /// in use.
    pub write: bool,
}

/// Every path [`crate::resolve`] needs facts on, each once: files and devices by their final names,
/// what `directory` names, and the directories above files. Jobs of engines without targets need none, and
/// jobs with an absurd number of files are left out: `resolve` refuses them.
pub fn targets(jobs: &[Job]) -> Vec<Wanted> {
    let mut list = Vec::new();
    let mut index = HashMap::new();
    let mut want = |path: &str, write: bool| match index.get(path) {
        Some(&at) => {
            let wanted: &mut Wanted = &mut list[at];
            wanted.write |= write;
        }
        None => {
            index.insert(path.to_owned(), list.len());
            list.push(Wanted { path: path.to_owned(), write });
        }
    };
    let mut budget = MAX_FILES;
    // Where a program works is looked at, so that its run can be judged.
    for job in jobs.iter().filter(|job| job.queue.engine.runs_program()) {
        directories(job).for_each(|directory| want(directory, false));
    }
    for job in jobs.iter().filter(|j| j.queue.engine.has_targets()) {
        for (path, write) in recorded_targets(job) {
            want_with_above(path, write, &mut want);
        }
        for directory in directories(job).chain(job.target.opendir.as_deref()) {
            want(directory, false);
        }
        if job.replay.is_on() {
            continue;
        }
        let Some(rest) = files_of_job(job).and_then(|n| budget.checked_sub(n)) else { continue };
        budget = rest;
        let write = job.pattern.rw.writes() || job.pattern.rw.trims();
        // Workers that share their files by name need them listed once.
        let distinct = if has_names(job) { 1 } else { clones(job) };
        for path in (0..distinct).flat_map(|clone| file_names(job, clone)) {
            want_with_above(&path, write, &mut want);
        }
    }
    list
}

/// Which way I/O goes in a file of a log. One that is only opened is opened to be read.
pub(crate) fn directions_of(used: &FileUse) -> ReadWrite {
    let has = |direction| used.ios[direction] > 0;
    let (writes, trims) = (has(Direction::Write), has(Direction::Trim));
    ReadWrite::Replay { reads: has(Direction::Read) || !(writes || trims), writes, trims }
}

/// The files of a job's logs and whether they are changed; none for other jobs.
fn recorded_targets(job: &Job) -> impl Iterator<Item = (&str, bool)> {
    let files = job.replay.recordings.iter().flat_map(|recording| &recording.files);
    files.map(|used| {
        let rw = directions_of(used);
        (used.path.as_str(), rw.writes() || rw.trims())
    })
}

/// A path and the directories above it.
fn want_with_above(path: &str, write: bool, want: &mut impl FnMut(&str, bool)) {
    want(path, write);
    let mut above = parent(path);
    while let Some(directory) = above {
        want(directory, false);
        above = parent(directory);
    }
}

/// Refuses "-", which fio reserves for standard input and output and then cannot use either.
pub(crate) fn check_reserved(job: &Job, diagnostics: &mut Diagnostics) {
    if job.queue.engine.medium() == Medium::Data && job.target.filenames.iter().any(|n| n == "-") {
        let what = "'-' is standard input or output, which has no size and no offsets";
        diagnostics.usage(job, "filename", what, "name a file; ./- is one of this name");
    }
}

/// `numjobs`.
pub(crate) fn clones(job: &Job) -> u64 {
    job.identity.numjobs.unwrap_or(1)
}

/// Files of all clones; `None` when there are too many to plan for.
pub(crate) fn files_of_job(job: &Job) -> Option<u64> {
    if job.replay.is_on() {
        let most = job.replay.recordings.iter().map(|r| r.files.len() as u64).max();
        return clones(job).checked_mul(most.unwrap_or(0)).filter(|n| *n <= MAX_FILES);
    }
    clones(job).checked_mul(files_per_clone(job)).filter(|n| *n <= MAX_FILES)
}

/// Files each clone has. `nrfiles` adds nothing to a list of names, but cuts it short (oracle:
/// `filename=x:y` with nrfiles=1 uses x only, with nrfiles=5 both).
fn files_per_clone(job: &Job) -> u64 {
    let named = (job.target.below.len() + job.target.filenames.len()) as u64;
    match (named, job.target.nrfiles) {
        (0, nrfiles) if job.target.opendir.is_none() => nrfiles.unwrap_or(1).max(1),
        (named, Some(nrfiles)) => named.min(nrfiles.max(1)),
        (named, None) => named,
    }
}

/// Paths of one clone's files, in order. The caller has checked their number.
///
/// Oracle: generated names go to the directories turn by turn, clone by clone; given names all go
/// below the first directory, absolute ones too; those that `opendir` found stay as they are and come
/// first.
pub(crate) fn file_names(job: &Job, clone: u64) -> Vec<String> {
    let directories: Vec<&str> = directories(job).collect();
    let count = files_per_clone(job);
    if has_names(job) {
        let below = directories.first().copied();
        let named = job.target.filenames.iter().map(|name| served(job, below, name));
        return job.target.below.iter().cloned().chain(named).take(count as usize).collect();
    }
    let below = match directories.len() as u64 {
        0 => None,
        n => Some(directories[(clone % n) as usize]),
    };
    let format = job.target.filename_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
    (0..count).map(|file| served(job, below, &expand(format, job, clone, file))).collect()
}

/// Where a file of this name is. On a server its name in a directory begins with the server's
/// address: several may share the directory.
fn served(job: &Job, directory: Option<&str>, name: &str) -> String {
    match (&job.served.address, directory) {
        (Some(address), Some(_)) if !job.served.plain_names => {
            join(directory, &format!("{address}.{}", name.trim_start_matches('/')))
        }
        _ => join(directory, name),
    }
}

/// Whether the files are named or found rather than made up.
fn has_names(job: &Job) -> bool {
    job.target.opendir.is_some() || !job.target.filenames.is_empty()
}

/// Directories of the job, without slashes at their ends; empty entries (`d1/:`) name nothing.
pub(crate) fn directories(job: &Job) -> impl Iterator<Item = &str> {
    let given = job.target.directories.iter().map(String::as_str).filter(|d| !d.is_empty());
    given.map(|d| match d.trim_end_matches('/') {
        "" => "/",
        trimmed => trimmed,
    })
}

fn join(directory: Option<&str>, name: &str) -> String {
    match directory {
        None => name.to_owned(),
        Some(d) => format!("{}/{}", d.trim_end_matches('/'), name.trim_start_matches('/')),
    }
}

/// Replaces the keywords of `filename_format`. A keyword may be followed by anything
/// (`$jobnumber` is `$jobnum` and "ber"), what is no keyword stays, and `$clientuid` is empty
/// without a server (all three seen with the oracle).
fn expand(format: &str, job: &Job, clone: u64, file: u64) -> String {
    let keywords: [(&str, String); 4] = [
        ("$jobname", job.identity.name.clone()),
        ("$clientuid", job.served.address.clone().unwrap_or_default()),
        ("$jobnum", clone.to_string()),
        ("$filenum", (job.target.filenum_first + file).to_string()),
    ];
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match keywords.iter().find(|(k, _)| rest.starts_with(k)) {
            Some((keyword, value)) => {
                out.push_str(value);
                rest = &rest[keyword.len()..];
            }
            None => {
                out.push('$');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Directory of a path: "." for a bare name, `None` for "/", "." and "".
pub(crate) fn parent(path: &str) -> Option<&str> {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rfind('/') {
        _ if trimmed.is_empty() || trimmed == "." => None,
        None => Some("."),
        Some(at) => match trimmed[..at].trim_end_matches('/') {
            "" => Some("/"),
            directory => Some(directory),
        },
    }
}
