use super::super::{Request, parse};
use super::*;

fn call(line: &str) -> IozoneCommand {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    match parse(&words) {
        Ok(Request::Run(call)) => *call,
        other => panic!("{line}: {other:?}"),
    }
}

fn figure(operation: Operation, kb: f64, source: Source) -> Figure {
    Figure {
        operation,
        size_kb: 64,
        record_kb: 4,
        processes: None,
        bytes_per_second: kb * 1024.0,
        ops_per_second: kb / 4.0,
        latency_ns: Some([1_500, 20_000, 99_949, 250_000]),
        cpu: 42.0,
        source,
        each: Vec::new(),
    }
}

fn conclusion() -> Conclusion {
    Conclusion {
        figures: vec![
            figure(Operation::Write, 1000.0, Source::Memory),
            figure(Operation::Rewrite, 2000.0, Source::Storage),
        ],
        memory: 1 << 30,
        ..Conclusion::default()
    }
}

#[test]
fn the_head_says_what_iozones_says() {
    let banner = Banner {
        version: "0.1.0",
        began: "Sat Nov 21 16:00:00 2026",
        command: "iozone -s 4096 -r 32 -f testio -I -o -M",
        uname: "Linux host 6.1 x86_64",
    };
    assert_eq!(
        head(&call("-s 4096 -r 32 -f testio -I -o -M"), &banner),
        "\tfathom 0.1.0: IOzone's tests, on fathom's engine\n\
         \n\
         \tRun began: Sat Nov 21 16:00:00 2026\n\
         \n\
         \tO_DIRECT: past the page cache, but for fwrite and fread\n\
         \tO_SYNC: each write waits for the medium\n\
         \tFile size set to 4096 kB\n\
         \tRecord Size 32 kB\n\
         \n\
         \tMachine = Linux host 6.1 x86_64\n\
         \tCommand line used: iozone -s 4096 -r 32 -f testio -I -o -M\n\
         \tOutput is in kBytes/sec\n\
         \tTime Resolution = 0.000000001 seconds.\n\
         \tProcessor cache size set to 1024 kBytes.\n\
         \tProcessor cache line size set to 32 bytes.\n\
         \tFile stride size set to 17 * record size.\n"
    );
    let noted = head(&call("-c -N"), &banner);
    assert!(noted.contains("\tNote: -c: closing"), "{noted}");
    assert!(noted.contains("Output is in microseconds per operation"), "{noted}");
}

#[test]
fn what_figures_are_worth_stands_below_them() {
    let text = report(&call("-s 64 -i 0"), &conclusion(), &Style::default());
    assert_eq!(
        text,
        "\niozone test complete.\n\
         \n\
         What answered (mem: the page cache, disk: storage, ?: nothing tells), and\n\
         latencies in microseconds\n\
         \x20                         kB  reclen  from      p50      p99    p99.9  largest\n\
         write                     64       4   mem      1.5     20.0     99.9      250\n\
         rewrite                   64       4  disk      1.5     20.0     99.9      250\n\
         \n\
         warning: 1 of 2 figures are of memory, not of storage: write\n\
         \x20 What to do: -I goes past the page cache, -e counts the time that writes take\n\
         \x20 to the medium; files larger than memory (1024 MiB) leave the cache behind\n"
    );
}

#[test]
fn many_figures_are_in_tables() {
    let figures = (0..40).flat_map(|index| {
        conclusion()
            .figures
            .into_iter()
            .map(move |figure| Figure { size_kb: 64 << index, ..figure })
    });
    let conclusion = Conclusion { figures: figures.collect(), ..conclusion() };
    let text = report(&call("-a -i 0"), &conclusion, &Style::default());
    assert!(text.contains("\n              64       4      mem     disk\n"), "{text}");
    assert!(text.contains("\n             128       4     20.0     20.0\n"), "{text}");
}

#[test]
fn figures_are_in_the_unit_that_was_asked_for() {
    let figure = &conclusion().figures[0];
    assert_eq!(figure.shown(call("-s 64").show.unit), "1000");
    assert_eq!(figure.shown(call("-s 64 -O").show.unit), "250");
    assert_eq!(figure.shown(call("-s 64 -N").show.unit), "4000.00");
}

#[test]
fn cpu_and_spreadsheets_are_shown_when_asked_for() {
    let text = report(&call("-s 64 -i 0 -+u -R"), &conclusion(), &Style::default());
    assert!(text.contains("     42.0     42.0\n"), "{text}");
    assert!(text.contains("\"Re-writer report\"\n        \"4\" \n\"64\"   2000 \n"), "{text}");
}

#[test]
fn an_end_before_the_end_is_told() {
    let signal = Conclusion { interrupted_by: Some(2), ..conclusion() };
    let text = report(&call("-s 64"), &signal, &Style::default());
    assert!(text.contains("Ended early by signal 2") && !text.contains("complete"), "{text}");
    let failure = suite::Failure { cell: "write-64k-4k".into(), text: "no space".into() };
    let failed = Conclusion { failure: Some(failure), figures: Vec::new(), ..conclusion() };
    let text = report(&call("-s 64"), &failed, &Style::default());
    assert!(text.ends_with("\nwrite-64k-4k failed: no space\n"), "{text}");
}

#[test]
fn throughput_mode_has_a_line_a_phase() {
    let one = Figure { processes: Some(2), ..figure(Operation::Write, 1000.0, Source::Memory) };
    let conclusion = Conclusion { figures: vec![one], ..Conclusion::default() };
    let text = report(&call("-t 2 -i 0 -s 64"), &conclusion, &Style::default());
    let line = " 2 initial writers        64       4   mem      1.5     20.0     99.9      250\n";
    assert!(text.contains(line), "{text}");
}
