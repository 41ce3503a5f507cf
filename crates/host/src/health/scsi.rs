//! SCSI log and mode pages (SPC-5: LOG SENSE 6.6, MODE SENSE 6.13, Informational Exceptions 2Fh,
//! Temperature 0Dh; SBC-4: Solid State Media 11h, Caching mode page 08h).

use super::bytes::read_be;
use crate::Kernel;
use record::Health;
use std::fs::File;

const LOG_SENSE: u8 = 0x4d;
const MODE_SENSE: u8 = 0x1a;
const TEMPERATURE: u8 = 0x0d;
const SOLID_STATE: u8 = 0x11;
const EXCEPTIONS: u8 = 0x2f;
const CACHING: u8 = 0x08;

pub(super) fn query(kernel: &dyn Kernel, disk: &File) -> Option<Health> {
    let page = |page: u8| log_page(kernel, disk, page);
    let pages = [EXCEPTIONS, TEMPERATURE, SOLID_STATE].map(page);
    let mode = mode_page(kernel, disk);
    let [exceptions, temperature, solid_state] = &pages;
    read(exceptions.as_deref(), temperature.as_deref(), solid_state.as_deref(), mode.as_deref())
}

/// The current values of a log page; `None` if the disk lacks it.
fn log_page(kernel: &dyn Kernel, disk: &File, page: u8) -> Option<Vec<u8>> {
    const ROOM: u8 = 252;
    let mut data = vec![0; usize::from(ROOM)];
    let command = [LOG_SENSE, 0, 0x40 | page, 0, 0, 0, 0, 0, ROOM, 0];
    let answer = kernel.scsi(disk, &command, &mut data).ok()?;
    data.truncate(answer.length);
    let named = data.first().is_some_and(|first| first & 0x3f == page);
    (answer.status == 0 && named).then_some(data)
}

fn mode_page(kernel: &dyn Kernel, disk: &File) -> Option<Vec<u8>> {
    const ROOM: u8 = 64;
    let mut data = vec![0; usize::from(ROOM)];
    // Without block descriptors, the current values.
    let command = [MODE_SENSE, 0x08, CACHING, 0, ROOM, 0];
    let answer = kernel.scsi(disk, &command, &mut data).ok()?;
    data.truncate(answer.length);
    (answer.status == 0).then_some(data)
}

/// The value of the parameter with this code, without its header of 4 bytes.
fn parameter(page: &[u8], code: u64) -> Option<&[u8]> {
    let mut at = 4;
    while let Some(found) = read_be(page, at, 2) {
        let length = usize::from(*page.get(at + 3)?);
        let value = page.get(at + 4..at + 4 + length)?;
        if found == code {
            return Some(value);
        }
        at += 4 + length;
    }
    None
}

/// `None` if the disk returned none of the pages.
fn read(
    exceptions: Option<&[u8]>,
    temperature: Option<&[u8]>,
    solid_state: Option<&[u8]>,
    mode: Option<&[u8]>,
) -> Option<Health> {
    if [exceptions, temperature, solid_state, mode].iter().all(Option::is_none) {
        return None;
    }
    let general = exceptions.and_then(|page| parameter(page, 0));
    // An additional sense code other than 0 is a prediction of failure; 5Dh is that of the medium.
    let code = general.and_then(|general| general.first().copied());
    let passed = code.map(|code| code == 0);
    let degrees = |page: &[u8], at: usize| {
        let degrees = *page.get(at)?;
        // All ones: unknown.
        (degrees != 0xff).then_some(i32::from(degrees))
    };
    let known = |page: Option<&[u8]>, code: u64| {
        page.and_then(|page| parameter(page, code)).and_then(|value| degrees(value, 1))
    };
    let used = solid_state.and_then(|page| parameter(page, 1)).and_then(|value| value.get(3));
    let warnings = code.filter(|code| *code != 0).map(|code| match code {
        0x5d => "it predicts its own failure".to_owned(),
        0x0b => "it warns of its temperature or of its self-test".to_owned(),
        other => format!("it reports an exception, additional sense code {other:02x}h"),
    });
    Some(Health {
        source: "scsi".into(),
        passed,
        warnings: warnings.into_iter().collect(),
        temperature_c: known(temperature, 0).or_else(|| general.and_then(|g| degrees(g, 2))),
        // The reference temperature, the highest for continuous use.
        temperature_critical_c: known(temperature, 1),
        used_percent: used.map(|used| u32::from(*used)),
        volatile_write_cache: mode.and_then(write_cache),
        ..Health::default()
    })
}

/// WCE of the caching page, behind the header of 4 bytes and any block descriptors.
fn write_cache(mode: &[u8]) -> Option<bool> {
    let start = 4 + usize::from(*mode.get(3)?);
    let page = mode.get(start..)?;
    (page.first()? & 0x3f == CACHING).then_some(())?;
    Some(page.get(2)? & 0x04 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_become_health() {
        let exceptions = [0x2f, 0, 0, 8, 0, 0, 3, 4, 0x5d, 0x10, 38, 0];
        let temperature = [0x0d, 0, 0, 12, 0, 0, 3, 2, 0, 39, 0, 1, 3, 2, 0, 65];
        let solid_state = [0x11, 0, 0, 8, 0, 1, 3, 4, 0, 0, 0, 7];
        let mode = [0x17, 0, 0, 0, 0x08, 0x12, 0x04, 0];
        let health =
            read(Some(&exceptions), Some(&temperature), Some(&solid_state), Some(&mode)).unwrap();
        assert_eq!(health.passed, Some(false));
        assert_eq!(health.warnings, ["it predicts its own failure"]);
        assert_eq!((health.temperature_c, health.temperature_critical_c), (Some(39), Some(65)));
        assert_eq!((health.used_percent, health.volatile_write_cache), (Some(7), Some(true)));
    }

    #[test]
    fn a_disk_without_answers_has_no_health() {
        assert_eq!(read(None, None, None, None), None);
        let healthy = read(Some(&[0x2f, 0, 0, 8, 0, 0, 3, 4, 0, 0, 0xff, 0]), None, None, None);
        let healthy = healthy.unwrap();
        assert_eq!((healthy.passed, healthy.temperature_c), (Some(true), None));
    }

    proptest! {
        #[test]
        fn any_answer_is_read_without_a_panic(
            page in prop::collection::vec(any::<u8>(), 0..300),
            mode in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let _ = read(Some(&page), Some(&page), Some(&page), Some(&mode));
        }
    }
}
