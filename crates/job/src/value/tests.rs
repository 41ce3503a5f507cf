use super::*;
use crate::model::Size;
use crate::options::{Access, Group, Status};
use proptest::prelude::*;
use record::{Bytes, Nanos};

const K1024: Units = Units { kb_base: 1024 };
const K1000: Units = Units { kb_base: 1000 };
const SECONDS: Kind = Kind::Time { bare: Nanos::SECOND, range: false };

fn row(kind: Kind) -> OptionDef {
    OptionDef {
        name: "test",
        aliases: &[],
        engines: &[],
        kind,
        default: "",
        values: &[],
        group: Group::Job,
        doc: "",
        long: "",
        status: Status::Works,
        alone: false,
        warns: false,
        secret: false,
        access: Access { set: |_, _| Ok(()), get: None },
        recorded: None,
    }
}

fn read(kind: Kind, text: &str) -> Result<Value, String> {
    parse(&row(kind), Some(text), K1024)
}

fn bytes(text: &str, units: Units) -> u64 {
    size_number(text, units).unwrap_or_else(|error| panic!("{text}: {error}")).0
}

#[test]
fn prefixes_count_as_fio_has_them() {
    // Seen in fio 3.33's own parse trace: kb_base=1024 turns SI and IEC around.
    for (text, in_1024, in_1000) in [
        ("1", 1, 1),
        ("1b", 1, 1),
        ("1k", 1024, 1000),
        ("1K", 1024, 1000),
        ("1kb", 1024, 1000),
        ("1KB", 1024, 1000),
        ("1ki", 1024, 1000),
        ("1kib", 1000, 1024),
        ("1KiB", 1000, 1024),
        ("1m", 1 << 20, 1_000_000),
        ("1mib", 1_000_000, 1 << 20),
        ("1g", 1 << 30, 1_000_000_000),
        ("1t", 1 << 40, 1_000_000_000_000),
        ("1p", 1 << 50, 1_000_000_000_000_000),
        ("1pib", 1_000_000_000_000_000, 1 << 50),
        ("0x10", 16, 16),
        ("0XfF", 255, 255),
        ("010", 10, 10),
    ] {
        assert_eq!(bytes(text, K1024), in_1024, "{text}");
        assert_eq!(bytes(text, K1000), in_1000, "{text}");
    }
}

#[test]
fn text_after_a_number_is_an_error() {
    for text in ["4x", "1e3", "1.5k", "1kk", "0x10k", "0x", "k", "1 k", "", "1k k", "2*3", "--1"] {
        let error = whole_number(text, K1024).unwrap_err();
        assert!(error.contains("expected a number with an optional suffix"), "{text}: {error}");
    }
    assert!(read(SECONDS, "1m30s").unwrap_err().contains("got '1m30s'"));
}

#[test]
fn overflow_is_an_error() {
    for text in ["16384p", "9223372036854775808", "99999999999999999999999999999999999999999999"] {
        assert!(whole_number(text, K1024).is_err(), "{text}");
    }
    assert_eq!(whole_number("9223372036854775807", K1024), Ok(i64::MAX));
    assert_eq!(whole_number("-9223372036854775808", K1024), Ok(i64::MIN));
    assert!(read(SECONDS, "99999999999999999999d").is_err());
    assert!(read(SECONDS, "999999999999").is_err());
}

#[test]
fn arithmetic_in_parentheses() {
    for (text, expected) in [
        ("(64*1024)", 65_536),
        ("(1k+1)", 1025),
        ("( 2 + 3 * 4 )", 14),
        ("((2+3)*4)", 20),
        ("(2^10)", 1024),
        ("(2^3^2)", 512),
        ("(10%3)", 1),
        ("(10/3)", 3),
        ("(-2+5)", 3),
        ("(0x10*2)", 32),
        ("(3)k", 3072),
        ("(7-8)", -1),
    ] {
        assert_eq!(whole_number(text, K1024), Ok(expected), "{text}");
    }
    for text in ["(1", "1)", "()", "(1/0)", "(1%0)", "(2^999)", "(2^-1)", "(1+)", "(1 2)", "(a)"] {
        assert!(whole_number(text, K1024).is_err(), "{text}");
    }
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(whole_number(&deep, K1024).unwrap_err().contains("too deep"));
    let signs = format!("({}1)", "-".repeat(100_000));
    assert!(whole_number(&signs, K1024).unwrap_err().contains("too deep"));
}

