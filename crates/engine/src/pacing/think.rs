//! Pauses and computing time between I/Os.

/// The computing time of `thinkcycles` after each completion. The loop asks again at once meanwhile,
/// so that it sees the end of the run.
pub(super) struct ThinkCycles {
    per_io_ns: u64,
    owed_ns: u64,
    until: u64,
}

impl ThinkCycles {
    pub fn new(cycles: u64, cycle_ns: f64) -> Option<ThinkCycles> {
        let per_io_ns = (cycles as f64 * cycle_ns).round() as u64;
        (per_io_ns > 0).then_some(ThinkCycles { per_io_ns, owed_ns: 0, until: 0 })
    }

    /// An I/O has completed.
    pub fn add(&mut self) {
        self.owed_ns = self.owed_ns.saturating_add(self.per_io_ns);
    }

    /// Whether computing time is left at `now`.
    pub fn are_due(&mut self, now: u64) -> bool {
        let owed = std::mem::take(&mut self.owed_ns);
        if owed > 0 {
            self.until = self.until.max(now).saturating_add(owed);
        }
        now < self.until
    }
}

/// Whether thinktime holds an I/O back.
pub(super) enum Pause {
    None,
    Drain,
    Until(u64),
    /// A pause is over; how long it lasted, in nanoseconds.
    Over(u64),
}

/// Pauses between I/Os (`thinktime`).
pub(super) struct ThinkTime {
    settings: plan::ThinkTime,
    time_ns: u64,
    blocks: u64,
    pub issued: u64,
    pub completed: u64,
    /// The count when the last pause became due. I/Os that were in flight then count for the next one, as
    /// in fio: with a pause after each block, one I/O is in flight whatever the depth.
    counted_when_due: u64,
    /// A pause is due and begins when nothing is in flight.
    drains: bool,
    /// End of the last pause, or the first I/O: `thinktime_iotime` counts from there.
    working_since: Option<u64>,
    /// Start and end of the current pause.
    pause: Option<(u64, u64)>,
    pub shifts_schedule: bool,
}

impl ThinkTime {
    pub fn new(settings: &plan::ThinkTime, shifts_schedule: bool) -> Option<ThinkTime> {
        let time_ns = settings.time?.0;
        (time_ns > 0).then(|| ThinkTime {
            time_ns,
            blocks: settings.blocks.unwrap_or(1).max(1),
            settings: settings.clone(),
            issued: 0,
            completed: 0,
            counted_when_due: 0,
            drains: false,
            working_since: None,
            pause: None,
            shifts_schedule,
        })
    }

    /// Called for each I/O until it returns [`Pause::None`] or [`Pause::Over`].
    pub fn hold(&mut self, in_flight: u32, now: u64) -> Pause {
        if let Some(pause) = self.current_pause(now) {
            return pause;
        }
        if let Some((from, _)) = self.pause.take() {
            self.working_since = Some(now);
            return Pause::Over(now - from);
        }
        if !self.drains {
            if !self.is_due(now) {
                return Pause::None;
            }
            self.counted_when_due = self.count();
            self.drains = true;
        }
        // As in fio, I/O in flight ends before the pause begins.
        if in_flight > 0 {
            return Pause::Drain;
        }
        self.drains = false;
        self.pause = Some((now, now.saturating_add(self.time_ns)));
        self.current_pause(now).unwrap_or(Pause::None)
    }

    /// The pause at `now`, if one is left. While it spins, the loop asks again at once, so that it sees
    /// the end of the run.
    fn current_pause(&self, now: u64) -> Option<Pause> {
        let (from, until) = self.pause.filter(|(_, until)| now < *until)?;
        let spins = now < from.saturating_add(self.settings.spin.0);
        Some(Pause::Until(if spins { now } else { until }))
    }

    fn count(&self) -> u64 {
        if self.settings.count_issued { self.issued } else { self.completed }
    }

    /// A pause is due after a number of blocks or after a time, whichever comes first if both are set.
    fn is_due(&mut self, now: u64) -> bool {
        let since = *self.working_since.get_or_insert(now);
        let by_time = self.settings.iotime.is_some_and(|limit| now - since >= limit.0);
        let counts_blocks = self.settings.iotime.is_none() || self.settings.blocks.is_some();
        by_time || (counts_blocks && self.count() - self.counted_when_due >= self.blocks)
    }
}
