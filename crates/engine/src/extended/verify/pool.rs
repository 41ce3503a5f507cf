//! Threads that check blocks beside the worker (`verify_async`).

use super::check::{Checker, Found, Request};
use crate::mutex::lock;
use crate::sys::thread::bind_to_cpus;
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Blocks that wait for each thread before the worker has to wait.
const WAITING: usize = 16;

type Task = (Request, Vec<u8>);

/// The threads, what is on its way to them and back.
pub(super) struct Pool {
    tasks: Option<SyncSender<Task>>,
    results: Receiver<Found>,
    threads: Vec<JoinHandle<()>>,
    outstanding: u64,
}

impl Pool {
    /// Starts so many threads on these CPUs (all of them if none is named).
    ///
    /// # Errors
    /// None could be started. Fewer than asked for do the work as well.
    pub fn start(count: u32, cpus: &[u32], checker: &Checker) -> io::Result<Pool> {
        let (tasks, queue) = sync_channel(WAITING * count as usize);
        let queue = Arc::new(Mutex::new(queue));
        let (sender, results) = channel();
        let mut pool = Pool { tasks: Some(tasks), results, threads: Vec::new(), outstanding: 0 };
        for _ in 0..count {
            let (queue, sender) = (Arc::clone(&queue), sender.clone());
            let (checker, cpus) = (checker.clone(), cpus.to_vec());
            let work = move || {
                if !cpus.is_empty() {
                    // The plan saw that they are allowed; without them it checks where it is.
                    let _ = bind_to_cpus(&cpus);
                }
                serve(checker, &queue, &sender);
            };
            match std::thread::Builder::new().name("verify".into()).spawn(work) {
                Ok(thread) => pool.threads.push(thread),
                Err(error) if pool.threads.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(pool)
    }

    /// Hands a block over; waits while too many wait already.
    pub fn check(&mut self, request: Request, buffer: &[u8]) {
        let sent = self.tasks.as_ref().map(|tasks| tasks.send((request, buffer.to_vec())));
        if let Some(Ok(())) = sent {
            self.outstanding += 1;
        }
    }

    /// What has been found since the last call.
    pub fn found(&mut self) -> Option<Found> {
        let found = self.results.try_recv().ok()?;
        self.outstanding -= 1;
        Some(found)
    }

    /// The next that is found; `None` when nothing is on its way.
    pub fn wait(&mut self) -> Option<Found> {
        if self.outstanding == 0 {
            return None;
        }
        self.outstanding -= 1;
        self.results.recv().ok()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Their queue ends with its sender.
        self.tasks = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(mut checker: Checker, queue: &Mutex<Receiver<Task>>, results: &Sender<Found>) {
    loop {
        let task = lock(queue).recv();
        let Ok((request, mut buffer)) = task else { return };
        if results.send(checker.check(&request, &mut buffer)).is_err() {
            return;
        }
    }
}
