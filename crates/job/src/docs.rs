//! The options reference in Markdown, and texts for the man page. All of it is generated from the
//! option tables, so documentation and parser agree.

use crate::options::{self, Group, Kind, OptionDef, Status};
use crate::program_options::{OPTIONS, ProgramOption};
use record::Nanos;
use std::fmt::Write;

/// Groups and their titles, in the order of the reference.
pub const GROUPS: &[(Group, &str)] = &[
    (Group::Job, "Jobs"),
    (Group::Time, "Time"),
    (Group::Target, "Files and devices"),
    (Group::Pattern, "Pattern"),
    (Group::Block, "Block size"),
    (Group::Size, "Amounts"),
    (Group::Buffer, "Buffers and memory"),
    (Group::Engine, "Engines"),
    (Group::Depth, "Queue depth"),
    (Group::Rate, "Rate and latency"),
    (Group::Replay, "Recorded I/O"),
    (Group::Process, "Threads and CPUs"),
    (Group::Verify, "Verification"),
    (Group::Steady, "Steady state"),
    (Group::Measure, "Measurement and logs"),
    (Group::Error, "Errors"),
];

/// Exit codes of `fathom run` and their meanings.
pub const EXITS: &[(&str, &str)] = &[
    ("0", "The jobs ran without error."),
    ("1", "A run had I/O errors, or a job did no I/O."),
    ("2", "The command line or a job file is wrong."),
    ("3", "Refused: data would have been destroyed, or the target does not suit the job."),
    ("130", "Interrupted (143 by SIGTERM); what was measured until then was printed and kept."),
];

/// The syntax of values, by kind.
pub const VALUES: &[(&str, &str)] = &[
    (
        "Numbers and sizes",
        "Decimal, or hexadecimal after 0x. The suffixes k, m, g, t and p, with or without b, \
         multiply by powers of 1024, and kib, mib, gib, tib and pib by powers of 1000; with \
         kb_base=1000 it is the other way round, as the standards have it. Case does not matter.",
    ),
    (
        "Times",
        "A number with d, h, m, s, ms, us or ns after it. Without suffix the unit is the second, \
         unless the option says otherwise.",
    ),
    ("Switches", "1 or 0. Options that say so may be given alone, which means 1."),
    (
        "Ranges",
        "Two sizes with '-' or ':' between them. Where an option takes one for reads, one for \
         writes and one for trims, they are split by commas.",
    ),
    ("Lists", "Numbers split by colons."),
    (
        "Expressions",
        "A number may be an expression in parentheses with + - * / % and ^, as in \
         size=(64*1024).",
    ),
];

/// The syntax of job files, in paragraphs.
pub const JOB_FILES: &[&str] = &[
    "A job file is text in sections. A line [NAME] begins a section, and each line after it is \
     one option: NAME=VALUE, or NAME alone for a switch. Blanks around a line mean nothing. A ';' \
     or '#' begins a comment wherever it stands. Quotes and backslashes mean nothing, and a line \
     is never continued on the next.",
    "Each section is a job, except that a section whose name begins with 'global' sets defaults \
     for the sections after it in the same file. There may be several of these. Jobs of a file \
     start together unless they say otherwise; job files run one after the other.",
    "'include PATH' takes in the options of another file, which has no sections of its own. PATH \
     counts from the working directory, or else from the directory of the including file.",
    "In values, ${NAME} stands for a variable of the environment, $pagesize for the size of a \
     memory page in bytes, $mb_memory for the main memory in MiB and $ncpus for the number of \
     CPUs online. A value that holds one of the last three may be an expression: 8*$mb_memory.",
    "Whatever order they are typed in, kb_base and unit_base take effect before the other options \
     of their section, filename and filename_format after them, and the options of an I/O engine \
     last.",
    "Options given on the command line beside a job file override that file, for every job. Under \
     the name fio they are defaults instead, as fio has them.",
];

/// The options reference in Markdown.
pub fn markdown() -> String {
    let mut text = "# Options\n\nMade from the options table; edit that, not this.\n\n\
                    ## Options of the program\n\n"
        .to_string();
    for option in OPTIONS {
        let _ = writeln!(text, "- `{}`: {}{}", option.spelling(), option.doc, program_mark(option));
    }
    text += "\n## Job files\n\n";
    for paragraph in JOB_FILES {
        let _ = writeln!(text, "{}\n", markdown_text(paragraph));
    }
    text += "## Values\n\n";
    for (kind, form) in VALUES {
        let _ = writeln!(text, "- **{kind}.** {}", markdown_text(form));
    }
    for (group, title) in GROUPS {
        let rows: Vec<&OptionDef> = options::all().filter(|def| def.group == *group).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = write!(text, "\n## {title}\n");
        rows.into_iter().for_each(|def| markdown_option(&mut text, def));
    }
    text += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
    for (code, meaning) in EXITS {
        let _ = writeln!(text, "| {code} | {meaning} |");
    }
    text
}

