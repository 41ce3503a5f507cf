//! Lines for a pipe with fixed columns: one line for each disk and interval.

use crate::layers::LayersNow;
use crate::{CpuShares, DiskRates, ProcessRates, Rates, Stack};
use record::ArraySample;
use std::fmt::Write;

const MIB: f64 = (1 << 20) as f64;
/// The header of the figures of a disk.
const COLUMNS: &str = "      r/s    rMiB/s      r_ms       w/s    wMiB/s      w_ms     d/s     \
                       f/s   queue  busy% rshare%";
/// Lines after which the header is repeated.
const HEADER_EVERY: usize = 40;
/// Processes that have a line.
const PROCESSES_MAX: usize = 10;
/// Smallest width of the column of names.
const NAME_MIN: usize = 10;

/// Writes intervals as lines.
#[derive(Debug, Default)]
pub struct Plain {
    per_cpu: bool,
    stack: Stack,
    name: usize,
    since_header: Option<usize>,
}

impl Plain {
    /// With `per_cpu` there is a line for each CPU.
    pub fn new(per_cpu: bool) -> Plain {
        Plain { per_cpu, ..Plain::default() }
    }

    /// The lines of an interval that ended at `time`, with a header at the beginning, every forty
    /// lines, and when the devices change.
    pub fn lines(&mut self, time: &str, stack: &Stack, rates: &Rates) -> String {
        let mut text = String::new();
        let changed = *stack != self.stack;
        if changed || self.since_header.is_none() {
            self.stack = stack.clone();
            let names = stack.rows.iter().map(|row| row.name.chars().count());
            self.name = names.max().unwrap_or(0).max(NAME_MIN);
            text += &device_comments(stack);
        }
        if changed || self.since_header.is_none_or(|lines| lines >= HEADER_EVERY) {
            text += &self.header(time.chars().count());
            self.since_header = Some(0);
        }
        let body = self.body(time, rates);
        self.since_header = self.since_header.map(|lines| lines + body.lines().count());
        text + &body
    }

    fn header(&self, time: usize) -> String {
        let (name, time) = (self.name, time.saturating_sub(2));
        format!("# {:<time$} {:<name$} {COLUMNS}\n", "time", "device")
    }

    fn body(&self, time: &str, rates: &Rates) -> String {
        let mut text = String::new();
        for row in &self.stack.rows {
            let share = self.stack.share_of_reads(row, rates);
            let figures = rates.disks.get(&row.name).map(|disk| disk_figures(disk, share));
            self.line(&mut text, time, &row.name, figures.as_deref().unwrap_or("gone"));
        }
        for (name, array) in &rates.arrays {
            for (what, figures) in array_figures(array) {
                self.line(&mut text, time, &format!("{name}:{what}"), &figures);
            }
        }
        if let Some(application) = &rates.application {
            self.line(&mut text, time, "app", &application.figures());
            for (device, figures) in application.group_figures() {
                self.line(&mut text, time, &format!("app:{device}"), &figures);
            }
        }
        for path in &rates.layers {
            let name = format!("{}:{}", path.sums.device, path.operation());
            self.line(&mut text, time, &name, &layer_figures(path));
        }
        for process in rates.processes.iter().take(PROCESSES_MAX) {
            let name = format!("{}:{}", process.device, process.name.replace(' ', "_"));
            self.line(&mut text, time, &name, &process_figures(process));
        }
        if let Some(cpu) = &rates.cpu {
            self.line(&mut text, time, "cpu", &cpu_figures(cpu));
        }
        let cpus = rates.cpus.iter().enumerate().filter(|_| self.per_cpu);
        for (number, cpu) in cpus.filter_map(|(number, cpu)| Some((number, cpu.as_ref()?))) {
            self.line(&mut text, time, &format!("cpu{number}"), &cpu_figures(cpu));
        }
        for (what, figures) in machine_figures(rates) {
            self.line(&mut text, time, what, &figures);
        }
        text
    }

    fn line(&self, text: &mut String, time: &str, name: &str, figures: &str) {
        let width = self.name;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{time} {name:<width$} {figures}");
    }
}

/// The mean time of the layers of I/Os, in microseconds, each figure behind its name.
fn layer_figures(path: &LayersNow) -> String {
    let Some(means) = path.mean_ns else { return "mean_us -".into() };
    let mut text = format!("mean_us {:.1}", means.iter().sum::<f64>() / 1e3);
    for (name, mean) in LayersNow::NAMES.into_iter().zip(means) {
        // Writing to a String cannot fail.
        let _ = write!(text, " {name}_us {:.1}", mean / 1e3);
    }
    text
}

fn process_figures(process: &ProcessRates) -> String {
    format!(
        "pid {} requests/s {:.1} MiB/s {:.2} in_device {:.2} device% {:.1}",
        process.pid,
        process.requests_per_second,
        process.bytes_per_second / MIB,
        process.in_device,
        process.device_percent
    )
}

