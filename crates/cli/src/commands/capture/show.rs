//! `fathom capture show`: what a trace holds.

use crate::output::Output;
use anyhow::Result;
use capture::{Counts, FileCounts, Step, Summary};
use clap::Args;
use record::human;
use runner::Refusal;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use trace::ftr::{AnyTrace, Contents, Operation};

/// Arguments of `fathom capture show`.
#[derive(Args)]
pub struct Arguments {
    /// A trace, or a file that `convert` reads
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Most files and threads to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// Shows.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let shown = arguments.file.display();
    let refused = |why: String| Refusal::usage(format!("{shown}: {why}"));
    let file = File::open(&arguments.file).map_err(|why| refused(why.to_string()))?;
    let mut trace = AnyTrace::open(BufReader::new(file)).map_err(|why| refused(why.to_string()))?;
    let mut summary = Summary::default();
    for entry in trace.by_ref() {
        summary.entry(entry.map_err(|why| refused(why.to_string()))?);
    }
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    Output::Stdout.write(&match arguments.json {
        true => serde_json::to_string_pretty(&as_json(&trace, &summary))? + "\n",
        false => as_text(&trace, &summary, most),
    })?;
    Ok(0)
}

/// Names of operations.
fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Fsync => "fsync",
        Operation::Fdatasync => "fdatasync",
        Operation::SyncRange => "range sync",
        Operation::SyncAll => "sync",
        Operation::Allocate => "allocation",
        Operation::Discard => "discard",
        Operation::Truncate => "truncation",
        Operation::Open => "open",
        Operation::Close => "close",
        Operation::Fault => "page fault",
        Operation::Flush => "cache flush",
        Operation::Rename => "rename",
        Operation::Unlink => "unlink",
    }
}

fn operations(counts: &Counts) -> String {
    let text = |(kind, count): (&Operation, &u64)| match (kind, count) {
        (Operation::Flush, 2..) => format!("{count} cache flushes"),
        (kind, count) => human::counted(*count as usize, name(*kind)),
    };
    let texts: Vec<String> = counts.operations.iter().map(text).collect();
    if texts.is_empty() { "none".into() } else { texts.join(", ") }
}

fn as_text(trace: &AnyTrace<impl std::io::BufRead>, summary: &Summary, most: usize) -> String {
    let mut text = String::new();
    let header = trace.header();
    let source = report::style::printable(&header.source);
    let _ = match header.subject.as_str() {
        "" => writeln!(text, "{source}"),
        subject => writeln!(text, "{source} of {}", report::style::printable(subject)),
    };
    let length = trace.end().map_or(summary.duration_ns, |end| end.duration_ns);
    let _ = writeln!(text, "length       {}", human::time(length as f64));
    for (level, counts, is_there) in [
        ("application", &summary.application, header.application),
        ("device", &summary.device, header.device),
    ] {
        let what = if is_there { operations(counts) } else { "not recorded".to_owned() };
        let _ = writeln!(text, "{level:<12} {what}");
        if counts.events() > 0 {
            let (read, written) = (counts.read_bytes as f64, counts.written_bytes as f64);
            let (read, written) = (human::size(read), human::size(written));
            let _ = writeln!(text, "{:<12} {read} read, {written} written", "");
        }
    }
    let left_out = trace.left_out();
    let _ = writeln!(text, "lost         {} events", summary.lost);
    let _ = writeln!(text, "left out     {left_out} calls on sockets, pipes, terminals and /proc");
    if trace.is_truncated() {
        text.push_str("truncated    the trace ends without its end; all blocks before are shown\n");
    }
    sizes(&mut text, summary);
    files(&mut text, summary, most);
    threads(&mut text, summary, most);
    timeline(&mut text, summary);
    text
}

fn sizes(text: &mut String, summary: &Summary) {
    let shown: Vec<String> = summary
        .size_shares()
        .into_iter()
        .take(6)
        .map(|(size, share)| format!("{} {}", human::exact_size(size), human::percent(share)))
        .collect();
    if !shown.is_empty() {
        let _ = writeln!(text, "sizes        {}", shown.join(", "));
    }
}

/// The mean time and the share of sequential I/O of some events.
fn details(counts: &Counts) -> String {
    let mut text = String::new();
    if let Some((sequential, direct)) = counts.transfer_shares() {
        let _ = write!(text, "; {} sequential", human::percent(sequential));
        if direct > 0.0 {
            let _ = write!(text, ", {} direct", human::percent(direct));
        }
    }
    if let Some(mean) = counts.mean_ns() {
        let _ = write!(text, "; mean {}", human::time(mean as f64));
    }
    if counts.errors > 0 {
        let _ = write!(text, "; {} failed", counts.errors);
    }
    text
}

