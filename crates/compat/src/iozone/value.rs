//! Values of flags.

/// What is wrong with a value, and what to do.
pub type Wrong = (String, &'static str);

/// The name of a file.
pub fn named(text: &str) -> Result<String, Wrong> {
    match text.is_empty() {
        true => Err(("needs the name of a file".into(), "name one")),
        false => Ok(text.to_owned()),
    }
}

/// A whole number.
pub fn number(text: &str) -> Result<u64, Wrong> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = if digits { text.parse().ok() } else { None };
    value.ok_or_else(|| (format!("'{text}' is no number"), "give a whole number"))
}

/// One of 1 or more.
pub fn positive(text: &str) -> Result<u64, Wrong> {
    match number(text)? {
        0 => Err(("0 is too small".into(), "give 1 or more")),
        value => Ok(value),
    }
}

/// A share in per cent.
pub fn percent(text: &str) -> Result<u8, Wrong> {
    match number(text)? {
        share @ 0..=100 => Ok(share as u8),
        _ => Err((format!("'{text}' is no share in per cent"), "give 0 to 100")),
    }
}

/// The largest file the system can have, in kB.
const SIZE_MAX: u64 = (1 << 53) - 1;

/// A size in kB: a number of kB, or one with k, m or g behind it.
pub fn size(text: &str) -> Result<u64, Wrong> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1 << 10),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let wrong = || (format!("'{text}' is no size"), "give one such as 512 (kB), 64k, 4m or 1g");
    let value = if digits.is_empty() { None } else { number(digits).ok() };
    match value.ok_or_else(wrong)?.checked_mul(factor) {
        Some(0) => Err(("0 is no size".into(), "give 1 kB or more")),
        Some(size @ ..=SIZE_MAX) => Ok(size),
        _ => Err((format!("{text} is more than a file can hold"), "give a smaller size")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_kilobytes_unless_they_say_otherwise() {
        let sizes = [("4096", 4096), ("64k", 64), ("4m", 4096), ("1G", 1 << 20), ("4K", 4)];
        for (text, kb) in sizes {
            assert_eq!(size(text), Ok(kb), "{text}");
        }
        for wrong in
            ["", "k", "0", "-1", "4t", "4.5m", "é", "99999999999999999999", "9007199254740992"]
        {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
