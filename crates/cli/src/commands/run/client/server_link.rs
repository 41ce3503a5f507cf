//! The connection of a client to one server.

use crate::commands::run::access::{AnswerError, ClientAccess};
use crate::commands::run::connection::{
    MessageWriter, SILENCE_MAX, Stream, describe_error, read_messages,
};
use crate::commands::run::interim::InterimHistory;
use crate::commands::run::request::{RunRequest, program};
use crate::commands::run::server::own_hello;
use job::Client;
use judge::Judged;
use record::{RunRecord, Snapshot};
use remote::{
    Address, Announced, FilePart, FrameError, FromClient, FromServer, Host, JobText, LIMIT_RECORD,
    Submission,
};
use report::clients::ClientReport;
use runner::inputs;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The stage of a server's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The jobs were sent.
    Preparing,
    /// The server has planned the jobs.
    Ready,
    /// The jobs run.
    Running,
    /// The results have arrived.
    Done,
    /// The server is gone, or refused the jobs.
    Lost,
}

impl Stage {
    /// Whether no more results will come.
    pub fn is_over(self) -> bool {
        matches!(self, Stage::Done | Stage::Lost)
    }
}

/// A connected server and its results.
pub struct ServerLink {
    address: Address,
    /// The server's machine.
    pub machine: Host,
    writer: MessageWriter,
    /// The stage of its run.
    pub stage: Stage,
    /// Its jobs.
    pub jobs: Vec<Announced>,
    /// The latest snapshot of its run.
    pub snapshot: Option<Snapshot>,
    /// Its results so far, until they are shown.
    pub so_far: Option<ClientReport>,
    history: InterimHistory,
    /// Whether its verify states were received after the trigger.
    pub states_received: bool,
    /// Its results.
    pub report: Option<ClientReport>,
    /// The last of its files that could not be written.
    failed_file: Option<String>,
}

/// A message, and the index of its server.
pub type ServerMessage = (usize, Result<FromServer, FrameError>);

/// Connects to all servers at once, and reads their messages from then on.
///
/// # Errors
/// A line for each server that cannot be reached.
pub fn connect(
    request: &RunRequest,
    addresses: &[Address],
    access: &ClientAccess,
    messages: &Sender<ServerMessage>,
) -> Result<Vec<ServerLink>, String> {
    let tries: Vec<Result<ServerLink, String>> = std::thread::scope(|scope| {
        let begin = |(index, address): (usize, &'_ Address)| {
            let (address, messages) = (address.clone(), messages.clone());
            scope.spawn(move || ServerLink::connect(index, address, access, messages))
        };
        let threads: Vec<_> = addresses.iter().enumerate().map(begin).collect();
        let failed = || Err("internal error: a thread panicked".into());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| failed())).collect()
    });
    let name = program(request.dialect);
    let errors = tries.iter().filter_map(|tried| tried.as_ref().err());
    let text: String = errors.map(|text| format!("{name}: error: {text}\n")).collect();
    if !text.is_empty() {
        return Err(text);
    }
    Ok(tries.into_iter().flatten().collect())
}

fn open(address: &Address, access: &ClientAccess) -> Result<Stream, String> {
    let connected = Stream::connect(address)
        .and_then(|stream| stream.set_timeout(SILENCE_MAX).map(|()| stream))
        .map_err(|error| {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
            format!("cannot connect: {text}; is a server running there?")
        })?;
    match &access.tls {
        None => Ok(connected),
        Some(tls) => connected.encrypted_to(address, tls).map_err(|error| {
            format!("no encrypted connection: {error}; has the server --tls-cert?")
        }),
    }
}

/// Exchanges greetings. Returns the machine of the server.
fn greet(stream: &Stream, access: &ClientAccess) -> Result<Host, String> {
    remote::write(stream, &FromClient::Hello(own_hello())).map_err(|error| error.to_string())?;
    match access.answer_of(stream) {
        Ok(FromServer::Hello(hello, host)) => hello.objection().map_or(Ok(host), Err),
        Ok(FromServer::Refused(refusal)) => Err(refusal.text),
        Ok(_) => Err("the server did not start with its version".into()),
        Err(AnswerError::Refused(text)) => Err(text),
        Err(AnswerError::Frame(FrameError::Closed | FrameError::Io(_))) => Err(
            "the server closed the connection without a word of fathom's protocol; is it fio's own \
             server? fathom needs a server of fathom"
                .into(),
        ),
        Err(AnswerError::Frame(error @ FrameError::Stranger)) if access.tls.is_none() => {
            Err(format!("{error}; for a server with --tls-cert, give --tls-ca"))
        }
        Err(AnswerError::Frame(error)) => Err(describe_error(&error)),
    }
}

impl ServerLink {
    fn connect(
        index: usize,
        address: Address,
        access: &ClientAccess,
        messages: Sender<ServerMessage>,
    ) -> Result<ServerLink, String> {
        let wrong = |why: String| format!("--client: {address}: {why}");
        let stream = Arc::new(open(&address, access).map_err(wrong)?);
        let machine = greet(&stream, access).map_err(wrong)?;
        read_messages(Arc::clone(&stream), LIMIT_RECORD, move |message| {
            messages.send((index, message)).is_ok()
        });
        let writer = MessageWriter::new(&stream, FromClient::Alive);
        let (stage, jobs) = (Stage::Preparing, Vec::new());
        Ok(ServerLink {
            address,
            machine,
            writer,
            stage,
            jobs,
            snapshot: None,
            so_far: None,
            history: InterimHistory::default(),
            states_received: false,
            report: None,
            failed_file: None,
        })
    }

