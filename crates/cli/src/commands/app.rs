//! `fathom app`: application benchmarks in timed phases.

pub mod channel;
mod fixture;
mod task;

use crate::archived;
use crate::output::{Output, describe, write_stderr};
use crate::suites::scratch::Scratch;
use crate::suites::{self, SuiteOptions};
use anyhow::Result;
use apps::work::{AppRequest, Kind, UserTree};
use apps::{Database, Dsn};
use clap::{Args, ValueEnum};
use fixture::{AppFixture, refused};
use record::{Bytes, RecordSet};
use runner::{Refusal, Runner};
use std::ffi::OsString;
use std::path::PathBuf;
use task::PhaseTask;

/// An application benchmark, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Work {
    /// Compress a tree of files into one archive.
    Gzip,
    /// Decompress such an archive.
    Gunzip,
    /// Copy a tree of many files.
    Copy,
    /// Configure and compile a C project with many small files.
    Compile,
    /// Insert, fetch, count and index rows in SQLite.
    Sqlite,
    /// The same in MariaDB or MySQL: a server started for it, or that of --dsn.
    Mysql,
    /// The same in PostgreSQL: a server started for it, or that of --dsn.
    Postgres,
}

impl Work {
    fn kind(self) -> Kind {
        match self {
            Work::Gzip => Kind::Gzip,
            Work::Gunzip => Kind::Gunzip,
            Work::Copy => Kind::Copy,
            Work::Compile => Kind::Compile,
            Work::Sqlite => Kind::Database(Database::Sqlite),
            Work::Mysql => Kind::Database(Database::Mysql),
            Work::Postgres => Kind::Database(Database::Postgres),
        }
    }
}

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom app gzip,copy /data
  fathom app postgres /data --rows=1000000 --cold --repeat=5
  fathom app compile /data --reference=latest";

