//! Parses job files into sections of settings. `apply` interprets the settings.
//!
//! The format is fio's, including its oddities: `;` and `#` begin a comment anywhere in a line,
//! quotes and backslashes have no meaning, a line is never continued on the next one, and every
//! section whose name begins with "global" sets defaults.

use crate::error::{Diagnostics, Origin};
use crate::invocation::{Dialect, Inputs};
use crate::{examples, expand, options};
use record::SourceText;
use std::io;
use std::path::Path;
use trace::{Drawing, TraceError};

/// Deepest nesting of includes.
const INCLUDE_DEPTH: usize = 16;

/// Most files that one job file may include in total.
const INCLUDES: usize = 1000;

/// One option as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, known or not.
    pub name: String,
    /// The text after `=`, with variables replaced; `None` without `=`.
    pub value: Option<String>,
    /// Its place.
    pub origin: Origin,
}

/// A `[section]`, or what follows a `--name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Whether it sets defaults for the sections after it.
    pub global: bool,
    /// The place of its first line.
    pub origin: Origin,
    /// Its options, in order.
    pub settings: Vec<Setting>,
}

/// The job of a model file; any other file as it is.
fn model_job(path: &str, bytes: Vec<u8>) -> Result<Vec<u8>, TraceError> {
    if !Drawing::is_one(&bytes) {
        return Ok(bytes);
    }
    let drawing = Drawing::parse(&String::from_utf8_lossy(&bytes))?;
    // A colon splits a list of logs.
    Ok(drawing.job(&path.replace(':', "\\:")).into_bytes())
}

/// Whether a section of this name sets defaults in fio.
pub fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// Reads job files.
pub struct Reader<'a> {
    /// The source of files and variables.
    pub inputs: &'a dyn Inputs,
    /// The rules that apply.
    pub dialect: Dialect,
    /// Names of the job sections wanted; empty: all.
    pub wanted: &'a [String],
}

