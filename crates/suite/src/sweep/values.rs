//! The values of a dimension, from text such as "1,2,4..256".

use super::Dimension;

/// Maximum number of values of a dimension. More are a mistake in a range.
const VALUES_MAX: usize = 10_000;

/// Suffixes of sizes in job options, each 1024 times the one before.
const UNITS: [&str; 6] = ["", "k", "m", "g", "t", "p"];

impl Dimension {
    /// Parses "NAME=V1,V2,…". If a `;` separates values, commas belong to the values. A value
    /// `A..B` after another value continues these two up to B: it doubles (or halves) if they do
    /// and this reaches B, else it steps by their difference.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub fn parse(text: &str) -> Result<Dimension, String> {
        let expected = "expected OPTION=VALUE,VALUE,… such as iodepth=1,2,4..64";
        let Some((name, list)) = text.split_once('=') else {
            return Err(format!("'{text}': {expected}"));
        };
        let name = name.trim().trim_start_matches('-');
        if name.is_empty() {
            return Err(format!("'{text}': {expected}"));
        }
        let mut values: Vec<String> = Vec::new();
        for item in items(list) {
            if item.is_empty() {
                return Err(format!("{name}: a value is missing in '{list}'; {expected}"));
            }
            match range(item) {
                Some((low, end)) => extend(&mut values, item, low, end),
                None => push(&mut values, item.into()),
            }
            .map_err(|why| format!("{name}: {why}"))?;
        }
        match values.is_empty() {
            true => Err(format!("{name}: no values; {expected}")),
            false => Ok(Dimension { name: name.into(), values }),
        }
    }
}

/// The parts of a list. A single `;` at its end only means that commas belong to values.
fn items(list: &str) -> Vec<&str> {
    if list.trim().is_empty() {
        return Vec::new();
    }
    match list.contains(';') {
        true => list.strip_suffix(';').unwrap_or(list).split(';').map(str::trim).collect(),
        false => list.split(',').map(str::trim).collect(),
    }
}

/// "A..B" if both ends are numbers, because paths also contain dots.
fn range(item: &str) -> Option<(&str, &str)> {
    let (low, end) = item.split_once("..")?;
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    (is_number(low) && is_number(end)).then_some((low, end))
}

fn push(values: &mut Vec<String>, value: String) -> Result<(), String> {
    if values.contains(&value) {
        return Err(format!("'{value}' is listed twice; --repeat measures each value again"));
    }
    if values.len() >= VALUES_MAX {
        return Err(format!("more than {VALUES_MAX} values; use a shorter range"));
    }
    values.push(value);
    Ok(())
}

/// Adds `low` and the following values up to `end`.
fn extend(values: &mut Vec<String>, item: &str, low: &str, end: &str) -> Result<(), String> {
    let Some(before) = values.last().cloned() else {
        return Err(format!(
            "'{item}' has no step: give two values before the dots, such as 1,2..64 (doubling) or \
             10,20..100"
        ));
    };
    let unit = unit_of([&before, low, end]).map_err(|why| format!("'{before},{item}': {why}"))?;
    let [first, second, last] = [&before, low, end].map(|text| amount(text, &unit));
    let (Some(first), Some(second), Some(last)) = (first, second, last) else {
        return Err(format!("'{before},{item}': expected whole numbers, with a unit or without"));
    };
    let doubles = first != 0 && second == first * 2;
    let halves = second != 0 && first == second * 2;
    let doubled = follow(second, last, |at| match at % 2 {
        _ if doubles => at.checked_mul(2),
        0 if halves => Some(at / 2),
        _ => None,
    });
    let stepped = || {
        follow(second, last, |at| match second.checked_sub(first) {
            Some(step) => at.checked_add(step),
            None => at.checked_sub(first - second),
        })
    };
    // Three values that double are clear; two may begin either kind of range.
    let earlier = values.iter().rev().nth(1).and_then(|text| amount(text, &unit));
    let is_sure = earlier.is_some_and(|earlier| earlier * 2 == first && first * 2 == second);
    push(values, low.into())?;
    let found = if is_sure { doubled } else { doubled.or_else(|_| stepped()) };
    let found = found.map_err(|(at, next)| {
        let next = next.map_or("nothing".to_owned(), |next| shown(next, &unit));
        let at = shown(at, &unit);
        format!("'{before},{item}' does not reach its end: {next} follows {at}")
    })?;
    found.into_iter().try_for_each(|next| push(values, shown(next, &unit)))
}

/// The values after `from` up to `last`, which must be reached exactly.
///
/// # Errors
/// The range misses `last`: the value before it, and the next one.
fn follow(
    from: u128,
    last: u128,
    next: impl Fn(u128) -> Option<u128>,
) -> Result<Vec<u128>, (u128, Option<u128>)> {
    let (mut at, mut found) = (from, Vec::new());
    while at != last {
        let after = next(at);
        let Some(value) = after.filter(|value| is_on_the_way(at, *value, last)) else {
            return Err((at, after));
        };
        // One more than the maximum, so that a surplus is noticed.
        if found.len() > VALUES_MAX {
            return Ok(found);
        }
        found.push(value);
        at = value;
    }
    Ok(found)
}

