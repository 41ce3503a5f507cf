//! Whole numbers, sizes and durations with their suffixes.

use super::expression;
use crate::model::Size;
use record::{Bytes, Nanos};

/// How suffixes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// 1024: `k` and `kb` are 1024 and, as fio has kept it since its early days, `kib` is 1000.
    /// 1000: `k` and `kb` are 1000 and `kib` is 1024, as the standards say.
    pub kb_base: u32,
}

impl Default for Units {
    fn default() -> Self {
        Units { kb_base: 1024 }
    }
}

pub(super) const EXPECTED: &str = "a number with an optional suffix (k, m, g, t, p)";
pub(super) const EXPECTED_TIME: &str =
    "a whole number with an optional unit (d, h, m, s, ms, us, ns)";

/// What a suffix of a size multiplies by: `k`, `kb`, `ki`, `kib` and so on up to `p`, in any case;
/// `b` is one byte.
pub(super) fn size_unit(suffix: &str, units: Units) -> Option<i128> {
    let suffix = suffix.to_ascii_lowercase();
    let mut letters = suffix.chars();
    let power = match letters.next() {
        None => return Some(1),
        Some('b') if suffix.len() == 1 => return Some(1),
        Some(letter) => "kmgtp".find(letter)? as u32 + 1,
    };
    let plain = i128::from(units.kb_base);
    let base = match letters.as_str() {
        "" | "b" | "i" => plain,
        // The other one of 1000 and 1024.
        "ib" => 2024 - plain,
        _ => return None,
    };
    Some(base.pow(power))
}

/// What a unit of time is in nanoseconds.
pub(super) fn time_unit(suffix: &str) -> Option<i128> {
    const SECOND: i128 = 1_000_000_000;
    Some(match suffix.to_ascii_lowercase().as_str() {
        "d" => 86_400 * SECOND,
        "h" => 3_600 * SECOND,
        "m" => 60 * SECOND,
        "s" => SECOND,
        "ms" | "msec" => SECOND / 1_000,
        "us" | "usec" => 1_000,
        "ns" | "nsec" => 1,
        _ => return None,
    })
}

/// A whole number with a suffix of size, or an expression in parentheses. Any sign is allowed; the
/// result fits an i64.
pub(crate) fn whole_number(text: &str, units: Units) -> Result<i64, String> {
    let fail = || format!("expected {EXPECTED}, got '{text}'");
    let number = match expression::leading(text, |suffix| size_unit(suffix, units))? {
        Some((number, rest)) => {
            number.checked_mul(size_unit(rest, units).ok_or_else(fail)?).ok_or_else(fail)?
        }
        None => plain(text, &fail, |suffix| size_unit(suffix, units))?,
    };
    i64::try_from(number).map_err(|_| format!("'{text}' is beyond what 63 bits can hold"))
}

/// A size that is not negative, in bytes.
pub(crate) fn size_number(text: &str, units: Units) -> Result<Bytes, String> {
    let number = whole_number(text, units)?;
    u64::try_from(number).map(Bytes).map_err(|_| format!("must not be negative, got '{text}'"))
}

/// Digits, decimal or with 0x, then a unit.
fn plain(
    text: &str,
    fail: &dyn Fn() -> String,
    unit: impl Fn(&str) -> Option<i128>,
) -> Result<i128, String> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let magnitude = match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) && !hex.is_empty() => {
            i128::from_str_radix(hex, 16).map_err(|_| fail())?
        }
        Some(_) => return Err(format!("{}; hexadecimal numbers take no suffix", fail())),
        None => {
            let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
            let number: i128 = unsigned[..digits].parse().map_err(|_| fail())?;
            let factor = unit(&unsigned[digits..]).ok_or_else(fail)?;
            number.checked_mul(factor).ok_or_else(fail)?
        }
    };
    Ok(if negative { -magnitude } else { magnitude })
}

/// The whole part of a decimal fraction; other texts as they are.
fn without_fraction(text: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, fraction)) if is_number(whole) && is_number(fraction) => whole,
        _ => text,
    }
}

/// A duration; a number without unit counts in `bare`, inside parentheses in microseconds.
pub(crate) fn duration(text: &str, bare: Nanos) -> Result<Nanos, String> {
    let fail = || format!("expected {EXPECTED_TIME}, got '{text}'");
    let in_micros = |suffix: &str| match suffix {
        "" => Some(1),
        unit => time_unit(unit).filter(|ns| ns % 1_000 == 0).map(|ns| ns / 1_000),
    };
    let nanos = match expression::leading(text, in_micros)? {
        Some((number, "")) => number.checked_mul(1_000).ok_or_else(fail)?,
        Some((number, unit)) => {
            number.checked_mul(time_unit(unit).ok_or_else(fail)?).ok_or_else(fail)?
        }
        // fio reads a hexadecimal time as microseconds whatever the option counts in.
        None if text.starts_with("0x") || text.starts_with("0X") => return Err(fail()),
        // As in fio, the fraction of a number without a unit is left out.
        None => plain(without_fraction(text), &fail, |suffix| match suffix {
            "" => Some(i128::from(bare.0)),
            unit => time_unit(unit.trim_start()),
        })?,
    };
    u64::try_from(nanos).map(Nanos).map_err(|_| match nanos {
        ..0 => format!("a time must not be negative, got '{text}'"),
        _ => format!("'{text}' is longer than 584 years"),
    })
}

/// A size, per cent of the target, or a number of zones.
pub(super) fn size(text: &str, percent: bool, zones: bool, units: Units) -> Result<Size, String> {
    if let Some(number) = text.strip_suffix('%').filter(|_| percent) {
        return match number.trim().parse::<f64>() {
            Ok(share) if (0.0..=100.0).contains(&share) => Ok(Size::Percent(share)),
            _ => Err(format!("expected a percentage from 0% to 100%, got '{text}'")),
        };
    }
    if let Some(number) = text.strip_suffix('z').filter(|_| zones) {
        return number
            .parse()
            .map(Size::Zones)
            .map_err(|_| format!("expected a number of zones such as 3z, got '{text}'"));
    }
    size_number(text, units).map(Size::Bytes).map_err(|error| match percent {
        true => format!("{error}; a percentage such as 20% is allowed too"),
        false => error,
    })
}
