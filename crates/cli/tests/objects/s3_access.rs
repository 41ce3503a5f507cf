//! Access of `fathom s3` to a store: TLS, buckets in host names, tokens, profiles, customer keys.

use crate::common::s3::{
    SECRET, below, done, encrypted, options, recorded, requests, s3, s3_at, s3_bare, server,
    vouched_for,
};
use crate::common::{joined, run, scratch};
use std::path::Path;
use std::process::Command;
use test_servers::{Authority, S3Options, S3Server};

const SHORT: &str = "--size=4k --duration=1 --concurrent=4 --record=r.json";

/// The command is refused before anything is put, with these words.
#[track_caller]
fn refused(command: &mut Command, words: &[&str]) {
    let ran = run(command).expect(3);
    let said = joined(&ran.err);
    words.iter().for_each(|word| assert!(said.contains(word), "{word}: {said}"));
}

/// Encryption and content protection in the record of a run that put objects.
#[track_caller]
fn how(at: &Path) -> (String, String) {
    let record = recorded(at);
    let (sent, good) = requests(&record, "PUT");
    assert!(sent > 3 && sent == good, "{sent} {good}");
    let exchange = record.jobs[0].exchange.clone().unwrap();
    assert!(exchange.tls == "off" || exchange.handshake.count() > 0);
    (exchange.tls, exchange.content)
}

