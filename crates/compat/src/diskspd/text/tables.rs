//! The tables of a timespan.

use crate::diskspd::profile::{Access, TimeSpan};
use crate::diskspd::results::{Cpu, Measured, Row, Side, average, deviation_ms, mean_ms, sum};
use crate::diskspd::topology::{Place, Topology};
use crate::diskspd::{jobs, size};
use record::Histogram;

/// Percentiles of the distribution, with their names.
pub(crate) const PERCENTILES: [(&str, f64); 13] = [
    ("25th", 25.0),
    ("50th", 50.0),
    ("75th", 75.0),
    ("90th", 90.0),
    ("95th", 95.0),
    ("99th", 99.0),
    ("3-nines", 99.9),
    ("4-nines", 99.99),
    ("5-nines", 99.999),
    ("6-nines", 99.9999),
    ("7-nines", 99.999_99),
    ("8-nines", 99.999_999),
    ("9-nines", 99.999_999_9),
];

/// The value at a percentile, in milliseconds.
pub(crate) fn percentile_ms(latency: &Histogram, percentile: f64) -> f64 {
    latency.percentile(percentile) as f64 / 1e6
}

/// Use of the CPUs.
pub(super) fn cpus(cpus: &[Cpu], topology: &Topology) -> String {
    let headings: String = placing(topology, Place::default())
        .iter()
        .map(|column| format!("{} | ", column.0))
        .collect();
    let border = "-".repeat(40 + headings.len()) + "\n";
    let columns = |cpu: &Cpu| {
        format!(
            "| {:>6.2}%| {:>6.2}%| {:>6.2}%| {:>6.2}%\n",
            cpu.usage, cpu.user, cpu.kernel, cpu.idle
        )
    };
    let rows = cpus.iter().map(|cpu| {
        let place = placing(topology, topology.place(cpu.number).unwrap_or_default());
        let place: String = place.into_iter().map(|column| column.1 + "| ").collect();
        format!("{place}{:>4}{}", cpu.number, columns(cpu))
    });
    let rows: String = rows.collect();
    let average = format!("{}avg.{}", " ".repeat(headings.len()), columns(&average(cpus)));
    format!("{headings}CPU |  Usage |  User  | Kernel |  Idle\n{border}{rows}{border}{average}")
}

/// The place of a CPU: heading and cell of a column for each level that the machine has several of.
fn placing(topology: &Topology, place: Place) -> Vec<(&'static str, String)> {
    let fast = if place.class + 1 == topology.classes { 'P' } else { ' ' };
    let columns = [
        (topology.sockets > 1, "Socket", format!("{:>7}", place.socket)),
        (topology.nodes > 1, "Node", format!("{:>5}", place.node)),
        (topology.has_threads(), "Core", format!("{:>5}", place.core)),
        (topology.classes > 1, "Class", format!("{:>5}{fast}", place.class)),
    ];
    columns.into_iter().filter(|column| column.0).map(|(_, name, cell)| (name, cell)).collect()
}

/// The effective spread over a target, if there is one.
pub(super) fn effective(span: &TimeSpan, rows: &[Row]) -> String {
    let mut out = String::new();
    for target in &span.targets {
        let Access::Random { spread: Some(spread), .. } = &target.access else { continue };
        let size = rows.iter().find(|row| row.path == target.path).map_or(0, |row| row.file_size);
        let end = if target.max_size > 0 { size.min(target.max_size) } else { size };
        let ranges = jobs::effective(spread, end.saturating_sub(target.base));
        out += &format!("{}:\n", target.path);
        out += &spread_lines(&ranges, "   ");
    }
    if out.is_empty() {
        return out;
    }
    format!("\nEffective IO Distributions\n--------------------------\n{out}")
}

/// One line per range.
pub(super) fn spread_lines(spread: &crate::diskspd::Spread, indent: &str) -> String {
    let mut from = 0;
    let mut out = String::new();
    for (io, part) in &spread.ranges {
        let to = from + part;
        out += &match spread.absolute {
            true => {
                format!("{indent}{io:3}% of IO => [{} - {})\n", size::show(from), size::show(to))
            }
            false => format!("{indent}{io:3}% of IO => [{from:2}% - {to:3}%) of target\n"),
        };
        from = to;
    }
    out
}

/// Bytes, I/Os and rates of each thread and target.
pub(super) fn io(span: &Measured, side: Side) -> String {
    let (latency, deviation) = (span.span.latency, span.span.iops_deviation);
    let mut heading =
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s ".to_owned();
    let mut border = 66;
    if latency {
        (heading, border) = (heading + "|  AvgLat  ", border + 11);
    }
    if deviation {
        (heading, border) = (heading + "| IopsStdDev ", border + 13);
    }
    if latency {
        (heading, border) = (heading + "| LatStdDev ", border + 12);
    }
    let border = "-".repeat(border + 12) + "\n";
    let rows: String = span
        .rows
        .iter()
        .map(|row| {
            let file = format!("{} ({})", row.path, size::show(row.file_size));
            format!("{:>6} | {}| {file}\n", row.thread, columns(span, row, side))
        })
        .collect();
    let total = columns(span, &sum(span.rows.iter()), side);
    format!("{heading}|  file\n{border}{rows}{border}total:   {}\n", total.trim_end())
}

/// The figures of a row.
fn columns(span: &Measured, row: &Row, side: Side) -> String {
    let flow = row.side(side);
    let mut out = format!(
        "{:>15} | {:>12} | {:>10.2} | {:>10.2} ",
        flow.bytes,
        flow.ios,
        flow.bytes as f64 / f64::from(1 << 20) / span.seconds,
        flow.ios as f64 / span.seconds
    );
    if span.span.latency {
        out += &format!("| {:>8.3} ", mean_ms(&flow.latency));
    }
    if span.span.iops_deviation {
        out += &format!("| {:>10.2} ", row.iops_deviation(side, span.span.bucket_ms));
    }
    if span.span.latency {
        out += &match flow.latency.is_empty() {
            true => "|       N/A ".to_owned(),
            false => format!("|  {:>8.3} ", deviation_ms(&flow.latency)),
        };
    }
    out
}

/// The latency distribution.
pub(super) fn distribution(rows: &Row) -> String {
    let sides = [Side::Read, Side::Write, Side::Total].map(|side| rows.side(side).latency);
    let line = |name: &str, value: &dyn Fn(&Histogram) -> f64| {
        let cell = |latency: &Histogram| match latency.is_empty() {
            true => format!("{:>10}", "N/A"),
            false => format!("{:>10.3}", value(latency)),
        };
        let [read, write, total] = sides.each_ref().map(cell);
        format!("{name:>7} | {read} | {write} | {total}\n")
    };
    let mut out = "  %-ile |  Read (ms) | Write (ms) | Total (ms)\n".to_owned();
    out += &("-".repeat(46) + "\n");
    out += &line("min", &|latency| latency.min() as f64 / 1e6);
    for (name, percentile) in PERCENTILES {
        out += &line(name, &|latency| percentile_ms(latency, percentile));
    }
    out + &line("max", &|latency| latency.max() as f64 / 1e6)
}
