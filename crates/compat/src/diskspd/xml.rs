//! The result as XML. Its first line is `<Results>`, and it contains the profile.

use super::markup::Writer;
use super::profile::{Access, Profile};
use super::results::{
    Cpu, Flow, Measured, Part, Row, Side, average, deviation_ms, mean_ms, measured, sum, utc,
};
use super::text::INTERRUPTED;
use super::topology::Topology;
use super::{jobs, to_xml};
use record::{Facts, Histogram, RecordSet};
use std::fmt::Display;

/// The version with this layout, and its date.
const LAYOUT: (&str, &str) = ("2.2.0", "2024/6/3");

/// The whole document, without a final line end.
pub(super) fn report(profile: &Profile, set: &RecordSet, version: &str) -> String {
    let mut writer = Writer::default();
    writer.begin("Results", &[]);
    let first = set.runs.first();
    let facts = first.map(|run| run.facts.clone()).unwrap_or_default();
    let started = first.map_or(0, |run| run.invocation.started_unix_ms);
    system(&mut writer, &facts, started, version);
    to_xml::write(&mut writer, profile);
    for span in measured(profile, set) {
        writer.begin("TimeSpan", &[]);
        match span {
            Some(span) => time_span(&mut writer, &span, &facts),
            None => writer.text("Error", INTERRUPTED),
        }
        writer.end();
    }
    writer.end();
    writer.finish()
}

fn system(writer: &mut Writer, facts: &Facts, started_unix_ms: u64, version: &str) {
    writer.begin("System", &[]);
    writer.text("ComputerName", &facts.hostname);
    writer.begin("Tool", &[]);
    writer.text("Version", format!("{}-fathom-{version}", LAYOUT.0));
    writer.text("VersionDate", LAYOUT.1);
    writer.end();
    writer.text("RunTime", utc(started_unix_ms));
    let governor = facts.cpu.governor.as_deref().unwrap_or("none");
    writer.empty("PowerScheme", &[("Name", &governor)]);
    let topology = Topology::from_facts(facts);
    writer.begin("ProcessorTopology", &[("Heterogeneous", &(topology.classes > 1))]);
    let online = facts.cpu.online;
    let all: Vec<u32> = (0..online).collect();
    let group: [(&str, &dyn Display); 4] = [
        ("Group", &0),
        ("MaximumProcessors", &online),
        ("ActiveProcessors", &online),
        ("ActiveProcessorMask", &mask(&all)),
    ];
    writer.empty("Group", &group);
    for (node, cpus) in &facts.cpu.nodes {
        writer.begin("Node", &[("Node", node)]);
        writer.empty("Group", &[("Group", &0), ("Mask", &mask(cpus))]);
        writer.end();
    }
    for (socket, cpus) in topology.groups(|place| place.socket) {
        writer.begin("Socket", &[("Socket", &socket)]);
        writer.empty("Group", &[("Group", &0), ("Mask", &mask(&cpus))]);
        writer.end();
    }
    for (core, cpus) in topology.groups(|place| place.core) {
        let class = cpus.first().and_then(|cpu| topology.place(*cpu)).unwrap_or_default().class;
        let core: [(&str, &dyn Display); 4] =
            [("Group", &0), ("Core", &core), ("Mask", &mask(&cpus)), ("EfficiencyClass", &class)];
        writer.empty("Core", &core);
    }
    writer.end();
    writer.end();
}

/// A mask of CPUs in hexadecimal.
fn mask(cpus: &[u32]) -> String {
    let digits = cpus.iter().max().map_or(1, |last| last / 4 + 1);
    let digit = |index: u32| {
        let set = (0..4).filter(|bit| cpus.contains(&(index * 4 + bit)));
        set.fold(0_u32, |digit, bit| digit | 1 << bit)
    };
    let text: String = (0..digits).rev().map(|index| format!("{:x}", digit(index))).collect();
    format!("0x{text}")
}

fn time_span(writer: &mut Writer, span: &Measured, facts: &Facts) {
    writer.text("TestTimeSeconds", format!("{:.2}", span.seconds));
    writer.text("ThreadCount", span.threads);
    writer.text("RequestCount", span.span.requests);
    writer.text("ProcCount", facts.cpu.online);
    processors(writer, &span.cpus, facts);
    let all = sum(span.rows.iter());
    if span.span.latency {
        latency(writer, &all);
    }
    if span.span.iops_deviation {
        iops(writer, span, &all);
    }
    let mut rows = span.rows.iter().peekable();
    while let Some(row) = rows.next() {
        writer.begin("Thread", &[]);
        writer.text("Id", row.thread);
        target(writer, span, row);
        while let Some(more) = rows.next_if(|more| more.thread == row.thread) {
            target(writer, span, more);
        }
        writer.end();
    }
}

fn processors(writer: &mut Writer, cpus: &[Cpu], facts: &Facts) {
    let topology = Topology::from_facts(facts);
    writer.begin("CpuUtilization", &[]);
    for cpu in cpus {
        let place = topology.place(cpu.number).unwrap_or_default();
        writer.begin("CPU", &[]);
        writer.text("Socket", place.socket);
        writer.text("Node", place.node);
        writer.text("Group", 0);
        writer.text("Core", place.core);
        writer.text("EfficiencyClass", place.class);
        writer.text("Id", cpu.number);
        shares(writer, cpu);
        writer.end();
    }
    writer.begin("Average", &[]);
    shares(writer, &average(cpus));
    writer.end();
    writer.end();
}

fn shares(writer: &mut Writer, cpu: &Cpu) {
    let shares = [
        ("UsagePercent", cpu.usage),
        ("UserPercent", cpu.user),
        ("KernelPercent", cpu.kernel),
        ("IdlePercent", cpu.idle),
    ];
    for (name, share) in shares {
        writer.text(name, format!("{share:.2}"));
    }
}

