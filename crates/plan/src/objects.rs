//! The object store that a worker's objects are in.

use crate::model::{Access, Objects, Worker};
use crate::problem::Diagnostics;
use job::{Http, Job, Medium, Secret, StoreKind, Tls};
use std::net::{IpAddr, Ipv6Addr};

/// Bytes of a key of SSE-C.
const CUSTOMER_KEY_BYTES: usize = 32;

/// The store of a job's objects; `None` for other engines.
pub(crate) fn store(job: &Job) -> Option<Objects> {
    if job.queue.engine.medium() != Medium::Objects {
        return None;
    }
    let http = &job.queue.options.http;
    let s3 = http.kind == StoreKind::S3;
    let customer_key = http.customer_key.as_ref().filter(|_| s3);
    Some(Objects {
        kind: http.kind,
        endpoints: hosts(http).filter_map(|host| endpoint(host, http.tls).ok()).collect(),
        tls: http.tls,
        ca_file: http.ca_file.clone(),
        access: access(http),
        virtual_host: s3 && http.virtual_host,
        payload: http.payload,
        storage_class: http.storage_class.clone().filter(|_| s3),
        customer_key: customer_key.map(|key| (http.customer_algorithm.clone(), key.clone())),
        ranges: http.ranges,
        timeout: http.timeout,
        retries: u32::try_from(http.retries).unwrap_or(u32::MAX),
        verbose: u32::try_from(http.verbose).unwrap_or(u32::MAX),
    })
}

fn access(http: &Http) -> Access {
    match http.kind {
        StoreKind::S3 => match (&http.key_id, &http.key) {
            (Some(key_id), Some(key)) => Access::Signed {
                key_id: key_id.clone(),
                key: key.clone(),
                token: http.session_token.clone(),
                region: http.region.clone(),
            },
            _ => Access::Anonymous,
        },
        StoreKind::Swift => http.swift_token.clone().map_or(Access::Anonymous, Access::Token),
        StoreKind::WebDav => match &http.user {
            Some(user) => Access::Basic {
                user: user.clone(),
                password: http.password.clone().unwrap_or_default(),
            },
            None => Access::Anonymous,
        },
    }
}

fn hosts(http: &Http) -> impl Iterator<Item = &str> {
    http.hosts.split(',').map(str::trim)
}

/// Host and port; the error says what was expected.
fn endpoint(text: &str, tls: Tls) -> Result<(String, u16), &'static str> {
    let usual = if tls == Tls::Off { 80 } else { 443 };
    if text.contains("://") {
        return Err("give the host without http:// in front; https=on is for TLS");
    }
    if text.contains(['/', ' ', '@', '?', '#']) {
        return Err("give a host only; the path belongs to filename");
    }
    let number = |port: &str| port.parse().ok().filter(|port| *port > 0);
    let port = |port: &str| number(port).ok_or("behind the colon a port from 1 to 65535 belongs");
    if let Some(rest) = text.strip_prefix('[') {
        let (address, rest) = rest.split_once(']').ok_or("a ']' is missing")?;
        let address: Ipv6Addr =
            address.parse().map_err(|_| "in brackets an IPv6 address belongs")?;
        return match rest.strip_prefix(':') {
            Some(rest) => Ok((address.to_string(), port(rest)?)),
            None if rest.is_empty() => Ok((address.to_string(), usual)),
            None => Err("behind the bracket only :PORT may follow"),
        };
    }
    match text.split_once(':') {
        _ if text.is_empty() => Err("name a host"),
        None => Ok((text.to_owned(), usual)),
        Some(("", _)) => Err("before the colon a host belongs"),
        Some((host, rest)) if !rest.contains(':') => Ok((host.to_owned(), port(rest)?)),
        Some(_) => match text.parse::<Ipv6Addr>() {
            Ok(address) => Ok((address.to_string(), usual)),
            Err(_) => Err("an IPv6 address with a port is written [ADDRESS]:PORT"),
        },
    }
}

