//! One server, as its client sees it.

use crate::commands::run::connection::{Mouth, PATIENCE, Stream, hear, words};
use crate::commands::run::interim::InterimHistory;
use crate::commands::run::request::{RunRequest, program};
use crate::commands::run::server::own_hello;
use job::Client;
use judge::Judged;
use record::{RunRecord, Snapshot};
use remote::{
    Address, Announced, FilePart, FrameError, FromClient, FromServer, Host, JobText,
    LIMIT_GREETING, LIMIT_RECORD, Submission,
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

/// How far a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It was told what to run.
    Preparing,
    /// It can run it.
    Ready,
    /// It runs it.
    Running,
    /// It has said what came of it.
    Done,
    /// It is gone, or refused.
    Lost,
}

impl Stage {
    /// Nothing more is to come.
    pub fn is_over(self) -> bool {
        matches!(self, Stage::Done | Stage::Lost)
    }
}

/// A server.
pub struct Member {
    address: Address,
    /// The machine it runs on.
    pub machine: Host,
    mouth: Mouth,
    /// How far it is.
    pub stage: Stage,
    /// What it is going to run.
    pub jobs: Vec<Announced>,
    /// How far its run was when it last said so.
    pub snapshot: Option<Snapshot>,
    /// What it has measured so far, until that is shown.
    pub so_far: Option<ClientReport>,
    history: InterimHistory,
    /// It was told of the trigger, and we have what is to be kept of its run.
    pub kept: bool,
    /// What came of it.
    pub report: Option<ClientReport>,
    /// The last of its files that could not be kept.
    failed: Option<String>,
}

/// What a server says, and which one.
type Heard = (usize, Result<FromServer, FrameError>);

