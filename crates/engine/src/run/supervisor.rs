//! The thread that starts workers phase by phase and gathers their records.

use crate::clock::Clock;
use crate::hot::cold::LONGEST_SLEEP_NS;
use crate::job_record::{FinishedJob, failed, never_started};
use crate::run_shared::RunShared;
use crate::steady_state::{self, SteadyGroup};
use crate::worker;
use crate::worker::link::{SupervisorLink, WorkerReport};
use plan::{Engine, ExitScope, Worker};
use record::{JobRecord, Message, WorkerState};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A small stack, so that a thousand workers do not reserve gigabytes.
const STACK_BYTES: usize = 512 << 10;

pub(super) struct Supervisor<'a> {
    shared: &'a Arc<RunShared>,
    reports: (Sender<WorkerReport>, Receiver<WorkerReport>),
    results: Vec<Option<FinishedJob>>,
    started: Vec<bool>,
    /// Number of workers that have started and not finished.
    running: usize,
    messages: Vec<Message>,
    threads: Vec<JoinHandle<()>>,
}

impl<'a> Supervisor<'a> {
    pub fn new(shared: &'a Arc<RunShared>) -> Self {
        let count = shared.plan.workers.len();
        Supervisor {
            shared,
            reports: channel(),
            results: (0..count).map(|_| None).collect(),
            started: vec![false; count],
            running: 0,
            messages: Vec::new(),
            threads: Vec::new(),
        }
    }

    /// Runs all workers. Returns their records and the messages for the user.
    pub fn run(mut self, before_io: impl FnOnce()) -> (Vec<JobRecord>, Vec<Message>) {
        self.lay_out();
        before_io();
        let steady_watch = self.watch_steady_state();
        loop {
            let batch = self.startable();
            if !batch.is_empty() {
                self.launch(&batch);
            } else if self.running == 0 {
                break;
            }
            if self.running > 0
                && let Ok(WorkerReport::Finished(index, finished)) = self.reports.1.recv()
            {
                self.worker_finished(index, *finished);
            }
        }
        for thread in self.threads {
            // A panic was caught in the thread and is in its result.
            let _ = thread.join();
        }
        // The watch ends with the last worker.
        let steady = steady_watch.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let (plan, mut messages) = (&self.shared.plan, self.messages);
        let finished = self.results.into_iter().zip(&plan.workers);
        let mut jobs: Vec<JobRecord> = finished
            .map(|(result, worker)| {
                let result = result.unwrap_or_else(|| never_started(worker, plan.interval));
                messages.extend(result.messages);
                result.job
            })
            .collect();
        for group in &steady {
            group.members.iter().for_each(|index| jobs[*index].steady = Some(group.result()));
        }
        record::gather_histories(&mut jobs);
        (jobs, messages)
    }

    /// Starts the thread that ends workers once they are steady; `None` if no worker wants it.
    fn watch_steady_state(&self) -> Option<JoinHandle<Vec<SteadyGroup>>> {
        let mut groups = steady_state::groups(&self.shared.plan);
        if groups.is_empty() {
            return None;
        }
        let shared = Arc::clone(self.shared);
        let watch = move || {
            while !shared.stopping() {
                let now = shared.clock.now();
                let due = groups.iter_mut().filter_map(|group| group.check(&shared.live, now));
                let next = due.min();
                groups.iter_mut().for_each(|group| group.trace(&shared.trace));
                let Some(next) = next else { break };
                let rest = next.saturating_sub(shared.clock.now()).min(LONGEST_SLEEP_NS);
                std::thread::sleep(Duration::from_nanos(rest));
            }
            groups
        };
        // Without the thread, the workers run to their regular end.
        std::thread::Builder::new().name("steady".into()).spawn(watch).ok()
    }

    /// Makes the files of one worker after the other, before anything is measured.
    fn lay_out(&mut self) {
        let shared = self.shared;
        for (index, plan) in shared.plan.workers.iter().enumerate() {
            if shared.stopping() {
                break;
            }
            if !plan.layout.serialize {
                continue;
            }
            match worker::layout::lay_out(shared, index) {
                Ok(message) => self.messages.extend(message),
                Err(finished) => {
                    self.set_started(index);
                    self.worker_finished(index, *finished);
                }
            }
        }
        shared.set_layout(None);
        if shared.plan.workers.iter().any(|w| w.layout.only) {
            shared.stop.store(true, Ordering::Relaxed);
        }
    }

    fn set_started(&mut self, index: usize) {
        self.started[index] = true;
        self.running += 1;
    }

