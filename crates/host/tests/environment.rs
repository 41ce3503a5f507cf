//! The system around a run: of the machine written down in trees/server.tree, and of this one.

use host::{Host, TargetQuery};
use record::{Bytes, Facts, InterruptFacts};
use std::path::Path;

fn server(path: &str) -> Facts {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees/server.tree");
    let root = testbed::unpack(&tree, &["/data", "/raw", "/export"]);
    Host::at(root.path()).facts(&[TargetQuery { path: path.into(), will_write: false }])
}

#[test]
fn system_settings_and_processors_of_a_server_are_read() {
    let facts = server("/data");
    let environment = &facts.environment;
    assert_eq!(environment.os, "Debian GNU/Linux 13 (trixie)");
    assert!(environment.command_line.ends_with("mitigations=auto"));
    assert_eq!(environment.mitigations["spectre_v2"], "Mitigation: Retpolines");
    let tunables = [
        ("vm.dirty_ratio", "20"),
        ("transparent_hugepage", "madvise"),
        ("clocksource", "tsc"),
        ("smt", "on"),
        ("cpu boost", "0"),
        ("cpuidle governor", "menu"),
        ("fs.aio-max-nr", "65536"),
    ];
    for (name, value) in tunables {
        assert_eq!(environment.tunables.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!((environment.swap_used, environment.load), (Bytes(48 << 20), [0.5, 1.25, 2.0]));
    assert_eq!(facts.cpu.governor.as_deref(), Some("schedutil"));
    assert_eq!(facts.cpu.nodes[&1], [2, 3]);
    let place = |socket, core| record::CpuPlace { socket, core, capacity: None };
    let places = [(0, place(0, 0)), (1, place(0, 0)), (2, place(1, 2)), (3, place(1, 2))];
    assert_eq!(facts.cpu.places, places.into());
}

#[test]
fn the_tightest_limit_along_the_path_of_the_control_group_counts() {
    let cgroup = server("/data").environment.cgroup;
    assert_eq!(cgroup.path, "/system.slice/bench.service");
    assert_eq!((cgroup.cpu_quota, cgroup.memory_max), (Some(2.0), Some(Bytes(8 << 30))));
    let limits: Vec<(&str, u64)> =
        cgroup.io_max["259:0"].iter().map(|(name, limit)| (name.as_str(), *limit)).collect();
    assert_eq!(limits, [("rbps", 100 << 20), ("wiops", 2000)]);
}

#[test]
fn queues_interrupts_and_partition_starts_of_a_disk_are_read() {
    let facts = server("/raw");
    let (disk, partition) = (&facts.devices["nvme0n1"], &facts.devices["nvme0n1p1"]);
    assert_eq!(disk.hardware_queues, Some(2));
    assert_eq!((disk.partition_start, partition.partition_start), (None, Some(Bytes(63 * 512))));
    let served = |name: &str, number, cpus: &[u32]| InterruptFacts {
        number,
        name: name.into(),
        cpus: cpus.to_vec(),
    };
    let queues = [served("nvme0q1", 41, &[0, 1]), served("nvme0q2", 42, &[2, 3])];
    assert_eq!(disk.interrupts, queues, "without the administration queue");
    assert_eq!(disk.activity, None);
}

#[test]
fn an_array_tells_its_resync() {
    let facts = server("/data");
    assert_eq!(facts.devices["md1"].activity.as_deref(), Some("resync 12.5 %"));
    assert_eq!(facts.devices["sda"].activity, None);
}

#[test]
fn this_machine_tells_who_asks_and_what_its_disks_interrupt() {
    let path = env!("CARGO_MANIFEST_DIR");
    let facts = Host::at("/").facts(&[TargetQuery { path: path.into(), will_write: false }]);
    assert_eq!(facts.environment.is_root, rustix::process::geteuid().is_root());
    assert!(!facts.environment.os.is_empty() && facts.environment.load[0] >= 0.0);
    for device in facts.stack_under(path) {
        let device = &facts.devices[device];
        assert!(device.interrupts.iter().all(|interrupt| !interrupt.name.is_empty()));
    }
}

#[test]
fn a_machine_without_files_has_an_empty_environment() {
    let root = tempfile::tempdir().unwrap();
    let facts = Host::at(root.path()).machine();
    assert!(facts.environment.tunables.is_empty() && facts.environment.mitigations.is_empty());
    assert_eq!(facts.environment.cgroup, record::CgroupFacts::default());
    assert!(facts.unknown.is_empty(), "{:?}", facts.unknown);
}
