//! `fathom app`: work of real life in timed phases.

pub mod channel;
mod stage;

use crate::archived;
use crate::output::{Output, describe, say};
use crate::suites::scratch::Scratch;
use crate::suites::{self, SuiteOptions};
use anyhow::Result;
use apps::work::{AppRequest, Kind, UserTree};
use apps::{Database, Dsn, Failure};
use clap::{Args, ValueEnum};
use record::{Bytes, RecordSet};
use runner::Refusal;
use runner::Runner;
use stage::{AppFixture, Stage};
use std::ffi::OsString;
use std::path::PathBuf;

/// Work of real life, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Work {
    /// Compress one archive of a tree of files.
    Gzip,
    /// Decompress it.
    Gunzip,
    /// Copy a tree of many files.
    Copy,
    /// Configure and compile a C project: many small programs and files.
    Compile,
    /// Rows in SQLite: fetched, inserted, counted cold and warm, indexed.
    Sqlite,
    /// The same with a MariaDB or MySQL server: one started for it, or --dsn.
    Mysql,
    /// The same with a PostgreSQL server: one started for it, or --dsn.
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

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom app gzip,copy /data
  fathom app postgres /data --rows=1000000 --cold --repeat=5
  fathom app compile /data --reference=latest";

/// What `fathom app` takes.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub struct Arguments {
    /// What to do; several with commas between them, one after the other in each round.
    #[arg(value_delimiter = ',', num_args = 1, action = clap::ArgAction::Set, required = true)]
    work: Vec<Work>,
    /// A directory, or a file in it: the work is done there, in a directory of its own that is
    /// removed.
    #[arg(default_value = ".")]
    path: OsString,
    /// Rounds: every phase once in each.
    #[arg(long, value_name = "NUMBER", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Empty the caches before each phase: all of the kernel's as root, else those of the files.
    #[arg(long)]
    cold: bool,
    /// Count the time it takes to write everything out as part of each phase that writes.
    #[arg(long)]
    sync: bool,
    /// Size of the generated tree (gzip, gunzip, copy); 100m otherwise.
    #[arg(long, value_parser = suites::size)]
    size: Option<Bytes>,
    /// Files of the generated tree (2000 otherwise), or source files of the generated project
    /// (compile, 150 otherwise).
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    files: Option<u32>,
    /// Rows of the tables (sqlite, mysql, postgres); 200000 otherwise.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=10_000_000_000))]
    rows: Option<u64>,
    /// A tree of your own instead of a generated one; it is copied, and only the copy is worked on.
    #[arg(long, value_name = "DIRECTORY")]
    tree: Option<PathBuf>,
    /// What compiles that tree (compile), run by sh in the copy; make otherwise.
    #[arg(long, value_name = "COMMAND", requires = "tree")]
    command: Option<String>,
    /// Compilers at a time (compile); as many as there are CPUs otherwise.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
    /// A server of your own (mysql, postgres): postgres://USER:PASSWORD@HOST:PORT/DATABASE. One
    /// table is made there, and dropped at the end.
    #[arg(long, value_name = "URL")]
    dsn: Option<String>,
    /// Compare with an earlier call of the same work, by its name in the archive or the file of its
    /// `--record`: gain in percent of its time.
    #[arg(long, value_name = "RUNS")]
    reference: Option<PathBuf>,
    /// Seed of everything that is generated; the same seed gives the same files and rows.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Keep the directory.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    output: suites::OutputArguments,
}

/// Does the work and reports.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let archive = arguments.output.archive("app")?;
    let dsn = arguments.checked()?;
    let reference = arguments.reference.as_deref().map(reference).transpose()?;
    let request = arguments.request()?;
    request.check().map_err(refused)?;
    let runner = Runner::new(false);
    // From here on there is something to take away when a signal comes.
    runner.signals()?.catch_hang_up()?;
    let mut scratch =
        Scratch::directory_under(&arguments.path, "app", runner.machine(), arguments.keep)?;
    room(&request, &scratch)?;
    let fixture = AppFixture::prepare(&request, dsn, &scratch)?;
    if let Some(signal) = runner.caught() {
        return Ok(suites::exit_code(Some(signal), false));
    }
    let options =
        SuiteOptions { left_behind: scratch.left_behind(), ..arguments.output.suite_options() };
    let mut stage =
        Stage::new(&request, arguments.repeat, fixture, &scratch, &runner, options.clone())?;
    let mut set = runner::empty_set("app", arguments.seed);
    let mut archive = archive.with_seed(set.seed);
    let end = suites::run_task(&mut stage, &runner, &options, &mut set, &mut archive);
    let broken = stage.close();
    let kept = suites::save(&mut archive, &set);
    scratch.remove();
    let conclusion = suite::app::conclude(&set, reference.as_ref());
    let mut output = Output::Stdout;
    output.write(&match arguments.output.json {
        true => report::json::suite::app(&conclusion, arguments.seed, &kept),
        false => report::suite::app(&conclusion, &output.style()) + &suites::footer(&kept),
    })?;
    if arguments.keep {
        say(&format!("the directory is kept: {}\n", scratch.path));
    }
    let signal = end?;
    if let Some(failure) = &broken {
        say(&format!("fathom: error: {failure}\n"));
    }
    let interrupted = conclusion.interrupted_by.or(signal).or(runner.caught());
    let failed = kept.is_lost || broken.is_some() || !conclusion.failures.is_empty();
    Ok(suites::exit_code(interrupted, failed))
}

