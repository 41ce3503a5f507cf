//! Work with files: archives, copies, compilation.

use super::{Kind, Planned, Sketch, Wish};
use crate::task::Action;
use crate::{project, tree};
use record::{Amount, WorkUnit};
use std::path::{Path, PathBuf};

/// Bytes a second that gzip reads, for a guess at the time it takes.
const GZIP: f64 = 25e6;
const GUNZIP: f64 = 200e6;
const COPY: f64 = 300e6;
/// Seconds of a compiler for one source file.
const COMPILER: f64 = 0.15;

fn run(program: &str, arguments: &[&str], at: &Path) -> Action {
    Action::Run(program.into(), arguments.iter().map(|a| (*a).to_owned()).collect(), at.into())
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Copies all blocks, where a filesystem could share them as well.
fn copied(from: &Path, to: &Path, at: &Path) -> Action {
    run("cp", &["-a", "--reflink=never", "--", &shown(from), &shown(to)], at)
}

/// The tree that archives and copies are made of.
struct Source {
    path: PathBuf,
    make: Action,
    files: u64,
    bytes: u64,
}

fn source(wish: &Wish, directory: &Path) -> Source {
    let path = directory.join("tree");
    let (made, files, bytes) = match &wish.tree {
        Some(own) => (copied(&own.path, &path, directory), own.files, own.bytes),
        None => {
            let shape = tree::Shape { files: wish.files, bytes: wish.size.0, seed: wish.seed };
            (Action::Tree(path.clone(), shape), wish.files.into(), wish.size.0)
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

/// Makes the archive, unless it is there.
fn archived(source: &Source, archive: &Path, directory: &Path) -> Action {
    let tar = run("tar", &["-cf", &shown(archive), "tree"], directory);
    Action::Unless(archive.into(), vec![source.make.clone(), tar])
}

fn bytes_of(source: &Source) -> Option<Amount> {
    Some(Amount { count: source.bytes, unit: WorkUnit::Bytes })
}

pub(super) fn gzip(wish: &Wish, directory: &Path) -> Vec<Planned> {
    let source = source(wish, directory);
    let (archive, packed) = (directory.join("tree.tar"), directory.join("tree.tar.gz"));
    let sketch = Sketch {
        name: "gzip",
        label: format!("gzip an archive of {}", size(source.bytes)),
        work: Kind::Gzip,
        seconds: source.bytes as f64 / GZIP,
        before: vec![archived(&source, &archive, directory), Action::Remove(packed)],
        action: run("gzip", &[&shown(&archive)], directory),
        amount: bytes_of(&source),
    };
    vec![wish.phase(sketch, directory)]
}

pub(super) fn gunzip(wish: &Wish, directory: &Path) -> Vec<Planned> {
    let source = source(wish, directory);
    let (archive, packed) = (directory.join("tree.tar"), directory.join("tree.tar.gz"));
    let pack =
        vec![archived(&source, &archive, directory), run("gzip", &[&shown(&archive)], directory)];
    let sketch = Sketch {
        name: "gunzip",
        label: format!("gunzip an archive of {}", size(source.bytes)),
        work: Kind::Gunzip,
        seconds: source.bytes as f64 / GUNZIP,
        before: vec![Action::Unless(packed.clone(), pack), Action::Remove(archive)],
        action: run("gzip", &["-d", &shown(&packed)], directory),
        amount: bytes_of(&source),
    };
    vec![wish.phase(sketch, directory)]
}

pub(super) fn copy(wish: &Wish, directory: &Path) -> Vec<Planned> {
    let source = source(wish, directory);
    let copy = directory.join("copy");
    let sketch = Sketch {
        name: "copy",
        label: format!("copy {} files, {}", source.files, size(source.bytes)),
        work: Kind::Copy,
        seconds: source.bytes as f64 / COPY,
        before: vec![source.make.clone(), Action::Remove(copy.clone())],
        action: copied(&source.path, &copy, directory),
        amount: Some(Amount { count: source.files, unit: WorkUnit::Files }),
    };
    vec![wish.phase(sketch, directory)]
}

pub(super) fn compile(wish: &Wish, directory: &Path) -> Vec<Planned> {
    match &wish.tree {
        Some(_) => own(wish, directory),
        None => generated(wish, directory),
    }
}

/// A project of the user's own: one command, on a fresh copy.
fn own(wish: &Wish, directory: &Path) -> Vec<Planned> {
    let source = source(wish, directory);
    let build = directory.join("build");
    let make = format!("make -j{}", wish.jobs);
    let command = wish.command.clone().unwrap_or(make);
    let sketch = Sketch {
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
    vec![wish.phase(sketch, directory)]
}

/// The generated project: configure, then make.
fn generated(wish: &Wish, directory: &Path) -> Vec<Planned> {
    let (project, build) = (directory.join("project"), directory.join("build"));
    let shape = project::Shape { files: wish.sources, seed: wish.seed };
    let configure = run(&shown(&build.join("configure")), &[], &build);
    let fresh = vec![
        Action::Unless(project.clone(), vec![Action::Project(project.clone(), shape)]),
        Action::Remove(build.clone()),
        copied(&project, &build, directory),
    ];
    let configuring = Sketch {
        name: "configure",
        label: format!("configure, {} checks", project::CHECKS),
        work: Kind::Compile,
        seconds: project::CHECKS as f64 * 0.03,
        before: fresh.clone(),
        action: configure.clone(),
        amount: Some(Amount { count: project::CHECKS, unit: WorkUnit::Checks }),
    };
    let jobs = format!("-j{}", wish.jobs);
    let making = Sketch {
        name: "make",
        label: format!("make {jobs}, {} source files", wish.sources),
        work: Kind::Compile,
        seconds: f64::from(wish.sources) * COMPILER / f64::from(wish.jobs.max(1)),
        before: Vec::new(),
        action: run("make", &["-s", &jobs], &build),
        amount: Some(Amount { count: wish.sources.into(), unit: WorkUnit::Files }),
    };
    vec![wish.phase(configuring, directory), wish.phase(making, directory)]
}
