//! The line that is redrawn while a run goes on.

use crate::fio_numbers::{count, live_rate};
use record::{Direction, LayoutProgress, PerDirection, Snapshot, WorkerState, WorkerStatus};

/// Makes the status line from one snapshot after the other.
#[derive(Debug, Default)]
pub struct StatusLine {
    previous: Option<Snapshot>,
    /// The one before that.
    earlier: Option<Snapshot>,
    /// Characters of the line before, which a shorter one has to cover.
    shown: usize,
}

impl StatusLine {
    /// A line that was never shown; rates of the first one are since the run's origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// The line for `now`, without carriage return or newline: what files are being made, or
    /// `Jobs: 1 (f=1): [m(1)][24.8%][r=20.5MiB/s,w=23.5MiB/s][r=82,w=94 IOPS][eta 01m:31s]` with
    /// rates since the line before.
    pub fn update(&mut self, now: &Snapshot) -> String {
        let line = match &now.layout {
            Some(layout) => self.layout_line(now, layout),
            None => self.run_line(now),
        };
        self.earlier = self.previous.replace(now.clone());
        line
    }

    /// As [`Self::redraw`], of a run that is over: soon after a line its rates are since the line
    /// before that, for those of a moment say nothing.
    pub fn last(&mut self, now: &Snapshot) -> String {
        let since = |from: &Option<Snapshot>| from.as_ref().map(|from| (now.at - from.at).0);
        if let (Some(last), Some(whole)) = (since(&self.previous), since(&self.earlier))
            && last * 3 < whole
        {
            self.previous = self.earlier.take();
        }
        self.redraw(now)
    }

    /// As [`Self::update`], with the blanks behind that cover the line before, and the carriage
    /// return with which fio ends each.
    pub fn redraw(&mut self, now: &Snapshot) -> String {
        let line = self.update(now);
        let length = line.chars().count();
        let blanks = self.shown.saturating_sub(length);
        self.shown = length;
        format!("{line}{:blanks$}\r", "")
    }

    fn run_line(&self, now: &Snapshot) -> String {
        let active: Vec<&WorkerStatus> =
            now.workers.iter().filter(|worker| is_active(worker.state)).collect();
        let files: u32 = active.iter().map(|worker| worker.open_files).sum();
        let remaining = now.remaining_seconds();
        format!(
            "Jobs: {} (f={files}){}: [{}]{}{}{}",
            active.len(),
            limits(&active),
            states(&now.workers),
            percent(now, remaining),
            self.rates(now),
            eta_field(remaining),
        )
    }

    /// "[r=20.5MiB/s][r=82 IOPS]" of the directions that moved, or that a running worker has.
    fn rates(&self, now: &Snapshot) -> String {
        let seconds = self.seconds_since(now);
        let ios = self.since(now, |worker| &worker.ios);
        let bytes = self.since(now, |worker| &worker.bytes);
        let shown: Vec<Direction> = Direction::ALL
            .into_iter()
            .filter(|direction| ios[*direction] > 0 || runs_in(now, *direction))
            .collect();
        if shown.is_empty() || seconds <= 0.0 {
            return String::new();
        }
        let list = |text: &dyn Fn(Direction) -> String| {
            let entries: Vec<String> =
                shown.iter().map(|d| format!("{}={}", &d.name()[..1], text(*d))).collect();
            entries.join(",")
        };
        let rates = list(&|direction| live_rate(bytes[direction] as f64 / seconds));
        let iops = list(&|direction| count((ios[direction] as f64 / seconds) as u64, 4));
        format!("[{rates}][{iops} IOPS]")
    }

    fn seconds_since(&self, now: &Snapshot) -> f64 {
        let before = self.previous.as_ref().map_or(record::Nanos(0), |previous| previous.at);
        (now.at - before).seconds()
    }

    fn since(
        &self,
        now: &Snapshot,
        pick: fn(&WorkerStatus) -> &PerDirection<u64>,
    ) -> PerDirection<u64> {
        let sum = |snapshot: &Snapshot, direction: Direction| -> u64 {
            snapshot.workers.iter().map(|worker| pick(worker)[direction]).sum()
        };
        PerDirection::from_fn(|direction| {
            let before = self.previous.as_ref().map_or(0, |previous| sum(previous, direction));
            sum(now, direction).saturating_sub(before)
        })
    }

