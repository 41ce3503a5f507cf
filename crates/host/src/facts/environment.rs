//! The operating system: its name, tuning and limits.

use crate::{Host, bracketed};
use record::{Bytes, Environment, Facts};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;

/// Settings that matter for I/O, with their files. Missing files are left out.
const TUNABLES: &[(&str, &str)] = &[
    ("vm.dirty_ratio", "/proc/sys/vm/dirty_ratio"),
    ("vm.dirty_bytes", "/proc/sys/vm/dirty_bytes"),
    ("vm.dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio"),
    ("vm.dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes"),
    ("vm.dirty_expire_centisecs", "/proc/sys/vm/dirty_expire_centisecs"),
    ("vm.dirty_writeback_centisecs", "/proc/sys/vm/dirty_writeback_centisecs"),
    ("vm.swappiness", "/proc/sys/vm/swappiness"),
    ("kernel.numa_balancing", "/proc/sys/kernel/numa_balancing"),
    ("kernel.io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"),
    ("fs.aio-max-nr", "/proc/sys/fs/aio-max-nr"),
    ("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("smt", "/sys/devices/system/cpu/smt/control"),
    ("cpu boost", "/sys/devices/system/cpu/cpufreq/boost"),
    ("intel_pstate.no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("energy preference", "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"),
    ("cpu max kHz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"),
    ("cpu hardware max kHz", "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"),
    ("pcie_aspm policy", "/sys/module/pcie_aspm/parameters/policy"),
    (
        "nvme max latency of power states us",
        "/sys/module/nvme_core/parameters/default_ps_max_latency_us",
    ),
    ("cpuidle governor", "/sys/devices/system/cpu/cpuidle/current_governor"),
];

/// The environment. Settings that exist but are unreadable are added to `unknown`.
pub(super) fn environment(host: &Host, unknown: &mut Vec<String>) -> Environment {
    let text = |path: &str| host.text(path).unwrap_or_default();
    let tunables = tunables(host);
    unknown.extend(forbidden(host, &tunables));
    let [swap, swap_free] = host.memory_bytes(["SwapTotal", "SwapFree"]);
    Environment {
        os: os_name(&text("/etc/os-release")),
        command_line: text("/proc/cmdline"),
        mitigations: mitigations(host),
        tunables,
        cgroup: host.cgroup(),
        swap_used: Bytes(swap.saturating_sub(swap_free)),
        load: load(&text("/proc/loadavg")),
        is_root: rustix::process::geteuid().is_root(),
    }
}

/// PRETTY_NAME of os-release(5), without its quotes.
fn os_name(text: &str) -> String {
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
}

fn mitigations(host: &Host) -> BTreeMap<String, String> {
    const DIRECTORY: &str = "/sys/devices/system/cpu/vulnerabilities";
    let names = host.names(DIRECTORY).into_iter();
    names
        .filter_map(|name| Some((name.clone(), host.text(format!("{DIRECTORY}/{name}"))?)))
        .collect()
}

fn tunables(host: &Host) -> BTreeMap<String, String> {
    let read = |(name, path): &(&str, &str)| {
        let text = host.text(path)?;
        Some(((*name).to_owned(), bracketed(&text).unwrap_or(&text).to_owned()))
    };
    TUNABLES.iter().filter_map(read).collect()
}

/// The settings that this user may not read.
fn forbidden(host: &Host, known: &BTreeMap<String, String>) -> Option<String> {
    let refused = |path: &str| {
        let opened = File::open(host.real(path));
        opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    let missing = TUNABLES.iter().filter(|(name, _)| !known.contains_key(*name));
    let hidden: Vec<&str> =
        missing.filter(|(_, path)| refused(path)).map(|(name, _)| *name).collect();
    (!hidden.is_empty()).then(|| format!("{} read {}", Facts::ROOT_ONLY, hidden.join(", ")))
}

fn load(text: &str) -> [f64; 3] {
    let mut words = text.split_whitespace().map(|word| word.parse().unwrap_or(0.0));
    std::array::from_fn(|_| words.next().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choices_and_loads_are_read() {
        assert_eq!(
            os_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13\"\n"),
            "Debian GNU/Linux 13"
        );
        assert_eq!(bracketed("always [madvise] never"), Some("madvise"));
        assert_eq!(bracketed("20"), None);
        assert_eq!(load("0.50 1.25 2.00 1/200 4711"), [0.5, 1.25, 2.0]);
        assert_eq!(load(""), [0.0; 3]);
    }

    #[test]
    fn this_machine_has_an_environment() {
        let environment = environment(&Host::at("/"), &mut Vec::new());
        assert!(environment.tunables.contains_key("vm.dirty_ratio"));
        assert!(!environment.command_line.is_empty());
    }
}
