//! The health that a disk reports: SMART, the NVMe health log, SCSI log pages.

use crate::Bytes;
use serde::{Deserialize, Serialize};

/// Health of one disk. What the disk does not report is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// The source: "nvme", "ata", "scsi".
    pub source: String,
    /// The disk's own assessment: false if it predicts its failure.
    pub passed: Option<bool>,
    /// Its warnings, in words ("spare below its threshold").
    pub warnings: Vec<String>,
    /// Temperature, in degrees Celsius.
    pub temperature_c: Option<i32>,
    /// Temperature at which it warns or slows down, in degrees Celsius.
    pub temperature_warning_c: Option<i32>,
    /// Critical temperature, in degrees Celsius.
    pub temperature_critical_c: Option<i32>,
    /// Endurance used, in percent; may exceed 100.
    pub used_percent: Option<u32>,
    /// Spare left, in percent.
    pub spare_percent: Option<u32>,
    /// Spare below which the disk warns, in percent.
    pub spare_threshold_percent: Option<u32>,
    /// Errors of the medium that could not be corrected; for ATA the reallocated, pending and
    /// uncorrectable sectors together.
    pub media_errors: Option<u64>,
    /// Number of entries ever written to the error log.
    pub error_log_entries: Option<u64>,
    /// Number of times that the disk slowed down because it was hot.
    pub throttle_count: Option<u64>,
    /// Minutes spent above the warning temperature.
    pub hot_minutes: Option<u64>,
    /// Hours powered on.
    pub power_on_hours: Option<u64>,
    /// Number of unexpected power losses.
    pub unsafe_shutdowns: Option<u64>,
    /// Bytes that the host wrote over the disk's life.
    pub written: Option<Bytes>,
    /// Whether there is a volatile write cache, and whether it is on.
    pub volatile_write_cache: Option<bool>,
    /// Optional commands that an NVMe disk takes ("write zeroes", "copy").
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional_commands: Option<Vec<String>>,
    /// Power state that an NVMe disk is in; 0 is the fastest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_state: Option<u32>,
    /// Whether an NVMe disk changes its power state by itself when it is idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autonomous_power_states: Option<bool>,
}
