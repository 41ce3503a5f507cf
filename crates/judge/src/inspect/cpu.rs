//! How clocks and CPUs of the machine affect figures.

use super::section::{Mark, Row, Section};
use super::view::{View, cpu_ranges, row};
use record::human::counted;
use record::{CpuFacts, DeviceFacts};
use std::collections::BTreeSet;

/// Clock sources that take a microsecond and more to read.
const SLOW_CLOCKS: [&str; 4] = ["acpi_pm", "hpet", "jiffies", "refined-jiffies"];

/// Samples from which on a percentile has a 95 % interval that ends within the samples: with fewer,
/// all of them may lie below it with more than 2.5 % probability (binomial order statistics).
fn samples_for(percentile: f64) -> u64 {
    ((0.025_f64).ln() / (percentile / 100.0).ln()).ceil() as u64
}

/// Task 9: which percentiles can be had, and how well time is kept.
pub(super) fn percentiles(view: &View) -> Section {
    let [p99, p999, p9999] = [99.0, 99.9, 99.99].map(samples_for);
    let clock = view.facts.environment.tunables.get("clocksource").map_or("", String::as_str);
    let slow = SLOW_CLOCKS.contains(&clock);
    let invariant = view.facts.cpu.invariant_tsc;
    let mut rows =
        vec![row("I/Os for", format!("p99 {}, p99.9 {}, p99.99 {}", p99, p999, p9999), Mark::Ok)];
    if !clock.is_empty() {
        let how = if invariant { ", invariant TSC" } else { "" };
        rows.push(row(
            "clock",
            format!("{clock}{how}"),
            if slow { Mark::Problem } else { Mark::Ok },
        ));
    }
    let spins = view.any(|disk| disk.rotational == Some(true) && !disk.is_virtual);
    let (means, decide) = match () {
        () if slow && !invariant => (
            format!("Reading {clock} takes microseconds and adds to every latency."),
            "Boot with a faster clocksource (tsc, kvm-clock) first.".into(),
        ),
        () if spins => (
            format!(
                "At 150 I/Os a second p99.9 takes {} s, p99.99 {} minutes.",
                p999.div_ceil(150),
                p9999.div_ceil(150 * 60)
            ),
            "Choose the runtime by the percentile you judge by.".into(),
        ),
        () => (
            "With fewer I/Os a percentile shows one outlier, not the disk.".to_owned(),
            format!("Judge by p99 or p99.9, not by means; p99.9 needs {} I/Os.", p999),
        ),
    };
    Section::new((9, "percentiles", "Percentiles"), rows, means, decide)
}

/// Task 10: what could make it a benchmark of processors.
pub(super) fn processors(view: &View) -> Section {
    let facts = view.facts;
    let mut rows = vec![cpu_row(&facts.cpu, facts.environment.cgroup.cpu_quota)];
    rows.extend(governor(view));
    rows.extend(mitigations(view));
    rows.extend(view.disks.iter().filter_map(|disk| interrupts(disk, &facts.cpu)));
    rows.extend(nodes(view));
    rows.extend(load(facts.environment.load, facts.cpu.online));
    let (means, decide) = sentences(view);
    Section::new((10, "cpu", "CPU"), rows, means, decide)
}

fn usable(cpu: &CpuFacts) -> usize {
    if cpu.allowed.is_empty() { cpu.online as usize } else { cpu.allowed.len() }
}

fn cpu_row(cpu: &CpuFacts, quota: Option<f64>) -> Row {
    let mut value = match cpu.online {
        0 => "unknown".to_owned(),
        online => online.to_string(),
    };
    if usable(cpu) < cpu.online as usize {
        value += &format!(", {} usable", cpu_ranges(&cpu.allowed));
    }
    if let Some(quota) = quota {
        value += &format!(", limited to {quota:.1}");
    }
    if let Some(hypervisor) = &cpu.hypervisor {
        value += &match hypervisor.as_str() {
            "unknown" => ", under a hypervisor".to_owned(),
            name => format!(", under {name}"),
        };
    }
    let limited = quota.is_some_and(|quota| quota < usable(cpu) as f64);
    row("CPUs", value, if limited { Mark::Problem } else { Mark::Ok })
}

/// A governor that lets CPUs clock down between I/Os, unless the hardware decides (intel_pstate and
/// amd-pstate have "powersave" for that), and a boost that is off.
fn governor(view: &View) -> Option<Row> {
    let tunables = &view.facts.environment.tunables;
    let governor = view.facts.cpu.governor.as_deref();
    let boost_off = tunables.get("intel_pstate.no_turbo").is_some_and(|v| v == "1")
        || tunables.get("cpu boost").is_some_and(|v| v == "0");
    let mut words: Vec<String> = governor.into_iter().map(str::to_owned).collect();
    if boost_off {
        words.push("boost off".to_owned());
    }
    let slows = governor.is_some_and(|g| !matches!(g, "performance"));
    let mark = if slows { Mark::Look } else { Mark::Ok };
    (!words.is_empty()).then(|| row("frequency", words.join(", "), mark))
}

