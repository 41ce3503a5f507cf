//! The server that keeps promises: a file for each session in a directory, written before it answers.

use crate::promises::{self, Entry, Promises};
use crate::protocol::{Answer, Challenge, Kept, PROTOCOL, REQUEST_MAX, Reply, Request};
use crate::session::Session;
use crate::wire::Wire;
use remote::FrameError;
use remote::tls::ServerTls;
use remote::token::{Nonce, Nonces, Side, is_proof, nonce, proof};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The end of the names of its files.
const EXTENSION: &str = "promises";

/// The file with the numbers of the sessions, in the order in which they began. Clocks step.
const ORDER: &str = "order";

/// How long a connection may take to identify itself.
const GREETING: Duration = Duration::from_secs(10);

/// Keeps promises.
pub struct Server {
    directory: PathBuf,
    token: Option<String>,
    tls: Option<ServerTls>,
    logs: Mutex<BTreeMap<u64, Log>>,
}

/// A session that was used since the server started.
struct Log {
    file: File,
    session: Session,
    durable: BTreeMap<u16, u64>,
    /// Number of the next line.
    next: u64,
}

impl Server {
    /// A server that keeps promises in this directory, which is made if it is not there.
    pub fn new(directory: &Path, token: Option<String>) -> io::Result<Server> {
        fs::create_dir_all(directory)?;
        let directory = directory.to_owned();
        Ok(Server { directory, token, tls: None, logs: Mutex::default() })
    }

    /// The same server, with encrypted connections.
    pub fn encrypted(self, tls: ServerTls) -> Server {
        Server { tls: Some(tls), ..self }
    }

    /// Serves each connection in a thread, for ever.
    pub fn serve(self: &Arc<Server>, listener: &TcpListener) -> io::Result<()> {
        for stream in listener.incoming() {
            // A connection that is gone before it was accepted.
            let Ok(stream) = stream else { continue };
            let server = Arc::clone(self);
            std::thread::Builder::new().spawn(move || {
                // Whatever ends a connection, the promises are kept; a tester without power ends most.
                let _ = server.converse(stream);
            })?;
        }
        Ok(())
    }

    fn converse(&self, socket: TcpStream) -> Result<(), FrameError> {
        socket.set_nodelay(true).map_err(FrameError::Io)?;
        socket.set_read_timeout(Some(GREETING)).map_err(FrameError::Io)?;
        let timeouts = socket.try_clone().map_err(FrameError::Io)?;
        let mut stream: Box<dyn Wire> = match &self.tls {
            Some(tls) => Box::new(tls.accept(socket).map_err(FrameError::Io)?),
            None => Box::new(socket),
        };
        let stream = &mut stream;
        let nonce = nonce().map_err(FrameError::Io)?;
        let has_token = self.token.is_some();
        send(stream, &Challenge { protocol: PROTOCOL, nonce, has_token })?;
        let answer: Answer = remote::read(&mut *stream, remote::LIMIT_GREETING)?;
        if let Err(why) = self.admit(&answer, &nonce) {
            return send(stream, &Reply::Refused(why));
        }
        let nonces = Nonces { server: nonce, client: answer.nonce };
        let own = self.token.as_ref().map(|token| proof(token, &nonces, Side::Server));
        send(stream, &Reply::Welcome(own))?;
        timeouts.set_read_timeout(None).map_err(FrameError::Io)?;
        loop {
            let reply = match remote::read(&mut *stream, REQUEST_MAX) {
                Ok(request) => self.reply(request).unwrap_or_else(Reply::Refused),
                Err(FrameError::Closed) => return Ok(()),
                Err(error) => return Err(error),
            };
            send(stream, &reply)?;
        }
    }

    fn admit(&self, answer: &Answer, nonce: &Nonce) -> Result<(), String> {
        if answer.protocol != PROTOCOL {
            return Err(format!(
                "this server has version {PROTOCOL} of the protocol, and the tester has version {}: \
                 use the same fathom on both machines",
                answer.protocol
            ));
        }
        let nonces = Nonces { server: *nonce, client: answer.nonce };
        match &self.token {
            Some(token) if !is_proof(answer.proof.as_ref(), token, &nonces, Side::Client) => {
                Err("the token is not the server's; give the same --token-file on both machines"
                    .into())
            }
            _ => Ok(()),
        }
    }

    /// The reply to a request.
    fn reply(&self, request: Request) -> Result<Reply, String> {
        match request {
            Request::Start(session) => self.start(session),
            Request::Durable { run, stream, batches } => self.durable(run, stream, batches),
            Request::Cut(run) => self.append(run, &Entry::Cut),
            Request::Ended { run, why } => self.append(run, &Entry::Ended(why)),
            Request::Checked(checked) => self.append(checked.run, &Entry::Checked(checked)),
            Request::List => self.list().map(Reply::Sessions),
            Request::Fetch(run) => Ok(Reply::Promises(Box::new(self.read(run)?))),
        }
    }

