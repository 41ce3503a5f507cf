//! Figures and times as pages show them.

use archive::Row;
use chrono::{DateTime, FixedOffset};
use live::units;

/// "812", "12.3k".
pub fn count(value: f64) -> String {
    units::count(value).trim().to_owned()
}

/// "48.0 MiB/s".
pub fn bandwidth(bytes_per_second: f64) -> String {
    format!("{}/s", units::bytes(bytes_per_second).trim())
}

/// "81.3 µs", "41 ns".
pub fn latency(ns: f64) -> String {
    match ns < 1000.0 {
        true => format!("{ns:.0} ns"),
        false => units::time_ms(ns / 1e6).trim().to_owned(),
    }
}

/// "2026-11-21 21:36" by the clock of the machine that ran it.
pub fn when(row: &Row) -> String {
    time(row.started_unix_ms, row.utc_offset_seconds, "%Y-%m-%d %H:%M")
}

/// A time with this offset from UTC, in seconds, in this form.
pub fn time(unix_ms: u64, offset: i32, form: &str) -> String {
    let at = i64::try_from(unix_ms).ok().and_then(DateTime::from_timestamp_millis);
    let offset = FixedOffset::east_opt(offset);
    match (at, offset) {
        (Some(at), Some(offset)) => at.with_timezone(&offset).format(form).to_string(),
        _ => "at no time".to_owned(),
    }
}

/// Text as it stands in the query of an address.
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
        assert_eq!(time(u64::MAX, 0, form), "at no time");
        assert_eq!(time(0, i32::MAX, form), "at no time");
    }

    #[test]
    fn queries_hold_any_text() {
        assert_eq!(encoded(&[("filter", "a=b c&d"), ("sort", "")]), "filter=a%3Db+c%26d");
    }
}
