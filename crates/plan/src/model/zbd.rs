//! The rules of zoned block devices for a worker.

/// The rules of zoned block devices for a worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zbd {
    /// The zones of its files, in their order.
    pub files: Vec<ZonedFile>,
    /// Whether offsets are random over all zones. Otherwise zones are used one after the other.
    pub random: bool,
    /// Whether reads may be beyond the write pointer.
    pub read_beyond: bool,
    /// Whether a shorter block fills the rest of a zone.
    pub write_remainder: bool,
    /// Whether the write pointer is read from the device after a failed write.
    pub recover: bool,
    /// Bytes skipped after each zone of a sequential pass.
    pub skip: u64,
    /// Maximum open zones of a target, of all workers together; 0 for no limit.
    pub max_open: u32,
    /// Maximum open zones of this worker; 0 for no limit.
    pub job_max_open: u32,
    /// Whether writes leave full zones as they are while others have room.
    pub keeps_full: bool,
    /// Whether a pass writes each zone once: what is verified is not reset in the same pass.
    pub fills_once: bool,
    /// Share of a region with data above which zones are reset, from 0 to 1.
    pub reset_threshold: f64,
    /// Writes per reset above this share; 0 for no resets.
    pub reset_every: u64,
}

/// The zones of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZonedFile {
    /// The path of the file, equal for all its workers.
    pub name: String,
    /// Whether the device reports zones itself.
    pub device: bool,
    /// Whether a trim of an invented zone discards it; else it is counted and does nothing.
    pub discards: bool,
    /// Whether any worker writes or resets its zones.
    pub is_changed: bool,
    /// Whether zones that are closed count as open: the device limits its active zones.
    pub counts_closed: bool,
    /// Distance of two zones, in bytes.
    pub size: u64,
    /// Bytes of a zone that can be used; only for zones that are invented.
    pub capacity: u64,
    /// Bytes of the file that lie in zones; only for zones that are invented.
    pub whole: u64,
}