fn refused(failure: Failure) -> anyhow::Error {
    Refusal::target(failure.0)
}

/// The set that is compared with.
fn reference(path: &std::path::Path) -> Result<RecordSet> {
    let set = archived::load(path)
        .map_err(|error| Refusal::usage(format!("--reference: {}", describe(&error))))?;
    match set.kind.as_str() {
        "app" => Ok(set),
        kind => Err(Refusal::usage(format!(
            "--reference={}: that is a record of 'fathom {kind}'; give one that 'fathom app \
             --record' wrote",
            path.display()
        ))),
    }
}

/// Whether the work fits, with a tenth of what is free left over.
fn room(request: &AppRequest, scratch: &Scratch) -> Result<()> {
    if let Some(tree) = request.tree.as_ref().filter(|tree| scratch.path_is_below(&tree.path)) {
        return Err(Refusal::usage(format!(
            "--tree={} holds the place where its copy would be made: work elsewhere",
            tree.path.display()
        )));
    }
    let (needed, free) = (request.space(), scratch.free.0);
    if needed <= free / 10 * 9 {
        return Ok(());
    }
    Err(Refusal::target(format!(
        "the work takes about {}, and {} are free: make room, or ask for less with --size, --files \
         or --rows",
        Bytes(needed),
        Bytes(free)
    )))
}

impl Arguments {
    fn has(&self, works: &[Work]) -> bool {
        self.work.iter().any(|work| works.contains(work))
    }

    /// Options that the works have no use for are mistakes.
    fn checked(&self) -> Result<Option<Dsn>> {
        let trees = [Work::Gzip, Work::Gunzip, Work::Copy];
        let files = [&trees[..], &[Work::Compile]].concat();
        let servers = [Work::Mysql, Work::Postgres];
        let rows = [&servers[..], &[Work::Sqlite]].concat();
        let given = [
            ("--size", self.size.is_some(), &trees[..]),
            ("--files", self.files.is_some(), &files),
            ("--rows", self.rows.is_some(), &rows),
            ("--tree", self.tree.is_some(), &files),
            ("--command", self.command.is_some(), &[Work::Compile]),
            ("--jobs", self.jobs.is_some(), &[Work::Compile]),
            ("--dsn", self.dsn.is_some(), &servers),
        ];
        for (option, given, works) in given {
            if given && !self.has(works) {
                let works: Vec<&str> = works.iter().map(|work| work.kind().name()).collect();
                return Err(Refusal::usage(format!(
                    "{option} is for {}; leave it out",
                    works.join(", ")
                )));
            }
        }
        if self.tree.is_some() && (self.size.is_some() || self.files.is_some()) {
            let text =
                "--size and --files are those of a generated tree; leave them out beside --tree";
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
        let wanted = servers.into_iter().filter(|server| kinds.contains(&Kind::Database(*server)));
        match wanted.collect::<Vec<_>>()[..] {
            [one] if one == dsn.database() => Ok(dsn),
            [one] => Err(Refusal::usage(format!(
                "--dsn names a server of {}, and the work is {}",
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
        })
    }
}

fn own_tree(path: &std::path::Path) -> Result<UserTree> {
    let shown = path.display();
    let real = std::fs::canonicalize(path)
        .map_err(|error| Refusal::usage(format!("--tree={shown}: {error}; name a directory")))?;
    if !real.is_dir() {
        return Err(Refusal::usage(format!("--tree={shown} is no directory; name one")));
    }
    if real.to_str().is_none() {
        return Err(Refusal::usage(format!("--tree={shown} is not UTF-8 text")));
    }
    let (files, bytes) = apps::work::measure(&real).map_err(|failure| {
        Refusal::target(format!("--tree={shown}: {failure}; it has to be readable as a whole"))
    })?;
    if files == 0 {
        return Err(Refusal::usage(format!(
            "--tree={shown} holds no file: there is nothing to do"
        )));
    }
    Ok(UserTree { path: real, files, bytes })
}
