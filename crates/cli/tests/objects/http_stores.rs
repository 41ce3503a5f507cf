//! Object storage as it is meant to work, against servers of several makes: what is put there is
//! there, and comes back as it was.

use crate::common::objects::{Objects, objects, objects_exactly, s3, s3_as, swift, with_host};
use crate::common::{Seeded, as_fio, scratch};
use std::path::Path;
use test_servers::{
    Asked, Authority, Fault, Listening, Moto, Proxy, S3Options, S3Server, SwiftServer,
};

const TOKEN: &str = "AUTH_tk0123456789";

/// Writes 16 objects and reads them back, held against their checksums.
#[track_caller]
fn comes_back(store: &str, name: &str) -> Objects {
    let job = format!("{store} size=1m bs=64k iodepth=4 verify=crc32c filename={name}");
    let written = objects(0, &format!("{job} rw=write do_verify=1"));
    let results = &written.job().results;
    assert_eq!((results.write.ios, results.write.bytes.0), (16, 1 << 20), "{job}");
    assert_eq!(written.requests("PUT"), [16, 16, 0], "{job}");
    let read = objects(0, &format!("{job} rw=randread"));
    assert_eq!(read.job().results.read.ios, 16, "{job}");
    assert_eq!(read.requests("GET"), [16, 16, 0], "{job}");
    read
}

/// No more connections than requests in flight.
#[track_caller]
fn stays_connected(read: &Objects) {
    let made = read.job().exchange.as_ref().unwrap().connections;
    assert!((1..=4).contains(&made), "{made}");
}

#[test]
fn the_job_that_minio_is_measured_with_runs_as_written() {
    let directory = scratch();
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds/s3.fio");
    let server = S3Server::start(&["bucket1"]);
    let text = with_host(&seed, &server.host());
    // Two gigabytes that nobody needs to see moved.
    let text = text.replace("size=64M", "size=10M").replace("numjobs=32", "numjobs=4");
    std::fs::write(directory.path().join("s3.fio"), text).unwrap();
    let ran = as_fio(directory.path(), &["s3.fio", "--output-format=json"]).expect(0);
    let job = &ran.json()["jobs"][0];
    assert_eq!(job["write"]["total_ios"], 8, "two blocks of each of four jobs");
    assert_eq!(job["write"]["io_bytes"], 8 * (5 << 20));
    assert_eq!(server.count("PUT", 200), 8);
    let kept = server.memory.keys("bucket1");
    let block = 5 << 20;
    let expected = [0, block].map(|at| (format!("testobj_{at}_{block}"), block));
    assert_eq!(kept, expected);
}

#[test]
fn what_is_put_comes_back_from_s3() {
    let server = S3Server::start(&["bucket"]);
    stays_connected(&comes_back(&s3(&server.host()), "/bucket/object"));
    let unsigned = format!("{} http_s3_payload=unsigned", s3(&server.host()));
    comes_back(&unsigned, "/bucket/unsigned");
    let hash = |asked: &Asked| asked.header("x-amz-content-sha256").map(str::to_owned);
    let puts: Vec<_> = server.asked().into_iter().filter(|asked| asked.method == "PUT").collect();
    let bare = puts.iter().filter(|put| hash(put).as_deref() == Some("UNSIGNED-PAYLOAD")).count();
    assert_eq!((puts.len(), bare), (32, 16));
    let anybody = S3Server::with(S3Options { key: None, ..S3Options::default() }, &["bucket"]);
    let anonymous = format!("http_mode=s3 http_host={}", anybody.host());
    comes_back(&anonymous, "/bucket/object");
}

#[test]
fn what_is_put_comes_back_from_an_s3_of_another_make() {
    let server = Moto::start(&["bucket"]);
    comes_back(&s3_as(&server.host(), &server.key_id, &server.key), "/bucket/object");
}

