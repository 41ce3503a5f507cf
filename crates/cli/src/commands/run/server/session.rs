//! Serves one client, from the greeting to the end of its run.

mod client;
mod run_observer;
mod verify_states;

pub use client::own_hello;

use super::shared::{Log, Server};
use crate::commands::run::connection::{SILENCE_MAX, Stream, describe_error};
use crate::commands::run::request::{check_logs, header_lines, program, usage_code};
use crate::commands::run::{debug, repeat};
use crate::exit;
use client::{ClientSession, dialect};
use job::{Dialect, Inputs, Invocation, Keywords};
use record::RunRecord;
use remote::{
    Announced, FromClient, FromServer, Host, JobText, LIMIT_GREETING, Refusal, Submission,
};
use report::FIO_VERSION;
use run_observer::ClientRunObserver;
use runner::PlannedRun;
use runner::inputs::Machine;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Serves one client. An error ends only the run of this client.
pub fn serve(stream: Stream, server: &Server, full: bool, log: &Log) {
    let peer = stream.peer();
    let stream = match encrypted(stream, server) {
        Ok(stream) => Arc::new(stream),
        Err(error) => return log.write_line(&format!("{peer}: no encrypted connection: {error}")),
    };
    let ended = match greet(&stream, server, full) {
        Ok(()) => ClientSession::new(&stream, server).run(),
        Err(why) => Err(why),
    };
    match ended {
        Ok(()) => log.write_line(&format!("{peer}: done")),
        Err(why) => log.write_line(&format!("{peer}: {why}")),
    }
    // fio's client would die of SIGPIPE before it could report a refusal if this closed at once.
    stream.finish();
}

/// Encrypts the connection of a client if the server has a certificate.
fn encrypted(stream: Stream, server: &Server) -> io::Result<Stream> {
    stream.set_timeout(SILENCE_MAX)?;
    match &server.access.tls {
        Some(tls) => stream.encrypted_by(tls),
        None => Ok(stream),
    }
}

/// Exchanges greetings. Refuses what is not a client of a compatible version, or does not know the token.
fn greet(stream: &Arc<Stream>, server: &Server, full: bool) -> Result<(), String> {
    let refuse = |text: String| {
        let refusal = Refusal { text: text.clone(), exit_code: exit::ERRORS };
        // The client is refused even if this cannot be sent.
        let _ = remote::write(&**stream, &FromServer::Refused(refusal));
        Err(text)
    };
    let hello = match remote::read(&**stream, LIMIT_GREETING) {
        Ok(FromClient::Hello(hello)) => hello,
        Ok(_) => return refuse("the client did not begin with its version".into()),
        Err(error) => return refuse(describe_error(&error)),
    };
    if let Some(objection) = hello.objection() {
        return refuse(objection);
    }
    if let Err(why) = server.access.check_client(stream) {
        return refuse(why);
    }
    if full {
        return refuse("this server has as many clients as it can serve; try later".into());
    }
    let answer = FromServer::Hello(own_hello(), host());
    remote::write(&**stream, &answer).map_err(|error| error.to_string())
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

impl ClientSession<'_> {
    fn run(&self) -> Result<(), String> {
        let submission = match self.next()? {
            FromClient::Submit(submission) => submission,
            _ => return Err("the client did not say what to run".into()),
        };
        let (invocation, planned) = match self.prepare(&submission) {
            Ok(ready) => ready,
            Err(refusal) => {
                let text = refusal.text.clone();
                self.send(&FromServer::Refused(refusal))?;
                return Err(format!("refused: {text}"));
            }
        };
        verify_states::fetch(self, &planned.plan)?;
        self.announce(dialect(&submission), &invocation, &planned)?;
        match self.next()? {
            FromClient::Start => {}
            _ => return Err("the client cancelled the run".into()),
        }
        let mut observer = ClientRunObserver::new(self, &submission);
        let measured = self.server.runner.execute(planned, &invocation, &mut observer);
        let record = measured.map_err(|error| format!("{error:#}"))?;
        if let Some(why) = observer.lost {
            return Err(why);
        }
        let traced = debug::after(&invocation, &record);
        if !traced.is_empty() {
            self.send(&FromServer::Text(traced))?;
        }
        self.send_logs(&record)?;
        self.send(&FromServer::Done(Box::new(record)))?;
        observer.trigger.failure().map_or(Ok(()), Err)
    }

    /// Parses and plans the submitted jobs, with the restrictions of this server.
    fn prepare(&self, submission: &Submission) -> Result<(Invocation, PlannedRun), Refusal> {
        let dialect = dialect(submission);
        let refusal = |text: String, exit_code| Refusal { text, exit_code };
        let usage = usage_code(dialect);
        let (server, runner) = (self.server, self.server.runner);
        let machine = Machine::new(runner.machine());
        let inputs = SubmittedInputs { machine: &machine, files: &submission.files };
        let parsed = job::parse(&submission.arguments, dialect, &inputs);
        let mut invocation = parsed.map_err(|errors| refusal(errors.to_string(), usage))?;
        if let Some(option) = reserved_option(&invocation) {
            let text = format!("{option} can be given to the server only, not by a client");
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

    /// Sends the logs of a run and removes them here.
    fn send_logs(&self, record: &RunRecord) -> Result<(), String> {
        let logs = record.jobs.iter().filter_map(|job| job.logs.as_ref());
        let logs: BTreeSet<&str> =
            logs.flat_map(|logs| logs.files.iter().map(|(_, path)| path.as_str())).collect();
        for path in logs {
            if self.send_file(Path::new(path))? {
                // A log that cannot be removed does no harm.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(())
    }

    fn announce(
        &self,
        dialect: Dialect,
        invocation: &Invocation,
        planned: &PlannedRun,
    ) -> Result<(), String> {
        self.send(&FromServer::Messages(planned.messages.clone()))?;
        let (jobs, starting) = header_lines(invocation, &planned.plan);
        let traced = debug::before(program(dialect), invocation, &planned.plan);
        self.send(&FromServer::Text(traced + &jobs + &starting))?;
        let announced = repeat::subjects(&invocation.jobs);
        let announced = announced
            .into_iter()
            .map(|subject| Announced { name: subject.name, directions: subject.directions });
        self.send(&FromServer::Ready(announced.collect()))
    }
}

/// An option that a client must not give, if there is one.
fn reserved_option(invocation: &Invocation) -> Option<&'static str> {
    let reserved = [
        ("--allow-destroy", !invocation.allow_destroy.is_empty()),
        ("--server", invocation.server.is_some()),
        ("--client", !invocation.clients.is_empty()),
        ("--daemonize", invocation.daemonize.is_some()),
        ("--token, --token-file and --tls-…", invocation.access != job::Access::default()),
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

/// Job files from the client, everything else from this machine.
struct SubmittedInputs<'a> {
    machine: &'a Machine,
    files: &'a [JobText],
}

impl Inputs for SubmittedInputs<'_> {
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
