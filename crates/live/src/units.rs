//! Numbers of a constant width, so that a picture that changes every second stands still.

/// A number and its unit in eight characters: "48.0 MiB", " 512 KiB", "   0 B  ".
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (value, power) = reduced(value, 1024.0, UNITS.len(), 999.5);
    let number = if power == 0 { format!("{value:.0}") } else { three(value) };
    format!("{number:>4} {:<3}", UNITS[power])
}

/// A time in seven characters: "81.3 µs", "1.25 ms", "12.0 s ".
pub fn time_ms(ms: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("µs", 1e3), ("ms", 1.0), ("s", 1e-3), ("ks", 1e-6)];
    let mut text = String::new();
    for (unit, factor) in UNITS {
        let value = ms * factor;
        let number = if value < 1e-9 { "0".into() } else { three(value) };
        text = format!("{number:>4} {unit:<2}");
        if value < 999.5 {
            break;
        }
    }
    text
}

/// A count in at most five characters: "0.5", "812", "12.3k", "1.23M".
pub fn count(value: f64) -> String {
    const UNITS: [&str; 5] = ["", "k", "M", "G", "T"];
    if value < 9.95 && (value - value.round()).abs() >= 0.05 {
        return format!("{value:.1}");
    }
    let (value, power) = reduced(value, 1000.0, UNITS.len(), 999.5);
    let number = if power == 0 { format!("{value:.0}") } else { three(value) };
    number + UNITS[power]
}

/// How long something takes yet: "4 s", "1 min 12 s", "3 h 07 min", "2 d 05 h".
pub fn duration(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 1e9).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {:02} h", whole / 86_400, whole / 3600 % 24),
    }
}

/// Divides by `base` until the value is below `below`; the value and how often.
fn reduced(value: f64, base: f64, powers: usize, below: f64) -> (f64, usize) {
    let mut value = if value.is_finite() { value.max(0.0) } else { 0.0 };
    let mut power = 0;
    while value >= below && power + 1 < powers {
        value /= base;
        power += 1;
    }
    (value, power)
}

/// Three digits: "1.25", "12.5", "125".
fn three(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_their_width() {
        for (value, text) in [
            (0.0, "   0 B  "),
            (999.0, " 999 B  "),
            (1000.0, "0.98 KiB"),
            (1536.0, "1.50 KiB"),
            (50_331_648.0, "48.0 MiB"),
            (1_047_000_000.0, " 998 MiB"),
            (5e18, "4.34 EiB"),
            (f64::NAN, "   0 B  "),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn times_and_counts_have_three_digits() {
        for (ms, text) in [
            (0.0, "   0 µs"),
            (0.0813, "81.3 µs"),
            (1.25, "1.25 ms"),
            (12_000.0, "12.0 s "),
            (0.0004, "0.40 µs"),
            (5e6, "5.00 ks"),
        ] {
            assert_eq!(time_ms(ms), text);
        }
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (2.0, "2"),
            (9.96, "10"),
            (812.4, "812"),
            (12_345.0, "12.3k"),
            (999_700.0, "1.00M"),
            (1e12, "1.00T"),
        ] {
            assert_eq!(count(value), text);
            assert!(text.len() <= 5);
        }
    }

    #[test]
    fn a_time_left_is_told_in_two_units() {
        for (seconds, text) in [
            (3.6, "4 s"),
            (72.0, "1 min 12 s"),
            (11_220.0, "3 h 07 min"),
            (190_800.0, "2 d 05 h"),
            (-1.0, "0 s"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
