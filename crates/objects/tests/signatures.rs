//! What is sent, as servers understand it: each head goes over a connection of its own to servers
//! that compute signatures by other programs than ours, and the answers are read.

use objects::answer::{Hints, Listing, failure, upload};
use objects::sign::{Body, Signer};
use objects::{
    Access, Action, Addressing, CustomerKey, Endpoint, Failure, Hashing, Protocol, Request, Store,
};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, SystemTime};
use test_servers::{Listening, Moto, S3Options, S3Server, SwiftServer};

/// Keys that one program or another gets wrong.
const KEYS: [&str; 9] = [
    "plain",
    "with space+plus",
    "a//b///c/",
    "dots/./and/../more",
    "ü€😀",
    "%41 %zz 100%",
    "!'()$&,:;=@?#[]\"<>\\^`{|}~*",
    "tab\tand\x7f",
    "x=y&z=~_-.",
];

/// A store at an address. Signatures name its host, whatever that is called.
struct At {
    address: SocketAddr,
    store: Store,
    signer: Signer,
}

/// What an answer is besides its status.
struct Said {
    head: String,
    body: Vec<u8>,
}

impl Said {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl At {
    fn new(address: SocketAddr, store: Store) -> At {
        let host = |host: &str| Endpoint { host: host.to_owned(), port: address.port() };
        let endpoints = match store.endpoints.as_slice() {
            [] => vec![host(&address.ip().to_string())],
            [named, ..] => vec![host(&named.host)],
        };
        let store = Store { endpoints, ..store };
        At { address, signer: Signer::new(&store).unwrap(), store }
    }

