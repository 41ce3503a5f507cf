//! Sizes as DISKSPD reads and prints them.

/// Units of a size, the largest first.
const UNITS: [(char, u64); 4] = [('T', 1 << 40), ('G', 1 << 30), ('M', 1 << 20), ('K', 1 << 10)];

/// A size: a whole number, then K, M, G, T (powers of 1024) or b (blocks of `block` bytes).
///
/// # Errors
/// What was expected.
pub(super) fn parse(text: &str, block: u64) -> Result<u64, String> {
    let expected =
        || format!("expected a whole number with K, M, G, T or b (blocks) behind it, got '{text}'");
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let factor = match suffix.to_ascii_uppercase().as_str() {
        "" => 1,
        "B" => block,
        unit => {
            let known = UNITS.iter().find(|(letter, _)| unit == letter.to_string());
            known.ok_or_else(expected)?.1
        }
    };
    let number: u64 = digits.parse().map_err(|_| expected())?;
    let size = number.checked_mul(factor).filter(|size| i64::try_from(*size).is_ok());
    size.ok_or_else(|| format!("'{text}' is more than any file can hold"))
}

/// A whole number from `low` to `high`.
///
/// # Errors
/// What was expected.
pub(super) fn number(text: &str, low: u64, high: u64) -> Result<u64, String> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if plain { text.parse().ok() } else { None };
    number
        .filter(|number| (low..=high).contains(number))
        .ok_or_else(|| format!("expected a whole number from {low} to {high}, got '{text}'"))
}

/// A size in the format of the report: "64KiB" if that is exact, else with two decimals
/// ("1.50MiB"), and plain bytes below 1 KiB.
pub(super) fn show(bytes: u64) -> String {
    let Some((letter, unit)) = UNITS.iter().find(|(_, unit)| bytes >= *unit) else {
        return format!("{bytes}B");
    };
    match bytes % unit {
        0 => format!("{}{letter}iB", bytes / unit),
        _ => format!("{:.2}{letter}iB", bytes as f64 / *unit as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_1024_and_blocks() {
        for (text, size) in [
            ("0", 0),
            ("512", 512),
            ("4K", 4096),
            ("4k", 4096),
            ("3m", 3 << 20),
            ("2G", 2 << 30),
            ("1t", 1 << 40),
            ("3b", 3 * 8192),
        ] {
            assert_eq!(parse(text, 8192), Ok(size), "{text}");
        }
        for wrong in ["", "K", "-1", "1.5K", "4KB", "4 K", "1P", "99999999999T", "0x10", "٣"] {
            assert!(parse(wrong, 4096).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_keep_to_their_bounds() {
        assert_eq!(number("100", 0, 100), Ok(100));
        for wrong in ["", "101", "-1", "+1", "1 ", "x", "99999999999999999999999"] {
            assert!(number(wrong, 0, 100).unwrap_err().contains("0 to 100"), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        for (size, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (4096, "4KiB"),
            (65536, "64KiB"),
            (1536 << 10, "1.50MiB"),
            (1 << 30, "1GiB"),
            (3 << 40, "3TiB"),
        ] {
            assert_eq!(show(size), text);
        }
    }
}