fn files(text: &mut String, summary: &Summary, most: usize) {
    let files = summary.files_by_bytes();
    if !files.is_empty() {
        let _ = writeln!(text, "\nFiles and devices");
    }
    for file in files.iter().take(most) {
        let _ = writeln!(text, "  {}", report::style::printable(&file.file.name));
        for (level, counts) in [("asked", &file.application), ("device", &file.device)] {
            if counts.events() > 0 {
                let _ = writeln!(text, "    {level}: {}{}", operations(counts), details(counts));
            }
        }
        if let Some(Contents { blocks, compressible, duplicate, .. }) = file.contents {
            let share = |thousandths: u16| human::percent(f64::from(thousandths) / 1000.0);
            let (compressible, duplicate) = (share(compressible), share(duplicate));
            let _ = writeln!(
                text,
                "    contents: {compressible} compressible, {duplicate} duplicates, of {blocks} blocks"
            );
        }
    }
    omitted_line(text, files.len(), most);
}

fn threads(text: &mut String, summary: &Summary, most: usize) {
    let threads = summary.threads_by_events();
    if !threads.is_empty() {
        let _ = writeln!(text, "\nThreads");
    }
    for counted in threads.iter().take(most) {
        let name = report::style::printable(&counted.thread.name);
        let (thread, process) = (counted.thread.thread, counted.thread.process);
        let what = operations(&counted.counts);
        let _ = writeln!(text, "  {name} (thread {thread} of process {process}): {what}");
    }
    omitted_line(text, threads.len(), most);
}

fn omitted_line(text: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = writeln!(text, "  and {} more (--limit=0 shows all)", all - most);
    }
}

fn timeline(text: &mut String, summary: &Summary) {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let line = |value: fn(&Step) -> u64| -> String {
        let top = summary.steps.iter().map(value).max().unwrap_or(0).max(1);
        let level = |step: &Step| match value(step) {
            0 => ' ',
            value => LEVELS[((u128::from(value) * 8 / u128::from(top)) as usize).min(7)],
        };
        summary.steps.iter().map(level).collect()
    };
    if summary.steps.is_empty() {
        return;
    }
    let step = human::time(summary.step_ns as f64);
    let _ = writeln!(text, "\nTimeline, {step} each");
    let mut add = |name: &str, value: fn(&Step) -> u64| {
        if summary.steps.iter().any(|step| value(step) > 0) {
            let _ = writeln!(text, "  {name:<9} {}", line(value).trim_end());
        }
    };
    add("calls", |step| step.calls);
    add("read", |step| step.read_bytes);
    add("written", |step| step.written_bytes);
    add("requests", |step| step.requests);
}

fn counts_json(counts: &Counts) -> Value {
    let operations: serde_json::Map<String, Value> = counts
        .operations
        .iter()
        .map(|(kind, count)| (name(*kind).replace(' ', "_"), json!(count)))
        .collect();
    json!({
        "operations": operations,
        "read_bytes": counts.read_bytes,
        "written_bytes": counts.written_bytes,
        "sequential": counts.sequential,
        "direct": counts.direct,
        "errors": counts.errors,
        "mean_ns": counts.mean_ns(),
    })
}

fn as_json(trace: &AnyTrace<impl std::io::BufRead>, summary: &Summary) -> Value {
    let header = trace.header();
    let file = |counted: &FileCounts| {
        json!({
            "name": counted.file.name,
            "size": counted.file.size,
            "device": counted.file.device.map(|(major, minor)| format!("{major}:{minor}")),
            "application": counts_json(&counted.application),
            "requests": counts_json(&counted.device),
            "contents": counted.contents.map(|contents| json!({
                "blocks": contents.blocks,
                "compressible": f64::from(contents.compressible) / 1000.0,
                "duplicate": f64::from(contents.duplicate) / 1000.0,
            })),
        })
    };
    json!({
        "source": header.source,
        "subject": header.subject,
        "began_unix_ns": header.began_unix_ns,
        "levels": { "application": header.application, "device": header.device },
        "anonymous": header.anonymous,
        "truncated": trace.is_truncated(),
        "duration_ns": trace.end().map_or(summary.duration_ns, |end| end.duration_ns),
        "lost": summary.lost,
        "left_out": trace.left_out(),
        "application": counts_json(&summary.application),
        "device": counts_json(&summary.device),
        "sizes": summary.sizes.iter().map(|(size, count)| json!([size, count])).collect::<Vec<_>>(),
        "files": summary.files.iter().map(file).collect::<Vec<_>>(),
        "threads": summary.threads.iter().map(|counted| json!({
            "name": counted.thread.name,
            "thread": counted.thread.thread,
            "process": counted.thread.process,
            "counts": counts_json(&counted.counts),
        })).collect::<Vec<_>>(),
        "timeline": {
            "step_ns": summary.step_ns,
            "calls": summary.steps.iter().map(|step| step.calls).collect::<Vec<_>>(),
            "requests": summary.steps.iter().map(|step| step.requests).collect::<Vec<_>>(),
            "read_bytes": summary.steps.iter().map(|step| step.read_bytes).collect::<Vec<_>>(),
            "written_bytes": summary.steps.iter().map(|step| step.written_bytes).collect::<Vec<_>>(),
        },
    })
}