/// Arguments of `fathom app`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// Benchmarks, separated by commas; each round runs all of them in turn.
    #[arg(value_delimiter = ',', num_args = 1, action = clap::ArgAction::Set, required = true)]
    work: Vec<Work>,
    /// Directory to measure, or a file in it. The benchmark works in a temporary directory there.
    #[arg(default_value = ".")]
    path: OsString,
    /// Rounds; each runs every phase once.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Empty the caches before each phase: as root all of the kernel's, else those of the files.
    #[arg(long)]
    cold: bool,
    /// Include the time to write everything to disk (sync) in each phase that writes.
    #[arg(long)]
    sync: bool,
    /// Size of the generated tree (gzip, gunzip, copy) [default: 100m].
    #[arg(long, value_parser = suites::size)]
    size: Option<Bytes>,
    /// Number of files in the generated tree [default: 2000] or project (compile) [default: 150].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    files: Option<u32>,
    /// Rows of the table (sqlite, mysql, postgres) [default: 200000].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=10_000_000_000))]
    rows: Option<u64>,
    /// Use a copy of this tree instead of a generated one.
    #[arg(long, value_name = "DIRECTORY")]
    tree: Option<PathBuf>,
    /// Shell command that compiles the copy (compile) [default: make].
    #[arg(long, value_name = "COMMAND", requires = "tree")]
    command: Option<String>,
    /// Also time the SQL statements in this file (sqlite, mysql, postgres); {table} in it is the table of
    /// the benchmark.
    #[arg(long, value_name = "FILE")]
    sql: Option<PathBuf>,
    /// Parallel compilers (compile) [default: number of CPUs].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
    /// Use this server (mysql, postgres): postgres://USER:PASSWORD@HOST:PORT/DATABASE. The benchmark
    /// creates one table there and drops it at the end.
    #[arg(long, value_name = "URL")]
    dsn: Option<String>,
    /// Show the gain over earlier runs: their name in the archive, or the file of their --record.
    #[arg(long, value_name = "RUNS")]
    reference: Option<PathBuf>,
    /// Show the time of each phase as a share of all phases (total), or of this phase.
    #[arg(long, value_name = "total|PHASE", default_value = "total")]
    percent_of: String,
    /// Seed of the generated files and rows.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep the temporary directory.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Runs the benchmarks and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("app")?;
    let dsn = arguments.check()?;
    let reference = arguments.reference.as_deref().map(reference).transpose()?;
    let request = arguments.request()?;
    request.check().map_err(refused)?;
    let runner = Runner::new(false);
    // From here on a signal must not skip the removal of the directory.
    runner.signals()?.catch_hang_up()?;
    let mut scratch =
        Scratch::directory_under(&arguments.path, "app", runner.machine(), arguments.keep)?;
    check_space(&request, &scratch)?;
    let fixture = AppFixture::prepare(&request, dsn, &scratch)?;
    if let Some(signal) = runner.caught() {
        return Ok(suites::exit_code(Some(signal), false));
    }
    let options =
        SuiteOptions { left_behind: scratch.left_behind(), ..arguments.output.suite_options() };
    let mut task =
        PhaseTask::new(&request, arguments.repeat, fixture, &scratch, &runner, options.clone())?;
    let related_to = Some(arguments.percent_of.as_str()).filter(|phase| *phase != "total");
    if let Some(phase) = related_to.filter(|phase| !task.phases().any(|name| name == *phase)) {
        let names: Vec<&str> = task.phases().collect();
        let names = record::human::list(&names);
        let refusal = format!("--percent-of={phase}: name total or one of the phases {names}");
        task.close();
        return Err(Refusal::usage(refusal));
    }
    let mut set = runner::empty_set("app", arguments.seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run_task(&mut task, &runner, &options, &mut set, &mut archive);
    let fixture_failure = task.close();
    let saved = suites::save(&mut archive, &set);
    scratch.remove();
    let mut conclusion = suite::app::conclude(&set, reference.as_ref());
    if let Some(phase) = related_to {
        conclusion.relate_to(phase, &set);
    }
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::app(&conclusion, arguments.seed, &saved),
        false => report::suite::app(&conclusion, &output.style()) + &suites::footer(&saved),
    })?;
    if arguments.keep {
        write_stderr(&format!("directory kept: {}\n", scratch.path));
    }
    let signal = end?;
    if let Some(failure) = &fixture_failure {
        write_stderr(&format!("fathom: error: {failure}\n"));
    }
    let interrupted = conclusion.interrupted_by.or(signal).or(runner.caught());
    let failed = saved.is_lost || fixture_failure.is_some() || !conclusion.failures.is_empty();
    Ok(suites::exit_code(interrupted, failed))
}

/// The set of --reference.
fn reference(path: &std::path::Path) -> Result<RecordSet> {
    let set = archived::load(path)
        .map_err(|error| Refusal::usage(format!("--reference: {}", describe(&error))))?;
    match set.kind.as_str() {
        "app" => Ok(set),
        kind => Err(Refusal::usage(format!(
            "--reference={}: a record of 'fathom {kind}'; name one of 'fathom app'",
            path.display()
        ))),
    }
}

/// Checks that the benchmark needs at most nine tenths of the free space.
fn check_space(request: &AppRequest, scratch: &Scratch) -> Result<()> {
    if let Some(tree) = request.tree.as_ref().filter(|tree| scratch.path_is_below(&tree.path)) {
        return Err(Refusal::usage(format!(
            "--tree={} contains the directory for its copy; name another directory",
            tree.path.display()
        )));
    }
    let (needed, free) = (request.space(), scratch.free.0);
    if needed <= free / 10 * 9 {
        return Ok(());
    }
    Err(Refusal::target(format!(
        "the benchmark needs about {}, and {} are free; free more space, or use less with --size, \
         --files or --rows",
        Bytes(needed),
        Bytes(free)
    )))
}

impl Arguments {
    fn has(&self, works: &[Work]) -> bool {
        self.work.iter().any(|work| works.contains(work))
    }