/// The devices as comment lines, in display order.
fn device_comments(stack: &Stack) -> String {
    let mut text = String::new();
    for row in &stack.rows {
        let on = row.also_on.iter().map(|name| format!(" on {name}"));
        let line = format!(
            "{}{} {}{}",
            "  ".repeat(row.follows.len()),
            row.name,
            row.what,
            on.collect::<String>()
        );
        let _ = writeln!(text, "# {}", line.trim_end());
    }
    text
}

fn disk_figures(disk: &DiskRates, share: Option<f64>) -> String {
    let or_dash = |value: Option<f64>, decimals: usize| match value {
        Some(value) => format!("{value:.decimals$}"),
        None => "-".into(),
    };
    format!(
        "{:>9.1} {:>9.2} {:>9} {:>9.1} {:>9.2} {:>9} {:>7.1} {:>7.1} {:>7.2} {:>6.1} {:>7}",
        disk.reads_per_second,
        disk.read_bytes_per_second / MIB,
        or_dash(disk.read_ms, 3),
        disk.writes_per_second,
        disk.write_bytes_per_second / MIB,
        or_dash(disk.write_ms, 3),
        disk.discards_per_second,
        disk.flushes_per_second,
        disk.queue,
        disk.busy_percent,
        or_dash(share, 1),
    )
}

/// Missing members, and a resync or check of the array.
fn array_figures(array: &ArraySample) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    if array.working < array.wanted {
        let figures = format!("working {} wanted {}", array.working, array.wanted);
        lines.push(("degraded".to_owned(), figures));
    }
    if let Some(sync) = &array.sync {
        let figures = match (sync.fraction(), &sync.waits) {
            (Some(fraction), _) => format!(
                "done% {:.1} MiB/s {:.1} left_s {}",
                fraction * 100.0,
                sync.bytes_per_second as f64 / MIB,
                sync.seconds_left().map_or("-".into(), |left| format!("{left:.0}")),
            ),
            (None, waits) => waits.clone().unwrap_or_else(|| "begins".into()),
        };
        lines.push((sync.action.clone(), figures));
    }
    lines
}

fn cpu_figures(cpu: &CpuShares) -> String {
    format!(
        "user% {:.1} system% {:.1} irq% {:.1} softirq% {:.1} steal% {:.1} iowait% {:.1} idle% {:.1}",
        cpu.user, cpu.system, cpu.irq, cpu.softirq, cpu.steal, cpu.iowait, cpu.idle
    )
}

