//! Options of the http engine: object stores.

use super::Group::Engine;
use super::field::field;
use super::row::{NO_MAX, SECOND, choice, int, rows, text, time, value};
use super::{Choice, OptionDef};
use record::Engine::Http;

const HTTP_ONLY: &[&str] = &["http"];

const SECURE: &[Choice] = &[
    value("off", "HTTP"),
    value("on", "HTTPS"),
    value("insecure", "HTTPS without verifying the certificate"),
];

const STORES: &[Choice] = &[value("webdav", "WebDAV"), value("swift", "Swift"), value("s3", "S3")];

const OBJECTS: &[Choice] =
    &[value("block", "one object for each block"), value("range", "one object for each file")];

const PAYLOADS: &[Choice] = &[
    value("auto", "signed over HTTP, unsigned over HTTPS"),
    value("signed", "the SHA-256 of the content is part of the signature"),
    value("unsigned", "only the headers of a request are signed"),
];

const ADDRESSING: &[Choice] =
    &[value("path", "http://host/bucket/object"), value("virtual", "http://bucket.host/object")];

/// Options of the http engine.
pub(super) const HTTP: &[OptionDef] = rows! {
    /// Whether to use TLS
    ///
    /// The server's certificate is verified against the system's certificates or http_ca_file;
    /// insecure skips this.
    "https" => choice(Engine, SECURE)
        .for_engines(HTTP_ONLY)
        .default("off")
        .sets(field!(queue.options.http.tls))
        .recorded(),

    /// Hosts and ports of the object store
    ///
    /// A name or an address, with a port if it is not 80 (443 with TLS): 127.0.0.1:9000,
    /// [::1]:9000. Connections use several hosts, separated by commas, round robin; fio accepts one
    /// host.
    "http_host" => text(Engine)
        .for_engines(HTTP_ONLY)
        .default("localhost")
        .sets(field!(queue.options.http.hosts)),

    /// User name
    ///
    /// Sent with http_pass as basic authentication to a WebDAV server.
    "http_user" => text(Engine).for_engines(HTTP_ONLY).sets(field!(queue.options.http.user)),

    /// Password
    ///
    /// Goes with http_user.
    "http_pass" => text(Engine).for_engines(HTTP_ONLY).secret().sets(field!(queue.options.http.password)),

    /// S3 secret key
    ///
    /// Signs each request; it is neither sent nor recorded. Without it and http_s3_keyid requests
    /// are anonymous.
    "http_s3_key" => text(Engine).for_engines(HTTP_ONLY).secret().sets(field!(queue.options.http.key)),

    /// S3 key id
    ///
    /// Identifies http_s3_key.
    "http_s3_keyid" => text(Engine).for_engines(HTTP_ONLY).sets(field!(queue.options.http.key_id)),

    /// S3 session token
    ///
    /// For temporary credentials.
    "http_s3_security_token" => text(Engine)
        .for_engines(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.session_token)),

    /// Swift token
    ///
    /// Obtained by authentication before the run.
    "http_swift_auth_token" => text(Engine)
        .for_engines(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.swift_token)),

    /// S3 region
    ///
    /// Part of each request's signature.
    "http_s3_region" => text(Engine)
        .for_engines(HTTP_ONLY)
        .default("us-east-1")
        .sets(field!(queue.options.http.region)),

    /// S3 storage class
    ///
    /// Sent with each PUT. With none nothing is sent and the bucket's default applies; fio has no
    /// such value.
    "http_s3_storage_class" => text(Engine).for_engines(HTTP_ONLY).default("STANDARD").sets_with(|job, v| {
        job.queue.options.http.storage_class = Some(v.string()).filter(|class| class != "none");
        Ok(())
    }),

    /// S3 key of server side encryption
    ///
    /// 32 characters; sent with each request. Servers accept it over TLS only.
    "http_s3_sse_customer_key" => text(Engine)
        .for_engines(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.customer_key)),

    /// S3 cipher of server side encryption
    ///
    /// Used with http_s3_sse_customer_key.
    "http_s3_sse_customer_algorithm" => text(Engine)
        .for_engines(HTTP_ONLY)
        .default("AES256")
        .sets(field!(queue.options.http.customer_algorithm)),

    /// Kind of object store
    ///
    /// Chooses how requests are made and signed.
    "http_mode" => choice(Engine, STORES)
        .for_engines(HTTP_ONLY)
        .default("webdav")
        .sets(field!(queue.options.http.kind))
        .recorded_as("http_mode", |job| {
            let kind = job.queue.options.http.kind.name();
            (job.queue.engine == Http).then(|| kind.to_owned())
        }),

    /// Print requests to standard error
    ///
    /// 1 prints each request and its status, 2 also the headers, without secrets.
    "http_verbose" => int(Engine, 0, NO_MAX)
        .for_engines(HTTP_ONLY)
        .default("0")
        .sets(field!(queue.options.http.verbose)),

    /// How blocks map to objects
    ///
    /// block: each block is an object of its own, NAME_START_LENGTH. range: each file is one
    /// object; blocks are read by range, and the object can only be written or removed as a whole.
    /// Newer than fio 3.33.
    "http_object_mode" => choice(Engine, OBJECTS)
        .for_engines(HTTP_ONLY)
        .default("block")
        .sets(field!(queue.options.http.ranges = "range"))
        .recorded(),

    /// What the signature of a PUT covers
    ///
    /// Hashing needs CPU time for every byte; TLS already protects the content. The report shows
    /// which was used. Not an option of fio, which always hashes.
    "http_s3_payload" => choice(Engine, PAYLOADS)
        .for_engines(HTTP_ONLY)
        .default("auto")
        .sets(field!(queue.options.http.payload))
        .recorded(),

    /// How a bucket is named in requests
    ///
    /// If the bucket's name is no valid host name, or the host is an address, requests use the
    /// path. With https the certificate must match the bucket's host; connections go to the address
    /// of the host without the bucket. Not an option of fio.
    "http_s3_addressing" => choice(Engine, ADDRESSING)
        .for_engines(HTTP_ONLY)
        .default("path")
        .sets(field!(queue.options.http.virtual_host = "virtual")),

    /// Certificates to trust
    ///
    /// A PEM file, used instead of the system's certificates. Not an option of fio.
    "http_ca_file" => text(Engine).for_engines(HTTP_ONLY).sets(field!(queue.options.http.ca_file)),

    /// Time without progress after which a request fails
    ///
    /// Must be above 0. The request counts as an error (ETIMEDOUT). A job at the end of its runtime
    /// waits this long for its last responses; after a signal it waits one second. Not an option of
    /// fio.
    "http_timeout" => time(Engine, SECOND)
        .for_engines(HTTP_ONLY)
        .default("30")
        .sets(field!(queue.options.http.timeout)),

    /// Number of retries of a failed request
    ///
    /// Only after errors that may be temporary: a lost connection, a timeout, statuses 429, 500,
    /// 502, 503 and 504. Retries are counted by the status or failure before them, and latency
    /// includes them. Not an option of fio.
    "http_retries" => int(Engine, 0, 1000)
        .for_engines(HTTP_ONLY)
        .default("0")
        .sets(field!(queue.options.http.retries))
        .recorded(),
};
