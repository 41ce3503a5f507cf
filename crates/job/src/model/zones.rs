//! Zones of a target.

use super::Size;
use super::named::named;
use record::Bytes;

/// `zonemode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneMode {
    /// No zones.
    #[default]
    None,
    /// Slices of any target, worked on in turn.
    Strided,
    /// The rules of a zoned block device.
    Zbd,
}

/// Options of zones. A size of 0 means that it was not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zones {
    /// `zonemode`.
    pub mode: ZoneMode,
    /// `zonesize`.
    pub size: Bytes,
    /// `zonecapacity`.
    pub capacity: Bytes,
    /// `zonerange`.
    pub range: Bytes,
    /// `zoneskip`; `None`: none.
    pub skip: Option<Size>,
    /// `read_beyond_wp`.
    pub read_beyond: bool,
    /// `max_open_zones`; 0: the device's limit.
    pub max_open: u64,
    /// `job_max_open_zones`; 0: no limit for the job.
    pub job_max_open: u64,
    /// `ignore_zone_limits`.
    pub ignore_limits: bool,
    /// `zone_reset_threshold`: share of the region that holds data, 0 to 1.
    pub reset_threshold: f64,
    /// `zone_reset_frequency`: resets a write beyond the threshold, 0 to 1.
    pub reset_frequency: f64,
    /// `recover_zbd_write_error`.
    pub recover: bool,
    /// `write_zone_remainder`.
    pub write_remainder: bool,
}

named!(ZoneMode: None "none", Strided "strided", Zbd "zbd");