/// Whether a step from `at` comes nearer to `last` and not beyond it.
fn is_on_the_way(at: u128, next: u128, last: u128) -> bool {
    (at < next && next <= last) || (last <= next && next < at)
}

/// The suffix of the numbers of a range.
enum Unit {
    /// The same suffix for all.
    Same(String),
    /// Letters that multiply by 1024.
    Sizes,
}

fn unit_of(texts: [&str; 3]) -> Result<Unit, String> {
    let units = texts.map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit()));
    let alike = units.iter().all(|unit| unit.eq_ignore_ascii_case(units[0]));
    let is_size = |unit: &&str| UNITS.contains(&unit.to_ascii_lowercase().as_str());
    match (alike, units.iter().all(is_size)) {
        (true, _) => Ok(Unit::Same(units[0].into())),
        (false, true) => Ok(Unit::Sizes),
        (false, false) => Err("its numbers have different units; use one unit".into()),
    }
}

fn amount(text: &str, unit: &Unit) -> Option<u128> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    // Far above the values of any option, and far below an overflow in a multiplication.
    let number = digits.parse::<u64>().ok()?;
    let letters = text[digits.len()..].to_ascii_lowercase();
    match unit {
        Unit::Same(_) => Some(number.into()),
        Unit::Sizes => {
            let power = UNITS.iter().position(|unit| *unit == letters)? as u32;
            Some(u128::from(number) << (10 * power))
        }
    }
}

/// As a user writes it: in the largest unit that gives a whole number.
fn shown(number: u128, unit: &Unit) -> String {
    match unit {
        Unit::Same(unit) => format!("{number}{unit}"),
        Unit::Sizes => {
            let whole = |power: &usize| number != 0 && number.is_multiple_of(1 << (10 * power));
            let power = (0..UNITS.len()).rev().find(whole).unwrap_or(0);
            format!("{}{}", number >> (10 * power), UNITS[power])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> String {
        Dimension::parse(text).map_or_else(|why| why, |found| found.values.join(" "))
    }

    #[test]
    fn lists_and_ranges_are_what_they_stand_for() {
        let known = [
            ("iodepth=1,2,4..256", "1 2 4 8 16 32 64 128 256"),
            ("iodepth=1,2..8", "1 2 4 8"),
            ("iodepth=10,20..50,100", "10 20 30 40 50 100"),
            ("iodepth=64,32..8", "64 32 16 8"),
            ("iodepth=9,6..0", "9 6 3 0"),
            ("iodepth=4,2..0", "4 2 0"),
            ("iodepth=10,20..80", "10 20 40 80"),
            ("rate_iops=0,100..300", "0 100 200 300"),
            ("bs=4k,8k..64k", "4k 8k 16k 32k 64k"),
            ("bs=512,1k..4k", "512 1k 2k 4k"),
            ("bs=256k,512k..4m", "256k 512k 1m 2m 4m"),
            ("runtime=1s,2s,3s..5s", "1s 2s 3s 4s 5s"),
            ("bs=4k,16k;8k,8k", "4k,16k 8k,8k"),
            ("cpus_allowed=0,1;", "0,1"),
            ("directory=../a,/b..c", "../a /b..c"),
            ("--rw=read, write", "read write"),
            ("a/b=c=d", "c=d"),
            ("iodepth=4,8..8", "4 8"),
        ];
        for (text, expected) in known {
            assert_eq!(values(text), expected, "{text}");
        }
        assert_eq!(Dimension::parse("reader/bs=4k").unwrap().name, "reader/bs");
    }

    #[test]
    fn what_is_wrong_with_a_list_is_said() {
        for (text, says) in [
            ("iodepth", "expected OPTION=VALUE"),
            ("=1,2", "expected OPTION=VALUE"),
            ("bs=", "no values"),
            ("bs=4k,,8k", "a value is missing"),
            ("bs=4k,8k,4k", "'4k' is listed twice"),
            ("iodepth=1..8", "has no step"),
            ("iodepth=1,2,4..100", "128 follows 64"),
            ("iodepth=1,3..8", "9 follows 7"),
            ("iodepth=8,4..16", "0 follows 4"),
            ("iodepth=3,2..9", "does not reach its end"),
            ("iodepth=5,3..0", "nothing follows 1"),
            ("iodepth=10,20..75", "80 follows 70"),
            ("runtime=1s,2s..1m", "different units"),
            ("iodepth=1,2,3..99999", "more than 10000 values"),
            ("iodepth=1,99999999999999999999..3", "expected whole numbers"),
            ("iodepth=7,7..9", "'7' is listed twice"),
        ] {
            let said = Dimension::parse(text).unwrap_err();
            assert!(said.contains(says), "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "\\PC*", list in "[0-9kms.,;]{0,40}") {
            let _ = Dimension::parse(&text);
            if let Ok(found) = Dimension::parse(&format!("x={list}")) {
                prop_assert!(!found.values.is_empty() && found.values.len() <= VALUES_MAX);
            }
        }
    }
}