    /// The workers of the current phase whose `wait_for` jobs have ended, by rising index.
    fn startable(&self) -> Vec<usize> {
        if self.shared.stopping() {
            return Vec::new();
        }
        let workers = &self.shared.plan.workers;
        // A worker that was asked to end before its start is done.
        let cancelled = |i: usize| !self.started[i] && self.shared.live[i].asked_to_stop();
        let unfinished =
            || (0..workers.len()).filter(|i| self.results[*i].is_none() && !cancelled(*i));
        let Some(phase) = unfinished().map(|i| workers[i].start.phase).min() else {
            return Vec::new();
        };
        let open_jobs: BTreeSet<u32> = unfinished().map(|i| workers[i].job).collect();
        unfinished()
            .filter(|i| !self.started[*i] && workers[*i].start.phase == phase)
            .filter(|i| workers[*i].start.after_jobs.iter().all(|j| !open_jobs.contains(j)))
            .collect()
    }

    /// Sets up a batch of workers, then starts their I/O at once.
    fn launch(&mut self, batch: &[usize]) {
        let shared = self.shared;
        let mut starts = Vec::new();
        for &index in batch {
            self.set_started(index);
            let (start, receiver) = channel();
            let link = SupervisorLink { index, reports: self.reports.0.clone(), start: receiver };
            match self.spawn(link) {
                Ok(thread) => {
                    self.threads.push(thread);
                    starts.push(start);
                }
                Err(error) => {
                    let plan = &shared.plan;
                    let finished =
                        failed(&plan.workers[index], plan.interval, "start thread", &error);
                    self.worker_finished(index, finished);
                }
            }
        }
        self.wait_until_ready(batch, starts.len());
        let phase = batch.first().map_or(0, |index| shared.plan.workers[*index].start.phase);
        shared.phase_starts(phase);
        starts.iter().for_each(|start| {
            // A worker that failed during set-up has closed its end.
            let _ = start.send(());
        });
    }

    /// Waits until `count` workers of a batch are ready or have failed.
    fn wait_until_ready(&mut self, batch: &[usize], mut count: usize) {
        while count > 0 {
            match self.reports.1.recv() {
                Ok(WorkerReport::Ready) => count -= 1,
                Ok(WorkerReport::Finished(index, finished)) => {
                    // A worker of an earlier batch may end meanwhile.
                    if batch.binary_search(&index).is_ok() {
                        count -= 1;
                    }
                    self.worker_finished(index, *finished);
                }
                Err(_) => break,
            }
        }
    }

    fn spawn(&self, link: SupervisorLink) -> io::Result<JoinHandle<()>> {
        let shared = Arc::clone(self.shared);
        let worker = &shared.plan.workers[link.index];
        shared.live[link.index].set_state(WorkerState::Created);
        // The kernel keeps 15 bytes of a thread's name; a NUL cannot be in one.
        let name = worker.placement.comm.as_deref().unwrap_or(&worker.name);
        let name: String = name.chars().filter(|c| *c != '\0').take(15).collect();
        std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
            let index = link.index;
            let finished = worker::run(&shared, index, &link);
            // The receiver is gone only if the supervisor panicked.
            let _ = link.reports.send(WorkerReport::Finished(index, Box::new(finished)));
        })
    }

    /// Ends workers that only use the CPU (`cpuio`) once all others have ended, if they have no end
    /// of their own or their job asks for it.
    fn stop_cpu_load(&self) {
        let workers = &self.shared.plan.workers;
        let is_load = |worker: &Worker| worker.queue.engine == Engine::Cpuio;
        let mut others =
            workers.iter().zip(&self.results).filter(|(worker, _)| !is_load(worker)).peekable();
        if others.peek().is_none() || others.any(|(_, result)| result.is_none()) {
            return;
        }
        for (worker, live) in workers.iter().zip(self.shared.live.iter()) {
            let ends = worker.queue.options.cpu.ends_with_io || worker.stop.runtime.is_none();
            if is_load(worker) && ends {
                live.ask_to_stop();
            }
        }
    }

    fn worker_finished(&mut self, index: usize, finished: FinishedJob) {
        let failed = finished.job.error != 0;
        let live = &self.shared.live[index];
        live.set_state(if failed { WorkerState::Failed } else { WorkerState::Reaped });
        self.results[index] = Some(finished);
        self.running -= 1;
        self.stop_cpu_load();
        let worker = &self.shared.plan.workers[index];
        if worker.stop.exitall || (failed && worker.errors.exitall) {
            self.stop_others(worker);
        }
    }

    /// Ends the workers that `exit_what` of `worker` names.
    fn stop_others(&self, worker: &Worker) {
        let others = self.shared.plan.workers.iter().zip(self.shared.live.iter()).enumerate();
        for (index, (other, live)) in others {
            let ends = match worker.stop.exit_what {
                ExitScope::All => true,
                ExitScope::Group => other.group.group == worker.group.group,
                ExitScope::Stonewall => self.started[index],
            };
            if ends {
                live.ask_to_stop();
            }
        }
    }
}
