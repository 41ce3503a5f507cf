//! Valid answers in every framing.

use super::*;
use crate::Protocol;

#[test]
fn content_is_received_with_each_kind_of_framing() {
    let chunked = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3;x=1\r\ndef\r\n0\r\nA: b\r\n\r\n";
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef".to_string(),
        format!("HTTP/1.1 200 OK\r\n{chunked}"),
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef".into(),
    ] {
        let server = Server::saying(answer.clone());
        let mut client = client(server.store(), 1);
        for _ in 0..3 {
            let mut buffers = Buffers::rooms(1, 6);
            let answer = run(&mut client, &get(6), &mut buffers).result.unwrap();
            assert_eq!((answer.status, answer.moved), (200, 6));
            assert_eq!(buffers.rooms.unwrap()[0], b"abcdef");
            let dropped = run(&mut client, &get(6), &mut Buffers::new("")).result.unwrap();
            assert_eq!(dropped.moved, 6);
        }
        assert_eq!((server.accepted(), client.connections_made()), (1, 1), "{answer}");
    }
}

#[test]
fn connections_that_are_to_close_are_not_used_again() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 6\r\n",
        "HTTP/1.1 200 OK\r\n",
    ] {
        let server = Server::closing(format!("{head}\r\nabcdef"));
        let mut client = client(server.store(), 1);
        for _ in 0..3 {
            let mut buffers = Buffers::rooms(1, 6);
            let outcome = run(&mut client, &get(6), &mut buffers);
            assert_eq!((outcome.result.unwrap().moved, outcome.lost.len()), (6, 0));
            assert_eq!(buffers.rooms.unwrap()[0], b"abcdef");
            assert!(outcome.stamps.connect.is_some());
        }
        assert_eq!((server.accepted(), client.connections_made()), (3, 3), "{head}");
    }
}

