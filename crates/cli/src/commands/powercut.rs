//! `fathom powercut`: does storage keep what it acknowledged, when its power is cut?

mod campaign;
mod check;
mod server;
mod target;
mod write;

use crate::commands::serve::token_in;
use crate::output::{Output, write_stderr};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use powercut::server::Server;
use remote::tls::ServerTls;
use runner::Refusal;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom powercut serve --listen=10.0.0.2:8651 --token-file=token   # on another machine
  fathom powercut write /data/test --to=10.0.0.2:8651 --token-file=token
  fathom powercut check /data/test --from=10.0.0.2:8651 --token-file=token   # after the restart
  fathom powercut campaign /data/test --to=10.0.0.2:8651 --token-file=token --cuts=9 --cut=./cut.sh";

/// Arguments of `fathom powercut`.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "Exit codes: 0 every promise was kept; 1 a promise was broken, or an error; 2 usage; 3 \
                  refused. docs/POWERCUT.md describes the method."
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Keep the promises of testers, on a machine whose power stays on.
    Serve(ServeArguments),
    /// Write to a directory, file or device until the power is cut; each acknowledgement is known to the
    /// server before the next write.
    Write(write::Arguments),
    /// After the restart, say what became of every write that was acknowledged. Only reads.
    Check(check::Arguments),
    /// Write, cut and check until there were so many cuts; continues after a restart.
    Campaign(campaign::Arguments),
}

/// Arguments of `fathom powercut serve`.
#[derive(Args)]
struct ServeArguments {
    /// Address and port. Addresses other than 127.0.0.1 and ::1 need --token-file.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8651")]
    listen: SocketAddr,
    /// Directory for the promises, one file for each session.
    #[arg(long, value_name = "DIRECTORY", default_value = "promises")]
    directory: PathBuf,
    /// File with the token in its first line, readable only by its owner.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Encrypt connections with the certificate of this file (PEM), and of those that lead to its authority.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

/// Serves, writes or checks.
pub fn main(arguments: &Arguments) -> Result<u8> {
    match &arguments.verb {
        Verb::Serve(arguments) => serve(arguments),
        Verb::Write(arguments) => write::main(arguments),
        Verb::Check(arguments) => check::main(arguments),
        Verb::Campaign(arguments) => campaign::main(arguments),
    }
}

fn serve(arguments: &ServeArguments) -> Result<u8> {
    let token = arguments.token_file.as_deref().map(token_in).transpose()?;
    let address = arguments.listen;
    if !address.ip().is_loopback() && token.is_none() {
        return Err(Refusal::usage(format!(
            "--listen={address}: other machines may reach this address; give a token with \
             --token-file=FILE (head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE)"
        )));
    }
    let directory = &arguments.directory;
    let mut server = Server::new(directory, token)
        .with_context(|| format!("--directory={}", directory.display()))?;
    if let (Some(certificate), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) {
        let tls = ServerTls::of_files(certificate, key);
        server = server
            .encrypted(tls.map_err(|why| Refusal::usage(format!("--tls-cert, --tls-key: {why}")))?);
    }
    let listener = TcpListener::bind(address).with_context(|| format!("--listen={address}"))?;
    let address = listener.local_addr().context("cannot tell the address")?;
    Output::Stdout.write(&format!("{address}\n"))?;
    write_stderr(&format!("fathom: keeping promises in {}; Ctrl-C ends it\n", directory.display()));
    Arc::new(server).serve(&listener).context("cannot serve")?;
    Ok(0)
}
