//! AWS Signature Version 4, as the S3 documentation describes it ("Authenticating Requests: Using
//! the Authorization Header", API Version 2006-03-01).

use super::encode::push_hex;
use super::spelling::{Spelling, printable};
use crate::Failure;
use chrono::{DateTime, Utc};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::time::SystemTime;

/// SHA-256 of nothing.
pub const EMPTY_HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// The value used instead of a hash if the content is not hashed.
pub const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// Signs requests with one key for one region. Values that are valid for a day or a second are
/// computed once.
pub struct V4 {
    key_id: String,
    key: String,
    token: Option<String>,
    region: String,
    /// The second of `stamp` since the epoch.
    second: Option<i64>,
    /// "20130524T000000Z".
    stamp: String,
    /// "20130524/us-east-1/s3/aws4_request".
    scope: String,
    /// The key of the day, with its first two blocks already hashed.
    signing: Option<Hmac<Sha256>>,
    /// Buffers for the hashed text and for the names of the signed headers.
    text: String,
    names: String,
}

impl V4 {
    /// A signer. Fails if a value is not printable.
    pub fn new(key_id: &str, key: &str, token: Option<&str>, region: &str) -> Result<V4, Failure> {
        printable("the access key's id", key_id)?;
        printable("the region", region)?;
        token.map(|token| printable("the session token", token)).transpose()?;
        Ok(V4 {
            key_id: key_id.into(),
            key: key.into(),
            token: token.map(Into::into),
            region: region.into(),
            second: None,
            stamp: String::new(),
            scope: String::new(),
            signing: None,
            text: String::new(),
            names: String::new(),
        })
    }

    /// The region of the signatures.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// Adds the signature's headers to an otherwise complete request, and appends the value of
    /// `Authorization` to `out`. `hash` is that of the content in hexadecimal digits, or
    /// [`UNSIGNED`].
    pub fn sign(&mut self, request: &mut Spelling, hash: &str, now: SystemTime, out: &mut String) {
        self.set_time(now);
        request.header("x-amz-content-sha256", hash);
        request.header("x-amz-date", &self.stamp);
        if let Some(token) = &self.token {
            request.header("x-amz-security-token", token);
        }
        self.authorize(request, hash, out);
    }

    /// Appends the value of `Authorization` for a complete request.
    fn authorize(&mut self, request: &mut Spelling, hash: &str, out: &mut String) {
        request.sort();
        self.write_canonical(request, hash);
        let hashed = Sha256::digest(self.text.as_bytes());
        let text = &mut self.text;
        text.clear();
        for part in ["AWS4-HMAC-SHA256\n", &self.stamp, "\n", &self.scope, "\n"] {
            text.push_str(part);
        }
        push_hex(text, &hashed);
        let signing =
            self.signing.get_or_insert_with(|| derive(&self.key, &self.stamp, &self.region));
        let signature = signing.clone().chain_update(text.as_bytes()).finalize().into_bytes();
        let (id, scope) = (self.key_id.as_str(), self.scope.as_str());
        for part in ["AWS4-HMAC-SHA256 Credential=", id, "/", scope, ", SignedHeaders="] {
            out.push_str(part);
        }
        out.push_str(&self.names);
        out.push_str(", Signature=");
        push_hex(out, &signature);
    }

    /// Writes the canonical request to `text`, and the names of its headers to `names`.
    fn write_canonical(&mut self, request: &Spelling, hash: &str) {
        let (text, names) = (&mut self.text, &mut self.names);
        text.clear();
        names.clear();
        for part in [request.method, "\n", &request.path, "\n", &request.query, "\n"] {
            text.push_str(part);
        }
        let mut host = Some(request.host.as_str());
        let mut headers = request.headers().peekable();
        loop {
            // `Host` is not in the list of headers and must be inserted in order.
            let host_is_next = headers.peek().is_none_or(|(name, _)| *name > "host");
            let (name, value) = match host.filter(|_| host_is_next) {
                Some(_) => ("host", host.take().unwrap_or_default()),
                None => match headers.next() {
                    Some(header) => header,
                    None => break,
                },
            };
            if !names.is_empty() {
                names.push(';');
            }
            names.push_str(name);
            for part in [name, ":", value.trim(), "\n"] {
                text.push_str(part);
            }
        }
        for part in ["\n", names, "\n", hash] {
            text.push_str(part);
        }
    }

    fn set_time(&mut self, now: SystemTime) {
        let now = DateTime::<Utc>::from(now);
        if self.second == Some(now.timestamp()) {
            return;
        }
        let day = |stamp: &str| stamp.get(..8).map(str::to_owned);
        let before = day(&self.stamp);
        self.second = Some(now.timestamp());
        self.stamp = now.format("%Y%m%dT%H%M%SZ").to_string();
        if day(&self.stamp) != before {
            self.scope = format!("{}/{}/s3/aws4_request", now.format("%Y%m%d"), self.region);
            self.signing = None;
        }
    }
}

/// The signing key of the day of `stamp`.
fn derive(key: &str, stamp: &str, region: &str) -> Hmac<Sha256> {
    let steps = [stamp.get(..8).unwrap_or_default(), region, "s3", "aws4_request"];
    steps.iter().fold(keyed(format!("AWS4{key}").as_bytes()), |mac, step| {
        keyed(&mac.chain_update(step.as_bytes()).finalize().into_bytes())
    })
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("an HMAC takes a key of any length")
}
