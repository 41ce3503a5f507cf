//! Turns the sections of command line and job files into the jobs of an invocation.

use crate::apply::{Draft, Given, Order, with_values};
use crate::error::{Diagnostics, Origin};
use crate::explain;
use crate::file::{Reader, Section, Setting};
use crate::invocation::{Action, Dialect, Inputs, Invocation, Override};
use crate::showcmd::Shown;

/// Turns sections into jobs.
pub struct Assembly<'a> {
    dialect: Dialect,
    inputs: &'a dyn Inputs,
    invocation: &'a mut Invocation,
    diagnostics: &'a mut Diagnostics,
    /// The options of the command line before the first job.
    beside: Draft,
    /// The same, if they override job files.
    overrides: Option<Section>,
    /// Options that override all of these.
    varied: &'a [Override],
}

/// The origin of an option that a sweep varies.
const VARIED: &str = "--vary";

impl<'a> Assembly<'a> {
    /// An assembly without sections.
    pub fn new(
        dialect: Dialect,
        inputs: &'a dyn Inputs,
        invocation: &'a mut Invocation,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let beside = Draft { dialect, ..Draft::default() };
        Assembly { dialect, inputs, invocation, diagnostics, beside, overrides: None, varied: &[] }
    }

    /// Adds options that override command line and job files.
    pub fn with(self, varied: &'a [Override]) -> Self {
        Assembly { varied, ..self }
    }

    /// Turns the sections of the command line, then the job files it names, into jobs.
    pub fn run(mut self, sections: &[Section]) {
        self.command_line(sections);
        self.files();
        if self.invocation.action == Action::Run && self.diagnostics.errors.is_empty() {
            self.check_jobs();
        }
    }

    fn command_line(&mut self, sections: &[Section]) {
        for (index, section) in sections.iter().enumerate() {
            let section = self.expanded(section);
            if section.global {
                match self.dialect {
                    Dialect::Fathom => self.beside.apply_beside(&section, self.diagnostics),
                    Dialect::Fio => {
                        self.beside.apply_global(&section, Order::Typed, self.diagnostics);
                    }
                }
                // Wrong values were reported here; they must not be reported again for each job.
                let sound = self.diagnostics.errors.is_empty();
                if index == 0 && self.dialect == Dialect::Fathom && sound {
                    self.overrides = Some(section).filter(|given| !given.settings.is_empty());
                }
                continue;
            }
            let wanted = &self.invocation.sections;
            // Under the name fio, the command line has left out those that are not chosen.
            let chooses = self.dialect == Dialect::Fathom && !wanted.is_empty();
            if chooses && !wanted.contains(&section.name) {
                continue;
            }
            let order = match self.dialect {
                Dialect::Fathom => Order::Ranked,
                Dialect::Fio => Order::Typed,
            };
            let mut draft = self.beside.begin(&section);
            draft.apply(&section, order, self.diagnostics);
            self.vary(&mut draft, &section.name);
            self.explain(&draft);
            self.invocation.jobs.push(draft.finish());
        }
        self.invocation.global_options = with_values(&self.beside.global);
    }

    /// Replaces keywords. On the command line, the shell replaces variables.
    fn expanded(&self, section: &Section) -> Section {
        let keywords = self.inputs.keywords();
        let mut section = section.clone();
        for setting in &mut section.settings {
            setting.value = setting.value.as_deref().map(|value| keywords.expand(value));
        }
        section
    }

    fn files(&mut self) {
        let wanted = self.invocation.sections.clone();
        let reader = Reader { inputs: self.inputs, dialect: self.dialect, wanted: &wanted };
        let mut names = Vec::new();
        let mut shown = String::new();
        for (index, path) in self.invocation.job_files.clone().iter().enumerate() {
            let (sections, all) = reader.read(path, self.diagnostics);
            names.extend(all);
            let base = self.base(index, path);
            shown += &self.file(base, &sections, index > 0);
        }
        self.check_sections(&wanted, &names);
        if let Action::ShowCmd(text) = &mut self.invocation.action {
            *text = shown;
        }
    }

    /// The options that the sections of a file start from.
    fn base(&mut self, index: usize, path: &str) -> Draft {
        if self.dialect == Dialect::Fathom || index == 0 {
            return Draft { waiting: Vec::new(), ..self.beside.clone() };
        }
        if !self.beside.global.is_empty() {
            let text = format!(
                "options before the first --name do not reach '{path}': as in fio, they are \
                 defaults of the first job file only"
            );
            self.diagnostics.warn(&Origin::command_line(), None, &text);
        }
        Draft { dialect: self.dialect, ..Draft::default() }
    }

