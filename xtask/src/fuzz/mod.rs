//! `cargo xtask fuzz TARGET --seconds 60`: damaged inputs for a parser, until it panics, takes too
//! long, or time is up.
//!
//! Inputs begin with the kept corpus, `fuzz/corpus/TARGET/`, and are changed at random: bits, bytes,
//! words of the target's own language, parts of other inputs. One whose answer was not seen before
//! (an error's text without its numbers) is changed further. A failing input is kept in
//! `fuzz/found/`; once it is mended it belongs into the corpus, which the tests of this crate run.

mod mutate;
mod other_tools;
mod targets;

use anyhow::{Context, Result, bail};
use mutate::Mutator;
use std::collections::HashSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use targets::{TARGETS, Target};

/// A parser that needs longer for an input of a few kilobytes hangs some day.
const PATIENCE: Duration = Duration::from_secs(2);
/// Inputs kept because of their answers.
const KEPT_MAX: usize = 5_000;

/// What to fuzz and how long.
#[derive(clap::Args)]
pub struct Options {
    /// The parser: jobfile, cmdline, iolog, ftr (traces), strace, blktrace, pattern, bssplit,
    /// frames, diskspd, diskspd-profile, ior, iozone, mdtest, io500 (its configuration), dd (and hdparm), watch-log, answers (of object stores), http
    /// (what carries them), profiles (with their keys), endpoints, or all in turn.
    target: String,
    /// How long, each.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where chance begins; the same number makes the same inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Fuzzes. Returns 1 when an input was found that a parser cannot take.
pub fn run(root: &Path, options: &Options) -> Result<u8> {
    let chosen: Vec<&Target> = match options.target.as_str() {
        "all" => TARGETS.iter().collect(),
        name => TARGETS.iter().filter(|target| target.name == name).collect(),
    };
    if chosen.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        bail!("no target '{}': expected all or one of {}", options.target, names.join(", "));
    }
    let mut failed = 0;
    for target in chosen {
        failed += u8::from(!fuzz(root, target, options)?);
    }
    Ok(failed.min(1))
}

/// Whether the target took everything.
fn fuzz(root: &Path, target: &Target, options: &Options) -> Result<bool> {
    let mut kept = corpus(root, target)?;
    let mut mutator = Mutator::new(options.seed, target.words);
    let mut seen = HashSet::new();
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut inputs = 0_u64;
    while Instant::now() < end {
        let input = match kept.get(inputs as usize) {
            Some(first) if inputs < kept.len() as u64 => first.clone(),
            _ => mutator.mutate(&kept),
        };
        inputs += 1;
        match attempt(target, &input) {
            Ok(answer) => {
                if seen.insert(answer) && kept.len() < KEPT_MAX {
                    kept.push(input);
                }
            }
            Err(why) => {
                let place = keep(root, target, &input)?;
                println!("{}: {why}: {}", target.name, place.display());
                return Ok(false);
            }
        }
    }
    println!("{}: {inputs} inputs, {} different answers, none failed", target.name, seen.len());
    Ok(true)
}

/// What the target answers, its numbers left out; the error says how it failed.
fn attempt(target: &Target, input: &[u8]) -> Result<String, String> {
    let begun = Instant::now();
    let answer = catch_unwind(|| (target.run)(input)).map_err(|_| "it panicked".to_owned())?;
    match begun.elapsed() {
        passed if passed > PATIENCE => Err(format!("it took {passed:?}")),
        _ => Ok(answer.chars().filter(|c| !c.is_ascii_digit()).take(200).collect()),
    }
}

/// The kept inputs of a target, in the order of their names.
fn corpus(root: &Path, target: &Target) -> Result<Vec<Vec<u8>>> {
    let directory = root.join("fuzz/corpus").join(target.name);
    let entries = fs::read_dir(&directory).with_context(|| directory.display().to_string())?;
    let mut paths = entries.map(|e| Ok(e?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    let read = |path: PathBuf| fs::read(&path).with_context(|| path.display().to_string());
    paths.into_iter().map(read).collect()
}

fn keep(root: &Path, target: &Target, input: &[u8]) -> Result<PathBuf> {
    let directory = root.join("fuzz/found");
    fs::create_dir_all(&directory)?;
    let sum = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let place = directory.join(format!("{}-{sum:016x}", target.name));
    fs::write(&place, input)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn every_target_takes_its_corpus_and_what_is_close_to_it() {
        for target in TARGETS {
            let kept = corpus(&workspace::root(), target).unwrap();
            assert!(kept.len() >= 3, "{} has a corpus of {}", target.name, kept.len());
            let mut mutator = Mutator::new(7, target.words);
            let close: Vec<Vec<u8>> = (0..200).map(|_| mutator.mutate(&kept)).collect();
            for input in kept.iter().chain(&close) {
                let text = String::from_utf8_lossy(input);
                assert!(attempt(target, input).is_ok(), "{}: {text:?}", target.name);
            }
        }
    }

    #[test]
    fn what_panics_or_hangs_has_failed() {
        let panics = Target { name: "x", words: &[], run: |_| panic!("as it should") };
        assert_eq!(attempt(&panics, b""), Err("it panicked".into()));
        let fine = Target { name: "x", words: &[], run: |_| "line 17: no".into() };
        assert_eq!(attempt(&fine, b""), Ok("line : no".into()));
    }
}
