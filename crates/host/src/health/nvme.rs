//! The NVMe SMART / Health Information log and related data (NVMe base specification 2.0:
//! Identify Controller figure 275, log page 02h figure 207, feature 06h section 5.27.1.4).

use super::bytes::read_le;
use crate::{Kernel, NvmeAdmin};
use record::{Bytes, Health};
use std::fs::File;

const IDENTIFY: u8 = 0x06;
const GET_LOG_PAGE: u8 = 0x02;
const GET_FEATURES: u8 = 0x0a;
const ALL_NAMESPACES: u32 = u32::MAX;
const VOLATILE_WRITE_CACHE: u32 = 0x06;
const POWER_MANAGEMENT: u32 = 0x02;
const AUTONOMOUS_TRANSITIONS: u32 = 0x0c;
const TRANSITIONS_BYTES: usize = 256;

const IDENTIFY_BYTES: usize = 4096;
const LOG_BYTES: usize = 512;

/// A unit of "data units written": a thousand sectors.
const DATA_UNIT: u64 = 512_000;

/// Bits of the optional NVM commands that a controller supports (ONCS: figure 275, bytes 520 and 521).
/// Saving of features (bit 4) is no command.
const COMMANDS: [(u64, &str); 8] = [
    (0x001, "compare"),
    (0x002, "write uncorrectable"),
    (0x004, "dataset management"),
    (0x008, "write zeroes"),
    (0x020, "reservations"),
    (0x040, "timestamp"),
    (0x080, "verify"),
    (0x100, "copy"),
];

/// Bits of the critical warning.
const WARNINGS: [(u8, &str); 6] = [
    (0x01, "spare below its threshold"),
    (0x02, "temperature beyond a threshold"),
    (0x04, "reliability degraded by media or internal errors"),
    (0x08, "media read-only"),
    (0x10, "backup of the volatile memory failed"),
    (0x20, "persistent memory region read-only or unreliable"),
];

pub(super) fn query(kernel: &dyn Kernel, disk: &File) -> Option<Health> {
    let mut log = vec![0; LOG_BYTES];
    // Dword 10: the page, and how many dwords less one.
    let words = [0x02 | (LOG_BYTES as u32 / 4 - 1) << 16, 0, 0, 0, 0, 0];
    let log_page = NvmeAdmin { opcode: GET_LOG_PAGE, namespace: ALL_NAMESPACES, words };
    kernel.nvme_admin(disk, log_page, &mut log).ok()?;
    let mut identity = vec![0; IDENTIFY_BYTES];
    let identify = NvmeAdmin { opcode: IDENTIFY, namespace: 0, words: [1, 0, 0, 0, 0, 0] };
    let identified = kernel.nvme_admin(disk, identify, &mut identity).is_ok();
    let feature = |feature: u32, data: &mut [u8]| {
        let words = [feature, 0, 0, 0, 0, 0];
        let command = NvmeAdmin { opcode: GET_FEATURES, namespace: 0, words };
        kernel.nvme_admin(disk, command, data).ok()
    };
    let cache = feature(VOLATILE_WRITE_CACHE, &mut []);
    let power = feature(POWER_MANAGEMENT, &mut []);
    // The answer comes with a table of transitions.
    let autonomous = feature(AUTONOMOUS_TRANSITIONS, &mut [0; TRANSITIONS_BYTES]);
    let health = read(&log, identified.then_some(&identity), cache)?;
    Some(Health {
        // Bits 0 to 4 are the power state, bits 5 to 7 a hint about the workload.
        power_state: power.map(|value| value & 0x1f),
        autonomous_power_states: autonomous.map(|value| value & 1 == 1),
        ..health
    })
}

