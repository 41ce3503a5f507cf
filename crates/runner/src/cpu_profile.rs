//! Samples which code uses the CPUs during a run.

use engine::kernel::CpuSampler;
use host::{CodeSamples, Host};
use record::{CpuProfile, ServerProcess};
use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Samples of each CPU a second. Not a round number: work that repeats a hundred times a second would
/// always be sampled at the same place.
const HZ: u32 = 499;
/// The kernel keeps samples of some seconds.
const COLLECT: Duration = Duration::from_millis(500);

/// What was sampled so far.
#[derive(Default)]
struct Counted {
    samples: CodeSamples,
    lost: u64,
}

/// Samples until it is finished.
pub(crate) struct Profiler {
    stop: Sender<()>,
    thread: JoinHandle<Counted>,
    with_kernel: bool,
}

impl Profiler {
    /// # Errors
    /// When sampling is not allowed, or a thread cannot be started.
    pub fn start() -> io::Result<Profiler> {
        let mut sampler = CpuSampler::open(HZ.into())?;
        let with_kernel = sampler.sees_all();
        let (stop, stopped) = channel();
        let collect = move || {
            let mut counted = Counted::default();
            loop {
                let last = stopped.recv_timeout(COLLECT) != Err(RecvTimeoutError::Timeout);
                counted.lost += sampler.drain(|sample| {
                    *counted.samples.entry((sample.pid, sample.address)).or_default() += 1;
                });
                if last {
                    return counted;
                }
            }
        };
        let thread = std::thread::Builder::new().name("cpu-profile".into()).spawn(collect)?;
        Ok(Profiler { stop, thread, with_kernel })
    }

    /// Stops and names the code of this program and of the servers.
    pub fn finish(self, host: &Host, servers: &[ServerProcess]) -> CpuProfile {
        // It may have ended by itself.
        let _ = self.stop.send(());
        let Counted { samples, lost } = self.thread.join().unwrap_or_default();
        let mut pids: BTreeSet<u32> = servers.iter().map(|server| server.pid).collect();
        pids.insert(std::process::id());
        let others = samples.iter().filter(|((pid, _), _)| !pids.contains(pid));
        CpuProfile {
            hz: HZ,
            lost,
            others: others.map(|(_, samples)| samples).sum(),
            with_kernel: self.with_kernel,
            code: host.code_of(&pids, &samples),
        }
    }
}
