//! One client of a server, from its hello to its end.

use super::{Log, Server};
use crate::call::{FIO_VERSION, header_lines, program, usage_code};
use crate::inputs::Machine;
use crate::runner::Prepared;
use crate::trigger;
use crate::wire::{Mouth, PATIENCE, Stream, hear, words};
use crate::{debug, exit, repeat};
use anyhow::Result;
use engine::{Event, Run};
use job::{Dialect, Inputs, Invocation, Keywords};
use record::{Message, RunRecord};
use remote::{
    Announced, FrameError, FromClient, FromServer, Hello, Host, JobText, LIMIT_GREETING,
    LIMIT_SUBMISSION, PROTOCOL, Refusal, Submission,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How often a run is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// How often the client is told how far the run is.
const LIVE: Duration = Duration::from_millis(500);

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
    /// What ended the run before its time.
    end: RefCell<Option<End>>,
    signal: Cell<Option<i32>>,
}

/// Why a run was ended by its client.
enum End {
    /// It asked for that.
    Stopped,
    /// It pulled the trigger.
    Triggered(Option<String>),
    /// It is gone; nobody waits for the results.
    Lost(String),
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
            end: RefCell::new(None),
            signal: Cell::new(None),
        }
    }

    fn run(&self) -> Result<(), String> {
        let submission = match self.next()? {
            FromClient::Submit(submission) => submission,
            _ => return Err("the client did not say what to run".into()),
        };
        let (invocation, prepared) = match self.prepare(&submission) {
            Ok(ready) => ready,
            Err(refusal) => {
                let text = refusal.text.clone();
                self.say(&FromServer::Refused(refusal))?;
                return Err(format!("refused: {text}"));
            }
        };
        self.announce(dialect(&submission), &invocation, &prepared)?;
        match self.next()? {
            FromClient::Start => {}
            _ => return Err("the client gave the run up".into()),
        }
        let record = self.measure(&submission, &invocation, prepared)?;
        let end = self.end.take();
        if !matches!(end, Some(End::Lost(_))) {
            self.hand_over(&record, matches!(end, Some(End::Triggered(_))))?;
        }
        self.say(&FromServer::Done(Box::new(record)))?;
        match end {
            Some(End::Lost(why)) => Err(why),
            Some(End::Triggered(Some(command))) => trigger::execute("trigger-remote", &command),
            _ => Ok(()),
        }
    }

    fn say(&self, message: &FromServer) -> Result<(), String> {
        self.mouth.say(message).map_err(|error| format!("the client is gone: {error}"))
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
                Ok(Ok(FromClient::Alive)) => {}
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(error)) => return Err(format!("the client is gone: {}", words(&error))),
                Err(_) => {}
            }
        }
    }

    /// Reads and plans what was submitted, under the guards of this server.
    fn prepare(&self, submission: &Submission) -> Result<(Invocation, Prepared), Refusal> {
        let dialect = dialect(submission);
        let refusal = |text: String, exit_code| Refusal { text, exit_code };
        let usage = usage_code(dialect);
        let machine = Machine::new(self.server.runner.machine());
        let inputs = Sent { machine: &machine, files: &submission.files };
        let parsed = job::parse(&submission.arguments, dialect, &inputs);
        let mut invocation = parsed.map_err(|errors| refusal(errors.to_string(), usage))?;
        if let Some(option) = overreach(&invocation) {
            let text = format!("{option} is the server's to say, not its client's");
            return Err(refusal(text, usage));
        }
        let own = self.server.own;
        invocation.allow_destroy.clone_from(&own.allow_destroy);
        invocation.aux_path.clone_from(&own.aux_path);
        invocation.readonly |= own.readonly;
        invocation.max_jobs = invocation.max_jobs.into_iter().chain(own.max_jobs).min();
        for job in &mut invocation.jobs {
            job.served.address.clone_from(&self.address);
        }
        let prepared = self.server.runner.prepare(&invocation).map_err(|error| {
            let code = if submission.as_fio { exit::ERRORS } else { error.exit_code() as u8 };
            refusal(error.to_string(), code)
        })?;
        Ok((invocation, prepared))
    }

    /// Sends the logs of a run, which do not stay here, and after a trigger the states, which do.
    fn hand_over(&self, record: &RunRecord, triggered: bool) -> Result<(), String> {
        let logs = record.jobs.iter().filter_map(|job| job.logs.as_ref());
        let logs: BTreeSet<&str> =
            logs.flat_map(|logs| logs.files.iter().map(|(_, path)| path.as_str())).collect();
        for path in logs {
            if self.send(Path::new(path))? {
                // Nobody looks for it here; what cannot be removed is no harm.
                let _ = std::fs::remove_file(path);
            }
        }
        for job in record.jobs.iter().filter(|_| triggered) {
            let name = job.name.replace('/', "_");
            let state = format!("local-{name}-{}-verify.state", job.worker.saturating_sub(1));
            self.send(&Path::new(&self.server.own.aux_path).join(state))?;
        }
        Ok(())
    }

    /// Sends a file, if it is there.
    fn send(&self, path: &Path) -> Result<bool, String> {
        let Ok(bytes) = std::fs::read(path) else { return Ok(false) };
        let name = path.display().to_string();
        self.say(&FromServer::File(JobText { name, bytes })).map(|()| true)
    }

    fn announce(
        &self,
        dialect: Dialect,
        invocation: &Invocation,
        prepared: &Prepared,
    ) -> Result<(), String> {
        self.say(&FromServer::Messages(prepared.messages.clone()))?;
        let (jobs, starting) = header_lines(invocation, &prepared.plan);
        let traced = debug::before(program(dialect), invocation, &prepared.plan);
        self.say(&FromServer::Text(traced + &jobs + &starting))?;
        let announced = repeat::subjects(&invocation.jobs);
        let announced = announced
            .into_iter()
            .map(|subject| Announced { name: subject.name, directions: subject.directions });
        self.say(&FromServer::Ready(announced.collect()))
    }

    fn measure(
        &self,
        submission: &Submission,
        invocation: &Invocation,
        prepared: Prepared,
    ) -> Result<RunRecord, String> {
        let measured = self.server.runner.measure(prepared, invocation, |under_way| {
            self.watch(under_way.run);
            Ok(())
        });
        let mut record = measured.map_err(|error| format!("{error:#}"))?;
        let dialect = dialect(submission);
        let name = std::iter::once(program(dialect).to_owned());
        record.invocation.arguments = name.chain(submission.arguments.iter().cloned()).collect();
        record.invocation.as_fio = submission.as_fio;
        record.interrupted_by = record.interrupted_by.or(self.signal.get());
        if record.interrupted_by.is_some() && self.signal.get().is_none() {
            let text = "the run was cut short: the server was ended";
            record.messages.push(Message::warning(None, text));
        }
        Ok(record)
    }

    /// Watches until the run has ended, of itself or by a word of the client.
    fn watch(&self, run: &Run) {
        let mut next = Instant::now() + LIVE;
        while !run.wait(GLANCE) {
            self.events(run);
            if let Some(end) = self.asked_to_end() {
                run.stop();
                self.end.borrow_mut().get_or_insert(end);
            }
            if self.server.ending.load(Ordering::Relaxed) {
                run.stop();
            }
            if Instant::now() >= next {
                next = Instant::now() + LIVE;
                // Whether it is heard shows when the client is listened to.
                let _ = self.mouth.say(&FromServer::Live(run.snapshot()));
            }
        }
        self.events(run);
    }

    fn events(&self, run: &Run) {
        let traced = run.traced().concat();
        if !traced.is_empty() {
            let _ = self.mouth.say(&FromServer::Text(traced));
        }
        for event in run.events() {
            let Event::LayingOut { job, files, bytes } = event;
            let text = report::header::layout(&job, files, bytes);
            let _ = self.mouth.say(&FromServer::Text(text));
        }
    }

    fn asked_to_end(&self) -> Option<End> {
        match self.heard.try_recv().ok()? {
            Ok(FromClient::Stop { signal }) => {
                self.signal.set(Some(signal));
                Some(End::Stopped)
            }
            Ok(FromClient::Trigger { command }) => Some(End::Triggered(command)),
            Ok(_) => None,
            Err(error) => {
                let why = words(&error);
                Some(End::Lost(format!("the client is gone, so its run was ended: {why}")))
            }
        }
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