    /// Turns the sections of one file into jobs. Returns the file as a command line. Files run one
    /// after the other, so the first job of a later file waits for the jobs before it.
    fn file(&mut self, mut base: Draft, sections: &[Section], later: bool) -> String {
        let mut shown = Shown::new(self.dialect, &base.global);
        let from = self.invocation.jobs.len();
        for section in sections {
            if section.global {
                base.apply_global(section, Order::Ranked, self.diagnostics);
                shown.global(&base.global);
                continue;
            }
            let mut draft = base.begin(section);
            draft.apply(section, Order::Ranked, self.diagnostics);
            if let Some(overrides) = &self.overrides {
                let overrides = Section { name: section.name.clone(), ..overrides.clone() };
                draft.apply(&overrides, Order::Ranked, self.diagnostics);
            }
            self.vary(&mut draft, &section.name);
            shown.job(&section.name, &draft.own);
            self.explain(&draft);
            let mut job = draft.finish();
            job.identity.stonewall |= later && self.invocation.jobs.len() == from;
            self.invocation.jobs.push(job);
        }
        self.keep_globals(&base.global);
        shown.finish()
    }

    /// Sets the varied options in the job of this name.
    fn vary(&mut self, draft: &mut Draft, job: &str) {
        let holds = |varied: &&Override| varied.job.as_deref().is_none_or(|name| name == job);
        let origin = Origin::file(VARIED);
        let setting = |varied: &Override| Setting {
            name: varied.name.clone(),
            value: Some(varied.value.clone()),
            origin: origin.clone(),
        };
        let settings: Vec<Setting> = self.varied.iter().filter(holds).map(setting).collect();
        if !settings.is_empty() {
            let name = job.to_owned();
            let section = Section { name, global: false, origin: origin.clone(), settings };
            draft.apply(&section, Order::Ranked, self.diagnostics);
        }
    }

    fn explain(&mut self, draft: &Draft) {
        if let Action::Explain(text) = &mut self.invocation.action {
            text.push_str(&explain::job(draft));
        }
    }

    /// fio prints the global options of the last file; fathom prints those of all files.
    fn keep_globals(&mut self, global: &[Given]) {
        let known = self.beside.global.len();
        match self.dialect {
            Dialect::Fathom => {
                self.invocation.global_options.extend(with_values(&global[known..]));
            }
            Dialect::Fio => self.invocation.global_options = with_values(global),
        }
    }

    /// Reports sections of `--section` that no file has.
    fn check_sections(&mut self, wanted: &[String], names: &[String]) {
        if self.invocation.job_files.is_empty() {
            return;
        }
        for missing in wanted.iter().filter(|wanted| !names.contains(wanted)) {
            let text = format!(
                "--section={missing}: no job file has such a section; they have {}",
                if names.is_empty() { "none".into() } else { names.join(", ") }
            );
            match self.dialect {
                Dialect::Fathom => self.diagnostics.error(&Origin::command_line(), text),
                Dialect::Fio => self.diagnostics.warn(&Origin::command_line(), None, &text),
            }
        }
    }

    fn check_jobs(&mut self) {
        let origin = Origin::command_line();
        let Invocation { jobs, job_files, sections, max_jobs, .. } = &*self.invocation;
        if jobs.is_empty() {
            let (files, wanted) = (job_files.join(", "), sections.join(", "));
            let text = match (job_files.is_empty(), sections.is_empty()) {
                (true, false) if self.dialect == Dialect::Fathom => format!(
                    "no job: none is called {wanted}, as --section asks: name a job file that has \
                     it, or leave --section out"
                ),
                (true, _) => {
                    let examples = match self.dialect {
                        Dialect::Fathom => "; 'fathom examples' lists job files to run",
                        Dialect::Fio => "",
                    };
                    format!("no job: name a job file, or describe a job with --name{examples}")
                }
                (false, true) => format!("no job: {files} has no section to run"),
                (false, false) => format!("no job: {files} has no section {wanted}"),
            };
            return self.diagnostics.error(&origin, text);
        }
        for job in self.varied.iter().filter_map(|varied| varied.job.as_deref()) {
            if !jobs.iter().any(|known| known.identity.name == job) {
                let names: Vec<&str> = jobs.iter().map(|job| job.identity.name.as_str()).collect();
                let text = format!("no job is called '{job}'; there are {}", names.join(", "));
                return self.diagnostics.error(&Origin::file(VARIED), text);
            }
        }
        let mut total: u64 = 0;
        for job in jobs {
            let clones = job.identity.numjobs.unwrap_or(1);
            total = total.saturating_add(clones);
            if clones == 0 {
                let text =
                    format!("numjobs=0 leaves nothing of job '{}' to run", job.identity.name);
                self.diagnostics.error(&origin, text);
            }
        }
        if let Some(limit) = max_jobs.filter(|limit| total > *limit) {
            let text = format!("{total} jobs (numjobs counted) are more than --max-jobs={limit}");
            self.diagnostics.error(&origin, text);
        }
    }
}
