//! Numbers, durations and dates as they are typed.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

/// The current time, from which "since=7d" counts back, and the time zone of dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds since 1970 UTC.
    pub unix_ms: u64,
    /// How far local time is ahead of UTC, in seconds.
    pub utc_offset_seconds: i32,
}

impl Now {
    /// By the clock and time zone of this machine.
    pub fn local() -> Now {
        let now = chrono::Local::now();
        Now {
            unix_ms: now.timestamp_millis().max(0) as u64,
            utc_offset_seconds: now.offset().local_minus_utc(),
        }
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    /// Things: "100k" is 100 000.
    Count,
    /// Bytes: "1G" is 10⁹, "1GiB" 2³⁰.
    Bytes,
    /// Time in nanoseconds; the unit is required.
    Latency,
    /// Time in milliseconds; the unit is required.
    Milliseconds,
}

const TIMES: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
    ("m", 60e9),
    ("h", 3600e9),
    ("d", 86_400e9),
];
const COUNTS: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9)];
const BYTES: [(&str, f64); 9] = [
    ("", 1.0),
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
    ("t", 1e12),
    ("ki", 1024.0),
    ("mi", 1_048_576.0),
    ("gi", 1_073_741_824.0),
    ("ti", 1_099_511_627_776.0),
];

impl NumberKind {
    pub(super) fn read(self, text: &str) -> Result<f64, String> {
        let expected = match self {
            NumberKind::Count => "a number such as 5000 or 100k was expected",
            NumberKind::Bytes => "bytes a second such as 500M or 2GiB were expected",
            NumberKind::Latency | NumberKind::Milliseconds => {
                "a time with its unit was expected, such as 1ms"
            }
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let number: f64 = number.parse().map_err(|_| expected.to_owned())?;
        let lower = unit.to_lowercase();
        let (units, unit) = match self {
            NumberKind::Count => (&COUNTS[..], lower.as_str()),
            NumberKind::Bytes => {
                let bytes = lower.trim_end_matches("/s");
                (&BYTES[..], bytes.strip_suffix('b').unwrap_or(bytes))
            }
            NumberKind::Latency | NumberKind::Milliseconds => (&TIMES[..], unit),
        };
        let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor);
        let value = number * factor.ok_or(expected)?;
        Ok(if self == NumberKind::Milliseconds { value / 1e6 } else { value })
    }
}

/// A whole number.
pub(super) fn whole_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a whole number was expected".into())
}

/// Start and end of a date or time, in milliseconds since 1970 UTC: "7d" is 7 days ago,
/// "2026-11-01" a day and "2026-11-01T12:30" a minute in local time.
pub(super) fn time_range(text: &str, now: Now) -> Result<[f64; 2], String> {
    let period = |time: NaiveDateTime, lasts: TimeDelta| {
        let utc = |time: NaiveDateTime| {
            let seconds = time.and_utc().timestamp() - i64::from(now.utc_offset_seconds);
            (seconds * 1000) as f64
        };
        [utc(time), time.checked_add_signed(lasts).map_or(f64::MAX, utc)]
    };
    let day = |date: NaiveDate| period(date.and_time(NaiveTime::MIN), TimeDelta::days(1));
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Ok(day(date));
    }
    for (form, lasts) in
        [("%Y-%m-%dT%H:%M", TimeDelta::minutes(1)), ("%Y-%m-%dT%H:%M:%S", TimeDelta::seconds(1))]
    {
        if let Ok(time) = NaiveDateTime::parse_from_str(text, form) {
            return Ok(period(time, lasts));
        }
    }
    let today = (now.unix_ms / 1000) as i64 + i64::from(now.utc_offset_seconds);
    let today = chrono::DateTime::from_timestamp(today, 0).map(|time| time.date_naive());
    match (text, today) {
        ("today", Some(today)) => return Ok(day(today)),
        ("yesterday", Some(today)) => {
            return today.pred_opt().map(day).ok_or_else(|| "there is no such day".into());
        }
        _ => {}
    }
    let weeks = text
        .strip_suffix('w')
        .and_then(|weeks| weeks.parse().ok())
        .map(|w: f64| w * 7.0 * 86_400e3);
    let ago = weeks.map_or_else(|| NumberKind::Milliseconds.read(text), Ok).map_err(|_| {
        "a time such as 7d (so long ago), 12h, 2w, today, 2026-11-01 or 2026-11-01T12:30 was expected"
            .to_owned()
    })?;
    let at = now.unix_ms as f64 - ago;
    Ok([at, at])
}
