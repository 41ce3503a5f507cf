//! Parses the command line and the job files it names into an [`Invocation`].
//!
//! Options are read as fio reads them: `--name=value`, `--name value`, both also with one dash.
//! Names may be abbreviated as long as they are unambiguous. Options before the first `--name` are
//! global.

use crate::assemble::Assembly;
use crate::error::{Diagnostics, JobError, JobErrors, Origin};
use crate::file::{Section, Setting};
use crate::invocation::{Action, Dialect, Inputs, Invocation, Override, Typed};
use crate::model::Job;
use crate::options::{self, Kind, OptionDef};
use crate::profile::{self, Profile, ProfileOption};
use crate::program_options::{OPTIONS, ProgramOption, Role, Takes};
use crate::{apply, clients, examples};
use record::{Format, Message, Severity};

/// Parses a command line (without the program's name) and the job files it names.
///
/// # Errors
/// All mistakes in the command line and the files.
pub fn parse(
    args: &[String],
    dialect: Dialect,
    inputs: &dyn Inputs,
) -> Result<Invocation, JobErrors> {
    parse_with(args, &[], dialect, inputs)
}

/// Like [`parse`], with options that override those of the command line and the job files.
///
/// # Errors
/// As for [`parse`], and when an override names a job that does not exist.
pub fn parse_with(
    args: &[String],
    overrides: &[Override],
    dialect: Dialect,
    inputs: &dyn Inputs,
) -> Result<Invocation, JobErrors> {
    let mut scan = Scan::new(dialect);
    if let Some(action) = scan.arguments(args) {
        return Ok(scan.ended_by(action));
    }
    let mut invocation = scan.finish(inputs, overrides)?;
    invocation.typed = Typed { arguments: args.to_vec(), overrides: overrides.to_vec() };
    Ok(invocation)
}

/// Like [`parse`], but with `files` instead of the job files and jobs of the command line. Its
/// other options apply to them as well.
///
/// # Errors
/// As for [`parse`].
pub fn parse_instead(
    args: &[String],
    files: &[String],
    dialect: Dialect,
    inputs: &dyn Inputs,
) -> Result<Invocation, JobErrors> {
    let mut scan = Scan::new(dialect);
    if let Some(action) = scan.arguments(args) {
        return Ok(scan.ended_by(action));
    }
    scan.sections.retain(|section| section.global);
    scan.invocation.job_files = files.to_vec();
    scan.finish(inputs, &[])
}

/// The arguments that were parsed so far.
struct Scan {
    dialect: Dialect,
    invocation: Invocation,
    /// The first section holds the options before the first `--name`.
    sections: Vec<Section>,
    /// Jobs that a `--section` before them leaves out, by their place in `sections`.
    left_out: Vec<usize>,
    /// The arguments before the first `--client` that are sent to all servers.
    before: Vec<String>,
    /// The profile of `--profile`, and its options.
    profile: Option<&'static Profile>,
    profile_options: profile::Given,
    diagnostics: Diagnostics,
}

/// An example as a job file, and the option that puts its files into the directory that is named.
fn example_in(name: &str, place: &[String], is_here: bool) -> Result<(String, Setting), String> {
    let path = examples::path(examples::example(name)?);
    let [directory] = place else {
        return Err("name one directory to use, such as '.'".into());
    };
    if !is_here {
        return Err("an example runs on this machine, with fathom run".into());
    }
    let (name, value) = ("directory".to_owned(), Some(directory.clone()));
    Ok((path, Setting { name, value, origin: Origin::command_line() }))
}

/// Options whose wrong values fio ignores.
const IGNORED_IF_WRONG: &[&str] = &["eta", "debug"];

/// Drops `--daemonize` of what is no server under the name fio. `fathom run` refuses it later.
fn drop_daemonize(dialect: Dialect, invocation: &mut Invocation, diagnostics: &mut Diagnostics) {
    let is_run = invocation.clients.is_empty() && invocation.server.is_none();
    if dialect == Dialect::Fio && is_run && invocation.daemonize.take().is_some() {
        let text = "--daemonize: only a server runs in the background; it is ignored, as fio \
                    ignores it";
        diagnostics.warn(&Origin::command_line(), None, text);
    }
}

