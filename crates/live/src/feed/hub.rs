//! Distributes the lines of a feed to all listeners.

use super::Line;
use crate::run::{Moment, RunInfo};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most bytes that are buffered for a listener. One further behind is dropped.
const BEHIND_MAX: usize = 4 << 20;
/// Most bytes of past moments that are kept for later listeners.
const PAST_MAX: usize = 1 << 20;
/// Most listeners at a time; more are turned away.
const LISTENERS_MAX: usize = 64;
/// Time for listeners to read the last lines.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Distributes lines to listeners. Only [`Hub::flush`] ever waits for one.
#[derive(Debug, Default)]
pub struct Hub {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of subscriptions within this process.
    wanted: usize,
    listeners: Vec<Listener>,
    info: Option<Arc<RunInfo>>,
    latest: Option<Arc<Moment>>,
    /// Lines of this run: the first one, then the latest moments.
    past: VecDeque<Arc<str>>,
    past_bytes: usize,
}

/// A client of the feed.
#[derive(Debug)]
struct Listener {
    stream: UnixStream,
    behind: VecDeque<u8>,
}

impl Listener {
    /// Writes as much as possible without blocking; false if the client is gone or too far behind.
    fn push(&mut self, bytes: &[u8]) -> bool {
        if self.behind.len() + bytes.len() > BEHIND_MAX {
            return false;
        }
        self.behind.extend(bytes);
        while !self.behind.is_empty() {
            let (front, _) = self.behind.as_slices();
            match self.stream.write(front) {
                Ok(0) => return false,
                Ok(written) => drop(self.behind.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Whether the client is connected. Clients never send, so a readable socket is a closed one.
    fn is_there(&self) -> bool {
        let mut wanted = [PollFd::new(&self.stream, PollFlags::IN)];
        match poll(&mut wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) => !wanted[0].revents().intersects(PollFlags::HUP | PollFlags::ERR),
            Err(_) => true,
        }
    }
}

/// Moments are computed while this value lives.
#[derive(Debug)]
pub struct Subscription(Arc<Hub>);

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.lock().wanted -= 1;
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests moments for this process.
    pub fn subscribe(self: &Arc<Hub>) -> Subscription {
        self.lock().wanted += 1;
        self.changed.notify_all();
        Subscription(Arc::clone(self))
    }

    /// Adds a client. It receives the kept lines first.
    ///
    /// # Errors
    /// When the connection cannot be set up.
    pub fn add_listener(&self, stream: UnixStream) -> std::io::Result<()> {
        stream.set_nonblocking(true)?;
        let mut listener = Listener { stream, behind: VecDeque::new() };
        // A client that only probed the socket is gone already.
        if !listener.is_there() {
            return Ok(());
        }
        let mut state = self.lock();
        if state.listeners.len() >= LISTENERS_MAX {
            state.listeners.retain(Listener::is_there);
        }
        if state.listeners.len() < LISTENERS_MAX
            && state.past.iter().all(|line| listener.push(line.as_bytes()))
        {
            state.listeners.push(listener);
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Waits for a listener or subscription, or until `over`. Returns whether there is one.
    pub fn wait_for_subscriber(&self, over: impl Fn() -> bool) -> bool {
        let is_wanted = |state: &State| state.wanted > 0 || !state.listeners.is_empty();
        let waits = |state: &mut State| !is_wanted(state) && !over();
        let state = self.changed.wait_while(self.lock(), waits);
        is_wanted(&state.unwrap_or_else(PoisonError::into_inner)) && !over()
    }

    /// Waits for this time, or until `over`. Returns whether it is over.
    pub fn wait(&self, patience: Duration, over: impl Fn() -> bool) -> bool {
        let waits = |_: &mut State| !over();
        drop(self.changed.wait_timeout_while(self.lock(), patience, waits));
        over()
    }

    /// Wakes the waiting threads to check `over` again.
    pub fn wake(&self) {
        // The lock ensures that no thread is between its check and its wait.
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Sends a line to all listeners.
    pub fn publish(&self, line: Line) {
        let text: Arc<str> = line.text().into();
        let mut state = self.lock();
        state
            .listeners
            .retain_mut(|listener| listener.is_there() && listener.push(text.as_bytes()));
        match line {
            Line::Run(info) => {
                (state.past, state.past_bytes) = (VecDeque::new(), 0);
                (state.info, state.latest) = (Some(Arc::new(info)), None);
            }
            Line::Moment(moment) => state.latest = Some(moment.into()),
            Line::Ended(_) | Line::Saved(_) => {}
        }
        state.past_bytes += text.len();
        state.past.push_back(text);
        while state.past_bytes > PAST_MAX && state.past.len() > 2 {
            // The first line describes the run.
            let oldest = state.past.remove(1).map_or(0, |line| line.len());
            state.past_bytes -= oldest;
        }
    }

    /// The current or last run and its latest moment.
    pub fn latest(&self) -> Option<(Arc<RunInfo>, Option<Arc<Moment>>)> {
        let state = self.lock();
        Some((state.info.clone()?, state.latest.clone()))
    }

    /// Waits briefly for listeners that are behind.
    pub fn flush(&self) {
        let until = Instant::now() + LAST_WORDS;
        let mut state = self.lock();
        loop {
            state.listeners.retain_mut(|listener| listener.push(&[]));
            let behind = state.listeners.iter().filter(|listener| !listener.behind.is_empty());
            let mut waiting: Vec<PollFd<'_>> = behind
                .map(|one| PollFd::from_borrowed_fd(one.stream.as_fd(), PollFlags::OUT))
                .collect();
            let left = until.saturating_duration_since(Instant::now());
            if waiting.is_empty() || left.is_zero() {
                return;
            }
            let Ok(left) = Timespec::try_from(left) else { return };
            // Also after an interrupt the next turn tries to write until the time is up.
            let _ = poll(&mut waiting, Some(&left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};

    fn info(run: u32) -> Line {
        Line::Run(RunInfo { run, ..RunInfo::default() })
    }

    fn moment(run: u32, text: usize) -> Line {
        let message = record::Message::note(None, "x".repeat(text));
        Line::Moment(Box::new(Moment { run, messages: vec![message], ..Moment::default() }))
    }

    fn connected(hub: &Hub) -> UnixStream {
        let (ours, theirs) = UnixStream::pair().unwrap();
        hub.add_listener(theirs).unwrap();
        ours
    }

    #[test]
    fn a_late_listener_receives_the_run_and_its_last_moments() {
        let hub = Hub::default();
        hub.publish(info(1));
        hub.publish(moment(1, 5));
        hub.publish(info(2));
        for _ in 0..30 {
            hub.publish(moment(2, PAST_MAX / 20));
        }
        let listener = connected(&hub);
        let reader = std::thread::spawn(move || {
            BufReader::new(listener).lines().map_while(Result::ok).collect::<Vec<_>>()
        });
        // What does not fit into the pipe goes out as it is read.
        while hub.lock().listeners.iter().any(|one| !one.behind.is_empty()) {
            hub.flush();
        }
        drop(hub);
        let lines = reader.join().unwrap();
        let lines: Vec<Line> = lines.iter().map(|line| Line::parse(line).unwrap()).collect();
        assert_eq!(lines[0], info(2));
        assert!(lines[1..].iter().all(|line| *line == moment(2, PAST_MAX / 20)));
        assert!((18..=20).contains(&(lines.len() - 1)), "{}", lines.len());
    }

    #[test]
    fn a_listener_that_does_not_read_is_dropped_without_affecting_others() {
        let hub = Hub::default();
        let _stuck = connected(&hub);
        let reading = connected(&hub);
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            BufReader::new(reading).read_to_end(&mut bytes).unwrap();
            bytes.len()
        });
        let line = moment(1, 1 << 20);
        let mut sent = 0;
        while hub.lock().listeners.len() == 2 {
            hub.publish(line.clone());
            sent += line.text().len();
            // Only the one that reads comes after.
            while hub.lock().listeners.last().is_some_and(|one| !one.behind.is_empty()) {
                hub.lock().listeners.retain_mut(|one| one.push(&[]));
                std::thread::yield_now();
            }
            assert!(sent < 3 * BEHIND_MAX);
        }
        drop(hub);
        assert_eq!(reader.join().unwrap(), sent);
    }

    #[test]
    fn moments_are_wanted_while_somebody_listens_or_says_so() {
        let hub = Arc::new(Hub::default());
        assert!(!hub.wait_for_subscriber(|| true));
        let wanted = hub.subscribe();
        assert!(hub.wait_for_subscriber(|| false));
        drop(wanted);
        assert!(!hub.wait_for_subscriber(|| true));
        let listener = connected(&hub);
        assert!(hub.wait_for_subscriber(|| false));
        drop(listener);
        hub.publish(info(1));
        assert!(hub.lock().listeners.is_empty(), "who went away is noticed at the next line");
        assert!(hub.wait(Duration::ZERO, || true) && !hub.wait(Duration::ZERO, || false));
    }

    #[test]
    fn too_many_are_turned_away_and_those_gone_make_room() {
        let hub = Hub::default();
        hub.publish(info(1));
        let mut all: Vec<UnixStream> = (0..LISTENERS_MAX).map(|_| connected(&hub)).collect();
        let mut turned_away = connected(&hub);
        assert_eq!(turned_away.read(&mut [0; 1]).unwrap(), 0);
        all.pop();
        let mut welcome = connected(&hub);
        assert_eq!(welcome.read(&mut [0; 1]).unwrap(), 1);
    }
}
