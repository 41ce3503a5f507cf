//! `fathom serve` over plain TCP: who may see the pages, what they take, what they survive.

use crate::common::pages::{FORM, JSON, Pages, archived};
use crate::common::{FATHOM, run, scratch};
use rustix::process::Signal;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A run that is over at once.
const QUICK: &[&str] = &["--name=quick", "--ioengine=null", "--size=64k", "--rw=randread"];

#[test]
fn only_who_holds_the_token_sees_anything() {
    let directory = scratch();
    archived(directory.path(), "run", QUICK);
    let pages = Pages::start(directory.path(), &[]);
    assert_eq!(pages.token.len(), 64);
    for path in ["/", "/runs", "/api/v1/runs", "/metrics", "/live", "/nothing", "/../etc/passwd"] {
        let answer = pages.ask(&format!("GET {path} HTTP/1.1"), &[], "").expect(401);
        assert!(!answer.body.contains("quick"), "{path}");
        assert_eq!(answer.header("set-cookie"), None);
    }
    let wrong = format!("{}0", &pages.token[..63]);
    let wrong = if wrong == pages.token { pages.token.replace('0', "1") } else { wrong };
    pages.ask(&format!("GET /?token={wrong} HTTP/1.1"), &[], "").expect(401);
    pages.ask("GET / HTTP/1.1", &[&format!("Authorization: Bearer {wrong}")], "").expect(401);
    pages.ask("POST /login HTTP/1.1", &[FORM], &format!("token={wrong}")).expect(401);
    let answer = pages.ask(&format!("GET /runs?sort=iops&token={} HTTP/1.1", pages.token), &[], "");
    assert_eq!(answer.header("location"), Some("/runs?sort=iops"));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&pages.token), "the token itself is in no cookie");
    assert!(pages.page("/runs").expect(200).body.contains("quick"));
    assert_eq!(pages.api("GET", "/api/v1/runs", "").expect(200).json()["runs"][0]["job"], "quick");
    let login = format!("token={}", pages.token);
    pages.ask("POST /login HTTP/1.1", &[FORM], &login).expect(303);
    let out = pages.form("/logout", "").expect(303);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
}

#[test]
fn every_answer_forbids_browsers_what_pages_do_not_need() {
    let directory = scratch();
    let pages = Pages::start(directory.path(), &[]);
    for path in
        ["/runs", "/style.css", "/fathom.js", "/charts.js", "/login", "/nothing", "/api/v1/runs"]
    {
        let answer = pages.page(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"), "{path}");
        assert!(!answer.body.contains(" style=\"") && !answer.body.contains("onclick"), "{path}");
    }
}

#[test]
fn other_names_and_other_sites_are_refused() {
    let directory = scratch();
    let pages = Pages::start(directory.path(), &["--host=lab.example"]);
    let cookie = format!("Cookie: {}", pages.cookie);
    for host in ["evil.example", "127.0.0.1.evil.example", "a@127.0.0.1", ""] {
        let host = format!("Host: {host}");
        let answer = pages.ask("GET /runs HTTP/1.1", &[&host, &cookie], "");
        assert!(answer.status >= 400, "{host}: {}", answer.status);
        assert!(!answer.body.contains("csrf"), "{host}");
    }
    for host in ["localhost", "LAB.example:80", "[::1]:1"] {
        pages.ask("GET /runs HTTP/1.1", &[&format!("Host: {host}"), &cookie], "").expect(200);
    }
    // A session alone changes nothing: the secret of the form has to come with it.
    for (lines, body) in [
        (vec![FORM], "filter=x"),
        (vec![FORM], "csrf=0000"),
        (vec!["Content-Type: text/plain"], "csrf=0000"),
        (vec![JSON], "{}"),
        (vec![JSON, "X-CSRF-Token: 0000"], "{}"),
    ] {
        let lines = [&[cookie.as_str()], &lines[..]].concat();
        pages.ask("POST /logout HTTP/1.1", &lines, body).expect(403);
    }
    let page = pages.page("/runs").body;
    let secret = page.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let body = format!("csrf={secret}");
    for line in ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        pages.ask("POST /logout HTTP/1.1", &[&cookie, FORM, line], &body).expect(403);
    }
    let own = format!("Origin: http://{}", pages.address);
    pages.ask("POST /logout HTTP/1.1", &[&cookie, FORM, &own], &body).expect(303);
}

