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
    rows.extend(view.disks.iter().filter_map(|disk| power(disk, view)));
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
    words.extend(tunables.get("energy preference").map(|text| format!("prefers {text}")));
    if boost_off {
        words.push("boost off".to_owned());
    }
    let khz = |name: &str| tunables.get(name)?.parse::<f64>().ok().filter(|khz| *khz > 0.0);
    if let (Some(most), Some(hardware)) = (khz("cpu max kHz"), khz("cpu hardware max kHz"))
        && most < hardware
    {
        words.push(format!("limited to {:.1} of {:.1} GHz", most / 1e6, hardware / 1e6));
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
    let distant_disk = |disk: &&DeviceFacts| {
        let node = disk.numa_node?;
        let cpus = view.facts.cpu.nodes.get(&u32::try_from(node).ok()?);
        let cpus = cpus.map_or(String::new(), |cpus| format!(" (CPUs {})", cpu_ranges(cpus)));
        Some(format!("{} on {node}{cpus}", disk.name))
    };
    let disks: Vec<String> = view.disks.iter().filter_map(distant_disk).collect();
    let value = format!(
        "{}{}",
        counted(nodes, "node"),
        disks.iter().fold(String::new(), |text, d| text + ", " + d)
    );
    (nodes > 1).then(|| row("NUMA", value, Mark::Look))
}

/// What may put a disk, its link or its bus to sleep between two I/Os.
fn power(disk: &DeviceFacts, view: &View) -> Option<Row> {
    let tunables = &view.facts.environment.tunables;
    let mut words: Vec<String> = Vec::new();
    let mut saves = false;
    let mut add = |text: String, is_saving: bool| {
        words.push(text);
        saves |= is_saving;
    };
    if let Some(health) = &disk.health {
        if let Some(state) = health.power_state {
            add(format!("power state {state}"), state > 0);
        }
        if let Some(on) = health.autonomous_power_states {
            add(format!("own transitions {}", if on { "on" } else { "off" }), on);
        }
    }
    if let Some(runtime) = disk.power.get("runtime").filter(|value| *value == "auto") {
        add(format!("runtime {runtime}"), true);
    }
    if let Some(link) = disk.power.get("link") {
        add(format!("link {link}"), link != "max_performance");
    }
    let is_pcie = disk.transport.as_deref() == Some("nvme");
    if let Some(policy) = tunables.get("pcie_aspm policy").filter(|_| is_pcie) {
        add(format!("ASPM {policy}"), policy.contains("power"));
    }
    let mark = if saves { Mark::Look } else { Mark::Ok };
    (!words.is_empty()).then(|| row("power", format!("{}: {}", disk.name, words.join(", ")), mark))
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
    use record::{Facts, Health};

    #[test]
    fn what_may_put_a_disk_to_sleep_is_shown() {
        let health = Health {
            power_state: Some(0),
            autonomous_power_states: Some(true),
            ..Health::default()
        };
        let disk = DeviceFacts {
            name: "nvme0n1".into(),
            transport: Some("nvme".into()),
            health: Some(health),
            power: [("runtime".to_owned(), "on".to_owned())].into(),
            ..DeviceFacts::default()
        };
        let mut facts = Facts::default();
        facts.environment.tunables.insert("pcie_aspm policy".into(), "powersave".into());
        let view = View::new(&facts, "/x");
        let shown = power(&disk, &view).unwrap();
        assert_eq!(shown.value, "nvme0n1: power state 0, own transitions on, ASPM powersave");
        assert_eq!(shown.mark, Mark::Look);
        let sata = DeviceFacts {
            name: "sda".into(),
            power: [("link".to_owned(), "max_performance".to_owned())].into(),
            ..DeviceFacts::default()
        };
        let shown = power(&sata, &view).unwrap();
        assert_eq!((shown.value.as_str(), shown.mark), ("sda: link max_performance", Mark::Ok));
        assert!(power(&DeviceFacts::default(), &view).is_none());
    }

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
