//! Every fault is reported as the right failure, and does not affect other requests.

use super::*;

#[test]
fn an_error_status_keeps_the_connection_and_its_explanation() {
    let text = "<Error><Code>NoSuchKey</Code><Message>It is gone.</Message></Error>";
    let head = format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n", text.len());
    let server = Server::saying(head + text);
    let mut client = client(server.store(), 1);
    for _ in 0..2 {
        match failure(run(&mut client, &get(6), &mut Buffers::new(""))) {
            Failure::Status { status: 404, code, message } => {
                assert_eq!(code, "NoSuchKey");
                assert!(message.contains("It is gone"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_wrong_length_is_distinguished_from_truncated_content() {
    let server = Server::closing("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
    assert_eq!(failing(&server, 6), Failure::Short { came: 3, due: 6 });
    let server = Server::saying(ok(b"abc"));
    assert_eq!(failing(&server, 6), Failure::WrongLength { length: 3, asked: 6 });
    assert_eq!(failing(&server, 2), Failure::WrongLength { length: 3, asked: 2 });
    let server = Server::closing("");
    assert_eq!(failing(&server, 6), Failure::Short { came: 0, due: 6 });
}

#[test]
fn garbage_is_reported_as_garbage() {
    for garbage in [
        "220 mail.example ESMTP\r\n".to_string(),
        "\0\0\0\0".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".into(),
        format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(100_000)),
    ] {
        let failure = failing(&Server::saying(garbage.clone()), 6);
        assert!(matches!(failure, Failure::Garbage(_)), "{failure:?} for {:.50}", garbage);
    }
}

#[test]
fn bytes_after_an_answer_end_the_connection() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd");
    let mut client = client(server.store(), 1);
    // Surplus bytes are not content, whether they are seen at once or after the next request has
    // started.
    let outcome = run(&mut client, &get(3), &mut Buffers::new(""));
    assert_eq!(outcome.result.unwrap().moved, 3);
    client.start(0, &get(3), &mut Buffers::new(""));
    client.progress(1, Some(PATIENCE), &mut Buffers::new("")).unwrap();
    assert_eq!(client.outcomes().count(), 1);
}

#[test]
fn a_reset_is_one() {
    let server = Server::new(|_, stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        request(&mut reader).unwrap();
        drop(reader);
        reset(stream);
    });
    let mut client = client(server.store(), 1);
    let failed = failure(run(&mut client, &get(6), &mut Buffers::new("")));
    assert_eq!(failed, Failure::Broken(libc::ECONNRESET));
    let failed = failure(run(&mut client, &put(3), &mut Buffers::new("abc")));
    assert_eq!(failed, Failure::Broken(libc::ECONNRESET));
    assert_eq!(server.accepted(), 2);
}

#[test]
fn silence_ends_with_the_timeout_wherever_it_falls() {
    for said in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"] {
        let server = Server::new(move |_, stream| {
            let mut stream = BufReader::new(stream);
            request(&mut stream).unwrap();
            stream.get_mut().write_all(said.as_bytes()).unwrap();
            hold(stream.into_inner());
        });
        let mut store = server.store();
        store.timeout = Duration::from_millis(150);
        let outcome = run(&mut client(store, 1), &get(6), &mut Buffers::new(""));
        let waited = outcome.stamps.ended - outcome.stamps.begun;
        assert!(waited >= 150_000_000, "{waited}");
        assert_eq!(failure(outcome), Failure::Timeout, "{said}");
    }
    // A server that receives no content.
    let server = Server::new(|_, stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        while stream.peek(&mut [0]).is_ok_and(|bytes| bytes > 0) {
            thread::park_timeout(Duration::from_millis(20));
        }
    });
    let mut store = server.store();
    store.timeout = Duration::from_millis(150);
    let mut buffers = Buffers::new(vec![7; 64 << 20]);
    let outcome = run(&mut client(store, 1), &put(64 << 20), &mut buffers);
    assert_eq!(failure(outcome), Failure::Timeout);
}

#[test]
fn a_slow_answer_is_no_silence() {
    let server = Server::new(|_, stream| {
        let mut stream = BufReader::new(stream);
        request(&mut stream).unwrap();
        for byte in ok(b"abc") {
            thread::park_timeout(Duration::from_millis(20));
            stream.get_mut().write_all(&[byte]).unwrap();
        }
    });
    let mut store = server.store();
    store.timeout = Duration::from_millis(400);
    let outcome = run(&mut client(store, 1), &get(3), &mut Buffers::new(""));
    assert!(outcome.stamps.ended - outcome.stamps.begun > 400_000_000);
    assert_eq!(outcome.result.unwrap().moved, 3);
}

#[test]
fn connecting_fails_if_no_server_listens() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoints = vec![endpoint("127.0.0.1", free)];
    let store = Store { endpoints, timeout: PATIENCE, ..Store::default() };
    let mut client = client(store, 1);
    let refused = Failure::Connect(libc::ECONNREFUSED);
    for _ in 0..3 {
        assert_eq!(failure(run(&mut client, &get(1), &mut Buffers::new(""))), refused);
    }
    assert_eq!(client.connect(1, PATIENCE), Err(refused));
    assert_eq!(client.connections_made(), 0);
}

#[test]
fn a_host_without_an_address_is_reported_at_once() {
    let endpoints = vec![Endpoint { host: "no such host.invalid".into(), port: 1 }];
    let store = Arc::new(Store { endpoints, ..Store::default() });
    match Client::open(store, 1, clock()) {
        Err(Failure::NoSuchHost(text)) => assert!(text.contains("no such host.invalid"), "{text}"),
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn an_answer_before_the_whole_request_counts() {
    let server = Server::new(|_, stream| {
        let mut line = String::new();
        let mut reader = BufReader::new(stream);
        reader.read_line(&mut line).unwrap();
        let answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
        hold(reader.into_inner());
    });
    let mut buffers = Buffers::new(vec![7; 64 << 20]);
    let failed = failure(run(&mut client(server.store(), 1), &put(64 << 20), &mut buffers));
    assert!(matches!(failed, Failure::Status { status: 403, .. }), "{failed:?}");
}

/// Answers the first request of each connection, reads a second one, and closes without an answer.
/// Connections from `from` on are closed after the first request.
fn forgetful(from: u64) -> Server {
    Server::new(move |number, stream| {
        let mut stream = BufReader::new(stream);
        request(&mut stream);
        if number < from {
            stream.get_mut().write_all(&ok(b"abc")).unwrap();
            request(&mut stream);
        }
    })
}

#[test]
fn a_connection_closed_while_idle_is_no_failure() {
    let server = forgetful(u64::MAX);
    let mut client = client(server.store(), 1);
    for _ in 0..4 {
        let outcome = run(&mut client, &get(3), &mut Buffers::new(""));
        assert_eq!((outcome.result.unwrap().moved, outcome.lost.len()), (3, 0));
    }
    assert_eq!(server.accepted(), 4);
}

#[test]
fn a_new_connection_that_is_closed_is_a_failure() {
    let server = forgetful(1);
    let mut client = client(server.store(), 1);
    assert!(run(&mut client, &get(3), &mut Buffers::new("")).result.is_ok());
    let failed = failure(run(&mut client, &get(3), &mut Buffers::new("")));
    assert_eq!(failed, Failure::Short { came: 0, due: 3 });
    assert_eq!(server.accepted(), 2);
}

/// Answers the first `bad` requests with `answer`.
fn moody(bad: u64, answer: &'static str) -> Server {
    let served = AtomicU64::new(0);
    Server::new(move |_, stream| {
        let mut stream = BufReader::new(stream);
        while request(&mut stream).is_some() {
            if served.fetch_add(1, Ordering::SeqCst) >= bad {
                stream.get_mut().write_all(&ok(b"abc")).unwrap();
            } else if stream.get_mut().write_all(answer.as_bytes()).is_err() || answer.is_empty() {
                return;
            }
        }
    })
}

#[test]
fn temporary_failures_are_retried_as_often_as_allowed() {
    let slow = "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n";
    for (answer, kind) in [(slow, "503"), ("", "short body")] {
        let server = moody(2, answer);
        let mut store = server.store();
        store.retries = 2;
        let outcome = run(&mut client(store, 1), &get(3), &mut Buffers::new(""));
        let lost: Vec<String> = outcome.lost.iter().map(|lost| lost.failure.kind()).collect();
        assert_eq!(lost, [kind, kind]);
        // The first attempt had to connect. If the server closes, the second one had to, too.
        assert!(outcome.lost[0].connect.is_some_and(|(from, to)| from < to));
        assert_eq!(outcome.lost[1].connect.is_some(), answer.is_empty());
        assert_eq!(outcome.stamps.connect.is_some(), answer.is_empty());
        assert_eq!(outcome.result.unwrap().moved, 3);
        let server = moody(2, answer);
        let mut store = server.store();
        store.retries = 1;
        let outcome = run(&mut client(store, 1), &get(3), &mut Buffers::new(""));
        assert_eq!((outcome.lost.len(), failure(outcome).kind().as_str()), (1, kind));
    }
    let server = moody(1, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    let mut store = server.store();
    store.retries = 5;
    let outcome = run(&mut client(store, 1), &get(3), &mut Buffers::new(""));
    assert_eq!((outcome.lost.len(), failure(outcome).kind().as_str()), (0, "403"));
}

#[test]
fn a_request_that_is_given_up_has_no_outcome() {
    let server = Server::new(|number, stream| {
        let mut stream = BufReader::new(stream);
        while request(&mut stream).is_some() {
            if number == 0 {
                return hold(stream.into_inner());
            }
            stream.get_mut().write_all(&ok(b"abc")).unwrap();
        }
    });
    let mut client = client(server.store(), 1);
    let mut buffers = Buffers::new("");
    client.start(3, &get(3), &mut buffers);
    // Another request waits for the connection.
    client.start(4, &get(3), &mut buffers);
    client.progress(1, Some(Duration::from_millis(50)), &mut buffers).unwrap();
    client.drop_request(3);
    client.progress(1, Some(PATIENCE), &mut buffers).unwrap();
    let slots: Vec<u32> = client.outcomes().map(|outcome| outcome.slot).collect();
    assert_eq!(slots, [4]);
    client.start(5, &get(3), &mut buffers);
    client.progress(1, Some(PATIENCE), &mut buffers).unwrap();
    client.drop_request(5);
    assert_eq!(client.next_outcome(), None);
    assert_eq!(client.progress(1, None, &mut buffers).unwrap(), 0);
}

#[test]
fn all_that_is_under_way_can_be_given_up() {
    let slow = "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n";
    let server = Server::new(move |number, stream| {
        let mut stream = BufReader::new(stream);
        request(&mut stream).unwrap();
        if number == 0 {
            stream.get_mut().write_all(slow.as_bytes()).unwrap();
        }
        hold(stream.into_inner());
    });
    let mut store = server.store();
    store.retries = 1;
    let mut client = client(store, 2);
    let mut buffers = Buffers::new("");
    // One request is to be retried, but those before it have no answer.
    for slot in 0..3 {
        client.start(slot, &get(3), &mut buffers);
    }
    let begin = Instant::now();
    while client.slots.iter().all(|slot| slot.lost.is_empty()) {
        assert!(begin.elapsed() < PATIENCE);
        client.progress(1, Some(Duration::from_millis(10)), &mut buffers).unwrap();
    }
    client.give_up();
    assert_eq!(client.progress(1, None, &mut buffers).unwrap(), 3);
    let outcomes: Vec<Outcome> = client.outcomes().collect();
    assert!(outcomes.iter().all(|outcome| outcome.result == Err(Failure::GivenUp)));
    assert_eq!(outcomes.iter().map(|outcome| outcome.lost.len()).sum::<usize>(), 1);
    client.give_up();
    assert_eq!(client.next_outcome(), None);
}

#[test]
fn progress_returns_after_its_timeout() {
    let server = Server::new(|_, stream| hold(stream));
    let mut client = client(server.store(), 1);
    let mut buffers = Buffers::new("");
    client.start(0, &get(3), &mut buffers);
    for wait in [0, 1, 300, 2_500, 12_300] {
        let wait = Duration::from_micros(wait);
        let begin = Instant::now();
        assert_eq!(client.progress(1, Some(wait), &mut buffers).unwrap(), 0);
        assert!(begin.elapsed() >= wait);
    }
    assert_eq!(client.progress(0, Some(PATIENCE), &mut buffers).unwrap(), 0);
}

#[test]
fn a_request_that_cannot_be_sent_is_refused_without_a_connection() {
    let server = Server::saying(ok(b"abc"));
    let mut store = server.store();
    store.protocol = crate::Protocol::S3;
    let mut client = client(store, 1);
    // More than the slot holds.
    let failed = failure(run(&mut client, &put(4), &mut Buffers::new("abc")));
    assert!(matches!(failed, Failure::Refused(_)), "{failed:?}");
    assert!(run(&mut client, &get(3), &mut Buffers::new("")).result.is_ok());
    assert_eq!(server.accepted(), 1);
}
