//! `--debug`: the areas that are traced, and the trace of options.

use crate::model::{Job, SteadyFigure, SteadyLimit};
use crate::options::{self, Kind, OptionDef};
use std::fmt::Write;

/// Every area that can be traced, by fio's name, and what its trace shows.
const AREAS: [(&str, &str); 19] = [
    ("process", "what state each worker is in"),
    ("file", "files that are added, opened and closed"),
    ("io", "each I/O as it is made, issued and ended"),
    ("mem", "memory of buffers"),
    ("blktrace", "what the logs hold that are replayed"),
    ("verify", "blocks made to be checked, read back and checked"),
    ("random", "seeds and random offsets"),
    ("parse", "options and what they come to"),
    ("diskutil", "disks whose use is reported"),
    ("job", "nothing by itself: job:N follows worker N alone"),
    ("mutex", "nothing: there are no semaphores here"),
    ("profile", "which profile is loaded"),
    ("time", "which clock was read, and how good it was"),
    ("net", "what clients and servers say to each other"),
    ("rate", "rates drawn at random, and the search of latency_target"),
    ("compress", "logs as they are packed"),
    ("steadystate", "each sample and how it was judged"),
    ("helperthread", "nothing: fio's helper thread has no counterpart here"),
    ("zbd", "which zone each I/O goes to"),
];

fn names() -> impl Iterator<Item = &'static str> {
    AREAS.into_iter().map(|(name, _)| name)
}

/// The traced areas and worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Debug {
    /// Names of areas; [`help`] lists them.
    pub areas: Vec<&'static str>,
    /// Only this worker (numbers count from 1); `None`: all.
    pub job: Option<u32>,
}

impl Debug {
    /// Adds a list like "io,random,job:2"; "all" is every area.
    ///
    /// # Errors
    /// The name that is not an area.
    pub fn add(&mut self, list: &str) -> Result<(), String> {
        for name in list.split(',') {
            let (name, number) = match name.split_once(':') {
                Some((name, number)) => (name, Some(number)),
                None => (name, None),
            };
            match (name, number) {
                ("all", None) => self.areas = names().collect(),
                ("job", Some(number)) => match number.parse() {
                    Ok(number @ 1..) => self.job = Some(number),
                    _ => return Err(format!("job:'{number}' is not the number of a job, from 1")),
                },
                ("job", None) => return Err("job needs a number: job:1 traces the first".into()),
                _ => match names().find(|area| *area == name && number.is_none()) {
                    Some(area) if self.covers(area) => {}
                    Some(area) => self.areas.push(area),
                    None => {
                        let known: Vec<_> = names().collect();
                        return Err(format!("'{name}' is none of all, {}", known.join(", ")));
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

    /// Whether worker `number` is traced.
    pub fn traces(&self, number: u32) -> bool {
        self.job.is_none_or(|job| job == number)
    }
}

/// A line of a trace, as fio has it: "io       1234 text".
pub fn line(area: &str, id: u32, text: &str) -> String {
    format!("{area:<8} {id:<5} {text}\n")
}

/// The trace of area "parse": the options of each job, by process `id`.
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
                if let Some(text) = threshold(job, def, value) {
                    out += &line("parse", id, &text);
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

/// The threshold of `steadystate`.
fn threshold(job: &Job, def: &OptionDef, value: &str) -> Option<String> {
    if def.name != "steadystate" {
        return None;
    }
    let mut set = Job { measure: job.measure.clone(), ..Job::default() };
    let units = crate::value::Units { kb_base: job.measure.kb_base };
    let value = crate::value::parse(def, Some(value), units).ok()?;
    (def.access.set)(&mut set, &value).ok()?;
    Some(match (set.steady.limit, set.steady.criterion.figure) {
        (SteadyLimit::Percent(limit), _) => format!("set steady state threshold to {limit:.6}%"),
        (SteadyLimit::Value(limit), SteadyFigure::Iops) => {
            format!("set steady state IOPS threshold to {limit:.6}")
        }
        (SteadyLimit::Value(limit), SteadyFigure::Bandwidth) => {
            format!("set steady state BW threshold to {limit:.0}")
        }
        (SteadyLimit::Value(limit), SteadyFigure::Latency) => {
            format!("set steady state LAT threshold to {limit:.0}")
        }
    })
}

/// The parsed value of an option, if it is a number.
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

/// The output of `--debug=help`: the areas in fio's line, then what the trace of each shows.
pub fn help(program: &str) -> String {
    let all = names().collect::<Vec<_>>().join(",");
    let mut out = format!("{program}: dumping debug options:{all},all\n");
    for (name, what) in AREAS {
        let _ = writeln!(out, "  {name:<14}{what}");
    }
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
        assert!(debug.traces(2) && !debug.traces(1));
        debug.add("all").unwrap();
        assert_eq!(debug.areas.len(), AREAS.len());
    }

    #[test]
    fn the_error_of_an_unknown_area_lists_all_areas() {
        for (list, part) in
            [("foo", "'foo' is none of all, process"), ("job", "job:1"), ("job:x", "from 1")]
        {
            let text = Debug::default().add(list).unwrap_err();
            assert!(text.contains(part), "{list}: {text}");
        }
    }
}
