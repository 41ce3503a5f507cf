//! `fathom powercut campaign`: writes, cuts and checks until there were so many cuts. What it has done is
//! known to the server, so it goes on after the tester was started again.

use super::check::{self, Found, KIND, ReportArguments};
use super::target::Target;
use super::write::{WriteArguments, Writer, Written};
use crate::exit;
use crate::output::{Output, write_stderr};
use crate::suites;
use anyhow::{Context, Result};
use clap::Args;
use powercut::campaign::{Next, systemd_unit};
use powercut::client::Client;
use record::Nanos;
use runner::{Refusal, RunArchive, Runner, Signals};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The pause between two attempts to reach what is not there yet.
const PAUSE: Duration = Duration::from_secs(1);

/// Arguments of `fathom powercut campaign`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    writes: WriteArguments,
    /// Command that cuts the power, run by the shell.
    #[arg(long, value_name = "COMMAND")]
    cut: String,
    /// Cuts of this target that the server shall know in the end; earlier ones count.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    cuts: u32,
    /// How long to wait after a cut until target and server are there.
    #[arg(long, value_name = "TIME", default_value = "120", value_parser = suites::time)]
    boot_wait: Nanos,
    /// Print a systemd unit that continues the campaign after each start of this machine, and do nothing
    /// else.
    #[arg(long)]
    print_unit: bool,
    #[command(flatten)]
    output: ReportArguments,
}

/// Cuts and checks. 0: every promise was kept in every cut; 1: one was broken, or an error.
pub fn main(arguments: &Arguments) -> Result<u8> {
    if arguments.print_unit {
        Output::Stdout.write(&unit(arguments)?)?;
        return Ok(0);
    }
    let path = arguments.writes.target()?;
    let set = PathBuf::from(format!("{path} to {}", arguments.writes.address()));
    let archive = || -> Result<RunArchive> {
        let choice = arguments.output.archive.choice()?;
        Ok(RunArchive::for_set(choice, KIND, 0).continuing(&set))
    };
    archive()?;
    let signals = Signals::catch()?;
    let campaign = Campaign { arguments, path, signals: &signals };
    write_stderr(&format!("fathom: {}\n", powercut::report::outlook_of(arguments.cuts.into())));
    let mut last = None;
    loop {
        let next = match campaign.patiently(|| campaign.next())? {
            Some(next) => next,
            None => return Ok(interrupted(&signals)),
        };
        let (run, cuts) = match next {
            Next::Check { run, cuts } => (run, cuts),
            Next::Done { run, .. } if last.is_none() => (run, arguments.cuts),
            Next::Done { .. } => break,
            Next::Write => match campaign.write()? {
                Written::Interrupted(signal) => return Ok(exit::interrupted(signal, false)),
                Written::Cut | Written::InTime => continue,
            },
        };
        let Some(found) = campaign.patiently(|| campaign.check(run))? else {
            return Ok(interrupted(&signals));
        };
        // A campaign that was done before is only reported.
        if cuts < arguments.cuts {
            found.archive(archive()?, Some(cuts));
            found.save(&arguments.output)?;
            let number = cuts + u32::from(found.checked.is_cut);
            let verdict = found.report().verdict();
            write_stderr(&format!("fathom: cut {number} of {}: {verdict}\n", arguments.cuts));
        }
        last = Some(found);
    }
    let found = last.expect("a campaign that is done has a check");
    found.print(&arguments.output)?;
    let is_broken = found.history.iter().any(|checked| checked.broken() > 0);
    Ok(if is_broken { exit::ERRORS } else { 0 })
}

fn interrupted(signals: &Signals) -> u8 {
    signals.caught().map_or(exit::ERRORS, |signal| exit::interrupted(signal, false))
}

struct Campaign<'a> {
    arguments: &'a Arguments,
    path: &'a str,
    signals: &'a Signals,
}

impl Campaign<'_> {
    fn connect(&self) -> Result<Client> {
        self.arguments.writes.connect()
    }

    /// Tries again until it is there: after a start, the network and filesystems come late. `None`: a
    /// signal came.
    fn patiently<T>(&self, attempt: impl Fn() -> Result<T>) -> Result<Option<T>> {
        let begun = Instant::now();
        let patience = Duration::from_nanos(self.arguments.boot_wait.0);
        loop {
            match attempt() {
                _ if self.signals.caught().is_some() => return Ok(None),
                Ok(done) => return Ok(Some(done)),
                Err(error) if begun.elapsed() >= patience => return Err(error),
                Err(_) => std::thread::sleep(PAUSE.min(patience)),
            }
        }
    }

    /// The next step, by what the server keeps of this target.
    fn next(&self) -> Result<Next> {
        let identity = Target::inspect(self.path, &Runner::new(false))?.identity;
        let kept = check::sessions(&mut self.connect()?)?;
        Ok(powercut::campaign::next(&kept, &identity, self.arguments.cuts))
    }

    fn check(&self, run: u64) -> Result<Found> {
        let mut client = self.connect()?;
        let kept = check::sessions(&mut client)?;
        check::check(self.path, &mut client, &kept, run, false, false)
            .with_context(|| format!("the campaign ends: run {run:016x} cannot be checked"))
    }

    fn write(&self) -> Result<Written> {
        let writer = Writer {
            target: self.path,
            writes: &self.arguments.writes,
            time: None,
            cut: Some(&self.arguments.cut),
            signals: self.signals,
        };
        writer.write(|| self.connect())
    }
}

/// A unit of systemd with this command.
fn unit(arguments: &Arguments) -> Result<String> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    let directory = std::env::current_dir().context("the working directory is not known")?;
    let given = std::env::args_os().skip(1).filter(|word| word != "--print-unit");
    let words = std::iter::once(program.into_os_string()).chain(given);
    let words: Vec<String> = words.map(text).collect::<Result<_>>()?;
    let target = arguments.writes.target()?;
    systemd_unit(target, &directory.display().to_string(), &words, arguments.cuts)
        .map_err(|why| Refusal::usage(format!("--print-unit: {why}")))
}

fn text(word: OsString) -> Result<String> {
    word.into_string().map_err(|word| {
        let shown = word.display();
        Refusal::usage(format!("--print-unit: a unit cannot hold '{shown}'; use plain text"))
    })
}
