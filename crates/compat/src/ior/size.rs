//! Numbers as IOR reads them, and sizes as it prints them.

/// A whole number with k, m, g, t or p behind it, in powers of 1024.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return Err(wrong(text)),
    };
    let value: u64 = digits.parse().map_err(|_| wrong(text))?;
    value.checked_mul(1 << shift).ok_or_else(|| format!("'{text}' is too large"))
}

fn wrong(text: &str) -> String {
    format!("'{text}' is not a whole number, with k, m, g, t or p behind it if need be")
}

/// "262144 bytes", "1 MiB", "1.50 GiB".
pub(super) fn shown(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    let unit = units.into_iter().find(|(size, _)| bytes >= *size);
    match unit {
        Some((size, name)) if bytes.is_multiple_of(size) => format!("{} {name}", bytes / size),
        Some((size, name)) => format!("{:.2} {name}", bytes as f64 / size as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown_as_iors() {
        assert_eq!(number("4k"), Ok(4096));
        assert_eq!(number("1G"), Ok(1 << 30));
        assert_eq!(number("47008"), Ok(47008));
        for bad in ["", "k", "1.5m", "4kb", "-1", "9999999p"] {
            assert!(number(bad).is_err(), "{bad}");
        }
        assert_eq!(shown(262_144), "262144 bytes");
        assert_eq!(shown(1 << 20), "1 MiB");
        assert_eq!(shown(3 << 29), "1.50 GiB");
    }
}
