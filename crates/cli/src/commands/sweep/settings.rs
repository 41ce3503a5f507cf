//! Settings of the machine that a sweep varies: checked, tried once, and restored at the end.

use super::cell_jobs::{CellJobs, TARGET};
use crate::output::write_stderr;
use anyhow::{Result, bail};
use job::Invocation;
use record::{Bytes, Coordinate, Nanos};
use runner::{Refusal, Runner};
use std::collections::HashSet;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use suite::sweep::{Design, Manifest};
use tuning::{CellSetup, Kind, MkfsTarget, Session, Setting};

/// Default size of a scratch filesystem: enough for every type.
const FS_SIZE: Bytes = Bytes(1 << 30);

/// A directory that cannot exist. A job that still has targets elsewhere ignores `directory`.
const UNUSED_DIRECTORY: &str = "/proc/fathom-sweep";

/// The settings of the machine among the coordinates of a cell.
pub fn of_cell(at: &[Coordinate]) -> Vec<(Setting, String)> {
    let setting = |c: &Coordinate| Some((Setting::from_name(&c.dimension)?, c.value.clone()));
    at.iter().filter_map(setting).collect()
}

/// Whether the sweep varies a setting for which `is_meant` is true.
pub fn varies(design: &Design, is_meant: impl Fn(Setting) -> bool) -> bool {
    design.dimensions.iter().filter_map(|one| Setting::from_name(&one.name)).any(is_meant)
}

/// An error of tuning as a refusal, which has an exit code.
pub fn to_refusal(error: tuning::Error) -> anyhow::Error {
    match error.kind {
        Kind::Usage => Refusal::usage(error.text),
        Kind::Refused => Refusal::target(error.text),
        Kind::Failed => error.into(),
    }
}

/// The targets of the jobs: all devices, and the first file of each directory, because files of one
/// directory are on one filesystem.
pub fn targets(invocation: &Invocation) -> Vec<String> {
    let all: Vec<String> =
        plan::targets(&invocation.jobs).into_iter().map(|wanted| wanted.path).collect();
    // plan::targets returns the directories of files as well.
    let above: HashSet<&Path> = all
        .iter()
        .flat_map(|path| Path::new(path).ancestors().skip(1))
        .map(or_current_directory)
        .collect();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let is_first_on_filesystem = |path: &&String| {
        let path = Path::new(path.as_str());
        let is_device =
            std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device());
        let place = if is_device { Some(path) } else { path.parent() };
        !above.contains(path) && seen.insert(place.unwrap_or(path).to_owned())
    };
    all.iter().filter(is_first_on_filesystem).cloned().collect()
}

/// The parent of a relative path has an empty name; among targets it is ".".
fn or_current_directory(directory: &Path) -> &Path {
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

/// Checks the values of settings, and that the job uses the filesystems that are made for it.
///
/// # Errors
/// All invalid values; a job with targets on other filesystems.
pub fn check(design: &Design, jobs: &CellJobs) -> Result<()> {
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
    let setup = CellSetup {
        arguments: vec![format!("--directory={UNUSED_DIRECTORY}")],
        ..CellSetup::default()
    };
    let invocation = jobs.parse(&design.at(0), &setup)?;
    // With `directory`, an absolute filename is taken relative to it.
    let names = invocation.jobs.iter().flat_map(|job| &job.target.filenames);
    if let Some(name) = names.into_iter().find(|name| name.starts_with('/')) {
        return Err(wrong_place(name));
    }
    match targets(&invocation).into_iter().find(|path| !path.starts_with(UNUSED_DIRECTORY)) {
        Some(path) => Err(wrong_place(&path)),
        None => Ok(()),
    }
}

/// Refuses absolute filenames below target directories: each would name another file.
fn check_directories(design: &Design, jobs: &CellJobs) -> Result<()> {
    let Some(index) = design.dimensions.iter().position(|one| one.name == TARGET) else {
        return Ok(());
    };
    for directory in
        design.dimensions[index].values.iter().filter(|value| Path::new(value).is_dir())
    {
        let mut at = design.at(0);
        at[index].value.clone_from(directory);
        let invocation = jobs.parse(&at, &CellSetup::default())?;
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

fn wrong_place(path: &str) -> anyhow::Error {
    Refusal::usage(format!(
        "--vary fs=…: the job works on {path}, not on the filesystems made for it: leave out \
         filename, or give a name without directories"
    ))
}

/// Where to make filesystems: the device of --fs-on, or a scratch file in a directory.
fn mkfs_target(manifest: &Manifest, invocation: &Invocation) -> Result<Option<MkfsTarget>> {
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

/// Starts a session that changes settings, and tries each combination of them once. Returns it with
/// the mean time of one change; `None` when no setting is varied.
///
/// # Errors
/// What the machine cannot do. All settings are as before then.
pub fn begin(
    manifest: &Manifest,
    jobs: &CellJobs,
    first: &Invocation,
    runner: &Runner,
) -> Result<Option<(Session, Nanos)>> {
    let design = &manifest.design;
    if !varies(design, |_| true) {
        return Ok(None);
    }
    let state = tuning::state_directory().map_err(to_refusal)?;
    let signals = runner.signals()?;
    signals.catch_hang_up()?;
    let stop = Box::new(signals.watch());
    let mkfs_target = mkfs_target(manifest, first)?;
    let (mut session, before) =
        Session::begin(runner.host().clone(), &state, mkfs_target, stop).map_err(to_refusal)?;
    before
        .done
        .iter()
        .for_each(|line| write_stderr(&format!("left by an earlier sweep: {line}\n")));
    let (mut combinations, mut worked_on) = (Vec::new(), Vec::new());
    for cell in 0..design.cells() {
        let at = design.at(cell);
        let values = of_cell(&at);
        if !combinations.contains(&values) {
            combinations.push(values);
            worked_on.extend(targets(&jobs.parse(&at, &CellSetup::default())?));
        }
    }
    worked_on.sort();
    worked_on.dedup();
    let began = Instant::now();
    let tried = session.rehearse(&combinations, &worked_on);
    if let Some(signal) = runner.caught() {
        let text = format!("ended by signal {signal} before anything was measured");
        return Err(Refusal::interrupted(signal, text));
    }
    tried.map_err(to_refusal)?.iter().for_each(|note| write_stderr(&format!("{note}\n")));
    let each = began.elapsed().as_nanos() as u64 / combinations.len().max(1) as u64;
    Ok(Some((session, Nanos(each))))
}

/// Restores all settings.
///
/// # Errors
/// The settings that could not be restored, and how to try again.
pub fn restore(session: Option<&mut Session>) -> Result<()> {
    let Some(session) = session else { return Ok(()) };
    let outcome = session.put_back();
    match outcome.failed.is_empty() {
        true => Ok(()),
        false => {
            bail!("not restored: {}; fathom sweep --restore tries again", outcome.failed.join("; "))
        }
    }
}
