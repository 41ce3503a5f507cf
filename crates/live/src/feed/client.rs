//! The client side: the processes with a run, and reading their feeds.

use super::{DirectoryError, Line, directory};
use crate::run::RunInfo;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for a process to send its run. It does so at once if it has one.
const PATIENCE: Duration = Duration::from_millis(500);

/// Most bytes of a line.
const LINE_MAX: u64 = 8 << 20;

/// A process with a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedProcess {
    /// Its process id.
    pub pid: u32,
    /// Its socket.
    pub path: PathBuf,
    /// Its current or last run; `None` before the first.
    pub info: Option<RunInfo>,
}

/// The processes with a socket in a directory, by process id. Stale sockets are removed.
///
/// # Errors
/// When the directory is not private. A missing directory means that nothing runs.
pub fn list(directory: &Path) -> Result<Vec<FeedProcess>, DirectoryError> {
    match directory::check(directory) {
        Err(DirectoryError::Io { error, .. }) if error.kind() == ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        result => result?,
    }
    let listed = |(pid, path): (u32, PathBuf)| {
        let mut follow = connect(&path)?;
        let info = match follow.next_line_within(PATIENCE) {
            Ok(Some(Line::Run(info))) => Some(info),
            _ => None,
        };
        Some(FeedProcess { pid, path, info })
    };
    Ok(sockets(directory).into_iter().filter_map(listed).collect())
}

/// Removes stale sockets from a directory. Whether the process exists does not decide, because its
/// id may have been reused.
pub(super) fn remove_stale(directory: &Path) {
    for (_, path) in sockets(directory) {
        drop(connect(&path));
    }
}

/// The sockets in a directory with their process ids.
fn sockets(directory: &Path) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let socket = |entry: fs::DirEntry| {
        let path = entry.path();
        let named = path.extension().is_some_and(|end| end == "sock");
        let pid = path.file_stem()?.to_str()?.parse().ok().filter(|_| named)?;
        Some((pid, path))
    };
    let mut sockets: Vec<(u32, PathBuf)> = entries.filter_map(socket).collect();
    sockets.sort();
    sockets
}

/// Connects to a socket, or removes it if nobody listens there.
fn connect(path: &Path) -> Option<FeedReader> {
    match FeedReader::connect(path) {
        Ok(follow) => Some(follow),
        Err(error) => {
            if error.kind() == ErrorKind::ConnectionRefused {
                // Another process may have removed it.
                let _ = fs::remove_file(path);
            }
            None
        }
    }
}

/// Reads the feed of a process.
#[derive(Debug)]
pub struct FeedReader {
    stream: BufReader<UnixStream>,
    /// An incomplete line.
    part: Vec<u8>,
}

impl FeedReader {
    /// Connects to the socket of a process.
    ///
    /// # Errors
    /// When nobody listens there.
    pub fn connect(path: &Path) -> io::Result<FeedReader> {
        Ok(FeedReader { stream: BufReader::new(UnixStream::connect(path)?), part: Vec::new() })
    }

    /// Waits for the next line; `None` when the process has ended.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        self.stream.get_ref().set_read_timeout(None)?;
        self.read()
    }

    /// Waits for the next line, at most this long.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] on a timeout; errors of reading.
    pub fn next_line_within(&mut self, patience: Duration) -> io::Result<Option<Line>> {
        self.stream.get_ref().set_read_timeout(Some(patience))?;
        self.read()
    }

    /// The connection, to poll it with others. Buffered data are not visible there.
    pub fn stream(&self) -> &UnixStream {
        self.stream.get_ref()
    }

    /// Skips unknown lines.
    fn read(&mut self) -> io::Result<Option<Line>> {
        loop {
            let room = LINE_MAX.saturating_sub(self.part.len() as u64);
            let mut limited = io::Read::take(&mut self.stream, room);
            limited.read_until(b'\n', &mut self.part)?;
            if self.part.last() != Some(&b'\n') {
                return match (self.part.len() as u64) < LINE_MAX {
                    true => Ok(None),
                    false => Err(io::Error::new(ErrorKind::InvalidData, "a line without an end")),
                };
            }
            let line = std::mem::take(&mut self.part);
            if let Some(line) = std::str::from_utf8(&line).ok().and_then(Line::parse) {
                return Ok(Some(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hub, Server};
    use super::*;
    use crate::run::{Moment, RunEnd, SavedTo};
    use std::os::unix::net::UnixListener;
    use std::sync::Arc;

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("sockets");
        (scratch, directory)
    }

    #[test]
    fn a_process_is_listed_followed_to_its_end_and_gone_then() {
        let (_scratch, directory) = scratch();
        assert_eq!(list(&directory).unwrap(), []);
        let hub = Arc::new(Hub::default());
        let server = Server::open(&directory, Arc::clone(&hub)).unwrap();
        let info = RunInfo { run: 1, name: "a".into(), ..RunInfo::default() };
        hub.publish(Line::Run(info.clone()));
        let [listed] = &list(&directory).unwrap()[..] else { panic!() };
        assert_eq!((listed.pid, &listed.info), (std::process::id(), &Some(info.clone())));
        let mut follow = FeedReader::connect(&listed.path).unwrap();
        let told = [
            Line::Moment(Box::new(Moment { run: 1, elapsed_seconds: 2.5, ..Moment::default() })),
            Line::Ended(RunEnd { run: 1, errors: 3, ..RunEnd::default() }),
            Line::Saved(SavedTo { run: 1, id: "k2".into() }),
        ];
        assert_eq!(follow.next_line().unwrap(), Some(Line::Run(info)));
        for line in told {
            hub.publish(line.clone());
            assert_eq!(follow.next_line().unwrap(), Some(line));
        }
        let late = follow.next_line_within(Duration::from_millis(1)).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::WouldBlock);
        drop(server);
        assert_eq!(list(&directory).unwrap(), []);
    }

    #[test]
    fn stale_sockets_are_removed_and_other_files_are_left_alone() {
        let (_scratch, directory) = scratch();
        directory::make(&directory).unwrap();
        let path = |name: &str| directory.join(name);
        drop(UnixListener::bind(path("12.sock")).unwrap());
        std::fs::write(path("notes.sock"), "").unwrap();
        std::fs::write(path("13"), "").unwrap();
        assert_eq!(list(&directory).unwrap(), []);
        assert!(!path("12.sock").exists() && path("notes.sock").exists() && path("13").exists());
        drop(UnixListener::bind(path("14.sock")).unwrap());
        let server = Server::open(&directory, Arc::default()).unwrap();
        assert!(!path("14.sock").exists());
        drop(server);
    }

    #[test]
    fn lines_of_a_newer_program_are_passed_over_and_one_cut_off_is_the_end() {
        let (_scratch, directory) = scratch();
        directory::make(&directory).unwrap();
        let path = directory.join("1.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let mut follow = FeedReader::connect(&path).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let known = Line::Saved(SavedTo::default());
        let text = format!("{{\"dance\":{{}}}}\n\n\u{fffd}\n{}{{\"kept\":", known.text());
        io::Write::write_all(&mut stream, text.as_bytes()).unwrap();
        drop(stream);
        assert_eq!(follow.next_line().unwrap(), Some(known));
        assert_eq!(follow.next_line().unwrap(), None);
    }
}
