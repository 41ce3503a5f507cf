//! `lockfile`: workers lock the files that they share.
//!
//! A worker holds the lock while its I/O is in flight on the file, not between I/Os. Locks are
//! identified by path within this process. A worker never waits for a lock while it holds one, so
//! there are no deadlocks. A worker does not keep a lock for which others wait, so none starves.

use crate::hot::op::{Op, OpKind};
use crate::mutex::lock;
use plan::{LockFile, Worker};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The locks of one worker's files.
pub struct FileLocks {
    mode: LockFile,
    files: Vec<Held>,
    /// I/Os in flight on all files.
    in_flight: u32,
}

struct Held {
    lock: Arc<Lock>,
    exclusive: bool,
    in_flight: u32,
}

impl FileLocks {
    /// The locks for `worker`; `None` without `lockfile`.
    pub fn new(worker: &Worker) -> Option<FileLocks> {
        if worker.selection.lock == LockFile::None || worker.files.is_empty() {
            return None;
        }
        let files = worker
            .files
            .iter()
            .map(|f| Held { lock: Lock::for_path(&f.path), exclusive: false, in_flight: 0 })
            .collect();
        Some(FileLocks { mode: worker.selection.lock, files, in_flight: 0 })
    }

    /// Takes the lock for `op`. Waits for it if this worker has nothing in flight; otherwise returns
    /// false instead of waiting: take completions, then call again.
    pub fn acquire(&mut self, op: &Op) -> bool {
        let exclusive = self.mode == LockFile::Exclusive || op.kind != OpKind::Read;
        let held = &mut self.files[op.file as usize];
        if held.in_flight > 0 {
            if exclusive && !held.exclusive || held.lock.state().waiting > 0 {
                return false;
            }
        } else {
            if self.in_flight > 0 {
                if !held.lock.state().take(exclusive) {
                    return false;
                }
            } else {
                held.lock.wait(exclusive);
            }
            held.exclusive = exclusive;
        }
        held.in_flight += 1;
        self.in_flight += 1;
        true
    }

    /// Releases the lock of `op`, which has ended.
    pub fn release(&mut self, op: &Op) {
        let held = &mut self.files[op.file as usize];
        held.in_flight -= 1;
        self.in_flight -= 1;
        if held.in_flight == 0 {
            held.lock.give_back(held.exclusive);
        }
    }
}

impl Drop for FileLocks {
    fn drop(&mut self) {
        for held in self.files.iter().filter(|h| h.in_flight > 0) {
            held.lock.give_back(held.exclusive);
        }
    }
}

/// The canonical path of a file, which may not exist yet.
fn canonical_path(path: &str) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            parent.canonicalize().unwrap_or_else(|_| parent.into()).join(name)
        }
        _ => path,
    })
}

/// The lock of one file.
#[derive(Default)]
struct Lock {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    readers: u32,
    writer: bool,
    waiting: u32,
}

impl State {
    fn take(&mut self, exclusive: bool) -> bool {
        if self.writer || exclusive && self.readers > 0 {
            return false;
        }
        if exclusive {
            self.writer = true;
        } else {
            self.readers += 1;
        }
        true
    }
}

