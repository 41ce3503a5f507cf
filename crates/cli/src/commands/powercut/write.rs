//! `fathom powercut write`: writes until the power is cut.

use super::server::{ServerArguments, of_client};
use super::target::Target;
use crate::exit;
use crate::output::write_stderr;
use crate::suites::{self, device};
use anyhow::{Context, Result};
use clap::Args;
use powercut::class::{CLASSES, Class};
use powercut::client::Client;
use powercut::protocol::Request;
use powercut::session::{Session, TargetShape};
use powercut::storage::{FileStorage, prepare};
use powercut::write::{End, Progress, cut_moment, session, write};
use record::human::counted;
use record::{Bytes, Nanos};
use runner::{Refusal, Runner, Signals};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Default size of the area that is written.
const DEFAULT_SIZE: Bytes = Bytes(64 << 20);

/// Seconds before a cut by hand that are counted down.
const COUNTDOWN: u64 = 5;

/// How long writes go on after a command that cuts the power.
const CUT_PATIENCE: Duration = Duration::from_secs(60);

/// The pause between two looks at the clock and at signals.
const TICK: Duration = Duration::from_millis(20);

/// Arguments of `fathom powercut write`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    writes: WriteArguments,
    /// End after this time without a cut.
    #[arg(long, value_name = "TIME", value_parser = suites::time, conflicts_with_all = ["cut", "cut_after"])]
    time: Option<Nanos>,
    /// Command that cuts the power, run by the shell [default: ask for a cut by hand].
    #[arg(long, value_name = "COMMAND")]
    cut: Option<String>,
}

/// What is written where, and when the cut comes.
#[derive(Args)]
pub struct WriteArguments {
    /// Empty directory, new file, or block device to write to.
    #[arg(value_name = "TARGET")]
    target: OsString,
    /// The server.
    #[arg(long, value_name = "HOST:PORT")]
    to: String,
    #[command(flatten)]
    server: ServerArguments,
    /// Durability class to test; repeatable [default: all that the target has]. A flush of one class makes
    /// data of the others durable, so test one class at a time to find losses sooner.
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Vec<Class>,
    /// Threads of each class [default: 1 to 3, drawn from the seed].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: Option<u16>,
    /// Size of the area to write [default: 64m, or the size of a smaller device].
    #[arg(long, value_parser = suites::size)]
    size: Option<Bytes>,
    /// Seed of all writes [default: differs from call to call].
    #[arg(long)]
    seed: Option<u64>,
    /// Cut at a random moment between this time and twice it.
    #[arg(long, value_name = "TIME", default_value = "10", value_parser = suites::time)]
    cut_after: Nanos,
    /// Overwrite this device or file even if it holds data; repeatable.
    #[arg(long, value_name = "DEVICE|FILE")]
    allow_destroy: Vec<String>,
}

impl WriteArguments {
    /// The path of the target.
    pub fn target(&self) -> Result<&str> {
        device::utf8(&self.target)
    }

    /// The address of the server.
    pub fn address(&self) -> &str {
        &self.to
    }

    /// Connects to the server.
    pub fn connect(&self) -> Result<Client> {
        self.server.connect(&self.to)
    }
}

/// Writes until a cut, as a command asks for it.
pub struct Writer<'a> {
    /// The path, as it was typed.
    pub target: &'a str,
    /// What is written.
    pub writes: &'a WriteArguments,
    /// Ends without a cut after this time.
    pub time: Option<Nanos>,
    /// The command that cuts the power.
    pub cut: Option<&'a str>,
    /// What ends the writes.
    pub signals: &'a Signals,
}

/// How the writes ended.
pub enum Written {
    /// The storage failed after the cut, and this machine goes on.
    Cut,
    /// The time is over.
    InTime,
    /// A signal came.
    Interrupted(i32),
}

/// Parses the name of a class.
fn class(name: &str) -> Result<Class, String> {
    Class::named(name).ok_or_else(|| {
        let names = CLASSES.map(Class::name);
        format!("expected one of {}", record::human::list(&names))
    })
}

/// Writes until the power is cut, a signal comes, or an error. 0: the time is over, or the storage failed
/// after its power was cut; 1: an error.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let writer = Writer {
        target: arguments.writes.target()?,
        writes: &arguments.writes,
        time: arguments.time,
        cut: arguments.cut.as_deref(),
        signals: &Signals::catch()?,
    };
    let written = writer.write(|| arguments.writes.connect())?;
    Ok(match written {
        Written::Cut | Written::InTime => 0,
        Written::Interrupted(signal) => exit::interrupted(signal, false),
    })
}

