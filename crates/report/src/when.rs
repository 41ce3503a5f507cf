//! Wall clock times as text.

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A moment as C's asctime writes it ("Fri Nov 20 22:53:48 2026"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub(crate) fn asctime(unix_ms: u64, offset_seconds: i32) -> String {
    let seconds = (unix_ms / 1000) as i64 + i64::from(offset_seconds);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    format!(
        "{} {} {day:2} {:02}:{:02}:{:02} {year}",
        DAYS[days.rem_euclid(7) as usize],
        MONTHS[month],
        second / 3600,
        second / 60 % 60,
        second % 60,
    )
}

/// Seconds from 1970-01-01 00:00:00 to a moment as [`asctime`] writes it, both in the same zone; `None`
/// where the text is none.
pub(crate) fn from_asctime(text: &str) -> Option<i64> {
    let [_, month, day, time, year] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|known| *known == month)?;
    let (day, year): (i64, i64) = (day.parse().ok()?, year.parse().ok()?);
    let clock: Vec<i64> = time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hour, minute, second] = clock[..] else { return None };
    if !(1970..10_000).contains(&year) || !(1..=31).contains(&day) || hour.max(minute) > 59 {
        return None;
    }
    let days = (1970..year).map(year_length).sum::<i64>()
        + (0..month).map(|month| month_length(year, month)).sum::<i64>()
        + day
        - 1;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// The day of a moment, as ISO 8601 writes it ("2026-11-20"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub(crate) fn day(unix_ms: u64, offset_seconds: i32) -> String {
    let seconds = (unix_ms / 1000) as i64 + i64::from(offset_seconds);
    let (year, month, day) = date(seconds.div_euclid(86_400));
    format!("{year}-{:02}-{day:02}", month + 1)
}

/// A moment to the minute ("2026-11-20 22:53"), in the local time that is `offset_seconds` ahead of
/// UTC.
pub(crate) fn minute(unix_ms: u64, offset_seconds: i32) -> String {
    let clock = clock(unix_ms, offset_seconds, false);
    format!("{} {clock}", day(unix_ms, offset_seconds))
}

/// The time of day of a moment ("22:53", with its second "22:53:48"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub(crate) fn clock(unix_ms: u64, offset_seconds: i32, to_the_second: bool) -> String {
    let second = ((unix_ms / 1000) as i64 + i64::from(offset_seconds)).rem_euclid(86_400);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    match to_the_second {
        true => format!("{hour:02}:{minute:02}:{:02}", second % 60),
        false => format!("{hour:02}:{minute:02}"),
    }
}

/// (year, month from 0, day from 1) of a day counted from 1970-01-01.
fn date(mut days: i64) -> (i64, usize, i64) {
    // Whole 400-year cycles first, so the loops below are short whatever the date.
    let mut year = 1970 + 400 * days.div_euclid(146_097);
    days = days.rem_euclid(146_097);
    while days >= year_length(year) {
        days -= year_length(year);
        year += 1;
    }
    let mut month = 0;
    while days >= month_length(year, month) {
        days -= month_length(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn year_length(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

fn month_length(year: i64, month: usize) -> i64 {
    match month {
        1 if is_leap(year) => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
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
            assert_eq!(from_asctime(text), Some(seconds as i64 + i64::from(offset)));
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for none in ["", "yesterday", "Fri Nov 20 22:53 2026", "Fri Nix 20 22:53:48 2026"] {
            assert_eq!(from_asctime(none), None, "{none}");
        }
    }

    #[test]
    fn days_are_local() {
        assert_eq!(day(1_795_215_228_000, 0), "2026-11-20");
        assert_eq!(day(1_795_215_228_000, 7200), "2026-11-21");
        assert_eq!(minute(1_795_215_228_000, 7200), "2026-11-21 00:53");
        assert_eq!(clock(1_795_215_228_000, 0, true), "22:53:48");
    }
}
