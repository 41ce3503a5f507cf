//! Heads and signatures compared with the examples of the specifications and with another
//! implementation.

use super::*;
use crate::{Action, Addressing, CustomerKey, Hashing};
use proptest::prelude::*;
use std::time::Duration;

const KEY_ID: &str = "AKIAIOSFODNN7EXAMPLE";
const KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
/// The MD5 of 32 times "k", by md5sum and base64.
const MD5_OF_KS: &str = "mT2HRsMGJ5IX5C+0rreZ8Q==";

/// 2013-05-24 00:00:00 UTC, the date of the documentation's examples.
fn then() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600)
}

fn endpoint(host: &str, port: u16) -> Endpoint {
    Endpoint { host: host.into(), port }
}

fn signed(region: &str, token: Option<&str>) -> Access {
    Access::Signed {
        key_id: KEY_ID.into(),
        key: KEY.into(),
        token: token.map(Into::into),
        region: region.into(),
    }
}

fn s3(host: &str, port: u16) -> Store {
    Store {
        protocol: Protocol::S3,
        endpoints: vec![endpoint(host, port)],
        access: signed("us-east-1", None),
        ..Store::default()
    }
}

fn head_of(
    store: &Store,
    request: &Request<'_>,
    content: &[u8],
) -> Result<(String, Body), Failure> {
    let mut head = b"before\n".to_vec();
    let body = Signer::new(store)?.head(0, request, content, then(), &mut head)?;
    let head = String::from_utf8(head).unwrap();
    let head = head.strip_prefix("before\n").unwrap();
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(head.matches("\r\n\r\n").count(), 1, "{head}");
    Ok((head.to_owned(), body))
}

fn head(store: &Store, action: Action, path: &str) -> (String, Body) {
    let request = Request { action, path, length: 4 };
    head_of(store, &request, b"abcdefgh").unwrap()
}

