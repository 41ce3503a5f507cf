//! What of the machine a sweep varies: told from job options, tried before anything is measured.

use super::cells::{Jobs, TARGET};
use crate::output::say;
use anyhow::{Result, bail};
use job::Invocation;
use record::{Bytes, Coordinate, Nanos};
use runner::Refusal;
use runner::Runner;
use std::collections::HashSet;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use suite::sweep::{Design, Manifest};
use tuning::{CellSetup, Kind, MkfsTarget, Session, Setting};

/// A scratch filesystem where nothing is said of its size: what every type can be made of.
const FS_SIZE: Bytes = Bytes(1 << 30);

/// A directory that cannot be: where a job would work if it were told to.
const ELSEWHERE: &str = "/proc/fathom-sweep";

/// The settings among the coordinates of a cell.
pub fn of(at: &[Coordinate]) -> Vec<(Setting, String)> {
    let setting = |c: &Coordinate| Some((Setting::from_name(&c.dimension)?, c.value.clone()));
    at.iter().filter_map(setting).collect()
}

/// Whether any of these is varied.
pub fn varies(design: &Design, wanted: impl Fn(Setting) -> bool) -> bool {
    design.dimensions.iter().filter_map(|one| Setting::from_name(&one.name)).any(wanted)
}

/// What is wrong with the machine or what was asked of it, with its exit code.
pub fn failed(error: tuning::Error) -> anyhow::Error {
    match error.kind {
        Kind::Usage => Refusal::usage(error.text),
        Kind::Refused => Refusal::target(error.text),
        Kind::Failed => error.into(),
    }
}

/// What the jobs work on: devices, and of the files in one directory the first, for all are on one
/// filesystem.
pub fn targets(invocation: &Invocation) -> Vec<String> {
    let all: Vec<String> =
        plan::targets(&invocation.jobs).into_iter().map(|wanted| wanted.path).collect();
    // The directories above files are among them.
    let above: HashSet<&Path> =
        all.iter().flat_map(|path| Path::new(path).ancestors().skip(1)).map(named).collect();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let is_new = |path: &&String| {
        let path = Path::new(path.as_str());
        let is_device = std::fs::metadata(path).is_ok_and(|it| it.file_type().is_block_device());
        let place = if is_device { Some(path) } else { path.parent() };
        !above.contains(path) && seen.insert(place.unwrap_or(path).to_owned())
    };
    all.iter().filter(is_new).cloned().collect()
}

