//! The server side: the socket of a process.

use super::directory::{self, DirectoryError};
use super::{Hub, client};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

/// Pause after a failed accept, for example with too many open files.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Listens at the socket of this process. Its thread sleeps until a client connects.
#[derive(Debug)]
pub struct Server {
    hub: Arc<Hub>,
    path: PathBuf,
}

impl Server {
    /// Listens in a directory after removing stale sockets. Clients are added to the hub.
    ///
    /// # Errors
    /// When the directory is not private, or the socket cannot be made.
    pub fn open(directory: &Path, hub: Arc<Hub>) -> Result<Server, DirectoryError> {
        directory::make(directory)?;
        client::remove_stale(directory);
        let path = directory.join(format!("{}.sock", std::process::id()));
        let io = |error| DirectoryError::Io { path: path.display().to_string(), error };
        // A client removes a socket at which nobody listens yet, so it gets its name afterwards.
        let unready = path.with_extension("unready");
        // An earlier process with this id may have left it.
        match fs::remove_file(&unready) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&unready).map_err(io)?;
        fs::rename(&unready, &path).map_err(io)?;
        let theirs = Arc::clone(&hub);
        let serve = move || {
            for stream in listener.incoming() {
                if stream.and_then(|stream| theirs.add_listener(stream)).is_err() {
                    std::thread::sleep(AFTER_FAILURE);
                }
            }
        };
        // The thread lives as long as the process, which has one feed.
        std::thread::Builder::new().name("feed".into()).spawn(serve).map_err(io)?;
        Ok(Server { hub, path })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.hub.flush();
        // If this fails, the next client removes it.
        let _ = fs::remove_file(&self.path);
    }
}
