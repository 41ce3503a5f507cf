//! What values mean, held against fio itself (Debian's, /usr/bin/fio), whose trace of the parser
//! tells what it made of each number. Without fio these tests fail.

use job::Size;
use job::options::{self, Value};
use job::value::{self, Units};
use record::Bytes;
use std::process::Command;

const FIO: &str = "/usr/bin/fio";

/// What fio made of each `--name=value`, in order; all must be accepted.
fn fio(kb_base: u32, option: &str, texts: &[String]) -> Vec<u64> {
    let mut command = Command::new(FIO);
    command.args(["--debug=parse", "--parse-only", "--name=x"]);
    command.arg(format!("--kb_base={kb_base}"));
    command.args(texts.iter().map(|text| format!("--{option}={text}")));
    let output = command.output().unwrap_or_else(|error| panic!("{FIO}: {error}"));
    let trace = [output.stdout, output.stderr].concat();
    let trace = String::from_utf8_lossy(&trace).into_owned();
    let found: Vec<u64> = trace
        .lines()
        .filter_map(|line| line.split_once("ret=0, out=")?.1.trim().parse().ok())
        .collect();
    assert_eq!(found.len(), texts.len(), "{trace}");
    found
}

/// What fathom makes of the same, in the unit fio traces.
fn ours(kb_base: u32, option: &str, texts: &[String]) -> Vec<u64> {
    let def = options::find(option).unwrap();
    let parse = |text: &String| match value::parse(def, Some(text), Units { kb_base }) {
        Ok(Value::Size(Size::Bytes(Bytes(bytes)))) => bytes,
        Ok(Value::Ints { values: [Some(number), ..], .. }) => u64::try_from(number).unwrap(),
        Ok(Value::Time(nanos)) => nanos.0 / 1_000,
        other => panic!("{option}={text}: {other:?}"),
    };
    texts.iter().map(parse).collect()
}

fn agree(option: &str, numbers: &[u64], suffixes: &[&str]) {
    let mut texts = Vec::new();
    for suffix in suffixes {
        for spelled in [suffix.to_string(), suffix.to_uppercase(), capital(suffix)] {
            texts.extend(numbers.iter().map(|number| format!("{number}{spelled}")));
        }
    }
    for kb_base in [1024, 1000] {
        let (theirs, ours) = (fio(kb_base, option, &texts), ours(kb_base, option, &texts));
        for ((text, theirs), ours) in texts.iter().zip(theirs).zip(ours) {
            assert_eq!(ours, theirs, "{option}={text} with kb_base={kb_base}");
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |c| c.to_ascii_uppercase().to_string() + letters.as_str())
}

#[test]
fn sizes_mean_what_fio_reads() {
    let suffixes = [
        "", "b", "k", "kb", "ki", "kib", "m", "mb", "mi", "mib", "g", "gb", "gib", "t", "tb",
        "tib", "p", "pb", "pib",
    ];
    agree("size", &[1, 3, 64, 1000, 4095], &suffixes);
    agree("bs", &[1, 7, 512], &["", "k", "kb", "kib", "m"]);
    agree("iodepth", &[1, 256], &["", "k", "kib"]);
}

#[test]
fn hexadecimal_means_what_fio_reads() {
    let texts: Vec<String> =
        ["0x1", "0X1f", "0xABC", "0xdeadbeef", "010", "007"].map(String::from).to_vec();
    assert_eq!(ours(1024, "size", &texts), fio(1024, "size", &texts));
}

#[test]
fn times_mean_what_fio_reads() {
    let units = ["", "s", "m", "h", "d", "ms", "msec", "us", "usec"];
    for option in ["runtime", "ramp_time", "thinktime", "thinktime_spin", "thinktime_iotime"] {
        agree(option, &[1, 5, 90], &units);
    }
}

#[test]
fn counts_of_milliseconds_are_plain_numbers_as_in_fio() {
    for option in ["rate_cycle", "bwavgtime", "iopsavgtime"] {
        agree(option, &[5, 250], &["", "k"]);
    }
}
