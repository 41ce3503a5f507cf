//! Options of the http engine: object stores.

use super::Group::Engine;
use super::field::field;
use super::row::{NO_MAX, SECOND, choice, int, text, time, value};
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
pub(super) const HTTP: &[OptionDef] = &[
    choice(Engine, "https", SECURE, "Whether to use TLS")
        .long(
            "The server's certificate is verified against the system's certificates or \
             http_ca_file; insecure skips this.",
        )
        .of(HTTP_ONLY)
        .default("off")
        .sets(field!(queue.options.http.tls))
        .recorded(),
    text(Engine, "http_host", "Hosts and ports of the object store")
        .long(
            "A name or an address, with a port if it is not 80 (443 with TLS): 127.0.0.1:9000, \
             [::1]:9000. Connections use several hosts, separated by commas, round robin; fio \
             accepts one host.",
        )
        .of(HTTP_ONLY)
        .default("localhost")
        .sets(field!(queue.options.http.hosts)),
    text(Engine, "http_user", "User name")
        .long("Sent with http_pass as basic authentication to a WebDAV server.")
        .of(HTTP_ONLY)
        .sets(field!(queue.options.http.user)),
    text(Engine, "http_pass", "Password")
        .long("Goes with http_user.")
        .of(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.password)),
    text(Engine, "http_s3_key", "S3 secret key")
        .long(
            "Signs each request; it is neither sent nor recorded. Without it and http_s3_keyid \
             requests are anonymous.",
        )
        .of(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.key)),
    text(Engine, "http_s3_keyid", "S3 key id")
        .long("Identifies http_s3_key.")
        .of(HTTP_ONLY)
        .sets(field!(queue.options.http.key_id)),
    text(Engine, "http_s3_security_token", "S3 session token")
        .long("For temporary credentials.")
        .of(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.session_token)),
    text(Engine, "http_swift_auth_token", "Swift token")
        .long("Obtained by authentication before the run.")
        .of(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.swift_token)),
    text(Engine, "http_s3_region", "S3 region")
        .long("Part of each request's signature.")
        .of(HTTP_ONLY)
        .default("us-east-1")
        .sets(field!(queue.options.http.region)),
    text(Engine, "http_s3_storage_class", "S3 storage class")
        .long(
            "Sent with each PUT. With none nothing is sent and the bucket's default applies; fio \
             has no such value.",
        )
        .of(HTTP_ONLY)
        .default("STANDARD")
        .sets_with(|job, v| {
            job.queue.options.http.storage_class = Some(v.string()).filter(|class| class != "none");
            Ok(())
        }),
    text(Engine, "http_s3_sse_customer_key", "S3 key of server side encryption")
        .long("32 characters; sent with each request. Servers accept it over TLS only.")
        .of(HTTP_ONLY)
        .secret()
        .sets(field!(queue.options.http.customer_key)),
    text(Engine, "http_s3_sse_customer_algorithm", "S3 cipher of server side encryption")
        .long("Used with http_s3_sse_customer_key.")
        .of(HTTP_ONLY)
        .default("AES256")
        .sets(field!(queue.options.http.customer_algorithm)),
    choice(Engine, "http_mode", STORES, "Kind of object store")
        .long("Chooses how requests are made and signed.")
        .of(HTTP_ONLY)
        .default("webdav")
        .sets(field!(queue.options.http.kind))
        .recorded_as("http_mode", |job| {
            let kind = job.queue.options.http.kind.name();
            (job.queue.engine == Http).then(|| kind.to_owned())
        }),
    int(Engine, "http_verbose", 0, NO_MAX, "Print requests to standard error")
        .long("1 prints each request and its status, 2 also the headers, without secrets.")
        .of(HTTP_ONLY)
        .default("0")
        .sets(field!(queue.options.http.verbose)),
    choice(Engine, "http_object_mode", OBJECTS, "How blocks map to objects")
        .of(HTTP_ONLY)
        .default("block")
        .long(
            "block: each block is an object of its own, NAME_START_LENGTH. range: each file is \
             one object; blocks are read by range, and the object can only be written or removed \
             as a whole. Newer than fio 3.33.",
        )
        .sets(field!(queue.options.http.ranges = "range"))
        .recorded(),
    choice(Engine, "http_s3_payload", PAYLOADS, "What the signature of a PUT covers")
        .of(HTTP_ONLY)
        .default("auto")
        .long(
            "Hashing needs CPU time for every byte; TLS already protects the content. The report \
             shows which was used. Not an option of fio, which always hashes.",
        )
        .sets(field!(queue.options.http.payload))
        .recorded(),
    choice(Engine, "http_s3_addressing", ADDRESSING, "How a bucket is named in requests")
        .of(HTTP_ONLY)
        .default("path")
        .long(
            "If the bucket's name is no valid host name, or the host is an address, requests use \
             the path. With https the certificate must match the bucket's host; connections go \
             to the address of the host without the bucket. Not an option of fio.",
        )
        .sets(field!(queue.options.http.virtual_host = "virtual")),
    text(Engine, "http_ca_file", "Certificates to trust")
        .of(HTTP_ONLY)
        .long("A PEM file, used instead of the system's certificates. Not an option of fio.")
        .sets(field!(queue.options.http.ca_file)),
    time(Engine, "http_timeout", SECOND, "Time without progress after which a request fails")
        .of(HTTP_ONLY)
        .default("30")
        .long(
            "Must be above 0. The request counts as an error (ETIMEDOUT). A job at the end of \
             its runtime waits this long for its last responses; after a signal it waits one \
             second. Not an option of fio.",
        )
        .sets(field!(queue.options.http.timeout)),
    int(Engine, "http_retries", 0, 1000, "Number of retries of a failed request")
        .of(HTTP_ONLY)
        .default("0")
        .long(
            "Only after errors that may be temporary: a lost connection, a timeout, statuses \
             429, 500, 502, 503 and 504. Retries are counted by the status or failure before \
             them, and latency includes them. Not an option of fio.",
        )
        .sets(field!(queue.options.http.retries))
        .recorded(),
];