#[test]
fn times_have_units() {
    for (text, nanos) in [
        ("5", 5_000_000_000),
        ("5s", 5_000_000_000),
        ("5S", 5_000_000_000),
        ("5 s", 5_000_000_000),
        ("2m", 120_000_000_000),
        ("2M", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("1d", 86_400_000_000_000),
        ("5ms", 5_000_000),
        ("5msec", 5_000_000),
        ("5us", 5_000),
        ("5usec", 5_000),
        ("5ns", 5),
        ("5nsec", 5),
        // As fio's documents have it: microseconds inside an expression.
        ("(5*2)", 10_000),
        ("(5ms+1)", 5_001_000),
        ("(5*2)s", 10_000_000_000),
    ] {
        assert_eq!(read(SECONDS, text), Ok(Value::Time(Nanos(nanos))), "{text}");
    }
    for text in ["5sec", "5min", "1k", "0x10", "-1", "1.5s", "5x", "s", "(1ns)", "(0-1)"] {
        assert!(read(SECONDS, text).is_err(), "{text}");
    }
    let micros = Kind::Time { bare: Nanos(1_000), range: false };
    assert_eq!(read(micros, "7"), Ok(Value::Time(Nanos(7_000))));
    assert_eq!(read(micros, "7ms"), Ok(Value::Time(Nanos(7_000_000))));
}

#[test]
fn ranges_of_times() {
    let kind = Kind::Time { bare: Nanos::SECOND, range: true };
    let range = |low: u64, high: u64| Ok(Value::TimeRange(Nanos(low), Nanos(high)));
    assert_eq!(read(kind, "5"), range(5_000_000_000, 5_000_000_000));
    assert_eq!(read(kind, "5-10"), range(5_000_000_000, 10_000_000_000));
    assert_eq!(read(kind, "10-5"), range(5_000_000_000, 10_000_000_000));
    assert_eq!(read(kind, "5ms:1s"), range(5_000_000, 1_000_000_000));
    assert_eq!(read(kind, "(3-1)s-4s"), range(2_000_000_000, 4_000_000_000));
    assert!(read(kind, "5-").is_err());
    assert!(read(kind, "-5").is_err());
}

#[test]
fn lists_by_direction_follow_the_commas() {
    let kind = Kind::Int { min: 1, max: i64::MAX, lists: true };
    let spread = |text: &str| match read(kind, text).unwrap().spread() {
        Value::Ints { values, .. } => values,
        other => panic!("{other:?}"),
    };
    assert_eq!(spread("4"), [Some(4), Some(4), Some(4)]);
    assert_eq!(spread("8k,32k"), [Some(8192), Some(32_768), Some(32_768)]);
    assert_eq!(spread("8k,32k,"), [Some(8192), Some(32_768), None]);
    assert_eq!(spread(",8k"), [None, Some(8192), Some(8192)]);
    assert_eq!(spread(",8k,"), [None, Some(8192), None]);
    assert_eq!(spread("4k,"), [Some(4096), None, None]);
    assert_eq!(spread(",,8k"), [None, None, Some(8192)]);
    assert_eq!(spread("4k-8k"), [Some(4096), Some(8192), Some(8192)], "as fio");
    assert_eq!(spread("4k:8k"), [Some(4096), Some(8192), Some(8192)]);
    assert_eq!(spread("4k-8k,16k"), [Some(4096), Some(16_384), Some(16_384)]);
    for text in [",", ",,", "1,2,3,4", "4k/8k", "4k-", "4k-8k-", "0", "0,4k"] {
        assert!(read(kind, text).is_err(), "{text}");
    }
    let single = Kind::Int { min: 0, max: 100, lists: false };
    assert!(read(single, "50,60").is_err());
    assert!(read(single, "101").unwrap_err().contains("at most 100"));
}

#[test]
fn ranges_of_sizes_follow_commas_and_slashes() {
    let spread = |text: &str| match read(Kind::Ranges, text).unwrap().spread() {
        Value::Ranges { values, .. } => values.map(|v| v.map(|(low, high)| (low.0, high.0))),
        other => panic!("{other:?}"),
    };
    let small = Some((1024, 4096));
    let large = Some((8192, 16_384));
    assert_eq!(spread("1k-4k"), [small; 3]);
    assert_eq!(spread("1k:4k"), [small; 3]);
    assert_eq!(spread("4k-1k"), [small; 3]);
    assert_eq!(spread("1k - 4k"), [small; 3]);
    assert_eq!(spread("1k-4k,8k-16k"), [small, large, large]);
    assert_eq!(spread("1k-4k/8k-16k"), [small, large, large]);
    assert_eq!(spread(",1k-4k,"), [None, small, None]);
    assert_eq!(spread("(8/4)-(3*4)"), [Some((2, 12)); 3]);
    for text in ["4k", "1k-", "-4k", "0-4k", "1-2-3", "1k-2kx", ",", "1-2,3-4,5-6,7-8"] {
        assert!(read(Kind::Ranges, text).is_err(), "{text}");
    }
}

#[test]
fn sizes_may_be_shares_and_zones() {
    let kind = Kind::Size { percent: true, zones: true };
    assert_eq!(read(kind, "20%"), Ok(Value::Size(Size::Percent(20.0))));
    assert_eq!(read(kind, "0.5%"), Ok(Value::Size(Size::Percent(0.5))));
    assert_eq!(read(kind, "3z"), Ok(Value::Size(Size::Zones(3))));
    assert_eq!(read(kind, "4k"), Ok(Value::Size(Size::Bytes(Bytes(4096)))));
    for text in ["101%", "-1%", "nan%", "5%%", "%", "z", "5z%", "-1"] {
        assert!(read(kind, text).is_err(), "{text}");
    }
    let plain = Kind::Size { percent: false, zones: false };
    assert!(read(plain, "20%").is_err() && read(plain, "3z").is_err());
}

#[test]
fn switches_and_floats() {
    for kind in [Kind::Bool, Kind::Flag] {
        assert_eq!(read(kind, "1"), Ok(Value::Bool(true)));
        assert_eq!(read(kind, "0"), Ok(Value::Bool(false)));
        for text in ["2", "true", "yes", "-1", "1k"] {
            assert!(read(kind, text).unwrap_err().contains("expected 0 or 1"), "{text}");
        }
    }
    let kind = Kind::Floats { min: 0.0, max: 100.0 };
    assert_eq!(read(kind, "1:99.9"), Ok(Value::Floats(vec![1.0, 99.9])));
    for text in ["1,5", "101", "-1", "1:x", "1:", "inf", "nan"] {
        assert!(read(kind, text).is_err(), "{text}");
    }
}

#[test]
fn the_error_of_an_empty_value_names_the_expected_value() {
    let def = row(Kind::Int { min: 0, max: 9, lists: false });
    assert!(parse(&def, Some(""), K1024).unwrap_err().contains("needs a value: a number"));
    assert!(parse(&def, None, K1024).unwrap_err().contains("needs a value"));
}

proptest! {
    #[test]
    fn plain_numbers_come_back(number in any::<i64>()) {
        prop_assert_eq!(whole_number(&number.to_string(), K1024), Ok(number));
    }

    #[test]
    fn hexadecimal_numbers_come_back(number in 0..=i64::MAX) {
        prop_assert_eq!(whole_number(&format!("{number:#x}"), K1024), Ok(number));
    }

    #[test]
    fn a_suffix_multiplies(number in 0..(1_i64 << 12), power in 1..=5_u32, upper: bool) {
        let letter = b"kmgtp"[power as usize - 1] as char;
        let letter = if upper { letter.to_ascii_uppercase() } else { letter };
        for (units, base) in [(K1024, 1024_i64), (K1000, 1000)] {
            let expected = Ok(number * base.pow(power));
            prop_assert_eq!(whole_number(&format!("{number}{letter}"), units), expected.clone());
            prop_assert_eq!(whole_number(&format!("{number}{letter}b"), units), expected.clone());
            prop_assert_eq!(whole_number(&format!("({number}{letter})"), units), expected);
        }
    }

    #[test]
    fn sums_and_products_are_right(a in -1000..1000_i64, b in -1000..1000_i64, c in 1..1000_i64) {
        let text = format!("({a} + {b} * {c} - ({a} - {b}) / {c} % {c})");
        prop_assert_eq!(whole_number(&text, K1024), Ok(a + b * c - (a - b) / c % c));
    }

    #[test]
    fn times_come_back(nanos in any::<u64>()) {
        prop_assert_eq!(read(SECONDS, &format!("{nanos}ns")), Ok(Value::Time(Nanos(nanos))));
    }

    #[test]
    fn floats_come_back(numbers in prop::collection::vec(0.0..=100.0_f64, 1..20)) {
        let text = numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(":");
        let kind = Kind::Floats { min: 0.0, max: 100.0 };
        prop_assert_eq!(read(kind, &text), Ok(Value::Floats(numbers)));
    }

    #[test]
    fn a_nearest_name_is_near(name in "[a-z]{1,12}") {
        let names = ["iodepth", "ioengine", "bs", "rw", "runtime"];
        if let Some(found) = nearest(&name, names.into_iter()) {
            prop_assert!(strsim::damerau_levenshtein(&name, found) <= 4);
        }
    }
}