impl Writer<'_> {
    /// Writes until one of these ends. The server is reached only for a target that can be written.
    ///
    /// # Errors
    /// When the target or the server is unsuitable or fails, or a command did not cut the power.
    pub fn write(&self, connect: impl FnOnce() -> Result<Client>) -> Result<Written> {
        let runner = Runner::new(false);
        let mut target = Target::inspect(self.target, &runner)?;
        target.check_use(&self.writes.allow_destroy)?;
        let seed = self.writes.seed.unwrap_or_else(runner::fresh_seed);
        let session = new_session(self.writes, &target, seed)?;
        let mut client = connect()?;
        let _lock = target.lock()?;
        let session = Session { target: target.identity.sized(session.target.size), ..session };
        prepare(Path::new(&target.path), &session).map_err(Refusal::target)?;
        let storages = open(&target, &session)?;
        announce(&target, &session);
        let progress = Progress::default();
        let mut cutter = Cutter::new(self, seed);
        let wait = || {
            let goes_on =
                || self.signals.caught().is_none() && !progress.stop.load(Ordering::Relaxed);
            while goes_on() && cutter.goes_on() {
                std::thread::sleep(TICK);
            }
        };
        let ends = write(&session, storages, &mut client, &progress, wait).map_err(of_client)?;
        let promised = counted(progress.promises.load(Ordering::Relaxed) as usize, "promise");
        write_stderr(&format!("fathom: {promised} in run {:016x}\n", session.run));
        let failure = ends.into_iter().find(|end| !matches!(end, End::Stopped));
        self.conclude(&mut client, &session, cutter.is_done(), failure)
    }

    /// Tells the server how the writes ended.
    fn conclude(
        &self,
        client: &mut Client,
        session: &Session,
        is_cut: bool,
        failure: Option<End>,
    ) -> Result<Written> {
        let mut request = |request| client.request(&request).map(drop).map_err(of_client);
        let ended = |why: &str| Request::Ended { run: session.run, why: why.to_owned() };
        match (self.signals.caught(), failure) {
            (Some(signal), _) => request(ended("a signal")).map(|()| Written::Interrupted(signal)),
            (None, Some(End::Target(class, error))) if is_cut => {
                request(Request::Cut(session.run))?;
                write_stderr(&format!(
                    "fathom: the storage failed after the cut ({}: {error}); when it is back, run \
                     fathom powercut check\n",
                    class.name()
                ));
                Ok(Written::Cut)
            }
            (None, Some(End::Target(class, error))) => {
                request(ended("an error of the target"))?;
                Err(error).context(format!("{}, class {}", session.target.path, class.name()))
            }
            (None, Some(End::Server(error))) => Err(of_client(error)),
            (None, _) if is_cut => {
                request(ended("a cut that did not come"))?;
                Err(not_cut())
            }
            (None, _) => request(ended("the end of their time")).map(|()| Written::InTime),
        }
    }
}

fn not_cut() -> anyhow::Error {
    anyhow::anyhow!(
        "{} s after the command of --cut this machine still runs and its storage still works: the power \
         was not cut",
        CUT_PATIENCE.as_secs()
    )
}

/// The session, with the size of what is written as that of the target.
fn new_session(arguments: &WriteArguments, target: &Target, seed: u64) -> Result<Session> {
    let classes = classes(arguments, target)?;
    let size = size(arguments, target)?;
    let identity = target.identity.sized(size.0);
    session(run_number()?, seed, identity, &classes, arguments.threads, size.0)
        .map_err(|why| Refusal::usage(format!("--size: {why}")))
}

/// The classes to test.
fn classes(arguments: &WriteArguments, target: &Target) -> Result<Vec<Class>> {
    let takes_direct = target.takes_direct();
    let obstacle = |class: Class| target.identity.kind.obstacle(class, takes_direct);
    for asked in &arguments.class {
        if let Some(why) = obstacle(*asked) {
            return Err(Refusal::usage(format!("--class={}: it {why}", asked.name())));
        }
    }
    let mut classes = arguments.class.clone();
    classes.dedup();
    match classes.is_empty() {
        true => Ok(CLASSES.into_iter().filter(|class| obstacle(*class).is_none()).collect()),
        false => Ok(classes),
    }
}

