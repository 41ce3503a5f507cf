//! `fathom io500`, also when called as `io500`.

mod places;

use super::{mdtest, remarks};
use crate::output::Output;
use crate::suites::{self, SuiteOptions};
use anyhow::{Context, Result};
use apps::search::{Search, search};
use compat::io500::{
    Arguments, Banner, Found, Io500, Io500Command, Outcome, Part, Phase, Request, TERMINOLOGY,
    defaults, footer, head, help, parse, parse_arguments, part_of, reasons, result_file,
    result_line, rows, score, score_line,
};
use compat::ior::IorCommand;
use compat::mdtest::MdtestCommand;
use job::Invocation;
use places::Places;
use record::{RecordSet, RunRecord};
use runner::{Refusal, RunArchive, Runner, SuiteTask};
use std::fs;
use std::thread::available_parallelism;
use suite::{Step, Suite};

const KIND: &str = "io500";
/// The option that says how many tasks there are.
const TASKS: &str = "--tasks=";
/// A part of the names that the search is for, and the size of the files, by the rules.
const PART_OF_NAME: &str = "01";
const SIZE: u64 = 3901;

/// Measures and reports.
pub fn main(words: &[String]) -> u8 {
    run_words(words).unwrap_or_else(|error| remarks::fail(&TERMINOLOGY, &error))
}

fn run_words(words: &[String]) -> Result<u8> {
    remarks::on_ranks(words, TASKS, |runner, all| {
        match parse_arguments(all).map_err(remarks::refused)? {
            Request::Help => Output::Stdout.write(help()).map(|()| 0),
            Request::Defaults => Output::Stdout.write(&defaults()).map(|()| 0),
            Request::Run(arguments) => run(&arguments, runner),
        }
    })
}

/// The settings, and the text that they come from.
fn configured(arguments: &Arguments) -> Result<(Io500Command, String)> {
    let (mut call, text) = match &arguments.config {
        None => (Io500Command::default(), defaults()),
        Some(path) => {
            let text = fs::read_to_string(path)
                .map_err(|error| Refusal::usage(format!("{path}: cannot be read: {error}")))?;
            let call = parse(path, &text).map_err(|error| Refusal::usage(error.to_string()))?;
            (call, text)
        }
    };
    call.tasks = arguments.tasks.unwrap_or(1);
    Ok((call, text))
}

fn run(arguments: &Arguments, runner: &Runner) -> Result<u8> {
    let (call, config) = configured(arguments)?;
    remarks::print_notes(KIND, &call.notes);
    let hosts = remarks::hosts_of(call.tasks, TASKS, runner)?;
    let stamp = chrono::Local::now().format("%Y.%m.%d-%H.%M.%S").to_string();
    let datadir = Places::paths(&call, &stamp).0.display().to_string();
    if arguments.dry_run {
        return Output::Stdout.write(&command_lines(&call, &datadir)).map(|()| 0);
    }
    let tests = (
        call.ior(&datadir, &hosts).map_err(remarks::refused)?,
        call.mdtest(&datadir, &hosts).map_err(remarks::refused)?,
    );
    let archive = remarks::archive(KIND, arguments.own.no_archive, arguments.own.record.as_ref())?;
    let places = Places::create(&call, &stamp, arguments.keep)?;
    let seed = runner::fresh_seed();
    let options = options(arguments, &call, &datadir);
    let banner = Banner {
        version: env!("CARGO_PKG_VERSION").into(),
        began: remarks::now(),
        datadir,
        resultdir: places.results.display().to_string(),
    };
    let suite = Io500::new(&call.phases(), &tests.0, &tests.1, seed);
    let mut task = Io500Task {
        suite,
        outcome: Outcome::default(),
        call: &call,
        runner,
        ior: &tests.0,
        mdtest: &tests.1,
        options: &options,
        places: &places,
        summary: String::new(),
        printed: 0,
        error: None,
    };
    task.print(&head(&banner))?;
    let mut set = runner::empty_set(KIND, seed);
    let mut archive = archive.with_seed(seed);
    let end = suites::run_task(&mut task, runner, &options, &mut set, &mut archive);
    // A signal between two runs is in no record. The results before an error are still shown.
    let signal = end.as_ref().copied().unwrap_or_default().or(runner.caught());
    task.outcome.interrupted_by = task.outcome.interrupted_by.or(signal);
    let is_saved = task.conclude(&banner, &config, &set, &mut archive)?;
    let (interrupted_by, error) = (task.outcome.interrupted_by, task.error.take());
    let failed = !is_saved || task.outcome.failure.is_some();
    places.remove()?;
    end?;
    error.map_or(Ok(()), Err)?;
    Ok(suites::exit_code(interrupted_by, failed))
}

fn options(arguments: &Arguments, call: &Io500Command, datadir: &str) -> SuiteOptions {
    SuiteOptions {
        with_serials: arguments.own.with_serials,
        quiet: true,
        terminology: TERMINOLOGY,
        left_behind: format!(" and leaves {datadir}"),
        ranks: Some(call.tasks),
        job_of_rank: Some("task.".into()),
        ..SuiteOptions::default()
    }
}

