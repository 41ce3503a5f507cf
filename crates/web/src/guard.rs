//! Access control: a token, a session cookie, and a secret in forms.
//!
//! The token opens a session: a cookie that scripts cannot read and that pages of other sites do
//! not send. Browsers separate cookies by host but not by port, so its name holds the port. A
//! request that changes something also needs a second secret (OWASP's synchroniser token), which
//! only our pages hold, because another program on the same host could make a browser send the
//! cookie. An unknown host name in the `Host` header (DNS rebinding) is refused.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// Fewest characters of a token.
pub const TOKEN_MIN: usize = 16;
/// Most characters of a token.
pub const TOKEN_MAX: usize = 512;

/// Checks the access of requests.
pub struct Guard {
    token: [u8; 32],
    session: String,
    /// The secret in the field `csrf` of forms and in the header `X-CSRF-Token` of scripts.
    csrf: String,
    cookie: String,
    hosts: Vec<String>,
}

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A program that sent the token itself.
    Program,
    /// A browser with a session.
    Session,
    /// A browser with the token in the address, which gets a session.
    TokenInUrl,
    /// Neither a token nor a session.
    Unknown {
        /// A token was given, but not ours.
        is_wrong: bool,
    },
}

impl Guard {
    /// `secret` is random and new for each start, so that sessions end with the program. `hosts`
    /// are the allowed host names besides `localhost` and IP addresses.
    pub fn new(token: &str, secret: &[u8; 32], port: u16, hosts: &[String]) -> Guard {
        let derived = |what: &str| {
            let mut digest = Sha256::new();
            digest.update(secret);
            digest.update(what);
            digest.update(token);
            hex(&digest.finalize())
        };
        Guard {
            token: Sha256::digest(token).into(),
            session: derived("session"),
            csrf: derived("csrf"),
            cookie: format!("fathom-{port}"),
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
        }
    }

    /// The secret in forms.
    pub fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Whether `text` is the secret in forms.
    pub fn is_ours(&self, text: &str) -> bool {
        is_equal_constant_time(text.as_bytes(), self.csrf.as_bytes())
    }

    /// Whether `text` is the token.
    pub fn is_token(&self, text: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(text).into();
        is_equal_constant_time(&digest, &self.token)
    }

    /// Whether the `Host` header has an allowed name.
    pub fn is_host(&self, headers: &HeaderMap) -> bool {
        let mut lines = headers.get_all(header::HOST).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else { return false };
        let Some(host) = line.to_str().ok().and_then(host_of) else { return false };
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        address.is_ok() || host == "localhost" || self.hosts.contains(&host)
    }

    /// The sender of a request.
    pub fn caller(&self, headers: &HeaderMap, uri: &Uri) -> Caller {
        if let Some(line) = headers.get(header::AUTHORIZATION) {
            let given = line.to_str().ok().and_then(|line| line.split_once(' '));
            let is_token = given.is_some_and(|(scheme, token)| {
                scheme.eq_ignore_ascii_case("bearer") && self.is_token(token.trim())
            });
            return if is_token { Caller::Program } else { Caller::Unknown { is_wrong: true } };
        }
        let given = token_in(uri);
        if given.as_deref().is_some_and(|token| self.is_token(token)) {
            return Caller::TokenInUrl;
        }
        let sessions = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut cookies = sessions.flat_map(|line| line.split(';')).filter_map(|cookie| {
            let (name, value) = cookie.trim().split_once('=')?;
            (name == self.cookie).then_some(value)
        });
        if cookies.any(|value| is_equal_constant_time(value.as_bytes(), self.session.as_bytes())) {
            return Caller::Session;
        }
        Caller::Unknown { is_wrong: given.is_some() }
    }

    /// The `Set-Cookie` value that opens a session, which ends with the browser.
    pub fn set_cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.session)
    }

    /// The `Set-Cookie` value that ends the session.
    pub fn unset_cookie(&self) -> String {
        format!("{}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0", self.cookie)
    }
}

/// Whether the browser says that a page of another site sent this. Requests without these headers
/// pass; the secret in the form decides.
pub fn is_cross_site(headers: &HeaderMap) -> bool {
    let line = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site = line(header::HeaderName::from_static("sec-fetch-site"));
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return true;
    }
    let Some(origin) = line(header::ORIGIN) else { return false };
    let origin = origin.parse::<Uri>().ok();
    let from = origin.as_ref().and_then(Uri::authority).map(Authority::as_str);
    from.is_none() || from != line(header::HOST)
}

/// The token in the query of an address.
fn token_in(uri: &Uri) -> Option<String> {
    let uri = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    uri.0.into_iter().find(|(name, _)| name == "token").map(|(_, token)| token)
}

