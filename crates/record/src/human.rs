//! Readable figures: the one formatter of sizes, times, rates and counts.
//!
//! - Three significant digits without trailing zeros: "1.25 ms", "12.3 k", "4 KiB". Digits before
//!   the point are never cut: "1023 KiB".
//! - The largest unit of which the rounded figure is at least one.
//! - A space before the unit or the prefix, none after a prefix that stands for a unit of its own:
//!   "104 µs", "71.8 MiB/s", "12.3 k IOPS".
//! - Bytes go by 1024 and have IEC names (KiB); all else goes by 1000 (ms, k).
//!
//! The layouts of fio, DISKSPD, IOzone, dd and hdparm have formatters of their own.

use crate::{Bytes, Nanos};
use std::fmt;

/// A unit: its size in the basic unit, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its size in the basic unit.
    pub size: f64,
    /// "MiB"; empty for plain counts.
    pub name: &'static str,
}

macro_rules! units {
    ($(#[$doc:meta])* $list:ident: $base:literal $($name:literal)*) => {
        $(#[$doc])*
        pub const $list: &[Unit] = {
            const NAMES: &[&str] = &[$($name),*];
            &by_powers::<{ NAMES.len() }>(NAMES, $base)
        };
    };
}

const fn by_powers<const N: usize>(names: &[&'static str], base: f64) -> [Unit; N] {
    let mut units = [Unit { size: 1.0, name: "" }; N];
    let mut power = 0;
    while power < N {
        units[power].name = names[power];
        if power > 0 {
            units[power].size = units[power - 1].size * base;
        }
        power += 1;
    }
    units
}

units!(
    /// Units of data.
    SIZES: 1024.0 "B" "KiB" "MiB" "GiB" "TiB" "PiB" "EiB"
);
units!(
    /// Units of bandwidth.
    RATES: 1024.0 "B/s" "KiB/s" "MiB/s" "GiB/s" "TiB/s" "PiB/s" "EiB/s"
);
units!(
    /// Units of time, from nanoseconds.
    TIMES: 1000.0 "ns" "µs" "ms" "s"
);
units!(
    /// Units of events per second.
    EVENT_RATES: 1000.0 "1/s" "k/s" "M/s" "G/s"
);
units!(
    /// Prefixes of counts.
    COUNTS: 1000.0 "" "k" "M" "G" "T"
);

impl Unit {
    /// A figure of the basic unit in this unit, without its name.
    pub fn number(&self, value: f64, significant: i32) -> String {
        digits(value / self.size, significant)
    }

    /// A figure of the basic unit in this unit, with three digits and its name.
    pub fn text(&self, value: f64) -> String {
        let number = self.number(value, 3);
        if self.name.is_empty() { number } else { format!("{number} {}", self.name) }
    }
}

/// Bytes: "512 B", "4 KiB", "1.46 GiB".
pub fn size(bytes: f64) -> String {
    in_units(bytes, SIZES)
}

/// Bytes a second: "71.8 MiB/s".
pub fn rate(bytes_per_second: f64) -> String {
    in_units(bytes_per_second, RATES)
}

/// A configured size (not a measured one), in the largest unit of which it is a multiple: "4 KiB",
/// "4095 B".
pub fn exact_size(bytes: u64) -> String {
    let holds = |unit: &&Unit| bytes > 0 && (bytes as f64 % unit.size) == 0.0;
    let unit = SIZES.iter().rev().find(holds).unwrap_or(&SIZES[0]);
    format!("{} {}", bytes / unit.size as u64, unit.name)
}

/// Nanoseconds: "850 ns", "104 µs", "1.5 ms", "20 s".
pub fn time(ns: f64) -> String {
    in_units(ns, TIMES)
}

/// A count, or events a second: "999", "12.3 k", "1.2 M".
pub fn count(value: f64) -> String {
    in_units(value, COUNTS)
}

/// A share of one: "0.4 %", "12 %". One decimal below 10 %, none above.
pub fn percent(share: f64) -> String {
    let decimals = usize::from(share.abs() < 0.0995);
    without_zeros(format!("{:.decimals$}", share * 100.0)) + " %"
}

/// A length of time, in at most two units: "4 s", "1 min 12 s", "3 h 07 min", "2 d 05 h".
pub fn duration(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 1e9).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {:02} h", whole / 86_400, whole / 3600 % 24),
    }
}

/// A number of things: "1 run", "3 runs".
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// "a", "a and b", "a, b and c".
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The same of at most `most` items; more are counted: "a, b, c and 4 more".
pub fn list_up_to<T: AsRef<str>>(items: &[T], most: usize) -> String {
    if items.len() <= most {
        return list(items);
    }
    let shown: Vec<&str> = items.iter().take(most - 1).map(AsRef::as_ref).collect();
    format!("{} and {} more", shown.join(", "), items.len() - shown.len())
}

/// A figure in the best unit of these.
pub fn in_units(value: f64, units: &[Unit]) -> String {
    best_unit(value, units).text(value)
}

/// The largest unit of which `value`, rounded to three digits, is at least one; the first for
/// smaller values.
pub fn best_unit(value: f64, units: &[Unit]) -> Unit {
    let reached = |unit: &&Unit| value.abs() >= unit.size * (1.0 - 0.5e-3);
    *units.iter().rev().find(reached).unwrap_or(&units[0])
}

/// A number with this many significant digits, without trailing zeros. Digits before the point are
/// never cut, and at most six follow it.
pub fn digits(value: f64, significant: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    // A figure that rounds up to the next power of ten has one more digit before the point.
    let rounded = value.abs() * (1.0 + 0.5 * 10_f64.powi(-significant));
    let decimals = (significant - 1 - rounded.log10().floor() as i32).clamp(0, 6);
    without_zeros(format!("{value:.decimals$}", decimals = decimals as usize))
}

fn without_zeros(number: String) -> String {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => number,
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&size(self.0 as f64))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&time(self.0 as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures_have_three_digits_and_the_unit_that_fits() {
        let sizes = [0.0, 512.0, 1000.0, 4096.0, 1536.0, 1.5e9, 1_047_552.0, 1_073_741_823.0, 5e18];
        assert_eq!(
            sizes.map(size),
            [
                "0 B", "512 B", "1000 B", "4 KiB", "1.5 KiB", "1.4 GiB", "1023 KiB", "1 GiB",
                "4.34 EiB"
            ]
        );
        let times = [0.0, 22.44, 850.0, 999.7, 81_340.0, 99_960.0, 1.5e6, 1.25e6, 2e10, 5e12];
        assert_eq!(
            times.map(time),
            [
                "0 ns", "22.4 ns", "850 ns", "1 µs", "81.3 µs", "100 µs", "1.5 ms", "1.25 ms",
                "20 s", "5000 s"
            ]
        );
        let counts = [0.0, 0.05, 9.96, 12.0, 999.4, 12_340.0, 999_700.0, 1.2e6, 1e12];
        assert_eq!(
            counts.map(count),
            ["0", "0.05", "9.96", "12", "999", "12.3 k", "1 M", "1.2 M", "1 T"]
        );
        assert_eq!([-1536.0, f64::NAN].map(size), ["-1.5 KiB", "0 B"]);
        let exact = [0, 4095, 4096, 1536, 1 << 30, 3 << 20].map(exact_size).join(", ");
        assert_eq!(exact, "0 B, 4095 B, 4 KiB, 1536 B, 1 GiB, 3 MiB");
        assert_eq!(rate(75_287_757.0), "71.8 MiB/s");
        assert_eq!([0.0, 0.004, 0.02, 0.0994, 0.12, 1.0].map(percent).join(" "), {
            "0 % 0.4 % 2 % 9.9 % 12 % 100 %"
        });
    }

    #[test]
    fn durations_have_two_units() {
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

    #[test]
    fn nouns_and_lists_are_english() {
        assert_eq!((counted(1, "run"), counted(2, "CPU")), ("1 run".into(), "2 CPUs".into()));
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list_up_to(&["a", "b", "c", "d"], 3), "a, b and 2 more");
        assert_eq!(list_up_to(&["a", "b", "c"], 3), "a, b and c");
        assert_eq!((list(&["a"]), list::<&str>(&[])), ("a".into(), String::new()));
    }

    #[test]
    fn units_show_themselves_in_the_width_asked_for() {
        assert_eq!(format!("{} [{:>7}]", Bytes(4096), Nanos(104_000)), "4 KiB [ 104 µs]");
    }

    proptest! {
        #[test]
        fn a_printed_figure_is_within_half_a_digit_of_its_value(value in 1e-3_f64..1e17) {
            for units in [SIZES, TIMES, COUNTS] {
                let text = in_units(value, units);
                let unit = best_unit(value, units);
                let figure: f64 = text.split(' ').next().unwrap().parse().unwrap();
                prop_assert!((figure * unit.size / value - 1.0).abs() <= 0.51e-2, "{value} {text}");
            }
        }
    }
}
