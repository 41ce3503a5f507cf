//! What is printed: IOzone's head and table, then what the figures are worth.

use super::conclusion::{Conclusion, Figure};
use super::operation::Operation;
use super::source::Source;
use super::table::{self, Sheet};
use super::{IoCalls, IozoneCommand, Mode, Sync, Unit, throughput};
use judge::Judged;
use record::Severity;
use report::style::Style;
use report::verdict;

/// What the head says of the call itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banner<'a> {
    /// Version of fathom.
    pub version: &'a str,
    /// When it began, for people.
    pub began: &'a str,
    /// The command line.
    pub command: &'a str,
    /// System, host, release and machine.
    pub uname: &'a str,
}

/// The lines before the table.
pub fn head(call: &IozoneCommand, banner: &Banner) -> String {
    let mut lines = vec![
        format!("fathom {}: IOzone's tests, on fathom's engine", banner.version),
        String::new(),
        format!("Run began: {}", banner.began),
        String::new(),
    ];
    lines.extend(options(call));
    if call.show.uname {
        lines.extend([String::new(), format!("Machine = {}", banner.uname)]);
    }
    lines.push(format!("Command line used: {}", banner.command));
    lines.push(format!("Output is in {}", unit_words(call.show.unit)));
    lines.push("Time Resolution = 0.000000001 seconds.".into());
    lines.push(format!("Processor cache size set to {} kBytes.", call.show.cache.0));
    lines.push(format!("Processor cache line size set to {} bytes.", call.show.cache.1));
    lines.push(format!("File stride size set to {} * record size.", call.access.stride));
    lines.extend(call.notes.iter().map(|note| format!("Note: {note}")));
    let line = |line: &String| if line.is_empty() { "\n".into() } else { format!("\t{line}\n") };
    lines.iter().map(line).collect()
}

/// The options in words.
fn options(call: &IozoneCommand) -> Vec<String> {
    let access = &call.access;
    let mut lines = Vec::new();
    let mut add = |applies: bool, text: String| lines.extend(applies.then_some(text));
    add(call.mode == Mode::Automatic, "Automatic mode".into());
    add(access.direct, "O_DIRECT: past the page cache, but for fwrite and fread".into());
    add(access.sync == Sync::Sync, "O_SYNC: each write waits for the medium".into());
    add(access.sync == Sync::Dsync, "O_DSYNC: each write waits for its data on the medium".into());
    add(access.fsync, "fsync is part of the time of writing".into());
    add(access.calls == IoCalls::Mapping, "Files are mapped".into());
    if let IoCalls::Asynchronous(depth) = access.calls {
        add(true, format!("POSIX asynchronous I/O, {depth} at a time"));
    }
    add(access.cold, "Pages of the file are dropped before each test".into());
    for size in &call.sizes {
        add(true, format!("File size set to {size} kB"));
    }
    for record in &call.records {
        add(true, format!("Record Size {record} kB"));
    }
    if let Mode::Throughput { from, to } = call.mode {
        add(from == to, format!("{to} processes"));
        add(from != to, format!("{from} to {to} processes"));
        add(!call.together.stonewall, "Processes go on when the first has ended".into());
    }
    lines
}

fn unit_words(unit: Unit) -> &'static str {
    match unit {
        Unit::Kilobytes => "kBytes/sec",
        Unit::Operations => "operations per second",
        Unit::Microseconds => "microseconds per operation",
    }
}

/// What follows the figures: how it ended, sheets, then what answered, latencies, verdict and
/// findings.
pub fn report(call: &IozoneCommand, conclusion: &Conclusion, style: &Style) -> String {
    let mut out = match (&conclusion.failure, conclusion.interrupted_by) {
        (Some(failure), _) => {
            let line = format!("{} failed: {}", failure.cell, failure.text);
            format!("\n{}\n", style.severity(Severity::Error, &style.wrap(&line, 0)))
        }
        (None, Some(signal)) => {
            format!("\nEnded early by signal {signal}: the tests before it are shown.\n")
        }
        (None, None) => "\niozone test complete.\n".into(),
    };
    if !conclusion.figures.is_empty() {
        out += &cpu_and_sheets(call, conclusion);
        out += &worth(call, conclusion, style);
    }
    out
}

/// The figures as sheets for spreadsheets.
pub fn sheets(call: &IozoneCommand, figures: &[Figure]) -> Vec<Sheet> {
    match call.mode {
        Mode::Throughput { .. } => throughput::sheets(call, figures),
        _ => table::sheets(&call.operations(), figures, |figure| figure.throughput(call.show.unit)),
    }
}

/// CPU use and sheets, where they are asked for.
fn cpu_and_sheets(call: &IozoneCommand, conclusion: &Conclusion) -> String {
    let figures = &conclusion.figures;
    let mut out = String::new();
    let throughput = matches!(call.mode, Mode::Throughput { .. });
    if call.show.cpu && !throughput {
        out += "\nCPU use, per cent of one CPU\n";
        out += &grid(call, figures, |figure| format!("{:.1}", figure.cpu));
    }
    if call.show.spreadsheet {
        let sheets = sheets(call, figures);
        out += &match throughput {
            true => throughput::sheet_text(call, &sheets),
            false => {
                let text = table::sheet_text(&sheets, call.show.unit.decimals());
                format!("Excel output is below:\n{text}")
            }
        };
    }
    out
}