/// What a store needs and what it cannot do.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    if job.queue.engine.medium() != Medium::Objects {
        return;
    }
    let http = &job.queue.options.http;
    for host in hosts(http) {
        if let Err(cure) = endpoint(host, http.tls) {
            diagnostics.usage(job, "http_host", format!("'{host}' is no host"), cure);
        }
    }
    if let Some(text) = control_character(http) {
        let what = format!("a control character in {text}");
        diagnostics.usage(job, text, what, "leave it out: it cannot be part of a request");
    }
    check_access(job, http, diagnostics);
    let names = &job.target.filenames;
    let scheme = names.iter().any(|name| name == "http" || name == "https");
    if scheme && names.iter().any(|name| name.starts_with("//")) {
        let cure = "give the host as http_host=, and the path alone as filename=";
        diagnostics.usage(job, "filename", "it is a URL", cure);
    }
    if http.timeout.0 == 0 {
        diagnostics.usage(
            job,
            "http_timeout",
            "no request could end well in no time",
            "give 1s or more",
        );
    }
    if http.ca_file.is_some() && http.tls != Tls::Verified {
        diagnostics.warn(job, "http_ca_file has no effect without https=on");
    }
    if http.virtual_host && http.kind != StoreKind::S3 {
        diagnostics.warn(job, "http_s3_addressing has no effect without http_mode=s3");
    }
    let endpoints = hosts(http).filter_map(|host| endpoint(host, http.tls).ok());
    if http.virtual_host
        && let Some((host, _)) = endpoints.into_iter().find(|(host, _)| is_address(host))
    {
        let text =
            format!("a bucket cannot stand in front of the address {host}: it is in the path");
        diagnostics.warn(job, text);
    }
    if job.target.unlink || job.target.unlink_each_loop {
        diagnostics.warn(job, "unlink has no effect on objects: rw=trim removes them");
    }
}

fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

/// The option whose text cannot be sent.
fn control_character(http: &Http) -> Option<&'static str> {
    let secret = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.0.clone());
    let texts = [
        ("http_user", http.user.clone()),
        ("http_pass", secret(&http.password)),
        ("http_s3_keyid", http.key_id.clone()),
        ("http_s3_security_token", secret(&http.session_token)),
        ("http_swift_auth_token", secret(&http.swift_token)),
        ("http_s3_region", Some(http.region.clone())),
        ("http_s3_storage_class", http.storage_class.clone()),
        ("http_s3_sse_customer_algorithm", Some(http.customer_algorithm.clone())),
    ];
    let bad = |text: &Option<String>| text.iter().any(|text| text.chars().any(char::is_control));
    texts.into_iter().find(|(_, text)| bad(text)).map(|(option, _)| option)
}

fn check_access(job: &Job, http: &Http, diagnostics: &mut Diagnostics) {
    match http.kind {
        StoreKind::S3 => check_s3(job, http, diagnostics),
        StoreKind::Swift if http.swift_token.is_none() => {
            let cure = "authenticate first (openstack token issue) and give the token";
            diagnostics.usage(job, "http_swift_auth_token", "http_mode=swift needs a token", cure);
        }
        StoreKind::WebDav if http.user.is_none() && http.password.is_some() => {
            diagnostics.usage(job, "http_user", "http_pass is given without a user", "give both");
        }
        StoreKind::Swift | StoreKind::WebDav => {}
    }
}

fn check_s3(job: &Job, http: &Http, diagnostics: &mut Diagnostics) {
    match (&http.key_id, &http.key) {
        (Some(_), None) => {
            let what = "http_s3_keyid is given without its key";
            diagnostics.usage(job, "http_s3_key", what, "give both, or neither to ask anonymously");
        }
        (None, Some(_)) => {
            let what = "http_s3_key is given without its name";
            diagnostics.usage(
                job,
                "http_s3_keyid",
                what,
                "give both, or neither to ask anonymously",
            );
        }
        (Some(_), Some(_)) if http.region.is_empty() => {
            let cure = "give the bucket's, or us-east-1 where the server has none";
            diagnostics.usage(job, "http_s3_region", "signatures need a region", cure);
        }
        (None, None) => diagnostics.note(job, "no key is given: requests are anonymous"),
        (Some(_), Some(_)) => {}
    }
    let Some(Secret(key)) = &http.customer_key else { return };
    if key.len() != CUSTOMER_KEY_BYTES {
        let what = format!("a key of {} bytes", key.len());
        let cure = format!("give {CUSTOMER_KEY_BYTES}");
        diagnostics.usage(job, "http_s3_sse_customer_key", what, cure);
    }
    if http.customer_algorithm != "AES256" {
        let what = format!("'{}' is no cipher of SSE-C", http.customer_algorithm);
        diagnostics.usage(job, "http_s3_sse_customer_algorithm", what, "give AES256");
    }
    if http.tls == Tls::Off {
        diagnostics.warn(job, "most S3 servers take a customer's key over TLS only: speak https");
    }
}

