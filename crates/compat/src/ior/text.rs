//! IOR's tables.

use super::VERSION;
use super::command::{IorCommand, Packet, Phase};
use super::results::{Outcome, PhaseResult};
use super::summary::{Summary, summaries};
use crate::hpc::{Statistics, filesystem_line, shown};

/// Values besides the call that the head of the output shows.
#[derive(Clone, Debug, Default)]
pub struct Banner {
    /// The version of fathom.
    pub version: String,
    /// The time of the start, as date(1) shows it in the C locale.
    pub began: String,
    /// The command line.
    pub command: String,
    /// System and host name.
    pub machine: String,
    /// The directory of the file.
    pub path: String,
    /// Bytes of its filesystem, and those in use; `None`: not known.
    pub capacity: Option<(u64, u64)>,
}

/// The tables, part by part.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(pub &'a IorCommand);

/// The first column, then ten of one width.
fn columns(cells: &[&str]) -> String {
    let padded: Vec<String> = cells.iter().map(|cell| format!("{cell:<10}")).collect();
    padded.join(" ").trim_end().to_owned() + "\n"
}

const COLUMNS: [&str; 11] = [
    "access",
    "bw(MiB/s)",
    "IOPS",
    "Latency(s)",
    "block(KiB)",
    "xfer(KiB)",
    "open(s)",
    "wr/rd(s)",
    "close(s)",
    "total(s)",
    "iter",
];

/// A number as in a cell.
fn cell(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.6}"),
        ..3600.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// The cells of a phase.
fn cells(call: &IorCommand, result: &PhaseResult) -> [String; 11] {
    let measured = &result.measured;
    let kib = |bytes: u64| cell(bytes as f64 / 1024.0);
    [
        result.phase.name().to_owned(),
        cell(result.bandwidth()),
        cell(measured.iops(call.transfer)),
        cell(measured.latency()),
        kib(call.block),
        kib(call.transfer),
        cell(measured.open),
        cell(measured.moving),
        cell(measured.close),
        cell(measured.total()),
        result.repetition.to_string(),
    ]
}

/// The results as CSV: a line for each phase.
pub fn csv(call: &IorCommand, outcome: &Outcome) -> String {
    let mut head = COLUMNS.to_vec();
    head.insert(10, "numTasks");
    let mut out = head.join(",") + "\n";
    for result in &outcome.phases {
        let mut cells = cells(call, result).to_vec();
        cells.insert(10, call.tasks.to_string());
        out += &(cells.join(",") + "\n");
    }
    out
}

/// What the options mean, by name.
pub(super) fn options(call: &IorCommand) -> Vec<(&'static str, String)> {
    let choose = |first: bool, yes: &str, no: &str| if first { yes } else { no }.to_owned();
    let inter_file = match (call.reorder, call.reorder_random) {
        (_, 1..) => "random task offset",
        (true, _) => "constant task offset",
        _ => "no tasks offsets",
    };
    let mut all = vec![
        ("api", call.api.name().to_owned()),
        ("apiVersion", String::new()),
        ("test filename", call.file.clone()),
        ("access", choose(call.per_process, "file-per-process", "single-shared-file")),
        ("type", "independent".into()),
        ("segments", call.segments.to_string()),
        ("ordering in a file", choose(call.random_offset > 0, "random", "sequential")),
        ("ordering inter file", inter_file.into()),
    ];
    if call.reorder {
        all.push(("task offset", call.task_offset.to_string()));
    }
    all.extend([
        ("nodes", call.nodes.to_string()),
        ("tasks", call.tasks.to_string()),
        ("clients per node", call.per_node().to_string()),
        ("memoryBuffer", "CPU".into()),
        ("dataAccess", "CPU".into()),
        ("GPUDirect", "0".into()),
        ("repetitions", call.repetitions.to_string()),
        ("xfersize", shown(call.transfer)),
        ("blocksize", shown(call.block)),
        ("aggregate filesize", shown(call.aggregate())),
    ]);
    if call.packet != Packet::Timestamp {
        all.push(("dataPacketType", format!("{:?}", call.packet).to_lowercase()));
    }
    if call.deadline_s > 0 {
        all.push(("stonewallingTime", call.deadline_s.to_string()));
        all.push(("stoneWallingWearOut", u8::from(call.wear_out).to_string()));
    }
    all
}