#[test]
fn what_is_put_comes_back_over_tls() {
    let authority = Authority::new();
    let identity = authority.identity(&["127.0.0.1", "localhost"]);
    let listening = Listening { tls: Some(identity.config()), at: None };
    let server = S3Server::with(S3Options { listening, ..S3Options::default() }, &["bucket"]);
    let (host, port) = (server.host(), server.address().port());
    let file = authority.file();
    let trusting = format!("https=on http_ca_file={}", file.display());
    comes_back(&format!("{} {trusting}", s3(&host)), "/bucket/object");
    comes_back(&format!("{} {trusting}", s3(&format!("localhost:{port}"))), "/bucket/by-name");
    comes_back(&format!("{} https=insecure", s3(&host)), "/bucket/insecure");
    let hashes = server.asked().into_iter().filter(|asked| asked.method == "PUT");
    let mut hashes = hashes.map(|put| put.header("x-amz-content-sha256").unwrap().to_owned());
    assert!(hashes.all(|hash| hash == "UNSIGNED-PAYLOAD"), "TLS guards the content already");
    let web = test_servers::webdav(Some(&identity));
    comes_back(&format!("http_host={} {trusting}", web.host()), "/open/object");
    let token = Listening { tls: Some(identity.config()), at: None };
    let boxes = SwiftServer::start(token, TOKEN, &["box"]);
    let name = format!("{}/box/object", SwiftServer::ACCOUNT);
    comes_back(&format!("{} {trusting}", swift(&boxes.host(), TOKEN)), &name);
}

#[test]
fn the_record_tells_connections_and_keys_apart() {
    let authority = Authority::new();
    let listening = Listening { tls: Some(authority.identity(&["127.0.0.1"]).config()), at: None };
    let server = S3Server::with(S3Options { listening, ..S3Options::default() }, &["bucket"]);
    let words = format!(
        "{} https=on http_ca_file={} rw=write bs=64k size=2m iodepth=4 filename=/bucket/object",
        s3(&server.host()),
        authority.file().display()
    );
    let written = objects(0, &words);
    let exchange = written.job().exchange.as_ref().unwrap();
    assert_eq!((exchange.protocol.as_str(), exchange.tls.as_str()), ("s3", "verified"));
    assert_eq!(exchange.content, "unsigned");
    assert_eq!(exchange.endpoints, [server.host()]);
    assert!((1..=4).contains(&exchange.connections), "{}", exchange.connections);
    let puts = exchange.of_kind("PUT").unwrap();
    assert_eq!((puts.bytes.0, puts.statuses[&200]), (2 << 20, 32));
    assert_eq!(puts.whole.count(), 32);
    assert_eq!(puts.first_byte.count(), 32);
    assert!(puts.first_byte.max() <= puts.whole.max());
    let moved: f64 = puts.seconds.iter().map(|second| second.bytes).sum();
    assert!((moved - f64::from(2 << 20)).abs() < 1.0, "{moved}");
}

#[test]
fn what_is_put_comes_back_from_webdav_and_swift() {
    let server = test_servers::webdav(None);
    stays_connected(&comes_back(&format!("http_host={}", server.host()), "/open/deep/er/object"));
    let closed = format!("http_host={} http_user=user http_pass=password", server.host());
    comes_back(&closed, "/closed/object");
    let server = SwiftServer::start(Listening::default(), TOKEN, &["box"]);
    let name = format!("{}/box/object", SwiftServer::ACCOUNT);
    stays_connected(&comes_back(&swift(&server.host(), TOKEN), &name));
    assert_eq!(server.object("box", "object_65536_65536").unwrap().len(), 65536);
}

#[test]
fn what_was_changed_meanwhile_is_found() {
    let server = S3Server::start(&["bucket"]);
    let store = s3(&server.host());
    let job = format!("{store} size=256k bs=64k verify=crc32c filename=/bucket/object");
    objects(0, &format!("{job} rw=write do_verify=0"));
    server.memory.change("bucket", "object_131072_65536", |content| content[4000] ^= 1);
    let read = objects(1, &format!("{job} rw=read"));
    assert!(read.said().contains("131072"), "{}", read.said());
}