/// Checks that `--merge-blktrace-only` has something to merge.
fn check_merge(dialect: Dialect, invocation: &Invocation, diagnostics: &mut Diagnostics) {
    let merges = |job: &Job| job.replay.is_on() && job.replay.merge.file.is_some();
    if !invocation.merge_only || invocation.jobs.iter().any(merges) {
        return;
    }
    let text = "--merge-blktrace-only: no job has merge_blktrace_file";
    let origin = Origin::command_line();
    match dialect {
        Dialect::Fio => {
            let text = format!("{text}; nothing is done, as fio does nothing");
            diagnostics.warn(&origin, None, &text);
        }
        Dialect::Fathom => {
            diagnostics
                .error(&origin, format!("{text}; set it to where the merged trace is to go"));
        }
    }
}

/// The option that a name on the command line means.
#[derive(Clone, Copy)]
enum Named {
    Program(&'static ProgramOption),
    Job(&'static OptionDef),
    Profile(&'static ProfileOption),
}

impl Scan {
    fn new(dialect: Dialect) -> Self {
        let invocation = Invocation { terse_version: 3, ..Invocation::default() };
        let sections = vec![apply::command_line_section("global")];
        let (before, diagnostics) = (Vec::new(), Diagnostics::default());
        let profile_options = profile::Given::default();
        Scan {
            dialect,
            invocation,
            sections,
            left_out: Vec::new(),
            before,
            profile: None,
            profile_options,
            diagnostics,
        }
    }

    /// What an option that selects an action leaves of the command line: the version of fio whose
    /// formats are used.
    fn ended_by(&self, action: Action) -> Invocation {
        Invocation { action, compat: self.invocation.compat, ..Invocation::default() }
    }

    /// Parses all arguments. Stops at an option that selects an action, and returns it.
    fn arguments(&mut self, args: &[String]) -> Option<Action> {
        self.profile = profile_of(args);
        let mut args = args.iter().map(String::as_str).peekable();
        while let Some(argument) = args.next() {
            if argument == "--" {
                args.by_ref().for_each(|file| self.job_file(file));
                break;
            }
            if argument == "-" || !argument.starts_with('-') {
                self.job_file(argument);
                continue;
            }
            let (typed, inline) = match argument.split_once('=') {
                Some((typed, value)) => (typed, Some(value)),
                None => (argument, None),
            };
            let named = match self.look_up(typed) {
                Ok(named) => named,
                Err(text) => {
                    self.wrong(text);
                    continue;
                }
            };
            let value = match (inline, named.takes()) {
                (None, Takes::Value) => args.next_if(|next| !next.starts_with("--")),
                (inline, _) => inline,
            };
            if named.is_sent() {
                let apart = value.filter(|_| inline.is_none());
                self.outgoing().extend(std::iter::once(argument).chain(apart).map(Into::into));
            }
            if let Some(action) = self.option(named, typed, value) {
                return Some(action);
            }
        }
        None
    }

    /// Adds a job file, to the last server if there is one.
    fn job_file(&mut self, path: &str) {
        let invocation = &mut self.invocation;
        match invocation.clients.last_mut() {
            Some(client) => client.job_files.push(path.into()),
            None => invocation.job_files.push(path.into()),
        }
    }

    /// The list that receives options for servers.
    fn outgoing(&mut self) -> &mut Vec<String> {
        match self.invocation.clients.last_mut() {
            Some(client) => &mut client.arguments,
            None => &mut self.before,
        }
    }

    /// Replaces the directory that is named with an example by the example as a job file in it.
    fn use_example(&mut self) {
        let Some(name) = &self.invocation.example else { return };
        let invocation = &self.invocation;
        let is_here = invocation.clients.is_empty() && invocation.server.is_none();
        let is_here = is_here && self.dialect == Dialect::Fathom;
        match example_in(name, &invocation.job_files, is_here) {
            Ok((path, directory)) => {
                self.sections[0].settings.push(directory);
                self.invocation.job_files = vec![path];
            }
            Err(text) => {
                // The directory is no job file.
                self.invocation.job_files.clear();
                self.wrong(format!("--example: {text}"));
            }
        }
    }

    /// Removes the jobs that a `--section` left out.
    fn leave_out(&mut self) {
        let mut at = 0..;
        let left_out = &self.left_out;
        self.sections.retain(|_| at.next().is_some_and(|at| !left_out.contains(&at)));
    }

    /// Reads the job files and completes the invocation.
    fn finish(
        mut self,
        inputs: &dyn Inputs,
        overrides: &[Override],
    ) -> Result<Invocation, JobErrors> {
        self.use_example();
        self.leave_out();
        let Scan {
            dialect,
            mut invocation,
            mut sections,
            before,
            mut diagnostics,
            profile,
            profile_options,
            ..
        } = self;
        if invocation.formats.is_empty() {
            invocation.formats.push(Format::Normal);
        }
        drop_daemonize(dialect, &mut invocation, &mut diagnostics);
        // Servers parse their jobs themselves, because jobs depend on the files and CPUs of the
        // machine.
        let here = invocation.clients.is_empty() && invocation.server.is_none();
        if let (true, Some(profile)) = (here, profile) {
            match profile.sections(&profile_options, inputs.keywords()) {
                Ok(_) if !invocation.job_files.is_empty() => {
                    let text = "--profile: is all there is to run; leave the job files out";
                    diagnostics.error(&Origin::command_line(), text);
                }
                // Options given beside the profile override its defaults.
                Ok(made) => {
                    let (defaults, jobs) = made.split_at(1);
                    sections.splice(1..1, jobs.iter().cloned());
                    sections.splice(0..0, defaults.iter().cloned());
                }
                Err(text) => diagnostics.error(&Origin::command_line(), text),
            }
        }
        if here {
            Assembly::new(dialect, inputs, &mut invocation, &mut diagnostics)
                .with(overrides)
                .run(&sections);
        } else if let Err(text) = clients::complete(&mut invocation, &before, inputs) {
            diagnostics.error(&Origin::command_line(), text);
        }
        if diagnostics.errors.is_empty() {
            check_merge(dialect, &invocation, &mut diagnostics);
        }
        let Diagnostics { mut errors, messages, sources } = diagnostics;
        if invocation.warnings_fatal {
            fatal_warnings(&messages).for_each(|error| errors.push(error));
        }
        invocation.sources = sources;
        invocation.warnings = messages;
        errors.sort();
        if errors.is_empty() { Ok(invocation) } else { Err(errors) }
    }

    fn wrong(&mut self, text: impl Into<String>) {
        self.diagnostics.error(&Origin::command_line(), text);
    }

    /// The option that `--name`, `-name` or a letter means.
    fn look_up(&self, typed: &str) -> Result<Named, String> {
        let name = typed.strip_prefix("--").unwrap_or(&typed[1..]);
        // fathom's own options also work under the name fio, because messages may suggest them, but
        // only if they are written in full: abbreviations must keep fio's meaning.
        let offered = |option: &&ProgramOption| self.dialect == Dialect::Fathom || !option.ours;
        let own = self.profile.and_then(|p| p.options.iter().find(|option| option.name == name));
        if let Some(option) = own {
            return Ok(Named::Profile(option));
        }
        if let Some(option) = OPTIONS.iter().find(|option| option.name == name) {
            return Ok(Named::Program(option));
        }
        if let Some(def) = options::find(name).or_else(|| engine_option(name)) {
            return Ok(Named::Job(def));
        }
        let mut letters = name.chars();
        if let (false, Some(letter), None) =
            (typed.starts_with("--"), letters.next(), letters.next())
            && let Some(option) = OPTIONS.iter().find(|option| option.short == Some(letter))
        {
            return Ok(Named::Program(option));
        }
        abbreviated(name, OPTIONS.iter().filter(offered))
    }

    fn option(&mut self, named: Named, typed: &str, value: Option<&str>) -> Option<Action> {
        match named {
            Named::Job(def) => self.job_option(def, typed, value),
            Named::Profile(option) => {
                let taken = self.profile_options.take(option, value.unwrap_or("1"));
                if let Err(text) = taken {
                    self.wrong(format!("--{}: {text}", option.name));
                }
            }
            Named::Program(option) => return self.program_option(option, typed, value),
        }
        None
    }

    fn program_option(
        &mut self,
        option: &'static ProgramOption,
        typed: &str,
        value: Option<&str>,
    ) -> Option<Action> {
        let result = match (&option.role, option.takes, value) {
            (_, Takes::Nothing, Some(value)) => {
                Err(format!("takes no value, but '{value}' is given"))
            }
            (_, Takes::Value, None) => Err(format!("needs a value: {typed}={}", option.hint)),
            (Role::Ends(action), _, value) => {
                return Some(match (action(value), self.profile) {
                    (Action::CmdHelp(None), Some(profile)) => Action::ProfileHelp(profile.help()),
                    (action, _) => action,
                });
            }
            (Role::Sets(set), _, value) => set(&mut self.invocation, value.unwrap_or_default()),
            (Role::Nothing, ..) => Ok(()),
        };
        match result {
            Err(text)
                if self.dialect == Dialect::Fio && IGNORED_IF_WRONG.contains(&option.name) =>
            {
                let text = format!("--{}: {text}; it is ignored, as fio ignores it", option.name);
                self.diagnostics.warn(&Origin::command_line(), None, &text);
            }
            Err(text) => self.wrong(format!("--{}: {text}", option.name)),
            Ok(()) => {}
        }
        None
    }

    fn job_option(&mut self, def: &'static OptionDef, typed: &str, value: Option<&str>) {
        if value.is_none_or(str::is_empty) && (def.kind != Kind::Flag || value.is_some()) {
            return self.wrong(format!("--{}: needs a value: {typed}=VALUE", def.name));
        }
        if def.name == "name"
            && let Some(name) = value
        {
            // Oracle: fio chooses among the jobs behind --section, those of the command line as well.
            let chosen = &self.invocation.sections;
            let chooses = self.dialect == Dialect::Fio && !chosen.is_empty();
            if chooses && !chosen.iter().any(|section| section == name) {
                self.left_out.push(self.sections.len());
            }
            self.sections.push(apply::command_line_section(name));
        }
        let setting = Setting {
            name: typed.trim_start_matches('-').into(),
            value: value.map(Into::into),
            origin: Origin::command_line(),
        };
        // An abbreviation is replaced by the full name.
        let setting = match options::find(&setting.name).or_else(|| engine_option(&setting.name)) {
            Some(_) => setting,
            None => Setting { name: def.name.into(), ..setting },
        };
        let last = self.sections.len() - 1;
        self.sections[last].settings.push(setting);
    }
}

/// Warnings as errors, for `--warnings-fatal`.
fn fatal_warnings(messages: &[Message]) -> impl Iterator<Item = JobError> {
    let origin = Origin { source: "--warnings-fatal".into(), line: None };
    let fatal = messages.iter().filter(|message| message.severity >= Severity::Warning);
    fatal.map(move |message| JobError::new(&origin, message.text.clone()))
}

impl Named {
    /// Whether the option is sent to servers.
    fn is_sent(self) -> bool {
        match self {
            Named::Program(option) => option.sent,
            Named::Job(_) | Named::Profile(_) => true,
        }
    }

    fn takes(self) -> Takes {
        match self {
            Named::Program(option) => option.takes,
            Named::Job(def) if def.kind == Kind::Flag => Takes::Maybe,
            Named::Profile(option) if option.name == "prep" => Takes::Maybe,
            Named::Profile(_) => Takes::Value,
            Named::Job(_) => Takes::Value,
        }
    }
}

/// The profile named by the command line. It is needed first, because its options may precede it.
fn profile_of(args: &[String]) -> Option<&'static Profile> {
    let value = |(at, argument): (usize, &String)| {
        let apart = || args.get(at + 1).cloned();
        match argument.split_once('=') {
            Some(("--profile" | "-profile" | "-p", name)) => Some(name.to_owned()),
            None if matches!(argument.as_str(), "--profile" | "-p") => apart(),
            _ => None,
        }
    };
    let name = args.iter().enumerate().find_map(value)?;
    profile::find(&name).ok()
}

/// An option of any engine. The engine is known only after the whole command line is read.
fn engine_option(name: &str) -> Option<&'static OptionDef> {
    options::all().find(|def| !def.engines.is_empty() && def.names().any(|known| known == name))
}

/// The only option that an abbreviated name can mean.
fn abbreviated(
    name: &str,
    program: impl Iterator<Item = &'static ProgramOption>,
) -> Result<Named, String> {
    let mut found: Vec<(&'static str, Named)> = Vec::new();
    let candidates =
        program.map(|option| (option.name, option.name, Named::Program(option))).chain(
            options::all()
                .flat_map(|def| def.names().map(move |known| (known, def.name, Named::Job(def)))),
        );
    for (known, canonical, named) in candidates {
        let other = found.iter().all(|(seen, _)| *seen != canonical);
        if !name.is_empty() && known.starts_with(name) && other {
            found.push((canonical, named));
        }
    }
    match found.as_slice() {
        [] => Err(apply::unknown(name, None)
            .replace("option '", "option '--")
            .replace("did you mean '", "did you mean '--")),
        [(_, named)] => Ok(*named),
        several => {
            let names: Vec<String> =
                several.iter().take(8).map(|(name, _)| format!("--{name}")).collect();
            let more = if several.len() > 8 { ", …" } else { "" };
            Err(format!("'--{name}' may mean {}{more}", names.join(", ")))
        }
    }
}
