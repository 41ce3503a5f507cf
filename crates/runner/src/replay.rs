//! Logs to replay: merged, read and attached to their jobs before the run.

use host::Host;
use job::{Invocation, Job};
use record::PerDirection;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use trace::{Drawing, Name, Recording, Source, TraceError};

/// Bytes of a log read at a time.
const BLOCK: usize = 1 << 20;
/// The largest model file.
const MODEL_MAX: u64 = 64 << 20;

/// Reads the logs that jobs replay, and checks that the logs that jobs record can be written.
///
/// # Errors
/// What is wrong with a log, in one line with the job.
pub fn attach(invocation: &mut Invocation, host: &Host) -> Result<(), String> {
    let merges_only = invocation.merge_only;
    for at in 0..invocation.jobs.len() {
        let (earlier, jobs) = invocation.jobs.split_at_mut(at);
        let job = &mut jobs[0];
        let place = format!("{}: job '{}'", job.identity.origin, job.identity.name);
        let in_job = |text: String| format!("{place}: {text}");
        if job.replay.is_on() {
            merge(job).map_err(in_job)?;
            if !merges_only {
                let recordings = read_all(job, earlier, host).map_err(in_job)?;
                job.attach(recordings);
            }
        }
        if let Some(log) = job.replay.write.as_ref().filter(|_| !merges_only) {
            check_writable(log).map_err(|e| in_job(format!("write_iolog={log}: {e}")))?;
        }
    }
    Ok(())
}

/// Checks before the run that a log can be written.
fn check_writable(log: &str) -> Result<(), String> {
    let text = |e| format!("it cannot be written: {e}; name another file");
    let is_new = std::fs::symlink_metadata(log).is_err();
    OpenOptions::new().append(true).create(true).open(log).map(drop).map_err(text)?;
    // A later refusal must not leave the file behind.
    if is_new { std::fs::remove_file(log).map_err(text) } else { Ok(()) }
}

/// Merges the traces of a job with merge_blktrace_file, and lets the job replay the result.
fn merge(job: &mut Job) -> Result<(), String> {
    let replay = &mut job.replay;
    let Some(to) = replay.merge.file.clone() else { return Ok(()) };
    let count = replay.logs.len();
    let lists = [("scalars", replay.merge.percents.len()), ("iters", replay.merge.runs.len())];
    if let Some((list, given)) = lists.into_iter().find(|(_, given)| ![0, count].contains(given)) {
        return Err(format!(
            "merge_blktrace_{list}: {given} numbers for {count} traces; give one for each"
        ));
    }
    if let Some(log) = replay.logs.iter().find(|log| same_file(log, &to)) {
        return Err(format!(
            "merge_blktrace_file={to}: it is the trace {log} itself; name another"
        ));
    }
    let opens: Vec<_> = replay.logs.iter().map(|log| move || open(log)).collect();
    let sources: Vec<Source> = (0..count)
        .map(|at| Source {
            open: &opens[at],
            percent: replay.merge.percents.get(at).copied().unwrap_or(100.0),
            runs: replay.merge.runs.get(at).copied().unwrap_or(1),
        })
        .collect();
    // A first pass without output, so that a wrong trace leaves no incomplete file.
    trace::merge(&sources, &mut io::sink()).map_err(|e| merge_error(&replay.logs, &to, e))?;
    let out = File::create(&to).map_err(|e| merge_error(&replay.logs, &to, (None, e.into())))?;
    let mut out = BufWriter::with_capacity(BLOCK, out);
    trace::merge(&sources, &mut out).map_err(|e| merge_error(&replay.logs, &to, e))?;
    replay.logs = vec![to];
    Ok(())
}

fn merge_error(logs: &[String], to: &str, (at, error): (Option<usize>, TraceError)) -> String {
    match at {
        Some(at) => format!("read_iolog={}: {error}", logs[at]),
        None => format!("merge_blktrace_file={to}: {error}"),
    }
}

fn same_file(a: &str, b: &str) -> bool {
    let canonical = |path: &str| std::fs::canonicalize(path).ok();
    a == b || canonical(a).is_some_and(|a| Some(a) == canonical(b))
}