#[test]
fn a_server_is_trusted_by_its_authority() {
    let ((_authority, ca, server), directory) = (vouched_for(), scratch());
    let at = directory.path();
    let put = |endpoint: String, more: &str| {
        let ran = run(&mut s3_at(&endpoint, at, &format!("put {SHORT} {more}"))).expect(0);
        (ran.out, how(at))
    };
    let (host, port) = (server.host(), server.address().port());
    let verified = ("verified".to_owned(), "unsigned".to_owned());
    let (out, is) = put(host.clone(), &ca);
    assert_eq!(is, verified);
    assert!(joined(&out).contains(": TLS, content not signed (UNSIGNED-PAYLOAD)"), "{out}");
    assert_eq!(put(format!("https://localhost:{port}"), &ca).1, verified);
    let (out, is) = put(format!("https://{host}"), "--insecure");
    assert_eq!(is, ("insecure".to_owned(), "unsigned".to_owned()));
    assert!(joined(&out).contains("TLS with a server that was not verified"), "{out}");
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn a_server_that_is_not_trusted_is_named_with_what_to_do() {
    let (authority, directory) = (Authority::new(), scratch());
    let at = directory.path();
    let put = |server: &S3Server, more: &str| {
        s3_at(&format!("https://{}", server.host()), at, &format!("put {SHORT} {more}"))
    };
    let good = encrypted(&authority.identity(&["127.0.0.1"]));
    let words = ["the certificate of 127.0.0.1", Authority::NAME, "--ca-file", "--insecure"];
    refused(&mut put(&good, ""), &words);
    let ca = format!("--ca-file={}", authority.file().display());
    let old = encrypted(&authority.expired(&["127.0.0.1"]));
    refused(
        &mut put(&old, &ca),
        &["the certificate of 127.0.0.1", "it has expired, on 2020-01-01"],
    );
    let other = encrypted(&authority.identity(&["other.example"]));
    refused(&mut put(&other, &ca), &["the certificate of 127.0.0.1", "'other.example'"]);
    refused(&mut put(&good, "--ca-file=/no/such/file"), &["/no/such/file"]);
    std::fs::write(at.join("empty.pem"), "no certificate").unwrap();
    refused(&mut put(&good, "--ca-file=empty.pem"), &["empty.pem", "holds no certificate"]);
    let plain = server();
    refused(&mut put(&plain, &ca), &["is it plain HTTP?"]);
    refused(&mut s3(&good, at, &format!("put {SHORT}")), &["TLS or not"]);
    for server in [&good, &old, &other, &plain] {
        assert_eq!(server.memory.keys("bucket"), []);
    }
}

#[test]
fn a_key_of_the_customers_own_goes_along_over_tls() {
    const KEY: &str = "0123456789abcdefghijklmnopqrstuv";
    let ((_authority, ca, server), directory) = (vouched_for(), scratch());
    let at = directory.path();
    let set = format!("{SHORT} {ca} --prefix=mine --objects=8");
    let own = format!("--sse-c-key={KEY}");
    let ran = done(&server, at, &format!("get {set} {own} --no-cleanup"));
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    let (sent, good) = requests(&recorded(at), "GET");
    assert!(sent > 8 && sent == good, "{sent} {good}");
    let with_key = |method: &str| {
        let all = server.asked();
        let mut of =
            all.iter().filter(|asked| asked.method == method && !asked.target.contains('?'));
        let name = "x-amz-server-side-encryption-customer-key-md5";
        of.all(|asked| asked.header(name).is_some())
    };
    assert!(with_key("PUT") && with_key("GET"));
    let text = std::fs::read_to_string(at.join("r.json")).unwrap();
    assert!(!format!("{text}{}{}", ran.out, ran.err).contains(KEY), "the key is shown");
    for wrong in ["", "--sse-c-key=another-key-of-32-characters----"] {
        let ran = run(&mut s3(&server, at, &format!("get {set} --no-prepare {wrong}"))).expect(1);
        assert!(ran.out.contains("400 x"), "{}", ran.out);
    }
    done(&server, at, &format!("stat {set} {own} --no-prepare"));
    let parts = "multipart --size=6m --part-size=5m --duration=1 --concurrent=1 --record=r.json";
    done(&server, at, &format!("{parts} {ca} {own}"));
    let short = run(&mut s3(&server, at, &format!("put {SHORT} {ca} --sse-c-key=short"))).expect(2);
    assert!(joined(&short.err).contains("--sse-c-key: the key has 5 bytes"), "{}", short.err);
    let open = crate::common::s3::server();
    let ran = done(&open, at, &format!("put {SHORT} {own}"));
    assert!(joined(&ran.err).contains("over TLS only"), "{}", ran.err);
}

#[test]
fn buckets_are_in_the_path_or_in_the_host() {
    let options = S3Options { domain: Some("localhost".into()), ..options() };
    let (server, directory) = (S3Server::with(options, &["bucket"]), scratch());
    let at = directory.path();
    let endpoint = format!("localhost:{}", server.address().port());
    let words = format!("get {SHORT} --objects=4 --virtual-host");
    run(&mut s3_at(&endpoint, at, &words)).expect(0);
    let (sent, good) = requests(&recorded(at), "GET");
    assert!(sent > 4 && sent == good, "{sent} {good}");
    let host = format!("bucket.{endpoint}");
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.header("host") == Some(host.as_str())), "{asked:?}");
    assert!(asked.iter().all(|asked| !asked.target.contains("bucket")), "{asked:?}");
    let ran = done(&crate::common::s3::server(), at, &format!("put {SHORT} --virtual-host"));
    assert!(joined(&ran.err).contains("in front of the address 127.0.0.1"), "{}", ran.err);
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn buckets_in_hosts_go_with_tls() {
    let authority = Authority::new();
    let identity = authority.identity(&["localhost", "bucket.localhost"]);
    let tls = test_servers::Listening { tls: Some(identity.config()), at: None };
    let options = S3Options { domain: Some("localhost".into()), listening: tls, ..options() };
    let (server, directory) = (S3Server::with(options, &["bucket"]), scratch());
    let endpoint = format!("https://localhost:{}", server.address().port());
    let ca = authority.file();
    let words = format!("put {SHORT} --virtual-host --ca-file={}", ca.display());
    run(&mut s3_at(&endpoint, directory.path(), &words)).expect(0);
    assert_eq!(how(directory.path()).0, "verified");
}

