//! Facts about the machine as a whole.

use crate::Host;
use crate::host::cpu_list;
use record::{Bytes, CpuFacts, CpuPlace, Facts};
use std::collections::BTreeMap;

/// Fills in the facts that do not depend on a target.
pub(super) fn machine(host: &Host, facts: &mut Facts) {
    let uname = rustix::system::uname();
    let kernel_file = |name: &str| host.text(format!("/proc/sys/kernel/{name}"));
    let named = |file: Option<String>, call: &std::ffi::CStr| {
        file.filter(|t| !t.is_empty()).unwrap_or_else(|| call.to_string_lossy().into_owned())
    };
    facts.hostname = named(kernel_file("hostname"), uname.nodename());
    facts.kernel = named(kernel_file("osrelease"), uname.release());
    // Since Linux 6.1 only.
    facts.architecture = named(kernel_file("arch"), uname.machine());
    let [memory] = host.memory_bytes(["MemTotal"]);
    facts.memory = Bytes(memory);
    facts.page_size = Bytes(rustix::param::page_size() as u64);
    facts.cpu = cpu(host);
}

const CPUS: &str = "/sys/devices/system/cpu";

fn cpu(host: &Host) -> CpuFacts {
    const NODES: &str = "/sys/devices/system/node";
    let cpuinfo = host.text("/proc/cpuinfo").unwrap_or_default();
    let online = cpu_list(&host.text(format!("{CPUS}/online")).unwrap_or_default());
    let counted = || host.cpu_samples().len();
    let flags = value_of(&cpuinfo, "flags").unwrap_or_default();
    let flag = |name: &str| flags.split_whitespace().any(|f| f == name);
    let status = host.text("/proc/self/status").unwrap_or_default();
    let nodes = host.names(NODES).into_iter().filter_map(|name| {
        let number = name.strip_prefix("node")?.parse().ok()?;
        Some((number, cpu_list(&host.text(format!("{NODES}/{name}/cpulist"))?)))
    });
    CpuFacts {
        model: model(&cpuinfo),
        online: if online.is_empty() { counted() } else { online.len() } as u32,
        allowed: cpu_list(value_of(&status, "Cpus_allowed_list").unwrap_or_default()),
        nodes: nodes.collect(),
        places: places(host, &online),
        governor: host.text(format!("{CPUS}/cpu0/cpufreq/scaling_governor")),
        invariant_tsc: flag("constant_tsc") && flag("nonstop_tsc"),
        hypervisor: hypervisor(host, flag("hypervisor")),
    }
}

/// Oracle: Documentation/ABI/stable/sysfs-devices-system-cpu; before Linux 5.3 a core's CPUs were
/// called thread_siblings.
fn places(host: &Host, online: &[u32]) -> BTreeMap<u32, CpuPlace> {
    let place = |cpu: &u32| {
        let topology = |name: &str| host.text(format!("{CPUS}/cpu{cpu}/topology/{name}"));
        let list = topology("core_cpus_list").or_else(|| topology("thread_siblings_list"))?;
        let place = CpuPlace {
            // -1 on machines without sockets.
            socket: topology("physical_package_id").and_then(|id| id.parse().ok()).unwrap_or(0),
            core: *cpu_list(&list).iter().min()?,
            capacity: host.number(format!("{CPUS}/cpu{cpu}/cpu_capacity")).map(|n| n as u32),
        };
        Some((*cpu, place))
    };
    online.iter().filter_map(place).collect()
}

/// The value of the first `name : value` line.
fn value_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// The key differs between x86, MIPS, POWER, RISC-V and old ARM; newer ARM has only numbers.
fn model(cpuinfo: &str) -> String {
    let names = ["model name", "cpu model", "cpu", "uarch", "Model", "Hardware"];
    if let Some(name) = names.iter().find_map(|name| value_of(cpuinfo, name)) {
        return name.to_owned();
    }
    let number = |name| value_of(cpuinfo, name);
    match (number("CPU implementer"), number("CPU part")) {
        (Some(implementer), Some(part)) => format!("implementer {implementer}, part {part}"),
        _ => String::new(),
    }
}

/// From the firmware tables, which name the product, then from the clocks offered to a guest. On
/// x86 the CPU flag decides, because bare-metal cloud machines have the firmware strings of guests.
fn hypervisor(host: &Host, flagged: bool) -> Option<String> {
    let x86 = host.text("/proc/cpuinfo").is_some_and(|t| value_of(&t, "flags").is_some());
    if x86 && !flagged {
        return None;
    }
    let dmi = |name: &str| host.text(format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let firmware = format!("{} {}", dmi("sys_vendor"), dmi("product_name"));
    let products = [
        ("QEMU", "QEMU"),
        ("KVM", "KVM"),
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("Xen", "Xen"),
        ("Microsoft Corporation Virtual Machine", "Hyper-V"),
        ("Google Compute Engine", "Google Compute Engine"),
        ("Parallels", "Parallels"),
        ("Apple Virtualization", "Apple Virtualization"),
        ("bhyve", "bhyve"),
        ("OpenStack", "OpenStack"),
    ];
    if let Some((_, name)) = products.iter().find(|(word, _)| firmware.contains(word)) {
        return Some((*name).to_owned());
    }
    if firmware.starts_with("Amazon EC2") && !firmware.ends_with(".metal") {
        return Some("Amazon EC2".to_owned());
    }
    if let Some(kind) = host.text("/sys/hypervisor/type") {
        return Some(kind);
    }
    let clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let clocks = host.text(clocks).unwrap_or_default();
    let clock = [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")];
    let named = clock.iter().find(|(word, _)| clocks.contains(word)).map(|(_, name)| *name);
    named.or(flagged.then_some("unknown")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_on_every_architecture() {
        assert_eq!(model("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n"), "AMD EPYC");
        assert_eq!(
            model("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"),
            "POWER9, altivec supported"
        );
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(model(arm), "implementer 0x41, part 0xd0c");
        assert_eq!(model(""), "");
    }

    #[test]
    fn this_machine_has_a_processor_and_memory() {
        let mut facts = Facts::default();
        machine(&Host::at("/"), &mut facts);
        assert!(!facts.hostname.is_empty() && !facts.kernel.is_empty());
        assert_eq!(facts.architecture, std::env::consts::ARCH);
        assert!(facts.memory.0 > 0 && facts.page_size.0.is_power_of_two());
        assert!(facts.cpu.online > 0);
        assert!(!facts.cpu.allowed.is_empty());
    }
}
