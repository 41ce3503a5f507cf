//! Times of the wall clock as text.

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A moment as C's asctime writes it ("Fri Nov 20 22:53:48 2026"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub fn asctime(unix_ms: u64, offset_seconds: i32) -> String {
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

/// Seconds from 1970-01-01 00:00:00 to a moment as [`asctime`] writes it, both in the same time zone;
/// `None` for other texts.
pub fn parse_asctime(text: &str) -> Option<i64> {
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
    let days = days_since_1970(year, month, day);
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// The day of a moment, as ISO 8601 writes it ("2026-11-20"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub fn day(unix_ms: u64, offset_seconds: i32) -> String {
    let seconds = (unix_ms / 1000) as i64 + i64::from(offset_seconds);
    let (year, month, day) = date(seconds.div_euclid(86_400));
    format!("{year}-{:02}-{day:02}", month + 1)
}

/// A moment to the minute ("2026-11-20 22:53"), in the local time that is `offset_seconds` ahead of
/// UTC.
pub fn day_and_minute(unix_ms: u64, offset_seconds: i32) -> String {
    let clock = time_of_day(unix_ms, offset_seconds, false);
    format!("{} {clock}", day(unix_ms, offset_seconds))
}

/// The time of day of a moment ("22:53", with its second "22:53:48"), in the local time that is
/// `offset_seconds` ahead of UTC.
pub fn time_of_day(unix_ms: u64, offset_seconds: i32, to_the_second: bool) -> String {
    let second = ((unix_ms / 1000) as i64 + i64::from(offset_seconds)).rem_euclid(86_400);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    match to_the_second {
        true => format!("{hour:02}:{minute:02}:{:02}", second % 60),
        false => format!("{hour:02}:{minute:02}"),
    }
}

/// (year, month from 0, day from 1) of a day counted from 1970-01-01. Years begin in March here, so
/// that a leap day is the last day of its year.
fn date(days: i64) -> (i64, usize, i64) {
    let days = days + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - days_before(year_of_era);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era + i64::from(month >= 10);
    (year, (month + 2).rem_euclid(12) as usize, day)
}

/// Days from 1970-01-01 to a date; the inverse of [`date`].
fn days_since_1970(year: i64, month: usize, day: i64) -> i64 {
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    days_before(year) + (153 * month as i64 + 2) / 5 + day - 1 - DAYS_BEFORE_1970
}

/// Days from 0000-03-01 to the March of a year.
fn days_before(year: i64) -> i64 {
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400)
}

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_468;

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
