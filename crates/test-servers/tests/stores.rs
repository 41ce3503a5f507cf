//! The servers alone, with a client other than fathom's.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use test_servers::{
    Authority, Fault, Listening, Moto, Proxy, S3Options, S3Server, SwiftServer, each, now_and_then,
};

/// A server without keys, with an object in its bucket.
fn open() -> S3Server {
    let server = S3Server::with(S3Options { key: None, ..S3Options::default() }, &["bucket"]);
    server.memory.put("bucket", "key", b"0123456789".to_vec());
    server
}

/// The whole answer to a request on its own connection, and how the connection ended.
fn raw(to: SocketAddr, request: &str) -> (String, Option<std::io::ErrorKind>) {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut all = Vec::new();
    let ended = stream.read_to_end(&mut all).err().map(|why| why.kind());
    (String::from_utf8_lossy(&all).into_owned(), ended)
}

fn get(to: SocketAddr, target: &str) -> (String, Option<std::io::ErrorKind>) {
    raw(to, &format!("GET {target} HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n"))
}

#[test]
fn s3_keeps_objects_and_counts_what_it_was_asked() {
    let mut server = open();
    let url = format!("http://{}/bucket/a%20key", server.host());
    assert_eq!(ureq::put(&url).send(&b"content"[..]).unwrap().status(), 200);
    assert_eq!(server.memory.object("bucket", "a key").unwrap(), b"content");
    let get = || ureq::get(&url).call().unwrap().body_mut().read_to_string().unwrap();
    assert_eq!(get(), "content");
    server.stop();
    assert!(TcpStream::connect(server.address()).is_err());
    server.start_again();
    assert_eq!(get(), "content", "it comes back with what it kept");
    assert_eq!((server.count("PUT", 200), server.count("GET", 200)), (1, 2));
    let missing = ureq::get(format!("http://{}/bucket/b", server.host())).call();
    assert!(matches!(missing, Err(ureq::Error::StatusCode(404))), "{missing:?}");
}

#[test]
fn s3_lets_nobody_in_without_a_signature() {
    let server = S3Server::start(&["bucket"]);
    let asked = ureq::get(format!("http://{}/bucket/key", server.host())).call();
    assert!(matches!(asked, Err(ureq::Error::StatusCode(403))), "{asked:?}");
}

#[test]
fn swift_wants_its_token() {
    let server = SwiftServer::start(Listening::default(), "token", &["box"]);
    let url = format!("http://{}{}/box/an%20object", server.host(), SwiftServer::ACCOUNT);
    let status = |token: &str| {
        let put = ureq::put(&url).header("X-Auth-Token", token).send(&b"0123456789"[..]);
        put.map(|answer| answer.status().as_u16())
    };
    assert!(matches!(status("other"), Err(ureq::Error::StatusCode(401))));
    assert_eq!(status("token").unwrap(), 201);
    assert_eq!(server.object("box", "an object").unwrap(), b"0123456789");
    let part = ureq::get(&url).header("X-Auth-Token", "token").header("Range", "bytes=2-4").call();
    let mut part = part.unwrap();
    assert_eq!(part.status(), 206);
    assert_eq!(part.body_mut().read_to_string().unwrap(), "234");
    let delete = || ureq::delete(&url).header("X-Auth-Token", "token").call();
    assert_eq!(delete().unwrap().status(), 204);
    assert!(matches!(delete(), Err(ureq::Error::StatusCode(404))));
}

#[test]
fn webdav_keeps_files_behind_a_password() {
    let server = test_servers::webdav(None);
    let url = |place: &str| format!("http://{}/{place}/file", server.host());
    assert_eq!(ureq::put(url("open")).send(&b"content"[..]).unwrap().status(), 201);
    let closed = ureq::put(url("closed")).send(&b"content"[..]);
    assert!(matches!(closed, Err(ureq::Error::StatusCode(401))), "{closed:?}");
    // user:password.
    let put = ureq::put(url("closed")).header("Authorization", "Basic dXNlcjpwYXNzd29yZA==");
    assert_eq!(put.send(&b"content"[..]).unwrap().status(), 201);
    assert_eq!(ureq::delete(url("open")).call().unwrap().status(), 204);
    let gone = ureq::get(url("open")).call();
    assert!(matches!(gone, Err(ureq::Error::StatusCode(404))), "{gone:?}");
}