    fn ask(&mut self, action: Action, path: &str, content: &[u8]) -> Result<Said, Failure> {
        let length = match action {
            Action::PutPart { from, .. } => content.len() as u64 - from,
            _ => content.len() as u64,
        };
        let is_head = matches!(action, Action::Head | Action::HeadBucket);
        let request = Request { action, path, length };
        let (now, mut sent) = (SystemTime::now(), Vec::new());
        let body = self.signer.head(0, &request, content, now, &mut sent)?;
        // It is not signed, and makes the end of the answer plain.
        sent.truncate(sent.len() - 2);
        sent.extend_from_slice(b"Connection: close\r\n\r\n");
        match body {
            Body::Nothing => {}
            Body::Content(part) => sent.extend_from_slice(&content[part]),
            Body::Text(text) => sent.extend_from_slice(&text),
        }
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(&sent).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let end = all.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(all[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut said = Said { head, body: all.split_off(end + 4) };
        if said.header("transfer-encoding") == Some("chunked") && !is_head {
            said.body = without_chunks(&said.body);
        }
        if (200..300).contains(&status) {
            return Ok(said);
        }
        let mut hints = Hints::default();
        for (name, value) in said.head.lines().filter_map(|line| line.split_once(": ")) {
            hints.read_header(name, value.as_bytes());
        }
        Err(failure(status, &hints, &said.body, now))
    }

    /// The failure of a request that has to fail, in words.
    fn refusal(&mut self, action: Action, path: &str) -> String {
        match self.ask(action, path, b"") {
            Err(failure) => failure.to_string(),
            Ok(said) => panic!("{path}: {}", said.head),
        }
    }

    /// Keys below a path, in lists of `most`.
    fn list(&mut self, path: &str, most: u32) -> Vec<String> {
        let (mut keys, mut continuation) = (Vec::new(), None);
        loop {
            let list = Action::List { max_keys: most, continuation };
            let said = self.ask(list, path, b"").unwrap();
            let listing = Listing::read(self.store.protocol, &said.body, most).unwrap();
            assert!(listing.entries.len() <= most as usize);
            keys.extend(listing.entries.into_iter().map(|entry| entry.key));
            match listing.continuation {
                Some(next) => continuation = Some(next),
                None => return keys,
            }
        }
    }
}

fn without_chunks(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n").expect("a chunk's size");
        let size = std::str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
}

fn access(id: &str, key: &str, region: &str) -> Access {
    Access::Signed { key_id: id.into(), key: key.into(), token: None, region: region.into() }
}

fn s3(access: Access) -> Store {
    Store { protocol: Protocol::S3, access, ..Store::default() }
}

fn usual() -> Store {
    s3(access("minioadmin", "minioadmin", "us-east-1"))
}

/// Each key is put, read, read in part, looked at, listed, removed, and then missing.
fn use_keys(at: &mut At, keys: &[&str]) {
    for key in keys {
        let path = format!("/bucket/{key}");
        let content = format!("the content of {key}");
        let ask = &mut |action, content: &[u8]| {
            at.ask(action, &path, content).unwrap_or_else(|why| panic!("{path:?}: {why}"))
        };
        ask(Action::Put, content.as_bytes());
        assert_eq!(ask(Action::Get { range: None }, b"").body, content.as_bytes(), "{key:?}");
        let part = ask(Action::Get { range: Some((4, 7)) }, b"");
        assert_eq!(part.body, b"content", "{key:?}");
        assert_eq!(part.header("content-range"), Some(&*format!("bytes 4-10/{}", content.len())));
        let length = content.len().to_string();
        assert_eq!(ask(Action::Head, b"").header("content-length"), Some(&*length), "{key:?}");
    }
    let mut expected: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
    expected.sort();
    assert_eq!(at.list("/bucket", 2), expected);
    assert_eq!(at.list("/bucket/a//b", 1000), ["a//b///c/"]);
    for key in keys {
        let path = format!("/bucket/{key}");
        at.ask(Action::Delete, &path, b"").unwrap_or_else(|why| panic!("{path:?}: {why}"));
        let missing = at.refusal(Action::Get { range: None }, &path);
        assert!(missing.starts_with("the server answered 404 NoSuchKey"), "{path:?}: {missing}");
        let missing = at.refusal(Action::Head, &path);
        assert!(missing.starts_with("the server answered 404"), "{path:?}: {missing}");
    }
}

fn upload_in_parts(at: &mut At) {
    let path = "/bucket/in parts+";
    let begin = |at: &mut At| {
        let begun = at.ask(Action::BeginUpload, path, b"").unwrap();
        upload(&begun.body).unwrap()
    };
    let name = begin(at);
    // Parts but the last have 5 MiB at least.
    let content: Vec<u8> = (0..(5 << 20) + 9).map(|byte| (byte % 251) as u8).collect();
    let mut tags = Vec::new();
    for (number, from, end) in [(1, 0, 5 << 20), (2, 5 << 20, content.len())] {
        let part = Action::PutPart { upload: name.clone(), number, from: from as u64 };
        let said = at.ask(part, path, &content[..end]).unwrap();
        tags.push(said.header("etag").unwrap().to_owned());
    }
    at.ask(Action::EndUpload { upload: name, tags }, path, b"").unwrap();
    assert!(at.ask(Action::Get { range: None }, path, b"").unwrap().body == content);
    let name = begin(at);
    at.ask(Action::DropUpload { upload: name.clone() }, path, b"").unwrap();
    let gone = at.refusal(Action::DropUpload { upload: name }, path);
    assert!(gone.contains("NoSuchUpload"), "{gone}");
}

#[test]
fn s3_understands_every_key() {
    let server = S3Server::start(&["bucket"]);
    for hashing in [Hashing::Plain, Hashing::Never] {
        use_keys(&mut At::new(server.address(), Store { hashing, ..usual() }), &KEYS);
    }
    upload_in_parts(&mut At::new(server.address(), usual()));
    assert_eq!(server.memory.open_uploads(), 0);
}

#[test]
fn s3_understands_buckets_in_host_names() {
    let options = S3Options { domain: Some("s3.test".into()), ..S3Options::default() };
    let server = S3Server::with(options, &["bucket"]);
    let named = Endpoint { host: "s3.test".into(), port: 0 };
    let addressing = Addressing::VirtualHost;
    let store = Store { addressing, endpoints: vec![named], ..usual() };
    let mut at = At::new(server.address(), store);
    use_keys(&mut at, &KEYS);
    at.ask(Action::MakeBucket, "/other", b"").unwrap();
    at.ask(Action::HeadBucket, "/other", b"").unwrap();
    assert!(at.refusal(Action::HeadBucket, "/no-other").contains("404"));
    assert_eq!(server.count("PUT", 200), KEYS.len() as u64 + 1);
}

#[test]
fn s3_by_a_second_program_understands_every_key() {
    let server = Moto::start(&["bucket"]);
    let store = s3(access(&server.key_id, &server.key, "us-east-1"));
    let mut at = At::new(server.address(), store);
    use_keys(&mut at, &KEYS);
    upload_in_parts(&mut at);
    let wrong = s3(access(&server.key_id, "wrong", "us-east-1"));
    let why = At::new(server.address(), wrong).refusal(Action::Head, "/bucket/k");
    assert!(why.contains("403") && why.contains("key"), "{why}");
}

#[test]
fn class_key_and_token_arrive() {
    let options = S3Options { token: Some("a/b+c==".into()), ..S3Options::default() };
    let server = S3Server::with(options, &["bucket"]);
    let Access::Signed { key_id, key, region, .. } = usual().access else { unreachable!() };
    let token = Some("a/b+c==".to_owned());
    let customer_key = CustomerKey { algorithm: "AES256".into(), key: vec![7; 32] };
    let store = Store {
        access: Access::Signed { key_id, key, token, region },
        storage_class: Some("GLACIER".into()),
        customer_key: Some(customer_key),
        ..usual()
    };
    let mut at = At::new(server.address(), store.clone());
    at.ask(Action::Put, "/bucket/k", b"content").unwrap();
    assert_eq!(server.memory.storage_class("bucket", "k").as_deref(), Some("GLACIER"));
    assert_eq!(at.ask(Action::Get { range: None }, "/bucket/k", b"").unwrap().body, b"content");
    let mut without = At::new(server.address(), Store { customer_key: None, ..store });
    let why = without.refusal(Action::Get { range: None }, "/bucket/k");
    assert!(why.contains("Server Side Encryption"), "{why}");
    let why = At::new(server.address(), usual()).refusal(Action::Head, "/bucket/k");
    assert!(why.contains("400"), "{why}");
}

#[test]
fn what_is_wrong_with_access_is_said() {
    let why = |ahead: i64, access: Access, action: Action| {
        let options =
            S3Options { region: "eu-north-1".into(), clock_ahead: ahead, ..S3Options::default() };
        let server = S3Server::with(options, &["bucket"]);
        At::new(server.address(), s3(access)).refusal(action, "/bucket/k")
    };
    let get = || Action::Get { range: None };
    let right = || access("minioadmin", "minioadmin", "eu-north-1");
    let key = why(0, access("minioadmin", "wrong", "eu-north-1"), get());
    assert!(key.contains("403 SignatureDoesNotMatch"), "{key}");
    assert!(key.contains("the secret key may be wrong"), "{key}");
    let region = why(0, access("minioadmin", "minioadmin", "us-east-1"), get());
    assert!(region.contains("the server names region 'eu-north-1'"), "{region}");
    let id = why(0, access("other", "minioadmin", "eu-north-1"), get());
    assert!(id.contains("403 InvalidAccessKeyId: The AWS Access Key Id"), "{id}");
    let behind = why(3_630, right(), get());
    assert!(behind.contains("this machine's clock is 1 h behind the server's"), "{behind}");
    let ahead = why(-7_200, right(), Action::Head);
    assert!(ahead.contains(" ahead of the server's"), "{ahead}");
    let bucket = {
        let server = S3Server::start(&[]);
        At::new(server.address(), usual()).refusal(Action::Get { range: None }, "/bucket/k")
    };
    assert!(bucket.contains("404 NoSuchBucket"), "{bucket}");
    let nobody = why(0, Access::Anonymous, get());
    assert!(nobody.contains("403 AccessDenied"), "{nobody}");
}

#[test]
fn swift_understands_paths_and_tokens() {
    let server = SwiftServer::start(Listening::default(), "to ken", &["box"]);
    let swift = |token: &str| {
        let access = Access::Token(token.into());
        let store = Store { protocol: Protocol::Swift, access, ..Store::default() };
        At::new(server.address(), store)
    };
    let path = format!("{}/box/an object//ü?", SwiftServer::ACCOUNT);
    let mut at = swift("to ken");
    at.ask(Action::Put, &path, b"content").unwrap();
    assert_eq!(server.object("box", "an object//ü?").unwrap(), b"content");
    let part = at.ask(Action::Get { range: Some((1, 3)) }, &path, b"").unwrap();
    assert_eq!(part.body, b"ont");
    at.ask(Action::Delete, &path, b"").unwrap();
    let missing = at.refusal(Action::Delete, &path);
    assert_eq!(missing, "the server answered 404: Not Found The server says 404.");
    let refused = swift("other").refusal(Action::Get { range: None }, &path);
    assert!(refused.starts_with("the server answered 401: Unauthorized"), "{refused}");
    let container = format!("{}/new", SwiftServer::ACCOUNT);
    at.ask(Action::MakeBucket, &container, b"").unwrap();
}

#[test]
fn webdav_understands_paths_and_passwords() {
    let server = test_servers::webdav(None);
    let dav = |password: &str| {
        let access = Access::Basic { user: "user".into(), password: password.into() };
        At::new(server.address(), Store { access, ..Store::default() })
    };
    let mut at = dav("password");
    for path in ["/closed/a file+%41", "/closed/deep/er/ü", "/closed/!'()$&,:;=@?#[]"] {
        at.ask(Action::Put, path, b"content").unwrap();
        let all = at.ask(Action::Get { range: None }, path, b"").unwrap();
        assert_eq!(all.body, b"content", "{path}");
        let part = at.ask(Action::Get { range: Some((3, 4)) }, path, b"").unwrap();
        assert_eq!(part.body, b"tent", "{path}");
        at.ask(Action::Delete, path, b"").unwrap();
        let missing = at.refusal(Action::Head, path);
        assert!(missing.starts_with("the server answered 404"), "{path}: {missing}");
    }
    assert!(server.directory().join("files/closed/deep/er").is_dir());
    at.ask(Action::MakeBucket, "/closed/made/", b"").unwrap();
    assert!(server.directory().join("files/closed/made").is_dir());
    let refused = dav("wrong").refusal(Action::Put, "/closed/x");
    assert!(refused.contains("401") || refused.contains("403"), "{refused}");
}