impl Lock {
    fn for_path(path: &str) -> Arc<Lock> {
        static LOCKS: OnceLock<Mutex<BTreeMap<PathBuf, Weak<Lock>>>> = OnceLock::new();
        let key = canonical_path(path);
        let locks = LOCKS.get_or_init(Mutex::default);
        let mut locks = lock(locks);
        if let Some(lock) = locks.get(&key).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::new(Lock::default());
        locks.insert(key, Arc::downgrade(&lock));
        lock
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wait(&self, exclusive: bool) {
        let mut state = self.state();
        state.waiting += 1;
        while !state.take(exclusive) {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
    }

    fn give_back(&self, exclusive: bool) {
        let mut state = self.state();
        if exclusive {
            state.writer = false;
        } else {
            state.readers -= 1;
        }
        drop(state);
        self.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{File, FileSelection};
    use std::sync::atomic::{AtomicI32, Ordering};

    fn worker(lock: LockFile, paths: &[&str]) -> Worker {
        Worker {
            files: paths.iter().map(|p| File { path: (*p).into(), ..File::default() }).collect(),
            selection: FileSelection { lock, ..FileSelection::default() },
            ..Worker::default()
        }
    }

    fn op(kind: OpKind, file: u32) -> Op {
        Op { kind, file, offset: 0, length: 1, tag: 0 }
    }

    #[test]
    fn without_lockfile_there_are_no_locks() {
        assert!(FileLocks::new(&worker(LockFile::None, &["lock-none"])).is_none());
    }

    #[test]
    fn a_file_has_the_same_path_before_and_after_its_creation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("made");
        let before = canonical_path(path.to_str().unwrap());
        std::fs::write(&path, "").unwrap();
        assert_eq!(before, canonical_path(dir.path().join(".").join("made").to_str().unwrap()));
    }

    #[test]
    fn a_worker_keeps_its_depth_until_another_one_waits() {
        let worker = worker(LockFile::Exclusive, &["lock-depth"]);
        let mut mine = FileLocks::new(&worker).unwrap();
        let read = op(OpKind::Read, 0);
        assert!(mine.acquire(&read) && mine.acquire(&read));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| FileLocks::new(&worker).unwrap().acquire(&read));
            while mine.files[0].lock.state().waiting == 0 {
                std::thread::yield_now();
            }
            assert!(!mine.acquire(&read), "goes on although another one waits");
            mine.release(&read);
            mine.release(&read);
            assert!(other.join().unwrap());
        });
        assert!(mine.acquire(&read), "the dropped worker kept the lock");
    }

    #[test]
    fn readers_share_a_lock_and_a_read_lock_permits_no_write() {
        let worker = worker(LockFile::ReadWrite, &["lock-shared"]);
        let (read, write) = (op(OpKind::Read, 0), op(OpKind::Write, 0));
        let mut first = FileLocks::new(&worker).unwrap();
        let mut second = FileLocks::new(&worker).unwrap();
        assert!(first.acquire(&read) && second.acquire(&read));
        assert!(!first.acquire(&write));
        first.release(&read);
        second.release(&read);
        assert!(first.acquire(&write) && first.acquire(&read));
    }

    #[test]
    fn crossed_files_neither_overlap_nor_block_for_ever() {
        let orders = [["lock-a", "lock-b"], ["lock-b", "lock-a"]];
        let users: BTreeMap<&str, AtomicI32> =
            [("lock-a", AtomicI32::new(0)), ("lock-b", AtomicI32::new(0))].into();
        std::thread::scope(|scope| {
            for order in &orders {
                let users = &users;
                scope.spawn(move || {
                    let worker = worker(LockFile::Exclusive, order);
                    let mut locks = FileLocks::new(&worker).unwrap();
                    let mut issued: Vec<Op> = Vec::new();
                    let finish = |locks: &mut FileLocks, op: Op| {
                        users[order[op.file as usize]].fetch_sub(1, Ordering::SeqCst);
                        locks.release(&op);
                    };
                    for i in 0..20_000u32 {
                        let next = op(OpKind::Write, i % 2);
                        while !locks.acquire(&next) {
                            finish(&mut locks, issued.remove(0));
                        }
                        let before =
                            users[order[next.file as usize]].fetch_add(1, Ordering::SeqCst);
                        let own = issued.iter().filter(|o| o.file == next.file).count() as i32;
                        assert_eq!(before, own, "two workers on one file");
                        issued.push(next);
                        if issued.len() == 3 {
                            finish(&mut locks, issued.remove(0));
                        }
                    }
                    for op in issued {
                        finish(&mut locks, op);
                    }
                });
            }
        });
    }
}
