//! One client of a server, from its hello to its end.

mod follower;
mod states;

use super::super::{debug, repeat};
use super::{Log, Server};
use crate::commands::run::connection::{Mouth, PATIENCE, Stream, hear, words};
use crate::commands::run::request::{check_logs, header_lines, program, usage_code};
use crate::exit;
use crate::output::say;
use follower::Follower;
use job::{Dialect, Inputs, Invocation, Keywords};
use record::RunRecord;
use remote::{
    Announced, FilePart, FrameError, FromClient, FromServer, Hello, Host, JobText, LIMIT_GREETING,
    LIMIT_SUBMISSION, PROTOCOL, Refusal, Submission,
};
use report::FIO_VERSION;
use runner::PlannedRun;
use runner::inputs::Machine;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Bytes of a file that are sent at a time.
const PART: usize = 1 << 20;

/// How often the client is listened to before its run.
const GLANCE: Duration = Duration::from_millis(50);

/// Serves one client. Whatever goes wrong with it ends nothing but its own runs.
pub fn serve(stream: Stream, server: &Server, full: bool, log: &Log) {
    let peer = stream.peer();
    let stream = Arc::new(stream);
    let ended = match greet(&stream, full) {
        Ok(()) => Session::new(&stream, server).run(),
        Err(why) => Err(why),
    };
    match ended {
        Ok(()) => log.say(&format!("{peer}: done")),
        Err(why) => log.say(&format!("{peer}: {why}")),
    }
    stream.close();
}

/// Finds out whether the other side is a client that can be understood.
fn greet(stream: &Arc<Stream>, full: bool) -> Result<(), String> {
    stream.bound(PATIENCE).map_err(|error| error.to_string())?;
    let refuse = |text: String| {
        let refusal = Refusal { text: text.clone(), exit_code: exit::ERRORS };
        // The client is turned away whether it hears why or not.
        let _ = remote::write(&**stream, &FromServer::Refused(refusal));
        Err(text)
    };
    let hello = match remote::read(&**stream, LIMIT_GREETING) {
        Ok(FromClient::Hello(hello)) => hello,
        Ok(_) => return refuse("the client did not begin with its version".into()),
        Err(FrameError::Stranger) => {
            let refused = refuse(FrameError::Stranger.to_string());
            drain(stream);
            return refused;
        }
        Err(error) => return refuse(words(&error)),
    };
    if let Some(objection) = hello.objection() {
        return refuse(objection);
    }
    if full {
        return refuse("this server has as many clients as it can serve; try later".into());
    }
    let answer = FromServer::Hello(own_hello(), host());
    remote::write(&**stream, &answer).map_err(|error| error.to_string())
}

/// Takes what a stranger still has to say: a connection that is closed on its words would end fio's
/// client by a signal, before it could tell that it does not understand the answer.
fn drain(stream: &Stream) {
    let bounded = stream.bound(Duration::from_secs(1)).is_ok();
    let most = u64::from(LIMIT_GREETING);
    if bounded {
        // Whether it ends or falls silent is all the same.
        let _ = io::copy(&mut stream.take(most), &mut io::sink());
    }
}

/// Who we are.
pub fn own_hello() -> Hello {
    Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").into() }
}

fn host() -> Host {
    let system = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    Host {
        name: text(system.nodename()),
        system: text(system.sysname()),
        architecture: text(system.machine()).replace('_', "-"),
        bits: usize::BITS,
        big_endian: cfg!(target_endian = "big"),
        fio_version: FIO_VERSION.into(),
    }
}

/// A client that was understood.
struct Session<'a> {
    server: &'a Server<'a>,
    mouth: Mouth,
    heard: Receiver<Result<FromClient, FrameError>>,
    address: Option<String>,
}

impl<'a> Session<'a> {
    fn new(stream: &Arc<Stream>, server: &'a Server<'a>) -> Self {
        let (sender, heard) = channel();
        hear(Arc::clone(stream), LIMIT_SUBMISSION, move |message| sender.send(message).is_ok());
        Session {
            server,
            mouth: Mouth::new(stream, FromServer::Alive),
            heard,
            address: stream.local().map(|address| address.to_string()),
        }
    }

