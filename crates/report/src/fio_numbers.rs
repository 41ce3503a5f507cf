//! Numbers in fio's layouts: a few characters and a unit.

use record::named;

/// Letters of the powers of the base, from the zeroth.
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// `value` divided by a power of `base` until its whole part has at most `figures` digits, with as
/// many decimals as fit beside the whole part and a point in `figures` characters. Returns the
/// text and the power. A value that fits is shown unchanged, without decimals.
fn shorten(value: u64, figures: u32, base: u64) -> (String, usize) {
    // Only the remainder of the last division makes the decimals, as in fio: 9.9951 MiB (9 MiB and 1018
    // whole KiB) becomes 9.99.
    let (mut whole, mut rest, mut power) = (value, 0, 0);
    while digits(whole) > figures.max(1) && power + 1 < DECIMAL.len() {
        (whole, rest, power) = (whole / base, whole % base, power + 1);
    }
    let spare = figures.saturating_sub(digits(whole) + 1);
    let decimals = if power == 0 { 0 } else { spare.min(15) as usize };
    if decimals == 0 {
        whole += u64::from(rest * 2 >= base);
        return (whole.to_string(), power);
    }
    // The fraction is rounded on its own, as a double, as in fio: 99.95 becomes 99.9.
    let fraction = format!("{:.decimals$}", rest as f64 / base as f64);
    whole += u64::from(fraction.starts_with('1'));
    let text = format!("{whole}{}", &fraction[1..]);
    (text, power)
}

fn digits(value: u64) -> u32 {
    value.checked_ilog10().unwrap_or(0) + 1
}

/// A count, shortened with `k`, `M` …: `count(18_370, 4)` is "18.4k".
pub fn count(value: u64, figures: u32) -> String {
    let (text, power) = shorten(value, figures, 1000);
    text + DECIMAL[power]
}

/// How a job shows sizes and bandwidths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeStyle {
    /// 1024 or 1000: which form comes first.
    pub kb_base: u32,
    /// Bandwidth in bits.
    pub bits: bool,
    /// Characters a number may take.
    pub figures: u32,
}

impl Default for SizeStyle {
    fn default() -> Self {
        SizeStyle { kb_base: 1024, bits: false, figures: 4 }
    }
}

impl SizeStyle {
    /// The style of a job's options `kb_base`, `unit_base` and `significant_figures`.
    pub fn from_options(show: &record::Show) -> Self {
        SizeStyle {
            kb_base: show.kb_base,
            bits: show.unit_base == 1,
            figures: show.significant_figures,
        }
    }

    /// A size in the job's base: "4096KiB", or "4194kB" with kb_base=1000.
    pub fn size(&self, bytes: u64) -> String {
        self.amount(bytes, self.kb_base != 1000, "B")
    }

    /// A size in the other base.
    pub fn size_other(&self, bytes: u64) -> String {
        self.amount(bytes, self.kb_base == 1000, "B")
    }

    /// A bandwidth in the job's base: "71.8MiB/s"; in bits where the job asks for them.
    pub fn rate(&self, bytes_per_second: f64) -> String {
        self.rate_in(bytes_per_second, self.kb_base != 1000)
    }

    /// A bandwidth in the other base.
    pub fn rate_other(&self, bytes_per_second: f64) -> String {
        self.rate_in(bytes_per_second, self.kb_base == 1000)
    }

    fn rate_in(&self, bytes_per_second: f64, binary: bool) -> String {
        let bytes = bytes_per_second as u64;
        match self.bits {
            true => self.amount(bytes.saturating_mul(8), binary, "bit") + "/s",
            false => self.amount(bytes, binary, "B") + "/s",
        }
    }

    fn amount(&self, value: u64, binary: bool, unit: &str) -> String {
        let (base, prefixes) = if binary { (1024, BINARY) } else { (1000, DECIMAL) };
        let (text, power) = shorten(value, self.figures, base);
        format!("{text}{}{unit}", prefixes[power])
    }
}

/// A bandwidth as the status line shows it: counted in whole KiB a second, so that a slow one has
/// no decimals.
pub fn live_rate(bytes_per_second: f64) -> String {
    let bytes = bytes_per_second as u64;
    if bytes < 1024 {
        return format!("{bytes}B/s");
    }
    let (text, power) = shorten(bytes / 1024, 4, 1024);
    format!("{text}{}B/s", BINARY[(power + 1).min(6)])
}

/// Nanoseconds, microseconds or milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// "nsec"
    Nano,
    /// "usec"
    Micro,
    /// "msec"
    Milli,
}

named!(TimeUnit: Nano "nsec", Micro "usec", Milli "msec");

impl TimeUnit {
    /// The unit for values from `min` to `max` ns: a larger unit is used if the smallest value is more than
    /// 2 of it and the largest is at least 100 of it.
    pub fn for_range(min: u64, max: u64) -> Self {
        match () {
            () if min > 2_000_000 && max > 99_999_999 => TimeUnit::Milli,
            () if min > 2_000 && max > 99_999 => TimeUnit::Micro,
            () => TimeUnit::Nano,
        }
    }