/// Reads the logs of a job, each once. A log that one of the `earlier` jobs writes is read when the
/// job starts.
fn read_all(job: &Job, earlier: &[Job], host: &Host) -> Result<Vec<Arc<Recording>>, String> {
    let clones = usize::try_from(job.identity.numjobs.unwrap_or(1)).unwrap_or(usize::MAX);
    let mut read: HashMap<&str, Arc<Recording>> = HashMap::new();
    let mut all = Vec::new();
    for log in job.replay.logs.iter().take(clones.max(1)) {
        if !read.contains_key(log.as_str()) {
            let recording = match writer_of(log, earlier, job) {
                Some(writer) => written_later(job, log, writer),
                None => read_one(job, log, host).map_err(|error| {
                    let cure = match earlier.iter().find(|j| writes(j, log)) {
                        Some(writer) => format!(
                            "; job '{}' writes it: let this job wait for its end with stonewall",
                            writer.identity.name
                        ),
                        None => String::new(),
                    };
                    format!("read_iolog={log}: {error}{cure}")
                })?,
            };
            read.insert(log, Arc::new(recording));
        }
        all.push(Arc::clone(&read[log.as_str()]));
    }
    Ok(all)
}

/// Whether a job writes a log that may be replayed.
fn writes(job: &Job, log: &str) -> bool {
    // The log need not exist yet: "./log" and "log" are told to be one by their text.
    let absolute = |path: &str| std::path::absolute(path).ok();
    let is_log = |path: &String| absolute(path) == absolute(log) || same_file(path, log);
    job.replay.write.as_ref().is_some_and(is_log)
}

/// The last of the `earlier` jobs that writes the log, if it has ended when `job` starts.
fn writer_of<'j>(log: &str, earlier: &'j [Job], job: &Job) -> Option<&'j Job> {
    let at = earlier.iter().rposition(|one| writes(one, log))?;
    let writer = &earlier[at];
    let mut after = earlier[at + 1..].iter().chain([job]);
    let has_ended = after.any(|one| one.identity.stonewall)
        || job.identity.wait_for.as_ref() == Some(&writer.identity.name);
    has_ended.then_some(writer)
}

/// The recording of a log that `writer` writes. The plan of that job shows what it can hold; here its
/// directions are enough.
fn written_later(job: &Job, log: &str, writer: &Job) -> Recording {
    // By its spelling the plan finds the workers that write it.
    let path = writer.replay.write.as_deref().unwrap_or(log);
    let rw = writer.pattern.rw;
    let any = |has: bool| has.then_some((1, 1));
    let sizes =
        PerDirection { read: any(rw.reads()), write: any(rw.writes()), trim: any(rw.trims()) };
    let mut recording = Recording::later(path.into(), job.replay.adjust());
    let redirect = job.replay.redirect.as_deref();
    recording.add_writer(redirect.map(|path| (path, 0)).into_iter(), sizes, redirect);
    recording
}

fn read_one(job: &Job, log: &str, host: &Host) -> Result<Recording, TraceError> {
    let below = job.target.directories.iter().find(|directory| !directory.is_empty());
    let locate = |name: &Name| match (&job.replay.redirect, name) {
        (Some(path), _) => Ok(path.clone()),
        // Names of a log are relative to the job's directory, as names of files are.
        (None, Name::Path(path)) => Ok(match below {
            Some(directory) if !path.starts_with('/') => {
                format!("{}/{path}", directory.trim_end_matches('/'))
            }
            _ => path.clone(),
        }),
        (None, Name::Device { major, minor }) => {
            host.device_path(*major, *minor).ok_or_else(|| {
                format!(
                    "its device {major}:{minor} is not on this machine; name one with \
                     replay_redirect"
                )
            })
        }
    };
    let mut input = open(log)?;
    if Drawing::is_one(input.fill_buf()?) {
        let mut text = String::new();
        input.take(MODEL_MAX).read_to_string(&mut text)?;
        let threads = job.replay.model_threads.as_deref();
        return Drawing::parse(&text)?.recording(threads, job.replay.adjust(), &locate);
    }
    let again = job.replay.chunked && std::fs::metadata(log).is_ok_and(|m| m.is_file());
    let path = again.then(|| log.into());
    Recording::read(input, job.replay.adjust(), path, &locate)
}

/// Opens a log: a file, a socket, or standard input.
fn open(log: &str) -> io::Result<Box<dyn BufRead>> {
    let is_socket = std::fs::metadata(log).is_ok_and(|m| m.file_type().is_socket());
    Ok(match log {
        "-" => Box::new(io::stdin().lock()),
        _ if is_socket => {
            Box::new(BufReader::with_capacity(BLOCK, UnixStream::connect(Path::new(log))?))
        }
        _ => Box::new(BufReader::with_capacity(BLOCK, File::open(log)?)),
    })
}
