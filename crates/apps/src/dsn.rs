//! Addresses of users' databases: `postgres://user:password@host:port/database`.

use crate::client::ClientCall;
use crate::connection::Connection;
use crate::{Database, Failure};

/// The address of a database server of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dsn {
    database: Database,
    user: Option<String>,
    password: Option<String>,
    /// Host and port, as given.
    host: String,
    name: String,
    parameters: String,
}

/// What is wrong with a DSN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; expected postgres://user:password@host:port/database or mysql://…")]
pub struct DsnError(String);

impl Dsn {
    /// Parses a DSN. It is a URL (RFC 3986) with special characters percent-encoded.
    pub fn parse(text: &str) -> Result<Dsn, DsnError> {
        let wrong = |what: &str| Err(DsnError(what.to_owned()));
        let Some((scheme, rest)) = text.split_once("://") else {
            return wrong("it has no scheme");
        };
        let database = match scheme {
            "postgres" | "postgresql" => Database::Postgres,
            "mysql" | "mariadb" => Database::Mysql,
            _ => return wrong(&format!("'{scheme}' is no database known here")),
        };
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, name) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, authority),
        };
        let (user, password) = match login.map(|login| login.split_once(':').ok_or(login)) {
            None => (None, None),
            Some(Err(user)) => (Some(decoded(user)?), None),
            Some(Ok((user, password))) => (Some(decoded(user)?), Some(decoded(password)?)),
        };
        if database == Database::Mysql && name.is_empty() {
            return wrong("it names no database, and a table has to be made in one");
        }
        Ok(Dsn {
            database,
            user,
            password,
            host: host.to_owned(),
            name: name.to_owned(),
            parameters: parameters.to_owned(),
        })
    }

    /// The kind of database.
    pub fn database(&self) -> Database {
        self.database
    }

    /// The DSN without the password.
    pub fn shown(&self) -> String {
        let scheme = if self.database == Database::Mysql { "mysql" } else { "postgres" };
        let user = self.user.as_ref().map_or(String::new(), |user| format!("{}@", encoded(user)));
        let question = if self.parameters.is_empty() { "" } else { "?" };
        format!("{scheme}://{user}{}/{}{question}{}", self.host, self.name, self.parameters)
    }

    /// How to connect to it.
    ///
    /// # Errors
    /// The client is not installed, or a parameter is not known.
    pub fn connection(&self) -> Result<Connection, Failure> {
        let password = |name: &str| {
            let password = self.password.clone();
            password.map(|password| (name.to_owned(), password)).into_iter()
        };
        let call = match self.database {
            Database::Postgres => {
                let timeout = [("PGCONNECT_TIMEOUT".to_owned(), "10".to_owned())];
                let environment = password("PGPASSWORD").chain(timeout).collect();
                ClientCall::new(self.database, vec!["-d".into(), self.shown()], environment)
            }
            Database::Mysql | Database::Sqlite => {
                let environment = password("MYSQL_PWD").collect();
                ClientCall::new(self.database, self.options()?, environment)
            }
        };
        call.map(Connection::Client)
    }

    /// The options of the client mariadb.
    fn options(&self) -> Result<Vec<String>, Failure> {
        let (host, port) = match self.host.rsplit_once(':') {
            // An IPv6 address has its colons in brackets.
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (self.host.as_str(), None),
        };
        let mut options = vec!["--connect-timeout=10".to_owned()];
        let host = host.trim_matches(['[', ']']);
        options.extend((!host.is_empty()).then(|| format!("--host={host}")));
        options.extend(port.map(|port| format!("--port={port}")));
        options.extend(self.user.as_ref().map(|user| format!("--user={user}")));
        for parameter in self.parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("socket", path)) => options.push(format!("--socket={path}")),
                _ => {
                    let text =
                        format!("--dsn: '{parameter}' is not known for mysql; socket=PATH is");
                    return Err(Failure(text));
                }
            }
        }
        options.push(format!("--database={}", self.name));
        Ok(options)
    }
}

/// Decodes percent-encoded text (RFC 3986, section 2.1).
fn decoded(text: &str) -> Result<String, DsnError> {
    let wrong = || DsnError(format!("'{text}' is not percent-encoded text"));
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok()).ok_or_else(wrong)?;
        bytes.push(byte);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Percent-encodes text.
fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dsn_is_shown_without_its_password() {
        let dsn =
            Dsn::parse("postgresql://j%40n:s%3Ae@db.example:5433/shop?sslmode=require").unwrap();
        assert_eq!(dsn.database(), Database::Postgres);
        assert_eq!(dsn.password.as_deref(), Some("s:e"));
        assert_eq!(dsn.shown(), "postgres://j%40n@db.example:5433/shop?sslmode=require");
        assert_eq!(Dsn::parse("postgres:///shop").unwrap().shown(), "postgres:///shop");
    }

    #[test]
    fn mysql_is_called_with_options() {
        let options = |text: &str| Dsn::parse(text).unwrap().options();
        assert_eq!(
            options("mysql://me:pw@[::1]:3307/shop").unwrap(),
            ["--connect-timeout=10", "--host=::1", "--port=3307", "--user=me", "--database=shop"]
        );
        assert_eq!(
            options("mariadb:///shop?socket=/run/x.sock").unwrap(),
            ["--connect-timeout=10", "--socket=/run/x.sock", "--database=shop"]
        );
        assert!(options("mysql://h/shop?ssl=1").unwrap_err().0.contains("'ssl=1' is not known"));
    }

    #[test]
    fn an_invalid_dsn_is_refused_with_the_reason() {
        for (text, why) in [
            ("shop", "it has no scheme"),
            ("oracle://x", "'oracle' is no database known here"),
            ("mysql://host", "it names no database"),
            ("postgres://a%2:b@c/d", "'a%2' is not percent-encoded"),
            ("postgres://%ff@c/d", "'%ff' is not percent-encoded"),
            ("postgres://a%€€@c/d", "is not percent-encoded"),
        ] {
            let error = Dsn::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(why) || error.contains(why), "{text}: {error}");
        }
    }
}
