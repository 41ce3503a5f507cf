//! How a worker keeps to the rules of zones.

/// How a worker keeps to the rules of zones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zbd {
    /// The zones of its files, in their order.
    pub files: Vec<ZonedFile>,
    /// Offsets are drawn at random: I/O goes to all zones, not to one after the other.
    pub random: bool,
    /// Reads may go where nothing was written.
    pub read_beyond: bool,
    /// The rest of a zone that holds no block is written by a shorter one.
    pub write_remainder: bool,
    /// After a failed write the device is asked where its zone goes on.
    pub recover: bool,
    /// Bytes skipped after each zone of a sequential pass.
    pub skip: u64,
    /// Zones of a target that may be open at once, by all workers; 0: any number.
    pub max_open: u32,
    /// Zones this worker may have open at once; 0: any number.
    pub job_max_open: u32,
    /// Share of a region that holds data beyond which zones are reset, 0 to 1.
    pub reset_threshold: f64,
    /// Writes for each reset beyond it; 0: none.
    pub reset_every: u64,
}

/// The zones of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZonedFile {
    /// What the file is called by all its workers.
    pub name: String,
    /// The device has zones of its own, and tells of them.
    pub device: bool,
    /// Distance of two zones, in bytes.
    pub size: u64,
    /// Bytes of a zone that can be used; only for zones that are invented.
    pub capacity: u64,
    /// Bytes of the file that lie in zones; only for zones that are invented.
    pub whole: u64,
}