/// Whether a worker's objects can be what their names and blocks make of them.
pub(crate) fn check_names(job: &Job, worker: &Worker, diagnostics: &mut Diagnostics) {
    let Some(store) = &worker.objects else { return };
    for file in &worker.files {
        let (bucket, object) = split(&file.path);
        if file.path.chars().any(char::is_control) {
            let what = format!("a control character in {:?}", file.path);
            diagnostics.usage(job, "filename", what, "name objects without");
        } else if store.kind == StoreKind::S3 && store.virtual_host && object.is_empty() {
            let what = format!("'{}' names no bucket and object", file.path);
            diagnostics.usage(job, "filename", what, "give /BUCKET/OBJECT, or directory=/BUCKET");
        } else if store.kind == StoreKind::S3 && object.is_empty() {
            let text = format!(
                "'{bucket}' is taken for an object of the bucket that http_host names: where it \
                 names none, give filename=/BUCKET/OBJECT or directory=/BUCKET"
            );
            diagnostics.note(job, text);
        }
    }
    let (writes, trims) = (worker.pattern.rw.writes(), worker.pattern.rw.trims());
    if store.ranges && (writes || trims) {
        check_whole(job, worker, diagnostics);
    }
}

/// Bucket and key of a path, without the slashes between them.
fn split(path: &str) -> (&str, &str) {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split_once('/').unwrap_or((path, ""))
}

/// An object cannot be changed in part.
fn check_whole(job: &Job, worker: &Worker, diagnostics: &mut Diagnostics) {
    let changed = [record::Direction::Write, record::Direction::Trim];
    let plans = changed.iter().filter(|d| worker.has(**d)).map(|d| &worker.pattern.blocks[*d]);
    for plan in plans {
        let fits = |file: &crate::File| {
            let same = plan.min() == file.length && plan.max() == file.length;
            same && file.start == 0
        };
        if let Some(file) = worker.files.iter().find(|file| !fits(file)) {
            let what = format!(
                "blocks of {} to {} bytes in '{}', an object of {} bytes from byte {} on: in range \
                 mode objects are put and removed as a whole",
                plan.min(),
                plan.max(),
                file.path,
                file.length,
                file.start
            );
            let cure = "give bs the size of an object (filesize), or http_object_mode=block";
            diagnostics.usage(job, "http_object_mode", what, cure);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_come_with_and_without_ports() {
        let of = |text| endpoint(text, Tls::Off);
        let is = |host: &str, port| Ok((host.to_owned(), port));
        assert_eq!(of("127.0.0.1:9000"), is("127.0.0.1", 9000));
        assert_eq!(of("store.example"), is("store.example", 80));
        assert_eq!(endpoint("store.example", Tls::Verified), is("store.example", 443));
        assert_eq!(of("[::1]:9000"), is("::1", 9000));
        assert_eq!(of("[::1]"), is("::1", 80));
        assert_eq!(of("fe80::1"), is("fe80::1", 80));
    }

    #[test]
    fn an_invalid_host_is_reported_with_the_reason() {
        for text in
            ["", ":80", "a:", "a:0", "a:70000", "a:b:c", "[::1", "[::1]x", "http://a", "a/b"]
        {
            assert!(endpoint(text, Tls::Off).is_err(), "{text}");
        }
    }

    #[test]
    fn paths_are_split_at_the_bucket() {
        assert_eq!(split("/bucket/a/b"), ("bucket", "a/b"));
        assert_eq!(split("bucket//a"), ("bucket", "/a"));
        assert_eq!(split("/object"), ("object", ""));
    }
}
