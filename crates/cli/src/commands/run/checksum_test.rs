//! `--crctest`: measures the speed of the verification checksums on this machine.

use crate::commands::run::request::{program, usage_code};
use crate::output::{Output, write_stderr};
use anyhow::Result;
use engine::checksum;
use job::{Dialect, VerifyMethod};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The methods to test, in fio's order.
const TESTED: [VerifyMethod; 14] = [
    VerifyMethod::Md5,
    VerifyMethod::Crc64,
    VerifyMethod::Crc32,
    VerifyMethod::Crc32c,
    VerifyMethod::Crc16,
    VerifyMethod::Crc7,
    VerifyMethod::Sha1,
    VerifyMethod::Sha256,
    VerifyMethod::Sha512,
    VerifyMethod::Xxhash,
    VerifyMethod::Sha3_224,
    VerifyMethod::Sha3_256,
    VerifyMethod::Sha3_384,
    VerifyMethod::Sha3_512,
];

/// Bytes per checksum.
const BLOCK: usize = 128 << 10;

/// Time for each method.
const TIME: Duration = Duration::from_millis(100);

/// Tests the methods of a list, or all. "help" lists them.
pub fn main(dialect: Dialect, names: Option<&str>, output: &mut Output) -> Result<u8> {
    if matches!(names, Some("help" | "?")) {
        let names: String = TESTED.iter().map(|method| format!("{}\n", method.name())).collect();
        return output.write(&names).map(|()| 0);
    }
    match chosen(names) {
        Ok(methods) => {
            for method in methods {
                output.write(&line(method.name(), speed(method)))?;
            }
            Ok(0)
        }
        Err(text) => {
            write_stderr(&format!("{}: --crctest: {text}\n", program(dialect)));
            Ok(usage_code(dialect))
        }
    }
}

fn chosen(names: Option<&str>) -> Result<Vec<VerifyMethod>, String> {
    let Some(names) = names.filter(|names| !names.is_empty()) else { return Ok(TESTED.into()) };
    let find = |name: &str| {
        let known = TESTED.into_iter().find(|method| method.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = TESTED.iter().map(|method| method.name()).collect();
            format!("unknown checksum '{name}'; expected {}", names.join(", "))
        })
    };
    names.split(',').map(find).collect()
}

/// Speed in MiB per second.
fn speed(method: VerifyMethod) -> f64 {
    let data: Vec<u8> = (0..BLOCK).map(|at| (at * 31 + (at >> 8)) as u8).collect();
    let (begin, mut blocks) = (Instant::now(), 0_u32);
    while begin.elapsed() < TIME {
        black_box(checksum(method, black_box(&data)));
        blocks += 1;
    }
    let mebibytes = f64::from(blocks) * BLOCK as f64 / f64::from(1 << 20);
    mebibytes / begin.elapsed().as_secs_f64()
}

/// A line in fio's columns.
fn line(name: &str, speed: f64) -> String {
    let tabs = if name.len() < 7 { "\t\t" } else { "\t" };
    format!("{name}:{tabs}{speed:8.2} MiB/sec\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_fios_columns() {
        assert_eq!(line("md5", 409.579), "md5:\t\t  409.58 MiB/sec\n");
        assert_eq!(line("sha3-224", 47.87), "sha3-224:\t   47.87 MiB/sec\n");
    }

    #[test]
    fn a_list_chooses_methods_and_unknown_ones_are_refused() {
        assert_eq!(chosen(Some("crc7,md5")), Ok(vec![VerifyMethod::Crc7, VerifyMethod::Md5]));
        assert_eq!(chosen(None).map(|all| all.len()), Ok(14));
        assert!(chosen(Some("md4")).is_err_and(|text| text.contains("'md4'; expected md5, crc64")));
    }
}