fn size(arguments: &WriteArguments, target: &Target) -> Result<Bytes> {
    let room = target.room();
    match arguments.size {
        Some(size) if size > room => Err(Refusal::target(format!(
            "--size: {} bytes exceed the {} bytes of {}",
            size.0, room.0, target.path
        ))),
        Some(size) => Ok(size),
        None if target.identity.kind == TargetShape::Device => Ok(DEFAULT_SIZE.min(room)),
        None if room < DEFAULT_SIZE => Err(Refusal::target(format!(
            "{} has {} bytes free; give fewer with --size",
            target.path, room.0
        ))),
        None => Ok(DEFAULT_SIZE),
    }
}

fn open(target: &Target, session: &Session) -> Result<Vec<FileStorage>> {
    let path = Path::new(&target.path);
    let open = |stream| FileStorage::open(path, session.target.kind, stream);
    let opened: io::Result<Vec<FileStorage>> = session.streams.iter().map(open).collect();
    opened.with_context(|| target.path.clone())
}

fn announce(target: &Target, session: &Session) {
    let names: Vec<&str> = session.streams.iter().map(|stream| stream.class.name()).collect();
    let mut distinct = names.clone();
    distinct.dedup();
    write_stderr(&format!(
        "fathom: run {:016x}, seed {}, writes to {} in {} ({})\nfathom: {}\n",
        session.run,
        session.seed,
        target.path,
        counted(names.len(), "thread"),
        record::human::list(&distinct),
        powercut::report::outlook()
    ));
}

/// Ends the writes: by a command or by hand at a moment drawn from the seed, or when the time is over.
struct Cutter<'a> {
    writer: &'a Writer<'a>,
    begun: Instant,
    /// The moment of the cut, or of the end.
    at: Duration,
    /// What the countdown has said last.
    counted: u64,
    cut: Option<Cut>,
}

/// A cut that was asked for.
struct Cut {
    /// The command; `None` by hand.
    child: Option<Child>,
    at: Instant,
}

impl<'a> Cutter<'a> {
    fn new(writer: &'a Writer<'a>, seed: u64) -> Cutter<'a> {
        let after = writer.time.unwrap_or_else(|| cut_moment(seed, writer.writes.cut_after));
        let begun = Instant::now();
        let at = Duration::from_nanos(after.0);
        Cutter { writer, begun, at, counted: COUNTDOWN + 1, cut: None }
    }

    /// Whether writes are to go on. Asks for the cut when its moment has come.
    fn goes_on(&mut self) -> bool {
        if let Some(cut) = &mut self.cut {
            if let Some(status) =
                cut.child.as_mut().and_then(|child| child.try_wait().ok().flatten())
            {
                cut.child = None;
                cut.at = Instant::now();
                if !status.success() {
                    write_stderr(&format!(
                        "fathom: warning: the command of --cut ended with {status}\n"
                    ));
                }
            }
            return self.writer.cut.is_none() || cut.at.elapsed() < CUT_PATIENCE;
        }
        let left = self.at.saturating_sub(self.begun.elapsed());
        if !left.is_zero() {
            self.count_down(left);
            return true;
        }
        if self.writer.time.is_some() {
            return false;
        }
        let child = self.writer.cut.and_then(run);
        if self.writer.cut.is_none() {
            write_stderr(
                "fathom: cut the power now, at the plug or by a hard reset; Ctrl-C ends without a cut\n",
            );
        }
        self.cut = Some(Cut { child, at: Instant::now() });
        true
    }

    /// Says how much time is left before a cut by hand, each second.
    fn count_down(&mut self, left: Duration) {
        let is_by_hand = self.writer.cut.is_none() && self.writer.time.is_none();
        let seconds = left.as_secs() + 1;
        if is_by_hand && seconds < self.counted {
            self.counted = seconds;
            write_stderr(&format!("fathom: cut the power in {seconds} s\n"));
        }
    }

    /// Whether a cut was asked for.
    fn is_done(&self) -> bool {
        self.cut.is_some()
    }
}

/// Runs the command of a cut.
fn run(command: &str) -> Option<Child> {
    let started = Command::new("sh").arg("-c").arg(command).stdin(Stdio::null()).spawn();
    started
        .inspect_err(|error| {
            write_stderr(&format!("fathom: warning: --cut: the shell does not start: {error}\n"))
        })
        .ok()
}

/// The number of a run. Two testers never draw the same.
fn run_number() -> Result<u64> {
    runner::random_bytes().map(u64::from_le_bytes)
}
