//! Object storage as it goes wrong: each a clear error, the run's result kept.

use crate::common::free_port;
use crate::common::objects::{Objects, objects, s3, s3_as, swift};
use std::time::{Duration, Instant};
use test_servers::{
    Authority, Fault, Listening, Moto, Proxy, S3Options, S3Server, SwiftServer, each, every_second,
};

const TOKEN: &str = "AUTH_tk0123456789";
const READ: &str = "rw=read size=256k bs=64k";

/// A server with the objects that [`READ`] reads of "/bucket/object".
fn filled() -> S3Server {
    let server = S3Server::start(&["bucket"]);
    fill(&server);
    server
}

fn fill(server: &S3Server) {
    for block in 0..4_u8 {
        let key = format!("object_{}_65536", u32::from(block) << 16);
        server.memory.put("bucket", &key, vec![block; 65536]);
    }
}

/// A run that fails, says these words, and has lost nothing of what it did.
#[track_caller]
fn fails(job: &str, words: &[&str]) -> Objects {
    let failed = objects(1, job);
    let said = failed.said();
    for word in words {
        assert!(said.contains(word), "'{word}' of {job}: {said}");
    }
    let [ios, errors] = failed.ios_and_errors();
    let (sent, good) = failed
        .exchanges()
        .flat_map(|exchange| &exchange.requests)
        .fold((0, 0), |(sent, good), one| (sent + one.sent, good + one.good));
    assert!(errors > 0, "{job}: {said}");
    assert_eq!(good, ios, "{job}: {said}");
    assert_eq!(sent, ios + errors, "{job}: {said}");
    let first = failed.exchanges().find_map(|exchange| exchange.failures.first());
    assert!(first.is_some_and(|first| !first.is_empty()), "{job}");
    failed
}

#[test]
fn a_get_of_what_is_not_there_is_an_error_everywhere() {
    let server = S3Server::start(&["bucket"]);
    let other = Moto::start(&["bucket"]);
    let web = test_servers::webdav(None);
    let boxes = SwiftServer::start(Listening::default(), TOKEN, &["box"]);
    let boxed = format!("{}/box/missing", SwiftServer::ACCOUNT);
    let stores = [
        (s3(&server.host()), "/bucket/missing"),
        (s3_as(&other.host(), &other.key_id, &other.key), "/bucket/missing"),
        (format!("http_host={}", web.host()), "/open/missing"),
        (swift(&boxes.host(), TOKEN), boxed.as_str()),
    ];
    for (store, name) in &stores {
        for mode in ["block", "range"] {
            let job = format!("{store} {READ} http_object_mode={mode} filename={name}");
            let failed = fails(&job, &["404"]);
            assert_eq!(failed.failures("404"), 1, "{job}");
            assert_eq!(failed.ios_and_errors(), [0, 1], "{job}");
            assert_eq!(failed.job().errors[0].errno, 2, "ENOENT: {job}");
            let all = fails(&format!("{job} continue_on_error=all"), &["404"]);
            assert_eq!(all.ios_and_errors(), [0, 4], "{job}");
        }
    }
    let missing = format!("{} {READ} filename=/bucket/missing", stores[0].0);
    assert!(objects(1, &missing).said().contains("NoSuchKey"));
}

#[test]
fn a_delete_of_what_is_not_there_is_an_error_where_the_server_says_so() {
    let web = test_servers::webdav(None);
    let boxes = SwiftServer::start(Listening::default(), TOKEN, &["box"]);
    let boxed = format!("{}/box/missing", SwiftServer::ACCOUNT);
    let trim = "rw=trim size=64k bs=64k";
    let webdav = format!("http_host={} {trim} filename=/open/missing", web.host());
    let swift = format!("{} {trim} filename={boxed}", swift(&boxes.host(), TOKEN));
    for job in [webdav, swift] {
        assert_eq!(fails(&job, &["404"]).failures("404"), 1, "{job}");
    }
    // Amazon's S3 says nothing.
    let server = S3Server::start(&["bucket"]);
    objects(0, &format!("{} {trim} filename=/bucket/missing", s3(&server.host())));
    assert_eq!(server.count("DELETE", 204), 1);
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let server = filled();
    let host = server.host();
    let name = format!("{READ} filename=/bucket/object");
    let asked = |store: &str, words: &[&str]| {
        let failed = fails(&format!("{store} {name}"), words);
        assert_eq!(failed.ios_and_errors(), [0, 1], "{store}");
        failed
    };
    let wrong = asked(&s3_as(&host, "minioadmin", "wrong"), &["403", "SignatureDoesNotMatch"]);
    assert_eq!(wrong.job().errors[0].errno, 13, "EACCES");
    asked(&s3_as(&host, "nobody", "minioadmin"), &["403", "InvalidAccessKeyId"]);
    asked(&format!("http_mode=s3 http_host={host}"), &["403", "AccessDenied"]);
    let elsewhere = format!("{} http_s3_region=eu-central-1", s3(&host));
    asked(&elsewhere, &["400", "AuthorizationHeaderMalformed", "us-east-1"]);
    let other = Moto::start(&["bucket"]);
    asked(&s3_as(&other.host(), &other.key_id, "wrong"), &["403", "SignatureDoesNotMatch"]);
    let nowhere = format!("{} {READ} rw=write filename=/no-such-bucket/object", s3(&host));
    fails(&nowhere, &["404", "NoSuchBucket"]);
    let boxes = SwiftServer::start(Listening::default(), TOKEN, &["box"]);
    let boxed = format!("{READ} filename={}/box/object", SwiftServer::ACCOUNT);
    fails(&format!("{} {boxed}", swift(&boxes.host(), "old")), &["401"]);
    let web = test_servers::webdav(None);
    let closed = format!("http_host={} {READ} filename=/closed/object", web.host());
    fails(&closed, &["401"]);
    fails(&format!("{closed} http_user=user http_pass=wrong"), &["401"]);
}