#[test]
fn ranges_of_an_object_are_read_and_whole_objects_written() {
    let content = Seeded::new(1).bytes(1 << 20);
    let s3_server = S3Server::start(&["bucket"]);
    s3_server.memory.put("bucket", "whole", content.clone());
    let web = test_servers::webdav(None);
    std::fs::write(web.directory().join("files/open/whole"), &content).unwrap();
    let boxes = SwiftServer::start(Listening::default(), TOKEN, &["box"]);
    let boxed = format!("{}/box/whole", SwiftServer::ACCOUNT);
    let stores = [
        (s3(&s3_server.host()), "/bucket/whole"),
        (format!("http_host={}", web.host()), "/open/whole"),
        (swift(&boxes.host(), TOKEN), boxed.as_str()),
    ];
    for (store, name) in stores {
        let job = format!("{store} http_object_mode=range size=1m filename={name}");
        let put = objects(0, &format!("{job} rw=write bs=1m"));
        assert_eq!(put.requests("PUT"), [1, 1, 0], "{job}");
        let read = objects(0, &format!("{job} rw=randread bs=64k iodepth=4"));
        assert_eq!(read.job().results.read.bytes.0, 1 << 20, "{job}");
        assert_eq!(read.requests("GET"), [16, 16, 0], "{job}");
        assert_eq!(read.exchanges().next().unwrap().of_kind("GET").unwrap().statuses[&206], 16);
        let beyond = objects(1, &format!("{job} rw=read bs=64k offset=1m"));
        assert_eq!(beyond.failures("416"), 1, "{job}");
    }
    assert_ne!(s3_server.memory.object("bucket", "whole").unwrap(), content);
    let ranges = s3_server.asked().into_iter().filter_map(|asked| {
        asked.header("range").filter(|_| asked.status == 206).map(str::to_owned)
    });
    let mut ranges: Vec<String> = ranges.collect();
    ranges.sort_by_key(|range| range[6..].split('-').next().unwrap().parse::<u64>().unwrap());
    let expected = (0..16).map(|at| format!("bytes={}-{}", at << 16, (at << 16) + 65535));
    assert_eq!(ranges, expected.collect::<Vec<_>>());
}

#[test]
fn trims_remove_objects() {
    let server = S3Server::start(&["bucket"]);
    let job = format!("{} size=256k bs=64k filename=/bucket/object", s3(&server.host()));
    objects(0, &format!("{job} rw=write"));
    assert_eq!(server.memory.keys("bucket").len(), 4);
    let trimmed = objects(0, &format!("{job} rw=trim"));
    assert_eq!(trimmed.requests("DELETE"), [4, 4, 0]);
    assert_eq!(trimmed.job().results.trim.ios, 4);
    assert!(server.memory.keys("bucket").is_empty());
}

/// Keys that are spelled differently in paths, signatures and headers.
const KEYS: [&str; 7] = [
    "with some blanks",
    "a+b=c&d;e",
    "größe/文件/🦀",
    "per%20cent%",
    "what?is#this",
    "twice//and/at the end//x",
    "quotes'\"(and)!*~-_.,$@",
];

#[test]
fn every_key_is_signed_right() {
    let server = S3Server::start(&["bucket"]);
    let other = Moto::start(&["bucket"]);
    let stores = [s3(&server.host()), s3_as(&other.host(), &other.key_id, &other.key)];
    for store in stores {
        for key in KEYS {
            let name = format!("--filename=/bucket/{key}");
            let job = format!("{store} size=8k bs=4k verify=crc32c rw=write do_verify=1");
            let ran = objects_exactly(0, &job, &[&name]);
            assert_eq!(ran.requests("PUT"), [2, 2, 0], "{key}");
            assert_eq!(ran.requests("GET")[1], 2, "{key}");
        }
    }
    let mut expected: Vec<String> = KEYS.iter().map(|key| format!("{key}_0_4096")).collect();
    expected.sort();
    let kept: Vec<String> = server.memory.keys("bucket").into_iter().map(|(key, _)| key).collect();
    let first: Vec<String> = kept.into_iter().filter(|key| key.ends_with("_0_4096")).collect();
    assert_eq!(first, expected);
}

