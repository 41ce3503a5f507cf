//! `cargo xtask bench`: our program against fio, the same jobs, turn by turn on the same machine,
//! so that what drifts on it (heat, other guests) meets both.

mod bounds;
mod capture;
mod cases;
mod instructions;
mod machine;
mod measure;
mod measured;
mod options;
mod output;
mod s3;
mod sample;
mod table;
mod targets;
mod tools;

use crate::{cargo, interrupt};
use anyhow::{Context, Result, bail};
pub use bounds::middle;
use cases::{Case, Ends, Peer};
pub use machine::facts as machine_facts;
use measure::Program;
use measured::Measured;
pub use options::Options;
use options::Other;
use output::publish;
use sample::Sample;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use targets::Targets;
pub use targets::{Zram, fill_with_noise};

/// Measures, and writes the table to stdout and to `target/bench.md`. What was set up for it is
/// taken down again, also after an error or an interrupt.
pub fn run(root: &Path, options: &Options) -> Result<()> {
    let interrupted = interrupt::catch()?;
    match &options.other {
        Some(Other::S3(options)) => return s3::run(root, options, &interrupted),
        Some(Other::Capture(options)) => return capture::run(root, options, &interrupted),
        None => {}
    }
    let ours = cargo::measured_program(root, options.fathom.as_deref())?;
    let facts = machine::facts();
    if options.tools {
        let mut text = tools::run(&ours, options, &interrupted)?;
        text.push_str("\nMachine:\n\n");
        facts.iter().for_each(|fact| text.push_str(&format!("- {fact}\n")));
        return publish(root, options.output.as_deref(), &text, "bench-tools.md");
    }
    let wanted = cases::select(&options.cases)?;
    let scratch = tempfile::tempdir().context("making a scratch directory")?;
    // Under this name our program speaks fio's command line and prints fio's JSON.
    let alias = scratch.path().join("fio");
    std::os::unix::fs::symlink(&ours, &alias).context("linking our program as fio")?;
    let programs = [Program::new("fio", &options.fio)?, Program::new("fathom", &alias)?];

    let directory = root.join(&options.dir);
    let targets = Targets::set_up(&wanted, &directory, options.size, &interrupted)?;
    let bench =
        Bench { programs, targets, scratch: scratch.path(), options, interrupted: &interrupted };
    let mut measured = Vec::new();
    let mut left_out = Vec::new();
    for case in wanted {
        match bench.targets.path(case.target) {
            Ok(target) => measured.push(bench.measure(case, target)?),
            Err(reason) => {
                eprintln!("{} left out: {reason}", case.name);
                left_out.push((case.name, reason));
            }
        }
    }
    let text = table::markdown(&measured, &left_out, &bench.programs, options, &facts);
    publish(root, options.output.as_deref(), &text, "bench.md")
}

/// What all cases are measured with.
struct Bench<'a> {
    /// fio, and ours.
    programs: [Program; 2],
    targets: Targets,
    scratch: &'a Path,
    options: &'a Options,
    interrupted: &'a AtomicBool,
}

impl Bench<'_> {
    fn measure(&self, case: &'static Case, target: Option<&Path>) -> Result<Measured> {
        let arguments = |job| case.arguments(job, target, self.options.seconds);
        let [fio, fathom] = &self.programs;
        let ours = (fathom, arguments(case.job()));
        let peer = case
            .peer_job()
            .map(|job| (if case.peer == Peer::Fio { fio } else { fathom }, arguments(job)));
        let mut measured =
            Measured { case, peer: Vec::new(), fathom: Vec::new(), instructions: None };
        for round in 0..self.options.rounds {
            self.round(round, peer.as_ref(), &ours, &mut measured)?;
        }
        if case.counted {
            let counted = [
                (peer.map(|(program, _)| program), case.peer_job()),
                (Some(fathom), Some(case.job())),
            ]
            .map(|(program, job)| self.count(program?, &job?));
            measured.instructions = Some(counted);
        }
        Ok(measured)
    }

    /// One run of each. Who begins changes every round, so that neither always meets what the
    /// other left behind.
    fn round(
        &self,
        round: u32,
        peer: Option<&(&Program, Vec<String>)>,
        ours: &(&Program, Vec<String>),
        measured: &mut Measured,
    ) -> Result<()> {
        let case = measured.case;
        let mut turns = [(peer, &mut measured.peer), (Some(ours), &mut measured.fathom)];
        if round % 2 == 1 {
            turns.reverse();
        }
        for (turn, samples) in turns {
            let Some((program, arguments)) = turn else { continue };
            self.targets.renew(case.target)?;
            let sample = program.run(arguments, case.ends, &self.scratch.join("out.json"));
            if self.interrupted.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            samples.push(sample.with_context(|| format!("{} of {}", case.name, program.name))?);
        }
        let figure = |samples: &[Sample]| {
            samples.last().map_or("nothing".to_string(), |last| match case.ends {
                Ends::Timed => format!("{:.0} I/Os per second", last.iops),
                Ends::Done | Ends::Refused => format!("{:.1} ms", last.elapsed_ns / 1e6),
            })
        };
        eprintln!(
            "{} {}/{}: peer {}, fathom {}",
            case.name,
            round + 1,
            self.options.rounds,
            figure(&measured.peer),
            figure(&measured.fathom),
        );
        Ok(())
    }

    /// Instructions an I/O; where they cannot be counted, says why.
    fn count(&self, program: &Program, job: &[String]) -> Option<f64> {
        instructions::per_io(&program.path, job, self.scratch)
            .inspect_err(|error| {
                eprintln!("instructions of {} not counted: {error:#}", program.name)
            })
            .ok()
    }
}
