//! Data that are read once a second: interrupts, frequencies, temperatures, throttling, paging,
//! pressure, arrays.

use crate::{Host, interrupts};
use record::{ArraySample, SlowSample};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Most CPUs whose frequency and throttling are read. They represent the others.
const CPUS_MAX: usize = 64;

/// The files with these data, found once.
pub(crate) struct SlowReader {
    /// Interrupts of the watched devices.
    interrupts: Vec<u32>,
    /// Files with a CPU's frequency in kHz.
    frequencies: Vec<PathBuf>,
    /// Files with the number of thermal throttling events of a CPU.
    throttles: Vec<PathBuf>,
    /// Temperature sensors.
    sensors: Vec<Sensor>,
    /// The cpu.stat file of the control group.
    cpu_stat: Option<PathBuf>,
    devices: Vec<String>,
}

struct Sensor {
    name: String,
    file: PathBuf,
    /// Reading it sends a command to the disk.
    disturbs: bool,
}

impl SlowReader {
    pub(crate) fn new(host: &Host, devices: &[String]) -> SlowReader {
        let mut numbers: Vec<u32> =
            devices.iter().flat_map(|device| host.interrupt_numbers(device)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        SlowReader {
            interrupts: numbers,
            frequencies: per_cpu(host, "cpufreq/scaling_cur_freq"),
            throttles: per_cpu(host, "thermal_throttle/core_throttle_count"),
            sensors: sensors(host),
            cpu_stat: host.cpu_stat(),
            devices: devices.to_vec(),
        }
    }

    /// Reads the data. With `at_an_end` also sensors whose reading disturbs I/O.
    pub(crate) fn read(&self, host: &Host, at_an_end: bool) -> SlowSample {
        let number = |file: &PathBuf| host.number(file).unwrap_or(0);
        let sensors = self.sensors.iter().filter(|sensor| at_an_end || !sensor.disturbs);
        let degrees = |sensor: &Sensor| {
            Some((sensor.name.clone(), host.text(&sensor.file)?.trim().parse().ok()?))
        };
        let activity = |device: &String| Some((device.clone(), host.activity(device)?));
        SlowSample {
            interrupts: self.interrupt_counts(host),
            cpu_khz: self.frequencies.iter().map(number).collect(),
            temperature_mc: sensors.filter_map(degrees).collect(),
            cpu_throttle_count: self.throttles.iter().map(number).sum(),
            cgroup_throttled_us: self
                .cpu_stat
                .as_ref()
                .and_then(|file| throttled_us(&host.text(file)?))
                .unwrap_or(0),
            activity: self.devices.iter().filter_map(activity).collect(),
            paging: host.paging(),
            pressure: host.pressure(),
            arrays: self.arrays(host),
        }
    }

    /// The watched devices that are arrays.
    fn arrays(&self, host: &Host) -> BTreeMap<String, ArraySample> {
        if !self.devices.iter().any(|device| device.starts_with("md")) {
            return BTreeMap::new();
        }
        let mut arrays = host.arrays();
        arrays.retain(|name, _| self.devices.contains(name));
        arrays
    }

    fn interrupt_counts(&self, host: &Host) -> BTreeMap<String, Vec<u64>> {
        if self.interrupts.is_empty() {
            return BTreeMap::new();
        }
        let mut lines = interrupts::parse(&host.text("/proc/interrupts").unwrap_or_default());
        let lines = self.interrupts.iter().filter_map(|number| lines.remove(number));
        let serving = lines.filter(|line| interrupts::serves_a_queue(&line.name));
        serving.map(|line| (line.name, line.counts)).collect()
    }
}

fn per_cpu(host: &Host, file: &str) -> Vec<PathBuf> {
    const CPUS: &str = "/sys/devices/system/cpu";
    let number = |name: &String| name.strip_prefix("cpu")?.parse::<u32>().ok();
    let mut cpus: Vec<u32> = host.names(CPUS).iter().filter_map(number).collect();
    cpus.sort_unstable();
    let files = cpus.into_iter().map(|cpu| PathBuf::from(format!("{CPUS}/cpu{cpu}/{file}")));
    files.filter(|file| host.exists(file)).take(CPUS_MAX).collect()
}

/// All temperatures of hwmon (Documentation/hwmon/sysfs-interface.rst) and of the thermal zones.
fn sensors(host: &Host) -> Vec<Sensor> {
    let mut found = Vec::new();
    for chip in host.names("/sys/class/hwmon") {
        let directory = format!("/sys/class/hwmon/{chip}");
        let Some(kind) = host.text(format!("{directory}/name")) else { continue };
        for input in host.names(&directory) {
            let Some(sensor) = input.strip_suffix("_input").filter(|s| s.starts_with("temp"))
            else {
                continue;
            };
            let label = host.text(format!("{directory}/{sensor}_label"));
            found.push(Sensor {
                name: format!("{chip} {kind} {}", label.as_deref().unwrap_or(sensor)),
                file: PathBuf::from(format!("{directory}/{input}")),
                disturbs: kind == "drivetemp",
            });
        }
    }
    for zone in host.names("/sys/class/thermal") {
        let directory = format!("/sys/class/thermal/{zone}");
        let Some(kind) = host.text(format!("{directory}/type")) else { continue };
        let file = PathBuf::from(format!("{directory}/temp"));
        if zone.starts_with("thermal_zone") && host.exists(&file) {
            found.push(Sensor { name: format!("{zone} {kind}"), file, disturbs: false });
        }
    }
    found
}

/// Time a control group was kept off the CPU: throttled_usec (v2) or throttled_time in ns (v1).
fn throttled_us(text: &str) -> Option<u64> {
    text.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", value) => value.trim().parse().ok(),
        ("throttled_time", value) => value.trim().parse::<u64>().ok().map(|ns| ns / 1000),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_sensors_is_read_and_disks_are_left_alone_during_a_run() {
        let root = tempfile::tempdir().unwrap();
        let make = |path: &str, text: &str| testbed::put(root.path(), path, text);
        make("sys/class/hwmon/hwmon0/name", "nvme\n");
        make("sys/class/hwmon/hwmon0/temp1_input", "41850\n");
        make("sys/class/hwmon/hwmon0/temp1_label", "Composite\n");
        make("sys/class/hwmon/hwmon1/name", "drivetemp\n");
        make("sys/class/hwmon/hwmon1/temp1_input", "33000\n");
        make("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
        make("sys/class/thermal/thermal_zone0/temp", "55000\n");
        for (cpu, khz, throttled) in [(0, 3_400_000, 2), (1, 800_000, 5), (10, 900_000, 0)] {
            let cpu = format!("sys/devices/system/cpu/cpu{cpu}");
            make(&format!("{cpu}/cpufreq/scaling_cur_freq"), &format!("{khz}\n"));
            make(&format!("{cpu}/thermal_throttle/core_throttle_count"), &format!("{throttled}\n"));
        }
        let host = Host::at(root.path());
        let reader = SlowReader::new(&host, &[]);
        let seen = reader.read(&host, false);
        assert_eq!(seen.cpu_khz, [3_400_000, 800_000, 900_000]);
        assert_eq!(seen.cpu_throttle_count, 7);
        let degrees = [("hwmon0 nvme Composite", 41850), ("thermal_zone0 x86_pkg_temp", 55000)];
        let expected = degrees.map(|(name, degrees)| (name.to_owned(), degrees));
        assert_eq!(seen.temperature_mc, BTreeMap::from(expected));
        assert_eq!(reader.read(&host, true).temperature_mc.len(), 3);
    }

    #[test]
    fn both_kinds_of_control_groups_tell_their_throttling() {
        assert_eq!(throttled_us("nr_periods 5\nthrottled_usec 1200\n"), Some(1200));
        assert_eq!(throttled_us("nr_throttled 5\nthrottled_time 1200000\n"), Some(1200));
        assert_eq!(throttled_us("usage_usec 1\n"), None);
    }
}
