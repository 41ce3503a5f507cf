//! How idle the CPUs were.

use judge::Idleness;
use record::IdleProfile;
use std::fmt::Write;

/// The idleness of the CPUs as fio prints it after the disks, with an empty line before.
pub(super) fn cpus(idleness: &Idleness) -> String {
    let mut out = format!("\nCPU idleness:\n  system: {:3.2}%\n", idleness.system);
    if idleness.profile.per_cpu {
        let cpus: Vec<String> = idleness.cpus.iter().map(|cpu| format!("{cpu:3.2}%")).collect();
        let _ = writeln!(out, "  percpu: {}", cpus.join(", "));
    }
    out + &unit_of_work(&idleness.profile)
}

/// How long a unit of idle work takes on a CPU that does nothing else.
pub fn calibration(profile: &IdleProfile) -> String {
    format!("CPU idleness:\n{}", unit_of_work(profile))
}

fn unit_of_work(profile: &IdleProfile) -> String {
    let IdleProfile { unit_mean_us, unit_stddev_us, .. } = profile;
    format!("  unit work: mean={unit_mean_us:3.2}us, stddev={unit_stddev_us:3.2}\n")
}