#[test]
fn answers_without_a_body_leave_the_connection() {
    let server = Server::new(|_, stream| {
        let mut stream = BufReader::new(stream);
        while let Some((head, _)) = request(&mut stream) {
            let answer = match head.split(' ').next().unwrap_or_default() {
                "DELETE" => "HTTP/1.1 204 No Content\r\n\r\n",
                "HEAD" => "HTTP/1.1 200 OK\r\nContent-Length: 77\r\nETag: \"t\"\r\n\r\n",
                "PUT" => "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nETag: \"t\"\r\n\r\n",
                _ => "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno.",
            };
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    let mut client = client(server.store(), 1);
    let mut buffers = Buffers::new("content");
    let mut ask = |action| {
        run(&mut client, &Request { action, path: "/b/key", length: 7 }, &mut buffers).result
    };
    let deleted = ask(Action::Delete).unwrap();
    assert_eq!((deleted.status, deleted.moved, deleted.length), (204, 0, None));
    let head = ask(Action::Head).unwrap();
    assert_eq!((head.length, head.tag.as_deref()), (Some(77), Some("\"t\"")));
    let put = ask(Action::Put).unwrap();
    assert_eq!((put.status, put.moved, put.tag.as_deref()), (201, 7, Some("\"t\"")));
    let missing = ask(Action::Get { range: None }).unwrap_err();
    assert!(matches!(missing, Failure::Status { status: 404, .. }), "{missing:?}");
    assert_eq!(server.accepted(), 1);
}

/// Bytes without repetition.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length as u32)
        .flat_map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes())
        .take(length)
        .collect()
}

#[test]
fn large_content_is_sent_and_received_completely() {
    let length = 9_000_001;
    let server = Server::new(|_, stream| {
        let mut stream = BufReader::new(stream);
        let mut kept = Vec::new();
        while let Some((head, body)) = request(&mut stream) {
            let answer = if head.starts_with("PUT") { ok(b"") } else { ok(&kept) };
            if head.starts_with("PUT") {
                kept = body;
            }
            stream.get_mut().write_all(&answer).unwrap();
        }
    });
    let mut client = client(server.store(), 1);
    let mut buffers = Buffers::rooms(1, length);
    buffers.content = pattern(length);
    let put = run(&mut client, &put(length as u64), &mut buffers);
    assert_eq!(put.result.unwrap().moved, length as u64);
    let got = run(&mut client, &get(length as u64), &mut buffers);
    assert_eq!(got.result.unwrap().moved, length as u64);
    assert!(buffers.rooms.as_ref().unwrap()[0] == buffers.content);
    buffers.rooms = None;
    let got = run(&mut client, &get(length as u64), &mut buffers);
    assert_eq!(got.result.unwrap().moved, length as u64);
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_range_is_asked_for_and_checked() {
    let server = Server::new(|_, stream| {
        let mut stream = BufReader::new(stream);
        while let Some((head, _)) = request(&mut stream) {
            assert!(head.to_ascii_lowercase().contains("range: bytes=2-4\r\n"), "{head}");
            let answer = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 2-4/9\r\n\
                          Content-Length: 3\r\n\r\ncde";
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    let mut buffers = Buffers::rooms(1, 3);
    let action = Action::Get { range: Some((2, 3)) };
    let request = Request { action, path: "/b/key", length: 3 };
    let answer = run(&mut client(server.store(), 1), &request, &mut buffers).result.unwrap();
    assert_eq!((answer.status, answer.moved), (206, 3));
    assert_eq!(buffers.rooms.unwrap()[0], b"cde");
}

#[test]
fn documents_are_kept_and_parts_are_cut_from_the_content() {
    let server = Server::new(|_, stream| {
        let mut stream = BufReader::new(stream);
        while let Some((head, body)) = request(&mut stream) {
            let answer = if head.starts_with("PUT") {
                assert_eq!(body, b"cdef");
                ok(b"")
            } else {
                ok(b"<ListBucketResult/>")
            };
            stream.get_mut().write_all(&answer).unwrap();
        }
    });
    let mut store = server.store();
    store.protocol = Protocol::S3;
    let mut client = client(store, 1);
    let mut buffers = Buffers::new("abcdefgh");
    let list = Action::List { max_keys: 10, continuation: None };
    let list = Request { action: list, path: "/b/", length: 0 };
    let answer = run(&mut client, &list, &mut buffers).result.unwrap();
    assert_eq!(answer.document, b"<ListBucketResult/>");
    let part = Action::PutPart { upload: "u".into(), number: 2, from: 2 };
    let part = Request { action: part, path: "/b/key", length: 4 };
    assert_eq!(run(&mut client, &part, &mut buffers).result.unwrap().moved, 4);
}

#[test]
fn stamps_are_in_order_and_a_kept_connection_has_no_connect() {
    let server = Server::saying(ok(b"abc"));
    let mut client = client(server.store(), 1);
    let first = run(&mut client, &get(3), &mut Buffers::new("")).stamps;
    let (begin, end) = first.connect.unwrap();
    let order =
        [first.begun, begin, end, first.sent.unwrap(), first.first_byte.unwrap(), first.ended];
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(first.tls, None);
    let second = run(&mut client, &get(3), &mut Buffers::new("")).stamps;
    assert_eq!(second.connect, None);
    assert!(second.begun >= first.ended);
}

#[test]
fn connections_made_ahead_cost_the_first_request_nothing() {
    let server = Server::saying(ok(b"abc"));
    let mut client = client(server.store(), 4);
    client.connect(9, PATIENCE).unwrap();
    assert_eq!(client.connections_made(), 4);
    let outcome = run(&mut client, &get(3), &mut Buffers::new(""));
    assert_eq!(outcome.stamps.connect, None);
    assert_eq!(client.connections_made(), 4);
}

#[test]
fn endpoints_have_their_turn() {
    let (one, other) = (Server::saying(ok(b"a")), Server::saying(ok(b"a")));
    let mut store = one.store();
    store.endpoints =
        vec![endpoint("localhost", one.address), endpoint("127.0.0.1", other.address)];
    let mut client = client(store, 4);
    let mut buffers = Buffers::new("");
    for slot in 0..4 {
        client.start(slot, &get(1), &mut buffers);
    }
    client.progress(4, Some(PATIENCE), &mut buffers).unwrap();
    assert!(client.outcomes().all(|outcome| outcome.result.is_ok()));
    assert_eq!((one.accepted(), other.accepted()), (2, 2));
}

#[test]
fn addresses_of_a_host_are_tried_in_turn_and_the_good_one_first_from_then_on() {
    let server = Server::closing(ok(b"a"));
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut client = client(server.store(), 1);
    client.places[0].addresses.splice(0..0, [deaf, deaf]);
    for _ in 0..2 {
        assert!(run(&mut client, &get(1), &mut Buffers::new("")).result.is_ok());
        assert_eq!(client.places[0].good, 2);
    }
    client.places[0].addresses.truncate(2);
    client.places[0].good = 0;
    let failed = failure(run(&mut client, &get(1), &mut Buffers::new("")));
    assert_eq!(failed, Failure::Connect(libc::ECONNREFUSED));
}

#[test]
fn hosts_may_be_addresses_of_version_6() {
    let server = Server::at("[::1]:0", |_, stream| {
        let mut stream = BufReader::new(stream);
        while let Some((head, _)) = request(&mut stream) {
            assert!(head.contains("Host: [::1]:"), "{head}");
            stream.get_mut().write_all(&ok(b"a")).unwrap();
        }
    });
    let mut store = server.store();
    store.endpoints = vec![endpoint("::1", server.address)];
    assert!(run(&mut client(store, 1), &get(1), &mut Buffers::new("")).result.is_ok());
}
