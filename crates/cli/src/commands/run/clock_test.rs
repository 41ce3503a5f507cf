//! `--cpuclock-test`: checks that the time stamp counters of the CPUs are synchronised.

use crate::exit;
use crate::output::Output;
use anyhow::Result;
use record::Facts;
use std::fmt::Write;

/// Tests the CPUs that this program may use and prints the result as fio does.
pub fn main(machine: &Facts, output: &mut Output) -> Result<u8> {
    let test = engine::clock_test(&machine.cpu.allowed);
    let (text, passed) = words(&test);
    output.write(&text)?;
    Ok(if passed { 0 } else { exit::ERRORS })
}

fn words(test: &engine::ClockTest) -> (String, bool) {
    let answer = if test.invariant { "yes" } else { "no" };
    let mut out = format!("cs: reliable_tsc: {answer}\n");
    if !test.invariant {
        return (out, false);
    }
    let _ = writeln!(out, "cs: Testing {} CPUs", test.cpus.len());
    for cpu in &test.cpus {
        let _ =
            writeln!(out, "cs: cpu{:3}: {} clocks seen, first {}", cpu.cpu, cpu.reads, cpu.first);
    }
    let behind: u64 = test.cpus.iter().map(|cpu| cpu.behind).sum();
    if behind == 0 {
        out.push_str("cs: Pass!\n");
        return (out, true);
    }
    for cpu in test.cpus.iter().filter(|cpu| cpu.behind > 0) {
        let _ = writeln!(out, "cs: cpu{:3}: behind another CPU {} times", cpu.cpu, cpu.behind);
    }
    let _ = writeln!(out, "cs: Failed: {behind}, {} ticks at worst", test.worst);
    (out, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{ClockTest, CpuClock};

    #[test]
    fn one_step_back_fails() {
        let fine = CpuClock { cpu: 1, reads: 9, first: 5, ..CpuClock::default() };
        let test = |cpu| ClockTest { invariant: true, cpus: vec![cpu], worst: 3 };
        let (text, passed) = words(&test(fine));
        assert!(
            passed && text.ends_with("cs: cpu  1: 9 clocks seen, first 5\ncs: Pass!\n"),
            "{text}"
        );
        let (text, passed) = words(&test(CpuClock { behind: 2, ..fine }));
        assert!(!passed && text.contains("cs: Failed: 2, 3 ticks"), "{text}");
        assert!(!words(&ClockTest::default()).1);
    }
}
