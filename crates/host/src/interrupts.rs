//! Interrupts of block devices.

use crate::Host;
use crate::host::cpu_list;
use record::InterruptFacts;
use std::collections::BTreeMap;

/// One line of /proc/interrupts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The device and queue ("nvme0q1", "virtio1-req.0").
    pub name: String,
    /// Interrupts so far for each CPU column.
    pub counts: Vec<u64>,
}

/// The numbered lines of /proc/interrupts: number → line.
pub(crate) fn parse(text: &str) -> BTreeMap<u32, Line> {
    let mut lines = text.lines();
    let cpus = lines.next().map_or(0, |heading| heading.split_whitespace().count());
    lines.filter_map(|line| parse_line(line, cpus)).collect()
}

fn parse_line(line: &str, cpus: usize) -> Option<(u32, Line)> {
    let (number, rest) = line.split_once(':')?;
    let number = number.trim().parse().ok()?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let counts: Vec<u64> = words.iter().take(cpus).map_while(|word| word.parse().ok()).collect();
    let name = words.get(counts.len()..)?.last()?;
    Some((number, Line { name: (*name).to_owned(), counts }))
}

impl Host {
    /// Interrupt numbers of a block device: those of the nearest device above it with any. Disks of
    /// one controller share them.
    pub(crate) fn interrupt_numbers(&self, device: &str) -> Vec<u32> {
        let start = self.canonical(format!("/sys/class/block/{device}"));
        let Ok(start) = start else { return Vec::new() };
        for directory in start.ancestors() {
            let mut numbers: Vec<u32> = self
                .names(directory.join("msi_irqs"))
                .iter()
                .filter_map(|name| name.parse().ok())
                .collect();
            numbers.sort_unstable();
            if !numbers.is_empty() {
                return numbers;
            }
        }
        Vec::new()
    }

    /// The interrupts of a block device, without those that serve no queue.
    pub(crate) fn interrupts(&self, device: &str) -> Vec<InterruptFacts> {
        let numbers = self.interrupt_numbers(device);
        if numbers.is_empty() {
            return Vec::new();
        }
        let lines = parse(&self.text("/proc/interrupts").unwrap_or_default());
        let facts = |number: u32| {
            let name = &lines.get(&number)?.name;
            let affinity = self.text(format!("/proc/irq/{number}/smp_affinity_list"));
            let cpus = cpu_list(&affinity.unwrap_or_default());
            serves_a_queue(name).then(|| InterruptFacts { number, name: name.clone(), cpus })
        };
        numbers.into_iter().filter_map(facts).collect()
    }
}

/// Whether an interrupt of this name serves I/O, and not configuration changes or the NVMe admin
/// queue. A controller with a single interrupt has the name of the I/O queue.
pub(crate) fn serves_a_queue(name: &str) -> bool {
    let administers = name.starts_with("nvme") && name.ends_with("q0");
    !name.ends_with("-config") && !administers
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "           CPU0       CPU1       CPU2\n\
        \x2028:          0          7          1 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config\n\
        \x2036:         10          3          0 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n\
        NMI:          1          1          1   Non-maskable interrupts\n";

    #[test]
    fn numbered_lines_have_a_count_for_each_cpu_and_a_name() {
        let lines = parse(TEXT);
        assert_eq!(lines.len(), 2);
        let expected = Line { name: "virtio1-req.0".into(), counts: vec![10, 3, 0] };
        assert_eq!(lines[&36], expected);
        assert!(parse("").is_empty());
        assert!(parse("CPU0\n 1: 5\n").is_empty(), "no name, no line");
    }

    #[test]
    fn a_disk_has_the_interrupts_of_its_controller() {
        let root = tempfile::tempdir().unwrap();
        let make = |path: &str, text: &str| testbed::put(root.path(), path, text);
        make("sys/devices/pci0/msi_irqs/28", "msix\n");
        make("sys/devices/pci0/msi_irqs/36", "msix\n");
        make("sys/devices/pci0/virtio1/block/vda/size", "1\n");
        make("proc/interrupts", TEXT);
        make("proc/irq/36/smp_affinity_list", "0-1\n");
        std::fs::create_dir_all(root.path().join("sys/class/block")).unwrap();
        let disk = root.path().join("sys/devices/pci0/virtio1/block/vda");
        std::os::unix::fs::symlink(disk, root.path().join("sys/class/block/vda")).unwrap();
        let found = Host::at(root.path()).interrupts("vda");
        let expected =
            InterruptFacts { number: 36, name: "virtio1-req.0".into(), cpus: vec![0, 1] };
        assert_eq!(found, [expected]);
        assert!(Host::at(root.path()).interrupts("sda").is_empty());
    }
}