fn markdown_option(text: &mut String, def: &OptionDef) {
    let names: Vec<String> = def.names().map(|name| format!("`{name}`")).collect();
    let _ = write!(text, "\n### {}\n\n{}.\n\n", names.join(", "), def.doc.trim_end_matches('.'));
    for (label, value) in fields(def) {
        let _ = writeln!(text, "- {label}: {}", markdown_text(&value));
    }
    for choice in def.values {
        let _ = writeln!(text, "- `{}`: {}", choice.name, markdown_text(&choice.meaning()));
    }
    if !def.long.is_empty() {
        let _ = writeln!(text, "\n{}", markdown_text(def.long));
    }
}

/// Type, default, range, engines, status.
pub fn fields(def: &OptionDef) -> Vec<(&'static str, String)> {
    let mut fields = vec![("type", words(def.kind))];
    if !def.default.is_empty() {
        fields.push(("default", def.default.to_string()));
    }
    if let Kind::Int { min, max, .. } = def.kind {
        let range = match (min, max) {
            (i64::MIN, i64::MAX) => None,
            (min, i64::MAX) => Some(format!("{min} or more")),
            (min, max) => Some(format!("{min} to {max}")),
        };
        fields.extend(range.map(|range| ("range", range)));
    }
    if !def.engines.is_empty() {
        fields.push(("engines", def.engines.join(", ")));
    }
    match def.status {
        Status::Works => fields.push(("status", "works".into())),
        Status::Accepted(why) => fields.push(("status", format!("accepted, no effect: {why}"))),
        Status::NotYet => fields.push(("status", "not yet; giving it is an error".into())),
        Status::Needs(what) => {
            fields.push(("status", format!("refused: it needs {what}")));
        }
    }
    fields
}

/// The unit of a time without suffix.
fn unit(bare: Nanos) -> String {
    match bare.0 {
        1_000_000_000 => "seconds".into(),
        1_000_000 => "milliseconds".into(),
        1_000 => "microseconds".into(),
        nanoseconds => format!("units of {nanoseconds} ns"),
    }
}

/// The syntax of a value.
fn words(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Choice => "one of the values below".into(),
        Kind::ChoiceWith => "one of the values below, perhaps with ':' and more after it".into(),
        Kind::Int { lists: false, .. } => "whole number".into(),
        Kind::Int { lists: true, .. } => {
            "one to three whole numbers split by commas, for reads, writes and trims".into()
        }
        Kind::Times { bare } => format!(
            "one to three times split by commas, for reads, writes and trims; without suffix in {}",
            unit(bare)
        ),
        Kind::Time { bare, range } => {
            let unit = unit(bare);
            let range = if range { ", or a range of times" } else { "" };
            format!("time, without suffix in {unit}{range}")
        }
        Kind::Bool => "1 or 0".into(),
        Kind::Flag => "1 or 0; alone it means 1".into(),
        Kind::Ranges => {
            "one to three ranges of sizes split by commas, for reads, writes and trims".into()
        }
        Kind::Floats { min: f64::MIN, max: f64::MAX } => "numbers split by colons".into(),
        Kind::Floats { min, max } => format!("numbers from {min} to {max} split by colons"),
        Kind::Size { percent, zones } => {
            let percent = if percent { ", or per cent of the file or device (20%)" } else { "" };
            let zones = if zones { ", or a number of zones (3z)" } else { "" };
            format!("size{percent}{zones}")
        }
    }
}

fn program_mark(option: &ProgramOption) -> &'static str {
    if option.ours { " (fathom's own)" } else { "" }
}

/// Escapes characters that are markup in Markdown.
fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '`') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_in_the_reference_once() {
        let markdown = markdown();
        for def in options::all() {
            let names: Vec<String> = def.names().map(|name| format!("`{name}`")).collect();
            let heading = format!("\n### {}\n", names.join(", "));
            let same = |other: &&OptionDef| other.names().eq(def.names());
            let rows = options::all().filter(same).count();
            assert_eq!(markdown.matches(&heading).count(), rows, "{}", def.name);
        }
        for option in OPTIONS {
            assert!(markdown.contains(&option.spelling()), "--{}", option.name);
        }
    }

    #[test]
    fn text_never_turns_into_markup() {
        assert_eq!(markdown_text("a_b*[c]"), "a\\_b\\*\\[c\\]");
    }
}