/// "localhost" of "localhost:8642", in small letters; an IPv6 address in its brackets.
fn host_of(line: &str) -> Option<String> {
    let authority: Authority = line.parse().ok()?;
    // User name and password are not part of a host.
    (!line.contains('@')).then(|| authority.host().to_ascii_lowercase())
}

/// Whether two texts are equal, in a time that depends only on their lengths.
fn is_equal_constant_time(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A token of 32 random bytes.
pub fn token_from_bytes(random: &[u8; 32]) -> String {
    hex(random)
}

/// The token in a file's text: its first line.
pub fn token_from(text: &str) -> Result<String, String> {
    let token = text.lines().next().unwrap_or_default().trim();
    let is_plain = token.chars().all(|letter| letter.is_ascii_graphic());
    match token.len() {
        _ if !is_plain => Err("its first line must be one word of ASCII characters".into()),
        TOKEN_MIN..=TOKEN_MAX => Ok(token.to_owned()),
        length => Err(format!(
            "its first line has {length} characters; expected a token of {TOKEN_MIN} to {TOKEN_MAX} \
             (head -c 32 /dev/urandom | base64)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard::new("0123456789abcdef", &[7; 32], 8642, &["Lab.Example".into()])
    }

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (header::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    fn caller(lines: &[(&'static str, &str)], uri: &str) -> Caller {
        guard().caller(&headers(lines), &uri.parse().unwrap())
    }

    #[test]
    fn only_the_token_and_its_session_open() {
        let stranger = Caller::Unknown { is_wrong: false };
        let wrong = Caller::Unknown { is_wrong: true };
        assert_eq!(caller(&[], "/runs"), stranger);
        assert_eq!(caller(&[], "/?token=0123456789abcdef"), Caller::TokenInUrl);
        assert_eq!(caller(&[], "/?a=b&token=0123456789abcdeg"), wrong);
        assert_eq!(caller(&[("authorization", "Bearer 0123456789abcdef")], "/"), Caller::Program);
        for line in ["Bearer 0123456789abcde", "Basic 0123456789abcdef", "Bearer", "Bearer "] {
            assert_eq!(caller(&[("authorization", line)], "/?token=0123456789abcdef"), wrong);
        }
        let cookie = guard().set_cookie();
        let cookie = cookie.split(';').next().unwrap();
        let among = format!("other=1; {cookie}; more=2");
        assert_eq!(caller(&[("cookie", &among)], "/"), Caller::Session);
        // That of another port, a token instead of the session, nothing.
        for line in [
            cookie.replace("8642", "8643"),
            "fathom-8642=0123456789abcdef".into(),
            "fathom-8642=".into(),
            "fathom-8642".into(),
        ] {
            assert_eq!(caller(&[("cookie", &line)], "/"), stranger, "{line}");
        }
    }

    #[test]
    fn a_session_ends_with_the_program_and_its_token() {
        let cookie = |token, secret| Guard::new(token, &[secret; 32], 1, &[]).set_cookie();
        assert_ne!(cookie("0123456789abcdef", 7), cookie("0123456789abcdef", 8));
        assert_ne!(cookie("0123456789abcdef", 7), cookie("0123456789abcdeg", 7));
    }

    #[test]
    fn names_that_are_not_ours_are_refused() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8642",
            "[::1]:8642",
            "192.168.1.9",
            "lab.example:80",
            "LAB.example",
        ] {
            assert!(guard().is_host(&headers(&[("host", host)])), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "a@localhost",
            "127.0.0.1.nip.io",
            "",
            "[::1",
            "localhost:8642, evil",
        ] {
            assert!(!guard().is_host(&headers(&[("host", host)])), "{host}");
        }
        assert!(!guard().is_host(&HeaderMap::new()));
        let mut two = headers(&[("host", "localhost")]);
        two.append("host", "evil.example".parse().unwrap());
        assert!(!guard().is_host(&two));
    }

    #[test]
    fn requests_from_other_sites_are_detected() {
        let host = ("host", "127.0.0.1:8642");
        assert!(!is_cross_site(&headers(&[host])));
        assert!(!is_cross_site(&headers(&[host, ("origin", "http://127.0.0.1:8642")])));
        assert!(!is_cross_site(&headers(&[host, ("sec-fetch-site", "same-origin")])));
        for line in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1:8643"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert!(is_cross_site(&headers(&[host, line])), "{line:?}");
        }
    }

    #[test]
    fn tokens_are_long_words() {
        assert_eq!(token_from("0123456789abcdef\nmore"), Ok("0123456789abcdef".into()));
        for text in ["", "short", "two words of 0123456789abcdef", "ärger-0123456789abcdef"] {
            assert!(token_from(text).is_err(), "{text}");
        }
        assert_eq!(token_from_bytes(&[0xab; 32]).len(), 64);
    }
}
