//! Options of the program, in contrast to job options: one table for the parser and the help.

use crate::invocation::{Action, Client, Eta, IdleProf, Invocation, LayerTiming};
use crate::options::{self, Value};
use crate::value::{self, Units};
use record::{FioVersion, Format, Nanos};

/// One option of the program.
pub struct ProgramOption {
    /// Its name.
    pub name: &'static str,
    /// Its letter, if fio has one.
    pub short: Option<char>,
    /// Whether a value follows.
    pub takes: Takes,
    /// Placeholder of the value in the help.
    pub hint: &'static str,
    /// Description of one line.
    pub doc: &'static str,
    /// What it does.
    pub role: Role,
    /// Whether only fathom has this option, not fio.
    pub ours: bool,
    /// Whether a client sends the option to its servers, because it concerns the jobs.
    pub sent: bool,
}

/// Whether a value follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Never.
    Nothing,
    /// Always, after `=` or as the next argument.
    Value,
    /// Optionally, after `=`.
    Maybe,
}

/// What an option does.
pub enum Role {
    /// Changes the invocation. The text is empty if the option takes no value.
    Sets(fn(&mut Invocation, &str) -> Result<(), String>),
    /// Selects an action that is done in place of a run, regardless of other options.
    Ends(fn(Option<&str>) -> Action),
    /// Has no effect; accepted because scripts use it.
    Nothing,
}