/// Those that make entering the kernel dearer.
const COSTLY: [&str; 4] = ["meltdown", "retbleed", "spectre_v2", "mds"];

fn mitigations(view: &View) -> Option<Row> {
    let all = &view.facts.environment.mitigations;
    let is_on = |name: &&&str| all.get(**name).is_some_and(|text| text.starts_with("Mitigation"));
    let on: Vec<&str> = COSTLY.iter().filter(is_on).copied().collect();
    let text = if on.is_empty() { "none that slow system calls".to_owned() } else { on.join(", ") };
    (!all.is_empty()).then(|| row("mitigations", text, Mark::Ok))
}

fn interrupts(disk: &DeviceFacts, cpu: &CpuFacts) -> Option<Row> {
    let number = disk.interrupts.len();
    let served: BTreeSet<u32> = disk.interrupts.iter().flat_map(|i| &i.cpus).copied().collect();
    let served: Vec<u32> = served.into_iter().collect();
    let value = format!("{} on CPUs {}", counted(number, "interrupt"), cpu_ranges(&served));
    let crowded = number == 1 || served.len() == 1;
    let mark = if crowded && cpu.online > 1 { Mark::Look } else { Mark::Ok };
    (number > 0).then(|| row(disk.name.clone(), value, mark))
}

fn nodes(view: &View) -> Option<Row> {
    let nodes = view.facts.cpu.nodes.len();
    let of = |disk: &&DeviceFacts| Some(format!("{} on {}", disk.name, disk.numa_node?));
    let disks: Vec<String> = view.disks.iter().filter_map(of).collect();
    let value = format!(
        "{}{}",
        counted(nodes, "node"),
        disks.iter().fold(String::new(), |text, d| text + ", " + d)
    );
    (nodes > 1).then(|| row("NUMA", value, Mark::Look))
}

/// Half the processors busy leave the rest to interrupts and workers.
fn is_loaded(load: f64, online: u32) -> bool {
    load > f64::from(online.max(1)) / 2.0
}

/// Without load averages, which is also what a machine without any load has, there is no row.
fn load(load: [f64; 3], online: u32) -> Option<Row> {
    let mark = if is_loaded(load[0], online) { Mark::Look } else { Mark::Ok };
    let text = format!("{:.2} {:.2} {:.2}", load[0], load[1], load[2]);
    load.iter().any(|load| *load > 0.0).then(|| row("load", text, mark))
}

fn sentences(view: &View) -> (String, String) {
    let cpu = &view.facts.cpu;
    let environment = &view.facts.environment;
    let one = |disk: &&&DeviceFacts| disk.interrupts.len() == 1;
    if let Some(quota) = environment.cgroup.cpu_quota.filter(|q| *q < usable(cpu) as f64) {
        return (
            format!("Above {quota:.1} CPUs the group is throttled, and its I/O stalls."),
            "Lift the quota, or report the figure as this container's.".into(),
        );
    }
    if is_loaded(environment.load[0], cpu.online) {
        return (
            format!(
                "Load {:.1} on {}: other programs compete with workers.",
                environment.load[0],
                counted(cpu.online as usize, "CPU")
            ),
            "Wait for a quiet machine, or repeat and report the spread.".into(),
        );
    }
    if let Some(disk) = view.disks.iter().find(one).filter(|_| cpu.online > 1) {
        return (
            format!("One CPU handles all completions of {} and may be the limit.", disk.name),
            "Check the load of that CPU before buying faster disks.".into(),
        );
    }
    if cpu.governor.as_deref().is_some_and(|governor| governor != "performance") {
        return (
            "CPUs clock down while idle, which adds latency.".into(),
            "Set the governor to performance, or to production's.".into(),
        );
    }
    (
        "One CPU may issue and complete fewer I/Os than the disk can.".into(),
        "Compare numjobs=1 with more before blaming the disk.".into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_suffice_when_all_below_the_percentile_is_improbable() {
        for percentile in [50.0, 99.0, 99.9, 99.99] {
            let needed = samples_for(percentile) as f64;
            let all_below = |n: f64| (percentile / 100.0_f64).powf(n);
            assert!(all_below(needed) <= 0.025 && all_below(needed - 1.0) > 0.025, "{percentile}");
        }
        assert_eq!([99.0, 99.9, 99.99].map(samples_for), [368, 3_688, 36_887]);
    }
}
