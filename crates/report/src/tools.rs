//! What the program says beside runs: how idle CPUs were, what their clocks are worth.

use judge::Idleness;
use record::IdleProfile;
use std::fmt::Write;

/// The idleness of the CPUs as fio prints it behind its disks, with the empty line before.
pub(crate) fn idleness(idleness: &Idleness) -> String {
    let mut out = format!("\nCPU idleness:\n  system: {:3.2}%\n", idleness.system);
    if idleness.profile.per_cpu {
        let cpus: Vec<String> = idleness.cpus.iter().map(|cpu| format!("{cpu:3.2}%")).collect();
        let _ = writeln!(out, "  percpu: {}", cpus.join(", "));
    }
    out + &unit(&idleness.profile)
}

/// What a unit of idle work takes, alone.
pub fn calibration(profile: &IdleProfile) -> String {
    format!("CPU idleness:\n{}", unit(profile))
}

fn unit(profile: &IdleProfile) -> String {
    let IdleProfile { unit_mean_us, unit_stddev_us, .. } = profile;
    format!("  unit work: mean={unit_mean_us:3.2}us, stddev={unit_stddev_us:3.2}\n")
}