#[test]
fn a_key_may_begin_with_a_slash() {
    let server = S3Server::start(&["bucket"]);
    let store = s3(&server.host());
    objects(0, &format!("{store} size=4k bs=4k rw=write filename=/bucket//object"));
    assert_eq!(server.memory.keys("bucket"), [("/object_0_4096".to_owned(), 4096)]);
}

#[test]
fn several_hosts_take_turns() {
    let first = S3Server::start(&["bucket"]);
    let second = S3Server::over(S3Options::default(), first.memory.clone());
    let hosts = format!("{},{}", first.host(), second.host());
    let job = format!("{} rw=write size=4m bs=64k iodepth=8 filename=/bucket/o", s3(&hosts));
    let ran = objects(0, &job);
    let counts = [&first, &second].map(|server| server.count("PUT", 200));
    assert_eq!(counts.iter().sum::<u64>(), 64);
    assert!(counts.iter().all(|count| *count > 8), "{counts:?}");
    assert_eq!(ran.exchanges().next().unwrap().endpoints, [first.host(), second.host()]);
}

#[test]
fn buckets_may_be_host_names() {
    let options = S3Options { domain: Some("localhost".into()), ..S3Options::default() };
    let server = S3Server::with(options, &["bucket"]);
    let store = s3(&format!("localhost:{}", server.address().port()));
    comes_back(&format!("{store} http_s3_addressing=virtual"), "/bucket/object");
    let asked = server.asked();
    let host = format!("bucket.localhost:{}", server.address().port());
    assert!(asked.iter().all(|asked| asked.header("host") == Some(&host)), "{:?}", asked[0]);
    assert!(asked.iter().all(|asked| asked.target.starts_with("/object_")), "{:?}", asked[0]);
}

#[test]
fn buckets_that_are_hosts_prove_themselves() {
    let authority = Authority::new();
    // Neither for the server's own name nor for another bucket.
    let identity = authority.identity(&["bucket.localhost"]);
    let listening = Listening { tls: Some(identity.config()), at: None };
    let domain = Some("localhost".into());
    let options = S3Options { listening, domain, ..S3Options::default() };
    let server = S3Server::with(options, &["bucket"]);
    let store = format!(
        "{} https=on http_ca_file={}",
        s3(&format!("localhost:{}", server.address().port())),
        authority.file().display()
    );
    comes_back(&format!("{store} http_s3_addressing=virtual"), "/bucket/object");
    let refused = objects(1, &format!("{store} rw=read bs=4k size=4k filename=/bucket/object"));
    let said = refused.said();
    assert!(said.contains("the certificate of localhost, 'bucket.localhost'"), "{said}");
}

#[test]
fn ipv6_is_spoken() {
    let at = Some("[::1]:0".parse().unwrap());
    let listening = Listening { tls: None, at };
    let server = S3Server::with(S3Options { listening, ..S3Options::default() }, &["bucket"]);
    comes_back(&s3(&server.host()), "/bucket/object");
}

#[test]
fn temporary_keys_bring_their_token() {
    let token = "FwoGZXIvYXdzEJr//////////wEa+token/with=signs==".to_owned();
    let options = S3Options { token: Some(token.clone()), ..S3Options::default() };
    let server = S3Server::with(options, &["bucket"]);
    let store = s3(&server.host());
    comes_back(&format!("{store} http_s3_security_token={token}"), "/bucket/object");
    let without = objects(1, &format!("{store} rw=write size=4k bs=4k filename=/bucket/object"));
    assert!(without.said().contains("InvalidToken"), "{}", without.said());
}

#[test]
fn what_a_customer_encrypts_needs_the_customers_key() {
    let authority = Authority::new();
    let listening = Listening { tls: Some(authority.identity(&["127.0.0.1"]).config()), at: None };
    let server = S3Server::with(S3Options { listening, ..S3Options::default() }, &["bucket"]);
    let ca = authority.file();
    let store = format!("{} https=on http_ca_file={}", s3(&server.host()), ca.display());
    let key = "0123456789abcdefghijklmnopqrstuv";
    comes_back(&format!("{store} http_s3_sse_customer_key={key}"), "/bucket/object");
    let asked = &server.asked()[0];
    let header =
        |name: &str| asked.header(&format!("x-amz-server-side-encryption-customer-{name}"));
    assert_eq!(header("algorithm"), Some("AES256"));
    // base64 of the key and of its MD5, as coreutils and md5sum tell them.
    assert_eq!(header("key"), Some("MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY="));
    assert_eq!(header("key-md5"), Some(KEY_MD5));
    let without = objects(1, &format!("{store} rw=read size=1m bs=64k filename=/bucket/object"));
    assert_eq!(without.failures("400"), 1, "{}", without.said());
}

