//! Work with files: archives, copies, compilation.

use super::request::{AppRequest, Kind, PlannedPhase};
use crate::task::{Action, Task, Timed};
use crate::{project, tree};
use record::{Amount, Nanos, WorkUnit};
use std::path::{Path, PathBuf};
use suite::app::Phase;

/// Speed of gzip in bytes a second, for the expected time.
const GZIP: f64 = 25e6;
const GUNZIP: f64 = 200e6;
const COPY: f64 = 300e6;
/// Seconds to compile one source file.
const COMPILER: f64 = 0.15;

/// The parts in which phases with files differ.
struct FilePhase {
    name: &'static str,
    label: String,
    work: Kind,
    /// Expected time.
    seconds: f64,
    before: Vec<Action>,
    action: Action,
    amount: Option<Amount>,
}

impl AppRequest {
    /// A phase that needs no database.
    fn phase(&self, phase: FilePhase, directory: &Path) -> PlannedPhase {
        let FilePhase { name, label, work, seconds, before, action, amount } = phase;
        let mut timed = vec![Timed { name: name.to_owned(), action }];
        timed.extend(self.sync.then(|| Timed { name: "sync".into(), action: Action::Sync }));
        PlannedPhase {
            phase: Phase {
                name: name.to_owned(),
                label,
                work: work.name().into(),
                duration: Nanos(((seconds + 1.0) * 1e9) as u64),
            },
            task: Task {
                directory: directory.into(),
                before,
                caches: self.caches(),
                database: None,
                timed,
                amount,
            },
            server: None,
            restart: false,
        }
    }
}

fn run(program: &str, arguments: &[&str], at: &Path) -> Action {
    Action::Run(program.into(), arguments.iter().map(|a| (*a).to_owned()).collect(), at.into())
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Copies all blocks, even if the filesystem could share them.
fn copied(from: &Path, to: &Path, at: &Path) -> Action {
    run("cp", &["-a", "--reflink=never", "--", &shown(from), &shown(to)], at)
}

/// The tree that is archived and copied.
struct Source {
    path: PathBuf,
    make: Action,
    files: u64,
    bytes: u64,
}

fn source(request: &AppRequest, directory: &Path) -> Source {
    let path = directory.join("tree");
    let (made, files, bytes) = match &request.tree {
        Some(own) => (copied(&own.path, &path, directory), own.files, own.bytes),
        None => {
            let shape =
                tree::Shape { files: request.files, bytes: request.size.0, seed: request.seed };
            (Action::Tree(path.clone(), shape), request.files.into(), request.size.0)
        }
    };
    Source { make: Action::Unless(path.clone(), vec![made]), path, files, bytes }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// Makes the archive, unless it exists.
fn archived(source: &Source, archive: &Path, directory: &Path) -> Action {
    let tar = run("tar", &["-cf", &shown(archive), "tree"], directory);
    Action::Unless(archive.into(), vec![source.make.clone(), tar])
}

fn bytes_of(source: &Source) -> Option<Amount> {
    Some(Amount { count: source.bytes, unit: WorkUnit::Bytes })
}

pub(super) fn gzip(request: &AppRequest, directory: &Path) -> Vec<PlannedPhase> {
    let source = source(request, directory);
    let (archive, packed) = (directory.join("tree.tar"), directory.join("tree.tar.gz"));
    let phase = FilePhase {
        name: "gzip",
        label: format!("gzip an archive of {}", size(source.bytes)),
        work: Kind::Gzip,
        seconds: source.bytes as f64 / GZIP,
        before: vec![archived(&source, &archive, directory), Action::Remove(packed)],
        action: run("gzip", &[&shown(&archive)], directory),
        amount: bytes_of(&source),
    };
    vec![request.phase(phase, directory)]
}

pub(super) fn gunzip(request: &AppRequest, directory: &Path) -> Vec<PlannedPhase> {
    let source = source(request, directory);
    let (archive, packed) = (directory.join("tree.tar"), directory.join("tree.tar.gz"));
    let pack =
        vec![archived(&source, &archive, directory), run("gzip", &[&shown(&archive)], directory)];
    let phase = FilePhase {
        name: "gunzip",
        label: format!("gunzip an archive of {}", size(source.bytes)),
        work: Kind::Gunzip,
        seconds: source.bytes as f64 / GUNZIP,
        before: vec![Action::Unless(packed.clone(), pack), Action::Remove(archive)],
        action: run("gzip", &["-d", &shown(&packed)], directory),
        amount: bytes_of(&source),
    };
    vec![request.phase(phase, directory)]
}

pub(super) fn copy(request: &AppRequest, directory: &Path) -> Vec<PlannedPhase> {
    let source = source(request, directory);
    let copy = directory.join("copy");
    let phase = FilePhase {
        name: "copy",
        label: format!("copy {} files, {}", source.files, size(source.bytes)),
        work: Kind::Copy,
        seconds: source.bytes as f64 / COPY,
        before: vec![source.make.clone(), Action::Remove(copy.clone())],
        action: copied(&source.path, &copy, directory),
        amount: Some(Amount { count: source.files, unit: WorkUnit::Files }),
    };
    vec![request.phase(phase, directory)]
}

pub(super) fn compile(request: &AppRequest, directory: &Path) -> Vec<PlannedPhase> {
    match &request.tree {
        Some(_) => user_project(request, directory),
        None => generated(request, directory),
    }
}

/// A project of the user's own: one command, on a fresh copy.
fn user_project(request: &AppRequest, directory: &Path) -> Vec<PlannedPhase> {
    let source = source(request, directory);
    let build = directory.join("build");
    let make = format!("make -j{}", request.jobs);
    let command = request.command.clone().unwrap_or(make);
    let phase = FilePhase {
        name: "compile",
        label: format!("{command}, {} files", source.files),
        work: Kind::Compile,
        seconds: source.files as f64 * COMPILER,
        before: vec![
            source.make.clone(),
            Action::Remove(build.clone()),
            copied(&source.path, &build, directory),
        ],
        action: run("sh", &["-c", &command], &build),
        amount: None,
    };
    vec![request.phase(phase, directory)]
}

/// The generated project: configure, then make.
fn generated(request: &AppRequest, directory: &Path) -> Vec<PlannedPhase> {
    let (project, build) = (directory.join("project"), directory.join("build"));
    let shape = project::Shape { files: request.sources, seed: request.seed };
    let configure = run(&shown(&build.join("configure")), &[], &build);
    let fresh = vec![
        Action::Unless(project.clone(), vec![Action::Project(project.clone(), shape)]),
        Action::Remove(build.clone()),
        copied(&project, &build, directory),
    ];
    let configuring = FilePhase {
        name: "configure",
        label: format!("configure, {} checks", project::CHECKS),
        work: Kind::Compile,
        seconds: project::CHECKS as f64 * 0.03,
        before: fresh.clone(),
        action: configure.clone(),
        amount: Some(Amount { count: project::CHECKS, unit: WorkUnit::Checks }),
    };
    let jobs = format!("-j{}", request.jobs);
    let making = FilePhase {
        name: "make",
        label: format!("make {jobs}, {} source files", request.sources),
        work: Kind::Compile,
        seconds: f64::from(request.sources) * COMPILER / f64::from(request.jobs.max(1)),
        before: Vec::new(),
        action: run("make", &["-s", &jobs], &build),
        amount: Some(Amount { count: request.sources.into(), unit: WorkUnit::Files }),
    };
    vec![request.phase(configuring, directory), request.phase(making, directory)]
}
