//! Parses the sizes of objects.

use record::Bytes;

/// Sizes of the objects of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// The same size for all.
    Fixed(Bytes),
    /// Any size between both, in steps of the smallest.
    Range(Bytes, Bytes),
    /// Sizes with their shares in percent.
    Shares(Vec<(Bytes, u32)>),
}

impl Sizes {
    /// The job option for these sizes.
    pub fn option(&self) -> String {
        match self {
            Sizes::Fixed(size) => format!("--bs={}", size.0),
            Sizes::Range(low, high) => format!("--bsrange={}-{}", low.0, high.0),
            Sizes::Shares(shares) => {
                let shares = shares.iter().map(|(size, share)| format!("{}/{share}", size.0));
                format!("--bssplit={}", shares.collect::<Vec<_>>().join(":"))
            }
        }
    }
}

/// "5m", "4k-1m" or "4k:50,1m:30,5m:20".
///
/// # Errors
/// What was expected.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    if text.contains(':') {
        let shares = text.split(',').map(share).collect::<Result<Vec<_>, _>>()?;
        let sum: u32 = shares.iter().map(|(_, share)| share).sum();
        return match sum {
            100 => Ok(Sizes::Shares(shares)),
            sum => Err(format!("the shares add up to {sum} %; they must add up to 100 %")),
        };
    }
    // A leading dash is a negative number, not a range.
    match text.split_once('-').filter(|(low, _)| !low.trim().is_empty()) {
        None => Ok(Sizes::Fixed(size(text)?)),
        Some((low, high)) => match (size(low)?, size(high)?) {
            (low, high) if low < high => Ok(Sizes::Range(low, high)),
            _ => Err("the range ends before it starts; give the smaller size first".into()),
        },
    }
}

fn share(text: &str) -> Result<(Bytes, u32), String> {
    let (bytes, share) = text.split_once(':').unwrap_or((text, ""));
    let share = share.trim().parse().ok().filter(|share| (1..=100).contains(share));
    let expected = || format!("expected SIZE:PERCENT, such as 4k:50, got '{text}'");
    Ok((size(bytes)?, share.ok_or_else(expected)?))
}

/// Parses a size. The units k, m, g, with or without "iB", are powers of 1024; kB, MB, GB of 1000.
///
/// # Errors
/// What was expected.
pub fn size(text: &str) -> Result<Bytes, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let expected = || format!("expected a size such as 512k, 5m or 5MiB, got '{text}'");
    let number: f64 = number.parse().map_err(|_| expected())?;
    let lower = unit.trim().to_ascii_lowercase();
    let (letter, decimal) = match lower.as_str() {
        "" | "b" => ("", false),
        unit => match unit.strip_suffix("ib").or(unit.strip_suffix('i')) {
            Some(letter) => (letter, false),
            None => unit.strip_suffix('b').map_or((unit, false), |letter| (letter, true)),
        },
    };
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == letter);
    let base: f64 = if decimal { 1000.0 } else { 1024.0 };
    let bytes = number * base.powi(power.ok_or_else(expected)? as i32);
    match (1.0..=5.0 * 1024_f64.powi(4)).contains(&bytes) {
        true => Ok(Bytes(bytes as u64)),
        false => {
            Err(format!("expected a size from 1 byte to 5 TiB, the limit of S3, got '{text}'"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_other_s3_tools() {
        let all = [
            ("4096", 4096),
            ("4k", 4096),
            ("5m", 5 << 20),
            ("5M", 5 << 20),
            ("5MiB", 5 << 20),
            ("5Mi", 5 << 20),
            ("5MB", 5_000_000),
            ("1.5g", 3 << 29),
            ("10b", 10),
        ];
        for (text, bytes) in all {
            assert_eq!(size(text), Ok(Bytes(bytes)), "{text}");
        }
        for wrong in ["", "m", "0", "-1", "5x", "5mm", "6t", "1e400", "1.2.3", "ib"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_size_a_range_and_shares_are_parsed() {
        assert_eq!(sizes("5m").unwrap().option(), "--bs=5242880");
        assert_eq!(sizes("4k-1m").unwrap().option(), "--bsrange=4096-1048576");
        let shares = sizes("4k:50,1m:30,5m:20").unwrap();
        assert_eq!(shares.option(), "--bssplit=4096/50:1048576/30:5242880/20");
        for wrong in ["1m-4k", "4k-4k", "4k:50", "4k:50,1m", "4k:50,1m:x", "4k:0,1m:100", "4k-"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["-1", "-4k-1m"] {
            let error = sizes(wrong).unwrap_err();
            assert!(error.ends_with(&format!("got '{wrong}'")), "{error}");
        }
    }
}
