//! Times and addresses as pages write them.

use archive::Row;
use chrono::{DateTime, FixedOffset};

/// The start of a run in the local time of its machine: "2026-11-21 21:36".
pub fn when(row: &Row) -> String {
    time(row.started_unix_ms, row.utc_offset_seconds, "%Y-%m-%d %H:%M")
}

/// A time with this offset from UTC in seconds, in this format.
pub fn time(unix_ms: u64, offset: i32, form: &str) -> String {
    let at = i64::try_from(unix_ms).ok().and_then(DateTime::from_timestamp_millis);
    let offset = FixedOffset::east_opt(offset);
    match (at, offset) {
        (Some(at), Some(offset)) => at.with_timezone(&offset).format(form).to_string(),
        _ => "unknown time".to_owned(),
    }
}

/// The query of an address. Empty values are left out.
pub fn encoded(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<_> = pairs.iter().filter(|(_, value)| !value.is_empty()).collect();
    serde_urlencoded::to_string(pairs).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_machine_that_ran_it() {
        let form = "%Y-%m-%d %H:%M";
        assert_eq!(time(0, 3600, form), "1970-01-01 01:00");
        assert_eq!(time(u64::MAX, 0, form), "unknown time");
        assert_eq!(time(0, i32::MAX, form), "unknown time");
    }

    #[test]
    fn queries_hold_any_text() {
        assert_eq!(encoded(&[("filter", "a=b c&d"), ("sort", "")]), "filter=a%3Db+c%26d");
    }
}
