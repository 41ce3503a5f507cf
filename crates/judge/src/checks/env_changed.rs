//! Did the environment change between two runs?

use super::device_pairs::{DevicePairs, kind};
use super::prelude::*;
use record::human::list_up_to;
use record::{DeviceFacts, RunRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Differences that the text names.
const NAMED: usize = 7;
/// What explains no difference in a figure by itself.
const LIGHT: [&str; 3] = ["distribution", "fathom", "kernel command line"];
const MIB: u64 = 1 << 20;

pub(super) const CHECK: Check = Check {
    id: "env-changed",
    question: "Did the environment change between two runs?",
    evidence: "facts in both records: kernel, CPUs, mitigations, settings, limits; for each job the filesystem, mount options, devices, their firmware, scheduler, queue and write cache, or the object store",
    threshold: "warning for each difference that changes figures; note when only the distribution, the kernel command line or the version of fathom differs",
    reason: "if several things differ between two runs, a comparison does not show which of them changed the figures",
    cause: "the machine, the storage or its settings changed between the runs",
    remedy: || {
        "make the environments equal and run again; change only what is to be compared".into()
    },
    proof: Proof::recorded(
        "each_difference_is_told_with_both_values",
        "runs_on_the_same_machine_differ_in_nothing",
    ),
    function: CheckFunction::Pair(check),
};

/// Something that was not the same in two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is ("scheduler of disk sda").
    pub what: String,
    /// Its value in the earlier run; "none" where there was none.
    pub before: String,
    /// Its value in the later run.
    pub after: String,
    /// Whether it changes figures by itself.
    pub is_grave: bool,
}

impl Difference {
    /// The differences of two lists of named values, by name; `missing` stands for a value that a side
    /// lacks.
    pub(crate) fn between(
        before: &BTreeMap<String, String>,
        after: &BTreeMap<String, String>,
        missing: &str,
    ) -> Vec<Difference> {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let value = |side: &BTreeMap<String, String>, name: &String| {
            side.get(name).filter(|text| !text.is_empty()).map_or(missing.to_owned(), Clone::clone)
        };
        let differs = |name: &&String| before.get(*name) != after.get(*name);
        let difference = |name: &String| Difference {
            what: name.clone(),
            before: value(before, name),
            after: value(after, name),
            is_grave: true,
        };
        names.into_iter().filter(differs).map(difference).collect()
    }
}

/// The differences of the environments of two runs, those that change figures first.
pub fn environment_differences(earlier: &RunRecord, later: &RunRecord) -> Vec<Difference> {
    if earlier.origin.is_some() || later.origin.is_some() {
        return unknown_on_a_side(earlier, later);
    }
    let cases = [&Case::from_record(earlier), &Case::from_record(later)];
    let pairs = DevicePairs::find(cases[0], cases[1]);
    let (before, after) = (environment(cases[0], &pairs, 0), environment(cases[1], &pairs, 1));
    let mut differences = Difference::between(&before, &after, "none");
    for difference in &mut differences {
        difference.is_grave = !LIGHT.contains(&difference.what.as_str());
    }
    // What is not recorded and what is "none" read the same.
    differences.retain(|difference| difference.before != difference.after);
    let device = |(what, before, after, is_grave)| Difference { what, before, after, is_grave };
    differences.extend(pairs.differences(&cases).into_iter().map(device));
    differences.sort_by_key(|difference| !difference.is_grave);
    differences
}

/// What can be said where a record was read from another program's output: of two such, nothing.
fn unknown_on_a_side(earlier: &RunRecord, later: &RunRecord) -> Vec<Difference> {
    let provenance = |run: &RunRecord| match &run.origin {
        Some(origin) => format!("not recorded by {}", origin.program),
        None => "recorded".to_owned(),
    };
    let (before, after) = (provenance(earlier), provenance(later));
    match before == after {
        true => Vec::new(),
        false => vec![Difference { what: "environment".into(), before, after, is_grave: true }],
    }
}

fn check(earlier: &RunRecord, later: &RunRecord) -> Vec<Finding> {
    let differences = environment_differences(earlier, later);
    if differences.is_empty() {
        return Vec::new();
    }
    let is_grave = differences.iter().any(|difference| difference.is_grave);
    let severity = if is_grave { Severity::Warning } else { Severity::Note };
    let all: Vec<String> =
        differences.iter().map(|d| format!("{} ({} → {})", d.what, d.before, d.after)).collect();
    let differ = if differences.len() == 1 { "differs" } else { "differ" };
    let text = format!(
        "{} {differ} from the earlier run: {}",
        counted(all.len(), "thing"),
        list_up_to(&all, NAMED)
    );
    let figures = [Figure::new("differences", all.len() as f64, "count")];
    vec![CHECK.finding(severity, Vec::new(), text).figures(figures)]
}