    /// The unit for a line of min, max, average and deviation: as [`Self::for_range`], and only
    /// when the deviation is above 1 of it too.
    pub fn for_stats(min: u64, max: u64, deviation: f64) -> Self {
        match Self::for_range(min, max) {
            TimeUnit::Milli if deviation > 1e6 => TimeUnit::Milli,
            TimeUnit::Milli | TimeUnit::Micro if deviation > 1e3 => TimeUnit::Micro,
            _ => TimeUnit::Nano,
        }
    }

    /// Nanoseconds in one.
    pub fn nanos(self) -> u64 {
        match self {
            TimeUnit::Nano => 1,
            TimeUnit::Micro => 1_000,
            TimeUnit::Milli => 1_000_000,
        }
    }
}

/// Milliseconds as reports show run times: rounded, and never 0 for something that took time.
pub fn millis(ns: u64) -> u64 {
    let rounded = (ns + 500_000) / 1_000_000;
    if ns > 0 { rounded.max(1) } else { 0 }
}

/// A percentage with this many decimals; one above 0 is never shown as 0.
pub fn percent(value: f64, decimals: usize) -> String {
    let least = 10_f64.powi(-(decimals as i32));
    let shown = if value > 0.0 { value.max(least) } else { value };
    format!("{shown:.decimals$}%")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_read_as_the_oracle_writes_them() {
        let style = SizeStyle::default();
        for line in include_str!("../tests/data/sizes.txt").lines() {
            let [bytes, binary, decimal] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let bytes: u64 = bytes.parse().unwrap();
            assert_eq!(style.size(bytes), binary, "{bytes}");
            assert_eq!(style.size_other(bytes), decimal, "{bytes}");
        }
    }

    #[test]
    fn counts_and_rates_read_as_the_oracle_writes_them() {
        let counts = [(999, "999"), (3_752_000, "3752k"), (18_370, "18.4k"), (12_192_744, "12.2M")];
        for (value, text) in counts {
            assert_eq!(count(value, 4), text);
        }
        assert_eq!(count(1_060_100, 6), "1060.1k");
        assert_eq!(count(963_365, 6), "963365");
        let bits = SizeStyle { bits: true, ..SizeStyle::default() };
        assert_eq!(bits.rate(349_525_333.0), "2667Mibit/s");
        assert_eq!(bits.rate_other(349_525_333.0), "2796Mbit/s");
        assert_eq!(SizeStyle { figures: 10, ..bits }.rate(126_933.0), "1015464bit/s");
        let decimal = SizeStyle { kb_base: 1000, figures: 6, ..SizeStyle::default() };
        assert_eq!(decimal.rate(524_288_000.0), "524288kB/s");
        assert_eq!(decimal.rate_other(524_288_000.0), "512000KiB/s");
        assert_eq!(decimal.size(4_194_304), "4194.3kB");
    }

    #[test]
    fn live_rates_have_no_decimals_below_ten_mebibytes() {
        assert_eq!(live_rate(101_376.0), "99KiB/s");
        assert_eq!(live_rate(21_495_808.0), "20.5MiB/s");
        assert_eq!(live_rate(0.0), "0B/s");
        assert_eq!(live_rate(47_244_640_256.0), "44.0GiB/s");
    }

    #[test]
    fn time_units_follow_smallest_largest_and_deviation() {
        assert_eq!(TimeUnit::for_stats(541, 963_365, 27_656.0), TimeUnit::Nano);
        assert_eq!(TimeUnit::for_stats(3_815, 79_428, 6_632.0), TimeUnit::Nano);
        assert_eq!(TimeUnit::for_stats(3_635, 195_160, 10_687.0), TimeUnit::Micro);
        assert_eq!(TimeUnit::for_stats(2_100_000, 411_000_000, 7e6), TimeUnit::Milli);
        assert_eq!(TimeUnit::for_stats(3_635, 195_160, 900.0), TimeUnit::Nano);
    }

    #[test]
    fn a_short_time_is_not_shown_as_zero() {
        assert_eq!((millis(0), millis(1), millis(1_499_999), millis(1_500_000)), (0, 1, 1, 2));
    }

    proptest! {
        #[test]
        fn a_number_keeps_its_length_and_its_value(value: u64, figures in 1_u32..11) {
            let (text, power) = shorten(value, figures, 1000);
            // Rounding may add one digit (9999.6 k is written 10000k).
            prop_assert!(power == 6 || text.len() as u32 <= figures + 1, "{text}");
            let back: f64 = text.parse::<f64>().unwrap() * 1000_f64.powi(power as i32);
            let step = 1000_f64.powi(power as i32);
            prop_assert!((back - value as f64).abs() <= step * 0.51 + value as f64 * 1e-12);
        }
    }
}