/// Connects to all servers at once, and hears them from then on.
///
/// # Errors
/// What is wrong with each that cannot be had, a line each; the others are let go.
pub fn connect(
    request: &RunRequest,
    addresses: &[Address],
    heard: &Sender<Heard>,
) -> Result<Vec<Member>, String> {
    let tries: Vec<Result<Member, String>> = std::thread::scope(|scope| {
        let begin = |(index, address): (usize, &'_ Address)| {
            let (address, heard) = (address.clone(), heard.clone());
            scope.spawn(move || Member::meet(index, address, heard))
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

impl Member {
    fn meet(index: usize, address: Address, heard: Sender<Heard>) -> Result<Member, String> {
        let wrong = |why: String| format!("--client: {address}: {why}");
        let stream = Stream::connect(&address)
            .and_then(|stream| stream.bound(PATIENCE).map(|()| Arc::new(stream)))
            .map_err(|error| {
                let text = error.to_string();
                let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
                wrong(format!("cannot connect: {text}; is a server running there?"))
            })?;
        remote::write(&*stream, &FromClient::Hello(own_hello()))
            .map_err(|error| wrong(error.to_string()))?;
        let machine = match remote::read(&*stream, LIMIT_GREETING) {
            Ok(FromServer::Hello(hello, host)) => match hello.objection() {
                Some(objection) => return Err(wrong(objection)),
                None => host,
            },
            Ok(FromServer::Refused(refusal)) => return Err(wrong(refusal.text)),
            Ok(_) => return Err(wrong("the server did not begin with its version".into())),
            Err(FrameError::Closed | FrameError::Io(_)) => {
                return Err(wrong(
                    "the server closed the connection without a word of fathom's protocol; is it \
                     fio's own server? fathom needs a server of fathom"
                        .into(),
                ));
            }
            Err(error) => return Err(wrong(words(&error))),
        };
        hear(Arc::clone(&stream), LIMIT_RECORD, move |message| {
            heard.send((index, message)).is_ok()
        });
        let mouth = Mouth::new(&stream, FromClient::Alive);
        let (stage, jobs) = (Stage::Preparing, Vec::new());
        Ok(Member {
            address,
            machine,
            mouth,
            stage,
            jobs,
            snapshot: None,
            so_far: None,
            history: InterimHistory::default(),
            kept: false,
            report: None,
            failed: None,
        })
    }

    /// As what it is told from the others: its address as typed.
    pub fn label(&self) -> String {
        self.address.to_string()
    }

    /// Says something. That it is not heard shows where its words end.
    pub fn say(&self, message: &impl Serialize) {
        let _ = self.mouth.say(message);
    }

    /// Sends what it is to run.
    ///
    /// # Errors
    /// A job file that cannot be read.
    pub fn submit(
        &mut self,
        client: &Client,
        request: &RunRequest,
        from: &mut Files,
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
        self.say(&FromClient::Submit(Submission {
            as_fio: request.as_fio(),
            arguments: arguments.collect(),
            files,
            status_interval,
        }));
        Ok(())
    }

    /// Lets it run.
    pub fn start(&mut self) {
        self.say(&FromClient::Start);
        self.stage = Stage::Running;
    }

    /// Ends its run; before it runs, all there is to do for it.
    pub fn stop(&mut self, signal: i32) {
        self.say(&FromClient::Stop { signal });
        if self.stage != Stage::Running {
            self.stage = Stage::Lost;
        }
    }

    /// Ends the connection.
    pub fn close(&self) {
        self.mouth.close();
    }

    /// What it measured, judged.
    pub fn report(&mut self, record: RunRecord) -> ClientReport {
        let mut judged = judge::judge(&record);
        self.history.add_since(&record, &mut judged);
        self.reported(record, judged)
    }

    /// What it has measured so far.
    pub fn so_far(&mut self, record: RunRecord) -> ClientReport {
        let judged = self.history.judge_so_far(&record);
        self.reported(record, judged)
    }

    fn reported(&self, record: RunRecord, judged: Judged) -> ClientReport {
        ClientReport {
            host: self.address.host(),
            port: self.address.port(),
            name: self.machine.name.clone(),
            record,
            judged,
        }
    }

    /// Keeps a part of a file that its run left, under the name it had and that of the host.
    ///
    /// # Errors
    /// The file cannot be written; said once of each.
    pub fn keep(&mut self, part: &FilePart, states: &str) -> Result<(), String> {
        // Wherever it lay there, here it lies in the working directory: a server has no say in
        // where a client writes.
        let base = Path::new(&part.name).file_name().unwrap_or_default().to_string_lossy();
        let path = match self.state(&base, states) {
            Some(path) => path,
            None => format!("{base}.{}", self.host()).into(),
        };
        if part.at > 0 && self.failed.as_ref() == Some(&part.name) {
            return Ok(());
        }
        let mut how = OpenOptions::new();
        match part.at {
            0 => how.write(true).create(true).truncate(true),
            _ => how.append(true),
        };
        let written = how.open(&path).and_then(|mut file| file.write_all(&part.bytes));
        written.map_err(|error| {
            self.failed = Some(part.name.clone());
            format!("cannot write '{}': {error}", path.display())
        })
    }
}

impl Member {
    /// Its host, as files are named after it.
    fn host(&self) -> String {
        self.address.host().replace('/', "_")
    }

    /// Where we keep a state that has this name there; `None`: it is no state.
    fn state(&self, name: &str, states: &str) -> Option<PathBuf> {
        let rest = name.strip_prefix("local-").filter(|rest| rest.ends_with("-verify.state"))?;
        let plain = !rest.contains('/');
        plain.then(|| Path::new(states).join(format!("{}-{rest}", self.host())))
    }

    /// Of the states that a server asks for, those that we have kept.
    pub fn kept_before(&self, names: &[String], states: &str) -> Vec<JobText> {
        let kept = |name: &String| {
            let bytes = std::fs::read(self.state(name, states)?).ok()?;
            Some(JobText { name: name.clone(), bytes })
        };
        names.iter().filter_map(kept).collect()
    }
}

/// Job files, each read once: standard input can be read but once.
#[derive(Default)]
pub struct Files(HashMap<String, Vec<u8>>);

impl Files {
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
