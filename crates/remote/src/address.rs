//! Addresses of servers, in the syntax of `--server` and `--client`.

use std::fmt;
use std::path::PathBuf;

/// The default port; it is fio's, so that existing firewall rules apply.
pub const DEFAULT_PORT: u16 = 8765;

/// The address families that a name may resolve to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// Any.
    #[default]
    Any,
    /// IPv4 (`ip:`, `ip4:`).
    V4,
    /// IPv6 (`ip6:`).
    V6,
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP.
    Tcp {
        /// The address family.
        family: Family,
        /// A name or an address; `None`: loopback.
        host: Option<String>,
        /// The port.
        port: u16,
    },
    /// A socket in the filesystem.
    Socket(PathBuf),
}

/// The error for an invalid address, with the syntax.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{typed}' {wrong}; an address is HOST, HOST,PORT, ip4:HOST,PORT, ip6:HOST,PORT or sock:PATH"
)]
pub struct AddressError {
    typed: String,
    wrong: &'static str,
}

impl Address {
    /// Parses fio's syntax: `[ip:|ip4:|ip6:]HOST[,PORT]`, `,PORT`, `sock:PATH`; an empty text is
    /// loopback with the default port.
    pub fn parse(typed: &str) -> Result<Address, AddressError> {
        let error = |wrong| AddressError { typed: typed.into(), wrong };
        if let Some(path) = typed.strip_prefix("sock:") {
            return match path.is_empty() {
                true => Err(error("names no path")),
                false => Ok(Address::Socket(path.into())),
            };
        }
        let prefixes = [("ip:", Family::V4), ("ip4:", Family::V4), ("ip6:", Family::V6)];
        let (family, rest) = prefixes
            .iter()
            .find_map(|(prefix, family)| Some((*family, typed.strip_prefix(prefix)?)))
            .unwrap_or((Family::Any, typed));
        let (host, port) = match rest.split_once(',') {
            Some((host, port)) => match port.parse() {
                Ok(port) if port > 0 => (host, port),
                _ => return Err(error("has a port that is no number from 1 to 65535")),
            },
            None => (rest, DEFAULT_PORT),
        };
        if host.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/') {
            return Err(error("has a name that cannot be a host's"));
        }
        let host = Some(host).filter(|host| !host.is_empty()).map(Into::into);
        Ok(Address::Tcp { family, host, port })
    }

    /// The host in reports: its name as typed, or the path of its socket.
    pub fn host(&self) -> String {
        match self {
            Address::Tcp { host, family, .. } => {
                host.clone().unwrap_or_else(|| loopback(*family).into())
            }
            Address::Socket(path) => path.display().to_string(),
        }
    }

    /// The host as it was typed: nothing if none was.
    pub fn typed_host(&self) -> String {
        match self {
            Address::Tcp { host, .. } => host.clone().unwrap_or_default(),
            Address::Socket(_) => self.host(),
        }
    }

    /// Its port; the default if there is none, as in fio's reports.
    pub fn port(&self) -> u16 {
        match self {
            Address::Tcp { port, .. } => *port,
            Address::Socket(_) => DEFAULT_PORT,
        }
    }
}

/// The loopback address.
fn loopback(family: Family) -> &'static str {
    match family {
        Family::V6 => "::1",
        Family::Any | Family::V4 => "127.0.0.1",
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { .. } => write!(f, "{},{}", self.host(), self.port()),
            Address::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(family: Family, host: Option<&str>, port: u16) -> Address {
        Address::Tcp { family, host: host.map(Into::into), port }
    }

    #[test]
    fn every_documented_spelling_is_understood() {
        for (typed, expected) in [
            ("", tcp(Family::Any, None, 8765)),
            ("1.2.3.4", tcp(Family::Any, Some("1.2.3.4"), 8765)),
            (",4444", tcp(Family::Any, None, 4444)),
            ("host.example,4444", tcp(Family::Any, Some("host.example"), 4444)),
            ("ip:host,4444", tcp(Family::V4, Some("host"), 4444)),
            ("ip4:host", tcp(Family::V4, Some("host"), 8765)),
            ("ip6:::1,4444", tcp(Family::V6, Some("::1"), 4444)),
            ("::1", tcp(Family::Any, Some("::1"), 8765)),
            ("sock:/tmp/a b", Address::Socket("/tmp/a b".into())),
        ] {
            assert_eq!(Address::parse(typed), Ok(expected), "{typed}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_forms_there_are() {
        for typed in ["host,0", "host,x", "host,70000", "sock:", "a b", "/dev/sda"] {
            let text = Address::parse(typed).unwrap_err().to_string();
            assert!(text.contains(typed) && text.contains("sock:PATH"), "{text}");
        }
    }

    #[test]
    fn an_address_reads_as_fio_prints_it() {
        let shown = |typed: &str| Address::parse(typed).unwrap().to_string();
        assert_eq!(shown(""), "127.0.0.1,8765");
        assert_eq!(shown("ip6:,1"), "::1,1");
        assert_eq!(shown("sock:/run/f"), "/run/f");
    }
}
