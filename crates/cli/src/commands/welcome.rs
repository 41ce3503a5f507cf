//! `fathom` without a command: what can be done here now. Nothing is written.

use super::test::DURATION;
use crate::output::Output;
use crate::suites::device;
use crate::suites::scratch::{Scratch, size_refusal};
use anyhow::Result;
use record::{Facts, human};
use report::style::Style;
use runner::Runner;
use std::ffi::OsStr;
use std::path::Path;
use suite::test::Length;

/// Prints it. 0, also where nothing can be tested.
pub fn main() -> Result<u8> {
    let runner = Runner::new(false);
    let mut output = Output::Stdout;
    let columns = rustix::termios::tcgetwinsize(std::io::stdout()).map_or(80, |size| size.ws_col);
    // A terminal that does not know its width says 0.
    let width = if columns < 40 { 80 } else { usize::from(columns).min(80) };
    let style = Style { width, ..output.style() };
    output.write(&text(&here(&runner), job_file().as_deref(), &style)).map(|()| 0)
}

/// The storage of this directory, and why it cannot be tested.
struct Here {
    storage: String,
    obstacle: Option<String>,
}

fn here(runner: &Runner) -> Here {
    let scratch = Scratch::under(OsStr::new("."), "test", runner.machine(), false);
    let room = scratch.and_then(|scratch| {
        suite::test::size(Length::Normal, scratch.free, None).map_err(size_refusal)
    });
    let path = std::env::current_dir().unwrap_or_default();
    let storage = path.to_str().map(|path| storage(&device::facts(path, runner), path));
    Here {
        storage: storage.unwrap_or_else(|| "a directory whose name is not UTF-8".into()),
        obstacle: room.err().map(|error| format!("{error:#}")),
    }
}

/// "ext4 > nvme0n1, 80 GiB of 400 GiB free".
fn storage(facts: &Facts, path: &str) -> String {
    let stack = judge::inspect(facts, path).stack;
    let filesystem = facts.targets.get(path).and_then(|target| target.filesystem.as_ref());
    let room = filesystem.map_or(String::new(), |filesystem| {
        let [free, total] =
            [filesystem.free, filesystem.total].map(|size| human::size(size.0 as f64));
        format!(", {free} of {total} free")
    });
    match stack.is_empty() {
        true => format!("no filesystem or device that can be seen{room}"),
        false => stack.join(" > ") + &room,
    }
}

/// The first job file of this directory, by name.
fn job_file() -> Option<String> {
    let entries = std::fs::read_dir(".").ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "fio")).min()
}

fn text(here: &Here, job_file: Option<&str>, style: &Style) -> String {
    let about = format!(
        "fathom {}: how fast storage is, what limits it, and how sure that is.",
        env!("CARGO_PKG_VERSION")
    );
    let mut out = style.paragraph(&about, 0) + "\n";
    out += &(style.bold(&style.wrap(&format!("Here: {}", here.storage), 0)) + "\n");
    let run = job_file.map(|name| format!("fathom run {name}"));
    let mut rows: Vec<(&str, String)> = Vec::new();
    match &here.obstacle {
        Some(why) => {
            out += &style.paragraph(&format!("A test is not possible here: {why}"), 2);
            rows.push(("fathom test DIRECTORY", format!("test another place, in {DURATION}")));
        }
        None => rows.push((
            "fathom test .",
            format!("test it in {DURATION}, safely, in one file that is removed"),
        )),
    }
    rows.push(("fathom inspect .", "what it consists of; nothing is written".into()));
    rows.extend(run.as_deref().map(|run| (run, "run this job file, as fio does".to_owned())));
    rows.push(("fathom examples", "job files for real questions".into()));
    rows.push(("fathom runs", "earlier runs".into()));
    rows.push(("fathom --help", "every command".into()));
    out += &table(&rows, style);
    out
}

/// What to type and what it does, beside each other where there is room.
fn table(rows: &[(&str, String)], style: &Style) -> String {
    let widest = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let fits = |(_, what): &(&str, String)| 2 + widest + 2 + what.chars().count() <= style.width;
    let are_beside = rows.iter().all(fits);
    let row = |(command, what): &(&str, String)| match are_beside {
        true => format!("  {command:widest$}  {what}\n"),
        false => style.paragraph(command, 2) + &style.paragraph(what, 6),
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(obstacle: Option<&str>) -> Here {
        let storage = "ext4 > dm-0 > nvme0n1p2 > nvme0n1, 80 GiB of 400 GiB free".to_owned();
        Here { storage, obstacle: obstacle.map(Into::into) }
    }

    #[test]
    fn it_fits_every_width() {
        for width in [40, 60, 80] {
            let style = Style { colour: false, width };
            let text = text(&here(None), Some("a-job-file.fio"), &style);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert!(text.contains("Here: ext4") && text.contains("fathom test ."), "{text}");
            assert!(text.contains("fathom run a-job-file"), "{text}");
        }
    }

    #[test]
    fn where_nothing_can_be_tested_it_says_why() {
        let text = text(&here(Some("only 3 MiB are free")), None, &Style::default());
        assert!(text.contains("not possible here: only 3 MiB are free"), "{text}");
        assert!(
            text.contains("fathom test DIRECTORY") && !text.contains("fathom test .\n"),
            "{text}"
        );
    }
}
