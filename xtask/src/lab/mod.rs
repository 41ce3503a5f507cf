//! `cargo xtask lab`: our program on devices that a build machine does not have. A guest is booted
//! with emulated NVMe and SCSI disks, flash and persistent memory. It reads the health of disks, each
//! engine that speaks to such devices does I/O on them, and `--layers` times stacks of them. It needs QEMU, and the network once.

mod case;
mod engines;
mod guest;
mod health;
mod image;
mod layers;
mod monitor;
mod rdma;

use crate::cargo;
use anyhow::{Context, Result, ensure};
use clap::Args;
use guest::Share;
pub use image::{Content, Image, make};
pub use monitor::Monitor;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What to run in the guest.
#[derive(Args)]
pub struct Options {
    /// Only what takes seconds, for every change: no disk is worn out.
    #[arg(long)]
    quick: bool,
    /// Only the cases whose name contains this.
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// The program to test in place of the release build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Guests that boot at a time: software emulation uses little more than one CPU for each.
const GUESTS: usize = 2;

/// Modules of the guest's devices; numbers of disks follow their order.
const MODULES: &[&str] = &["nvme", "sd_mod"];

/// Builds the program, boots the guest, and holds what it says against what its devices are.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => {
            let built = cargo::command(root, &["build", "--release", "--quiet"]).status()?;
            ensure!(built.success(), "the release build failed");
            root.join("target/release/fathom")
        }
    };
    let cases = engines::chosen(options.quick, options.only.as_deref());
    let reads_health = !options.quick && options.only.is_none();
    let script = match reads_health {
        true => health::SCRIPT.to_owned() + &engines::script(&cases),
        false => engines::script(&cases),
    };
    let content = Content {
        program: &program,
        script: &script,
        modules: &[MODULES, engines::MODULES, rdma::MODULES].concat(),
        tools: &[engines::TOOLS, rdma::TOOLS].concat(),
        files: &rdma::FILES.iter().map(PathBuf::from).collect::<Vec<_>>(),
        devices: engines::DEVICES,
    };
    let guests = if reads_health || cases.len() < GUESTS { 1 } else { GUESTS };
    let parts = parts(&boot_shares(&root.join("target/lab"), &content, guests)?);
    let mut failed = if reads_health { health::check(&parts)? } else { 0 };
    failed += engines::check(&cases, &parts);
    ensure!(failed == 0, "{failed} of what the guest shows is not as it should be");
    Ok(())
}

/// The quick part with the program that the tests use; 1 if it fails.
pub fn quick(root: &Path) -> Result<u8> {
    let program = Some(root.join("target/debug/fathom"));
    match run(root, &Options { quick: true, only: None, program }) {
        Ok(()) => Ok(0),
        Err(error) => {
            eprintln!("{error:#}");
            Ok(1)
        }
    }
}

/// Boots a guest in `directory`, and returns what its script printed.
pub fn boot(directory: &Path, content: &Content) -> Result<String> {
    guest::run(directory, &image::make(directory, content)?, content.devices, Share::WHOLE)
}

/// Boots so many guests at a time, each for its share of the script, and returns what all of them printed.
fn boot_shares(directory: &Path, content: &Content, guests: usize) -> Result<String> {
    let image = &image::make(directory, content)?;
    std::thread::scope(|scope| {
        let boot = |number: usize| {
            let directory = directory.join(format!("guest{number}"));
            let share = Share { number, guests };
            scope.spawn(move || guest::run(&directory, image, content.devices, share))
        };
        let booted: Vec<_> = (0..guests).map(boot).collect();
        let printed = booted.into_iter().map(|guest| match guest.join() {
            Ok(printed) => printed,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        printed.collect()
    })
}

/// What the guest printed behind each line `== NAME`: (name, text).
fn parts(said: &str) -> Vec<(String, String)> {
    let lines = format!("\n{said}");
    let named = lines.split("\n== ").skip(1).filter_map(|part| part.split_once('\n'));
    named.map(|(name, text)| (name.trim().to_owned(), text.to_owned())).collect()
}

/// The JSON documents of the guest: (name, document).
pub fn documents(said: &str) -> Result<Vec<(String, Value)>> {
    let document = |(name, text): (String, String)| {
        let document = serde_json::from_str(&text)
            .with_context(|| format!("what the guest said of {name}: {text}"))?;
        Ok((name, document))
    };
    parts(said).into_iter().map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_stand_behind_their_names() {
        let found = documents("boot\n== a b\n{\"x\":1}\n== c\n[]\n").unwrap();
        assert_eq!(found[0], ("a b".to_owned(), serde_json::json!({"x": 1})));
        assert_eq!(found[1].0, "c");
        assert!(documents("== a\nkernel panic\n").is_err());
    }
}
