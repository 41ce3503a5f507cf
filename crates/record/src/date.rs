//! Times of the wall clock as text.

use chrono::{DateTime, NaiveDateTime, TimeDelta};

/// As C's asctime writes a moment.
const ASCTIME: &str = "%a %b %e %H:%M:%S %Y";

/// A moment in the local time that is `offset_seconds` ahead of UTC, in a format of strftime(3).
/// Moments beyond the calendar are shown as 1970.
fn local(unix_ms: u64, offset_seconds: i32, format: &str) -> String {
    let moment = i64::try_from(unix_ms).ok().and_then(DateTime::from_timestamp_millis);
    let offset = TimeDelta::seconds(offset_seconds.into());
    let local = moment.and_then(|moment| moment.checked_add_signed(offset));
    local.unwrap_or_default().format(format).to_string()
}

/// A moment as C's asctime writes it ("Fri Nov 20 22:53:48 2026"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub fn asctime(unix_ms: u64, offset_seconds: i32) -> String {
    local(unix_ms, offset_seconds, ASCTIME)
}

/// Seconds from 1970-01-01 00:00:00 to a moment as [`asctime`] writes it, both in the same time zone;
/// `None` for other texts.
pub fn parse_asctime(text: &str) -> Option<i64> {
    let moment = NaiveDateTime::parse_from_str(text.trim(), ASCTIME).ok()?;
    Some(moment.and_utc().timestamp())
}

/// The day of a moment, as ISO 8601 writes it ("2026-11-20"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub fn day(unix_ms: u64, offset_seconds: i32) -> String {
    local(unix_ms, offset_seconds, "%F")
}

/// A moment to the minute ("2026-11-20 22:53"), in the local time that is `offset_seconds` ahead of
/// UTC.
pub fn day_and_minute(unix_ms: u64, offset_seconds: i32) -> String {
    local(unix_ms, offset_seconds, "%F %H:%M")
}

/// The time of day of a moment ("22:53", with its second "22:53:48"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub fn time_of_day(unix_ms: u64, offset_seconds: i32, to_the_second: bool) -> String {
    local(unix_ms, offset_seconds, if to_the_second { "%T" } else { "%H:%M" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        // (unix seconds, offset, what `date` prints)
        let known = [
            (0, 0, "Thu Jan  1 00:00:00 1970"),
            (1_795_215_228, 0, "Fri Nov 20 22:53:48 2026"),
            (951_782_400, 0, "Tue Feb 29 00:00:00 2000"),
            (951_868_799, 7200, "Wed Mar  1 01:59:59 2000"),
            (4_107_542_399, 0, "Sun Feb 28 23:59:59 2100"),
            (4_107_542_400, 0, "Mon Mar  1 00:00:00 2100"),
            (1_609_459_199, -3600, "Thu Dec 31 22:59:59 2020"),
        ];
        for (seconds, offset, text) in known {
            assert_eq!(asctime(seconds * 1000, offset), text);
            assert_eq!(parse_asctime(text), Some(seconds as i64 + i64::from(offset)));
        }
    }

    #[test]
    fn other_texts_are_no_moment() {
        for none in ["", "yesterday", "Fri Nov 20 22:53 2026", "Fri Nix 20 22:53:48 2026"] {
            assert_eq!(parse_asctime(none), None, "{none}");
        }
    }

    #[test]
    fn days_are_local() {
        assert_eq!(day(1_795_215_228_000, 0), "2026-11-20");
        assert_eq!(day(1_795_215_228_000, 7200), "2026-11-21");
        assert_eq!(day_and_minute(1_795_215_228_000, 7200), "2026-11-21 00:53");
        assert_eq!(time_of_day(1_795_215_228_000, 0, true), "22:53:48");
    }
}