/// The table: for each option its description as a doc comment, its name, and what it does.
macro_rules! options {
    ($(#[doc = $doc:literal] $name:literal => $option:expr,)+) => {
        &[$(ProgramOption { name: $name, doc: $doc.trim_ascii(), ..$option }),+]
    };
}

const fn option(role: Role) -> ProgramOption {
    ProgramOption {
        name: "",
        short: None,
        takes: Takes::Nothing,
        hint: "",
        doc: "",
        role,
        ours: false,
        sent: false,
    }
}

/// An option that changes the invocation.
const fn set(change: fn(&mut Invocation, &str) -> Result<(), String>) -> ProgramOption {
    option(Role::Sets(change))
}

/// An option that selects an action.
const fn end(action: fn(Option<&str>) -> Action) -> ProgramOption {
    option(Role::Ends(action))
}

impl ProgramOption {
    const fn short(self, short: char) -> Self {
        ProgramOption { short: Some(short), ..self }
    }

    const fn value(self, hint: &'static str) -> Self {
        ProgramOption { takes: Takes::Value, hint, ..self }
    }

    const fn maybe(self, hint: &'static str) -> Self {
        ProgramOption { takes: Takes::Maybe, hint, ..self }
    }

    const fn ours(self) -> Self {
        ProgramOption { ours: true, ..self }
    }

    const fn sent(self) -> Self {
        ProgramOption { sent: true, ..self }
    }

    /// The option as it is typed.
    pub fn spelling(&self) -> String {
        match self.takes {
            Takes::Nothing => format!("--{}", self.name),
            Takes::Value => format!("--{}={}", self.name, self.hint),
            Takes::Maybe => format!("--{}[={}]", self.name, self.hint),
        }
    }
}

/// An option that changes the invocation by one assignment or call.
macro_rules! sets {
    (|$run:ident, $value:pat_param| $change:expr) => {
        set(|$run, $value| {
            $change;
            Ok(())
        })
    };
}

/// A switch.
macro_rules! switch {
    ($field:ident) => {
        sets!(|run, _| run.$field = true)
    };
}

/// A text or path, which must not be empty.
macro_rules! text {
    ($($field:ident).+, $expected:literal) => {
        sets!(|run, value| run.$($field).+ = Some(not_empty(value, $expected)?.into()))
    };
}

/// One more entry of a list.
macro_rules! list {
    ($field:ident, $expected:literal) => {
        sets!(|run, value| run.$field.push(not_empty(value, $expected)?.into()))
    };
}

/// Workers make a snapshot for each status report; shorter intervals would disturb them.
const STATUS_MIN_MS: u64 = 100;

/// Every option of the program.
pub const OPTIONS: &[ProgramOption] = options! {
    /// Print this and exit
    "help" => end(|_| Action::Help).short('h'),
    /// Print every option and exit
    "help-all" => end(|_| Action::HelpAll).ours(),
    /// Print the version and exit
    "version" => end(|_| Action::Version).short('v'),
    /// Explain one job option, or list them all
    "cmdhelp" => end(|name| Action::CmdHelp(name.map(Into::into))).short('c').maybe("OPTION|all"),
    /// List engines, an engine's options, or explain one
    "enghelp" => end(|name| Action::EngHelp(name.map(Into::into)))
        .short('i').maybe("ENGINE[,OPTION]"),
    /// Check the job files, run nothing
    "parse-only" => set(parse_only).short('P').sent(),
    /// Print job files as command lines, run nothing
    "showcmd" => sets!(|run, _| run.action = Action::ShowCmd(String::new())).short('s'),
    /// Print each option's value and where it comes from, run nothing
    "explain" => sets!(|run, _| run.action = Action::Explain(String::new())).ours(),
    /// Run only this section of the job files; repeatable
    "section" => list!(sections, "the name of a section").short('x').value("NAME").sent(),
    /// Write the report to this file instead of standard output
    "output" => text!(output, "the path of a file").short('o').value("FILE"),
    /// How to report: normal, terse, json or json+; several with commas
    "output-format" => set(output_format).short('F').value("FORMAT"),
    /// Same as --output-format=terse
    "minimal" => sets!(|run, _| run.formats = vec![Format::Terse]).short('m'),
    /// Add the terse report to the others
    "append-terse" => set(append_terse).short('f'),
    /// Version of the terse report: 2, 3, 4 or 5
    "terse-version" => sets!(|run, number| run.terse_version = terse_version(number)?)
       .short('V').value("NUMBER"),
    /// Version of fio whose report formats are used: 3.42 or 3.33
    "compat" => set(compat).value("VERSION").ours(),
    /// When to show the status line: auto, always or never
    "eta" => set(eta).short('e').value("WHEN"),
    /// Begin a new status line after this long
    "eta-newline" => sets!(|run, value| run.eta_newline = Some(time(value)?))
        .short('E').value("TIME"),
    /// Time between status lines, 250ms at least
    "eta-interval" => sets!(|run, value| run.eta_interval = interval(value, 250)?)
       .short('O').value("TIME"),
    /// Show the live view on the terminal, even for a short run
    "live" => sets!(|run, _| run.live = Some(true)).ours(),
    /// Show a status line instead of the live view
    "no-live" => sets!(|run, _| run.live = Some(false)).ours(),
    /// Serve figures for Prometheus at http://ADDRESS/metrics while it runs
    "metrics" => text!(metrics, "an address such as 127.0.0.1:9750, or a port")
        .value("ADDRESS").ours(),
    /// Refuse every job that writes or trims
    "readonly" => switch!(readonly).short('r').sent(),
    /// Treat warnings about job files as errors
    "warnings-fatal" => switch!(warnings_fatal).short('w').sent(),
    /// Refuse to run more jobs than this
    "max-jobs" => sets!(|run, value| run.max_jobs = Some(count(value)?)).short('j').value("NUMBER").sent(),
    /// Write the complete record of the run to this file
    "record" => text!(record, "the path of a file").value("FILE").ours(),
    /// Archive the run here instead of in the default archive
    "archive" => text!(archive, "the path of a file, or postgres://USER@HOST/DATABASE")
        .value("ARCHIVE")
        .ours(),
    /// Keep what the run is for with its result
    "why" => text!(why, "what the run is for").value("TEXT").ours().sent(),
    /// Add this tag to the run in the archive; repeatable
    "tag" => list!(tags, "a tag, such as before-upgrade").value("TAG").ours(),
    /// Do not archive the run
    "no-archive" => switch!(no_archive).ours(),
    /// A condition like 'p99.9<2ms' that must hold, else exit 4; repeatable
    "accept" => list!(accept, "a condition, such as p99.9<2ms").value("CONDITION").ours(),
    /// Outcome of a condition that is left undecided: fail or pass
    "undecided" => set(undecided).value("OUTCOME").ours(),
    /// Write the outcome of the conditions as JUnit XML
    "junit" => text!(junit, "the path of a file").value("FILE").ours(),
    /// Run this many times and report means with their intervals
    "repeat" => set(repeat).value("NUMBER").ours(),
    /// With --repeat, run this job file in turn with the others; repeatable
    "interleave" => list!(interleave, "the path of a job file").value("FILE").ours(),
    /// Run an example (fathom examples lists them) in the directory given
    "example" => text!(example, "the name of an example").value("NAME").ours(),
    /// Samples of the machine per second; 0: only before and after
    "sample-hz" => set(sample_hz).value("NUMBER").ours().sent(),
    /// Under mpirun: give up a rank that is silent for this long (60s)
    "rank-timeout" => sets!(|run, value| run.rank_timeout = interval(value, 1000)?)
        .value("TIME").ours(),
    /// Under mpirun: let only so many ranks of each host take part
    "ranks-per-host" => sets!(|run, value| run.ranks_per_host = Some(count(value)?))
        .value("NUMBER").ours(),
    /// Sample which code uses the CPUs, of servers on this machine too
    "cpu-profile" => switch!(cpu_profile).ours().sent(),
    /// Time layers of I/Os with BPF: full, no or auto (if it costs little)
    "layers" => set(layers).maybe("WHEN").ours().sent(),
    /// Show every note with its cause and cure
    "verbose" => switch!(verbose).ours(),
    /// Keep serial numbers of disks in the record
    "with-serials" => switch!(with_serials).ours().sent(),
    /// Write to this device even if it is in use or holds data; repeatable
    "allow-destroy" => list!(allow_destroy, "a device, such as /dev/sdX").value("DEVICE").ours(),
    /// No effect: there is no shared memory pool to size
    "alloc-size" => option(Role::Nothing).short('a').value("KIB"),
    /// Directory for verify states and dumps
    "aux-path" => sets!(|run, path| run.aux_path = not_empty(path, "the path of a directory")?.into())
        .value("DIRECTORY"),
    /// Trace what the program does; --debug=help lists areas
    "debug" => set(debug).short('d').value("AREAS").sent(),
    /// Log the bandwidth of all jobs together, in agg-*_bw.log
    "bandwidth-log" => switch!(bandwidth_log).short('b'),
    /// Removed, as in fio: use write_lat_log
    "latency-log" => set(latency_log).short('l').value("NAME"),
    /// Report interim results after each period
    "status-interval" => sets!(|run, value| run.status_interval = interval(value, STATUS_MIN_MS)?)
       .short('L').value("TIME"),
    /// Run the workload of another tool: tiobench or act
    "profile" => set(profile).short('p').value("NAME").sent(),
    /// Merge block traces, run nothing
    "merge-blktrace-only" => switch!(merge_only).short('A'),
    /// Print a compressed log
    "inflate-log" => end(|path| Action::InflateLog(path.unwrap_or_default().into()))
        .short('X').value("FILE"),
    /// Report how idle the CPUs were: system, percpu, or calibrate alone
    "idle-prof" => set(idle_prof).short('I').value("HOW").sent(),
    /// Check the clock of the CPUs
    "cpuclock-test" => end(|_| Action::CpuClockTest).short('T'),
    /// Measure how fast checksums are; all, or those named
    "crctest" => end(|names| Action::CrcTest(names.map(Into::into))).short('G').maybe("NAMES"),
    /// Wait for jobs of clients
    "server" => sets!(|run, address| run.server = Some(address.into())).short('S').maybe("ADDRESS"),
    /// Run the server in the background; write its process id to this file
    "daemonize" => text!(daemonize, "the path of a file for the process id")
        .short('D').value("FILE"),
    /// A secret that both sides know; --token-file hides it from ps(1)
    "token" => text!(access.token, "a secret that both sides know").value("TEXT").ours(),
    /// A file with the token in its first line, readable only by its owner
    "token-file" => text!(access.token_file, "the path of a file").value("FILE").ours(),
    /// Encrypt as a server, with this certificate and its chain (PEM)
    "tls-cert" => text!(access.tls_cert, "the path of a certificate").value("FILE").ours(),
    /// The key of the certificate (PEM)
    "tls-key" => text!(access.tls_key, "the path of a key").value("FILE").ours(),
    /// Encrypt as a client, and trust these authorities (PEM)
    "tls-ca" => text!(access.tls_ca, "the path of a certificate").value("FILE").ours(),
    /// Run the jobs that follow on a server; repeatable
    "client" => set(client).short('C').value("HOST|FILE"),
    /// Run a job file that the server has
    "remote-config" => set(remote_config).short('R').value("FILE"),
    /// Pull the trigger once this file exists
    "trigger-file" => text!(trigger.file, "the path of a file").value("FILE"),
    /// Pull the trigger after this long
    "trigger-timeout" => sets!(|run, value| run.trigger.timeout = Some(time(value)?))
        .short('B').value("TIME"),
    /// Command that runs here when the trigger is pulled
    "trigger" => text!(trigger.command, "a shell command").value("COMMAND"),
    /// Command that servers run when the trigger is pulled
    "trigger-remote" => text!(trigger.remote, "a shell command for the server").value("COMMAND"),
};

fn parse_only(invocation: &mut Invocation, _: &str) -> Result<(), String> {
    if invocation.action == Action::Run {
        invocation.action = Action::ParseOnly;
    }
    Ok(())
}

fn output_format(invocation: &mut Invocation, names: &str) -> Result<(), String> {
    invocation.formats.clear();
    names.split(',').try_for_each(|name| {
        let format = Format::from_name(name.trim())
            .ok_or_else(|| format!("'{}' is none of normal, terse, json and json+", name.trim()))?;
        add_format(invocation, format);
        Ok(())
    })
}

fn add_format(invocation: &mut Invocation, format: Format) {
    if !invocation.formats.contains(&format) {
        invocation.formats.push(format);
    }
}

fn append_terse(invocation: &mut Invocation, _: &str) -> Result<(), String> {
    if invocation.formats.is_empty() {
        invocation.formats.push(Format::Normal);
    }
    add_format(invocation, Format::Terse);
    Ok(())
}

fn terse_version(number: &str) -> Result<u8, String> {
    let known = number.parse().ok().filter(|number| (2..=5).contains(number));
    known.ok_or_else(|| format!("'{number}' is none of 2, 3, 4 and 5"))
}

fn compat(invocation: &mut Invocation, number: &str) -> Result<(), String> {
    invocation.compat = FioVersion::from_number(number)
        .ok_or_else(|| format!("'{number}' is neither 3.42 nor 3.33"))?;
    Ok(())
}

fn latency_log(_: &mut Invocation, name: &str) -> Result<(), String> {
    Err(format!("it is gone, from fio as well; use the job option write_lat_log={name}"))
}

fn undecided(invocation: &mut Invocation, outcome: &str) -> Result<(), String> {
    invocation.undecided_passes = match outcome {
        "pass" => true,
        "fail" => false,
        other => return Err(format!("'{other}' is neither pass nor fail")),
    };
    Ok(())
}

fn layers(invocation: &mut Invocation, when: &str) -> Result<(), String> {
    invocation.layers = Some(match when {
        "" | "full" => LayerTiming::Full,
        "auto" => LayerTiming::IfCheap,
        "no" => LayerTiming::Off,
        other => return Err(format!("'{other}' is none of auto, full and no")),
    });
    Ok(())
}

/// More repeats than this are probably a typing error.
const REPEATS_MAX: u32 = 10_000;

fn repeat(invocation: &mut Invocation, number: &str) -> Result<(), String> {
    match number.trim().parse() {
        Ok(number @ 1..=REPEATS_MAX) => invocation.repeat = Some(number),
        _ => return Err(format!("'{number}' is not a whole number from 1 to {REPEATS_MAX}")),
    }
    Ok(())
}

fn sample_hz(invocation: &mut Invocation, number: &str) -> Result<(), String> {
    match number.trim().parse::<f64>() {
        Ok(hertz) if hertz == 0.0 || (0.01..=100.0).contains(&hertz) => {
            invocation.sample_hz = Some(hertz);
        }
        _ => return Err(format!("'{number}' is neither 0 nor a number from 0.01 to 100")),
    }
    Ok(())
}

fn client(invocation: &mut Invocation, address: &str) -> Result<(), String> {
    let address = not_empty(address, "the address of a server, or a file of addresses")?;
    invocation.clients.push(Client { address: address.into(), ..Client::default() });
    Ok(())
}

fn remote_config(invocation: &mut Invocation, path: &str) -> Result<(), String> {
    let path = not_empty(path, "the path of a job file on the server")?;
    match invocation.clients.last_mut() {
        Some(client) => client.server_files.push(path.into()),
        None => return Err("needs --client=HOST before it: the server that has the file".into()),
    }
    Ok(())
}

fn debug(invocation: &mut Invocation, areas: &str) -> Result<(), String> {
    match areas {
        "?" | "help" => invocation.action = Action::DebugHelp,
        areas => return invocation.debug.add(areas),
    }
    Ok(())
}

fn profile(invocation: &mut Invocation, name: &str) -> Result<(), String> {
    invocation.profile = Some(name.into());
    crate::profile::find(name).map(|_| ())
}

fn idle_prof(invocation: &mut Invocation, how: &str) -> Result<(), String> {
    match how {
        "system" => invocation.idle_prof = Some(IdleProf::System),
        "percpu" => invocation.idle_prof = Some(IdleProf::PerCpu),
        "calibrate" => invocation.action = Action::IdleCalibrate,
        other => return Err(format!("'{other}' is none of system, percpu and calibrate")),
    }
    Ok(())
}

fn eta(invocation: &mut Invocation, when: &str) -> Result<(), String> {
    invocation.eta = match when {
        "auto" => Eta::Auto,
        "always" => Eta::Always,
        "never" => Eta::Never,
        other => return Err(format!("'{other}' is none of auto, always and never")),
    };
    Ok(())
}

/// A time of at least this many milliseconds.
fn count(text: &str) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("'{text}' is not a whole number above 0"))
}

fn interval(text: &str, least_ms: u64) -> Result<Option<Nanos>, String> {
    match time(text)? {
        short if short < Nanos::from_millis(least_ms) => {
            Err(format!("'{text}' is less than {least_ms}ms"))
        }
        interval => Ok(Some(interval)),
    }
}

fn not_empty<'a>(value: &'a str, expected: &str) -> Result<&'a str, String> {
    if value.is_empty() { Err(format!("expected {expected}")) } else { Ok(value) }
}

/// Parses a duration like the value of `runtime`: in seconds if it has no suffix.
fn time(text: &str) -> Result<Nanos, String> {
    let wrong = || format!("'{text}' is not a time such as 10, 500ms or 2m");
    let def = options::find("runtime").ok_or_else(wrong)?;
    match value::parse(def, Some(text), Units { kb_base: 1024 }) {
        Ok(Value::Time(time)) => Ok(time),
        _ => Err(wrong()),
    }
}
