//! Help on the terminal about the program, job options and engines. It is generated from the two
//! option tables; job options have fio's layout.

use crate::apply::engines_with;
use crate::invocation::Dialect;
use crate::options::{self, Choice, Kind, OptionDef, Status};
use crate::program_options::{OPTIONS, ProgramOption};
use std::fmt::Write;

/// Width of the names in a list.
const NAMES: usize = 24;

/// Width of the labels of one option's help.
const LABELS: usize = 20;

/// The options that `fathom run --help` shows, by purpose. Their descriptions come from the tables;
/// `--help-all` lists every option.
const OVERVIEW: &[(&str, &[&str])] = &[
    ("What to measure", &["name", "filename", "directory", "size", "rw", "bs", "rwmixread"]),
    ("How", &["ioengine", "iodepth", "direct", "numjobs", "fsync", "verify", "rate_iops"]),
    ("How long", &["runtime", "time_based", "ramp_time", "repeat"]),
    (
        "Results",
        &[
            "output-format",
            "output",
            "live",
            "accept",
            "why",
            "tag",
            "record",
            "archive",
            "status-interval",
        ],
    ),
    ("Before a run", &["parse-only", "explain", "readonly", "allow-destroy"]),
    ("Help", &["help-all", "cmdhelp", "enghelp"]),
];

/// The output of `fathom run --help`: its purpose, examples, and the options of `OVERVIEW`.
pub fn overview() -> String {
    let mut text = "\
Run job files and jobs given as options (fio's), and say what the result is worth.

Examples:
  fathom run job.fio
  fathom run --name=read --filename=/data/file --size=4g --rw=randread --bs=4k --direct=1
             --ioengine=io_uring --iodepth=32 --runtime=30s --time_based
  fathom run job.fio --repeat=5 --accept='read.p99<2ms' --junit=result.xml
  fathom run job.fio --bs=16k --output-format=json --output=result.json

Usage: fathom run [OPTIONS] [JOB OPTIONS] [JOB FILE]...
"
    .to_string();
    for (title, names) in OVERVIEW {
        let _ = writeln!(text, "\n{title}:");
        for name in *names {
            let program = OPTIONS.iter().find(|option| option.name == *name);
            let (spelling, doc) = match (program, options::find(name)) {
                (Some(option), _) => (option.spelling(), option.doc),
                (None, Some(def)) => (format!("--{name}={}", placeholder(def.kind)), def.doc),
                (None, None) => continue,
            };
            let _ = writeln!(text, "  {spelling:<28} {doc}");
        }
    }
    text += "\nAny option of a job file may be given as --OPTION=VALUE; it then holds for all jobs \
             and\noverrides job files. Each --name begins a job. A job file '-' is standard \
             input.\n";
    text
}

/// The placeholder of a value in help.
pub fn placeholder(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "TEXT",
        Kind::Choice | Kind::ChoiceWith => "NAME",
        Kind::Int { .. } => "N",
        Kind::Time { .. } | Kind::Times { .. } => "TIME",
        Kind::Bool | Kind::Flag => "0|1",
        Kind::Ranges => "RANGE",
        Kind::Floats { .. } => "NUMBERS",
        Kind::Size { .. } => "SIZE",
    }
}

/// The output of `--help-all`: every option of the program and every job option, one per line.
pub fn all_options() -> String {
    let mut text = usage(Dialect::Fathom);
    for (group, title) in crate::docs::GROUPS {
        let _ = writeln!(text, "\n{title}:");
        for def in options::all().filter(|def| def.group == *group) {
            let _ = writeln!(text, "  {:<28} {}", format!("--{}", def.name), def.doc);
        }
    }
    text
}

/// The output of `fio --help`: every option of the program.
pub fn usage(dialect: Dialect) -> String {
    let name = match dialect {
        Dialect::Fathom => "fathom run",
        Dialect::Fio => "fio",
    };
    let mut text = format!("{name} [options] [job options] <job file(s)>\n");
    let offered = |option: &&ProgramOption| dialect == Dialect::Fathom || !option.ours;
    for option in OPTIONS.iter().filter(offered) {
        let _ = writeln!(text, "  {:<28} {}", option.spelling(), option.doc);
    }
    text += "\nEvery job option may be given as --OPTION=VALUE; --cmdhelp lists them. Each --name\n\
             begins a job; job options before the first --name are ";
    text += match dialect {
        Dialect::Fathom => "for all jobs, and override\njob files. ",
        Dialect::Fio => "defaults, which job\nfiles may override. ",
    };
    text += "A job file '-' is standard input.\n";
    text
}

/// The output of `--cmdhelp[=name]`: one option in full, or a list of all (also of `all`).
///
/// # Errors
/// There is no such option; in one line.
pub fn command(name: Option<&str>) -> Result<String, String> {
    let core = || options::all().filter(|def| def.engines.is_empty());
    match name {
        None | Some("all") => Ok(core().map(summary).collect()),
        Some(name) => match (options::find(name), engines_with(name).first()) {
            (Some(def), _) => Ok(details(def)),
            (None, Some(engine)) => {
                Err(format!("'{name}' belongs to an engine: see --enghelp={engine},{name}"))
            }
            (None, None) => Err(unknown(name)),
        },
    }
}

/// What fio prints for the name of no option: the option whose name is most similar, if there is one.
pub fn closest(name: &str) -> String {
    let near = options::nearest(name).and_then(options::find);
    near.map_or(String::new(), |def| format!(" - showing closest match\n{}", details(def)))
}

