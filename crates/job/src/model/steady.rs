//! Criteria of the steady state, and latency targets.

use record::Nanos;

/// `steadystate` and its companions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyState {
    /// The figure, and how it is judged.
    pub criterion: SteadyCriterion,
    /// The limit: a number, or per cent of the mean.
    pub limit: SteadyLimit,
    /// `steadystate_duration`; `None` or 0: the steady state is not detected.
    pub duration: Option<Nanos>,
    /// `steadystate_ramp_time`.
    pub ramp: Nanos,
    /// `steadystate_check_interval`; default 1 s.
    pub interval: Option<Nanos>,
}

/// The figure, and how it is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteadyCriterion {
    /// The figure.
    pub figure: SteadyFigure,
    /// Whether its slope over the window is judged, instead of its greatest distance from the mean.
    pub slope: bool,
}

/// The figure that must be steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SteadyFigure {
    /// I/Os a second.
    #[default]
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Mean completion latency, in nanoseconds.
    Latency,
}

/// The largest deviation that counts as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SteadyLimit {
    /// In the figure's own unit (I/Os a second, bytes a second, nanoseconds).
    Value(f64),
    /// In per cent of the mean.
    Percent(f64),
}

impl Default for SteadyLimit {
    fn default() -> Self {
        SteadyLimit::Percent(0.01)
    }
}

impl SteadyCriterion {
    /// Its name as typed.
    pub fn name(self) -> &'static str {
        match (self.figure, self.slope) {
            (SteadyFigure::Iops, false) => "iops",
            (SteadyFigure::Iops, true) => "iops_slope",
            (SteadyFigure::Bandwidth, false) => "bw",
            (SteadyFigure::Bandwidth, true) => "bw_slope",
            (SteadyFigure::Latency, false) => "lat",
            (SteadyFigure::Latency, true) => "lat_slope",
        }
    }

    /// The criterion with this name.
    pub fn named(name: &str) -> Option<SteadyCriterion> {
        let figures = [SteadyFigure::Iops, SteadyFigure::Bandwidth, SteadyFigure::Latency];
        let all = figures
            .into_iter()
            .flat_map(|figure| [false, true].map(|slope| SteadyCriterion { figure, slope }));
        all.into_iter().find(|criterion| criterion.name() == name)
    }
}

/// `latency_target` and its companions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencyGoal {
    /// `latency_target`.
    pub target: Option<Nanos>,
    /// `latency_window`.
    pub window: Option<Nanos>,
    /// `latency_percentile`; default 100.
    pub percentile: Option<f64>,
    /// `latency_run`.
    pub run: bool,
}
