//! `--daemonize`: a server in the background.
//!
//! A process with threads cannot be forked safely, so the program starts itself again, detached. The
//! first process waits until the second one listens, and exits with its result.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Environment variable that marks the second process.
const MARK: &str = "FATHOM_DETACHED";

/// Text on its standard output as soon as it listens.
const LISTENING: &str = "server listening on";

/// Socket of the system's log (syslog(3)).
const SYSTEM_LOG: &str = "/dev/log";

/// Priority of a line: facility daemon, severity info (RFC 3164, 4.1.1).
const PRIORITY: u8 = (3 << 3) + 6;

/// Whether this is the process in the background.
pub fn is_daemon() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Starts the second process and waits until it listens.
///
/// # Errors
/// When a server with this file is running, or the second process fails.
pub fn start(file: &Path) -> Result<u8> {
    if let Some(pid) = running(file) {
        bail!(
            "--daemonize={}: process {pid} is already a running server; end it first, or name \
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
        .context("--daemonize: cannot start the program again")?;
    let out = child.stdout.take().map(BufReader::new);
    let mut lines = out.into_iter().flat_map(BufRead::lines).map_while(Result::ok);
    if lines.any(|line| line.contains(LISTENING)) {
        return Ok(0);
    }
    let done = child.wait_with_output().context("--daemonize")?;
    let why = String::from_utf8_lossy(&done.stderr);
    bail!("--daemonize: the server did not start: {}", why.trim())
}

/// The running server whose process id is in the file.
fn running(file: &Path) -> Option<i32> {
    let pid = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let pid = rustix::process::Pid::from_raw(pid)?;
    rustix::process::test_kill_process(pid).ok().map(|()| pid.as_raw_nonzero().get())
}

/// In the second process: detaches from the terminal and writes the process id.
pub fn ready(file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    // Fails if it already leads a session, which is the goal.
    let _ = rustix::process::setsid();
    std::fs::write(file, format!("{}\n", std::process::id()))
        .with_context(|| format!("--daemonize: cannot write '{}'", file.display()))
}

/// Writes a line to the system's log, if there is one.
pub fn log(program: &str, line: &str) {
    let message = format!("<{PRIORITY}>{program}[{}]: {line}", std::process::id());
    if let Ok(socket) = UnixDatagram::unbound() {
        let _ = socket.send_to(message.as_bytes(), SYSTEM_LOG);
    }
}