/// `cache`: the answer to Get Features of the volatile write cache, whose bit 0 says that it is on.
fn read(log: &[u8], identity: Option<&Vec<u8>>, cache: Option<u32>) -> Option<Health> {
    let critical = *log.first()?;
    let byte = |at: usize| log.get(at).map(|byte| u32::from(*byte));
    // Counters have 16 bytes; no disk uses more than 8.
    let counter = |at: usize| read_le(log, at, 8);
    let limit = |at: usize| kelvin(read_le(identity?, at, 2)?);
    let has_cache = identity.and_then(|identity| identity.get(525)).map(|vwc| vwc & 1 == 1);
    let transitions = [216, 220].map(|at| read_le(log, at, 4).unwrap_or(0));
    let commands = identity.and_then(|identity| read_le(identity, 520, 2)).map(|supported| {
        let commands = COMMANDS.iter().filter(|(bit, _)| supported & bit != 0);
        commands.map(|(_, name)| (*name).to_owned()).collect()
    });
    let warnings = WARNINGS.iter().filter(|(bit, _)| critical & bit != 0);
    Some(Health {
        source: "nvme".into(),
        passed: Some(critical == 0),
        warnings: warnings.map(|(_, text)| (*text).to_owned()).collect(),
        temperature_c: read_le(log, 1, 2).and_then(kelvin),
        temperature_warning_c: limit(266),
        temperature_critical_c: limit(268),
        used_percent: byte(5),
        spare_percent: byte(3),
        spare_threshold_percent: byte(4),
        media_errors: counter(160),
        error_log_entries: counter(176),
        throttle_count: Some(transitions.iter().sum()),
        hot_minutes: read_le(log, 192, 4),
        power_on_hours: counter(128),
        unsafe_shutdowns: counter(144),
        written: counter(48).map(|units| Bytes(units.saturating_mul(DATA_UNIT))),
        volatile_write_cache: match has_cache {
            Some(true) => cache.map(|value| value & 1 == 1).or(Some(true)),
            other => other,
        },
        optional_commands: commands,
        ..Health::default()
    })
}

/// Degrees Celsius; 0 K means unknown.
fn kelvin(value: u64) -> Option<i32> {
    (value > 0).then(|| value as i32 - 273)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn log() -> Vec<u8> {
        let mut log = vec![0; LOG_BYTES];
        log[0] = 0x05;
        log[1..3].copy_from_slice(&341_u16.to_le_bytes());
        (log[3], log[4], log[5]) = (8, 10, 102);
        log[48..56].copy_from_slice(&2_000_u64.to_le_bytes());
        log[128..136].copy_from_slice(&9_000_u64.to_le_bytes());
        log[144..152].copy_from_slice(&17_u64.to_le_bytes());
        log[160..168].copy_from_slice(&3_u64.to_le_bytes());
        log[176..184].copy_from_slice(&44_u64.to_le_bytes());
        log[192..196].copy_from_slice(&12_u32.to_le_bytes());
        log[216..220].copy_from_slice(&2_u32.to_le_bytes());
        log[220..224].copy_from_slice(&1_u32.to_le_bytes());
        log
    }

    #[test]
    fn wear_and_heat_of_a_disk_are_reported() {
        let mut identity = vec![0; IDENTIFY_BYTES];
        identity[266..268].copy_from_slice(&343_u16.to_le_bytes());
        identity[268..270].copy_from_slice(&353_u16.to_le_bytes());
        identity[525] = 1;
        identity[520..522].copy_from_slice(&0x010c_u16.to_le_bytes());
        let health = read(&log(), Some(&identity), Some(0)).unwrap();
        let expected = Health {
            source: "nvme".into(),
            passed: Some(false),
            warnings: vec![
                "spare below its threshold".into(),
                "reliability degraded by media or internal errors".into(),
            ],
            temperature_c: Some(68),
            temperature_warning_c: Some(70),
            temperature_critical_c: Some(80),
            used_percent: Some(102),
            spare_percent: Some(8),
            spare_threshold_percent: Some(10),
            media_errors: Some(3),
            error_log_entries: Some(44),
            throttle_count: Some(3),
            hot_minutes: Some(12),
            power_on_hours: Some(9_000),
            unsafe_shutdowns: Some(17),
            written: Some(Bytes(1_024_000_000)),
            volatile_write_cache: Some(false),
            optional_commands: Some(
                ["dataset management", "write zeroes", "copy"].map(str::to_owned).into(),
            ),
            ..Health::default()
        };
        assert_eq!(health, expected);
    }

    #[test]
    fn missing_health_values_stay_unknown() {
        let health = read(&vec![0; LOG_BYTES], None, None).unwrap();
        assert_eq!((health.passed, health.temperature_c), (Some(true), None));
        assert_eq!((health.temperature_warning_c, health.volatile_write_cache), (None, None));
        assert_eq!(health.optional_commands, None);
        assert_eq!(read(&[], None, None), None);
    }

    proptest! {
        #[test]
        fn any_answer_is_read_without_a_panic(
            log in prop::collection::vec(any::<u8>(), 0..600),
            identity in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            let _ = read(&log, Some(&identity), Some(1));
        }
    }
}