fn machine_figures(rates: &Rates) -> Vec<(&'static str, String)> {
    let mib = |bytes: u64| bytes as f64 / MIB;
    let memory = rates.memory;
    let mut lines = vec![(
        "memory",
        format!(
            "available_MiB {:.1} cached_MiB {:.1} dirty_MiB {:.1} writeback_MiB {:.1}",
            mib(memory.available),
            mib(memory.cached),
            mib(memory.dirty),
            mib(memory.writeback)
        ),
    )];
    if let Some(paging) = &rates.paging {
        let figures = format!(
            "in_MiB/s {:.2} out_MiB/s {:.2} refault_MiB/s {:.2} swap_in_MiB/s {:.2} \
             swap_out_MiB/s {:.2} major_faults/s {:.1}",
            paging.in_bytes_per_second / MIB,
            paging.out_bytes_per_second / MIB,
            paging.refault_bytes_per_second / MIB,
            paging.swap_in_bytes_per_second / MIB,
            paging.swap_out_bytes_per_second / MIB,
            paging.major_faults_per_second
        );
        lines.push(("paging", figures));
    }
    if let Some(pressure) = &rates.pressure {
        let figures = format!(
            "io_some% {:.1} io_full% {:.1} memory_some% {:.1} memory_full% {:.1} cpu_some% {:.1}",
            pressure.io_some,
            pressure.io_full,
            pressure.memory_some,
            pressure.memory_full,
            pressure.cpu_some
        );
        lines.push(("pressure", figures));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApplicationRates, GroupRates, MemoryNow, PagingRates, PressureShares};
    use record::{ArraySync, DeviceFacts, DeviceKind, DiskSample, LayerSums};
    use std::collections::BTreeMap;

    fn stack() -> Stack {
        let device = |name: &str, kind: DeviceKind, below: &[&str]| {
            let below = below.iter().map(|b| (*b).to_owned()).collect();
            (name.to_owned(), DeviceFacts { name: name.into(), kind, below, ..Default::default() })
        };
        let devices = BTreeMap::from([
            device("md0", DeviceKind::Md { level: "raid1".into() }, &["sda", "sdb"]),
            device("sda", DeviceKind::Disk, &[]),
            device("sdb", DeviceKind::Disk, &[]),
        ]);
        Stack::under(&devices, &["md0".into()])
    }

    fn rates() -> Rates {
        let disk = |reads: u64| DiskRates {
            reads_per_second: reads as f64,
            read_bytes_per_second: reads as f64 * 4096.0,
            read_ms: (reads > 0).then_some(0.125),
            counted: DiskSample { read_ios: reads, ..DiskSample::default() },
            queue: 1.25,
            busy_percent: 100.0,
            ..DiskRates::default()
        };
        let sync = ArraySync {
            action: "check".into(),
            done_bytes: 1 << 30,
            total_bytes: 4 << 30,
            bytes_per_second: 100 << 20,
            waits: None,
        };
        let array = ArraySample { wanted: 2, working: 1, sync: Some(sync), ..Default::default() };
        Rates {
            seconds: 1.0,
            disks: BTreeMap::from([("md0".into(), disk(4000)), ("sda".into(), disk(4000))]),
            cpu: Some(CpuShares { user: 12.5, idle: 87.5, ..CpuShares::default() }),
            cpus: vec![Some(CpuShares { idle: 100.0, ..CpuShares::default() }), None],
            memory: MemoryNow { cached: 3 << 20, ..MemoryNow::default() },
            paging: Some(PagingRates { in_bytes_per_second: MIB, ..PagingRates::default() }),
            pressure: Some(PressureShares { io_some: 45.0, ..PressureShares::default() }),
            arrays: BTreeMap::from([("md0".into(), array)]),
            application: None,
            layers: Vec::new(),
            processes: Vec::new(),
        }
    }

    #[test]
    fn an_interval_is_a_line_for_each_thing() {
        let text = Plain::new(false).lines("14:02:11", &stack(), &rates());
        let expected = "\
# md0 raid1
#   sda
#   sdb
# time   device           r/s    rMiB/s      r_ms       w/s    wMiB/s      w_ms     d/s     f/s   queue  busy% rshare%
14:02:11 md0           4000.0     15.62     0.125       0.0      0.00         -     0.0     0.0    1.25  100.0       -
14:02:11 sda           4000.0     15.62     0.125       0.0      0.00         -     0.0     0.0    1.25  100.0   100.0
14:02:11 sdb        gone
14:02:11 md0:degraded working 1 wanted 2
14:02:11 md0:check  done% 25.0 MiB/s 100.0 left_s 31
14:02:11 cpu        user% 12.5 system% 0.0 irq% 0.0 softirq% 0.0 steal% 0.0 iowait% 0.0 idle% 87.5
14:02:11 memory     available_MiB 0.0 cached_MiB 3.0 dirty_MiB 0.0 writeback_MiB 0.0
14:02:11 paging     in_MiB/s 1.00 out_MiB/s 0.00 refault_MiB/s 0.00 swap_in_MiB/s 0.00 swap_out_MiB/s 0.00 major_faults/s 0.0
14:02:11 pressure   io_some% 45.0 io_full% 0.0 memory_some% 0.0 memory_full% 0.0 cpu_some% 0.0
";
        assert_eq!(text, expected);
    }

    #[test]
    fn layers_and_processes_are_lines() {
        let sums = LayerSums { device: "sda".into(), ..LayerSums::default() };
        let layers = vec![LayersNow { sums, mean_ns: Some([0.0, 500.0, 1_000.0, 90_000.0]) }];
        let process = ProcessRates {
            name: "my sql".into(),
            pid: 42,
            device: "sda".into(),
            device_percent: 61.0,
            ..ProcessRates::default()
        };
        let text = Plain::new(false)
            .body("10:00:00", &Rates { layers, processes: vec![process], ..rates() });
        let figures = "mean_us 91.5 request_us 0.0 plug_us 0.5 scheduler_us 1.0 device_us 90.0";
        assert!(text.contains("sda:flush") && text.contains(figures), "{text}");
        assert!(text.contains("sda:my_sql") && text.contains("device% 61.0"), "{text}");
    }

    #[test]
    fn an_application_is_a_line_and_its_group_a_line_for_each_device() {
        let group = BTreeMap::from([("sda".to_owned(), GroupRates::default())]);
        let application = ApplicationRates { in_flight: 2.5, group, ..ApplicationRates::default() };
        let rates = Rates { application: Some(application), ..rates() };
        let text = Plain::new(false).lines("14:02:11", &stack(), &rates);
        assert!(text.contains("14:02:11 app        in_flight 2.50 p95 0"), "{text}");
        assert!(text.contains("14:02:11 app:sda    r/s 0.0 r_bytes -"), "{text}");
    }

    #[test]
    fn names_of_columns_come_again_every_so_often_and_when_the_devices_change() {
        let mut plain = Plain::new(true);
        let has_header = |text: &str| text.contains("# time");
        assert!(has_header(&plain.lines("1", &stack(), &rates())));
        let second = plain.lines("2", &stack(), &rates());
        assert!(!has_header(&second) && second.contains("cpu0") && !second.contains("cpu1"));
        let mut seen = 2 * second.lines().count();
        while seen < HEADER_EVERY {
            assert!(!has_header(&plain.lines("3", &stack(), &rates())));
            seen += second.lines().count();
        }
        assert!(has_header(&plain.lines("4", &stack(), &rates())));
        let other = Stack { rows: stack().rows[..1].to_vec() };
        assert!(has_header(&plain.lines("5", &other, &rates())));
    }
}
