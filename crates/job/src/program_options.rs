//! Options of the program, in contrast to job options: one table for the parser and the help.

use crate::invocation::{Action, Client, Eta, IdleProf, Invocation};
use crate::options::{self, Value};
use crate::value::{self, Units};
use record::{Format, Nanos};

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

const fn option(name: &'static str, role: Role, doc: &'static str) -> ProgramOption {
    ProgramOption {
        name,
        short: None,
        takes: Takes::Nothing,
        hint: "",
        doc,
        role,
        ours: false,
        sent: false,
    }
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
        Role::Sets(|$run, $value| {
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

/// Every option of the program.
pub const OPTIONS: &[ProgramOption] = &[
    option("help", Role::Ends(|_| Action::Help), "Print this and exit").short('h'),
    option("help-all", Role::Ends(|_| Action::HelpAll), "Print every option and exit").ours(),
    option("version", Role::Ends(|_| Action::Version), "Print the version and exit").short('v'),
    option(
        "cmdhelp",
        Role::Ends(|name| Action::CmdHelp(name.map(Into::into))),
        "Explain one job option, or list them all",
    )
    .short('c')
    .maybe("OPTION|all"),
    option(
        "enghelp",
        Role::Ends(|name| Action::EngHelp(name.map(Into::into))),
        "List engines, an engine's options, or explain one",
    )
    .short('i')
    .maybe("ENGINE[,OPTION]"),
    option("parse-only", Role::Sets(parse_only), "Check the job files, run nothing")
        .short('P')
        .sent(),
    option(
        "showcmd",
        sets!(|run, _| run.action = Action::ShowCmd(String::new())),
        "Print job files as command lines, run nothing",
    )
    .short('s'),
    option(
        "explain",
        sets!(|run, _| run.action = Action::Explain(String::new())),
        "Print each option's value and where it comes from, run nothing",
    )
    .ours(),
    option(
        "section",
        list!(sections, "the name of a section"),
        "Run only this section of the job files; repeatable",
    )
    .short('x')
    .value("NAME")
    .sent(),
    option(
        "output",
        text!(output, "the path of a file"),
        "Write the report to a file, not to standard output",
    )
    .short('o')
    .value("FILE"),
    option(
        "output-format",
        Role::Sets(output_format),
        "How to report: normal, terse, json or json+; several with commas",
    )
    .short('F')
    .value("FORMAT"),
    option(
        "minimal",
        sets!(|run, _| run.formats = vec![Format::Terse]),
        "Same as --output-format=terse",
    )
    .short('m'),
    option("append-terse", Role::Sets(append_terse), "Add the terse report to the others")
        .short('f'),
    option("terse-version", Role::Sets(terse_version), "Version of the terse report: 2, 3, 4 or 5")
        .short('V')
        .value("NUMBER"),
    option("eta", Role::Sets(eta), "When to show the status line: auto, always or never")
        .short('e')
        .value("WHEN"),
    option(
        "eta-newline",
        sets!(|run, value| run.eta_newline = Some(time(value)?)),
        "Begin a new status line after this long",
    )
    .short('E')
    .value("TIME"),
    option("eta-interval", Role::Sets(eta_interval), "Time between status lines, 250ms at least")
        .short('O')
        .value("TIME"),
    option(
        "live",
        sets!(|run, _| run.live = Some(true)),
        "Show the run as a picture on the terminal, also where it is short",
    )
    .ours(),
    option("no-live", sets!(|run, _| run.live = Some(false)), "Show a status line, not a picture")
        .ours(),
    option(
        "metrics",
        text!(metrics, "an address such as 127.0.0.1:9750, or a port"),
        "Serve figures for Prometheus at http://ADDRESS/metrics while it runs",
    )
    .value("ADDRESS")
    .ours(),
    option("readonly", switch!(readonly), "Refuse every job that writes or trims")
        .short('r')
        .sent(),
    option("warnings-fatal", switch!(warnings_fatal), "Take warnings of job files for errors")
        .short('w')
        .sent(),
    option("max-jobs", Role::Sets(max_jobs), "Refuse to run more jobs than this")
        .short('j')
        .value("NUMBER")
        .sent(),
    option(
        "record",
        text!(record, "the path of a file"),
        "Keep the complete record of the run in a file",
    )
    .value("FILE")
    .ours(),
    option(
        "archive",
        text!(archive, "the path of a file"),
        "Archive the run in this file, not in the usual one",
    )
    .value("FILE")
    .ours(),
    option("no-archive", switch!(no_archive), "Do not archive the run").ours(),
    option(
        "accept",
        list!(accept, "a condition, such as p99.9<2ms"),
        "A condition like 'p99.9<2ms' that must hold, else exit 4; repeatable",
    )
    .value("CONDITION")
    .ours(),
    option(
        "undecided",
        Role::Sets(undecided),
        "What a condition is that its figure's interval spans: fail or pass",
    )
    .value("OUTCOME")
    .ours(),
    option(
        "junit",
        text!(junit, "the path of a file"),
        "Write the outcome of the conditions as JUnit XML",
    )
    .value("FILE")
    .ours(),
    option(
        "repeat",
        Role::Sets(repeat),
        "Run this many times and report means with their intervals",
    )
    .value("NUMBER")
    .ours(),
    option(
        "interleave",
        list!(interleave, "the path of a job file"),
        "With --repeat, run this job file in turn with the others; repeatable",
    )
    .value("FILE")
    .ours(),
    option(
        "sample-hz",
        Role::Sets(sample_hz),
        "Samples of the machine a second; 0: only before and after",
    )
    .value("NUMBER")
    .ours()
    .sent(),
    option("with-serials", switch!(with_serials), "Keep serial numbers of disks in the record")
        .ours()
        .sent(),
    option(
        "allow-destroy",
        list!(allow_destroy, "a device, such as /dev/sdX"),
        "Write to this device even if it is in use or holds data; repeatable",
    )
    .value("DEVICE")
    .ours(),
    option("alloc-size", Role::Nothing, "No effect: there is no shared memory pool to size")
        .short('a')
        .value("KIB"),
    option(
        "aux-path",
        sets!(|run, path| run.aux_path = not_empty(path, "the path of a directory")?.into()),
        "Where states and dumps of verification go",
    )
    .value("DIRECTORY"),
    option("debug", Role::Sets(debug), "Trace what the program does; --debug=help lists areas")
        .short('d')
        .value("AREAS")
        .sent(),
    option(
        "bandwidth-log",
        switch!(bandwidth_log),
        "Log the bandwidth of all jobs together, in agg-*_bw.log",
    )
    .short('b'),
    option("latency-log", Role::Sets(latency_log), "Gone, from fio as well: use write_lat_log")
        .short('l')
        .value("NAME"),
    option(
        "status-interval",
        Role::Sets(status_interval),
        "Report what was measured so far after each period",
    )
    .short('L')
    .value("TIME"),
    option("profile", Role::Sets(profile), "Run the workload of another tool: tiobench or act")
        .short('p')
        .value("NAME")
        .sent(),
    option("merge-blktrace-only", switch!(merge_only), "Merge block traces, run nothing")
        .short('A'),
    option(
        "inflate-log",
        Role::Ends(|path| Action::InflateLog(path.unwrap_or_default().into())),
        "Print a compressed log",
    )
    .short('X')
    .value("FILE"),
    option(
        "idle-prof",
        Role::Sets(idle_prof),
        "Report how idle the CPUs were: system, percpu, or calibrate alone",
    )
    .short('I')
    .value("HOW")
    .sent(),
    option("cpuclock-test", Role::Ends(|_| Action::CpuClockTest), "Check the clock of the CPUs")
        .short('T'),
    option(
        "crctest",
        Role::Ends(|names| Action::CrcTest(names.map(Into::into))),
        "Measure how fast checksums are; all, or those named",
    )
    .short('G')
    .maybe("NAMES"),
    option(
        "server",
        sets!(|run, address| run.server = Some(address.into())),
        "Wait for jobs of clients",
    )
    .short('S')
    .maybe("ADDRESS"),
    option(
        "daemonize",
        text!(daemonize, "the path of a file for the process id"),
        "Run the server in the background, its id in a file",
    )
    .short('D')
    .value("FILE"),
    option("client", Role::Sets(client), "Run the jobs that follow on a server; repeatable")
        .short('C')
        .value("HOST|FILE"),
    option("remote-config", Role::Sets(remote_config), "Run a job file that the server has")
        .short('R')
        .value("FILE"),
    option(
        "trigger-file",
        text!(trigger.file, "the path of a file"),
        "Pull the trigger once this file exists",
    )
    .value("FILE"),
    option(
        "trigger-timeout",
        sets!(|run, value| run.trigger.timeout = Some(time(value)?)),
        "Pull the trigger after this long",
    )
    .short('B')
    .value("TIME"),
    option(
        "trigger",
        text!(trigger.command, "a shell command"),
        "Command run here when the trigger is pulled",
    )
    .value("COMMAND"),
    option(
        "trigger-remote",
        text!(trigger.remote, "a shell command for the server"),
        "Command servers run when it is pulled",
    )
    .value("COMMAND"),
];

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

fn terse_version(invocation: &mut Invocation, number: &str) -> Result<(), String> {
    invocation.terse_version = match number {
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "5" => 5,
        other => return Err(format!("'{other}' is none of 2, 3, 4 and 5")),
    };
    Ok(())
}

fn latency_log(_: &mut Invocation, name: &str) -> Result<(), String> {
    Err(format!("it is gone, from fio as well; use the job option write_lat_log={name}"))
}

fn max_jobs(invocation: &mut Invocation, number: &str) -> Result<(), String> {
    match number.trim().parse() {
        Ok(number) if number > 0 => invocation.max_jobs = Some(number),
        _ => return Err(format!("'{number}' is not a whole number above 0")),
    }
    Ok(())
}

fn undecided(invocation: &mut Invocation, outcome: &str) -> Result<(), String> {
    invocation.undecided_passes = match outcome {
        "pass" => true,
        "fail" => false,
        other => return Err(format!("'{other}' is neither pass nor fail")),
    };
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

fn eta_interval(invocation: &mut Invocation, text: &str) -> Result<(), String> {
    let interval = time(text)?;
    if interval < Nanos::from_millis(250) {
        return Err(format!("'{text}' is less than 250ms"));
    }
    invocation.eta_interval = Some(interval);
    Ok(())
}

/// Workers lay out what they have measured; more often than this would disturb them.
const SHORTEST_STATUS: Nanos = Nanos::from_millis(100);

fn status_interval(invocation: &mut Invocation, text: &str) -> Result<(), String> {
    let interval = time(text)?;
    if interval < SHORTEST_STATUS {
        return Err(format!("'{text}' is less than 100ms"));
    }
    invocation.status_interval = Some(interval);
    Ok(())
}

fn not_empty<'a>(value: &'a str, expected: &str) -> Result<&'a str, String> {
    match value.is_empty() {
        true => Err(format!("expected {expected}")),
        false => Ok(value),
    }
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
