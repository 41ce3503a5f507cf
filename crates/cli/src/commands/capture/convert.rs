//! `fathom capture convert`: makes a trace of what another tool recorded.

use super::overwrite::check_output;
use crate::output::write_stderr;
use anyhow::{Context, Result};
use clap::Args;
use record::human;
use runner::Refusal;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use trace::ftr::{AnyTrace, Entry, Writer};

/// Arguments of `fathom capture convert`.
#[derive(Args)]
pub struct Arguments {
    /// Text of strace (best with -f -ttt -T -yy), binary trace of blktrace, iolog of fio, or a trace
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// File for the trace
    #[arg(short, long, value_name = "FILE", default_value = "trace.ftr")]
    output: PathBuf,
}

/// Converts.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let (input, output) = (&arguments.input, &arguments.output);
    let shown = input.display();
    check_output(output)?;
    let file = File::open(input).map_err(|why| Refusal::usage(format!("{shown}: {why}")))?;
    let same = |a: &File, b: &PathBuf| Some(same_file(&a.metadata().ok()?, &b.metadata().ok()?));
    if same(&file, output) == Some(true) {
        return Err(Refusal::usage("--output: names the file that is read: name another"));
    }
    let refused = |why| Refusal::usage(format!("{shown}: {why}"));
    let mut trace = AnyTrace::open(BufReader::new(file)).map_err(refused)?;
    let cannot = || format!("cannot write '{}'", output.display());
    let made = File::create(output).with_context(cannot)?;
    let mut writer = Writer::new(made, trace.header()).with_context(cannot)?;
    let mut events = 0;
    for entry in trace.by_ref() {
        let entry = entry.map_err(refused)?;
        events += usize::from(matches!(entry, Entry::Event(_)));
        writer.entry(&entry).with_context(cannot)?;
    }
    let made = writer.finish_with(0, trace.left_out()).with_context(cannot)?;
    let size = human::size(made.metadata()?.len() as f64);
    write_stderr(&format!(
        "fathom: {}: {} ({size})\n",
        human::counted(events, "event"),
        output.display()
    ));
    for note in trace.notes() {
        write_stderr(&format!("fathom: note: {note}\n"));
    }
    Ok(0)
}

fn same_file(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}
