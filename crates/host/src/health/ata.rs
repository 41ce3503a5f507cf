//! ATA SMART through SCSI (SAT-5 ATA PASS-THROUGH (16), ACS-4 sections 7.13 and 7.46; the meaning
//! of attributes is the vendors' common usage).

use super::bytes::read_le;
use crate::{Kernel, ScsiAnswer};
use record::Health;
use std::fs::File;

const PASS_THROUGH: u8 = 0x85;
const IDENTIFY_DEVICE: u8 = 0xec;
const CHECK_POWER_MODE: u8 = 0xe5;
const SMART: u8 = 0xb0;
const READ_DATA: u8 = 0xd0;
const RETURN_STATUS: u8 = 0xda;

const SECTOR: usize = 512;

/// The registers a command returns, from descriptor-format sense data (SAT-5 table 15).
struct Registers {
    count: u8,
    middle: u8,
    high: u8,
}

pub(super) fn query(kernel: &dyn Kernel, disk: &File) -> Option<Health> {
    let mut identity = vec![0; SECTOR];
    // Any other command would spin up a sleeping disk.
    let power = command(kernel, disk, CHECK_POWER_MODE, 0, &mut [])?;
    if registers(&power).is_some_and(|registers| registers.count == 0) {
        return None;
    }
    let answer = command(kernel, disk, IDENTIFY_DEVICE, 0, &mut identity)?;
    (answer.status == 0 && answer.length == SECTOR).then_some(())?;
    let mut data = vec![0; SECTOR];
    let smart_data = command(kernel, disk, SMART, READ_DATA, &mut data).filter(|a| a.status == 0);
    let status = command(kernel, disk, SMART, RETURN_STATUS, &mut []);
    let passed = status.as_ref().and_then(registers).and_then(|registers| passed(&registers));
    read(&identity, smart_data.map(|_| data.as_slice()), passed)
}

fn command(
    kernel: &dyn Kernel,
    disk: &File,
    command: u8,
    features: u8,
    data: &mut [u8],
) -> Option<ScsiAnswer> {
    let mut block = [0; 16];
    let reads = !data.is_empty();
    block[0] = PASS_THROUGH;
    // Protocol: PIO data-in, or none.
    block[1] = if reads { 4 << 1 } else { 3 << 1 };
    // From the device, in blocks, as many as the count says; or the registers back.
    block[2] = if reads { 0x0e } else { 0x20 };
    block[4] = features;
    block[6] = u8::from(reads);
    if command == SMART {
        // The signature of SMART commands in the LBA.
        (block[10], block[12]) = (0x4f, 0xc2);
    }
    block[14] = command;
    kernel.scsi(disk, &block, data).ok()
}

fn registers(answer: &ScsiAnswer) -> Option<Registers> {
    let sense = &answer.sense;
    // Descriptor format, whose first descriptor is the ATA status return.
    let descriptor = matches!(sense[0] & 0x7f, 0x72 | 0x73) && sense[8] == 0x09;
    descriptor.then(|| Registers { count: sense[13], middle: sense[17], high: sense[19] })
}

/// The signature is returned unchanged, or inverted when the disk predicts its failure.
fn passed(registers: &Registers) -> Option<bool> {
    match (registers.middle, registers.high) {
        (0x4f, 0xc2) => Some(true),
        (0xf4, 0x2c) => Some(false),
        _ => None,
    }
}

struct Attribute {
    id: u8,
    value: u8,
    raw: u64,
}

/// The table of 30 attributes, 12 bytes each, from byte 2 on.
fn attributes(data: &[u8]) -> impl Iterator<Item = Attribute> {
    data.get(2..362)
        .unwrap_or_default()
        .as_chunks::<12>()
        .0
        .iter()
        .filter(|row| row[0] != 0)
        .map(|row| Attribute { id: row[0], value: row[3], raw: read_le(row, 5, 6).unwrap_or(0) })
}

