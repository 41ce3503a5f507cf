//! Whether ranks are still there.

use std::time::{Duration, Instant};

/// When a rank was heard of, and when its I/O moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Liveness {
    heard: Instant,
    progress: u64,
    moved: Instant,
}

impl Liveness {
    pub fn new(now: Instant) -> Liveness {
        Liveness { heard: now, progress: 0, moved: now }
    }

    /// A message came.
    pub fn hear(&mut self, now: Instant) {
        self.heard = now;
    }

    /// It says how much I/O it has made.
    pub fn progress(&mut self, progress: u64, now: Instant) {
        if progress != self.progress {
            (self.progress, self.moved) = (progress, now);
        }
    }

    /// It reached the next stage.
    pub fn advance(&mut self, now: Instant) {
        self.moved = now;
    }

    /// Why it counts as lost, if it does. `waited_since`: others have been waiting for it since then.
    pub fn objection(
        &self,
        now: Instant,
        limit: Duration,
        waited_since: Option<Instant>,
    ) -> Option<String> {
        let silent = now.duration_since(self.heard);
        if silent > limit {
            return Some(format!("it was not heard of for {}", seconds(silent)));
        }
        let still = now.duration_since(self.moved.max(waited_since?));
        (still > limit).then(|| {
            format!("its I/O did not move for {} while other ranks waited for it", seconds(still))
        })
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_and_standstill_are_told_apart() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let limit = Duration::from_secs(5);
        let mut rank = Liveness::new(begin);
        rank.hear(at(8));
        assert_eq!(rank.objection(at(9), limit, None), None, "nobody waits for it");
        assert_eq!(rank.objection(at(9), limit, Some(at(7))), None, "not for long");
        let stuck = rank.objection(at(13), limit, Some(at(7))).unwrap();
        assert!(stuck.contains("did not move for 6.0 s"), "{stuck}");
        rank.progress(1, at(12));
        assert_eq!(rank.objection(at(13), limit, Some(at(7))), None);
        assert!(rank.objection(at(14), limit, None).unwrap().contains("not heard of for 6.0 s"));
    }
}
