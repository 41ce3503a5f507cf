//! Rates as JSON, one line for each interval.

use crate::{Rates, Stack};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the format, raised under the same rule as that of the log.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    unix_ms: u64,
    #[serde(flatten)]
    rates: &'a Rates,
    share_of_reads_percent: BTreeMap<&'a str, f64>,
}

/// An interval that ended at `unix_ms` (milliseconds since 1970 UTC) as a line, with its line feed.
///
/// # Errors
/// None in practice: every key is a string.
pub fn line(unix_ms: u64, stack: &Stack, rates: &Rates) -> std::io::Result<String> {
    let share = |row| Some((stack.share_of_reads(row, rates)?, row));
    let shares = stack.rows.iter().filter_map(share);
    let share_of_reads_percent = shares.map(|(share, row)| (row.name.as_str(), share)).collect();
    let line = Line { schema: SCHEMA, unix_ms, rates, share_of_reads_percent };
    Ok(serde_json::to_string(&line)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiskRates;
    use record::DiskSample;

    #[test]
    fn an_interval_is_one_line_with_its_counts() {
        let counted = DiskSample { read_ios: 7, ..DiskSample::default() };
        let disk = DiskRates { reads_per_second: 3.5, counted, ..DiskRates::default() };
        let disks = BTreeMap::from([("sda".to_owned(), disk)]);
        let rates = Rates { seconds: 2.0, disks, ..Rates::default() };
        let line = line(5, &Stack::default(), &rates).unwrap();
        assert_eq!(line.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((value["schema"].as_u64(), value["unix_ms"].as_u64()), (Some(1), Some(5)));
        assert_eq!(value["disks"]["sda"]["counted"]["read_ios"], 7);
        assert_eq!(value["disks"]["sda"]["reads_per_second"], 3.5);
        assert!(value["disks"]["sda"]["read_ms"].is_null() && value["cpu"].is_null());
    }
}