#[test]
fn a_wrong_clock_is_told_with_how_far_it_is_off() {
    for (ahead, words) in [(3600, "behind"), (-3600, "ahead")] {
        let options = S3Options { clock_ahead: ahead, ..S3Options::default() };
        let server = S3Server::with(options, &["bucket"]);
        fill(&server);
        let job = format!("{} {READ} filename=/bucket/object", s3(&server.host()));
        fails(&job, &["RequestTimeTooSkewed", "clock", words]);
    }
}

#[test]
fn who_cannot_be_reached_is_told() {
    let name = format!("{READ} filename=/bucket/object");
    let closed = format!("127.0.0.1:{}", free_port());
    let down = fails(&format!("{} {name}", s3(&closed)), &["refused"]);
    assert_eq!(down.failures("connect"), 1);
    assert_eq!(down.job().errors[0].errno, 111, "ECONNREFUSED");
    let unknown = objects(1, &format!("{} {name}", s3("no-such-host.invalid:9000")));
    assert!(unknown.said().contains("no-such-host.invalid"), "{}", unknown.said());
}

#[test]
fn who_is_not_trusted_is_named() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let store = |identity: test_servers::Identity| {
        let listening = Listening { tls: Some(identity.config()), at: None };
        let server = S3Server::with(S3Options { listening, ..S3Options::default() }, &["bucket"]);
        fill(&server);
        server
    };
    let file = ours.file();
    let job = |server: &S3Server, more: &str| {
        format!("{} https=on {more} {READ} filename=/bucket/object", s3(&server.host()))
    };
    let trusting = format!("http_ca_file={}", file.display());
    let stranger = store(theirs.identity(&["127.0.0.1"]));
    let failed = fails(&job(&stranger, &trusting), &["certificate", "not trusted", "127.0.0.1"]);
    assert_eq!(failed.failures("tls"), 1);
    fails(&job(&stranger, ""), &["certificate", "not trusted"]);
    let named = store(ours.identity(&["store.example"]));
    fails(&job(&named, &trusting), &["certificate", "store.example"]);
    let old = store(ours.expired(&["127.0.0.1"]));
    fails(&job(&old, &trusting), &["certificate", "expired"]);
    // Without TLS at one of the ends.
    let plain = filled();
    fails(&job(&plain, &trusting), &[]);
    let spoken = format!("{} {READ} filename=/bucket/object", s3(&stranger.host()));
    fails(&spoken, &[]);
}

#[test]
fn certificates_to_trust_have_to_be_there() {
    let words = "https=on http_mode=s3 http_host=127.0.0.1:1 rw=read size=64k bs=64k filename=/b/o";
    let directory = crate::common::scratch();
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "nothing\n").unwrap();
    for file in [&empty, &directory.path().join("missing.pem")] {
        let job = format!("--http_ca_file={}", file.display());
        let words: Vec<String> = words.split(' ').map(|word| format!("--{word}")).collect();
        let mut arguments = vec!["--name=job", "--ioengine=http", &job];
        arguments.extend(words.iter().map(String::as_str));
        let ran = crate::common::fathom(directory.path(), &arguments);
        assert!(ran.code == 1 || ran.code == 2, "{ran:?}");
        assert!(crate::common::joined(&ran.err).contains(".pem"), "{}", ran.err);
    }
}

/// Four reads through a proxy that spoils each answer.
#[track_caller]
fn spoilt(fault: Fault, more: &str, kind: &str, words: &[&str]) {
    let server = filled();
    let proxy = Proxy::start(server.address(), None, each("GET", fault.clone()));
    let job = format!("{} {READ} continue_on_error=all filename=/bucket/object", s3(&proxy.host()));
    let failed = fails(&format!("{job} {more}"), words);
    assert_eq!(failed.ios_and_errors(), [0, 4], "{fault:?}: {}", failed.said());
    assert_eq!(failed.failures(kind), 4, "{fault:?}: {:?}", failed.job().exchange);
}

