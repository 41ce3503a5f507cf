//! The depths to measure.

/// The default depths, each twice the one before.
pub const DEPTHS: &str = "1,2,4..256";

/// Maximum depth of a thread: the maximum number of io_uring's entries.
const DEEPEST: u32 = 32_768;

/// Depths in rising order, from a list such as "1,8,32" or "1,2,4..256". A range continues the two
/// numbers before its end: it doubles if they double, else it steps by their difference; "4..256"
/// alone doubles. Its end is always included.
pub fn depths(text: &str) -> Result<Vec<u32>, String> {
    let mut all: Vec<u32> = Vec::new();
    for item in text.split(',') {
        match item.split_once("..") {
            None => all.push(number(item)?),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if to <= from {
                    return Err(format!("'{item}' does not rise"));
                }
                let step = all.last().filter(|last| from != **last * 2);
                let step = step.map(|last| from.checked_sub(*last).filter(|step| *step > 0));
                let step = match step {
                    Some(None) => return Err(format!("{from} before '..' does not rise")),
                    Some(step) => step,
                    None => None,
                };
                let next = |depth: &u32| Some(step.map_or(depth * 2, |step| depth + step));
                all.extend(std::iter::successors(Some(from), next).take_while(|d| *d < to));
                all.push(to);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn number(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(depth) if (1..=DEEPEST).contains(&depth) => Ok(depth),
        _ => Err(format!(
            "expected depths from 1 to {DEEPEST}, such as 1,8,32 or {DEPTHS}, not '{}'",
            text.trim()
        )),
    }
}

/// The depths half-way from one of the measured ones to its neighbours.
pub(super) fn around(measured: &[u32], depth: u32) -> Vec<u32> {
    let below = measured.iter().copied().filter(|d| *d < depth).max();
    let above = measured.iter().copied().filter(|d| *d > depth).min();
    let middle = |other: u32| other.abs_diff(depth) / 2 + other.min(depth);
    let middles = below.into_iter().chain(above).map(middle);
    middles.filter(|middle| !measured.contains(middle)).collect()
}

/// The quarters of the way from one of the measured depths to the next deeper one.
pub(super) fn above(measured: &[u32], depth: u32) -> Vec<u32> {
    let Some(above) = measured.iter().copied().filter(|d| *d > depth).min() else {
        return Vec::new();
    };
    let mut quarters: Vec<u32> = (1..4).map(|part| depth + (above - depth) * part / 4).collect();
    quarters.retain(|quarter| !measured.contains(quarter));
    quarters.dedup();
    quarters
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_and_ranges_are_depths() {
        let known = [
            (DEPTHS, vec![1, 2, 4, 8, 16, 32, 64, 128, 256]),
            ("32, 8,1,8", vec![1, 8, 32]),
            ("4..20", vec![4, 8, 16, 20]),
            ("1,3..8", vec![1, 3, 5, 7, 8]),
            ("7", vec![7]),
            ("16384..32768", vec![16_384, 32_768]),
        ];
        for (text, expected) in known {
            assert_eq!(depths(text), Ok(expected), "{text}");
        }
        for wrong in ["", "0", "-1", "x", "1,,2", "4..2", "1..", "40000", "8,4..16", "4,4..16"] {
            assert!(depths(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_lies_between_is_new() {
        let powers = [1, 2, 4, 8, 16, 32];
        assert_eq!(around(&powers, 16), [12, 24]);
        assert_eq!(around(&powers, 1), [] as [u32; 0]);
        assert_eq!(around(&powers, 32), [24]);
        assert_eq!(above(&powers, 16), [20, 24, 28]);
        assert_eq!(above(&powers, 2), [3]);
        assert_eq!(above(&powers, 32), [] as [u32; 0]);
    }

    proptest! {
        #[test]
        fn no_text_panics_and_all_depths_rise(text in "[0-9,.x ]{0,24}") {
            if let Ok(depths) = depths(&text) {
                prop_assert!(depths.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(depths.iter().all(|depth| (1..=DEEPEST).contains(depth)));
            }
        }
    }
}
