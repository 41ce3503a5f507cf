//! What throughput mode prints: a block for each phase.

use super::conclusion::Figure;
use super::table::Sheet;
use super::{IozoneCommand, Operation, Process, Unit};

/// The block of a figure, below that of `before`.
pub(super) fn text(call: &IozoneCommand, before: Option<&Figure>, figure: &Figure) -> String {
    let group = |figure: &Figure| (figure.processes, figure.sizes());
    let head = match before.is_some_and(|before| group(before) == group(figure)) {
        true => String::new(),
        false => head(figure),
    };
    head + &phase(call, figure)
}

fn head(figure: &Figure) -> String {
    let count = figure.processes.unwrap_or(1);
    let processes = if count == 1 { "process" } else { "processes" };
    let does = if figure.operation.kind().writes { "writes" } else { "reads" };
    format!(
        "\tThroughput test with {count} {processes}\n\
         \tEach process {does} a {} kByte file in {} kByte records\n",
        figure.size_kb, figure.record_kb
    )
}

fn phase(call: &IozoneCommand, figure: &Figure) -> String {
    let unit = call.show.unit.label();
    let (count, who) = (figure.processes.unwrap_or(1), figure.operation.phase());
    let rate = |process: &Process| {
        call.show.unit.convert(process.bytes_per_second, process.ops_per_second)
    };
    let rates: Vec<f64> = figure.each.iter().map(rate).collect();
    // Of times an operation takes, those of processes that work side by side add up to none.
    let children = match call.show.unit {
        Unit::Microseconds => mean(&rates),
        _ => rates.iter().sum(),
    };
    let line = |label: &str, tabs: usize, value: f64, unit: &str| {
        format!("\t{label} {}= {value:>10.2} {unit}\n", "\t".repeat(tabs))
    };
    let see = |who_sees: &str| format!("{who_sees} throughput for {count:>2} {who}");
    let mut out = String::from("\n");
    out += &line(&see("Children see"), 1, children, unit);
    out += &line(&see("Parent sees"), 1, figure.throughput(call.show.unit), unit);
    let least = rates.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let most = rates.iter().copied().reduce(f64::max).unwrap_or(0.0);
    out += &line("Min throughput per process", 3, least, unit);
    out += &line("Max throughput per process", 3, most, unit);
    out += &line("Avg throughput per process", 3, mean(&rates), unit);
    let moved = figure.each.iter().map(|process| process.bytes).min().unwrap_or(0);
    let record = figure.record_kb as f64 * 1024.0;
    let (moved, amount) = match call.show.unit {
        Unit::Kilobytes => (moved as f64 / 1024.0, "kB"),
        _ => (moved as f64 / record, "ops"),
    };
    out += &line("Min xfer", 5, moved, amount);
    if call.show.cpu {
        out += &line("CPU use, of one CPU", 4, figure.cpu, "per cent");
    }
    if call.show.children {
        for (index, (process, rate)) in figure.each.iter().zip(&rates).enumerate() {
            out += &format!(
                "\tChild[{index}] xfer count = {:>10.2} kB, Throughput = {rate:>10.2} {unit}\n",
                process.bytes as f64 / 1024.0
            );
        }
    }
    out
}

fn mean(rates: &[f64]) -> f64 {
    if rates.is_empty() { 0.0 } else { rates.iter().sum::<f64>() / rates.len() as f64 }
}

