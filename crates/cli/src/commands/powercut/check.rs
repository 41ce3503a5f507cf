//! `fathom powercut check`: what a cut left of every promise.

use super::server::{ServerArguments, of_client};
use super::target::Target;
use crate::exit;
use crate::output::{Output, write_file};
use crate::suites::device;
use anyhow::{Context, Result};
use clap::Args;
use host::Host;
use powercut::check::{Checked, StreamResult, check_stream};
use powercut::client::Client;
use powercut::promises::Promises;
use powercut::protocol::{Kept, Reply, Request};
use powercut::report::Report;
use powercut::session::{Session, TargetIdentity, TargetShape};
use powercut::storage::Reader;
use runner::{Refusal, Runner};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Arguments of `fathom powercut check`.
#[derive(Args)]
pub struct Arguments {
    /// The directory, file or device that was written.
    #[arg(value_name = "TARGET")]
    target: OsString,
    /// The server.
    #[arg(long, value_name = "HOST:PORT")]
    from: String,
    #[command(flatten)]
    server: ServerArguments,
    /// Number of the run to check, as `write` printed it [default: the latest of this target]. Checks the
    /// target even if nothing of the run is on it.
    #[arg(long, value_name = "RUN", value_parser = run_number)]
    run: Option<u64>,
    /// The filesystem does not mount after the cut: count every promise as lost.
    #[arg(long, requires = "run")]
    unmountable: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Also write the report as an HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn run_number(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|_| "expected hexadecimal digits".into())
}

/// Checks and reports. 0: every promise was kept; 1: one was not.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let path = device::utf8(&arguments.target)?;
    let mut client = arguments.server.connect(&arguments.from)?;
    let kept = sessions(&mut client)?;
    let chosen = chosen(arguments, path, &kept)?;
    let promises = fetch(&mut client, chosen)?;
    let session = promises
        .session()
        .map_err(|why| Refusal::target(format!("the promises of {chosen:016x}: {why}")))?;
    let mut notes = Vec::new();
    let results = match arguments.unmountable {
        true => unreadable(session, &promises, &mut notes),
        false => read(arguments, path, session, &promises, &mut notes)?,
    };
    let is_cut =
        promises.ended.is_none() && (promises.is_cut_seen || was_restarted(&session.target));
    if promises.ended.is_none() && !is_cut {
        notes.push(
            "This machine was not restarted after the writes, and they saw no storage fail: this check \
             does not count as a cut."
                .into(),
        );
    }
    if let Some(why) = &promises.ended {
        notes.push(format!(
            "The writes ended by {why}, not by a cut, so that this check does not count as one."
        ));
    }
    let checked = Checked::new(session.run, &results, is_cut);
    client.request(&Request::Checked(checked.clone())).map_err(of_client)?;
    let history = history(&kept, session, &checked);
    let report = Report {
        session,
        streams: &results,
        checked: &checked,
        history: &history,
        damage: &promises.damage,
        notes: &notes,
    };
    let mut output = Output::Stdout;
    if let Some(file) = &arguments.html {
        write_file(file, report.html().as_bytes()).map_err(anyhow::Error::msg)?;
    }
    output.write(&match arguments.json {
        true => report.json(),
        false => report.text(&output.style()),
    })?;
    Ok(if report.is_broken() { exit::ERRORS } else { 0 })
}

/// Whether this machine was started since the target was written, or is another one.
fn was_restarted(was: &TargetIdentity) -> bool {
    Host::at("/").boot_id().is_none_or(|boot| boot != was.boot)
}

fn sessions(client: &mut Client) -> Result<Vec<Kept>> {
    match client.request(&Request::List).map_err(of_client)? {
        Reply::Sessions(kept) => Ok(kept),
        reply => Err(anyhow::anyhow!("the server replied {reply:?} to a list of sessions")),
    }
}

fn fetch(client: &mut Client, run: u64) -> Result<Promises> {
    match client.request(&Request::Fetch(run)).map_err(of_client)? {
        Reply::Promises(promises) => Ok(*promises),
        reply => Err(anyhow::anyhow!("the server replied {reply:?} to a request for promises")),
    }
}

/// The run to check: the one that was named, or the latest of this target.
fn chosen(arguments: &Arguments, path: &str, kept: &[Kept]) -> Result<u64> {
    if let Some(run) = arguments.run {
        return Ok(run);
    }
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let of_target = |kept: &&Kept| Path::new(&kept.path) == resolved || kept.path == path;
    if let Some(latest) = kept.iter().rev().find(of_target) {
        return Ok(latest.run);
    }
    let known: Vec<String> = kept
        .iter()
        .rev()
        .map(|kept| format!("{} on {} (--run={:016x})", kept.path, kept.host, kept.run))
        .collect();
    let known = match known.is_empty() {
        true => "it keeps none".to_owned(),
        false => format!("it keeps those of {}", record::human::list_up_to(&known, 5)),
    };
    Err(Refusal::target(format!("the server keeps no promises of {path}; {known}")))
}