/// Everything that figures depend on beside the jobs, by name. What changes from run to run by
/// itself (load, free space, device numbers) is left out.
fn environment(case: &Case, pairs: &DevicePairs, run: usize) -> BTreeMap<String, String> {
    let mut all = machine(case.record);
    for part in &case.parts {
        // Job names tell the parts of both runs apart; a single job needs none.
        let prefix = match case.parts.len() {
            1 => String::new(),
            _ => format!("{}: ", part.name),
        };
        let storage = storage(case, part, pairs, run);
        all.extend(storage.into_iter().map(|(name, value)| (prefix.clone() + &name, value)));
    }
    all
}

fn machine(record: &RunRecord) -> BTreeMap<String, String> {
    let (facts, environment) = (&record.facts, &record.facts.environment);
    let cgroup = &environment.cgroup;
    let mut all: BTreeMap<String, String> = [
        ("kernel", facts.kernel.clone()),
        ("architecture", facts.architecture.clone()),
        ("distribution", environment.os.clone()),
        ("kernel command line", environment.command_line.clone()),
        ("fathom", record.fathom_version.clone()),
        ("CPU", facts.cpu.model.clone()),
        ("CPUs online", facts.cpu.online.to_string()),
        ("CPUs allowed", facts.cpu.allowed.len().to_string()),
        ("frequency governor", facts.cpu.governor.clone().unwrap_or_default()),
        ("hypervisor", facts.cpu.hypervisor.clone().unwrap_or_default()),
        // What the kernel keeps for itself varies a little from boot to boot.
        ("memory", size((facts.memory.0 / (64 * MIB) * 64 * MIB) as f64)),
        ("CPU quota", cgroup.cpu_quota.map_or(String::new(), |cpus| format!("{cpus} CPUs"))),
        ("memory limit", cgroup.memory_max.map_or(String::new(), |max| size(max.0 as f64))),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let named =
        |kind: &str, (name, value): (&String, &String)| (format!("{kind} {name}"), value.clone());
    all.extend(environment.mitigations.iter().map(|one| named("mitigation of", one)));
    all.extend(environment.tunables.iter().map(|one| named("setting", one)));
    for (device, limits) in &cgroup.io_max {
        let limit = |(name, value): (&String, &u64)| {
            (format!("I/O limit {name} of {device}"), value.to_string())
        };
        all.extend(limits.iter().map(limit));
    }
    all
}

/// What is under the files of a job.
fn storage(case: &Case, part: &Part, pairs: &DevicePairs, run: usize) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let filesystems = case.filesystems_of(part);
    let kinds: Vec<&str> = filesystems.iter().map(|f| f.kind.as_str()).collect();
    all.insert("filesystem".to_owned(), list(&kinds));
    for filesystem in &filesystems {
        let mut options = filesystem.options.clone();
        options.sort_unstable();
        options.dedup();
        all.insert(format!("mount options of {}", filesystem.kind), options.join(","));
        let block = size(filesystem.block_size.0 as f64);
        all.insert(format!("block size of {}", filesystem.kind), block);
    }
    if let Some(asked) = &part.metrics.exchange {
        all.insert("object store".to_owned(), asked.endpoints.join(", "));
    }
    let devices: Vec<&DeviceFacts> =
        part.devices.iter().filter_map(|name| case.device(name)).collect();
    let kinds: Vec<&str> = devices.iter().map(|device| kind(device)).collect();
    all.insert("devices".to_owned(), kinds.join(" on "));
    for device in devices {
        let Some(label) = pairs.label(run, &device.name) else { continue };
        let mut set = |what: &str, value: String| {
            all.insert(format!("{what} of {label}"), value);
        };
        set("model", device.model.clone().unwrap_or_default());
        set("firmware", device.firmware.clone().unwrap_or_default());
        set("size", size(device.size.0 as f64));
        set("scheduler", device.scheduler.clone().unwrap_or_default());
        set("queue", device.nr_requests.map_or(String::new(), |n| n.to_string()));
        set("read-ahead", size(device.read_ahead.0 as f64));
        set("write cache", device.write_cache.clone().unwrap_or_default());
        set("physical block", size(device.physical_block.0 as f64));
        set("interrupt CPUs", interrupts(device));
    }
    all
}

