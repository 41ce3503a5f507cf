//! `cargo xtask dist`: what users install. One portable program, then a tar.gz, Debian packages, RPMs and
//! a Python wheel around it, a list of its parts, and their checks. It takes minutes and is not part of
//! `cargo xtask test`.

mod bill;
mod checks;
mod container;
mod process;
mod program;
mod stage;
mod tools;
mod workshop;

use anyhow::Result;
use clap::Args;
use process::output;
use program::Build;
use std::path::{Path, PathBuf};
use std::process::Command;
use tools::Tools;
use workshop::Workshop;

/// What to make.
#[derive(Args)]
pub struct Options {
    /// Pack this program instead of a dist build, to try the packaging. No wheel is made of it.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Build for aarch64 too: only the program and its tar.gz.
    #[arg(long)]
    aarch64: bool,
    /// Build a second time in another directory, and compare the bytes.
    #[arg(long)]
    reproduce: bool,
    /// Do not install the packages in a fresh root, and build no container image.
    #[arg(long)]
    no_root: bool,
}

/// Makes the packages and checks them.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let packages = root.join("target/packages");
    std::fs::create_dir_all(&packages)?;
    let epoch = output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?;
    let tools = Tools::ready(&packages.join("tools"))?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let shop = Workshop { root, packages, tools, epoch: epoch.trim().into(), version };
    checks::sources(&shop)?;
    let build = Build::of_commit(root)?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build.program(&shop)?,
    };
    let documents = stage::documents(&shop, &program)?;
    stage::fill(&shop, &program, &documents)?;
    shop.tar(program::X86_64)?;
    shop.debian()?;
    shop.rpm()?;
    checks::all(&shop, options.program.is_none(), !options.no_root)?;
    if options.reproduce {
        build.reproduce(&shop, &program)?;
    }
    if options.aarch64 {
        let program = build.for_arm(&shop)?;
        checks::arm(&shop, &program)?;
        stage::fill(&shop, &program, &documents)?;
        shop.tar(program::AARCH64)?;
    }
    shop.sums()
}
