//! Numbers in the formats of dd.

/// The number of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Its value.
    pub value: u64,
    /// It counts bytes, not blocks: it contains a "B".
    pub is_bytes: bool,
}

/// Parses a number: factors separated by "x", each with a suffix (c 1, w 2, b 512, K 1024, kB 1000, KiB
/// 1024, and so on for M, G, T, P, E). `None`: not a number, or too large.
pub(super) fn number(text: &str) -> Option<Number> {
    let factors = text.split('x').map(factor);
    let value = factors.reduce(|a, b| a?.checked_mul(b?))??;
    Some(Number { value, is_bytes: text.contains('B') })
}

fn factor(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (digits, suffix) = text.split_at(digits);
    let value: u64 = digits.parse().ok()?;
    let unit = match suffix {
        "" | "c" | "B" => 1,
        "w" => 2,
        "b" => 512,
        _ => {
            let mut letters = suffix.chars();
            let letter = letters.next().map(|letter| if letter == 'k' { 'K' } else { letter })?;
            let power = 1 + "KMGTPE".find(letter)? as u32;
            match letters.as_str() {
                "" | "iB" => 1024_u64.pow(power),
                "B" => 1000_u64.pow(power),
                _ => return None,
            }
        }
    };
    value.checked_mul(unit)
}

const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// A size as dd prints it: with one decimal below ten, rounded half to even. "4.2 M" in decimal units,
/// "4.0 Mi" in binary units. The formats of `record::human` differ.
pub(super) fn size(bytes: u64, is_binary: bool) -> String {
    let (base, units) = if is_binary { (1024.0, BINARY) } else { (1000.0, DECIMAL) };
    let (mut scaled, mut unit) = (bytes as f64, 0);
    while scaled >= base && unit + 1 < units.len() {
        scaled /= base;
        unit += 1;
    }
    // Rounding may reach the next unit.
    if scaled.round_ties_even() >= base && unit + 1 < units.len() {
        (scaled, unit) = (1.0, unit + 1);
    }
    let tenths = (scaled * 10.0).round_ties_even();
    match unit > 0 && tenths < 100.0 {
        true => format!("{:.1} {}", tenths / 10.0, units[unit]),
        false => format!("{:.0} {}", scaled.round_ties_even(), units[unit]),
    }
}

/// A rate as dd prints it, without its unit: in "k" or more, with one decimal below a hundred.
pub(super) fn rate(per_second: f64) -> String {
    let (mut scaled, mut unit) = (per_second / 1000.0, 1);
    while scaled >= 1000.0 && unit + 1 < DECIMAL.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    let text = format!("{scaled:.1}");
    let text = if text.len() > 4 { format!("{scaled:.0}") } else { text };
    format!("{text} {}", DECIMAL[unit])
}

/// Six significant digits, as `%g` of C prints them.
pub(super) fn general(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        return without_zeros(&format!("{value:.decimals$}", decimals = (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_factors_and_suffixes() {
        let known = [
            ("0", 0),
            ("512", 512),
            ("3c", 3),
            ("2w", 4),
            ("2b", 1024),
            ("32K", 32 << 10),
            ("32k", 32 << 10),
            ("1kB", 1000),
            ("1KiB", 1024),
            ("4M", 4 << 20),
            ("1MB", 1_000_000),
            ("2x3", 6),
            ("2Kx512", 1 << 20),
            ("7E", 7 << 60),
        ];
        for (text, value) in known {
            assert_eq!(number(text).map(|n| n.value), Some(value), "{text}");
        }
        for wrong in ["", "x", "K", "-1", "1x", "1.5", "1Q", "1KB2", "1KiBx", "99E", "1kb", "1é"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_number_with_a_b_counts_bytes() {
        let is_bytes = |text| number(text).unwrap().is_bytes;
        assert!(is_bytes("10B") && is_bytes("1kB") && is_bytes("2x1KiB"));
        assert!(!is_bytes("10b") && !is_bytes("10K"));
    }

    #[test]
    fn sizes_are_printed_as_dd_prints_them() {
        let decimal = [
            (512, "512 "),
            (999, "999 "),
            (1000, "1.0 k"),
            (1024, "1.0 k"),
            (4_194_304, "4.2 M"),
            (9_949_999, "9.9 M"),
            (9_960_000, "10 M"),
            (10_485_760, "10 M"),
            (67_108_864, "67 M"),
            (999_600, "1.0 M"),
        ];
        for (value, text) in decimal {
            assert_eq!(size(value, false), text, "{value}");
        }
        let binary = [(512, "512 "), (1024, "1.0 Ki"), (67_108_864, "64 Mi")];
        for (value, text) in binary {
            assert_eq!(size(value, true), text, "{value}");
        }
    }

    #[test]
    fn rates_are_printed_as_dd_prints_them() {
        let known = [
            (500.0, "0.5 k"),
            (1_700_000.0, "1.7 M"),
            (88_930_000.0, "88.9 M"),
            (536_300_000.0, "536 M"),
            (17_200_796_707.0, "17.2 G"),
        ];
        for (value, text) in known {
            assert_eq!(rate(value), text);
        }
    }

    #[test]
    fn seconds_are_printed_as_c_prints_them() {
        let known = [
            (0.000_609_609, "0.000609609"),
            (1.5, "1.5"),
            (0.0, "0"),
            (12.345_678, "12.3457"),
            (0.000_012_5, "1.25e-05"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.6, "1e+06"),
            (100.0, "100"),
        ];
        for (value, text) in known {
            assert_eq!(general(value), text);
        }
    }
}