const KEY_MD5: &str = "qkvGcbTBx6OOKYAPUO9jRg==";

#[test]
fn objects_are_of_the_class_that_was_asked_for() {
    let server = S3Server::start(&["bucket"]);
    let job = format!("{} rw=write size=4k bs=4k filename=/bucket/o", s3(&server.host()));
    let class = || server.memory.storage_class("bucket", "o_0_4096");
    objects(0, &format!("{job} http_s3_storage_class=STANDARD_IA"));
    assert_eq!(class().as_deref(), Some("STANDARD_IA"));
    objects(0, &job);
    assert_eq!(class().as_deref(), Some("STANDARD"), "as with fio");
    objects(0, &format!("{job} http_s3_storage_class=none"));
    assert_eq!(class(), None);
}

#[test]
fn secrets_are_in_nothing_that_is_shown() {
    let options = S3Options {
        key: Some("very-secret-key".into()),
        token: Some("very-secret-token".into()),
        ..S3Options::default()
    };
    let server = S3Server::with(options, &["bucket"]);
    for verbose in 0..=2 {
        let ran = objects(
            0,
            &format!(
                "{} http_s3_security_token=very-secret-token http_verbose={verbose} rw=write \
                 size=8k bs=4k filename=/bucket/object",
                s3_as(&server.host(), "minioadmin", "very-secret-key")
            ),
        );
        let kept = serde_json::to_string(&ran.record).unwrap();
        for text in [&ran.ran.out, &ran.ran.err, &kept] {
            assert!(!text.contains("very-secret"), "{verbose}: {text}");
        }
        assert_eq!(ran.ran.err.contains("PUT"), verbose > 0, "{}", ran.ran.err);
    }
}

#[test]
fn reports_while_it_goes_on_have_the_requests_so_far() {
    let server = S3Server::start(&["bucket"]);
    let job = format!(
        "{} rw=write bs=4k size=64m time_based runtime=2 rate_iops=100 filename=/bucket/object \
         status-interval=300ms output-format=json",
        s3(&server.host())
    );
    let ran = objects(0, &job);
    let documents: Vec<serde_json::Value> =
        ran.ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let good = |document: &serde_json::Value| {
        let job = &document["jobs"][0];
        let ios = job["write"]["total_ios"].as_u64();
        let good = job["fathom"]["exchange"]["requests"][0]["good"].as_u64();
        assert_eq!(good, ios, "{document}");
        good.unwrap_or(0)
    };
    let good: Vec<u64> = documents.iter().map(good).collect();
    assert!(good.len() >= 4 && good.is_sorted() && good[1] > 0, "{good:?}");
    assert!(good[1] < good[good.len() - 1], "{good:?}");
    assert_eq!(good.last(), Some(&ran.requests("PUT")[1]));
}

#[test]
fn requests_are_in_flight_together() {
    let server = S3Server::start(&["bucket"]);
    let delay = Fault::Delay(std::time::Duration::from_millis(200));
    let proxy = Proxy::start(server.address(), None, move |_| delay.clone());
    let job = format!("{} rw=write size=128k bs=4k filename=/bucket/o", s3(&proxy.host()));
    let ran = objects(0, &format!("{job} iodepth=16"));
    assert_eq!(proxy.connections(), 16, "one each, and none twice");
    assert_eq!(ran.requests("PUT"), [32, 32, 0]);
    let shortest = ran.exchanges().next().unwrap().of_kind("PUT").unwrap().first_byte.min();
    assert!(shortest >= 200_000_000, "{shortest}");
}