#[test]
fn what_is_no_name_of_a_run_reaches_no_file() {
    let directory = scratch();
    archived(directory.path(), "run", QUICK);
    let pages = Pages::start(directory.path(), &[]);
    let paths = [
        "/runs/../../../../etc/passwd",
        "/runs/..%2f..%2f..%2fetc%2fpasswd",
        "/runs/%2e%2e/%2e%2e/etc/passwd",
        "/runs/%00",
        "/runs/a%0d%0aSet-Cookie:%20x=y",
        "/runs/'%20OR%201=1--",
        "/runs/%ff%fe",
        "/style.css/../../Cargo.toml",
        "/live/..%2f1",
        "/live/99999999999999999999",
        "/compare?run=..%2f..%2fetc%2fpasswd&run=x",
        "/api/v1/runs/..%2f..%2farchive.db",
        "/api/v1/live/0",
    ];
    for path in paths {
        let answer = pages.page(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
        assert!(!answer.body.contains("root:"), "{path}");
        assert_eq!(answer.header("set-cookie"), None, "{path}");
    }
    for filter in ["'; DROP TABLE runs; --", "iops>", "since=yesterweek", "%", "\u{0}", "host="] {
        let filter: String = filter.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = pages.page(&format!("/runs?filter={filter}"));
        assert!([200, 400].contains(&answer.status), "{filter}: {}", answer.status);
    }
    for query in ["sort=nothing", "offset=-1", "limit=abc", "offset=99999999999999999999999"] {
        pages.page(&format!("/runs?{query}")).expect(400);
    }
    assert!(pages.page("/runs").expect(200).body.contains("quick"));
}

#[test]
fn names_are_shown_and_never_obeyed() {
    let directory = scratch();
    let evil = "<script>alert(1)</script>\"'&";
    archived(
        directory.path(),
        "run",
        &[
            &format!("--name={evil}"),
            &format!("--description={evil}"),
            "--ioengine=null",
            "--size=64k",
        ],
    );
    let pages = Pages::start(directory.path(), &[]);
    let id = pages.api("GET", "/api/v1/runs", "").json()["runs"][0]["id"].clone();
    let id = id.as_str().unwrap();
    let tags = pages.form(&format!("/runs/{id}/note"), "note=%3Cimg%20src%3Dx%20onerror%3D1%3E");
    tags.expect(303);
    for path in [
        "/runs",
        "/runs?filter=%3Cscript%3E",
        &format!("/runs/{id}"),
        &format!("/compare?run={id}&run={id}"),
    ] {
        let body = pages.page(path).body;
        assert!(!body.contains("<script>alert") && !body.contains("<img src=x"), "{path}");
    }
    assert!(pages.page("/runs").body.contains("&lt;script&gt;alert(1)"), "it is shown");
}

#[test]
fn what_is_too_much_is_refused() {
    let directory = scratch();
    let pages = Pages::start(directory.path(), &[]);
    let cookie = format!("Cookie: {}", pages.cookie);
    let megabytes = "a".repeat(3 << 20);
    pages.ask("POST /start HTTP/1.1", &[&cookie, FORM], &megabytes).expect(413);
    let long = format!("X-Long: {}", "a".repeat(100 << 10));
    assert_eq!(pages.ask("GET /runs HTTP/1.1", &[&cookie, &long], "").status, 431);
    let many: Vec<String> = (0..300).map(|n| format!("X-{n}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain([cookie.as_str()]).collect();
    assert_eq!(pages.ask("GET /runs HTTP/1.1", &many, "").status, 431);
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    ] {
        assert!([0, 400].contains(&pages.raw(bytes).status));
    }
    // A body that is said to be larger than any memory is not waited for.
    let claim = format!(
        "POST /logout HTTP/1.1\r\nHost: {}\r\n{cookie}\r\n{FORM}\r\n\
         Content-Length: 99999999999999\r\n\r\n",
        pages.address
    );
    let begun = Instant::now();
    let mut stream = TcpStream::connect(&pages.address).unwrap();
    stream.write_all(claim.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    assert!(begun.elapsed() < Duration::from_secs(5));
    pages.page("/runs").expect(200);
}

#[test]
fn slow_clients_keep_nobody_waiting_and_are_dropped() {
    let directory = scratch();
    let pages = Pages::start(directory.path(), &[]);
    let slow: Vec<TcpStream> = (0..150)
        .map(|_| {
            let mut stream = TcpStream::connect(&pages.address).unwrap();
            stream.write_all(b"GET /runs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    pages.page("/runs").expect(200);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // Told that it took too long or not, the connection is closed.
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

#[test]
fn a_hundred_clients_at_once_are_answered() {
    let directory = scratch();
    archived(directory.path(), "run", QUICK);
    let pages = Pages::start(directory.path(), &[]);
    std::thread::scope(|scope| {
        let ask = |n: usize| {
            let pages = &pages;
            scope.spawn(move || match n % 4 {
                0 => pages.api("GET", "/api/v1/runs", "").status,
                1 => pages.page("/style.css").status,
                _ => pages.page("/runs").status,
            })
        };
        let all: Vec<_> = (0..100).map(ask).collect();
        let all: Vec<u16> = all.into_iter().map(|one| one.join().unwrap()).collect();
        assert_eq!(all, [200; 100]);
    });
}

#[test]
fn tags_and_notes_are_kept_and_runs_removed() {
    let directory = scratch();
    archived(directory.path(), "run", QUICK);
    archived(directory.path(), "run", QUICK);
    let pages = Pages::start(directory.path(), &[]);
    let runs = pages.api("GET", "/api/v1/runs", "").json();
    let id = runs["runs"][0]["id"].as_str().unwrap().to_owned();
    pages.form(&format!("/runs/{id}/tag"), "tag=before-update").expect(303);
    pages.form(&format!("/runs/{id}/tag"), "tag=latest").expect(400);
    pages.form(&format!("/runs/{id}/tag"), "tag=").expect(400);
    pages.form(&format!("/runs/{id}/note"), "note=after+the+update").expect(303);
    let page = pages.page("/runs/before-update").expect(200).body;
    assert!(page.contains("before-update") && page.contains("after the update"), "{page}");
    let found = pages.api("GET", "/api/v1/runs?filter=tag%3Dbefore-update", "").json();
    assert_eq!(found["runs"].as_array().unwrap().len(), 1);
    let record = pages.api("GET", &format!("/api/v1/runs/{id}"), "").expect(200).body;
    pages.form(&format!("/runs/{id}/untag"), "tag=before-update").expect(303);
    pages.page("/runs/before-update").expect(404);
    // Removing asks first.
    pages.page(&format!("/runs/{id}/remove")).expect(200);
    pages.form(&format!("/runs/{id}/remove"), "").expect(303);
    pages.page(&format!("/runs/{id}")).expect(404);
    // What was removed can be put back.
    let added = pages.api("POST", "/api/v1/runs", &record).expect(201).json();
    let added = added["id"].as_str().unwrap();
    pages.api("PUT", &format!("/api/v1/runs/{added}/tags/again"), "").expect(204);
    pages.page("/runs/again").expect(200);
    pages.api("DELETE", &format!("/api/v1/runs/{added}/tags/again"), "").expect(204);
    pages.api("PUT", &format!("/api/v1/runs/{added}/note"), "{\"note\":\"n\"}").expect(204);
    pages.api("DELETE", &format!("/api/v1/runs/{added}"), "").expect(204);
    pages.api("GET", &format!("/api/v1/runs/{added}"), "").expect(404);
    for body in ["", "{", "{}", "[]", "null", "{\"schema\":999}"] {
        assert_eq!(pages.api("POST", "/api/v1/runs", body).status, 400, "{body}");
    }
}

#[test]
fn every_address_that_is_described_answers() {
    let directory = scratch();
    archived(directory.path(), "run", QUICK);
    archived(directory.path(), "run", QUICK);
    let pages = Pages::start(directory.path(), &[]);
    let described = pages.api("GET", "/api/v1/openapi.json", "").expect(200).json();
    assert!(described["openapi"].as_str().unwrap().starts_with("3."));
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.len() >= 8, "{:?}", paths.keys());
    for (path, methods) in paths {
        let read = methods.as_object().unwrap().contains_key("get");
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let has = methods.get(method.to_lowercase()).is_some();
            let path = path.replace("{id}", "latest").replace("{tag}", "t").replace("{pid}", "1");
            let asked = match (method, path.as_str()) {
                ("GET", "/api/v1/compare") => format!("{path}?before=latest&after=latest~1"),
                ("GET", "/api/v1/machine") => format!("{path}?path=/tmp"),
                // It is asked for below, where it removes what nobody needs any more.
                ("DELETE", "/api/v1/runs/latest") => continue,
                _ => path.clone(),
            };
            let answer = pages.api(method, &asked, "");
            match (has, method) {
                (false, _) => assert_eq!(answer.status, 405, "{method} {path}: {}", answer.body),
                (true, "GET") if path != "/api/v1/live/1" => {
                    assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
                    assert!(read);
                }
                (true, _) => assert_ne!(answer.status, 405, "{method} {path}: {}", answer.body),
            }
            if answer.status >= 400 {
                assert_eq!(answer.json()["error"]["status"], answer.status, "{method} {path}");
            }
        }
    }
    pages.api("DELETE", "/api/v1/runs/latest", "").expect(204);
    pages.api("GET", "/api/v1/nothing", "").expect(404).json();
}

#[test]
fn metrics_are_told_to_prometheus() {
    let directory = scratch();
    archived(directory.path(), "run", QUICK);
    let pages = Pages::start(directory.path(), &[]);
    let answer = pages.api("GET", "/metrics", "").expect(200);
    assert!(answer.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    assert!(answer.body.contains("\nfathom_archive_runs 1\n"), "{}", answer.body);
    for line in answer.body.lines() {
        let is_comment = line.starts_with("# HELP ") || line.starts_with("# TYPE ");
        let value = line.rsplit(' ').next().unwrap_or_default();
        assert!(is_comment || value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn addresses_beyond_this_machine_need_a_token_of_their_own() {
    let directory = scratch();
    let path = directory.path();
    let archive = format!("--archive={}", crate::common::pages::archive(path).display());
    let refused = |arguments: &[&str], why: &str| {
        let mut command = Command::new(FATHOM);
        command.arg("serve").arg(&archive).args(arguments).current_dir(path);
        let ran = run(&mut command).expect(2);
        assert!(crate::common::joined(&ran.err).contains(why), "{}", ran.err);
        assert_eq!(ran.out, "");
    };
    refused(&["--listen=0.0.0.0:0"], "--token-file");
    refused(&["--listen=nonsense"], "nonsense");
    let file = path.join("token");
    let option = format!("--token-file={}", file.display());
    let open = ["--listen=0.0.0.0:0", &option];
    refused(&open, "No such file");
    write(&file, "0123456789abcdef-of-the-lab\n", 0o644);
    refused(&open, "chmod 600");
    write(&file, "short\n", 0o600);
    refused(&open, "16 to 512");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    refused(&[&format!("--listen={}", taken.local_addr().unwrap())], "the port is in use");
    write(&file, "0123456789abcdef-of-the-lab\n", 0o600);
    let mut pages = Pages::start(path, &[&option]);
    assert!(!pages.running.said("out").contains("0123456789"), "it is not printed");
    pages.token = "0123456789abcdef-of-the-lab".into();
    pages.api("GET", "/api/v1/runs", "").expect(200);
}

fn write(file: &Path, text: &str, mode: u32) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn signals_end_it_at_once_whoever_is_connected() {
    let directory = scratch();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let pages = Pages::start(directory.path(), &[]);
        let mut idle = TcpStream::connect(&pages.address).unwrap();
        idle.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        let begun = Instant::now();
        pages.running.signal(signal);
        let ran = pages.running.end();
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn runs_are_started_only_where_that_is_allowed_and_never_beyond_the_guards() {
    let directory = scratch();
    let pages = Pages::start(directory.path(), &[]);
    pages.page("/start").expect(403);
    pages.form("/start", "job=x&target=%2Ftmp").expect(403);
    assert!(!pages.page("/runs").body.contains("href=\"/start\""));
    drop(pages);
    let pages = Pages::start(directory.path(), &["--allow-run"]);
    pages.page("/start").expect(200);
    let start = |job: &str, target: &str| {
        let encoded = |text: &str| text.bytes().map(|b| format!("%{b:02x}")).collect::<String>();
        pages.form("/start", &format!("job={}&target={}", encoded(job), encoded(target)))
    };
    let target = directory.path().to_str().unwrap();
    for (job, target, why) in [
        ("[a]\nexec_prerun=touch /tmp/owned\nsize=1m\n", target, "starts a program"),
        ("[a]\nioengine=exec\nprogram=/bin/true\n", target, "starts a program"),
        ("include /etc/passwd\n", target, "must not include files"),
        ("[a]\nnonsense=1\n", target, "nonsense"),
        ("[a]\nsize=1m\n", "relative", "absolute path"),
        ("[a]\nsize=1m\n", "/nowhere/at/all", "not there"),
        ("", target, "no job"),
    ] {
        let answer = start(job, target).expect(200);
        assert!(answer.body.contains(why), "{job}: {}", answer.body);
    }
    let answer = start("[quick]\r\nrw=write\r\nsize=64k\r\n", target).expect(303);
    let followed = answer.header("location").unwrap().to_owned();
    crate::common::wait_until("the run from the page", || {
        pages.page(&followed).body.contains("has ended")
    });
    assert!(directory.path().join("quick.0.0").exists());
    assert!(pages.page("/runs").body.contains("quick"));
}