    fn layout_line(&self, now: &Snapshot, layout: &LayoutProgress) -> String {
        let previous = self.previous.as_ref().and_then(|snapshot| snapshot.layout.as_ref());
        // Clones of a job are laid out one after the other under its one name.
        let same = previous.filter(|p| p.job == layout.job && p.done <= layout.done);
        let before = same.map_or(0, |p| p.done);
        let seconds = self.seconds_since(now);
        let speed = layout.done.saturating_sub(before) as f64 / seconds.max(1e-9);
        let left = layout.total.saturating_sub(layout.done);
        // With nothing left to write, the data is on its way to the disk.
        let remaining = (speed > 0.0 || left == 0).then(|| left as f64 / speed.max(1.0));
        let percent = match layout.total {
            0 => 100.0,
            total => (layout.done as f64 * 100.0 / total as f64).min(100.0),
        };
        let files = if layout.files == 1 { "file" } else { "files" };
        format!(
            "{}: Laying out IO {files} ({} {files}): [{percent:.1}%][w={}]{}",
            layout.job,
            layout.files,
            live_rate(speed),
            eta_field(remaining),
        )
    }
}

fn runs_in(now: &Snapshot, direction: Direction) -> bool {
    now.workers.iter().any(|w| {
        w.directions[direction] && matches!(w.state, WorkerState::Running | WorkerState::Ramp)
    })
}

/// At work: started, and not at its end.
fn is_active(state: WorkerState) -> bool {
    use WorkerState::*;
    matches!(state, Ramp | Running | PreReading | Fsyncing | Verifying | Finishing)
}

/// The letters of all workers, runs of equal ones as "W(10)".
fn states(workers: &[WorkerStatus]) -> String {
    let letters: Vec<char> = workers.iter().map(letter).collect();
    let runs: Vec<String> =
        letters.chunk_by(|a, b| a == b).map(|run| format!("{}({})", run[0], run.len())).collect();
    runs.join(",")
}

fn letter(worker: &WorkerStatus) -> char {
    match worker.state {
        WorkerState::NotStarted => 'P',
        WorkerState::Created => 'C',
        WorkerState::Initialized => 'I',
        WorkerState::PreReading => 'p',
        WorkerState::Ramp => '/',
        WorkerState::Running => worker.letter,
        WorkerState::Fsyncing => 'F',
        WorkerState::Verifying => 'V',
        WorkerState::Finishing => 'f',
        WorkerState::Exited => 'E',
        WorkerState::Reaped => '_',
        WorkerState::Failed => 'X',
        WorkerState::Killed => 'K',
    }
}

/// ", 0B/s-1024KiB/s" and ", 0-200 IOPS": what the running workers are limited to.
fn limits(active: &[&WorkerStatus]) -> String {
    let bytes: u64 = active.iter().filter_map(|worker| worker.rate_bytes).sum();
    let ios: u64 = active.iter().filter_map(|worker| worker.rate_iops).sum();
    let mut out = String::new();
    if bytes > 0 {
        out += &format!(", 0B/s-{}", live_rate(bytes as f64));
    }
    if ios > 0 {
        out += &format!(", 0-{} IOPS", count(ios, 4));
    }
    out
}

/// How much of the run is over. It counts from the first I/O: making files has a line of its own.
fn percent(now: &Snapshot, remaining: Option<f64>) -> String {
    let begin = now.workers.iter().filter_map(|w| w.started).min();
    let elapsed = begin.map_or(0.0, |begin| (now.at - begin).seconds());
    match remaining {
        Some(remaining) if elapsed + remaining > 0.0 => {
            format!("[{:.1}%]", elapsed * 100.0 / (elapsed + remaining))
        }
        _ => "[-.-%]".into(),
    }
}

/// "[eta 01m:31s]", with hours and days where there are any.
fn eta_field(remaining: Option<f64>) -> String {
    let Some(remaining) = remaining else { return "[eta --]".into() };
    let seconds = remaining.round() as u64;
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let mut text = String::new();
    if days > 0 {
        text += &format!("{days:02}d:");
    }
    if days > 0 || hours > 0 {
        text += &format!("{hours:02}h:");
    }
    format!("[eta {text}{:02}m:{:02}s]", seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests;
