//! Sizes and numbers that are exact rather than measured, in words.

/// "512 B", "4 KiB", "1.5 GiB": at most one decimal, and none where there is nothing to say.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    // What would round to 1024 is one of the next unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

/// Digits in groups of three: "36 887".
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// CPU numbers as the kernel lists them: "0-3,8".
pub(super) fn cpus(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_one_decimal_at_most() {
        for (bytes, text) in [
            (0, "0 B"),
            (512, "512 B"),
            (4096, "4 KiB"),
            (1_610_612_736, "1.5 GiB"),
            (1_073_741_823, "1 GiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn numbers_and_lists_read_well() {
        assert_eq!(
            [grouped(368), grouped(36_887), grouped(1_000_000)],
            ["368", "36 887", "1 000 000"]
        );
        assert_eq!(cpus(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
    }
}
