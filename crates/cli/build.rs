//! Tells the program which commit and profile it is built from, as `FATHOM_BUILD`.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=FATHOM_COMMIT");
    // A source archive has no commits; who builds from one names the commit.
    let commit = std::env::var("FATHOM_COMMIT").ok().filter(|commit| !commit.is_empty());
    let parts: Vec<String> =
        [commit.or_else(checked_out), Some(profile())].into_iter().flatten().collect();
    println!("cargo::rustc-env=FATHOM_BUILD={}", parts.join(", "));
}

/// The commit of the checkout that this is built in.
fn checked_out() -> Option<String> {
    // Changes with each commit, unlike HEAD, which names a branch.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists());
    println!("cargo::rerun-if-changed={}", log.as_deref().unwrap_or("build.rs"));
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| text.trim().to_owned())
}

/// The name of the profile, which is that of the directory in which cargo builds. `PROFILE` knows only
/// debug and release.
fn profile() -> String {
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let mut above = Path::new(&out).ancestors().skip_while(|at| !at.ends_with("build"));
    let directory = above.nth(1).and_then(Path::file_name).unwrap_or_default();
    directory.to_string_lossy().into_owned()
}