    /// Its address as typed, which identifies it in reports.
    pub fn label(&self) -> String {
        self.address.to_string()
    }

    /// Sends a message. An error shows at the next read.
    pub fn send(&self, message: &impl Serialize) {
        let _ = self.writer.send(message);
    }

    /// Sends the jobs.
    ///
    /// # Errors
    /// When a job file cannot be read.
    pub fn submit(
        &mut self,
        client: &Client,
        request: &RunRequest,
        from: &mut JobFiles,
    ) -> Result<(), String> {
        let read = |name: &String| {
            let bytes = from.read(name)?;
            Ok(JobText { name: name.clone(), bytes })
        };
        let files = client.job_files.iter().map(read).collect::<Result<Vec<_>, String>>()?;
        let names = client.server_files.iter().chain(&client.job_files).cloned();
        let end_of_options = std::iter::once("--".to_owned());
        let arguments = client.arguments.iter().cloned().chain(end_of_options).chain(names);
        let status_interval = request.invocation.status_interval;
        self.history.is_wanted = status_interval.is_some();
        self.send(&FromClient::Submit(Submission {
            as_fio: request.as_fio(),
            arguments: arguments.collect(),
            files,
            status_interval,
        }));
        Ok(())
    }

    /// Starts the run.
    pub fn start(&mut self) {
        self.send(&FromClient::Start);
        self.stage = Stage::Running;
    }

    /// Ends the run. Before the start, gives the server up.
    pub fn stop(&mut self, signal: i32) {
        self.send(&FromClient::Stop { signal });
        if self.stage != Stage::Running {
            self.stage = Stage::Lost;
        }
    }

    /// Closes the connection.
    pub fn close(&self) {
        self.writer.close();
    }

    /// Judges its record.
    pub fn report(&mut self, record: RunRecord) -> ClientReport {
        let mut judged = judge::judge(&record);
        self.history.add_since(&record, &mut judged);
        self.reported(record, judged)
    }

    /// Judges its results so far.
    pub fn so_far(&mut self, record: RunRecord) -> ClientReport {
        let judged = self.history.judge_so_far(&record);
        self.reported(record, judged)
    }

    fn reported(&self, record: RunRecord, judged: Judged) -> ClientReport {
        ClientReport {
            host: self.address.typed_host(),
            port: self.address.port(),
            name: self.machine.name.clone(),
            record,
            judged,
        }
    }

    /// Writes a part of a file of its run, under the file's name and that of the host. `states` is the
    /// directory of verify states.
    ///
    /// # Errors
    /// When the file cannot be written; once for each file.
    pub fn write_part(&mut self, part: &FilePart, states: &str) -> Result<(), String> {
        // The directory on the server does not matter: a server must not choose where a client
        // writes.
        let base = Path::new(&part.name).file_name().unwrap_or_default().to_string_lossy();
        let path = match self.state_path(&base, states) {
            Some(path) => path,
            None => format!("{base}.{}", self.host()).into(),
        };
        if part.at > 0 && self.failed_file.as_ref() == Some(&part.name) {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        match part.at {
            0 => options.write(true).create(true).truncate(true),
            _ => options.append(true),
        };
        let written = options.open(&path).and_then(|mut file| file.write_all(&part.bytes));
        written.map_err(|error| {
            self.failed_file = Some(part.name.clone());
            format!("cannot write '{}': {error}", path.display())
        })
    }

    /// Its host, as part of file names.
    fn host(&self) -> String {
        self.address.host().replace('/', "_")
    }

    /// Path of a verify state that has this name on the server; `None` if it is another file.
    fn state_path(&self, name: &str, states: &str) -> Option<PathBuf> {
        let rest = name.strip_prefix("local-").filter(|rest| rest.ends_with("-verify.state"))?;
        let plain = !rest.contains('/');
        plain.then(|| Path::new(states).join(format!("{}-{rest}", self.host())))
    }

    /// The requested verify states that earlier runs stored here.
    pub fn stored_states(&self, names: &[String], states: &str) -> Vec<JobText> {
        let stored = |name: &String| {
            let bytes = std::fs::read(self.state_path(name, states)?).ok()?;
            Some(JobText { name: name.clone(), bytes })
        };
        names.iter().filter_map(stored).collect()
    }
}

/// Job files. Each is read once, because standard input can only be read once.
#[derive(Default)]
pub struct JobFiles(HashMap<String, Vec<u8>>);

impl JobFiles {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.0.get(name) {
            return Ok(bytes.clone());
        }
        let bytes = inputs::read(name).map_err(|error| {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
            format!("cannot read job file '{name}': {text}")
        })?;
        self.0.insert(name.into(), bytes.clone());
        Ok(bytes)
    }
}
