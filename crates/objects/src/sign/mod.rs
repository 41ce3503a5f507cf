//! Writes heads of HTTP/1.1 requests, with their signatures.

mod body;
mod encode;
mod paths;
mod s3;
mod spelling;
mod v4;

pub use body::Body;
pub use encode::decoded;

use crate::{Access, Endpoint, Failure, Protocol, Request, Security, Store};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use encode::push_hex;
use s3::S3;
use sha2::{Digest, Sha256};
use spelling::{Spelling, printable};
use std::io::Write;
use std::time::SystemTime;
use v4::V4;

/// Writes the heads of requests to one store. It belongs to one thread.
pub struct Signer {
    endpoints: Vec<Endpoint>,
    /// The value of `Host` for each endpoint. It contains the port unless that is the default.
    hosts: Vec<String>,
    speech: Scheme,
    access: Signatory,
    hashes_content: bool,
    /// The current request, the value of its `Authorization` and the hash of its body.
    spelling: Spelling,
    authorization: String,
    hash: String,
}

enum Scheme {
    S3(S3),
    Paths(Protocol),
}

/// The credentials of requests, as far as they are known in advance.
enum Signatory {
    /// None, or the same header for each request.
    Same(Option<(&'static str, String)>),
    Signed(Box<V4>),
}

/// Headers that hold secrets, in lower case.
const SECRET: [&str; 5] = [
    "authorization",
    "x-auth-token",
    "x-amz-security-token",
    "x-amz-server-side-encryption-customer-key",
    "x-amz-server-side-encryption-customer-key-md5",
];

impl Signer {
    /// A signer for a store. Fails if a value is not allowed in a head.
    pub fn new(store: &Store) -> Result<Signer, Failure> {
        let access = match &store.access {
            Access::Anonymous => Signatory::Same(None),
            Access::Basic { user, password } => {
                Signatory::Same(Some(("Authorization", basic(user, password)?)))
            }
            Access::Token(token) => {
                let token = printable("the Swift token", token)?;
                Signatory::Same(Some(("X-Auth-Token", token.into())))
            }
            Access::Signed { key_id, key, token, region } => {
                Signatory::Signed(Box::new(V4::new(key_id, key, token.as_deref(), region)?))
            }
        };
        let region = match &access {
            Signatory::Signed(v4) => Some(v4.region()),
            Signatory::Same(_) => None,
        };
        let speech = match store.protocol {
            Protocol::S3 => Scheme::S3(S3::new(store, region)?),
            protocol => Scheme::Paths(protocol),
        };
        let usual = if store.security == Security::Plain { 80 } else { 443 };
        let host = |endpoint: &Endpoint| host(endpoint, usual);
        Ok(Signer {
            endpoints: store.endpoints.clone(),
            hosts: store.endpoints.iter().map(host).collect::<Result<_, _>>()?,
            speech,
            access,
            hashes_content: store.hashes_content(),
            spelling: Spelling::default(),
            authorization: String::new(),
            hash: String::new(),
        })
    }

    /// The bucket of a request, if it is part of the host name. The server must prove that it is
    /// that host.
    pub fn bucket_in_host<'r>(&self, endpoint: usize, request: &Request<'r>) -> Option<&'r str> {
        match &self.speech {
            Scheme::S3(s3) => s3.bucket_in_host(self.endpoints.get(endpoint)?, request),
            Scheme::Paths(_) => None,
        }
    }

    /// Appends the head of a request to `head`, including the empty line at its end. Returns the
    /// body that must follow. `endpoint` is an index into the store's endpoints, `content` is the
    /// whole content of the slot; the part of it that is sent is hashed if the store requires that.
    /// A request that cannot be sent is [`Failure::Refused`], and `head` is unchanged.
    pub fn head(
        &mut self,
        endpoint: usize,
        request: &Request<'_>,
        content: &[u8],
        now: SystemTime,
        head: &mut Vec<u8>,
    ) -> Result<Body, Failure> {
        let (Some(to), Some(host)) = (self.endpoints.get(endpoint), self.hosts.get(endpoint))
        else {
            return Err(Failure::Refused("the store has no endpoint: name its host".into()));
        };
        let spelling = &mut self.spelling;
        spelling.clear();
        let body = match &self.speech {
            Scheme::S3(s3) => s3.spell(to, host, request, content.len(), spelling)?,
            Scheme::Paths(protocol) => {
                paths::spell(*protocol, host, request, content.len(), spelling)?
            }
        };
        if let Signatory::Signed(v4) = &mut self.access {
            self.hash.clear();
            match &body {
                Body::Nothing => self.hash.push_str(v4::EMPTY_HASH),
                Body::Text(text) => push_hex(&mut self.hash, &Sha256::digest(text)),
                Body::Content(part) if self.hashes_content => {
                    push_hex(&mut self.hash, &Sha256::digest(&content[part.clone()]));
                }
                Body::Content(_) => self.hash.push_str(v4::UNSIGNED),
            }
            self.authorization.clear();
            v4.sign(spelling, &self.hash, now, &mut self.authorization);
        }
        self.write(&body, head);
        Ok(body)
    }

    fn write(&self, body: &Body, head: &mut Vec<u8>) {
        let spelling = &self.spelling;
        let mut add = |parts: &[&str]| {
            for part in parts {
                head.extend_from_slice(part.as_bytes());
            }
        };
        add(&[spelling.method, " ", &spelling.path]);
        if !spelling.query.is_empty() {
            add(&["?", &spelling.query]);
        }
        add(&[" HTTP/1.1\r\nHost: ", &spelling.host, "\r\nUser-Agent: ", AGENT, "\r\n"]);
        for (name, value) in spelling.headers() {
            add(&[name, ": ", value, "\r\n"]);
        }
        match &self.access {
            Signatory::Same(None) => {}
            Signatory::Same(Some((name, value))) => add(&[name, ": ", value, "\r\n"]),
            Signatory::Signed(_) => add(&["Authorization: ", &self.authorization, "\r\n"]),
        }
        let length = match body {
            Body::Nothing => None,
            Body::Content(part) => Some(part.len()),
            Body::Text(text) => {
                if !text.is_empty() {
                    add(&["Content-Type: application/xml\r\n"]);
                }
                Some(text.len())
            }
        };
        if let Some(length) = length {
            // Writing to a Vec cannot fail.
            let _ = write!(head, "Content-Length: {length}\r\n");
        }
        head.extend_from_slice(b"\r\n");
    }
}

const AGENT: &str = concat!("fathom/", env!("CARGO_PKG_VERSION"));

/// A head without secrets, for display.
pub fn without_secrets(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head);
    let line = |line: &str| match line.split_once(':') {
        Some((name, _)) if SECRET.contains(&name.to_ascii_lowercase().as_str()) => {
            format!("{name}: (not shown)")
        }
        _ => line.to_owned(),
    };
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The value of `Host`.
fn host(endpoint: &Endpoint, usual: u16) -> Result<String, Failure> {
    printable("the host's name", &endpoint.host)?;
    let whole = endpoint.to_string();
    Ok(match whole.strip_suffix(&format!(":{usual}")) {
        Some(host) if endpoint.port == usual => host.to_owned(),
        _ => whole,
    })
}

/// The value of `Authorization` for a user and a password (RFC 7617).
fn basic(user: &str, password: &str) -> Result<String, Failure> {
    printable("the user's name", user)?;
    printable("the password", password)?;
    if user.contains(':') {
        let why = "the user's name holds a colon, which ends it in Basic authentication: use \
                   another user";
        return Err(Failure::Refused(why.into()));
    }
    Ok(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
}

#[cfg(test)]
mod tests;
