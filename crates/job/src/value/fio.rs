//! Values that fio reads otherwise than they look: it takes the number at their beginning and passes
//! over the rest. Under the name fio they are taken so, with a warning; `fathom run` refuses them.
//!
//! Not taken are values whose reading is senseless: `0.5g` is 0, `1.5m` is 1 byte, `5sec` is 5 µs, `1m30s` is
//! 1 µs and `-1` is 4294967295.

use super::number::size_unit;
use super::{Kind, OptionDef, Units};
use record::Nanos;

/// The value that fio reads from `text`, as it should be written; `None` if fio refuses `text` too,
/// if its reading is senseless, or if it reads what is written.
pub(crate) fn as_fio(def: &OptionDef, text: &str) -> Option<String> {
    let text = text.trim();
    let read = match def.kind {
        Kind::Int { lists: true, .. } => each_part(text, ',', leading_number),
        Kind::Int { .. } | Kind::Size { .. } => leading_number(text),
        Kind::Time { bare, range: false } if bare == Nanos::SECOND => whole_seconds(text),
        Kind::Bool => leading_number(text).or_else(|| minus_one(text)),
        Kind::Flag => match text.strip_prefix('-').unwrap_or(text).parse::<u64>() {
            Ok(number) => Some(u64::from(number > 0).to_string()),
            Err(_) => leading_number(text),
        },
        Kind::Floats { .. } => each_part(text, ':', leading_float),
        Kind::Text if def.name == "bssplit" => each_part(text, ',', up_to_all),
        _ => None,
    };
    read.filter(|read| read != text)
}

/// Each part of a list, read by `one`.
fn each_part(text: &str, separator: char, one: fn(&str) -> Option<String>) -> Option<String> {
    let parts: Option<Vec<String>> = text.split(separator).map(one).collect();
    Some(parts?.join(&separator.to_string()))
}

/// The number at the beginning: of `4x`, `1e3`, `2.5`. None of a value that has a unit behind what fio
/// passes over, for fio passes over the unit as well.
fn leading_number(text: &str) -> Option<String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    if size_unit(rest, Units::default()).is_some() {
        return Some(text.to_owned());
    }
    let has_unit = |c: char| "kmgtp%z-:x ".contains(c.to_ascii_lowercase());
    let is_tail = !number.is_empty() && (rest == "x" || !rest.contains(has_unit));
    is_tail.then(|| number.to_owned())
}

fn minus_one(text: &str) -> Option<String> {
    (text == "-1").then(|| "1".to_owned())
}

/// `1.5s` is one second.
fn whole_seconds(text: &str) -> Option<String> {
    let (whole, fraction) = text.strip_suffix(['s', 'S'])?.split_once('.')?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (is_number(whole) && is_number(fraction)).then(|| format!("{whole}s"))
}

/// The number at the beginning of `99,9`.
fn leading_float(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text[..end].parse::<f64>().ok().map(|_| text[..end].to_owned())
}

/// The entries of a split with their shares, of which those above 100 in all are cut: the sizes are drawn
/// in their order.
fn up_to_all(list: &str) -> Option<String> {
    let mut left = 100_u32;
    let entries: Option<Vec<String>> = list
        .split(':')
        .map(|entry| {
            let Some((size, share)) = entry.split_once('/') else { return Some(entry.to_owned()) };
            let share = share.trim().parse::<u32>().ok()?.min(left);
            left -= share;
            Some(format!("{size}/{share}"))
        })
        .collect();
    Some(entries?.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options;

    #[test]
    fn fio_takes_the_number_at_the_beginning() {
        for (name, text, read) in [
            ("iodepth", "4x", "4"),
            ("iodepth", "1e3", "1"),
            ("iodepth", "2.5", "2"),
            ("numjobs", "1.9", "1"),
            ("rwmixread", "70.5", "70"),
            ("bs", "4096x,8k", "4096,8k"),
            ("runtime", "1.5s", "1s"),
            ("percentile_list", "99,9", "99"),
            ("percentile_list", "50:99,9", "50:99"),
            ("direct", "-1", "1"),
            ("time_based", "2", "1"),
            ("time_based", "-1", "1"),
            ("bssplit", "4k/60:8k/60", "4k/60:8k/40"),
        ] {
            let def = options::find(name).unwrap();
            assert_eq!(as_fio(def, text).as_deref(), Some(read), "{name}={text}");
        }
    }

    #[test]
    fn senseless_readings_are_none() {
        for (name, text) in [
            ("rate", "1.5m"),
            ("size", "0.5g"),
            ("bs", "1.5k"),
            ("runtime", "5sec"),
            ("runtime", "5min"),
            ("runtime", "1m30s"),
            ("iodepth", "-1"),
            ("iodepth", "x"),
            ("iodepth", "4k"),
            ("iodepth", ""),
            ("size", "1kk"),
            ("direct", "true"),
            ("bssplit", "4k/x"),
        ] {
            let def = options::find(name).unwrap();
            assert_eq!(as_fio(def, text), None, "{name}={text}");
        }
    }
}