/// A line without its comment and surrounding blanks.
#[derive(Debug, PartialEq)]
enum Line<'a> {
    Blank,
    Header { name: &'a str, closed: bool },
    Include(&'a str),
    Setting { name: &'a str, value: Option<&'a str> },
}

/// The section that a line belongs to.
enum Current {
    /// None yet; `reported`: an error about this was reported.
    None { reported: bool },
    /// A section that is not wanted.
    Skipped,
    /// The last section.
    Last,
}

/// The sections of one job file so far.
struct Parsed {
    sections: Vec<Section>,
    /// Names of all job sections, wanted or not.
    names: Vec<String>,
    current: Current,
    /// Number of included files.
    included: usize,
}

impl Reader<'_> {
    /// The wanted sections of a file, and the names of all its job sections. Mistakes and the text
    /// of the file go to `diagnostics`.
    pub fn read(&self, path: &str, diagnostics: &mut Diagnostics) -> (Vec<Section>, Vec<String>) {
        let mut parsed = Parsed {
            sections: Vec::new(),
            names: Vec::new(),
            current: Current::None { reported: false },
            included: 0,
        };
        let bytes = match examples::text(path) {
            Some(text) => Ok(text.into()),
            None => self.inputs.read(path),
        };
        match bytes.map(|bytes| model_job(path, bytes)) {
            Ok(Err(error)) => {
                diagnostics.error(&Origin::command_line(), format!("the model {path}: {error}"));
            }
            Ok(Ok(bytes)) => self.lines(&bytes, &[path], &mut parsed, diagnostics),
            Err(error) => diagnostics.error(&Origin::command_line(), unreadable(path, &error)),
        }
        (parsed.sections, parsed.names)
    }

    /// Parses the lines of a file. `stack` holds the names of the files that include it, and its
    /// own name last.
    fn lines(
        &self,
        bytes: &[u8],
        stack: &[&str],
        parsed: &mut Parsed,
        diagnostics: &mut Diagnostics,
    ) {
        let name = stack[stack.len() - 1];
        let text = String::from_utf8_lossy(bytes).into_owned();
        if !diagnostics.sources.iter().any(|source| source.name == name) {
            diagnostics.sources.push(SourceText { name: name.into(), text });
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let origin = Origin::line(name, u32::try_from(index + 1).unwrap_or(u32::MAX));
            match parse_line(line, self.dialect) {
                Ok(Line::Blank) => {}
                Ok(Line::Header { .. }) if stack.len() > 1 => {
                    diagnostics.error(&origin, "an included file cannot begin a [section]");
                }
                Ok(Line::Header { name, closed }) => {
                    self.header(name, closed, origin, parsed, diagnostics);
                }
                Ok(Line::Include(path)) => self.include(path, stack, &origin, parsed, diagnostics),
                Ok(Line::Setting { name, value }) => {
                    self.setting(name, value, origin, parsed, diagnostics);
                }
                Err(text) => diagnostics.error(&origin, text),
            }
        }
    }

    fn header(
        &self,
        name: &str,
        closed: bool,
        origin: Origin,
        parsed: &mut Parsed,
        diagnostics: &mut Diagnostics,
    ) {
        if !closed {
            let text = format!("the section name '[{name}' is not closed by ']' at the line's end");
            match self.dialect {
                Dialect::Fathom => diagnostics.error(&origin, text),
                Dialect::Fio => diagnostics.warn(&origin, None, &text),
            }
        }
        // Without a closing bracket, fio removes the last character.
        let name = match (closed, name.char_indices().next_back()) {
            (false, Some((last, _))) => &name[..last],
            _ => name,
        };
        let global = is_global(name);
        if global && name != "global" {
            let text = format!("[{name}] begins with 'global', so it sets defaults and is no job");
            diagnostics.warn(&origin, None, &text);
        }
        if !global {
            parsed.names.push(name.into());
        }
        if !global && !self.wanted.is_empty() && !self.wanted.iter().any(|wanted| wanted == name) {
            parsed.current = Current::Skipped;
            return;
        }
        parsed.current = Current::Last;
        parsed.sections.push(Section { name: name.into(), global, origin, settings: Vec::new() });
    }

    fn setting(
        &self,
        name: &str,
        value: Option<&str>,
        origin: Origin,
        parsed: &mut Parsed,
        diagnostics: &mut Diagnostics,
    ) {
        match &mut parsed.current {
            Current::Skipped => return,
            Current::None { reported } => {
                if !std::mem::replace(reported, true) {
                    let text = format!(
                        "'{}' stands outside of a section; begin with [global] or [NAME]",
                        shorten(name)
                    );
                    diagnostics.error(&origin, text);
                }
                return;
            }
            Current::Last => {}
        }
        if name.is_empty() {
            return diagnostics.error(&origin, "there is no option name before '='");
        }
        let expanded = value.map(|raw| {
            let value = expand::environment(raw, &|name| self.inputs.variable(name));
            self.inputs.keywords().expand(&value)
        });
        let alone = options::find(name).is_some_and(|option| option.alone) && value == Some("");
        if expanded.as_deref() == Some("") && !alone {
            let why = match value {
                Some("") => "there is no value after '='".to_string(),
                _ => format!("the value is empty: '{}' is not set", value.unwrap_or_default()),
            };
            return diagnostics.error(&origin, format!("{}: {why}", shorten(name)));
        }
        if let Some(section) = parsed.sections.last_mut() {
            section.settings.push(Setting { name: name.into(), value: expanded, origin });
        }
    }

    /// Parses an included file. The path is relative to the working directory, or else to the
    /// directory of the including file.
    fn include(
        &self,
        path: &str,
        stack: &[&str],
        origin: &Origin,
        parsed: &mut Parsed,
        diagnostics: &mut Diagnostics,
    ) {
        match parsed.current {
            Current::Skipped => return,
            Current::None { .. } => {
                let text = "'include' stands outside of a section; begin with [global] or [NAME]";
                return diagnostics.error(origin, text);
            }
            Current::Last => {}
        }
        parsed.included += 1;
        if stack.len() > INCLUDE_DEPTH || parsed.included > INCLUDES {
            let text = format!(
                "more than {INCLUDE_DEPTH} files include each other, or more than {INCLUDES} in all"
            );
            return diagnostics.error(origin, text);
        }
        let (path, bytes) = match self.find(path, stack[stack.len() - 1]) {
            Ok(found) => found,
            Err(error) => return diagnostics.error(origin, unreadable(path, &error)),
        };
        if stack.contains(&path.as_str()) {
            return diagnostics.error(origin, format!("'{path}' includes itself"));
        }
        let stack: Vec<&str> = stack.iter().copied().chain([path.as_str()]).collect();
        self.lines(&bytes, &stack, parsed, diagnostics);
    }

    fn find(&self, path: &str, from: &str) -> io::Result<(String, Vec<u8>)> {
        if path == "-" {
            return Err(io::Error::other("standard input cannot be included"));
        }
        let beside = Path::new(from).parent().map(|directory| directory.join(path));
        match (self.inputs.read(path), beside.as_deref().and_then(Path::to_str)) {
            (Ok(bytes), _) => Ok((path.into(), bytes)),
            (Err(error), Some(beside)) if error.kind() == io::ErrorKind::NotFound => {
                self.inputs.read(beside).map(|bytes| (beside.into(), bytes))
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// The error for a job file that cannot be read.
fn unreadable(path: &str, error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission to read it is missing".to_string(),
        io::ErrorKind::IsADirectory => "it is a directory".to_string(),
        _ => error.to_string(),
    };
    let hint = match path.split_once('=') {
        Some((name, _)) if crate::options::find(name).is_some() => {
            format!("; did you mean '--{path}'?")
        }
        _ => String::new(),
    };
    format!("cannot read job file '{}': {why}{hint}", shorten(path))
}

/// Shortens a text for a message.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// Removes surrounding blanks, as C's isspace defines them.
fn trim(line: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    let from = line.iter().position(|byte| !blank(byte)).unwrap_or(line.len());
    let to = line.iter().rposition(|byte| !blank(byte)).map_or(from, |last| last + 1);
    &line[from..to]
}

/// Parses one line. The error says what is wrong with it.
fn parse_line(line: &[u8], dialect: Dialect) -> Result<Line<'_>, &'static str> {
    let comment = line.iter().position(|byte| matches!(byte, b';' | b'#'));
    let line = trim(&line[..comment.unwrap_or(line.len())]);
    if line.contains(&0) {
        return Err("this line holds a NUL byte; is this a job file?");
    }
    let text = std::str::from_utf8(line)
        .map_err(|_| "this line is not UTF-8 text; is this a job file, or saved as UTF-16?")?;
    if text.is_empty() {
        return Ok(Line::Blank);
    }
    if let Some(rest) = text.strip_prefix('[') {
        let closed = rest.strip_suffix(']');
        return Ok(Line::Header { name: closed.unwrap_or(rest), closed: closed.is_some() });
    }
    if let Some(path) = text.strip_prefix("include")
        && (path.is_empty() || path.starts_with(|c: char| c.is_whitespace() || c == '='))
    {
        let path = path.strip_prefix('=').unwrap_or(path).trim();
        return match path {
            "" => Err("'include' needs the path of a file"),
            path => Ok(Line::Include(path)),
        };
    }
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim_end(), Some(value)),
        None => (text, None),
    };
    // fio keeps the blanks after '=', because a file name may begin with one.
    let value = match dialect {
        Dialect::Fathom => value.map(str::trim_start),
        Dialect::Fio => value,
    };
    Ok(Line::Setting { name, value })
}
