//! An invocation of the program: everything that its command line and job files ask for.

use crate::debug::Debug;
use crate::expand::Keywords;
use crate::model::Job;
use record::{Format, Message, Nanos, SourceText};
use std::io;
use std::path::PathBuf;

/// Whose rules apply where fathom and fio differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Options given beside a job file override that file, for every job.
    Fathom,
    /// fio's own: options given beside a job file are defaults, which the first file may override
    /// and the others never see.
    Fio,
}

/// Everything that comes from outside.
pub trait Inputs {
    /// The bytes of a file; "-" is standard input.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
    /// What `$pagesize`, `$mb_memory` and `$ncpus` stand for.
    fn keywords(&self) -> Keywords;
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Run the jobs.
    #[default]
    Run,
    /// Nothing: they were parsed, and nothing was wrong.
    ParseOnly,
    /// Print this: the job files as command lines, newlines included.
    ShowCmd(String),
    /// Print this: each job's options, their values and where those come from.
    Explain(String),
    /// Print help on this option ([`crate::help::command`]).
    CmdHelp(Option<String>),
    /// Print help on this engine or engine option ([`crate::help::engine`]).
    EngHelp(Option<String>),
    /// Print this compressed log.
    InflateLog(String),
    /// Print this: the options of a profile.
    ProfileHelp(String),
    /// Print what can be traced ([`crate::debug::help`]).
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

/// How the idleness of CPUs is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProf {
    /// All CPUs together.
    System,
    /// Each as well.
    PerCpu,
}

/// An invocation, understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invocation {
    /// What is to be done.
    pub action: Action,
    /// Where the report goes; `None`: standard output.
    pub output: Option<PathBuf>,
    /// Reports asked for, in that order, none twice; never empty.
    pub formats: Vec<Format>,
    /// Version of the terse report.
    pub terse_version: u8,
    /// When to show the status line.
    pub eta: Eta,
    /// A new status line is begun after this long.
    pub eta_newline: Option<Nanos>,
    /// Time between status lines; `None`: a second.
    pub eta_interval: Option<Nanos>,
    /// Whether the run is shown as a picture on the terminal; `None`: where that suits.
    pub live: Option<bool>,
    /// Where figures of the run are served while it goes on, as typed.
    pub metrics: Option<String>,
    /// What was measured so far is reported this often.
    pub status_interval: Option<Nanos>,
    /// The workload of another tool that is run.
    pub profile: Option<String>,
    /// The bandwidth of all jobs together is logged.
    pub bandwidth_log: bool,
    /// Every write and trim is refused.
    pub readonly: bool,
    /// Names of the sections to run; empty: all.
    pub sections: Vec<String>,
    /// Warnings are errors (here they already were; plan has some of its own).
    pub warnings_fatal: bool,
    /// Block traces are merged, and nothing is run.
    pub merge_only: bool,
    /// More workers are refused.
    pub max_jobs: Option<u64>,
    /// Where files that a run leaves beside its output go; empty: the working directory.
    pub aux_path: String,
    /// Where the record is kept.
    pub record: Option<PathBuf>,
    /// The archive to keep the run in; `None`: the usual one.
    pub archive: Option<PathBuf>,
    /// The run is not archived.
    pub no_archive: bool,
    /// Conditions the result must meet, as typed.
    pub accept: Vec<String>,
    /// A condition that the result neither meets nor misses for certain is met.
    pub undecided_passes: bool,
    /// Where the conditions' outcome is written for programs that read JUnit's XML.
    pub junit: Option<PathBuf>,
    /// Runs to make; `None`: one.
    pub repeat: Option<u32>,
    /// Job files to run in turn with this run.
    pub interleave: Vec<String>,
    /// Samples of the machine a second; 0: only at both ends. `None`: ten.
    pub sample_hz: Option<f64>,
    /// Serial numbers are kept in the record.
    pub with_serials: bool,
    /// Devices that may be destroyed, as named.
    pub allow_destroy: Vec<String>,
    /// Wait for clients here; the address as typed.
    pub server: Option<String>,
    /// The server goes into the background, and its process id into this file.
    pub daemonize: Option<PathBuf>,
    /// Servers to run the jobs on; empty: they run here.
    pub clients: Vec<Client>,
    /// What ends the run before its time.
    pub trigger: Trigger,
    /// What is traced.
    pub debug: Debug,
    /// The idleness of CPUs is reported, so.
    pub idle_prof: Option<IdleProf>,
    /// Job files, in order; "-" is standard input. Those for servers are with [`Self::clients`].
    pub job_files: Vec<String>,
    /// The jobs, those of the command line first.
    pub jobs: Vec<Job>,
    /// Texts of the job files and of what they include.
    pub sources: Vec<SourceText>,
    /// What fio's JSON prints as global options.
    pub global_options: Vec<(String, String)>,
    /// Warnings and notes on what was typed.
    pub warnings: Vec<Message>,
}

/// An option that holds whatever a job says itself: what a sweep varies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Override {
    /// Name of the jobs it is for; `None`: every job.
    pub job: Option<String>,
    /// Name of the option.
    pub name: String,
    /// Its value, as one would type it.
    pub value: String,
}

/// A server, and what it is to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Its address, as typed.
    pub address: String,
    /// Options for it, as typed: all about jobs that stood before the first `--client`, then its
    /// own.
    pub arguments: Vec<String>,
    /// Job files of ours.
    pub job_files: Vec<String>,
    /// Job files of its own (`--remote-config`).
    pub server_files: Vec<String>,
}

/// What ends a run before its time: its state is kept, then commands run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trigger {
    /// Pulled once this file exists; it is removed then.
    pub file: Option<PathBuf>,
    /// Pulled this long after the start.
    pub timeout: Option<Nanos>,
    /// A command of the shell, run here.
    pub command: Option<String>,
    /// A command of the shell, run by each server.
    pub remote: Option<String>,
}
