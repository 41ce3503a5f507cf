//! Threads that check blocks for the worker (`verify_async`).

use super::check::{CheckResult, Checker, Request};
use crate::mutex::lock;
use crate::sys::thread::bind_to_cpus;
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Maximum blocks that wait for each thread.
const WAITING: usize = 16;

type Task = (Request, Vec<u8>);

/// The threads and their queues.
pub(super) struct CheckPool {
    tasks: Option<SyncSender<Task>>,
    results: Receiver<CheckResult>,
    threads: Vec<JoinHandle<()>>,
    outstanding: u64,
}

impl CheckPool {
    /// Starts `count` threads, bound to `cpus` unless that is empty. Fails only if no thread can be
    /// started.
    pub fn start(count: u32, cpus: &[u32], checker: &Checker) -> io::Result<CheckPool> {
        let (tasks, queue) = sync_channel(WAITING * count as usize);
        let queue = Arc::new(Mutex::new(queue));
        let (sender, results) = channel();
        let mut pool =
            CheckPool { tasks: Some(tasks), results, threads: Vec::new(), outstanding: 0 };
        for _ in 0..count {
            let (queue, sender) = (Arc::clone(&queue), sender.clone());
            let (checker, cpus) = (checker.clone(), cpus.to_vec());
            let work = move || {
                if !cpus.is_empty() {
                    // The plan has checked the CPUs; the thread also works without them.
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

    /// Queues a block. Waits if the queue is full.
    pub fn check(&mut self, request: Request, buffer: &[u8]) {
        let sent = self.tasks.as_ref().map(|tasks| tasks.send((request, buffer.to_vec())));
        if let Some(Ok(())) = sent {
            self.outstanding += 1;
        }
    }

    /// The next result, if there is one.
    pub fn found(&mut self) -> Option<CheckResult> {
        let found = self.results.try_recv().ok()?;
        self.outstanding -= 1;
        Some(found)
    }

    /// Waits for the next result; `None` if no block is queued.
    pub fn wait(&mut self) -> Option<CheckResult> {
        if self.outstanding == 0 {
            return None;
        }
        self.outstanding -= 1;
        self.results.recv().ok()
    }
}

impl Drop for CheckPool {
    fn drop(&mut self) {
        // Closing the queue ends the threads.
        self.tasks = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(mut checker: Checker, queue: &Mutex<Receiver<Task>>, results: &Sender<CheckResult>) {
    loop {
        let task = lock(queue).recv();
        let Ok((request, mut buffer)) = task else { return };
        if results.send(checker.check(&request, &mut buffer)).is_err() {
            return;
        }
    }
}
