//! Applies settings to jobs: which option a name means, in which order options take effect, and
//! which options a section inherits.

use crate::error::{Diagnostics, Origin};
use crate::file::{Section, Setting, shorten};
use crate::invocation::Dialect;
use crate::model::Job;
use crate::options::{self, OptionDef};
use crate::value::{self, Units};
use record::distinct;

/// Longer names are not searched for misspellings.
const LONGEST_MISSPELLING: usize = 40;

/// An option as given: its canonical name, its value with variables replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Canonical name.
    pub name: &'static str,
    /// `None`: alone, without `=`.
    pub value: Option<String>,
    /// Where it was given.
    pub origin: Origin,
}

/// The order in which the options of a section take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As fio sorts a section of a job file: core options by rank, then those of the engine.
    Ranked,
    /// As typed: fio's command line.
    Typed,
}

/// A job under construction.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The job so far.
    pub job: Job,
    /// The last engine named, whether or not that engine works.
    pub engine: Option<String>,
    /// Options of the global sections before it.
    pub global: Vec<Given>,
    /// Options of its own section, in the order they took effect.
    pub own: Vec<Given>,
    /// Global options of engines, applied when a job names its engine.
    pub waiting: Vec<Setting>,
    /// Under which name the options are read.
    pub dialect: Dialect,
}

impl Draft {
    /// The job of a section, with the options of the global sections before it.
    pub fn begin(&self, section: &Section) -> Draft {
        let mut draft = self.clone();
        draft.job.identity.name = section.name.clone();
        draft.job.identity.origin = section.origin.to_string();
        draft
    }

    /// Applies the job's own settings, and the waiting options of its engine.
    pub fn apply(&mut self, section: &Section, order: Order, diagnostics: &mut Diagnostics) {
        let waiting = std::mem::take(&mut self.waiting);
        let settings: Vec<&Setting> = waiting.iter().chain(&section.settings).collect();
        let given = self.settings(&settings, &section.name, order, diagnostics);
        self.own.extend(given);
    }

    /// Applies the settings of a global section.
    pub fn apply_global(&mut self, section: &Section, order: Order, diagnostics: &mut Diagnostics) {
        let settings: Vec<&Setting> = section.settings.iter().collect();
        let given = self.settings(&settings, "global", order, diagnostics);
        self.global.extend(given);
    }

    /// Applies global settings. Options of engines other than the last one named wait until a job
    /// names the engine.
    pub fn apply_beside(&mut self, section: &Section, diagnostics: &mut Diagnostics) {
        let is_core = |setting: &&Setting| options::find(&setting.name).is_some();
        let (core, others): (Vec<&Setting>, Vec<&Setting>) =
            section.settings.iter().partition(is_core);
        let given = self.settings(&core, "global", Order::Ranked, diagnostics);
        self.global.extend(given);
        let (now, later): (Vec<&Setting>, Vec<&Setting>) =
            others.into_iter().partition(|setting| {
                self.engine_option(&setting.name, "global").is_ok()
                    || engines_with(&setting.name).is_empty()
            });
        let given = self.settings(&now, "global", Order::Ranked, diagnostics);
        self.global.extend(given);
        self.waiting.extend(later.into_iter().cloned());
    }

    /// The finished job, with its options as typed.
    pub fn finish(self) -> Job {
        let mut job = self.job;
        job.options.global = with_values(&self.global);
        job.options.own = with_values(&self.own);
        job
    }

