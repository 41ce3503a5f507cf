//! The live feed: publishes what a run does while it goes on. While no client reads the feed, nothing
//! is computed for it.

use crate::follow::GRACE;
use crate::layers::LayerTimer;
use crate::observer::RunInProgress;
use crate::unix_ms;
use engine::INTERIM_CHECK;
use host::{Detail, Host, SampleReader};
use live::feed::{self, Hub, Line, Server};
use live::run::{FindingNow, MomentBuilder, RunEnd, RunInfo, RunObservation, SavedTo};
use record::{RunRecord, Sample, Snapshot, Timeline};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// Time between two moments of the feed.
const PACE: Duration = Duration::from_secs(1);
/// Time between two judgements of the figures so far.
const JUDGED_EVERY: Duration = Duration::from_secs(5);
/// Seconds that a worker must have measured before it is judged.
const JUDGED_FROM: f64 = 3.0;
/// Merging the results of a thousand workers takes CPU time that they need: at most one part in
/// `SHARE`. Their counters are read every second all the same.
const SHARE: u32 = 50;
/// Most samples that findings are made from.
const SAMPLES_MAX: usize = 600;
/// Most findings in the feed; a report has all of them.
const FINDINGS_MAX: usize = 32;

/// The feed of this process. The archive is written by other code than the run, so the hub is global.
static HUB: OnceLock<Weak<Hub>> = OnceLock::new();

/// Publishes the archive id of the run that ended last, if there is a feed.
pub(crate) fn archived(id: &str) {
    let hub = HUB.get().and_then(Weak::upgrade);
    let latest = hub.as_ref().and_then(|hub| hub.latest());
    if let (Some(hub), Some((head, _))) = (hub, latest) {
        hub.publish(Line::Saved(SavedTo { run: head.run, id: id.into() }));
    }
}

/// Publishes the runs of this process, one after the other.
pub(crate) struct Publisher {
    hub: Arc<Hub>,
    runs: AtomicU32,
    /// Removes its socket when dropped. Without a socket the runs are not listed; they run all the same.
    _server: Option<Server>,
}

impl Publisher {
    /// Opens the socket of the feed.
    pub fn open() -> Publisher {
        let hub = Arc::new(Hub::default());
        HUB.get_or_init(|| Arc::downgrade(&hub));
        let server = Server::open(&feed::default_directory(), Arc::clone(&hub)).ok();
        Publisher { hub, runs: AtomicU32::new(0), _server: server }
    }

    /// The hub of the feed.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Publishes a run while `body` follows it.
    pub fn during<R>(&self, host: &Host, run: &RunInProgress, body: impl FnOnce() -> R) -> R {
        let number = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let record = run.so_far();
        self.hub.publish(Line::Run(RunInfo::new(&record, std::process::id(), number)));
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _end = End { over: &over, hub: &self.hub };
            let write_feed =
                || FeedWriter::new(&self.hub, host, run, number, &record).write_until(&over);
            // Without the thread there is no feed, and nothing else is lost.
            let thread = std::thread::Builder::new().name("publisher".into());
            let _ = thread.spawn_scoped(scope, write_feed);
            body()
        })
    }

    /// Publishes how the run ended.
    pub fn ended(&self, record: &RunRecord) {
        let errors = record.jobs.iter().flat_map(|job| &job.errors).map(|error| error.count).sum();
        self.hub.publish(Line::Ended(RunEnd {
            run: self.runs.load(Ordering::Relaxed),
            unix_ms: unix_ms(),
            interrupted_by: record.interrupted_by,
            errors,
        }));
    }
}

/// Ends the feed of the run, also when following it fails.
struct End<'a> {
    over: &'a AtomicBool,
    hub: &'a Hub,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.hub.wake();
    }
}

/// Writes the feed of one run.
struct FeedWriter<'a> {
    hub: &'a Hub,
    run: &'a RunInProgress<'a>,
    reader: SampleReader,
    builder: MomentBuilder,
    workers: &'a RunRecord,
    number: u32,
    samples: Vec<Sample>,
    findings: Vec<FindingNow>,
    /// Whether any worker has measured long enough to be judged.
    has_measured: bool,
    /// When the workers are asked for results again.
    ask_at: Instant,
    /// When the figures are judged again.
    judge_at: Instant,
    last: Option<Instant>,
}