fn read(identity: &[u8], data: Option<&[u8]>, passed: Option<bool>) -> Option<Health> {
    let word = |number: usize| read_le(identity, number * 2, 2).unwrap_or(0);
    let all: Vec<Attribute> = data.map(|data| attributes(data).collect()).unwrap_or_default();
    let raw = |id: u8| all.iter().find(|attribute| attribute.id == id).map(|a| a.raw);
    // Reallocated, pending, uncorrectable sectors.
    let bad: Vec<u64> = [5, 197, 198].into_iter().filter_map(raw).collect();
    let failing = passed == Some(false);
    let wear = [233, 177, 231, 202].into_iter().find_map(|id| {
        let attribute = all.iter().find(|attribute| attribute.id == id)?;
        Some(100_u32.saturating_sub(u32::from(attribute.value)))
    });
    Some(Health {
        source: "ata".into(),
        passed,
        warnings: failing.then(|| "it predicts its own failure".to_owned()).into_iter().collect(),
        // The lowest byte is the temperature, those above are extremes.
        temperature_c: raw(194).or_else(|| raw(190)).map(|raw| (raw & 0xff) as i32),
        // On rotating disks these attributes have other meanings.
        used_percent: wear.filter(|_| word(217) == 1),
        media_errors: (!bad.is_empty()).then(|| bad.iter().sum()),
        power_on_hours: raw(9).map(|hours| hours & 0xffff_ffff),
        unsafe_shutdowns: raw(174).or_else(|| raw(192)),
        // Words 82 and 85, bit 5: has a write cache, and it is on; valid when word 83 says so.
        volatile_write_cache: (word(83) & 0xc000 == 0x4000)
            .then(|| word(82) & 1 << 5 != 0 && word(85) & 1 << 5 != 0),
        ..Health::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(id: u8, value: u8, raw: u64) -> [u8; 12] {
        let mut row = [0; 12];
        (row[0], row[3]) = (id, value);
        row[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
        row
    }

    #[test]
    fn attributes_become_health() {
        let mut identity = vec![0; SECTOR];
        let mut put = |word: usize, value: u16| {
            identity[word * 2..word * 2 + 2].copy_from_slice(&value.to_le_bytes());
        };
        put(82, 1 << 5);
        put(83, 0x4000);
        put(85, 1 << 5);
        put(217, 1);
        let mut data = vec![0; SECTOR];
        let rows = [
            row(5, 100, 4),
            row(9, 95, 12_345),
            row(177, 88, 300),
            row(194, 60, 0x0030_0014_0028),
            row(197, 100, 2),
            row(198, 100, 1),
            row(174, 100, 33),
        ];
        for (index, row) in rows.iter().enumerate() {
            data[2 + index * 12..14 + index * 12].copy_from_slice(row);
        }
        let health = read(&identity, Some(&data), Some(false)).unwrap();
        assert_eq!(health.media_errors, Some(7));
        assert_eq!((health.temperature_c, health.power_on_hours), (Some(40), Some(12_345)));
        assert_eq!((health.used_percent, health.unsafe_shutdowns), (Some(12), Some(33)));
        assert_eq!(health.volatile_write_cache, Some(true));
        assert_eq!(health.warnings, ["it predicts its own failure"]);
    }

    #[test]
    fn a_status_is_in_the_registers_that_come_back() {
        let mut sense = [0; 64];
        (sense[0], sense[8], sense[17], sense[19]) = (0x72, 0x09, 0x4f, 0xc2);
        let answer = ScsiAnswer { length: 0, status: 2, sense };
        assert_eq!(registers(&answer).as_ref().and_then(passed), Some(true));
        (sense[17], sense[19]) = (0xf4, 0x2c);
        let answer = ScsiAnswer { sense, ..answer };
        assert_eq!(registers(&answer).as_ref().and_then(passed), Some(false));
        assert!(registers(&ScsiAnswer { sense: [0; 64], ..answer }).is_none());
    }

    proptest! {
        #[test]
        fn any_answer_is_read_without_a_panic(
            identity in prop::collection::vec(any::<u8>(), 0..600),
            data in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            let _ = read(&identity, Some(&data), None);
        }
    }
}
