//! `fathom serve`: serves the archive and runs in progress as web pages.

mod launch;

use crate::commands::inspect;
use crate::exit;
use crate::output::{Output, write_stderr};
use crate::suites::{self};
use anyhow::{Context, Result};
use archive::{Archive, ArchiveError, Choice, Location};
use clap::Args;
use host::{Host, TargetQuery};
use judge::Inspection;
use launch::Children;
use record::Facts;
use runner::{Refusal, System};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use web::guard::{self, Guard};
use web::{Config, Launcher};

/// The default address.
const DEFAULT_ADDRESS: &str = "127.0.0.1:8642";

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom serve
  fathom serve --listen=0.0.0.0:9700 --token-file=token";

/// Arguments of `fathom serve`.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "Open the printed address in a browser; it contains the token. Ctrl-C ends the server. \
                  docs/WEB.md describes the pages, the API and the access control."
)]
pub struct Arguments {
    /// Address and port; port 0 for any free one. Addresses other than 127.0.0.1 and ::1 need
    /// --token-file [default: 127.0.0.1:8642, or any free port if that is in use]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// File with the token in its first line, readable only by its owner [default: a new token, which
    /// is printed].
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Additional host name under which browsers reach the pages; repeatable.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Let pages start jobs that are typed there, as this user and with all guards of fathom run.
    #[arg(long)]
    allow_run: bool,
    /// Archive to serve: a file, or postgres://USER@HOST/DATABASE [default: FATHOM_ARCHIVE, or the user's
    /// archive].
    #[arg(long, value_name = "ARCHIVE")]
    archive: Option<PathBuf>,
}

/// Serves until a signal ends it.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let token = arguments.token_file.as_deref().map(token_in).transpose()?;
    if let Some(address) = arguments.listen.filter(|at| !at.ip().is_loopback() && token.is_none()) {
        return Err(Refusal::usage(format!(
            "--listen={address}: other machines may reach this address; give a token with \
             --token-file=FILE (head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE)"
        )));
    }
    let place = place(arguments)?;
    let listener = listen(arguments.listen)?;
    let address = listener.local_addr().context("cannot tell the address")?;
    let (shown, token) = match token {
        Some(token) => (format!("http://{}/", reachable(address)), token),
        None => {
            let token = guard::token_from_bytes(&runner::random_bytes()?);
            (format!("http://{address}/?token={token}"), token)
        }
    };
    let guard = Guard::new(&token, &runner::random_bytes()?, address.port(), &arguments.host);
    let launcher: Option<Box<dyn Launcher>> = match arguments.allow_run {
        true => Some(Box::new(
            Children::new(&place.path).context("cannot create a directory for job files")?,
        )),
        false => None,
    };
    Output::Stdout.write(&format!("{shown}\n"))?;
    write_stderr(&format!(
        "fathom: serving {}; Ctrl-C ends it\n",
        suites::places::shown(&place.path)
    ));
    let open = Box::new(move || Archive::open_existing(&place));
    let config = Config { listener, guard, open, inspect: Box::new(inspection), launcher };
    let signal = web::serve(config).context("cannot serve")?;
    Ok(exit::interrupted(signal, false))
}

/// The location of the archive. Creates the archive if there is none, because the pages also work before
/// the first run.
fn place(arguments: &Arguments) -> Result<Location> {
    let wrong = |error: ArchiveError| Refusal::usage(format!("the archive: {error}"));
    let chosen =
        Choice::from_options(arguments.archive.as_deref(), false).location().map_err(wrong)?;
    let Some(place) = chosen else {
        let text = "FATHOM_ARCHIVE turns the archive off; name one with --archive";
        return Err(Refusal::usage(text));
    };
    let mut archive = Archive::open(&place).map_err(wrong)?;
    archive
        .messages()
        .iter()
        .for_each(|remark| write_stderr(&format!("fathom: warning: {remark}\n")));
    Ok(place)
}

/// Listens on the address; by default on [`DEFAULT_ADDRESS`], or any free port if that is in use.
fn listen(address: Option<SocketAddr>) -> Result<TcpListener> {
    let default =
        || TcpListener::bind(DEFAULT_ADDRESS).or_else(|_| TcpListener::bind("127.0.0.1:0"));
    let Some(address) = address else { return default().context("cannot listen on 127.0.0.1") };
    TcpListener::bind(address).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AddrInUse => "the port is in use; name another port, or 0".into(),
            ErrorKind::AddrNotAvailable => "not an address of this machine".into(),
            ErrorKind::PermissionDenied => "ports below 1024 are reserved for root".into(),
            _ => crate::output::describe(&error.into()),
        };
        Refusal::usage(format!("--listen={address}: {why}"))
    })
}

/// An address for browsers, with the host name in place of 0.0.0.0 or ::.
fn reachable(address: SocketAddr) -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => format!("{name}:{}", address.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => format!("{name}:{}", address.port()),
        _ => address.to_string(),
    }
}

/// The token in a file that only its owner may read.
pub fn token_in(file: &Path) -> Result<String> {
    let wrong = |why: &str| Refusal::usage(format!("--token-file={}: {why}", file.display()));
    let failed = |error: std::io::Error| wrong(&crate::output::describe(&error.into()));
    let opened = File::open(file).map_err(failed)?;
    let metadata = opened.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(wrong("not a regular file"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(wrong(&format!("other users may read it; chmod 600 {}", file.display())));
    }
    let mut text = String::new();
    // A longer file is not a token file.
    opened.take(4096).read_to_string(&mut text).map_err(failed)?;
    guard::token_from(&text).map_err(|why| wrong(&why))
}

/// The result of `fathom inspect` for a path, without serial numbers.
fn inspection(path: &str) -> Result<(Inspection, Facts), String> {
    let (path, _) = inspect::existing(OsStr::new(path), "look at")?;
    // Showing a page must not create a file, not even an unnamed one.
    let query = TargetQuery { path: path.to_owned(), will_write: false };
    let mut facts = Host::at("/").with_kernel(Arc::new(System)).facts(&[query]);
    facts.forget_serials();
    Ok((judge::inspect(&facts, path), facts))
}
