//! The connection of a server to one client.

use crate::commands::run::connection::{MessageWriter, Stream, describe_error, read_messages};
use crate::commands::run::server::shared::Server;
use crate::exit;
use crate::output::write_stderr;
use job::Dialect;
use remote::{
    FilePart, FrameError, FromClient, FromServer, Hello, LIMIT_SUBMISSION, PROTOCOL, Refusal,
    Submission,
};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Bytes of a file sent in one message.
const FILE_PART: usize = 1 << 20;

/// Time between two checks, before the run, of whether the server is ending.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A client of this server, after the greeting.
pub struct ClientSession<'a> {
    /// The server.
    pub server: &'a Server<'a>,
    /// Sends messages to the client.
    pub writer: MessageWriter,
    /// Messages of the client.
    pub messages: Receiver<Result<FromClient, FrameError>>,
    /// The local IP address of the connection; `None` for a UNIX socket.
    pub address: Option<String>,
}

impl<'a> ClientSession<'a> {
    /// Starts to read the messages of a client.
    pub fn new(stream: &Arc<Stream>, server: &'a Server<'a>) -> Self {
        let (sender, messages) = channel();
        read_messages(Arc::clone(stream), LIMIT_SUBMISSION, move |message| {
            sender.send(message).is_ok()
        });
        ClientSession {
            server,
            writer: MessageWriter::new(stream, FromServer::Alive),
            messages,
            address: stream.local().map(|address| address.to_string()),
        }
    }

    /// Sends a message.
    pub fn send(&self, message: &FromServer) -> Result<(), String> {
        self.writer.send(message).map_err(|error| format!("the client is gone: {error}"))
    }

    /// Prints a line of `--debug=net` if the server was started with it.
    pub fn trace(&self, message: &FromClient) {
        if self.server.own.debug.covers("net") {
            let text = format!("server: got op [{}]", message.kind());
            write_stderr(&job::debug::line("net", std::process::id(), &text));
        }
    }

    /// Waits for the next message other than a heartbeat.
    ///
    /// # Errors
    /// When the client is gone or the server is ending.
    pub fn next(&self) -> Result<FromClient, String> {
        loop {
            if self.server.ending.load(Ordering::Relaxed) {
                let text = "the server is shutting down".to_string();
                let exit_code = exit::ERRORS;
                self.send(&FromServer::Refused(Refusal { text: text.clone(), exit_code }))?;
                return Err(text);
            }
            match self.messages.recv_timeout(POLL_INTERVAL) {
                // There is no run yet to report on.
                Ok(Ok(FromClient::Alive | FromClient::Report)) => {}
                Ok(Ok(message)) => {
                    self.trace(&message);
                    return Ok(message);
                }
                Ok(Err(error)) => {
                    return Err(format!("the client is gone: {}", describe_error(&error)));
                }
                Err(_) => {}
            }
        }
    }

    /// Sends a file in parts. Returns false when it does not exist or cannot be read to its end.
    pub fn send_file(&self, path: &Path) -> Result<bool, String> {
        let Ok(mut file) = File::open(path) else { return Ok(false) };
        let mut at = 0;
        loop {
            let mut bytes = Vec::with_capacity(FILE_PART);
            let read = file.by_ref().take(FILE_PART as u64).read_to_end(&mut bytes);
            let (name, length) = (path.display().to_string(), bytes.len() as u64);
            if length > 0 || at == 0 {
                self.send(&FromServer::File(FilePart { name, at, bytes }))?;
            }
            match read {
                Ok(0) => return Ok(true),
                Ok(_) => at += length,
                // The file stays here.
                Err(_) => return Ok(false),
            }
        }
    }
}

/// The dialect of the client's jobs.
pub fn dialect(submission: &Submission) -> Dialect {
    if submission.as_fio { Dialect::Fio } else { Dialect::Fathom }
}

/// The greeting of this program.
pub fn own_hello() -> Hello {
    Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").into() }
}