/// Checks a target that can be read.
fn read(
    arguments: &Arguments,
    path: &str,
    session: &Session,
    promises: &Promises,
    notes: &mut Vec<String>,
) -> Result<Vec<StreamResult>> {
    let runner = Runner::new(false);
    let now = Target::inspect(path, &runner).map_err(|error| match &session.target.filesystem {
        Some(was) => error.context(format!(
            "{path} is not there, and {} was mounted at {} when it was written",
            was.kind, was.mount_point
        )),
        None => error,
    })?;
    check_identity(arguments, path, &session.target, &now.identity, notes)?;
    let mut results = Vec::new();
    for stream in &session.streams {
        let mut reader = Reader::open(Path::new(&now.path), session.target.kind, stream)
            .with_context(|| path.to_owned())?;
        let durable = promises.durable.get(&stream.id).copied().unwrap_or(0);
        let mut failure = None;
        results.push(check_stream(session, stream, durable, |promise, found| {
            let block = promise.block;
            let read = reader.read(promise.slot, block.offset, block.sectors, found);
            failure = read.err().or(failure.take());
        }));
        if let Some(error) = failure {
            return Err(error).context(format!("{path}, thread {}", stream.id));
        }
    }
    let is_there = |result: &StreamResult| result.kept > 0 || result.losses.iter().any(is_trace);
    if arguments.run.is_none()
        && results.iter().any(|result| !result.losses.is_empty())
        && !results.iter().any(is_there)
    {
        return Err(Refusal::target(format!(
            "nothing of run {:016x} is on {path}: is it the target that was written? If it is, \
             --run={:016x} counts every promise as lost",
            session.run, session.run
        )));
    }
    Ok(results)
}

/// Whether something of the run is in the place of a lost write.
fn is_trace(loss: &powercut::check::Loss) -> bool {
    usize::from(loss.sectors) > loss.bad.iter().map(|(a, b)| usize::from(b - a) + 1).sum::<usize>()
        || loss.found_generation.is_some()
        || loss.found_offset.is_some()
        || loss.spoiled.damaged > 0
}

/// Refuses a target that is not the one that was written.
fn check_identity(
    arguments: &Arguments,
    path: &str,
    was: &TargetIdentity,
    now: &TargetIdentity,
    notes: &mut Vec<String>,
) -> Result<()> {
    let mount = |of: &TargetIdentity| {
        of.filesystem.as_ref().map(|f| format!("{} at {}", f.kind, f.mount_point))
    };
    if let (Some(before), after) = (mount(was), mount(now))
        && after.as_ref() != Some(&before)
        && arguments.run.is_none()
    {
        return Err(Refusal::target(format!(
            "{path} was on {before} and is on {} now: mount it and check again. If it does not mount \
             after the cut, that is a result: --unmountable --run=RUN counts every promise as lost",
            after.unwrap_or_else(|| "no filesystem".into())
        )));
    }
    if was.kind != now.kind && arguments.run.is_none() {
        return Err(Refusal::target(format!("{path} is not what was written, by its kind")));
    }
    if now.kind == TargetShape::Device && now.size < was.size && arguments.run.is_none() {
        return Err(Refusal::target(format!(
            "{path} has {} bytes and had {} when it was written: is it another device? If it shrank, \
             --run=RUN counts what is behind its end as lost",
            now.size, was.size
        )));
    }
    if now.kind == TargetShape::File && now.size < was.size {
        notes.push(format!(
            "The file has {} bytes and had {} when its size was made durable.",
            now.size, was.size
        ));
    }
    Ok(())
}

/// The results if nothing can be read.
fn unreadable(
    session: &Session,
    promises: &Promises,
    notes: &mut Vec<String>,
) -> Vec<StreamResult> {
    notes.push("The filesystem does not mount after the cut: every promise counts as lost.".into());
    let durable = |id| promises.durable.get(&id).copied().unwrap_or(0);
    let lost = |stream| check_stream(session, stream, durable(stream.id), |_, _| {});
    session.streams.iter().map(lost).collect()
}

/// The last check of each session of this target, this one included.
fn history(kept: &[Kept], session: &Session, checked: &Checked) -> Vec<Checked> {
    let same = kept.iter().filter(|kept| {
        kept.host == session.target.host
            && kept.path == session.target.path
            && kept.run != session.run
    });
    same.filter_map(|kept| kept.checked.clone()).chain([checked.clone()]).collect()
}
