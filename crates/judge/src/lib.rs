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
mod delta;
mod discard;
mod durability;
mod finding;
mod fleet;
pub mod gate;
pub mod inspect;
mod judge_set;
mod judged;
mod layers;
mod measure;
mod metrics;
mod operation;
mod repeats;
mod stages;
pub mod stats;
mod table;
mod tail;
mod time_series;
pub mod trend;
mod verdict;
mod wording;

pub use case::{Case, DeviceUse, Part};
pub use discard::{Discards, Layer, Obstacle, discards};
pub use durability::{Durability, durability, durability_reason};
pub use finding::{Figure, Finding};
pub use fleet::{FleetFigures, Straggler, fleet_figures};
pub use inspect::{Inspection, inspect};
pub use time_series::{
    CpuStep, DeviceSeries, DeviceStep, DeviceTraffic, DirectionSeries, JobSeries, MachineSeries,
    PERCENTILES, SeriesStep, device_traffic, job_series, machine_series, storage_rates,
};

pub use delta::{Delta, DirectionDelta, WorkerDelta, delta};
pub use judge_set::judge_set;
pub use judged::{Judged, figures, findings_so_far, judge};
pub use layers::{
    BesideOthers, CellLayers, IoLayer, LayerRow, LayerTable, LayersAt, LayersJudged, OtherUse,
    SizeLayers, SlowMember, SlowSize, SlowestIos, SyncParts, layers, layers_by_cell,
};
pub use measure::Measure;
pub use metrics::{
    CpuMetrics, DepthMetrics, DirectionMetrics, DiskMetrics, DiskTotals, GroupMetrics, GroupRow,
    Idleness, LATENCY_CLASSES, LatencyClasses, LatencyStats, PriorityStats, RowKind, SeriesStats,
    SteadyMetrics, SyncMetrics, UnitMetrics, merged_exchange, request_times,
};
pub use operation::Operation;
pub use repeats::{Repeated, RepeatedFigure, repeats};
pub use stages::{Stage, main_stage};
pub use table::{LatencyCurve, TableFigure, TableRow, latency_curves, table_rows};
pub use tail::{Tail, TailDevice, TailShare, TailStep, tail_shares, tails};
pub use verdict::{Confidence, Limit, Verdict, workloads};
