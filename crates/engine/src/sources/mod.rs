//! Sources: the I/O that a worker issues.

pub(crate) mod cycles;
pub(crate) mod drawn;
pub(crate) mod numbered;
pub(crate) mod replayed;
pub(crate) mod shared_cursor;
pub(crate) mod verified;
pub(crate) mod workload;

use crate::hot::op::Source;
use crate::job_record::JobRecordBuilder;

/// A source that adds results to the worker's record.
pub(crate) trait RecordSource: Source {
    /// The worker ended at `now`.
    fn record(&mut self, now: u64, builder: &mut JobRecordBuilder<'_>) {
        let _ = (now, builder);
    }
}
