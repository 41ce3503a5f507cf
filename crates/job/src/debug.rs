//! `--debug`: what is traced, and how traces of options look.

use crate::model::Job;
use crate::options::{self, Kind, OptionDef};
use std::fmt::Write;

/// Every area that can be traced, by fio's names.
pub const AREAS: [&str; 19] = [
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
];

/// What is traced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    /// Names out of [`AREAS`].
    pub areas: Vec<&'static str>,
    /// Only this worker (numbers count from 1); `None`: all.
    pub job: Option<u32>,
}

impl Debug {
    /// Adds a list like "io,random,job:2"; "all" is every area.
    ///
    /// # Errors
    /// What of it is no area.
    pub fn add(&mut self, list: &str) -> Result<(), String> {
        for name in list.split(',') {
            let (name, number) = match name.split_once(':') {
                Some((name, number)) => (name, Some(number)),
                None => (name, None),
            };
            match (name, number) {
                ("all", None) => self.areas = AREAS.to_vec(),
                ("job", Some(number)) => match number.parse() {
                    Ok(number @ 1..) => self.job = Some(number),
                    _ => return Err(format!("job:'{number}' is not the number of a job, from 1")),
                },
                ("job", None) => return Err("job needs a number: job:1 traces the first".into()),
                _ => match AREAS.into_iter().find(|area| *area == name && number.is_none()) {
                    Some(area) if self.covers(area) => {}
                    Some(area) => self.areas.push(area),
                    None => {
                        return Err(format!("'{name}' is none of all, {}", AREAS.join(", ")));
                    }
                },
            }
        }
        Ok(())
    }

    /// Whether an area is traced.
    pub fn covers(&self, area: &str) -> bool {
        self.areas.contains(&area)
    }

    /// Whether what worker `number` does is traced.
    pub fn follows(&self, number: u32) -> bool {
        self.job.is_none_or(|job| job == number)
    }
}

/// A line of a trace, as fio has it: "io       1234 text".
pub fn line(area: &str, id: u32, text: &str) -> String {
    format!("{area:<8} {id:<5} {text}\n")
}

/// What tracing "parse" prints of the options of jobs, a job after the other, by process `id`.
pub fn parse(jobs: &[Job], id: u32) -> String {
    let mut out = String::new();
    for job in jobs {
        out += &line("parse", id, "dup options");
        let options = job.options.global.iter().chain(&job.options.own);
        for (name, value) in options {
            let value = if value.is_empty() { "(null)" } else { value.as_str() };
            out += &line("parse", id, &format!("handle_option={name}, ptr={value}"));
            if let Some(def) = options::find(name) {
                let kind = kind(def);
                let text = format!("__handle_option={name}, type={kind}, ptr={value}");
                out += &line("parse", id, &text);
                if let Some(number) = number(job, def, value) {
                    out += &line("parse", id, &format!("  ret=0, out={number}"));
                }
            }
        }
    }
    out
}

/// fio's name for a kind of option.
fn kind(def: &OptionDef) -> &'static str {
    match def.kind {
        Kind::Text => "OPT_STR_STORE",
        Kind::Choice | Kind::ChoiceWith => "OPT_STR",
        Kind::Int { .. } => "OPT_INT",
        Kind::Time { .. } | Kind::Times { .. } => "OPT_STR_VAL_TIME",
        Kind::Bool => "OPT_BOOL",
        Kind::Flag => "OPT_STR_SET",
        Kind::Ranges => "OPT_RANGE",
        Kind::Floats { .. } => "OPT_FLOAT_LIST",
        Kind::Size { .. } => "OPT_STR_VAL",
    }
}

/// The number an option comes to, where it is one.
fn number(job: &Job, def: &OptionDef, value: &str) -> Option<u64> {
    let counts = matches!(
        def.kind,
        Kind::Int { .. } | Kind::Time { .. } | Kind::Bool | Kind::Flag | Kind::Size { .. }
    );
    let units = crate::value::Units { kb_base: job.measure.kb_base };
    let value = if value == "(null)" { "1" } else { value };
    if !counts {
        return None;
    }
    match crate::value::parse(def, Some(value), units).ok()? {
        options::Value::Time(time) => Some(time.0 / 1000),
        _ => {
            let first = value.split([',', '-']).next()?;
            crate::value::whole_number(first, units).ok().and_then(|n| u64::try_from(n).ok())
        }
    }
}

/// The areas there are, as "--debug=?" lists them.
pub fn help() -> String {
    let mut out = String::from("areas of --debug: ");
    let _ = writeln!(out, "{}, all; job:N follows worker N alone", AREAS.join(", "));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_add_up_and_jobs_are_numbers() {
        let mut debug = Debug::default();
        debug.add("io,random").unwrap();
        debug.add("io,job:2").unwrap();
        assert_eq!(debug, Debug { areas: vec!["io", "random"], job: Some(2) });
        assert!(debug.follows(2) && !debug.follows(1));
        debug.add("all").unwrap();
        assert_eq!(debug.areas.len(), AREAS.len());
    }

    #[test]
    fn what_is_no_area_is_named_with_those_there_are() {
        for (list, part) in
            [("foo", "'foo' is none of all, process"), ("job", "job:1"), ("job:x", "from 1")]
        {
            let text = Debug::default().add(list).unwrap_err();
            assert!(text.contains(part), "{list}: {text}");
        }
    }
}