/// The working directory has no name above a relative path, and one among targets.
fn named(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

/// Looks whether values can be those of settings, and the job be run on filesystems made for it.
///
/// # Errors
/// All values that cannot; a job that works elsewhere.
pub fn check(design: &Design, jobs: &Jobs) -> Result<()> {
    let mut wrong: Vec<String> = Vec::new();
    for dimension in &design.dimensions {
        let Some(setting) = Setting::from_name(&dimension.name) else { continue };
        let check = |value: &String| setting.check(value).err().map(|error| error.text);
        wrong.extend(dimension.values.iter().filter_map(check));
    }
    if !wrong.is_empty() {
        return Err(Refusal::usage(wrong.join("\n")));
    }
    check_directories(design, jobs)?;
    if !varies(design, |setting| setting == Setting::Fs) {
        return Ok(());
    }
    let arranged =
        CellSetup { arguments: vec![format!("--directory={ELSEWHERE}")], ..CellSetup::default() };
    let invocation = jobs.on(&design.at(0), &arranged)?;
    // Below another directory an absolute name is one like any other: there, and not where it says.
    let names = invocation.jobs.iter().flat_map(|job| &job.target.filenames);
    if let Some(name) = names.into_iter().find(|name| name.starts_with('/')) {
        return Err(elsewhere(name));
    }
    match targets(&invocation).into_iter().find(|path| !path.starts_with(ELSEWHERE)) {
        Some(path) => Err(elsewhere(&path)),
        None => Ok(()),
    }
}

/// Below each directory that is a target an absolute name would be that of another file, as many
/// directories deep.
fn check_directories(design: &Design, jobs: &Jobs) -> Result<()> {
    let Some(index) = design.dimensions.iter().position(|one| one.name == TARGET) else {
        return Ok(());
    };
    for directory in design.dimensions[index].values.iter().filter(|it| Path::new(it).is_dir()) {
        let mut at = design.at(0);
        at[index].value.clone_from(directory);
        let invocation = jobs.on(&at, &CellSetup::default())?;
        let mut names = invocation.jobs.iter().flat_map(|job| &job.target.filenames);
        if let Some(name) = names.find(|name| name.starts_with('/')) {
            return Err(Refusal::usage(format!(
                "--vary target={directory}: the job works on {name}, which in that directory would \
                 be {directory}{name}: leave out filename, or give a name without directories"
            )));
        }
    }
    Ok(())
}

fn elsewhere(path: &str) -> anyhow::Error {
    Refusal::usage(format!(
        "--vary fs=…: the job works on {path}, not on the filesystems made for it: leave out \
         filename, or give a name without directories"
    ))
}

/// What filesystems are made on: what was named, or a scratch file beside what the job works on.
fn ground(manifest: &Manifest, invocation: &Invocation) -> Result<Option<MkfsTarget>> {
    if !varies(&manifest.design, |setting| setting == Setting::Fs) {
        return Ok(None);
    }
    let named = manifest.fs_on.as_deref().unwrap_or(".");
    let size = manifest.fs_size.unwrap_or(FS_SIZE);
    Ok(Some(match Path::new(named).is_dir() {
        true => MkfsTarget::Scratch { directory: named.into(), size },
        false => MkfsTarget::Device {
            path: named.into(),
            allow_destroy: invocation.allow_destroy.clone(),
        },
    }))
}

/// A machine that is ready to be changed, all changes tried once; `None` where none is varied. With
/// the time that one change takes.
///
/// # Errors
/// What the machine cannot do; all is as before.
pub fn begin(
    manifest: &Manifest,
    jobs: &Jobs,
    first: &Invocation,
    runner: &Runner,
) -> Result<Option<(Session, Nanos)>> {
    let design = &manifest.design;
    if !varies(design, |_| true) {
        return Ok(None);
    }
    let state = tuning::state_directory().map_err(failed)?;
    let signals = runner.signals()?;
    signals.catch_hang_up()?;
    let stop = Box::new(signals.watch());
    let ground = ground(manifest, first)?;
    let (mut session, before) =
        Session::begin(runner.host().clone(), &state, ground, stop).map_err(failed)?;
    before.done.iter().for_each(|line| say(&format!("left by an earlier sweep: {line}\n")));
    let (mut combinations, mut worked_on) = (Vec::new(), Vec::new());
    for cell in 0..design.cells() {
        let at = design.at(cell);
        let values = of(&at);
        if !combinations.contains(&values) {
            combinations.push(values);
            worked_on.extend(targets(&jobs.on(&at, &CellSetup::default())?));
        }
    }
    worked_on.sort();
    worked_on.dedup();
    let began = Instant::now();
    let rehearsed = session.rehearse(&combinations, &worked_on);
    if let Some(signal) = runner.caught() {
        let text = format!("ended by signal {signal} before anything was measured");
        return Err(Refusal::interrupted(signal, text));
    }
    rehearsed.map_err(failed)?.iter().for_each(|note| say(&format!("{note}\n")));
    let each = began.elapsed().as_nanos() as u64 / combinations.len().max(1) as u64;
    Ok(Some((session, Nanos(each))))
}

/// Puts all back; what could not be is an error.
///
/// # Errors
/// What is not as it was, and how to try again.
pub fn put_back(session: Option<&mut Session>) -> Result<()> {
    let Some(session) = session else { return Ok(()) };
    let outcome = session.put_back();
    match outcome.failed.is_empty() {
        true => Ok(()),
        false => bail!(
            "not put back as it was: {}; fathom sweep --restore tries again",
            outcome.failed.join("; ")
        ),
    }
}
