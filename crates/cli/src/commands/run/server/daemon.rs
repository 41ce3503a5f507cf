//! `--daemonize`: a server in the background.
//!
//! A process with threads cannot be forked safely, so the program starts itself anew, detached; the
//! first one waits until the second one listens, and ends with what became of it.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Tells the second process that it is one.
const MARK: &str = "FATHOM_DETACHED";

/// What it says on standard output once it listens.
const LISTENING: &str = "server listening on";

/// Where the system's log takes lines (syslog(3)).
const SYSTEM_LOG: &str = "/dev/log";

/// Priority of a line: facility daemon, severity info (RFC 3164, 4.1.1).
const PRIORITY: u8 = (3 << 3) + 6;

/// Whether this process is the one in the background.
pub fn is_one() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Starts the second process and waits until it listens.
///
/// # Errors
/// A server with this file is running, or what the second process complained of.
pub fn start(file: &Path) -> Result<u8> {
    if let Some(pid) = running(file) {
        bail!(
            "--daemonize={}: a server is running already, process {pid}; end it first, or name \
             another file",
            file.display()
        );
    }
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let program = std::env::current_exe().context("--daemonize: cannot find the program")?;
    let mut child = Command::new(program)
        .arg0(name)
        .args(arguments)
        .env(MARK, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("--daemonize: cannot start the program anew")?;
    let out = child.stdout.take().map(BufReader::new);
    let mut lines = out.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
    if lines.any(|line| line.contains(LISTENING)) {
        return Ok(0);
    }
    let done = child.wait_with_output().context("--daemonize")?;
    let why = String::from_utf8_lossy(&done.stderr);
    bail!("--daemonize: the server did not start: {}", why.trim())
}

/// The server whose process id is in the file, if it lives.
fn running(file: &Path) -> Option<i32> {
    let pid = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let pid = rustix::process::Pid::from_raw(pid)?;
    rustix::process::test_kill_process(pid).ok().map(|()| pid.as_raw_nonzero().get())
}

/// Detaches from the terminal and writes the process id, in the process in the background.
///
/// # Errors
/// The file cannot be written.
pub fn ready(file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    // It may lead a session already, which is what is wanted.
    let _ = rustix::process::setsid();
    std::fs::write(file, format!("{}\n", std::process::id()))
        .with_context(|| format!("--daemonize: cannot write '{}'", file.display()))
}

/// Says a line to the system's log. Without one, nobody can be told.
pub fn log(program: &str, line: &str) {
    let message = format!("<{PRIORITY}>{program}[{}]: {line}", std::process::id());
    if let Ok(socket) = UnixDatagram::unbound() {
        let _ = socket.send_to(message.as_bytes(), SYSTEM_LOG);
    }
}