/// The output of `--enghelp[=engine[,option]]`: the engines, the options of one engine, or one
/// option.
///
/// # Errors
/// There is no such engine, or it has no such option; in one line.
pub fn engine(name: Option<&str>, dialect: Dialect) -> Result<String, String> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(list(dialect));
    };
    let (engine, option) = match name.split_once(',') {
        Some((engine, option)) => (engine, Some(option)),
        None => (name, None),
    };
    let known = engines().iter().any(|known| known.name == engine);
    let own: Vec<&OptionDef> = options::all().filter(|def| def.engines.contains(&engine)).collect();
    if !known && own.is_empty() {
        return Err(format!("there is no ioengine '{engine}'; --enghelp lists them"));
    }
    match option {
        None if own.is_empty() => Ok(format!("IO engine {engine} has no options\n")),
        None => Ok(own.into_iter().map(summary).collect()),
        Some(option) => options::find_engine(engine, option)
            .map(details)
            .ok_or_else(|| format!("ioengine {engine} has no option '{option}'")),
    }
}

/// The engines that work, in fio's format. Engines that are not built are listed only under the
/// name fathom, because programs search fio's list for an engine.
fn list(dialect: Dialect) -> String {
    let mut text = "Available IO engines:\n".to_string();
    for engine in engines().iter().filter(|engine| engine.works) {
        let _ = writeln!(text, "\t{}", engine.name);
    }
    if dialect == Dialect::Fathom {
        text += "Not in this build:\n";
        for engine in engines().iter().filter(|engine| !engine.works) {
            let _ = writeln!(text, "\t{:<NAMES$}needs {}", engine.name, engine.needs);
        }
    }
    text
}

/// The engines of the table.
fn engines() -> &'static [Choice] {
    options::find("ioengine").map_or(&[], |def| def.values)
}

fn unknown(name: &str) -> String {
    crate::apply::unknown(name, None)
}

fn summary(def: &OptionDef) -> String {
    let mark = match def.status {
        Status::NotYet => " (not yet)",
        Status::Needs(_) => " (not here)",
        Status::Works | Status::Accepted(_) => "",
    };
    format!("{:<NAMES$}: {}{mark}\n", def.name, def.doc)
}

/// One option: its fields, one per line, then an empty line.
fn details(def: &OptionDef) -> String {
    let mut text = String::new();
    let mut field = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:>LABELS$}: {value}");
    };
    field(def.name, def.doc);
    for alias in def.aliases {
        field("alias", alias);
    }
    field("type", kind(def.kind));
    field("default", if def.default.is_empty() { "no default" } else { def.default });
    if let Some(range) = range(def.kind) {
        field("range", &range);
    }
    for (index, choice) in def.values.iter().enumerate() {
        let label = if index == 0 { "valid values" } else { "" };
        field(label, &format!("{:<10} {}", choice.name, choice.meaning()));
    }
    match def.status {
        Status::Works => {}
        Status::Accepted(why) => field("status", &format!("accepted without effect: {why}")),
        Status::NotYet => field("status", "does not work yet; giving it is an error"),
        Status::Needs(what) => {
            field("status", &format!("refused: it needs {what}"));
        }
    }
    for (index, line) in wrapped(def.long, 76).into_iter().enumerate() {
        field(if index == 0 { "about" } else { "" }, &line);
    }
    text.push('\n');
    text
}

/// The syntax of a value, in fio's words.
fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Text | Kind::Choice | Kind::ChoiceWith => "string (opt=bla)",
        Kind::Int { lists: false, .. } => "integer value (opt=100)",
        Kind::Int { lists: true, .. } => "integer value (opt=100[,200[,300]])",
        Kind::Time { .. } => "string with time postfix (opt=10s)",
        Kind::Times { .. } => "times with postfix (opt=10ms[,20ms[,30ms]])",
        Kind::Bool => "boolean value (opt=1)",
        Kind::Flag => "empty or boolean value ([0|1])",
        Kind::Ranges => "one to three ranges (opt=1k-4k[,4k-8k[,1k-8k]])",
        Kind::Floats { .. } => "list of floating point values separated by ':' (opt=5.9:7.8)",
        Kind::Size { percent: true, zones: true } => {
            "size (opt=4g), percentage (20%) or zones (3z)"
        }
        Kind::Size { percent: true, zones: false } => "size (opt=4g) or percentage (20%)",
        Kind::Size { percent: false, zones: true } => "size (opt=4g) or zones (3z)",
        Kind::Size { percent: false, zones: false } => "size (opt=4g)",
    }
}

/// The bounds of a value, if it has any.
fn range(kind: Kind) -> Option<String> {
    match kind {
        Kind::Int { min: i64::MIN, max: i64::MAX, .. } => None,
        Kind::Int { min, max: i64::MAX, .. } => Some(format!("min={min}, max=none")),
        Kind::Int { min, max, .. } => Some(format!("min={min}, max={max}")),
        Kind::Bool => Some("min=0, max=1".into()),
        Kind::Floats { min: f64::MIN, max: f64::MAX } => None,
        Kind::Floats { min, max } => Some(format!("min={min}, max={max}")),
        _ => None,
    }
}

/// Wraps text to lines of at most `width` characters, with an empty line between paragraphs.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        lines.push(line);
    }
    lines
}