    fn settings(
        &mut self,
        settings: &[&Setting],
        section: &str,
        order: Order,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Given> {
        let mut sorted: Vec<(&Setting, Option<&'static OptionDef>)> =
            settings.iter().map(|setting| (*setting, options::find(&setting.name))).collect();
        if order == Order::Ranked {
            sorted.sort_by_key(|(_, def)| def.map_or(i8::MAX, |def| rank(def.name)));
        }
        let mut given = Vec::with_capacity(sorted.len());
        for (setting, def) in sorted {
            let found = match def {
                Some(def) => Ok(Some(def)),
                None => self.engine_option(&setting.name, section),
            };
            match found {
                Ok(Some(def)) => {
                    self.set(def, setting, section, diagnostics);
                    given.push(Given {
                        name: def.name,
                        value: setting.value.clone(),
                        origin: setting.origin.clone(),
                    });
                }
                Ok(None) => {}
                Err(text) => diagnostics.error(&setting.origin, text),
            }
        }
        given
    }

    /// The option of this job's engine with this name; `None` if it belongs to an engine and this
    /// job's engine is unknown, which was already reported.
    fn engine_option(
        &self,
        name: &str,
        section: &str,
    ) -> Result<Option<&'static OptionDef>, String> {
        let own = self.job.queue.engine.name();
        let engine = self.engine.as_deref().unwrap_or(own);
        if let Some(def) = options::find_engine(engine, name) {
            return Ok(Some(def));
        }
        let engines = engines_with(name);
        if engines.is_empty() {
            return Err(unknown(name, Some(section)));
        }
        let is_known =
            |name: &str| options::find("ioengine").is_some_and(|def| def.has_value(name));
        if !is_known(engine) {
            return Ok(None);
        }
        let engines = engines.join(", ");
        Err(format!(
            "option '{name}' in [{section}] belongs to ioengine {engines}; this job's is {engine}"
        ))
    }

    /// Sets a value. One that is wrong and that fio reads somehow is read so under the name fio, with a
    /// warning; otherwise the error names what fio reads.
    fn apply_value(
        &mut self,
        def: &OptionDef,
        given: Option<&str>,
        units: Units,
    ) -> Result<Vec<String>, String> {
        let error = match options::apply(&mut self.job, def, given, units) {
            Err(error) => error,
            done => return done,
        };
        let given = given.unwrap_or_default();
        let Some(read) = value::as_fio(def, given) else { return Err(error) };
        let mut job = self.job.clone();
        let Ok(mut warnings) = options::apply(&mut job, def, Some(&read), units) else {
            return Err(error);
        };
        if self.dialect == Dialect::Fathom {
            return Err(format!("{error}; fio reads it as {read}"));
        }
        self.job = job;
        warnings.push(format!("{}: '{given}' is read as {read}, as fio reads it", def.name));
        Ok(warnings)
    }

    fn set(
        &mut self,
        def: &OptionDef,
        setting: &Setting,
        section: &str,
        diagnostics: &mut Diagnostics,
    ) {
        let units = Units { kb_base: self.job.measure.kb_base };
        let before = self.job.queue.engine;
        match self.apply_value(def, setting.value.as_deref(), units) {
            Ok(warnings) => {
                for text in warnings {
                    diagnostics.warn(&setting.origin, Some(section), &text);
                }
            }
            Err(text) => diagnostics.error(&setting.origin, format!("in [{section}]: {text}")),
        }
        if def.name == "ioengine" {
            let name = setting.value.as_deref().unwrap_or_default().trim();
            self.engine = Some(name.split(':').next().unwrap_or(name).to_string());
        }
        if self.job.queue.engine != before {
            // Another engine starts from its own defaults.
            self.job.queue.options = Default::default();
        }
    }
}

/// Options with their values, as fio's JSON lists them. A flag without a value has an empty one.
pub fn with_values(given: &[Given]) -> Vec<(String, String)> {
    let pair = |given: &Given| (given.name.to_string(), given.value.clone().unwrap_or_default());
    given.iter().map(pair).collect()
}

/// Engines that have an option of this name, in the table's order.
pub fn engines_with(name: &str) -> Vec<&'static str> {
    let named = |def: &&OptionDef| def.names().any(|known| known == name);
    distinct(options::all().filter(named).flat_map(|def| def.engines).copied())
}

/// The error for an unknown option.
pub fn unknown(name: &str, section: Option<&str>) -> String {
    let place = section.map_or(String::new(), |section| format!(" in [{}]", shorten(section)));
    let near = match name.len() <= LONGEST_MISSPELLING {
        true => options::nearest(name.trim_start_matches('-')),
        false => None,
    };
    let hint = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
    format!("unknown option '{}'{place}{hint}", shorten(name))
}

/// The rank of an option: options of lower rank take effect first, options of equal rank in the
/// order typed. Units come before the sizes they change, file names after their directories.
/// Oracle: fio's --showcmd for every option.
fn rank(name: &str) -> i8 {
    match name {
        "kb_base" | "unit_base" | "cpus_allowed_policy" | "lockfile" => -1,
        "filename" | "filename_format" => 1,
        _ => 0,
    }
}

/// A section of the command line.
pub fn command_line_section(name: &str) -> Section {
    Section {
        name: name.into(),
        global: crate::file::is_global(name),
        origin: Origin::command_line(),
        settings: Vec::new(),
    }
}