#[test]
fn a_proxy_that_truncates_is_found() {
    spoilt(Fault::Truncate(1), "", "short body", &["65535", "65536"]);
    spoilt(Fault::Truncate(65536), "", "short body", &["65536"]);
    spoilt(Fault::Truncate(1), "verify=crc32c", "short body", &["65535"]);
    spoilt(Fault::ResetWithin(30_000), "", "reset", &[]);
}

#[test]
fn lengths_that_are_lies_are_found() {
    // It is not known who lies, its length or its end.
    spoilt(Fault::Longer(10), "", "short body", &["65546", "65536"]);
    spoilt(Fault::Shorter(10), "", "wrong length", &["65526", "65536"]);
    spoilt(Fault::Shorter(65536), "", "wrong length", &["65536"]);
}

#[test]
fn slow_down_is_told_as_what_it_is() {
    spoilt(Fault::SlowDown, "", "503", &["503", "SlowDown"]);
}

#[test]
fn what_is_no_answer_is_told() {
    let spoil = |bytes: &[u8]| spoilt(Fault::Instead(bytes.to_vec()), "", "not http", &[]);
    spoil(b"SSH-2.0-OpenSSH_9.2p1\r\n\r\n");
    spoil(&[0xff; 300]);
    spoil(b"HTTP/1.1 2x0 OK\r\n\r\n");
    spoil(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n");
    spoil(&[&b"HTTP/1.1 200 OK\r\nX: "[..], &vec![b'x'; 100_000], b"\r\n\r\n"].concat());
    spoil(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n");
}

#[test]
fn a_server_that_stalls_is_given_up() {
    for fault in [Fault::Stall, Fault::StallAfter(1000)] {
        let begun = Instant::now();
        spoilt(fault, "http_timeout=1", "timeout", &["timeout"]);
        let took = begun.elapsed();
        assert!(took >= Duration::from_secs(4), "a second for each: {took:?}");
    }
}

#[test]
fn an_answer_that_is_waited_for_beyond_the_time_is_told_of() {
    let server = filled();
    let late = each("GET", Fault::Delay(Duration::from_millis(2500)));
    let proxy = Proxy::start(server.address(), None, late);
    let job = "rw=read size=256k bs=64k runtime=1 filename=/bucket/object";
    let ran = objects(0, &format!("{} {job}", s3(&proxy.host())));
    assert_eq!(ran.ios_and_errors(), [1, 0]);
    assert!(ran.said().contains("the last answer came, or was given up, 1."), "{}", ran.said());
}

#[test]
fn connections_that_repeats_needed_are_among_the_times() {
    let server = filled();
    let proxy = Proxy::start(server.address(), None, every_second(Fault::Reset));
    let job = format!("{} {READ} filename=/bucket/object", s3(&proxy.host()));
    let ran = objects(0, &format!("{job} http_retries=2"));
    let exchange = ran.exchanges().next().unwrap();
    assert_eq!(exchange.connections, proxy.connections());
    assert_eq!(exchange.connect.count(), exchange.connections);
    let get = exchange.of_kind("GET").unwrap();
    // One on a connection that had served another may count as one that was closed while idle.
    assert_eq!(get.repeated_failures.values().sum::<u64>(), get.retries);
    assert!(get.retries > 0 && get.retries + get.resent >= 4, "{get:?}");
}

#[test]
fn repeats_help_where_they_can_and_are_counted() {
    let server = filled();
    let proxy = Proxy::start(server.address(), None, every_second(Fault::SlowDown));
    let job = format!("{} {READ} filename=/bucket/object", s3(&proxy.host()));
    let ran = objects(0, &format!("{job} http_retries=2"));
    assert_eq!(ran.requests("GET"), [8, 4, 4]);
    assert_eq!(ran.ios_and_errors(), [4, 0]);
    assert_eq!((proxy.count(503), proxy.count(200)), (4, 4));
    let get = ran.exchanges().next().and_then(|exchange| exchange.of_kind("GET")).unwrap();
    assert_eq!((get.failed(), get.unfinished), (0, 0));
    assert_eq!((&get.statuses, &get.failures), (&[(200, 4)].into(), &[].into()));
    assert_eq!((&get.repeated_statuses, &get.repeated_failures), (&[(503, 4)].into(), &[].into()));
    // A server that says so to each request is no clean one, whatever repeats make of it.
    for part in [
        "sent=8, good=4, retries=4 (200 x 4; repeated after 503 x 4)",
        "the server answered 503 SlowDown: Please reduce your request rate.; the request was repeated",
        "warning [server-throttles] job: the server rejected 4 of 8 requests (50 %)",
        "each was retried, so the latency includes it",
    ] {
        assert!(ran.said().contains(part), "{part}: {}", ran.said());
    }
    // What cannot pass is not repeated.
    let missing = format!("{} {READ} filename=/bucket/missing", s3(&server.host()));
    let failed = fails(&format!("{missing} http_retries=5"), &["404"]);
    assert_eq!(failed.requests("GET"), [1, 0, 0]);
}