    fn logs(&self) -> MutexGuard<'_, BTreeMap<u64, Log>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, run: u64) -> PathBuf {
        self.directory.join(format!("{run:016x}.{EXTENSION}"))
    }

    fn start(&self, session: Session) -> Result<Reply, String> {
        let mut logs = self.logs();
        let path = self.path(session.run);
        if path.exists() {
            let log = self.opened(&mut logs, session.run)?;
            // A tester that lost its connection says the same again.
            return match log.session == session {
                true => Ok(Reply::Kept),
                false => Err(format!("another tester uses the number {:016x}", session.run)),
            };
        }
        let failed = |error| keeping(&path, &error);
        let mut file =
            OpenOptions::new().append(true).create_new(true).open(&path).map_err(failed)?;
        let line = promises::line(0, &Entry::Start(session.clone()));
        file.write_all(line.as_bytes()).map_err(failed)?;
        let order = self.directory.join(ORDER);
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&order)
            .and_then(|mut file| file.write_all(format!("{:016x}\n", session.run).as_bytes()))
            .map_err(|error| keeping(&order, &error))?;
        logs.insert(session.run, Log { file, session, durable: BTreeMap::new(), next: 1 });
        Ok(Reply::Kept)
    }

    fn durable(&self, run: u64, stream: u16, batches: u64) -> Result<Reply, String> {
        let mut logs = self.logs();
        let log = self.opened(&mut logs, run)?;
        let known = log.durable.get(&stream).copied().unwrap_or(0);
        match batches {
            _ if batches == known => return Ok(Reply::Kept),
            _ if batches != known + 1 => {
                return Err(format!(
                    "batch {batches} of thread {stream} follows batch {known}: two testers write \
                     under one number"
                ));
            }
            _ => {}
        }
        log.append(&Entry::Durable { stream, batches })
            .map_err(|e| keeping(&self.path(run), &e))?;
        log.durable.insert(stream, batches);
        Ok(Reply::Kept)
    }

    fn append(&self, run: u64, entry: &Entry) -> Result<Reply, String> {
        let mut logs = self.logs();
        let log = self.opened(&mut logs, run)?;
        log.append(entry).map_err(|error| keeping(&self.path(run), &error))?;
        Ok(Reply::Kept)
    }

    /// The log of a session, opened again after the server was restarted.
    fn opened<'a>(
        &self,
        logs: &'a mut BTreeMap<u64, Log>,
        run: u64,
    ) -> Result<&'a mut Log, String> {
        if let std::collections::btree_map::Entry::Vacant(place) = logs.entry(run) {
            let promises = self.read(run)?;
            let session = promises.session().map_err(|why| format!("{run:016x}: {why}"))?.clone();
            let path = self.path(run);
            let failed = |error| keeping(&path, &error);
            let mut file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
            if promises.damage.iter().any(|damage| damage.what.contains("to its end")) {
                file.write_all(b"\n").map_err(failed)?;
            }
            place.insert(Log { file, session, durable: promises.durable, next: promises.next });
        }
        Ok(logs.get_mut(&run).expect("just inserted"))
    }

    fn read(&self, run: u64) -> Result<Promises, String> {
        let path = self.path(run);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("no promises of {run:016x} are kept here"),
            _ => keeping(&path, &error),
        })?;
        Ok(promises::read(&bytes))
    }

    fn list(&self) -> Result<Vec<Kept>, String> {
        let failed = |error| keeping(&self.directory, &error);
        let order = fs::read_to_string(self.directory.join(ORDER)).unwrap_or_default();
        let order: Vec<&str> = order.lines().collect();
        let mut found: Vec<(Option<usize>, SystemTime, Kept)> = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let is_log = path.extension().is_some_and(|extension| extension == EXTENSION);
            let Some(run) = u64::from_str_radix(stem, 16).ok().filter(|_| is_log) else { continue };
            let read = promises::read(&fs::read(&path).map_err(failed)?);
            let target = read.session.map(|session| session.target).unwrap_or_default();
            let checked = read.checks.last().cloned();
            // Those that came from another directory are in the order of this machine's clock, before
            // all others.
            let place = order.iter().position(|line| *line == stem);
            let made = fs::metadata(&path).and_then(|m| m.created().or_else(|_| m.modified()));
            let kept = Kept { run, host: target.host, path: target.path, checked };
            found.push((place, made.map_err(failed)?, kept));
        }
        found.sort_by_key(|(place, made, kept)| (*place, *made, kept.run));
        Ok(found.into_iter().map(|(_, _, kept)| kept).collect())
    }
}

impl Log {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        self.file.write_all(promises::line(self.next, entry).as_bytes())?;
        self.next += 1;
        Ok(())
    }
}

fn keeping(path: &Path, error: &io::Error) -> String {
    format!("the server cannot keep promises in {}: {error}", path.display())
}

fn send(stream: &mut dyn Wire, message: &impl serde::Serialize) -> Result<(), FrameError> {
    remote::write(stream, message).map_err(FrameError::Io)
}
