//! A search for files by name, size and time, with several threads, as find(1) makes it.

use crate::Failure;
use rustix::fs::{AtFlags, FileType, statat};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Names that a thread asks about at a time. All of mdtest-hard are in one directory, which one thread reads.
const BATCH: usize = 256;

/// What is searched for: `find ROOT -type f -name '*PART*' -size SIZEc -newer FILE`.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The directory.
    pub root: &'a Path,
    /// A part of the name.
    pub part_of_name: &'a str,
    /// The size in bytes.
    pub size: u64,
    /// Files must have changed after this one.
    pub newer_than: &'a Path,
    /// Threads.
    pub threads: usize,
}

/// What a search came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// Names below the directory: files, directories and all else.
    pub names: u64,
    /// Files that match.
    pub matching: u64,
    /// From the first name to the last.
    pub time: Duration,
}

/// Work for a thread.
enum Work {
    /// A directory to read.
    Directory(PathBuf),
    /// Names in a directory to ask about.
    Names(Arc<File>, Vec<OsString>),
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Work>,
    /// Threads that may add work.
    busy: usize,
    names: u64,
    matching: u64,
    failure: Option<Failure>,
    is_stopped: bool,
}

struct Pool<'a> {
    search: &'a Search<'a>,
    /// Time of the last change of the file of `newer_than`: seconds and nanoseconds.
    newer_than: (i64, i64),
    state: Mutex<State>,
    changed: Condvar,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
}

/// Searches. `None`: `is_stopped` said so.
pub fn search(
    search: &Search,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Option<SearchResult>, Failure> {
    let mark = fs::metadata(search.newer_than);
    let mark =
        mark.map_err(|error| Failure::io("read the metadata of", search.newer_than, &error))?;
    let begin = Instant::now();
    let waiting = VecDeque::from([Work::Directory(search.root.to_owned())]);
    let pool = Pool {
        search,
        newer_than: (mark.mtime(), mark.mtime_nsec()),
        state: Mutex::new(State { waiting, ..State::default() }),
        changed: Condvar::new(),
        is_stopped,
    };
    thread::scope(|scope| {
        for _ in 0..search.threads.max(1) {
            scope.spawn(|| pool.work());
        }
    });
    let time = begin.elapsed();
    let state = pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state {
        State { failure: Some(failure), .. } => Err(failure),
        State { is_stopped: true, .. } => Ok(None),
        State { names, matching, .. } => Ok(Some(SearchResult { names, matching, time })),
    }
}

impl Pool<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does until nothing is left.
    fn work(&self) {
        while let Some(work) = self.take() {
            let (names, matching) = match work {
                Work::Directory(path) => match self.read(&path) {
                    Ok(names) => (names, 0),
                    Err(error) => {
                        let failure = Failure::io("read", &path, &error);
                        self.lock().failure.get_or_insert(failure);
                        (0, 0)
                    }
                },
                Work::Names(directory, names) => {
                    let is_match = |name: &&OsString| self.is_match(&directory, name);
                    (0, names.iter().filter(is_match).count() as u64)
                }
            };
            let mut state = self.lock();
            state.busy -= 1;
            state.names += names;
            state.matching += matching;
            self.changed.notify_all();
        }
    }

    /// The next work; `None`: all is done.
    fn take(&self) -> Option<Work> {
        let mut state = self.lock();
        state.is_stopped |= (self.is_stopped)();
        loop {
            if state.is_stopped || state.failure.is_some() {
                return None;
            }
            match state.waiting.pop_front() {
                Some(work) => {
                    state.busy += 1;
                    return Some(work);
                }
                None if state.busy == 0 => return None,
                None => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn add(&self, work: Work) {
        self.lock().waiting.push_back(work);
        self.changed.notify_one();
    }

    /// Reads a directory. Returns how many names it has.
    fn read(&self, path: &Path) -> std::io::Result<u64> {
        let directory = Arc::new(File::open(path)?);
        let part = self.search.part_of_name.as_bytes();
        let (mut count, mut batch) = (0, Vec::new());
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            count += 1;
            let name = entry.file_name();
            if entry.file_type()?.is_dir() {
                self.add(Work::Directory(entry.path()));
            } else if name.as_bytes().windows(part.len()).any(|window| window == part) {
                batch.push(name);
            }
            if batch.len() == BATCH {
                self.add(Work::Names(Arc::clone(&directory), std::mem::take(&mut batch)));
                if (self.is_stopped)() {
                    self.lock().is_stopped = true;
                    return Ok(count);
                }
            }
        }
        if !batch.is_empty() {
            self.add(Work::Names(directory, batch));
        }
        Ok(count)
    }

    /// Whether a file is as large and as new as is searched for. One that is gone is not.
    fn is_match(&self, directory: &File, name: &OsString) -> bool {
        statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && u64::try_from(stat.st_size) == Ok(self.search.size)
                && (stat.st_mtime, stat.st_mtime_nsec as i64) > self.newer_than
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::FileTimes;
    use std::time::SystemTime;

    #[test]
    fn files_are_found_by_name_size_and_time() {
        let scratch = testbed::scratch();
        let at = scratch.path();
        let mark = at.join("mark");
        fs::write(&mark, "").unwrap();
        let earlier = SystemTime::now() - Duration::from_secs(9);
        let old = FileTimes::new().set_modified(earlier);
        File::options().write(true).open(&mark).unwrap().set_times(old).unwrap();
        for directory in 0..4 {
            let directory = at.join(format!("d{directory}"));
            fs::create_dir_all(directory.join("inner01")).unwrap();
            for file in 0..1000 {
                fs::write(directory.join(format!("f.{file}")), [b'x'; 39]).unwrap();
            }
            fs::write(directory.join("inner01/x01"), "another size").unwrap();
            let path = directory.join("inner01/old01");
            fs::write(&path, [b'x'; 39]).unwrap();
            let long_ago = FileTimes::new().set_modified(earlier - Duration::from_secs(1));
            File::options().write(true).open(&path).unwrap().set_times(long_ago).unwrap();
            std::os::unix::fs::symlink("f.101", directory.join("l01")).unwrap();
        }
        for threads in [1, 3] {
            let wanted =
                Search { root: at, part_of_name: "01", size: 39, newer_than: &mark, threads };
            let found = search(&wanted, &|| false).unwrap().unwrap();
            // The mark, 4 directories, and in each 1000 files, a link, and a directory with 2 files. 101 to 901.
            assert_eq!((found.names, found.matching), (1 + 4 + 4 * 1004, 36), "{threads}");
            assert_eq!(search(&wanted, &|| true), Ok(None));
            let nowhere = Search { root: &at.join("no"), ..wanted };
            let error = search(&nowhere, &|| false).unwrap_err();
            assert!(error.0.contains("/no"), "{error}");
        }
    }
}
