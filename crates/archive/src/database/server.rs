//! Addresses of servers: `postgres://USER@HOST:PORT/DATABASE?sslmode=…&sslrootcert=FILE`, as libpq has them
//! (PostgreSQL's documentation, "Connection URIs").

use super::tls;
use std::env;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Beginnings of an address.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// Sockets are here if no host is named.
const SOCKETS: &str = "/var/run/postgresql";

/// An address, with what the log-in needs.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// For the connection.
    pub config: Config,
    /// Whether TLS is used.
    is_encrypted: bool,
    /// The file of trusted authorities.
    authorities: Option<PathBuf>,
}

/// Whether the name of an archive is the address of a server.
pub(crate) fn is_address(name: &Path) -> bool {
    name.to_str().is_some_and(|name| SCHEMES.iter().any(|scheme| name.starts_with(scheme)))
}

impl Address {
    /// Parses an address. User and password that it lacks are those of PGUSER and PGPASSWORD, or of the file
    /// of passwords (PGPASSFILE, `~/.pgpass`).
    pub fn parse(address: &str) -> Result<Address, String> {
        let (address, tls) = without_tls(address)?;
        let mut config: Config = address.parse().map_err(|error: tokio_postgres::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            cause.unwrap_or_else(|| error.to_string())
        })?;
        if config.get_hosts().is_empty() {
            config.host_path(env::var_os("PGHOST").unwrap_or_else(|| SOCKETS.into()));
        }
        if config.get_user().is_none() {
            config.user(user()?);
        }
        if config.get_password().is_none()
            && let Some(password) = password(&config)
        {
            config.password(password);
        }
        config.application_name("fathom");
        let is_encrypted = match tls.mode.as_deref() {
            Some("disable") => false,
            Some("require" | "verify-ca" | "verify-full") => true,
            Some(other) => {
                return Err(format!(
                    "sslmode={other}: expected disable, or require, which verifies the certificate; \
                     allow and prefer would go on without TLS"
                ));
            }
            None => tls.authorities.is_some() || !config.get_hosts().iter().all(is_local),
        };
        config.ssl_mode(if is_encrypted { SslMode::Require } else { SslMode::Disable });
        Ok(Address { config, is_encrypted, authorities: tls.authorities })
    }

    /// The settings of TLS; `None` without.
    ///
    /// # Errors
    /// The certificates cannot be read.
    pub fn tls(&self) -> Result<Option<MakeRustlsConnect>, String> {
        self.is_encrypted.then(|| tls::settings(self.authorities.as_deref())).transpose()
    }
}

/// Parameters about TLS.
#[derive(Default)]
struct TlsParameters {
    mode: Option<String>,
    authorities: Option<PathBuf>,
}

/// The address without its parameters about TLS, and those.
fn without_tls(address: &str) -> Result<(String, TlsParameters), String> {
    let mut tls = TlsParameters::default();
    let Some((start, parameters)) = address.split_once('?') else {
        return Ok((address.to_owned(), tls));
    };
    let mut others = Vec::new();
    for word in parameters.split('&') {
        match word.split_once('=') {
            Some(("sslmode", mode)) => tls.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => {
                tls.authorities = Some(decoded(path)?.into());
            }
            _ => others.push(word),
        }
    }
    let question = if others.is_empty() { "" } else { "?" };
    Ok((format!("{start}{question}{}", others.join("&")), tls))
}

/// The text of percent-encoded characters (RFC 3986, section 2.1).
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || format!("'{text}' is not encoded as a URL is");
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.ok_or_else(wrong)?);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Whether no network is between.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

fn user() -> Result<String, String> {
    ["PGUSER", "USER", "LOGNAME"]
        .iter()
        .find_map(|name| env::var(name).ok().filter(|user| !user.is_empty()))
        .ok_or_else(|| "it names no user, and neither PGUSER nor USER is set".into())
}

/// The password of the environment, or of the first line of the file of passwords that matches
/// (PostgreSQL's documentation, "The Password File").
fn password(config: &Config) -> Option<String> {
    if let Ok(password) = env::var("PGPASSWORD") {
        return Some(password);
    }
    let file = env::var_os("PGPASSFILE").map(PathBuf::from);
    let text = fs::read_to_string(file.or_else(|| Some(env::home_dir()?.join(".pgpass")))?).ok()?;
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        Host::Unix(_) => "localhost".into(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user()?;
    let wanted = [&host, &port, config.get_dbname().unwrap_or(user), user];
    text.lines().find_map(|line| password_of(line, wanted))
}

/// The password of a line, if its fields match: host, port, database, user. `\` escapes a character.
fn password_of(line: &str, wanted: [&str; 4]) -> Option<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => fields.last_mut()?.extend(characters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            c => fields.last_mut()?.push(c),
        }
    }
    let password = fields.pop().filter(|_| fields.len() == 4 && !line.starts_with('#'))?;
    fields
        .iter()
        .zip(wanted)
        .all(|(field, wanted)| field == "*" || field == wanted)
        .then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_used_over_a_network() {
        let cases = [
            ("postgres://me@db/runs", true),
            ("postgres://me@127.0.0.1/runs", false),
            ("postgres://me@%2Frun%2Fpg/runs", false),
            ("postgres://me@localhost/runs?sslmode=require", true),
            ("postgres://me@db/runs?sslmode=disable", false),
            ("postgres://me@localhost/runs?sslrootcert=/etc/a%20b.pem", true),
        ];
        for (address, is_encrypted) in cases {
            assert_eq!(Address::parse(address).unwrap().is_encrypted, is_encrypted, "{address}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said() {
        let cases = [
            ("postgres://me@db:http/runs", "port"),
            ("postgres://me@db/runs?colour=red", "colour"),
            ("postgres://me@db/runs?sslmode=prefer", "sslmode=prefer"),
            ("postgres://me@db/runs?sslrootcert=%zz", "%zz"),
        ];
        for (address, word) in cases {
            let said = Address::parse(address).unwrap_err();
            assert!(said.contains(word), "{address}: {said}");
        }
    }

    #[test]
    fn the_first_line_of_the_password_file_that_matches_counts() {
        let wanted = ["db", "5432", "runs", "me"];
        let cases = [
            ("db:5432:runs:me:secret", Some("secret")),
            ("*:*:*:me:a:b", Some("a:b")),
            (r"db:5432:runs:me:a\:b\\", Some(r"a:b\")),
            ("db:5432:runs:you:secret", None),
            ("#db:5432:runs:me:secret", None),
            ("db:5432", None),
        ];
        for (line, password) in cases {
            assert_eq!(password_of(line, wanted).as_deref(), password, "{line}");
        }
    }
}
