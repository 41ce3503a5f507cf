//! The socket that a process listens at.

use super::directory::{self, DirectoryError};
use super::{Hub, client};
use std::fs;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait after a connection that could not be taken: of too many open files, say, each
/// further try would fail at once.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Listens at the socket of this process for as long as it lives. The thread that does so sleeps
/// while nobody connects.
#[derive(Debug)]
pub struct Server {
    hub: Arc<Hub>,
    path: PathBuf,
}

impl Server {
    /// Listens in a directory, where sockets of processes that are gone are removed. Who connects
    /// is handed to the hub.
    ///
    /// # Errors
    /// When the directory is not the user's own, or the socket cannot be made.
    pub fn open(directory: &Path, hub: Arc<Hub>) -> Result<Server, DirectoryError> {
        directory::make(directory)?;
        client::remove_stale(directory);
        let path = directory.join(format!("{}.sock", std::process::id()));
        let io = |error| DirectoryError::Io { path: path.display().to_string(), error };
        // A process of this number that is gone may have left it: it is not ours yet.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(io)?;
        let theirs = Arc::clone(&hub);
        let serve = move || {
            for stream in listener.incoming() {
                if stream.and_then(|stream| theirs.add_listener(stream)).is_err() {
                    std::thread::sleep(AFTER_FAILURE);
                }
            }
        };
        // It lives as long as the process: there is one feed a process.
        std::thread::Builder::new().name("feed".into()).spawn(serve).map_err(io)?;
        Ok(Server { hub, path })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.hub.flush();
        // Whoever looks next removes it otherwise.
        let _ = fs::remove_file(&self.path);
    }
}
