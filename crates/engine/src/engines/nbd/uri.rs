//! URIs of NBD servers, as the NBD project defines them (doc/uri.md).

/// Where an export is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    /// The server.
    pub server: Server,
    /// Name of the export; empty for the server's default.
    pub export: String,
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// Host and port.
    Tcp(String, u16),
    /// Path of a UNIX socket.
    Unix(String),
}

/// IANA's port of NBD.
const PORT: u16 = 10809;

impl Uri {
    /// Reads a URI. The error says what was expected.
    pub fn parse(text: &str) -> Result<Uri, String> {
        let (scheme, rest) = text
            .split_once("://")
            .ok_or("expected nbd://HOST[:PORT]/EXPORT or nbd+unix:///EXPORT?socket=PATH")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let export = decode(path)?;
        let server = match scheme {
            "nbd" => tcp(authority)?,
            "nbd+unix" => {
                let socket = query.split('&').find_map(|pair| pair.strip_prefix("socket="));
                let socket = socket.filter(|path| !path.is_empty());
                Server::Unix(decode(socket.ok_or("nbd+unix needs ?socket=PATH")?)?)
            }
            "nbds" | "nbds+unix" => {
                return Err("TLS is not supported: give nbd:// or nbd+unix://".to_owned());
            }
            other => return Err(format!("'{other}' is no scheme of NBD: nbd or nbd+unix is")),
        };
        Ok(Uri { server, export })
    }
}

fn tcp(authority: &str) -> Result<Server, String> {
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("a ']' is missing")?;
            (host, rest.strip_prefix(':').unwrap_or(""))
        }
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    if host.is_empty() {
        return Err("the host is missing".to_owned());
    }
    let port = match port {
        "" => PORT,
        port => port.parse().map_err(|_| format!("'{port}' is no port"))?,
    };
    Ok(Server::Tcp(host.to_owned(), port))
}

/// Replaces `%XX`.
fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let Some(b'%') = Some(first) else {
            bytes.push(*first);
            rest = after;
            continue;
        };
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.ok_or_else(|| format!("'%' in '{text}' is not followed by two digits"))?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("'{text}' is no UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16, export: &str) -> Result<Uri, String> {
        Ok(Uri { server: Server::Tcp(host.into(), port), export: export.into() })
    }

    #[test]
    fn servers_and_exports_are_read() {
        assert_eq!(Uri::parse("nbd://localhost"), tcp("localhost", 10809, ""));
        assert_eq!(Uri::parse("nbd://a:1/x%20y/z"), tcp("a", 1, "x y/z"));
        assert_eq!(Uri::parse("nbd://[::1]:7/"), tcp("::1", 7, ""));
        let unix = Uri::parse("nbd+unix:///disk?socket=/tmp/a%2Fb").unwrap();
        assert_eq!(unix, Uri { server: Server::Unix("/tmp/a/b".into()), export: "disk".into() });
    }

    #[test]
    fn what_is_no_uri_is_refused_with_the_reason() {
        for (text, reason) in [
            ("localhost", "expected nbd://"),
            ("nbd://", "host is missing"),
            ("nbd://a:b", "no port"),
            ("nbd://[::1", "']' is missing"),
            ("nbd+unix:///", "needs ?socket=PATH"),
            ("nbds://a", "TLS"),
            ("http://a", "no scheme"),
            ("nbd://a/%4", "two digits"),
        ] {
            let error = Uri::parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