impl<'a> FeedWriter<'a> {
    fn new(
        hub: &'a Hub,
        host: &Host,
        run: &'a RunInProgress,
        number: u32,
        workers: &'a RunRecord,
    ) -> FeedWriter<'a> {
        let devices = workers.facts.devices.keys().cloned().collect();
        FeedWriter {
            hub,
            run,
            reader: SampleReader::new(host.clone(), devices, run.run.origin()),
            builder: MomentBuilder::new(number, &workers.jobs),
            workers,
            number,
            samples: Vec::new(),
            findings: Vec::new(),
            has_measured: false,
            ask_at: Instant::now(),
            judge_at: Instant::now(),
            last: None,
        }
    }

    fn write_until(mut self, over: &AtomicBool) {
        let over = || over.load(Ordering::Relaxed);
        while self.hub.wait_for_subscriber(over) {
            let due = Instant::now() + PACE;
            if self.last.is_some_and(|last| last.elapsed() > 5 * PACE) {
                // No client read the feed meanwhile: the counters since then belong to no second.
                self.builder = MomentBuilder::new(self.number, &self.workers.jobs);
            }
            let asks = Instant::now() >= self.ask_at;
            if asks {
                self.run.run.request_interim_results();
                if self.hub.wait(INTERIM_CHECK + GRACE, over) {
                    return;
                }
            }
            let began = Instant::now();
            self.moment(asks);
            self.last = Some(began);
            if asks {
                self.ask_at = began + began.elapsed() * SHARE;
                // The findings are part of the next moment.
                if self.has_measured && Instant::now() >= self.judge_at {
                    self.judge();
                }
            }
            if self.hub.wait(due.saturating_duration_since(Instant::now()), over) {
                return;
            }
        }
    }

    fn moment(&mut self, has_results: bool) {
        let RunInProgress { run, signals, .. } = *self.run;
        let snapshot = run.snapshot();
        let laid_out = has_results.then(|| run.interim_results().jobs);
        let layers =
            has_results.then(|| self.run.layers.map(LayerTimer::so_far).unwrap_or_default());
        let sample = self.reader.read(&run.watcher().tids(), Detail::Slow);
        if self.samples.len() == SAMPLES_MAX {
            self.samples.remove(1);
        }
        self.samples.push(sample.clone());
        self.has_measured = has_measured(&snapshot);
        let moment = self.builder.build(RunObservation {
            unix_ms: unix_ms(),
            remaining_seconds: snapshot.remaining_seconds(),
            snapshot,
            laid_out,
            layers,
            sample,
            ending: signals.caught().is_some(),
            findings: self.findings.clone(),
            messages: self.workers.messages.clone(),
        });
        self.hub.publish(Line::Moment(Box::new(moment)));
    }

    /// Judges the figures so far.
    fn judge(&mut self) {
        let began = Instant::now();
        let timeline = Timeline { samples: self.samples.clone(), ..Timeline::default() };
        let record = RunRecord { timeline, ..self.run.so_far() };
        let found = judge::findings_so_far(&record).into_iter().take(FINDINGS_MAX);
        self.findings = found
            .map(|finding| FindingNow {
                check: finding.check.into(),
                severity: finding.severity,
                jobs: finding.jobs,
                text: finding.text.into(),
                cure: finding.remedy.to_string(),
            })
            .collect();
        self.judge_at = Instant::now() + JUDGED_EVERY.max(began.elapsed() * SHARE);
    }
}

/// Whether any worker has measured for [`JUDGED_FROM`] seconds.
fn has_measured(snapshot: &Snapshot) -> bool {
    snapshot.workers.iter().any(|worker| {
        let begun = worker.started.map(|started| started + worker.ramp);
        begun.is_some_and(|begun| (snapshot.at - begun).seconds() >= JUDGED_FROM)
    })
}