    /// Refuses options that no chosen benchmark uses. Returns the server of --dsn.
    fn check(&self) -> Result<Option<Dsn>> {
        let trees = [Work::Gzip, Work::Gunzip, Work::Copy];
        let files = [&trees[..], &[Work::Compile]].concat();
        let servers = [Work::Mysql, Work::Postgres];
        let rows = [&servers[..], &[Work::Sqlite]].concat();
        let given = [
            ("--size", self.size.is_some(), &trees[..]),
            ("--files", self.files.is_some(), &files),
            ("--rows", self.rows.is_some(), &rows),
            ("--sql", self.sql.is_some(), &rows),
            ("--tree", self.tree.is_some(), &files),
            ("--command", self.command.is_some(), &[Work::Compile]),
            ("--jobs", self.jobs.is_some(), &[Work::Compile]),
            ("--dsn", self.dsn.is_some(), &servers),
        ];
        for (option, given, works) in given {
            if given && !self.has(works) {
                let works: Vec<&str> = works.iter().map(|work| work.kind().name()).collect();
                return Err(Refusal::usage(format!(
                    "{option} is only for {}; leave it out",
                    works.join(", ")
                )));
            }
        }
        if self.tree.is_some() && (self.size.is_some() || self.files.is_some()) {
            let text = "--size and --files describe a generated tree; leave them out with --tree";
            return Err(Refusal::usage(text));
        }
        let mut seen = Vec::new();
        for work in &self.work {
            if seen.contains(work) {
                return Err(Refusal::usage(format!("'{}' is given twice", work.kind().name())));
            }
            seen.push(*work);
        }
        self.dsn.as_deref().map(|dsn| self.server(dsn)).transpose()
    }

    fn server(&self, dsn: &str) -> Result<Dsn> {
        let dsn = Dsn::parse(dsn).map_err(|error| Refusal::usage(format!("--dsn: {error}")))?;
        let kinds: Vec<Kind> = self.work.iter().map(|work| work.kind()).collect();
        let servers = [Database::Mysql, Database::Postgres];
        let chosen = servers.into_iter().filter(|server| kinds.contains(&Kind::Database(*server)));
        match chosen.collect::<Vec<_>>()[..] {
            [one] if one == dsn.database() => Ok(dsn),
            [one] => Err(Refusal::usage(format!(
                "--dsn names a {} server, but the benchmark is {}; give the URL of one of that kind",
                dsn.database().name(),
                one.name()
            ))),
            _ => Err(Refusal::usage("--dsn is for one server: give mysql or postgres, not both")),
        }
    }

    fn request(&self) -> Result<AppRequest> {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        let tree = self.tree.as_deref().map(own_tree).transpose()?;
        Ok(AppRequest {
            kinds: self.work.iter().map(|work| work.kind()).collect(),
            size: self.size.unwrap_or(Bytes(100 << 20)),
            files: self.files.unwrap_or(2000),
            sources: self.files.unwrap_or(150),
            rows: self.rows.unwrap_or(200_000),
            seed: self.seed,
            jobs: self.jobs.unwrap_or(cpus),
            sync: self.sync,
            cold: self.cold,
            tree,
            command: self.command.clone(),
            sql: self.sql.as_deref().map(statements).transpose()?,
        })
    }
}

/// The statements of --sql.
fn statements(path: &std::path::Path) -> Result<String> {
    let shown = path.display();
    let sql = std::fs::read_to_string(path)
        .map_err(|error| Refusal::usage(format!("--sql={shown}: {error}; name a file of SQL")))?;
    match sql.trim().is_empty() {
        true => Err(Refusal::usage(format!("--sql={shown}: it has no statement"))),
        false => Ok(sql),
    }
}

fn own_tree(path: &std::path::Path) -> Result<UserTree> {
    let shown = path.display();
    let real = std::fs::canonicalize(path)
        .map_err(|error| Refusal::usage(format!("--tree={shown}: {error}; name a directory")))?;
    if !real.is_dir() {
        return Err(Refusal::usage(format!("--tree={shown} is not a directory; name one")));
    }
    if real.to_str().is_none() {
        return Err(Refusal::usage(format!("--tree={shown} is not UTF-8 text")));
    }
    let (files, bytes) = apps::work::measure(&real).map_err(|failure| {
        Refusal::target(format!("--tree={shown}: {failure}; all of it must be readable"))
    })?;
    if files == 0 {
        return Err(Refusal::usage(format!(
            "--tree={shown} contains no file; name another directory"
        )));
    }
    Ok(UserTree { path: real, files, bytes })
}
