//! `cargo xtask recording`: what a user of `fathom test` sees, as a recording that terminals play
//! (asciinema) and as a picture that moves (SVG), for the README.

use crate::cargo;
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to record.
#[derive(Args)]
pub struct Options {
    /// Record this program instead of the release build.
    #[arg(long)]
    program: Option<PathBuf>,
}

/// The command, as it is typed.
const TYPED: &str = "fathom test --quick";
/// Below it the picture shows each state for this many milliseconds at least, and the last one for so many.
const FRAME_MS: &str = "250";
const LAST_MS: &str = "15000";

/// Runs the command in a terminal of 80 columns, and writes `docs/recording/test.cast` and `.svg`.
pub fn record(root: &Path, options: &Options) -> Result<()> {
    let program = cargo::measured_program(root, options.program.as_deref())?;
    let tools = testbed::recorder().map_err(anyhow::Error::msg)?;
    let place = root.join("docs/recording");
    std::fs::create_dir_all(&place)?;
    // Beside the build: most likely on a disk, where /tmp may be in memory.
    let scratch = tempfile::tempdir_in(cargo::target_directory(root))?;
    let (cast, picture) = (place.join("test.cast"), place.join("test.svg"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = program.parent().context("the program is in no directory")?.to_path_buf();
    let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path)))?;
    let typed = format!("echo '$ {TYPED}'; exec {TYPED}");
    let mut recorder = Command::new(tools.join("asciinema"));
    recorder
        .args(["rec", "--quiet", "--overwrite", "--cols=80", "--rows=25", "--env=TERM"])
        .args(["--title", TYPED, "--command", &typed])
        .arg(&cast)
        .current_dir(scratch.path())
        .env("FATHOM_ARCHIVE", scratch.path().join("archive.db"))
        .env("PATH", path)
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh");
    run(&mut recorder)?;
    let mut drawing = Command::new(tools.join("termtosvg"));
    drawing.args([OsStr::new("render"), cast.as_os_str(), picture.as_os_str()]);
    run(drawing.args(["-t", "gjm8", "-m", FRAME_MS, "-D", LAST_MS]))?;
    println!("{}\n{}", cast.display(), picture.display());
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}
