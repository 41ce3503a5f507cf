//! An invocation of the program: its command line and job files, parsed.

use crate::debug::Debug;
use crate::expand::Keywords;
use crate::model::Job;
use record::{FioVersion, Format, Message, Nanos, SourceText};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// The rules that apply where fathom and fio differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Options given beside a job file override that file, for every job.
    #[default]
    Fathom,
    /// fio's rules: options given beside job files are defaults for the first job file only.
    Fio,
}

/// The files and variables that parsing reads.
pub trait Inputs {
    /// The bytes of a file; "-" is standard input.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
    /// What `$pagesize`, `$mb_memory` and `$ncpus` stand for.
    fn keywords(&self) -> Keywords;
}

/// The action to perform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Run the jobs.
    #[default]
    Run,
    /// Nothing: the jobs were parsed without errors.
    ParseOnly,
    /// Print this text: the job files as command lines.
    ShowCmd(String),
    /// Print this text: the options of each job, their values and origins.
    Explain(String),
    /// Print help on this option ([`crate::help::command`]).
    CmdHelp(Option<String>),
    /// Print help on this engine or engine option ([`crate::help::engine`]).
    EngHelp(Option<String>),
    /// Print this compressed log.
    InflateLog(String),
    /// Print this text: the options of a profile.
    ProfileHelp(String),
    /// Print the areas that can be traced ([`crate::debug::help`]).
    DebugHelp,
    /// Measure these checksums, or all.
    CrcTest(Option<String>),
    /// Check the clock of the CPUs.
    CpuClockTest,
    /// Measure how long a unit of idle work takes.
    IdleCalibrate,
    /// Print the version.
    Version,
    /// Print the help of the command ([`crate::help::overview`], [`crate::help::usage`]).
    Help,
    /// Print every option ([`crate::help::all_options`]).
    HelpAll,
}

/// When to show the status line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eta {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// When the path of I/Os through the kernel is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerTiming {
    /// Never.
    Off,
    /// In a run of some seconds, if the kernel allows it and the rate of the I/Os is such that it costs
    /// little.
    IfCheap,
    /// From the first I/O to the last.
    Full,
}

/// How the idleness of CPUs is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProf {
    /// All CPUs together.
    System,
    /// All CPUs together, and each.
    PerCpu,
}