fn line(key: &str, value: &str) -> String {
    format!("{key:<20}: {value}").trim_end().to_owned() + "\n"
}

impl Table<'_> {
    /// What comes before the first phase.
    pub fn head(&self, banner: &Banner) -> String {
        let mut out = format!(
            "IOR-{VERSION}-fathom-{}: MPI Coordinated Test of Parallel I/O\n",
            banner.version
        );
        out += &line("Began", &banner.began);
        out += &line("Command line", &banner.command);
        out += &line("Machine", &banner.machine);
        out += &line("TestID", "0");
        out += &line("StartTime", &banner.began);
        out += &line("Path", &banner.path);
        out += &filesystem_line(banner.capacity);
        out += "\nOptions:\n";
        out.extend(options(self.0).iter().map(|(key, value)| line(key, value)));
        out += "\nResults:\n\n";
        out += &columns(&COLUMNS);
        let ruled = COLUMNS.map(|name| "-".repeat(name.len()));
        out + &columns(&ruled.each_ref().map(String::as_str))
    }

    /// The row of a phase.
    pub fn row(&self, result: &PhaseResult) -> String {
        columns(&cells(self.0, result).each_ref().map(String::as_str))
    }

    /// The row of a removal, with `-v`.
    pub fn removal(&self, repetition: u32, seconds: f64) -> String {
        if self.0.verbose == 0 {
            return String::new();
        }
        let mut cells = ["-"; 11];
        let (total, repetition) = (cell(seconds), repetition.to_string());
        (cells[0], cells[9], cells[10]) = ("remove", &total, &repetition);
        columns(&cells)
    }

    /// What comes after the last phase. `finished`: the time.
    pub fn end(&self, outcome: &Outcome, finished: &str) -> String {
        let rows = summaries(self.0, outcome);
        let mut out = String::new();
        for row in rows.iter().filter(|_| self.0.verbose > 0) {
            let name = if row.phase == Phase::Write { "Max Write: " } else { "Max Read:  " };
            let best = row.bandwidth.max;
            let mega = best * f64::from(1 << 20) / 1e6;
            out += &format!("{name}{best:.2} MiB/sec ({mega:.2} MB/sec)\n");
        }
        out += "\nSummary of all tests:\n";
        out += &summary_line(&SUMMARY.map(|(name, _)| name.to_owned()));
        out.extend(rows.iter().map(|row| summary_line(&summary_cells(self.0, row))));
        out + &line("Finished", finished)
    }
}

/// The columns of the summary and their widths.
const SUMMARY: [(&str, usize); 26] = [
    ("Operation", 9),
    ("Max(MiB)", 10),
    ("Min(MiB)", 10),
    ("Mean(MiB)", 10),
    ("StdDev", 10),
    ("Max(OPs)", 10),
    ("Min(OPs)", 10),
    ("Mean(OPs)", 10),
    ("StdDev", 10),
    ("Mean(s)", 10),
    ("Stonewall(s)", 12),
    ("Stonewall(MiB)", 14),
    ("Test#", 5),
    ("#Tasks", 6),
    ("tPN", 3),
    ("reps", 4),
    ("fPP", 3),
    ("reord", 5),
    ("reordoff", 8),
    ("reordrand", 9),
    ("seed", 4),
    ("segcnt", 6),
    ("blksiz", 10),
    ("xsize", 9),
    ("aggs(MiB)", 9),
    ("API RefNum", 10),
];

fn summary_line(cells: &[String; 26]) -> String {
    let padded = cells.iter().zip(SUMMARY).enumerate().map(|(index, (text, (_, width)))| {
        if index == 0 { format!("{text:<width$}") } else { format!("{text:>width$}") }
    });
    padded.collect::<Vec<_>>().join(" ") + "\n"
}