/// The CPUs of each interrupt, in order of the interrupts.
fn interrupts(device: &DeviceFacts) -> String {
    let cpus = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    device.interrupts.iter().map(|one| cpus(&one.cpus)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::over_pair;
    use super::super::testing::{asking, job, record};
    use super::*;
    use record::{DeviceKind, Direction};

    fn run() -> RunRecord {
        record(vec![job("read", Direction::Read, 5)])
    }

    #[test]
    fn runs_on_the_same_machine_differ_in_nothing() {
        assert_eq!(over_pair(&run(), &run()), []);
        // Nor does it matter which number a device was given, or how busy the machine was.
        let mut other = run();
        other.facts.environment.load = [3.0, 2.0, 1.0];
        other.facts.devices.get_mut("sda").unwrap().dev = "8:16".into();
        assert_eq!(over_pair(&run(), &other), []);
    }

    #[test]
    fn each_difference_is_told_with_both_values() {
        let mut later = run();
        later.facts.kernel = "6.13.0".into();
        let disk = later.facts.devices.get_mut("sda").unwrap();
        disk.scheduler = Some("mq-deadline".into());
        let target = later.facts.targets.values_mut().next().unwrap();
        target.filesystem.as_mut().unwrap().options.push("sync".into());
        let found = over_pair(&run(), &later);
        assert_eq!(found[0].severity, Severity::Warning);
        assert_eq!(
            found[0].text,
            "3 things differ from the earlier run: kernel (6.12.0 → 6.13.0), mount options of ext4 \
             (relatime,rw → relatime,rw,sync) and scheduler of disk sda (none → mq-deadline)"
        );
    }

    fn told(earlier: &RunRecord, later: &RunRecord) -> Vec<String> {
        let differences = environment_differences(earlier, later);
        differences.into_iter().map(|d| format!("{}: {} → {}", d.what, d.before, d.after)).collect()
    }

    #[test]
    fn what_reads_the_same_is_no_difference() {
        let (mut earlier, mut later) = (run(), run());
        // An empty text and no text are both "none", and so is a scheduler of that name.
        earlier.facts.devices.get_mut("sda").unwrap().firmware = Some(String::new());
        later.facts.devices.get_mut("sda").unwrap().firmware = Some("none".into());
        assert_eq!(told(&earlier, &later), [""; 0]);
    }

    /// A run on an array of disks, each with its name, serial number and scheduler.
    fn array(disks: &[(&str, Option<&str>, &str)]) -> RunRecord {
        let mut made = run();
        let devices = &mut made.facts.devices;
        let mut top = devices.remove("sda").unwrap();
        for (name, serial, scheduler) in disks {
            let serial = serial.map(str::to_owned);
            let (name, scheduler) = ((*name).to_owned(), Some((*scheduler).to_owned()));
            let disk = DeviceFacts { name: name.clone(), serial, scheduler, ..top.clone() };
            devices.insert(name, disk);
        }
        top.kind = DeviceKind::Md { level: "raid1".into() };
        (top.name, top.below) =
            ("md0".into(), disks.iter().map(|(name, ..)| (*name).to_owned()).collect());
        devices.insert("md0".into(), top);
        let target = made.facts.targets.values_mut().next().unwrap();
        target.filesystem.as_mut().unwrap().devices = vec!["md0".into()];
        target.device = Some("md0".into());
        made
    }

    #[test]
    fn disks_are_known_by_their_serial_numbers() {
        let earlier = array(&[("sda", Some("A"), "none"), ("sdb", Some("B"), "bfq")]);
        // The same disks in another order, under each other's names.
        let swapped = array(&[("sda", Some("B"), "bfq"), ("sdb", Some("A"), "none")]);
        assert_eq!(told(&earlier, &swapped), [""; 0]);
        let changed = array(&[("sda", Some("B"), "bfq"), ("sdb", Some("A"), "kyber")]);
        let expected = ["scheduler of disk sda (later sdb): none → kyber"];
        assert_eq!(told(&earlier, &changed), expected);
        let replaced = array(&[("sda", Some("A"), "none"), ("sdb", Some("C"), "bfq")]);
        let expected = ["disk sdb: sdb, serial number B → sdb, serial number C"];
        assert_eq!(told(&earlier, &replaced), expected);
        let fewer = array(&[("sda", Some("B"), "bfq")]);
        let lost = "disk sda: sda, serial number A → none".to_owned();
        assert!(told(&earlier, &fewer).contains(&lost), "{:?}", told(&earlier, &fewer));
    }

    #[test]
    fn disks_without_serial_numbers_are_known_by_their_names() {
        let earlier = array(&[("vda", None, "none"), ("vdb", None, "bfq")]);
        assert_eq!(told(&earlier, &array(&[("vdb", None, "bfq"), ("vda", None, "none")])), [""; 0]);
        let renamed = array(&[("vdb", None, "bfq"), ("vdc", None, "none")]);
        let found = environment_differences(&earlier, &renamed);
        assert_eq!(told(&earlier, &renamed), ["name of disk vda: vda → vdc"]);
        assert!(!found[0].is_grave, "it may be the same disk");
    }

    #[test]
    fn another_object_store_is_told() {
        let earlier = asking("GET", 100, 0);
        let mut later = earlier.clone();
        later.jobs[0].exchange.as_mut().unwrap().endpoints = vec!["other.example:80".into()];
        let found = over_pair(&earlier, &later);
        let expected = "object store (store.example:80 → other.example:80)";
        assert!(found[0].text.contains(expected), "{found:?}");
        assert_eq!(over_pair(&earlier, &earlier), []);
    }

    #[test]
    fn what_explains_no_figure_is_a_note() {
        let mut later = run();
        later.facts.environment.os = "Debian GNU/Linux 14".into();
        let found = over_pair(&run(), &later);
        assert_eq!(found[0].severity, Severity::Note);
        assert!(found[0].text.contains("distribution (none → Debian"), "{}", found[0].text);
    }
}
