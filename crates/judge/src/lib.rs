//! Every derived number of a run, computed once from its record, for every report to read.
//!
//! [`judge`] is pure: the same record gives the same figures, so an old record can be judged again
//! by newer rules.
//!
//! What the figures are worth is in [`Judged::findings`] (of the [`checks`]) and
//! [`Judged::verdicts`].

mod case;
pub mod checks;
pub mod compare;
mod course;
mod discard;
mod durability;
mod finding;
pub mod gate;
pub mod inspect;
mod measure;
mod metrics;
mod operation;
mod repeats;
mod since;
pub mod stats;
mod tabled;
mod together;
pub mod trend;
mod verdict;
mod wording;

pub use case::{Case, DeviceUse, Part};
pub use course::{
    Course, CpuStep, DeviceCourse, DeviceStep, DirectionCourse, MachineCourse, PERCENTILES, Step,
    Traffic, courses, machine_course, traffic,
};
pub use discard::{Discards, Layer, Obstacle, discards};
pub use durability::{Durability, durability, durability_reason};
pub use finding::{Figure, Finding};
pub use inspect::{Inspection, inspect};

pub use measure::Measure;
pub use metrics::{
    CpuMetrics, DepthMetrics, DirectionMetrics, DiskMetrics, DiskTotals, GroupMetrics, GroupRow,
    Idleness, Judged, LATENCY_CLASSES, LatencyClasses, LatencyStats, RowKind, SeriesStats,
    SteadyMetrics, SyncMetrics, UnitMetrics, figures, findings_so_far, judge,
};
pub use metrics::{ExchangeMetrics, HostMetrics, PriorityStats, RequestMetrics, merged_exchange};
pub use operation::Operation;
pub use repeats::{Repeated, RepeatedFigure, repeats};
pub use since::{DirectionSince, Since, WorkerSince, since};
pub use tabled::{Curve, Tabled, TabledFigure, curves, tabled};
pub use together::together;
pub use verdict::{Confidence, Limit, Verdict, workloads};