/// A table of what was measured, with the columns that were.
fn grid(call: &IozoneCommand, figures: &[Figure], show: impl Fn(&Figure) -> String) -> String {
    let columns = call.operations();
    let row = |sizes: (u64, u64)| table::row(&columns, sizes, figures, &show);
    table::head(&columns) + &table::rows(figures).into_iter().map(row).collect::<String>()
}

/// So many figures are shown in a line each; of more there are tables.
const LINES_MAX: usize = 64;

/// What IOzone does not say of its figures.
fn worth(call: &IozoneCommand, conclusion: &Conclusion, style: &Style) -> String {
    let figures = &conclusion.figures;
    let throughput = matches!(call.mode, Mode::Throughput { .. });
    let mut out = match throughput || figures.len() <= LINES_MAX {
        true => lines(call, figures, style),
        false => tables(call, figures, style),
    };
    out += &memory(call, conclusion, style);
    if let Some(durability) = conclusion.durability.filter(|_| call.writes()) {
        let line = format!("Writes: {}: {}", durability.name(), durability.meaning());
        out += &format!("\n{}\n", style.wrap(&line, 0));
    }
    let judged = Judged {
        verdicts: conclusion.verdicts.clone(),
        findings: conclusion.findings.clone(),
        ..Judged::default()
    };
    out + &verdict::brief(&judged, style)
}

fn mark(source: Source) -> &'static str {
    match source {
        Source::Memory => "mem",
        Source::Storage => "disk",
        Source::Unknown => "?",
    }
}

/// What the marks mean.
const MARKS: &str = "mem: the page cache, disk: storage, ?: nothing tells";

/// Of many figures: what answered, and the latency that one of a hundred is above.
fn tables(call: &IozoneCommand, figures: &[Figure], style: &Style) -> String {
    let title = |text: String| format!("\n{}\n", style.bold(&style.wrap(&text, 0)));
    let latency = |figure: &Figure| figure.latency_ns.map(|all| microseconds(all[1]));
    let mut out = title(format!("What answered ({MARKS})"));
    out += &grid(call, figures, |figure| mark(figure.source).to_owned());
    out += &title("Latency, 99th percentile, in microseconds (others are in the record)".into());
    out + &grid(call, figures, |figure| latency(figure).unwrap_or_default())
}

fn microseconds(ns: u64) -> String {
    let decimals = if ns < 100_000 { 1 } else { 0 };
    format!("{:.decimals$}", ns as f64 / 1e3)
}

/// A line for each figure.
fn lines(call: &IozoneCommand, figures: &[Figure], style: &Style) -> String {
    let throughput = matches!(call.mode, Mode::Throughput { .. });
    let of_process = if throughput { " of the slowest process" } else { "" };
    let title = format!("What answered ({MARKS}), and latencies{of_process} in microseconds");
    let mut out = format!("\n{}\n", style.bold(&style.wrap(&title, 0)));
    out += &format!(
        "{:<19}{:>9}{:>8} {:>5}{:>9}{:>9}{:>9}{:>9}\n",
        "", "kB", "reclen", "from", "p50", "p99", "p99.9", "largest"
    );
    for figure in figures {
        let name = match figure.processes {
            Some(count) => format!("{count:>2} {}", figure.operation.phase()),
            None => figure.operation.kind().name.to_owned(),
        };
        let (size, record) = figure.sizes();
        out += &format!("{name:<19}{size:>9}{record:>8} {:>5}", mark(figure.source));
        let latencies = figure.latency_ns.map(|all| all.map(microseconds));
        let latencies = latencies.unwrap_or_else(|| std::array::from_fn(|_| "-".into()));
        out.extend(latencies.iter().map(|latency| format!(" {latency:>8}")));
        out += "\n";
    }
    out
}

/// So many operations are named.
const NAMED_MAX: usize = 6;

/// Which figures are not of storage, and what to do about it.
fn memory(call: &IozoneCommand, conclusion: &Conclusion, style: &Style) -> String {
    let all = &conclusion.figures;
    let cached: Vec<&Figure> = all.iter().filter(|f| f.source == Source::Memory).collect();
    if cached.is_empty() {
        return String::new();
    }
    let mut operations: Vec<Operation> = cached.iter().map(|figure| figure.operation).collect();
    operations.sort_unstable();
    operations.dedup();
    let names: Vec<&str> = operations.iter().map(|operation| operation.kind().name).collect();
    let named = match names.len() {
        0..=NAMED_MAX => names.join(", "),
        count => format!("{} and {} more", names[..NAMED_MAX].join(", "), count - NAMED_MAX),
    };
    let warning = format!(
        "warning: {} of {} figures are of memory, not of storage: {named}",
        cached.len(),
        all.len()
    );
    let memory = conclusion.memory >> 20;
    let larger = format!("files larger than memory ({memory} MiB) leave the cache behind");
    let cure = match (call.access.direct, call.access.fsync) {
        (true, _) => format!(
            "fwrite and fread know no O_DIRECT, and a filesystem in memory has no disk; {larger}"
        ),
        (false, true) => format!("-I goes past the page cache when reading; {larger}"),
        (false, false) => format!(
            "-I goes past the page cache, -e counts the time that writes take to the medium; {larger}"
        ),
    };
    format!(
        "\n{}\n{}\n",
        style.severity(Severity::Warning, &style.wrap(&warning, 0)),
        style.wrap(&format!("What to do: {cure}"), 2)
    )
}

#[cfg(test)]
mod tests;