fn summary_cells(call: &IorCommand, row: &Summary) -> [String; 26] {
    let four = |statistics: &Statistics| {
        [statistics.max, statistics.min, statistics.mean, statistics.deviation]
            .map(|value| format!("{value:.2}"))
    };
    let [max, min, mean, deviation] = four(&row.bandwidth);
    let [ops_max, ops_min, ops_mean, ops_deviation] = four(&row.operations);
    let number = |value: bool| u8::from(value).to_string();
    let stonewall = |of: fn((f64, f64)) -> f64| {
        row.stonewall.map_or("NA".into(), |found| format!("{:.2}", of(found)))
    };
    [
        row.phase.name().to_owned(),
        max,
        min,
        mean,
        deviation,
        ops_max,
        ops_min,
        ops_mean,
        ops_deviation,
        format!("{:.5}", row.seconds),
        stonewall(|(seconds, _)| seconds),
        stonewall(|(_, mebibytes)| mebibytes),
        "0".into(),
        call.tasks.to_string(),
        call.tasks.to_string(),
        call.repetitions.to_string(),
        number(call.per_process),
        number(call.reorder),
        call.task_offset.to_string(),
        number(call.reorder_random > 0),
        call.reorder_seed.to_string(),
        call.segments.to_string(),
        call.block.to_string(),
        call.transfer.to_string(),
        format!("{:.1}", row.bytes / f64::from(1 << 20)),
        format!("{} {}", call.api.name(), call.reference),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::run;
    use super::*;

    fn call() -> IorCommand {
        let (block, transfer) = (64 << 20, 256 << 10);
        IorCommand { tasks: 2, block, transfer, verbose: 1, ..IorCommand::default() }
    }

    fn outcome() -> Outcome {
        let mut outcome = Outcome::default();
        outcome.add(&run("write", "0"));
        outcome.add(&run("read", "0"));
        outcome
    }

    #[test]
    fn rows_read_as_iors() {
        let (call, outcome) = (call(), outcome());
        let head = Table(&call).head(&Banner::default());
        assert!(head.contains("\napi                 : POSIX\n"), "{head}");
        assert!(head.contains("\nxfersize            : 262144 bytes\n"), "{head}");
        assert!(head.contains("\naggregate filesize  : 128 MiB\n"), "{head}");
        assert!(
            head.ends_with(
                "access     bw(MiB/s)  IOPS       Latency(s) block(KiB) xfer(KiB)  open(s)    \
                 wr/rd(s)   close(s)   total(s)   iter\n\
                 ------     ---------  ----       ---------- ---------- ---------  -------    \
                 --------   --------   --------   ----\n"
            ),
            "{head}"
        );
        assert_eq!(
            Table(&call).row(&outcome.phases[0]),
            "write      25.60      128.00     0.011719   65536      256.00     0.500000   4.00       \
             0.500000   5.00       0\n"
        );
        assert_eq!(
            Table(&call).removal(3, 0.25),
            "remove     -          -          -          -          -          -          -          \
             -          0.250000   3\n"
        );
        let quiet = IorCommand { verbose: 0, ..call };
        assert_eq!(Table(&quiet).removal(3, 0.25), "");
    }

    #[test]
    fn the_end_has_the_best_and_a_row_for_each_operation() {
        let end = Table(&call()).end(&outcome(), "now");
        assert!(
            end.starts_with("Max Write: 25.60 MiB/sec (26.84 MB/sec)\nMax Read:  25.60 "),
            "{end}"
        );
        let write = end.lines().find(|line| line.starts_with("write ")).unwrap();
        let fields: Vec<&str> = write.split_whitespace().collect();
        let first = ["write", "25.60", "25.60", "25.60", "0.00", "102.40", "102.40", "102.40"];
        assert_eq!(fields[..8], first);
        assert_eq!(fields[9..16], ["5.00000", "NA", "NA", "0", "2", "2", "1"]);
        assert_eq!(fields[fields.len() - 4..], ["262144", "128.0", "POSIX", "0"]);
        assert!(end.ends_with("\nFinished            : now\n"), "{end}");
    }

    #[test]
    fn csv_has_a_line_for_each_phase() {
        let csv = csv(&call(), &outcome());
        let lines: Vec<&str> = csv.lines().collect();
        assert!(lines[0].ends_with("total(s),numTasks,iter"), "{csv}");
        let write = "write,25.60,128.00,0.011719,65536,256.00,0.500000,4.00,0.500000,5.00,2,0";
        assert_eq!(lines[1], write);
        assert_eq!(lines.len(), 3);
    }
}
