//! Options of log files.

use super::Named;
use record::{Nanos, WindowValue, with_defaults};

with_defaults! {
    /// Log files. A prefix may be empty: the job's name.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Logs {
        /// `write_bw_log`: prefix.
        pub bandwidth: Option<String>,
        /// `write_iops_log`: prefix.
        pub iops: Option<String>,
        /// `write_lat_log`: prefix.
        pub latency: Option<String>,
        /// `write_hist_log`: prefix.
        pub histogram: Option<String>,
        /// `per_job_logs`.
        pub per_job: bool = true,
        /// `log_avg_msec`; 0: one line for each I/O.
        pub window: Nanos,
        /// `log_window_value`.
        pub value: WindowValue = WindowValue::Mean,
        /// `log_hist_msec`; 0: no histograms.
        pub histogram_window: Nanos,
        /// `log_hist_coarseness`.
        pub coarseness: u8,
        /// `log_entries`.
        pub entries: u32 = 1024,
        /// `log_offset`.
        pub offset: bool,
        /// `log_prio`.
        pub priority: bool,
        /// `log_issue_time`.
        pub issue_time: bool,
        /// `log_compression`, in bytes.
        pub compression: Option<u64>,
        /// `log_compression_cpus`; empty: any.
        pub compression_cpus: Vec<u32>,
        /// `log_store_compressed`.
        pub store_compressed: bool,
        /// `log_alternate_epoch`.
        pub other_epoch: bool,
        /// `log_alternate_epoch_clock_id`.
        pub clock: u64,
    }
}

impl Logs {
    /// The prefixes of all logs asked for.
    pub fn prefixes(&self) -> impl Iterator<Item = &str> {
        [&self.bandwidth, &self.iops, &self.latency, &self.histogram]
            .into_iter()
            .filter_map(|prefix| prefix.as_deref())
    }
}

impl Named for WindowValue {
    const NAMES: &'static [(WindowValue, &'static str)] =
        &[(WindowValue::Mean, "avg"), (WindowValue::Max, "max"), (WindowValue::Both, "both")];
}
