//! `cargo xtask bench --tools`: our front ends against the tools whose names they have, hdparm and
//! dd, on one RAM disk, turn by turn.

use super::bounds::middle;
use super::options::Options;
use super::targets::Zram;
use anyhow::{Context, Result, anyhow, bail};
use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Large enough that no timing ends before its time on it, and one word throughout: it takes no
/// memory.
const DISK_BYTES: u64 = 2 << 30;
/// What a ratio may be away from 1.
const TOLERANCE: f64 = 0.1;

/// One command line that both understand; `DISK` is the RAM disk.
struct Case {
    tool: &'static str,
    arguments: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case { tool: "hdparm", arguments: &["-t", "DISK"] },
    Case { tool: "hdparm", arguments: &["-t", "--direct", "DISK"] },
    Case { tool: "hdparm", arguments: &["-T", "DISK"] },
    Case { tool: "hdparm", arguments: &["-T", "--direct", "DISK"] },
    Case { tool: "dd", arguments: &["if=DISK", "of=/dev/null", "bs=1M", "iflag=direct"] },
    Case { tool: "dd", arguments: &["if=DISK", "of=/dev/null", "bs=32K", "iflag=direct"] },
    Case { tool: "dd", arguments: &["if=DISK", "of=/dev/null", "bs=32K", "iflag=nocache"] },
    Case {
        tool: "dd",
        arguments: &["if=/dev/zero", "of=DISK", "bs=32K", "count=65536", "oflag=direct"],
    },
    Case {
        tool: "dd",
        arguments: &["if=/dev/zero", "of=DISK", "bs=1M", "count=2048", "conv=fsync"],
    },
    Case {
        tool: "dd",
        arguments: &["if=/dev/zero", "of=DISK", "bs=4K", "count=200000", "oflag=direct,dsync"],
    },
];

/// Measures, and prints the table. The RAM disk is given back, also after an error.
pub fn run(ours: &Path, options: &Options, interrupted: &AtomicBool) -> Result<String> {
    let zram = Zram::claim(Path::new("/dev/zram0"), Path::new("/sys/block/zram0"), DISK_BYTES)
        .map_err(|reason| anyhow!(reason))?;
    zram.fill(interrupted).context("filling zram0")?;
    let disk = zram.device.to_string_lossy().into_owned();
    let mut text = format!(
        "# fathom's front ends against hdparm and dd\n\nMedians of {} rounds, turn by turn, after one \
         that does not count, in MB a second (10^6 bytes; hdparm: 2^20). A ratio is the median of the rounds' own; within {:.0} % \
         of 1 is demanded.\n\n| command | tool | fathom | ratio | |\n|---|--:|--:|--:|---|\n",
        options.rounds,
        TOLERANCE * 100.0
    );
    for case in CASES {
        let arguments: Vec<String> =
            case.arguments.iter().map(|argument| argument.replace("DISK", &disk)).collect();
        let mut rates = [Vec::new(), Vec::new()];
        let _held = hold_open(case, &zram.device)?;
        // The round before the first counts for nobody: whoever comes first pays for memory that is
        // not there yet.
        for round in 0..=options.rounds {
            // Who begins changes, so that neither always meets what the other left.
            for turn in [round % 2, 1 - round % 2] {
                let program = if turn == 0 { Path::new(case.tool) } else { ours };
                let mut command = Command::new(program);
                command.env("FATHOM_ARCHIVE", "off");
                if turn == 1 {
                    command.arg(case.tool);
                    let writes = arguments.contains(&format!("of={disk}"));
                    command.args(writes.then(|| format!("--allow-destroy={disk}")));
                }
                let rate = rate(command.args(&arguments))?;
                rates[turn as usize].extend((round > 0).then_some(rate));
                if interrupted.load(Ordering::Relaxed) {
                    bail!("interrupted");
                }
            }
        }
        let line = line(case, rates);
        eprint!("{line}");
        text.push_str(&line);
    }
    Ok(text)
}

/// The disk held open where its pages are written back. dd's clock runs until it has closed the disk:
/// whoever closes it last waits until the kernel has dropped its pages, which is no part of copying,
/// and fathom's clock has stopped by then.
fn hold_open(case: &Case, device: &Path) -> Result<Option<File>> {
    let waits = case.arguments.contains(&"conv=fsync");
    let open = || File::open(device).with_context(|| format!("opening {}", device.display()));
    waits.then(open).transpose()
}

fn line(case: &Case, [theirs, ours]: [Vec<f64>; 2]) -> String {
    let ratio = middle(theirs.iter().zip(&ours).map(|(theirs, ours)| ours / theirs).collect());
    let holds = if (ratio - 1.0).abs() <= TOLERANCE { "holds" } else { "missed" };
    let mut line = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        line,
        "| `{} {}` | {:.1} | {:.1} | {ratio:.3} | {holds} |",
        case.tool,
        case.arguments.join(" "),
        middle(theirs),
        middle(ours)
    );
    line
}

/// MB a second, by the last line of hdparm or dd.
fn rate(command: &mut Command) -> Result<f64> {
    let ran = command.output().with_context(|| format!("starting {:?}", command.get_program()))?;
    let said = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let said = said.join("\n");
    if !ran.status.success() {
        bail!("{command:?} ended with {}:\n{said}", ran.status);
    }
    of_hdparm(&said).or(of_dd(&said)).with_context(|| format!("{command:?} told no rate:\n{said}"))
}

fn of_hdparm(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.starts_with(" Timing "))?;
    let (rate, unit) = line.rsplit_once("= ")?.1.trim().split_once(' ')?;
    let rate: f64 = rate.parse().ok()?;
    Some(if unit == "kB/sec" { rate / 1024.0 } else { rate })
}

/// dd rounds its rate to two or three digits; bytes and seconds are told better.
fn of_dd(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains(" copied, "))?;
    let bytes: f64 = line.split(' ').next()?.parse().ok()?;
    let seconds: f64 = line.split_once(" copied, ")?.1.split(' ').next()?.parse().ok()?;
    Some(bytes / seconds / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_from_last_lines() {
        let hdparm =
            "\n/dev/x:\n Timing buffered disk reads: 556 MB in  3.00 seconds = 185.27 MB/sec\n";
        assert_eq!(of_hdparm(hdparm), Some(185.27));
        let slow = " Timing O_DIRECT disk reads:   1 MB in  4.00 seconds = 256.00 kB/sec\n";
        assert_eq!(of_hdparm(slow), Some(0.25));
        let dd = "10+0 records in\n10+0 records out\n10485760 bytes (10 MB, 10 MiB) copied, 0.5 s, 21 MB/s\n";
        assert_eq!(of_dd(dd), Some(20.97152));
        assert_eq!(of_hdparm(dd), None);
        assert_eq!(of_dd("dd: failed"), None);
    }

    #[test]
    fn a_ratio_holds_within_the_tolerance_to_both_sides() {
        let line = |ours: f64| line(&CASES[0], [vec![100.0, 200.0, 50.0], vec![ours; 3]]);
        assert!(line(105.0).ends_with("| 1.050 | holds |\n"), "{}", line(105.0));
        assert!(line(112.0).contains("missed") && line(88.0).contains("missed"));
    }
}