fn refused(store: &Store, action: Action, path: &str) -> String {
    let request = Request { action, path, length: 4 };
    match head_of(store, &request, b"abcdefgh") {
        Err(Failure::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn first_line(head: &str) -> &str {
    head.lines().next().unwrap()
}

fn value<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn signature(head: &str) -> &str {
    value(head, "Authorization").unwrap().rsplit_once('=').unwrap().1
}

/// A request of the documentation to examplebucket.s3.amazonaws.com.
fn example(method: &'static str, path: &str, query: &[(&str, &str)]) -> Spelling {
    let mut spelling = Spelling::default();
    spelling.path.push_str(path);
    spelling.host.push_str("examplebucket.s3.amazonaws.com");
    spelling.method = method;
    for (name, value) in query {
        spelling.query(name, value);
    }
    spelling
}

/// The examples of "Signature Calculations for the Authorization Header: Transferring Payload in a
/// Single Chunk (AWS Signature Version 4)", Amazon S3 API reference.
#[test]
fn the_documentations_examples_come_out_as_printed() {
    let sign = |mut request: Spelling, hash: &str| {
        let mut v4 = V4::new(KEY_ID, KEY, None, "us-east-1").unwrap();
        let mut out = String::new();
        v4.sign(&mut request, hash, then(), &mut out);
        out
    };
    let mut get = example("GET", "/test.txt", &[]);
    get.header("range", "bytes=0-9");
    assert_eq!(
        sign(get, v4::EMPTY_HASH),
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
         SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
         Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    );
    let mut put = example("PUT", "/test%24file.text", &[]);
    put.header("date", "Fri, 24 May 2013 00:00:00 GMT");
    put.header("x-amz-storage-class", "REDUCED_REDUNDANCY");
    let mut hash = String::new();
    push_hex(&mut hash, &Sha256::digest(b"Welcome to Amazon S3."));
    assert_eq!(
        sign(put, &hash),
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
         SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, \
         Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    );
    let lifecycle = sign(example("GET", "/", &[("lifecycle", "")]), v4::EMPTY_HASH);
    let expected = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543";
    assert!(lifecycle.ends_with(expected), "{lifecycle}");
    let list = sign(example("GET", "/", &[("max-keys", "2"), ("prefix", "J")]), v4::EMPTY_HASH);
    let expected = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7";
    assert!(list.ends_with(expected), "{list}");
}

/// Signed by another implementation, botocore 1.44.5.
#[test]
fn odd_keys_are_signed_as_others_sign_them() {
    let store = s3("h", 9000);
    for (key, expected) in [
        ("a b+c%d*e~f", "5db0620a0be53c753d8d634c26f41941dd35e3f0d30838429e93fed202a100fb"),
        (
            "/lead//twice/./../end/",
            "0cd0ac680df72f10d499a93af43a28f105051fd9a6266bc3a1178a1b4681939b",
        ),
        ("ü€😀", "57084e00c104a0c970f440a56ebc3e224318c1820439f4a260d9849c35154532"),
        (
            "!'()$&,:;=@?#[]\"<>\\^`{|}",
            "9af59dd862cfa3936a1b2634c9d74efa759a9eef848e28425680d2a760464b4d",
        ),
        (
            "line\nbreak\tand\x7f",
            "6b8f34d17203461671bb2865bc346b2af3300d15cc29e8cccb11e75d23cc3999",
        ),
    ] {
        let (get, _) = head(&store, Action::Get { range: None }, &format!("/b/{key}"));
        assert_eq!(signature(&get), expected, "{key}");
    }
    let access = signed("eu-west-1", Some("session/token=="));
    let (get, _) = head(&Store { access, ..s3("h", 9000) }, Action::Get { range: None }, "/b/k");
    let expected = "be0e6907b91d31f8eae20f49bc78956f45f4f9b71f309543cf1601656a43bedd";
    assert_eq!(signature(&get), expected);
    let part = Action::PutPart { upload: "u/1+2".into(), number: 12, from: 1 };
    let (put, _) = head(&store, part, "/b/k");
    let expected = "c7b0814cf53e19dcb60639c799416e8839ab327b5f7322193881aa4bb12774da";
    assert_eq!(signature(&put), expected);
}

#[test]
fn a_whole_head_is_signed_as_the_documentation_does() {
    let store = Store {
        addressing: Addressing::VirtualHost,
        security: Security::Verified,
        ..s3("s3.amazonaws.com", 443)
    };
    let get = Action::Get { range: Some((0, 10)) };
    let (head, body) = head(&store, get, "/examplebucket/test.txt");
    assert_eq!(body, Body::Nothing);
    let agent = concat!("fathom/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        head,
        format!(
            "GET /test.txt HTTP/1.1\r\nHost: examplebucket.s3.amazonaws.com\r\n\
             User-Agent: {agent}\r\nrange: bytes=0-9\r\n\
             x-amz-content-sha256: {}\r\nx-amz-date: 20130524T000000Z\r\n\
             Authorization: AWS4-HMAC-SHA256 \
             Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
             SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, \
             Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41\r\n\r\n",
            v4::EMPTY_HASH
        )
    );
}

#[test]
fn keys_of_days_are_not_mixed_up() {
    let store = s3("h", 9000);
    let mut signer = Signer::new(&store).unwrap();
    let request = Request { action: Action::Head, path: "/b/k", length: 0 };
    let mut sign = |at: SystemTime| {
        let mut head = Vec::new();
        signer.head(0, &request, &[], at, &mut head).unwrap();
        String::from_utf8(head).unwrap()
    };
    let day = Duration::from_secs(86_400);
    let (first, second, again) = (sign(then()), sign(then() + day), sign(then()));
    assert_eq!(first, again);
    assert_eq!(value(&second, "x-amz-date"), Some("20130525T000000Z"));
    let fresh = {
        let mut head = Vec::new();
        Signer::new(&store).unwrap().head(0, &request, &[], then() + day, &mut head).unwrap();
        String::from_utf8(head).unwrap()
    };
    assert_eq!(second, fresh);
    assert_ne!(signature(&first), signature(&second));
}

#[test]
fn keys_are_sent_as_they_are() {
    let line = |path: &str| {
        let (head, _) = head(&s3("h", 9000), Action::Head, path);
        first_line(&head).to_owned()
    };
    assert_eq!(line("/b/a b+c"), "HEAD /b/a%20b%2Bc HTTP/1.1");
    assert_eq!(line("/b//a//b/"), "HEAD /b//a//b/ HTTP/1.1");
    assert_eq!(line("/b/../x/./y"), "HEAD /b/../x/./y HTTP/1.1");
    assert_eq!(line("/b/%41?x#y"), "HEAD /b/%2541%3Fx%23y HTTP/1.1");
    assert_eq!(line("/b/ü\r\nX: y"), "HEAD /b/%C3%BC%0D%0AX%3A%20y HTTP/1.1");
}

#[test]
fn buckets_become_part_of_the_host_if_possible() {
    let of = |bucket: &str, host: &str, security: Security| {
        let store = Store { addressing: Addressing::VirtualHost, security, ..s3(host, 9000) };
        let (head, _) = head(&store, Action::Head, &format!("/{bucket}/k"));
        let path = first_line(&head).split(' ').nth(1).unwrap().to_owned();
        (value(&head, "Host").unwrap().to_owned(), path)
    };
    let plain = |bucket, host| of(bucket, host, Security::Plain);
    assert_eq!(plain("my-bucket", "s3.local"), ("my-bucket.s3.local:9000".into(), "/k".into()));
    assert_eq!(plain("a.b", "s3.local"), ("a.b.s3.local:9000".into(), "/k".into()));
    let dotted = of("a.b", "s3.local", Security::Verified);
    assert_eq!(dotted, ("s3.local:9000".into(), "/a.b/k".into()));
    for bucket in ["Big", "ab", "a_b", "-abc", "abc-", "a..b", "10.1.2.3", "a b"] {
        assert_eq!(plain(bucket, "s3.local").0, "s3.local:9000", "{bucket}");
    }
    assert_eq!(plain("my-bucket", "127.0.0.1").1, "/my-bucket/k");
    assert_eq!(plain("my-bucket", "::1"), ("[::1]:9000".into(), "/my-bucket/k".into()));
}

#[test]
fn usual_ports_are_not_named() {
    let host = |host: &str, port, security| {
        let store = Store { security, ..s3(host, port) };
        let (head, _) = head(&store, Action::Head, "/b/k");
        value(&head, "Host").unwrap().to_owned()
    };
    assert_eq!(host("h", 80, Security::Plain), "h");
    assert_eq!(host("h", 443, Security::Plain), "h:443");
    assert_eq!(host("h", 443, Security::Insecure), "h");
    assert_eq!(host("h", 80, Security::Verified), "h:80");
    assert_eq!(host("::1", 80, Security::Plain), "[::1]");
    assert_eq!(host("fe80::80", 8080, Security::Plain), "[fe80::80]:8080");
}

#[test]
fn contents_are_hashed_where_the_store_wants_it() {
    let hash = |security, hashing, action| {
        let store = Store { security, hashing, ..s3("h", 9000) };
        let (head, body) = head(&store, action, "/b/k");
        (value(&head, "x-amz-content-sha256").unwrap().to_owned(), body)
    };
    let of = |content: &[u8]| {
        let mut hash = String::new();
        push_hex(&mut hash, &Sha256::digest(content));
        hash
    };
    let whole = Body::Content(0..4);
    let unsigned = || "UNSIGNED-PAYLOAD".to_owned();
    use {Hashing::*, Security as S};
    assert_eq!(hash(S::Plain, Plain, Action::Put), (of(b"abcd"), whole.clone()));
    assert_eq!(hash(S::Verified, Plain, Action::Put), (unsigned(), whole.clone()));
    assert_eq!(hash(S::Verified, Always, Action::Put), (of(b"abcd"), whole.clone()));
    assert_eq!(hash(S::Plain, Never, Action::Put), (unsigned(), whole));
    // Bodies that are not content are short and always hashed.
    assert_eq!(hash(S::Plain, Never, Action::Head).0, v4::EMPTY_HASH);
    let upload = || "u/1+2".to_owned();
    let part = Action::PutPart { upload: upload(), number: 7, from: 3 };
    assert_eq!(hash(S::Plain, Plain, part), (of(b"defg"), Body::Content(3..7)));
    let end = Action::EndUpload { upload: upload(), tags: vec!["\"a&b\"".into(), "c".into()] };
    let (hash, body) = hash(S::Plain, Never, end);
    let Body::Text(text) = body else { panic!("{body:?}") };
    assert_eq!(hash, of(&text));
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         <Part><PartNumber>1</PartNumber><ETag>\"a&amp;b\"</ETag></Part>\
         <Part><PartNumber>2</PartNumber><ETag>c</ETag></Part></CompleteMultipartUpload>"
    );
}

#[test]
fn each_action_has_its_line() {
    let upload = || "u/1+2".to_owned();
    let actions = [
        (Action::Put, "PUT /b/k HTTP/1.1", Some("4")),
        (Action::Get { range: None }, "GET /b/k HTTP/1.1", None),
        (Action::Delete, "DELETE /b/k HTTP/1.1", None),
        (Action::BeginUpload, "POST /b/k?uploads= HTTP/1.1", Some("0")),
        (
            Action::PutPart { upload: upload(), number: 12, from: 1 },
            "PUT /b/k?partNumber=12&uploadId=u%2F1%2B2 HTTP/1.1",
            Some("4"),
        ),
        (
            Action::EndUpload { upload: upload(), tags: Vec::new() },
            "POST /b/k?uploadId=u%2F1%2B2 HTTP/1.1",
            Some("99"),
        ),
        (Action::DropUpload { upload: upload() }, "DELETE /b/k?uploadId=u%2F1%2B2 HTTP/1.1", None),
        (Action::MakeBucket, "PUT /b HTTP/1.1", Some("0")),
        (Action::HeadBucket, "HEAD /b HTTP/1.1", None),
        (
            Action::List { max_keys: 5, continuation: Some("a=b".into()) },
            "GET /b?continuation-token=a%3Db&encoding-type=url&list-type=2&max-keys=5&prefix=k \
             HTTP/1.1",
            None,
        ),
    ];
    for (action, line, length) in actions {
        let (head, _) = head(&s3("h", 9000), action, "/b/k");
        assert_eq!(first_line(&head), line);
        assert_eq!(value(&head, "Content-Length"), length, "{line}");
    }
    let store = Store { addressing: Addressing::VirtualHost, ..s3("h", 9000) };
    let list = Action::List { max_keys: 5, continuation: None };
    let (list, _) = head(&store, list, "/bucket/");
    let line = "GET /?encoding-type=url&list-type=2&max-keys=5&prefix= HTTP/1.1";
    assert_eq!(first_line(&list), line);
}

#[test]
fn buckets_are_made_in_the_region() {
    let body = |region: &str| {
        let store = Store { access: signed(region, None), ..s3("h", 9000) };
        let (head, body) = head(&store, Action::MakeBucket, "/b");
        assert_eq!(value(&head, "Content-Type").is_some(), body != Body::Text(Vec::new()));
        match body {
            Body::Text(text) => String::from_utf8(text).unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(body("us-east-1"), "");
    let made = body("eu-west-1");
    assert!(made.contains("<LocationConstraint>eu-west-1</LocationConstraint>"), "{made}");
}

#[test]
fn class_key_and_token_are_signed_along() {
    let key = CustomerKey { algorithm: "AES256".into(), key: vec![b'k'; 32] };
    let store = Store {
        access: signed("us-east-1", Some("session/token==")),
        storage_class: Some("GLACIER".into()),
        customer_key: Some(key),
        ..s3("h", 9000)
    };
    let (put, _) = head(&store, Action::Put, "/b/k");
    let names = "host;x-amz-content-sha256;x-amz-date;x-amz-security-token;\
                 x-amz-server-side-encryption-customer-algorithm;\
                 x-amz-server-side-encryption-customer-key;\
                 x-amz-server-side-encryption-customer-key-md5;x-amz-storage-class";
    assert!(value(&put, "Authorization").unwrap().contains(names), "{put}");
    let customer = "x-amz-server-side-encryption-customer-key";
    let sent = "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=";
    assert_eq!(value(&put, customer), Some(sent));
    let md5 = value(&put, "x-amz-server-side-encryption-customer-key-md5");
    assert_eq!(md5, Some(MD5_OF_KS));
    let (get, _) = head(&store, Action::Get { range: None }, "/b/k");
    assert_eq!(value(&get, customer), Some(sent));
    assert_eq!(value(&get, "x-amz-storage-class"), None);
    let (delete, _) = head(&store, Action::Delete, "/b/k");
    assert_eq!(value(&delete, customer), None);

    let shown = without_secrets(put.as_bytes());
    for secret in [sent, MD5_OF_KS, "session/token", signature(&put)] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.starts_with("PUT /b/k HTTP/1.1\nHost: h:9000\n"), "{shown}");
    assert!(shown.contains("\nx-amz-storage-class: GLACIER\n"), "{shown}");
    assert!(shown.contains("\nAuthorization: (not shown)\n"), "{shown}");
}

#[test]
fn anonymous_requests_are_not_signed() {
    let store = Store { access: Access::Anonymous, ..s3("h", 9000) };
    let (head, _) = head(&store, Action::Put, "/b/k");
    assert!(!head.contains("uthorization") && !head.contains("x-amz"), "{head}");
}

#[test]
fn webdav_and_swift_ask_for_paths() {
    let dav = Store {
        protocol: Protocol::WebDav,
        endpoints: vec![endpoint("h", 80)],
        access: Access::Basic { user: "Aladdin".into(), password: "open sesame".into() },
        ..Store::default()
    };
    let (put, body) = head(&dav, Action::Put, "/a b/c");
    assert_eq!(first_line(&put), "PUT /a%20b/c HTTP/1.1");
    assert_eq!(body, Body::Content(0..4));
    // The example of RFC 7617, section 2.
    assert_eq!(value(&put, "Authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
    let list = || Action::List { max_keys: 9, continuation: Some("m".into()) };
    let (listed, _) = head(&dav, list(), "/d/");
    assert_eq!(first_line(&listed), "PROPFIND /d/ HTTP/1.1");
    assert_eq!(value(&listed, "depth"), Some("1"));
    assert_eq!(first_line(&head(&dav, Action::MakeBucket, "/d").0), "MKCOL /d HTTP/1.1");

    let swift =
        Store { protocol: Protocol::Swift, access: Access::Token("tk".into()), ..dav.clone() };
    let (get, _) = head(&swift, Action::Get { range: Some((4096, 4)) }, "/v1/AUTH_x/c/o");
    assert_eq!(first_line(&get), "GET /v1/AUTH_x/c/o HTTP/1.1");
    assert_eq!(value(&get, "X-Auth-Token"), Some("tk"));
    assert_eq!(value(&get, "range"), Some("bytes=4096-4099"));
    let (listed, _) = head(&swift, list(), "/v1/AUTH_x/c/p/q");
    let line = "GET /v1/AUTH_x/c?format=json&limit=9&marker=m&prefix=p%2Fq HTTP/1.1";
    assert_eq!(first_line(&listed), line);
    assert_eq!(first_line(&head(&swift, Action::MakeBucket, "/v1/a/c").0), "PUT /v1/a/c HTTP/1.1");
    assert!(refused(&swift, Action::BeginUpload, "/v1/a/c/o").contains("Swift has no multipart"));
    assert!(refused(&dav, Action::Put, "no-slash").contains("begins with a slash"));
}

#[test]
fn requests_that_cannot_be_sent_are_refused() {
    let store = s3("h", 9000);
    assert!(refused(&store, Action::Head, "/b").contains("names no object"));
    assert!(refused(&store, Action::Head, "/b/").contains("names no object"));
    assert!(refused(&store, Action::Head, "b/k").contains("names no bucket"));
    assert!(refused(&store, Action::HeadBucket, "//k").contains("names no bucket"));
    let range = |first, length| Action::Get { range: Some((first, length)) };
    let by_address = s3("10.0.0.1", 9000);
    assert!(refused(&by_address, Action::Delete, "/b").contains("names no object"));
    // Here the host name may contain the bucket.
    let (named, _) = head(&s3("bucket.s3.local", 80), Action::Delete, "/b");
    assert_eq!(first_line(&named), "DELETE /b HTTP/1.1");
    assert!(refused(&store, range(5, 0), "/b/k").contains("no range"));
    assert!(refused(&store, range(u64::MAX, 2), "/b/k").contains("no range"));
    let part = |from| Action::PutPart { upload: "u".into(), number: 1, from };
    assert!(refused(&store, part(5), "/b/k").contains("there are 8"));
    assert!(refused(&store, part(u64::MAX), "/b/k").contains("there are 8"));

    let why = |store: Store| match Signer::new(&store) {
        Err(Failure::Refused(why)) => why,
        _ => panic!("it was taken"),
    };
    let line = "a\r\nX-Evil: 1";
    let broken = || line.to_owned();
    let key = |algorithm: &str| CustomerKey { algorithm: algorithm.into(), key: Vec::new() };
    let user = |user: &str| Access::Basic { user: user.into(), password: broken() };
    for store in [
        s3(line, 1),
        Store { access: signed(line, None), ..s3("h", 1) },
        Store { access: signed("r", Some(line)), ..s3("h", 1) },
        Store { access: Access::Token(broken()), ..s3("h", 1) },
        Store { access: user("u"), ..s3("h", 1) },
        Store { storage_class: Some(broken()), ..s3("h", 1) },
        Store { customer_key: Some(key(line)), ..s3("h", 1) },
    ] {
        assert!(why(store).contains("holds the control character '\\r'"));
    }
    let colon = Access::Basic { user: "a:b".into(), password: String::new() };
    assert!(why(Store { access: colon, ..s3("h", 1) }).contains("colon"));
    let nowhere = Store { endpoints: Vec::new(), ..s3("h", 1) };
    assert!(refused(&nowhere, Action::Head, "/b/k").contains("no endpoint"));
}

proptest! {
    #[test]
    fn any_key_makes_one_head(key in "\\PC*|[\\x00-\\x7f]*", virtual_host: bool) {
        let addressing = if virtual_host { Addressing::VirtualHost } else { Addressing::Path };
        let store = Store { addressing, ..s3("s3.local", 9000) };
        let path = format!("/bucket/x{key}");
        let (head, _) = head(&store, Action::Get { range: None }, &path);
        let sent = first_line(&head).split(' ').nth(1).unwrap();
        let key_sent = sent.strip_prefix(if virtual_host { "/" } else { "/bucket/" }).unwrap();
        prop_assert_eq!(decoded(key_sent, false), format!("x{key}").into_bytes());
        prop_assert_eq!(head.lines().count(), 7);
        let list = Action::List { max_keys: 1, continuation: Some(key.clone()) };
        let (list, _) = self::head(&store, list, &path);
        let query = first_line(&list).split([' ', '?']).nth(2).unwrap();
        let values: Vec<_> = query.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        prop_assert!(values.is_sorted());
        prop_assert_eq!(decoded(values[0].1, true), key.as_bytes());
        prop_assert_eq!(decoded(values[4].1, true), format!("x{key}").into_bytes());
    }
}
