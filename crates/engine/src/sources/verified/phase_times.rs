//! The time a worker spent on its work and on reading back.

/// Time of each phase, in nanoseconds.
#[derive(Default)]
pub(super) struct PhaseTimes {
    /// Its work.
    pub worked: u64,
    /// Reading back.
    pub read: u64,
    current: Option<(u64, u64)>,
}

impl PhaseTimes {
    /// The current phase includes this span.
    pub fn extend(&mut self, from: u64, to: u64) {
        let (begin, end) = self.current.get_or_insert((from, to));
        *begin = (*begin).min(from);
        *end = (*end).max(to);
    }

    /// Ends the current phase and returns its length.
    pub fn end(&mut self) -> u64 {
        self.current.take().map_or(0, |(begin, end)| end - begin)
    }
}
