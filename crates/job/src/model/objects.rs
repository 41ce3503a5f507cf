//! The object store of the http engine, as typed.

use super::named::named;
use record::{Nanos, with_defaults};
use std::fmt;

/// A key, password or token. `Debug` does not show it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

with_defaults! {
    /// Options of `http`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Http {
        /// `http_mode`.
        pub kind: StoreKind = StoreKind::WebDav,
        /// `http_host`: one or several hosts with ports.
        pub hosts: String = "localhost".into(),
        /// `https`.
        pub tls: Tls = Tls::Off,
        /// `http_ca_file`: certificates to trust instead of the system's.
        pub ca_file: Option<String>,
        /// `http_user`.
        pub user: Option<String>,
        /// `http_pass`.
        pub password: Option<Secret>,
        /// `http_s3_keyid`.
        pub key_id: Option<String>,
        /// `http_s3_key`.
        pub key: Option<Secret>,
        /// `http_s3_security_token`.
        pub session_token: Option<Secret>,
        /// `http_swift_auth_token`.
        pub swift_token: Option<Secret>,
        /// `http_s3_region`.
        pub region: String = "us-east-1".into(),
        /// `http_s3_storage_class`; `None`: the bucket's own.
        pub storage_class: Option<String> = Some("STANDARD".into()),
        /// `http_s3_sse_customer_key`.
        pub customer_key: Option<Secret>,
        /// `http_s3_sse_customer_algorithm`.
        pub customer_algorithm: String = "AES256".into(),
        /// `http_s3_payload`.
        pub payload: Payload = Payload::Auto,
        /// `http_s3_addressing=virtual`: the bucket is part of the host's name.
        pub virtual_host: bool,
        /// `http_object_mode=range`: one object for each file.
        pub ranges: bool,
        /// `http_timeout`.
        pub timeout: Nanos = Nanos(30 * Nanos::SECOND.0),
        /// `http_retries`.
        pub retries: u64,
        /// `http_verbose`.
        pub verbose: u64,
    }
}

/// `http_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// WebDAV, or any server that takes PUT, GET and DELETE of paths.
    #[default]
    WebDav,
    /// OpenStack Swift.
    Swift,
    /// Amazon S3 and what is compatible with it.
    S3,
}

/// `https`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Plain HTTP.
    #[default]
    Off,
    /// TLS; the server's certificate is verified.
    Verified,
    /// TLS without verification of the certificate.
    Insecure,
}

/// `http_s3_payload`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// Signed, except over TLS.
    #[default]
    Auto,
    /// The SHA-256 of the content is part of each signature.
    Signed,
    /// Only the head of a request is signed.
    Unsigned,
}

named!(StoreKind: WebDav "webdav", Swift "swift", S3 "s3");

named!(Tls: Off "off", Verified "on", Insecure "insecure");

named!(Payload: Auto "auto", Signed "signed", Unsigned "unsigned");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let http = Http { key: Some(Secret("hidden-words".into())), ..Http::default() };
        assert!(!format!("{http:?}").contains("hidden-words"));
    }
}