#[test]
fn temporary_keys_bring_their_token() {
    const TOKEN: &str = "FwoGZXIvYXdzEJr//////////wEa+token/with=signs==";
    let options = S3Options { token: Some(TOKEN.into()), ..options() };
    let (server, directory) = (S3Server::with(options, &["bucket"]), scratch());
    let at = directory.path();
    let put = format!("put {SHORT}");
    run(s3(&server, at, &put).env("AWS_SESSION_TOKEN", TOKEN)).expect(0);
    let given =
        format!("{put} --access-key=minioadmin --secret-key={SECRET} --session-token={TOKEN}");
    let ran = run(&mut s3(&server, at, &given)).expect(0);
    let text = std::fs::read_to_string(at.join("r.json")).unwrap();
    assert!(!format!("{text}{}{}", ran.out, ran.err).contains(TOKEN), "the token is shown");
    refused(&mut s3(&server, at, &put), &["InvalidToken"]);
    refused(s3(&server, at, &put).env("AWS_SESSION_TOKEN", "old"), &["InvalidToken"]);
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn profiles_say_where_the_store_is_and_who_asks() {
    let region = S3Options { region: "eu-north-1".into(), ..options() };
    let (server, directory) = (S3Server::with(region, &["bucket"]), scratch());
    let at = directory.path();
    let keys = format!("aws_access_key_id = minioadmin\naws_secret_access_key = {SECRET}\n");
    let wrong = "aws_access_key_id = minioadmin\naws_secret_access_key = wrong\n";
    std::fs::write(at.join("credentials"), format!("[default]\n{wrong}[lab]\n{keys}")).unwrap();
    let place = format!("region = eu-north-1\nendpoint_url = http://{}\n", server.host());
    let config = format!("[default]\n{place}[profile lab]\n{place}");
    std::fs::write(at.join("config"), config).unwrap();
    let put = |more: &str| {
        let mut command = s3_bare(at, &format!("put --bucket=bucket {SHORT} {more}"));
        command.env("AWS_SHARED_CREDENTIALS_FILE", at.join("credentials"));
        command.env("AWS_CONFIG_FILE", at.join("config"));
        command
    };
    run(&mut put("--profile=lab")).expect(0);
    run(put("").env("AWS_PROFILE", "lab")).expect(0);
    refused(&mut put(""), &["SignatureDoesNotMatch"]);
    let unknown = run(&mut put("--profile=lob")).expect(2);
    assert!(joined(&unknown.err).contains("lob"), "{}", unknown.err);
    refused(put("--profile=lab --region=us-east-1").env("AWS_PROFILE", "x"), &["eu-north-1"]);
    // Keys in variables take precedence over those of the default profile.
    let variables = [("AWS_ACCESS_KEY_ID", "minioadmin"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    run(put("").envs(variables)).expect(0);
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn sizes_come_in_the_shares_that_were_asked_for() {
    let (server, directory) = (server(), scratch());
    let words = "put --size=1k:50,4k:30,64k:20 --prefix=mine --duration=3 --concurrent=8 \
                 --no-cleanup --record=r.json";
    let ran = done(&server, directory.path(), words);
    let kept = below(&server, "mine/");
    let share = |size: usize| {
        kept.iter().filter(|(_, kept)| *kept == size).count() as f64 / kept.len() as f64
    };
    assert!(kept.len() > 300, "{}", kept.len());
    for (size, expected) in [(1 << 10, 0.5), (4 << 10, 0.3), (64 << 10, 0.2)] {
        assert!((share(size) - expected).abs() < 0.1, "{size}: {}", share(size));
    }
    let all: usize = kept.iter().map(|(_, size)| size).sum();
    let record = recorded(directory.path());
    let put = record.jobs[0].exchange.as_ref().unwrap().of_kind("PUT").unwrap().clone();
    assert_eq!(put.bytes.0, all as u64, "{}", ran.out);
}