/// For each pair of sizes: a row for each phase, a column for each number of processes.
pub(super) fn sheets(call: &IozoneCommand, figures: &[Figure]) -> Vec<Sheet> {
    let mut sizes: Vec<(u64, u64)> = figures.iter().map(Figure::sizes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut columns: Vec<u64> =
        figures.iter().filter_map(|figure| figure.processes).map(u64::from).collect();
    columns.sort_unstable();
    columns.dedup();
    let sheet = |(size, record): (u64, u64)| {
        let figure = |operation: Operation, count: u64| {
            let here = |figure: &&Figure| {
                (figure.operation, figure.sizes()) == (operation, (size, record))
                    && figure.processes.map(u64::from) == Some(count)
            };
            figures.iter().find(here).map(|figure| figure.throughput(call.show.unit))
        };
        let row = |operation: Operation| {
            let row = columns.iter().map(|count| figure(operation, *count)).collect();
            (operation.phase_sheet().to_owned(), row)
        };
        Sheet {
            title: format!("File size = {size} kBytes, record size = {record} kBytes"),
            columns: columns.clone(),
            rows: call.operations().into_iter().map(row).collect(),
        }
    };
    sizes.into_iter().map(sheet).collect()
}

/// The sheets as text.
pub(super) fn sheet_text(call: &IozoneCommand, sheets: &[Sheet]) -> String {
    let mut out = String::from(
        "\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n",
    );
    for sheet in sheets {
        out += &format!("\"{}\"\n\"Output is in {}\"\n", sheet.title, call.show.unit.label());
        for (name, figures) in &sheet.rows {
            let figures = figures.iter().map(|figure| format!(" {:>10.2} ", figure.unwrap_or(0.0)));
            out += &format!("\n\"{name:>15} \"{}\n", figures.collect::<String>());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Mode, Process, Show, Source};
    use super::*;

    fn call() -> IozoneCommand {
        IozoneCommand {
            mode: Mode::Throughput { from: 2, to: 2 },
            tests: vec![0],
            retests: false,
            ..IozoneCommand::default()
        }
    }

    fn figure() -> Figure {
        let process = |kb: f64, moved: u64| Process {
            bytes: moved << 10,
            bytes_per_second: kb * 1024.0,
            ops_per_second: kb / 4.0,
        };
        Figure {
            operation: Operation::Write,
            size_kb: 131_072,
            record_kb: 4,
            processes: Some(2),
            bytes_per_second: 290_523.09 * 1024.0,
            ops_per_second: 290_523.09 / 4.0,
            latency_ns: None,
            cpu: 12.5,
            source: Source::Memory,
            each: vec![process(71_113.5, 119_072), process(78_113.5, 131_072)],
        }
    }

    #[test]
    fn a_phase_reads_as_iozones_does() {
        assert_eq!(
            text(&call(), None, &figure()),
            "\tThroughput test with 2 processes\n\
             \tEach process writes a 131072 kByte file in 4 kByte records\n\
             \n\
             \tChildren see throughput for  2 initial writers \t=  149227.00 kB/sec\n\
             \tParent sees throughput for  2 initial writers \t=  290523.09 kB/sec\n\
             \tMin throughput per process \t\t\t=   71113.50 kB/sec\n\
             \tMax throughput per process \t\t\t=   78113.50 kB/sec\n\
             \tAvg throughput per process \t\t\t=   74613.50 kB/sec\n\
             \tMin xfer \t\t\t\t\t=  119072.00 kB\n"
        );
    }

    #[test]
    fn children_and_cpu_are_shown_when_asked_for() {
        let show = Show { children: true, cpu: true, unit: Unit::Operations, ..Show::default() };
        let call = IozoneCommand { show, ..call() };
        let both = text(&call, None, &figure()) + &text(&call, Some(&figure()), &figure());
        assert!(both.contains("CPU use, of one CPU"), "{both}");
        let child = "\tChild[1] xfer count =  131072.00 kB, Throughput =   19528.38 ops/sec\n";
        assert!(both.contains(child), "{both}");
        assert!(both.contains("=   29768.00 ops\n"), "{both}");
        assert_eq!(both.matches("Throughput test with").count(), 1, "one head for both phases");
    }

    #[test]
    fn the_sheet_has_a_row_a_phase_and_a_column_a_number_of_processes() {
        let one = Figure { processes: Some(1), bytes_per_second: 1024.0, ..figure() };
        let sheets = sheets(&call(), &[one, figure()]);
        assert_eq!(sheets[0].columns, [1, 2]);
        let text = sheet_text(&call(), &sheets);
        let row = "\n\"  Initial write \"       1.00   290523.09 \n";
        assert!(text.ends_with(row), "{text}");
    }
}
