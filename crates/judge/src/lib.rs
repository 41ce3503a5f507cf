//! Every derived number of a run, computed once from its record, for every report to read.
//!
//! [`judge`] is pure: the same record gives the same figures, so an old record can be judged again
//! by newer rules.

mod metrics;

pub use metrics::{
    CpuMetrics, DepthMetrics, DirectionMetrics, DiskMetrics, DiskTotals, GroupMetrics, GroupRow,
    Judged, LATENCY_CLASSES, LatencyClasses, LatencyStats, RowKind, SeriesStats, SyncMetrics,
    UnitMetrics, judge,
};