    fn run(&self) -> Result<(), String> {
        let submission = match self.next()? {
            FromClient::Submit(submission) => submission,
            _ => return Err("the client did not say what to run".into()),
        };
        let (invocation, planned) = match self.prepare(&submission) {
            Ok(ready) => ready,
            Err(refusal) => {
                let text = refusal.text.clone();
                self.say(&FromServer::Refused(refusal))?;
                return Err(format!("refused: {text}"));
            }
        };
        states::fetch(self, &planned.plan)?;
        self.announce(dialect(&submission), &invocation, &planned)?;
        match self.next()? {
            FromClient::Start => {}
            _ => return Err("the client gave the run up".into()),
        }
        let mut follower = Follower::new(self, &submission);
        let measured = self.server.runner.measure(planned, &invocation, &mut follower);
        let record = measured.map_err(|error| format!("{error:#}"))?;
        if let Some(why) = follower.lost {
            return Err(why);
        }
        let traced = debug::after(&invocation, &record);
        if !traced.is_empty() {
            self.say(&FromServer::Text(traced))?;
        }
        self.hand_over(&record)?;
        self.say(&FromServer::Done(Box::new(record)))?;
        follower.trigger.failure().map_or(Ok(()), Err)
    }

    fn say(&self, message: &FromServer) -> Result<(), String> {
        self.mouth.say(message).map_err(|error| format!("the client is gone: {error}"))
    }

    /// A line of `--debug=net`, where the server was asked for it.
    fn trace(&self, message: &FromClient) {
        if self.server.own.debug.covers("net") {
            let text = format!("server: got op [{}]", message.kind());
            say(&job::debug::line("net", std::process::id(), &text));
        }
    }

    /// The next thing the client says, but that it is there.
    fn next(&self) -> Result<FromClient, String> {
        loop {
            if self.server.ending.load(Ordering::Relaxed) {
                let text = "the server is ending".to_string();
                let exit_code = exit::ERRORS;
                self.say(&FromServer::Refused(Refusal { text: text.clone(), exit_code }))?;
                return Err(text);
            }
            match self.heard.recv_timeout(GLANCE) {
                // What is asked of a run means nothing before there is one.
                Ok(Ok(FromClient::Alive | FromClient::Report)) => {}
                Ok(Ok(message)) => {
                    self.trace(&message);
                    return Ok(message);
                }
                Ok(Err(error)) => return Err(format!("the client is gone: {}", words(&error))),
                Err(_) => {}
            }
        }
    }

    /// Reads and plans what was submitted, under the guards of this server.
    fn prepare(&self, submission: &Submission) -> Result<(Invocation, PlannedRun), Refusal> {
        let dialect = dialect(submission);
        let refusal = |text: String, exit_code| Refusal { text, exit_code };
        let usage = usage_code(dialect);
        let (server, runner) = (self.server, self.server.runner);
        let machine = Machine::new(runner.machine());
        let inputs = Sent { machine: &machine, files: &submission.files };
        let parsed = job::parse(&submission.arguments, dialect, &inputs);
        let mut invocation = parsed.map_err(|errors| refusal(errors.to_string(), usage))?;
        if let Some(option) = overreach(&invocation) {
            let text = format!("{option} is the server's to say, not its client's");
            return Err(refusal(text, usage));
        }
        invocation.allow_destroy.clone_from(&server.own.allow_destroy);
        invocation.aux_path.clone_from(&server.own.aux_path);
        invocation.readonly |= server.own.readonly;
        invocation.max_jobs = invocation.max_jobs.into_iter().chain(server.own.max_jobs).min();
        invocation.status_interval = submission.status_interval;
        for job in &mut invocation.jobs {
            job.served.address.clone_from(&self.address);
        }
        runner::replay::attach(&mut invocation, runner.host())
            .map_err(|text| refusal(text, usage))?;
        check_logs(&invocation, dialect).map_err(|text| refusal(text, usage))?;
        let planned = runner.plan(&invocation).map_err(|error| {
            let code = if submission.as_fio { exit::ERRORS } else { error.exit_code() as u8 };
            refusal(error.to_string(), code)
        })?;
        match planned.is_forbidden(&invocation) {
            true => {
                Err(refusal(report::messages::lines(program(dialect), &planned.messages), usage))
            }
            false => Ok((invocation, planned)),
        }
    }

