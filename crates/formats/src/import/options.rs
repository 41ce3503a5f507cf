//! The options that fio prints with its results.

use record::{Bytes, Direction, Nanos, PerDirection};
use serde_json::Value;

/// Names and values of an object of options.
pub(super) fn pairs(object: &Value) -> Vec<(String, String)> {
    let pair = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), value)
    };
    object.as_object().into_iter().flatten().map(pair).collect()
}

/// The options of a job; its own take precedence over the global ones.
pub(super) struct Options<'a> {
    pub(super) own: &'a [(String, String)],
    pub(super) globals: &'a [(String, String)],
}

impl Options<'_> {
    /// The value of an option under any of its names.
    pub(super) fn get(&self, names: &[&str]) -> Option<&str> {
        let named = |(name, _): &&(String, String)| names.contains(&name.as_str());
        let found = self.own.iter().find(named).or_else(|| self.globals.iter().find(named));
        found.map(|(_, value)| value.as_str())
    }

    /// The pattern without its suffix; fio's default is to read.
    pub(super) fn rw(&self) -> String {
        let value = self.get(&["rw", "readwrite"]).unwrap_or("read");
        value.split(':').next().unwrap_or_default().to_owned()
    }

    pub(super) fn is_on(&self, names: &[&str]) -> bool {
        self.get(names).is_some_and(|value| value != "0")
    }

    /// A length of time.
    pub(super) fn time(&self, names: &[&str]) -> Option<Nanos> {
        time(self.get(names)?)
    }

    fn base(&self) -> u64 {
        if self.get(&["kb_base"]) == Some("1000") { 1000 } else { 1024 }
    }

    /// A size.
    pub(super) fn size(&self, names: &[&str]) -> Option<Bytes> {
        size(self.get(names)?, self.base()).map(Bytes)
    }

    /// Smallest and largest block of each direction; `None` when the options do not set them.
    pub(super) fn blocks(&self) -> Option<PerDirection<(Bytes, Bytes)>> {
        let range = self.get(&["bsrange", "blocksize_range"]);
        let value = range.or_else(|| self.get(&["bs", "blocksize"]))?;
        if self.get(&["bssplit"]).is_some() {
            return None;
        }
        let one = |text: &str| {
            let (low, high) = text.split_once('-').unwrap_or((text, text));
            Some((Bytes(size(low, self.base())?), Bytes(size(high, self.base())?)))
        };
        // A missing value is that of the direction before.
        let mut parts = value.split(',');
        let read = one(parts.next()?)?;
        let write = parts.next().map_or(Some(read), one)?;
        let trim = parts.next().map_or(Some(write), one)?;
        Some(PerDirection::from_fn(|direction| match direction {
            Direction::Read => read,
            Direction::Write => write,
            Direction::Trim => trim,
        }))
    }
}

/// A size such as "4k", "1M", "512" or "64KiB". fio ignores the case of units; `base` is 1024 or 1000.
fn size(text: &str, base: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(unit);
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == unit)?;
    number.parse::<u64>().ok()?.checked_mul(base.checked_pow(power as u32)?)
}

/// A time such as "10", "500ms" or "2m"; without a unit it is in seconds.
fn time(text: &str) -> Option<Nanos> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit {
        "" | "s" => 1_000_000_000,
        "ms" | "msec" => 1_000_000,
        "us" | "usec" => 1000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_as_fio_reads_them() {
        for (text, bytes) in [("4k", 4096), ("1M", 1 << 20), ("512", 512), ("64KiB", 65536)] {
            assert_eq!(size(text, 1024), Some(bytes), "{text}");
        }
        assert_eq!(size("4k", 1000), Some(4000));
        for none in ["", "k", "4x", "-4k", "20%", "99999999999999999999", "9999999999p"] {
            assert_eq!(size(none, 1024), None, "{none}");
        }
        assert_eq!(time("500ms"), Some(Nanos::from_millis(500)));
        assert_eq!(time("2m"), Some(Nanos::from_millis(120_000)));
        assert_eq!((time("x"), time("99999999999999h")), (None, None));
    }

    #[test]
    fn a_direction_without_a_block_size_has_that_of_the_one_before() {
        let own = [("bs".to_owned(), "8k,4k-16k".to_owned())];
        let options = Options { own: &own, globals: &[] };
        let blocks = options.blocks().unwrap();
        assert_eq!(blocks.read, (Bytes(8192), Bytes(8192)));
        assert_eq!((blocks.write, blocks.trim), ((Bytes(4096), Bytes(16384)), blocks.write));
        assert_eq!(options.rw(), "read");
    }
}
