//! The report of archived runs.

use super::access::{open, refused};
use crate::output::Output;
use anyhow::Result;
use archive::{Archive, Choice, Row, RunId, RunOrSet, SetId};
use clap::Args;
use judge::Judged;
use record::human::counted;
use record::{Format, RecordSet, RunRecord};
use report::style::Style;
use report::{RenderOptions, Subject};

/// Arguments of `fathom runs show`.
#[derive(Args)]
pub struct Arguments {
    /// Names of runs or sets.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Print JSON as `fathom run --output-format=json+` does, one document per name.
    #[arg(long)]
    json: bool,
}

/// Judges the runs of each name and shows the report.
///
/// # Errors
/// When there is no such run, or its record cannot be read.
pub fn main(arguments: &Arguments, choice: &Choice) -> Result<()> {
    let archive = open(choice)?;
    let mut output = Output::Stdout;
    let style = output.style();
    let formats = if arguments.json { [Format::JsonPlus] } else { [Format::Normal] };
    let options = RenderOptions { style, ..RenderOptions::default() };
    for name in &arguments.names {
        let (heading, report) = match archive.resolve(name).map_err(refused)? {
            RunOrSet::Run(id) => {
                let (record, row) = (archive.load(&id).map_err(refused)?, archive.row(&id));
                let judged = judge::judge(&record);
                let heading = run_heading(&row.map_err(refused)?, &judged, &style);
                let report = match &record.powercut {
                    Some(report) if arguments.json => format!("{report:#}\n"),
                    Some(report) => powercut::report::archived(report, &style),
                    None => report::render(Subject::Run(&record, &judged), &formats, &options),
                };
                (heading, report)
            }
            RunOrSet::Set(id) => set_report(&archive, &id, &formats, &options)?,
        };
        match arguments.json {
            true => output.write(&report)?,
            false => output.write(&(heading + &report + "\n"))?,
        }
    }
    Ok(())
}

/// Heading and report of a set.
fn set_report(
    archive: &Archive,
    id: &SetId,
    formats: &[Format],
    options: &RenderOptions,
) -> Result<(String, String)> {
    let set = archive.load_set(id).map_err(refused)?;
    let style = &options.style;
    let runs = counted(set.runs.len(), "run");
    let title = format!("Set {}: {runs} of fathom {}", id.as_str(), set.kind);
    let mut heading = style.bold(&title) + "\n";
    if let Some(first) = set.runs.first() {
        heading += &command(&first.invocation.arguments, style);
    }
    let members = archive.members(id).map_err(refused)?;
    for (member, run) in members.iter().zip(&set.runs) {
        heading += &member_line(member, run, style);
    }
    let is_text = formats == [Format::Normal];
    let suite_report = if is_text { suite_report(&set, style) } else { None };
    let report =
        suite_report.or_else(|| campaign_report(&set, is_text, style)).unwrap_or_else(|| {
            let judged: Vec<Judged> = set.runs.iter().map(judge::judge).collect();
            let together = judge::judge_set(&set, &judged);
            let subject = Subject::Set { set: &set, judged: &judged, together: &together };
            report::render(subject, formats, options)
        });
    Ok((heading + "\n", report))
}

/// The report of the command that made the set; `None` for repeats. The limits given to `fathom knee` are
/// not in the records.
fn suite_report(set: &RecordSet, style: &Style) -> Option<String> {
    Some(match set.kind.as_str() {
        "test" => report::suite::test(&suite::test::conclude(set), style),
        "knee" => report::suite::knee(&suite::curve::conclude(set, &[]), style),
        "diagnose" => report::suite::diagnose(&suite::diagnose::conclude(set), style),
        "precondition" => report::suite::precondition(&suite::precondition::conclude(set), style),
        _ => return None,
    })
}

/// The reports of a campaign of power cuts; `None` for other sets.
fn campaign_report(set: &RecordSet, is_text: bool, style: &Style) -> Option<String> {
    let reports: Vec<_> = set.runs.iter().filter_map(|run| run.powercut.as_ref()).collect();
    let texts = reports.iter().map(|report| powercut::report::archived(report, style));
    match is_text {
        _ if reports.is_empty() => None,
        true => Some(texts.collect::<Vec<_>>().join("\n")),
        false => serde_json::to_string_pretty(&reports).ok().map(|json| json + "\n"),
    }
}

fn member_line(id: &RunId, run: &RunRecord, style: &Style) -> String {
    let cell = run
        .cell
        .as_ref()
        .map_or(String::new(), |cell| format!("{}, round {}", cell.name, cell.round + 1));
    style.dim(&style.wrap(&format!("{} {cell}", id.short()), 2)) + "\n"
}

/// Id, time, host, tags and note of a run, and its archived verdict if that differs from today's.
fn run_heading(row: &Row, judged: &Judged, style: &Style) -> String {
    let mut out = style.bold(&format!("Run {}", row.id)) + "\n";
    let when = report::runs::moment(row.started_unix_ms, row.utc_offset_seconds);
    let host = if row.host.is_empty() { String::new() } else { format!(" on {}", row.host) };
    out +=
        &(style.wrap(&format!("{when}{host}: {} ({})", row.access_pattern(), row.kind), 2) + "\n");
    out += &command(std::slice::from_ref(&row.command), style);
    if let Some(set) = &row.set {
        out += &format!("  part of {}\n", set.short());
    }
    if !row.tags.is_empty() {
        out += &(style.wrap(&format!("tags: {}", row.tags.join(" ")), 2) + "\n");
    }
    if !row.note.is_empty() {
        out += &(style.wrap(&format!("note: {}", row.note), 2) + "\n");
    }
    let now = super::rejudge::verdict(judged);
    match (&row.verdict, &row.judged_by) {
        (Some(then), Some(by)) if *then != now => {
            let text = format!("fathom {by} judged it: {then}; fathom runs rejudge updates this");
            out += &(style.wrap(&text, 2) + "\n");
        }
        _ => {}
    }
    out
}

fn command(words: &[String], style: &Style) -> String {
    style.dim(&style.wrap(&words.join(" "), 2)) + "\n"
}