#[test]
fn moto_checks_signatures() {
    let server = Moto::start(&["bucket"]);
    let put = ureq::put(format!("http://{}/bucket/key", server.host()));
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/20200101/us-east-1/s3/aws4_request, \
         SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=0",
        server.key_id
    );
    let put = put.header("X-Amz-Date", "20200101T000000Z");
    let put = put.header("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD");
    let put = put.header("Authorization", authorization).send(&b"content"[..]);
    assert!(matches!(put, Err(ureq::Error::StatusCode(403))), "{put:?}");
    assert!(!server.key.is_empty());
}

#[test]
fn a_proxy_does_to_an_answer_what_it_is_told() {
    let server = open();
    let through = |fault: Fault| {
        let proxy = Proxy::start(server.address(), None, each("GET", fault));
        let (all, ended) = get(proxy.address(), "/bucket/key");
        let asked = proxy.asked();
        // A request that waits for the client to close is not in the log yet.
        assert!(asked.len() <= 1 && proxy.connections() == 1);
        let body = all.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        let length = all
            .to_lowercase()
            .split_once("content-length: ")
            .map(|(_, rest)| rest.lines().next().unwrap().to_owned());
        (length, body, ended, asked.first().map(|asked| asked.status))
    };
    let told = |length: &str, body: &str| (Some(length.to_owned()), Some(body.to_owned()));
    let (length, body, ended, status) = through(Fault::Pass);
    assert_eq!((length, body), told("10", "0123456789"));
    assert_eq!((ended, status), (None, Some(200)));
    let (length, body, ended, status) = through(Fault::Truncate(3));
    assert_eq!((length, body), told("10", "0123456"));
    assert_eq!((ended, status), (None, Some(0)));
    let (length, body, ..) = through(Fault::Longer(5));
    assert_eq!((length, body), told("15", "0123456789"));
    let (length, body, ..) = through(Fault::Shorter(4));
    assert_eq!((length, body), told("6", "012345"));
    let (length, body, ended, _) = through(Fault::StallAfter(2));
    assert_eq!((length, body), told("10", "01"));
    assert_eq!(ended, Some(std::io::ErrorKind::WouldBlock));
    let (length, body, ended, _) = through(Fault::Stall);
    assert_eq!((length, body, ended), (None, None, Some(std::io::ErrorKind::WouldBlock)));
    let (length, body, ended, status) = through(Fault::Close);
    assert_eq!((length, body, ended, status), (None, None, None, Some(0)));
    let (.., ended, status) = through(Fault::Reset);
    assert_eq!((ended, status), (Some(std::io::ErrorKind::ConnectionReset), Some(0)));
    let (.., ended, _) = through(Fault::ResetWithin(5));
    assert_eq!(ended, Some(std::io::ErrorKind::ConnectionReset));
    let (_, body, _, status) = through(Fault::SlowDown);
    assert!(body.unwrap().contains("<Code>SlowDown</Code>") && status == Some(503));
    let garbage = Fault::Instead(b"garbage\r\n\r\n".to_vec());
    assert_eq!(through(garbage).1.unwrap(), "");
}

#[test]
fn faults_that_come_now_and_then_are_the_same_each_time() {
    let asked = test_servers::Asked::default();
    let fate = || {
        let mut decide = now_and_then(7, 10, Fault::Reset);
        (0..1000).filter(|_| decide(&asked) == Fault::Reset).count()
    };
    assert_eq!(fate(), fate());
    assert!((50..150).contains(&fate()), "{}", fate());
}

#[test]
fn who_does_not_know_the_authority_does_not_trust_its_servers() {
    let authority = Authority::new();
    let tls = Some(authority.identity(&["127.0.0.1", "localhost"]).config());
    let proxy = Proxy::start(open().address(), tls, |_| Fault::Pass);
    // Without a handshake there is no answer.
    let (all, _) = get(proxy.address(), "/bucket/key");
    assert!(!all.contains("HTTP"), "{all}");
    let file = authority.file();
    assert!(std::fs::read_to_string(&file).unwrap().contains("BEGIN CERTIFICATE"));
    drop(authority);
    assert!(!file.exists());
}