/// The command lines of the tests, as `--dry-run` prints them.
fn command_lines(call: &Io500Command, datadir: &str) -> String {
    let line = |tool: &str, words: &[String]| format!("fathom {tool} {}\n", words.join(" "));
    let mut out: String = call.ior_lines(datadir).iter().map(|words| line("ior", words)).collect();
    out.extend(call.mdtest_lines(datadir).iter().map(|words| line("mdtest", words)));
    out + "phases: "
        + &call.phases().into_iter().map(Phase::name).collect::<Vec<_>>().join(", ")
        + "\n"
}

/// The phases. Each is printed as soon as it is done.
struct Io500Task<'a> {
    suite: Io500,
    outcome: Outcome,
    call: &'a Io500Command,
    runner: &'a Runner,
    ior: &'a [IorCommand; 2],
    mdtest: &'a [MdtestCommand; 2],
    options: &'a SuiteOptions,
    places: &'a Places,
    /// What was printed, for the file.
    summary: String,
    /// Phases that were printed.
    printed: usize,
    /// What went wrong outside of the runs.
    error: Option<anyhow::Error>,
}

impl SuiteTask for Io500Task<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        if self.suite.is_search_next() {
            let searched = self.search();
            self.suite.searched();
            self.take(searched);
        }
        &mut self.suite
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        if let Some((_, Part::Mdtest(test, compat::mdtest::Phase::TreeCreate))) =
            part_of(&step.cell)
        {
            for path in self.mdtest[test].test_directories(0) {
                fs::create_dir_all(&path).with_context(|| format!("{path}: cannot be created"))?;
            }
        }
        suites::invocation(step, runner, self.options)
    }

    fn save(&mut self, record: &RunRecord) -> Result<()> {
        let sync = match record.cell.as_ref().and_then(part_of) {
            Some((_, Part::Mdtest(test, _))) => mdtest::sync(&self.mdtest[test])?,
            _ => 0.0,
        };
        self.outcome.add(record, sync);
        Ok(())
    }

    fn complete(&mut self, record: &mut RunRecord) {
        record.keep_files(remarks::FILES_KEPT);
        if self.suite.within().is_none() {
            let printed = self.print_rows();
            self.take(printed);
        }
    }
}

impl Io500Task<'_> {
    /// Keeps the first error, which ends the phases.
    fn take(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.suite.end();
            self.error.get_or_insert(error);
        }
    }

    /// The phase `find`.
    fn search(&mut self) -> Result<()> {
        let cpus = available_parallelism().map_or(1, usize::from);
        let wanted = Search {
            root: &self.places.data,
            part_of_name: PART_OF_NAME,
            size: SIZE,
            newer_than: &self.places.mark,
            threads: self.call.threads(cpus),
        };
        let runner = self.runner;
        let Some(result) = search(&wanted, &|| runner.caught().is_some())? else { return Ok(()) };
        self.outcome.found = Some(Found {
            names: result.names,
            matching: result.matching,
            seconds: result.time.as_secs_f64(),
            threads: wanted.threads,
        });
        self.print_rows()
    }

    /// Prints the phases that have ended.
    fn print_rows(&mut self) -> Result<()> {
        let rows = rows(&self.outcome);
        for row in rows.iter().skip(self.printed) {
            self.print(&result_line(row))?;
        }
        self.printed = rows.len();
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<()> {
        self.summary += text;
        Output::Stdout.write(text)
    }

    /// Saves the records and prints the end. Returns whether the records were saved.
    fn conclude(
        &mut self,
        banner: &Banner,
        config: &str,
        set: &RecordSet,
        archive: &mut RunArchive,
    ) -> Result<bool> {
        if let Some(part) = self.suite.within() {
            self.outcome.drop_unfinished(part);
        }
        self.print_rows()?;
        let rows = rows(&self.outcome);
        if !rows.is_empty() {
            let is_valid = reasons(self.call, &self.outcome).is_empty();
            self.print(&score_line(&score(&rows), is_valid))?;
        }
        let write = |name: &str, text: &str| {
            let path = self.places.results.join(name);
            fs::write(&path, text).with_context(|| format!("{}: cannot be written", path.display()))
        };
        write("result_summary.txt", &self.summary)?;
        write("result.txt", &result_file(self.call, &self.outcome, banner))?;
        write("config.ini", config)?;
        let kept = suites::save(archive, set);
        let mut output = Output::Stdout;
        let nodes = self.ior[0].nodes;
        let below =
            footer(self.call, &self.outcome, nodes, &output.style()) + &suites::footer(&kept);
        output.write(&below)?;
        remarks::print_failure(KIND, &TERMINOLOGY, self.outcome.failure.as_ref());
        Ok(!kept.is_lost)
    }
}