/// 0, 1 … 99, 99.9 … 99.9999999, 100.
fn percentiles() -> Vec<(String, f64)> {
    let whole = (0..100).map(|percent| (percent.to_string(), f64::from(percent)));
    let nines = (1..=7).map(|nines| {
        let text = format!("99.{}", "9".repeat(nines));
        let value = 100.0 - 10_f64.powi(-(nines as i32));
        (text, value)
    });
    whole.chain(nines).chain([("100".to_owned(), 100.0)]).collect()
}

fn milliseconds(ns: f64) -> String {
    format!("{:.3}", ns / 1e6)
}

fn at(latency: &Histogram, percentile: f64) -> f64 {
    // Percentile 0 is the minimum.
    if percentile == 0.0 { latency.min() as f64 } else { latency.percentile(percentile) as f64 }
}

fn latency(writer: &mut Writer, all: &Row) {
    let sides = [("Read", Side::Read), ("Write", Side::Write), ("Total", Side::Total)];
    let sides = sides.map(|(name, side)| (name, all.side(side).latency));
    let [read, write, total] = sides.each_ref().map(|(_, latency)| latency.bins().count());
    writer.begin(
        "Latency",
        &[
            ("ReadHistoBuckets", &read),
            ("WriteHistoBuckets", &write),
            ("TotalHistoBuckets", &total),
        ],
    );
    let given = || sides.iter().filter(|(_, latency)| !latency.is_empty());
    for (name, latency) in given() {
        let deviation = if *name == "Total" { "" } else { name };
        writer.text(&format!("Average{name}Milliseconds"), format!("{:.3}", mean_ms(latency)));
        writer.text(&format!("{deviation}LatencyStdev"), format!("{:.3}", deviation_ms(latency)));
    }
    for (text, percentile) in percentiles() {
        writer.begin("Bucket", &[]);
        writer.text("Percentile", text);
        for (name, latency) in given() {
            writer.text(&format!("{name}Milliseconds"), milliseconds(at(latency, percentile)));
        }
        writer.end();
    }
    writer.end();
}

fn iops(writer: &mut Writer, span: &Measured, row: &Row) {
    let ms = span.span.bucket_ms;
    writer.begin("Iops", &[]);
    for (name, side) in [
        ("ReadIopsStdDev", Side::Read),
        ("WriteIopsStdDev", Side::Write),
        ("IopsStdDev", Side::Total),
    ] {
        writer.text(name, format!("{:.3}", row.iops_deviation(side, ms)));
    }
    let rate = |ios: u64| format!("{:.0}", ios as f64 * 1000.0 / ms.max(1) as f64);
    for (number, bucket) in (1..).zip(row.buckets.values()) {
        let (read, write) = (bucket.read, bucket.write);
        let mut attributes: Vec<(String, String)> = vec![
            ("SampleMillisecond".into(), (number * ms).to_string()),
            ("Read".into(), rate(read.ios)),
            ("Write".into(), rate(write.ios)),
            ("Total".into(), rate(read.ios + write.ios)),
        ];
        if span.span.latency {
            attributes.extend(bucket_latency("Read", read));
            attributes.extend(bucket_latency("Write", write));
        }
        let shown: Vec<(&str, &dyn Display)> =
            attributes.iter().map(|(name, value)| (name.as_str(), value as &dyn Display)).collect();
        writer.empty("Bucket", &shown);
    }
    writer.end();
}

/// The known latencies of an interval: maximum and mean.
fn bucket_latency(name: &str, part: Part) -> Vec<(String, String)> {
    let mean = part.latency_ns_sum as f64 / part.ios.max(1) as f64;
    vec![
        (format!("{name}MaxLatencyMilliseconds"), milliseconds(part.latency_ns_max as f64)),
        (format!("{name}AvgLatencyMilliseconds"), milliseconds(mean)),
    ]
}

fn target(writer: &mut Writer, span: &Measured, row: &Row) {
    let flow = row.side(Side::Total);
    writer.begin("Target", &[]);
    writer.text("Path", &row.path);
    writer.text("BytesCount", flow.bytes);
    writer.text("FileSize", row.file_size);
    writer.text("IOCount", flow.ios);
    for (name, flow) in [("Read", &row.read), ("Write", &row.write)] {
        writer.text(&format!("{name}Bytes"), flow.bytes);
        writer.text(&format!("{name}Count"), flow.ios);
    }
    distribution(writer, span, row);
    if span.span.latency {
        target_latency(writer, row, &flow);
    }
    if span.span.iops_deviation {
        iops(writer, span, row);
    }
    writer.end();
}

/// The effective spread of the target in bytes.
fn distribution(writer: &mut Writer, span: &Measured, row: &Row) {
    let target = span.span.targets.iter().find(|target| target.path == row.path);
    let Some(target) = target else { return };
    let Access::Random { spread: Some(spread), .. } = &target.access else { return };
    let end = if target.max_size > 0 { row.file_size.min(target.max_size) } else { row.file_size };
    writer.begin("Distribution", &[]);
    to_xml::ranges(writer, &jobs::effective(spread, end.saturating_sub(target.base)));
    writer.end();
}

fn target_latency(writer: &mut Writer, row: &Row, total: &Flow) {
    let sides = [("Read", &row.read.latency), ("Write", &row.write.latency), ("", &total.latency)];
    for (name, latency) in sides.into_iter().filter(|(_, latency)| !latency.is_empty()) {
        let mean = format!("{:.3}", mean_ms(latency));
        writer.text(&format!("Average{name}LatencyMilliseconds"), mean);
        writer.text(&format!("{name}LatencyStdev"), format!("{:.3}", deviation_ms(latency)));
    }
}