/// A parsed invocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invocation {
    /// The action to perform.
    pub action: Action,
    /// The file for the report; `None`: standard output.
    pub output: Option<PathBuf>,
    /// The formats of the report, in order, without duplicates; never empty.
    pub formats: Vec<Format>,
    /// Version of the terse report.
    pub terse_version: u8,
    /// The fio whose forms reports have.
    pub compat: FioVersion,
    /// When to show the status line.
    pub eta: Eta,
    /// Time after which a new status line begins.
    pub eta_newline: Option<Nanos>,
    /// Time between status lines; `None`: a second.
    pub eta_interval: Option<Nanos>,
    /// Whether the live view is shown; `None`: on a terminal, if the run is long enough.
    pub live: Option<bool>,
    /// Address at which metrics of the run are served, as typed.
    pub metrics: Option<String>,
    /// How long the ranks that an MPI launcher started wait for each other; `None`: a minute.
    pub rank_timeout: Option<Nanos>,
    /// How many ranks of each host take part; `None`: all.
    pub ranks_per_host: Option<u64>,
    /// How many ranks take part, the first ones; `None`: all.
    pub ranks: Option<u32>,
    /// Each rank runs only the job with this name and its own number ("task." → "task.3"); `None`: all jobs.
    pub job_of_rank: Option<String>,
    /// The temporary file of each rank, with `$rank` in its name, which it removes when the command ends.
    pub scratch: Option<String>,
    /// Time between two interim reports.
    pub status_interval: Option<Nanos>,
    /// The profile: a workload of another tool.
    pub profile: Option<String>,
    /// Whether the total bandwidth of all jobs is logged.
    pub bandwidth_log: bool,
    /// Whether every write and trim is refused.
    pub readonly: bool,
    /// Names of the sections to run; empty: all.
    pub sections: Vec<String>,
    /// Whether warnings are errors. Warnings of parsing have already become errors; the plan has
    /// more.
    pub warnings_fatal: bool,
    /// Whether block traces are merged without running anything.
    pub merge_only: bool,
    /// Most workers.
    pub max_jobs: Option<u64>,
    /// Directory for verify states and dumps; empty: the working directory.
    pub aux_path: String,
    /// The file for the record.
    pub record: Option<PathBuf>,
    /// The archive for the run; `None`: the default archive.
    pub archive: Option<PathBuf>,
    /// What the run is for, kept with its result.
    pub why: Option<String>,
    /// Tags of the run in the archive, as typed.
    pub tags: Vec<String>,
    /// Whether the run is not archived.
    pub no_archive: bool,
    /// Conditions the result must meet, as typed.
    pub accept: Vec<String>,
    /// Whether an undecided condition passes.
    pub undecided_passes: bool,
    /// The file for the results of the conditions as JUnit XML.
    pub junit: Option<PathBuf>,
    /// Number of runs; `None`: one.
    pub repeat: Option<u32>,
    /// Job files to run in turn with this run.
    pub interleave: Vec<String>,
    /// How long it took to make the filesystem of the run, if one was made for it.
    pub mkfs_time: Option<Nanos>,
    /// `--example`: the name of an example to run in place of job files.
    pub example: Option<String>,
    /// Samples of the machine per second; 0: only at the start and the end; `None`: ten.
    pub sample_hz: Option<f64>,
    /// Whether the code that CPUs execute is sampled.
    pub cpu_profile: bool,
    /// When the path of I/Os through the kernel is timed; `None`: as the command has it by default.
    pub layers: Option<LayerTiming>,
    /// `--verbose`: show every note in full.
    pub verbose: bool,
    /// Whether the record keeps serial numbers.
    pub with_serials: bool,
    /// Devices that may be overwritten, as named.
    pub allow_destroy: Vec<String>,
    /// The address at which a server waits for clients, as typed.
    pub server: Option<String>,
    /// The server runs in the background and writes its process id to this file.
    pub daemonize: Option<PathBuf>,
    /// How servers and clients prove who they are.
    pub access: Access,
    /// Servers that run the jobs; empty: they run here.
    pub clients: Vec<Client>,
    /// The trigger that ends the run early.
    pub trigger: Trigger,
    /// The traced areas.
    pub debug: Debug,
    /// How the idleness of CPUs is reported; `None`: not at all.
    pub idle_prof: Option<IdleProf>,
    /// Job files, in order; "-" is standard input. Job files for servers are in [`Self::clients`].
    pub job_files: Vec<String>,
    /// The jobs; those of the command line come first.
    pub jobs: Vec<Job>,
    /// Texts of the job files and of what they include.
    pub sources: Vec<SourceText>,
    /// The global options, as fio's JSON prints them.
    pub global_options: Vec<(String, String)>,
    /// Warnings and notes from parsing.
    pub warnings: Vec<Message>,
    /// What it was parsed from.
    pub typed: Typed,
}

/// What an invocation was parsed from: another process that parses it gets the same jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// The command line, without the program's name.
    pub arguments: Vec<String>,
    /// Options that override it.
    pub overrides: Vec<Override>,
}

/// An option that overrides those of a job. A sweep uses it for varied options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// The name of the jobs it applies to; `None`: every job.
    pub job: Option<String>,
    /// Name of the option.
    pub name: String,
    /// Its value, as one would type it.
    pub value: String,
}

/// How servers and clients prove who they are, and encrypt their connections. Files are PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The secret that both sides know.
    pub token: Option<String>,
    /// The file with the token.
    pub token_file: Option<PathBuf>,
    /// The certificate of a server.
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate.
    pub tls_key: Option<PathBuf>,
    /// The authorities that a client trusts.
    pub tls_ca: Option<PathBuf>,
}

/// A server and the jobs for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Its address, as typed.
    pub address: String,
    /// Options for the server, as typed: the job options before the first `--client`, then its own.
    pub arguments: Vec<String>,
    /// Job files on this machine.
    pub job_files: Vec<String>,
    /// Job files on the server (`--remote-config`).
    pub server_files: Vec<String>,
}

/// A trigger ends a run early: verify states are saved, then commands run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// The trigger is pulled when this file exists. The file is then removed.
    pub file: Option<PathBuf>,
    /// The trigger is pulled after this time.
    pub timeout: Option<Nanos>,
    /// Shell command that runs here.
    pub command: Option<String>,
    /// Shell command that each server runs.
    pub remote: Option<String>,
}