    /// Sends the logs of a run, which do not stay here.
    fn hand_over(&self, record: &RunRecord) -> Result<(), String> {
        let logs = record.jobs.iter().filter_map(|job| job.logs.as_ref());
        let logs: BTreeSet<&str> =
            logs.flat_map(|logs| logs.files.iter().map(|(_, path)| path.as_str())).collect();
        for path in logs {
            if self.send(Path::new(path))? {
                // Nobody looks for it here; what cannot be removed is no harm.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// Sends a file, part by part, if it is there and can be read to its end.
    fn send(&self, path: &Path) -> Result<bool, String> {
        let Ok(mut file) = File::open(path) else { return Ok(false) };
        let mut at = 0;
        loop {
            let mut bytes = Vec::with_capacity(PART);
            let read = file.by_ref().take(PART as u64).read_to_end(&mut bytes);
            let (name, length) = (path.display().to_string(), bytes.len() as u64);
            if length > 0 || at == 0 {
                self.say(&FromServer::File(FilePart { name, at, bytes }))?;
            }
            match read {
                Ok(0) => return Ok(true),
                Ok(_) => at += length,
                // What is left of it stays here.
                Err(_) => return Ok(false),
            }
        }
    }

    fn announce(
        &self,
        dialect: Dialect,
        invocation: &Invocation,
        planned: &PlannedRun,
    ) -> Result<(), String> {
        self.say(&FromServer::Messages(planned.messages.clone()))?;
        let (jobs, starting) = header_lines(invocation, &planned.plan);
        let traced = debug::before(program(dialect), invocation, &planned.plan);
        self.say(&FromServer::Text(traced + &jobs + &starting))?;
        let announced = repeat::subjects(&invocation.jobs);
        let announced = announced
            .into_iter()
            .map(|subject| Announced { name: subject.name, directions: subject.directions });
        self.say(&FromServer::Ready(announced.collect()))
    }
}

/// As what the client was called.
fn dialect(submission: &Submission) -> Dialect {
    if submission.as_fio { Dialect::Fio } else { Dialect::Fathom }
}

/// An option that a client has no say in.
fn overreach(invocation: &Invocation) -> Option<&'static str> {
    let reserved = [
        ("--allow-destroy", !invocation.allow_destroy.is_empty()),
        ("--server", invocation.server.is_some()),
        ("--client", !invocation.clients.is_empty()),
        ("--daemonize", invocation.daemonize.is_some()),
        ("--output", invocation.output.is_some()),
        ("--record", invocation.record.is_some()),
        ("--junit", invocation.junit.is_some()),
        ("--merge-blktrace-only", invocation.merge_only),
        ("--repeat", invocation.repeat.is_some()),
        ("--interleave", !invocation.interleave.is_empty()),
        ("--trigger", invocation.trigger != job::Trigger::default()),
    ];
    reserved.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}

/// Job files of the client, and what only this machine knows.
struct Sent<'a> {
    machine: &'a Machine,
    files: &'a [JobText],
}

impl Inputs for Sent<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.files.iter().find(|file| file.name == path) {
            Some(file) => Ok(file.bytes.clone()),
            None if path == "-" => Err(io::Error::other("the server's standard input is not read")),
            None => self.machine.read(path),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.machine.variable(name)
    }

    fn keywords(&self) -> Keywords {
        self.machine.keywords()
    }
}
