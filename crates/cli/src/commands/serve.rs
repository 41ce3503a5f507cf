//! `fathom serve`: the archive as web pages.

mod launch;

use crate::commands::inspect;
use crate::exit;
use crate::output::{Output, say};
use crate::suites::{self};
use anyhow::{Context, Result};
use archive::{Archive, ArchiveError, Choice, Location};
use clap::Args;
use host::{Host, TargetQuery};
use judge::Inspection;
use launch::Children;
use record::Facts;
use runner::Refusal;
use runner::System;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use web::guard::{self, Guard};
use web::{Config, Launcher};

/// Where pages are asked for when nobody says where.
const USUAL: &str = "127.0.0.1:8642";

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom serve
  fathom serve --listen=0.0.0.0:9700 --token-file=token";

/// What `fathom serve` takes.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "Open the address it prints: the token in it opens the pages. Ctrl-C ends it. \
                  docs/WEB.md tells of the pages, the API and what is guarded."
)]
pub struct Arguments {
    /// Address and port; 0 as port for any that is free. Beyond this machine (not 127.0.0.1 or
    /// ::1) it needs --token-file [usually 127.0.0.1:8642, or any port when that is taken]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// A file whose first line is the token; only its owner may read it. Otherwise a token is made
    /// for each start and printed.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A name by which browsers ask for the pages, besides localhost and addresses. Can be given
    /// again.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Let pages start runs of jobs that are typed there, as this user and with all guards of
    /// fathom run.
    #[arg(long)]
    allow_run: bool,
    /// The archive.
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
}

/// Serves until a signal ends it.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let token = arguments.token_file.as_deref().map(token_in).transpose()?;
    if let Some(address) = arguments.listen.filter(|at| !at.ip().is_loopback() && token.is_none()) {
        return Err(Refusal::usage(format!(
            "--listen={address}: other machines may reach that; say with --token-file=FILE which \
             token opens the pages (head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE)"
        )));
    }
    let place = place(arguments)?;
    let listener = listen(arguments.listen)?;
    let address = listener.local_addr().context("cannot tell the address")?;
    let (shown, token) = match token {
        Some(token) => (format!("http://{}/", reachable(address)), token),
        None => {
            let token = guard::token_from_bytes(&random()?);
            (format!("http://{address}/?token={token}"), token)
        }
    };
    let guard = Guard::new(&token, &random()?, address.port(), &arguments.host);
    let launcher: Option<Box<dyn Launcher>> = match arguments.allow_run {
        true => Some(Box::new(Children::new(&place.path).context("no place for job files")?)),
        false => None,
    };
    Output::Stdout.write(&format!("{shown}\n"))?;
    say(&format!("fathom: serving {}; Ctrl-C ends it\n", suites::places::shown(&place.path)));
    let open = Box::new(move || Archive::open_existing(&place));
    let config = Config { listener, guard, open, inspect: Box::new(look), launcher };
    let signal = web::serve(config).context("cannot serve")?;
    Ok(exit::interrupted(signal, false))
}

/// Where the archive is. It is made where there is none: pages are there to be looked at before the
/// first run, too.
fn place(arguments: &Arguments) -> Result<Location> {
    let wrong = |error: ArchiveError| Refusal::usage(format!("the archive: {error}"));
    let chosen =
        Choice::from_options(arguments.archive.as_deref(), false).location().map_err(wrong)?;
    let Some(place) = chosen else {
        let text = "FATHOM_ARCHIVE says that there is to be no archive: name one with --archive";
        return Err(Refusal::usage(text));
    };
    let mut archive = Archive::open(&place).map_err(wrong)?;
    archive.messages().iter().for_each(|remark| say(&format!("fathom: warning: {remark}\n")));
    Ok(place)
}

/// Listens at the address, or at the usual one and beside it.
fn listen(address: Option<SocketAddr>) -> Result<TcpListener> {
    let usual = || TcpListener::bind(USUAL).or_else(|_| TcpListener::bind("127.0.0.1:0"));
    let Some(address) = address else { return usual().context("cannot listen on 127.0.0.1") };
    TcpListener::bind(address).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AddrInUse => "another program listens there; name another port, or 0".into(),
            ErrorKind::AddrNotAvailable => "that is no address of this machine".into(),
            ErrorKind::PermissionDenied => "ports below 1024 are for root".into(),
            _ => crate::output::describe(&error.into()),
        };
        Refusal::usage(format!("--listen={address}: {why}"))
    })
}

/// An address that a browser can ask for: 0.0.0.0 stands for all of this machine.
fn reachable(address: SocketAddr) -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => format!("{name}:{}", address.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => format!("{name}:{}", address.port()),
        _ => address.to_string(),
    }
}

/// The token in a file that only its owner may read.
fn token_in(file: &Path) -> Result<String> {
    let wrong = |why: &str| Refusal::usage(format!("--token-file={}: {why}", file.display()));
    let said = |error: std::io::Error| wrong(&crate::output::describe(&error.into()));
    let opened = File::open(file).map_err(said)?;
    let metadata = opened.metadata().map_err(said)?;
    if !metadata.is_file() {
        return Err(wrong("is no file"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(wrong(&format!("others may read it; chmod 600 {}", file.display())));
    }
    let mut text = String::new();
    // A token is no longer; the rest would be another file's.
    opened.take(4096).read_to_string(&mut text).map_err(said)?;
    guard::token_from(&text).map_err(|why| wrong(&why))
}

/// Bytes that nobody can guess.
fn random() -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    let mut source = File::open("/dev/urandom").context("/dev/urandom")?;
    source.read_exact(&mut bytes).context("/dev/urandom")?;
    Ok(bytes)
}

/// What `fathom inspect` finds under a path, without serial numbers.
fn look(path: &str) -> Result<(Inspection, Facts), String> {
    let (path, _) = inspect::existing(OsStr::new(path), "look at")?;
    // To look at a page makes no file, not even one without a name.
    let query = TargetQuery { path: path.to_owned(), will_write: false };
    let mut facts = Host::at("/").with_kernel(Arc::new(System)).facts(&[query]);
    facts.forget_serials();
    Ok((judge::inspect(&facts, path), facts))
}
