//! `cargo xtask bench capture`: what a capture costs the application, which reads from the page cache at a
//! pace, with and without a capture in turn.

use super::bounds::{Bound, Demand, Figure, at_least, middle};
use super::cases::Ends;
use super::machine;
use super::measure::Program;
use super::measured::ratio;
use super::output::publish;
use super::sample::Sample;
use crate::cargo;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use trace::ftr::{AnyTrace, Entry};

/// The calls are those of so many threads.
const THREADS: u64 = 2;

/// How often, how long, and how many calls.
#[derive(Args)]
pub struct Options {
    /// Measure this program as ours instead of building it.
    #[arg(long, value_name = "PATH")]
    fathom: Option<PathBuf>,
    /// Runs with a capture, and as many without.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(3..))]
    rounds: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Calls a second.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1000..))]
    calls: u64,
    /// Write the table here as well.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The figures that are compared.
const FIGURES: [Figure; 4] = [Figure::Rate, Figure::Process, Figure::Median, Figure::P99];
/// An application is at most 5 % slower.
const BOUND: Bound = at_least(Figure::Rate, 0.95);

/// Measures, and writes the table.
pub fn run(root: &Path, options: &Options, interrupted: &AtomicBool) -> Result<()> {
    let ours = cargo::measured_program(root, options.fathom.as_deref())?;
    let mut facts = machine::facts();
    // The program that reads is the same file by another name, under which it prints fio's JSON.
    let scratch = tempfile::tempdir_in(cargo::target_directory(root)).context("a directory")?;
    let alias = scratch.path().join("fio");
    std::os::unix::fs::symlink(&ours, &alias).context("linking our program as fio")?;
    let reader = Program::new("fathom", &alias)?;
    facts.insert(0, format!("Program: {}", reader.version));
    let files = scratch.path().join("files");
    std::fs::create_dir(&files).context("making the directory of files")?;
    let mut arguments = load(&files, options);
    arguments.push("--create_only=1".to_owned());
    let made = Command::new(&alias).args(&arguments).stdout(Stdio::null()).status()?;
    ensure!(made.success(), "the files cannot be made: {made}");
    arguments.pop();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let (mut seen, mut lost) = (0, 0);
    for round in 0..options.rounds {
        // Which begins changes, so that neither always meets what the other left.
        for turn in [round % 2, 1 - round % 2] {
            let capture = match turn {
                0 => None,
                _ => Some(Capture::start(&ours, &files, &scratch.path().join("run.ftr"))?),
            };
            let output = scratch.path().join("out.json");
            let sample = reader.run(&arguments, Ends::Timed, &output)?;
            let Some(capture) = capture else {
                without.push(sample);
                continue;
            };
            let counted = capture.end()?;
            (seen, lost) = (seen + counted.0, lost + counted.1);
            with.push(sample);
            if interrupted.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
        }
        eprintln!("round {} of {}", round + 1, options.rounds);
    }
    let mut text = table(&without, &with, options);
    let _ = write!(text, "\nCaptured: {seen} events; lost: {lost}.\n\nMachine:\n\n");
    facts.iter().for_each(|fact| text.push_str(&format!("- {fact}\n")));
    publish(root, options.output.as_deref(), &text, "bench-capture.md")
}

/// Reads from the page cache at a pace.
fn load(files: &Path, options: &Options) -> Vec<String> {
    let fixed = ["--name=load", "--ioengine=psync", "--rw=randread", "--bs=4k", "--size=64m"];
    let cached = ["--invalidate=0", "--time_based", "--group_reporting"];
    let mut arguments: Vec<String> =
        fixed.iter().chain(&cached).map(|word| (*word).to_owned()).collect();
    arguments.extend([
        format!("--numjobs={THREADS}"),
        format!("--rate_iops={}", options.calls / THREADS),
        format!("--runtime={}", options.seconds),
        format!("--filename={}", files.join("data").display()),
    ]);
    arguments
}

/// A capture that runs, ended with the value.
struct Capture {
    child: Child,
    trace: PathBuf,
}

impl Capture {
    /// Starts it, and waits until it captures.
    fn start(program: &Path, files: &Path, trace: &Path) -> Result<Capture> {
        let mut command = Command::new(program);
        command.args(["capture", "--level=application"]).arg(files).arg("-o").arg(trace);
        let mut child = command.stderr(Stdio::piped()).spawn().context("starting the capture")?;
        let said = child.stderr.take().context("the capture's stderr")?;
        let capture = Capture { child, trace: trace.to_owned() };
        let mut lines = BufReader::new(said).lines().map_while(Result::ok);
        ensure!(lines.any(|line| line.contains("capturing")), "the capture did not begin");
        // What it says later must find a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(capture)
    }

    /// Ends it. Returns the events that it saw, and those that it lost.
    fn end(mut self) -> Result<(u64, u64)> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
        self.child.wait()?;
        let mut trace = AnyTrace::open(BufReader::new(File::open(&self.trace)?))?;
        let mut seen = 0;
        for entry in &mut trace {
            seen += u64::from(matches!(entry?, Entry::Event(_)));
        }
        let end = trace.end().context("the capture did not end in good order")?;
        Ok((seen, end.lost))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn table(without: &[Sample], with: &[Sample], options: &Options) -> String {
    let Options { calls, rounds, seconds, .. } = options;
    let mut text = format!(
        "# What a capture costs\n\n{THREADS} threads make {calls} reads of 4 KiB a second from the page cache, with \
         and without a capture in turn: {rounds} runs of {seconds} s of each. Figures are medians; a ratio is the \
         median of the rounds' own.\n\n\
         | | without | with | ratio | demanded | |\n|---|--:|--:|--:|---|---|\n"
    );
    for figure in FIGURES {
        let ratio = ratio(without, with, figure);
        let (demanded, held) = match BOUND {
            Bound { figure: of, demand: Demand::RatioAtLeast(least) } if of == figure => {
                (format!("≥ {least}"), if ratio >= least { "held" } else { "**missed**" })
            }
            _ => (String::new(), ""),
        };
        let median =
            |samples: &[Sample]| middle(samples.iter().map(|one| figure.value(one)).collect());
        let [a, b] = [without, with].map(median);
        let name = figure.name();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {name} | {a:.0} | {b:.0} | {ratio:.3} | {demanded} | {held} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::of_iops;
    use super::*;

    #[test]
    fn an_application_that_is_slower_misses_the_bound() {
        let options = Options { fathom: None, rounds: 3, seconds: 1, calls: 1000, output: None };
        let said = |with: &[f64]| table(&of_iops(&[1000.0; 3]), &of_iops(with), &options);
        assert!(
            said(&[1000.0, 951.0, 1.0]).contains("| IOPS | 1000 | 951 | 0.951 | ≥ 0.95 | held |")
        );
        assert!(said(&[949.0, 949.0, 1000.0]).contains("| 0.949 | ≥ 0.95 | **missed** |"));
    }
}
