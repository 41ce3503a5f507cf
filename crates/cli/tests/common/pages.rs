//! `fathom serve` for a test, and requests to it.

use super::{FATHOM, Running, run};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A server over an archive in a directory, ended with the value.
pub struct Pages {
    /// The program.
    pub running: Running,
    /// Its address and port.
    pub address: String,
    /// What opens it.
    pub token: String,
    /// A session, as a browser sends it.
    pub cookie: String,
}

impl Pages {
    /// Over `directory/archive.db`, with more arguments.
    #[track_caller]
    pub fn start(directory: &Path, more: &[&str]) -> Pages {
        let archive = format!("--archive={}", archive(directory).display());
        let arguments = [&["--listen=127.0.0.1:0", &archive][..], more].concat();
        let mut running = Running::fathom("serve", directory, &arguments);
        running.says("err", "Ctrl-C ends it");
        let said = running.said("out");
        let address = said.trim().strip_prefix("http://").expect("an address");
        let (address, rest) = address.split_once('/').unwrap();
        let token = rest.strip_prefix("?token=").unwrap_or_default().to_owned();
        let mut pages = Pages { running, address: address.into(), token, cookie: String::new() };
        if !pages.token.is_empty() {
            let answer = pages.ask(&format!("GET /?token={} HTTP/1.1", pages.token), &[], "");
            let cookie = answer.header("set-cookie").expect("a session");
            pages.cookie = cookie.split(';').next().unwrap().to_owned();
        }
        pages
    }

    /// A whole address.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The address that opens a session.
    pub fn way_in(&self) -> String {
        self.url(&format!("/?token={}", self.token))
    }

    /// The answer to a request with further lines and a body.
    #[track_caller]
    pub fn ask(&self, request: &str, lines: &[&str], body: &str) -> Answer {
        let mut text = format!("{request}\r\n");
        if !lines.iter().any(|line| line.to_lowercase().starts_with("host:")) {
            text += &format!("Host: {}\r\n", self.address);
        }
        for line in lines {
            text += &format!("{line}\r\n");
        }
        text += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        self.raw(text.as_bytes())
    }

    /// The answer to bytes, until the server closes the connection.
    #[track_caller]
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // What is refused in the middle of a body may be answered before all of it was sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }

    /// A page as a browser with a session gets it.
    #[track_caller]
    pub fn page(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1"), &[&format!("Cookie: {}", self.cookie)], "")
    }

    /// What a program with the token gets.
    #[track_caller]
    pub fn api(&self, method: &str, path: &str, body: &str) -> Answer {
        let bearer = format!("Authorization: Bearer {}", self.token);
        self.ask(&format!("{method} {path} HTTP/1.1"), &[&bearer, JSON], body)
    }

    /// A form as our page sends it, with the secret of its session.
    #[track_caller]
    pub fn form(&self, path: &str, fields: &str) -> Answer {
        let page = self.page("/runs").body;
        let secret = page.split("name=\"csrf\" value=\"").nth(1).expect("a secret");
        let secret = secret.split('"').next().unwrap();
        let cookie = format!("Cookie: {}", self.cookie);
        let body = format!("csrf={secret}&{fields}");
        self.ask(&format!("POST {path} HTTP/1.1"), &[&cookie, FORM], &body)
    }
}

/// The line of a body in JSON.
pub const JSON: &str = "Content-Type: application/json";
/// The line of a form.
pub const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    /// Status; 0: nothing that is HTTP.
    pub status: u16,
    head: String,
    /// What it holds.
    pub body: String,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Answer {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// The value of a line of its head.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Panics unless it has this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }

    /// Its body as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

/// The archive of a test.
pub fn archive(directory: &Path) -> PathBuf {
    directory.join("archive.db")
}

/// A run whose record goes into the archive of a directory.
#[track_caller]
pub fn archived(directory: &Path, verb: &str, arguments: &[&str]) {
    let mut command = Command::new(FATHOM);
    command.arg(verb).args(arguments).current_dir(directory);
    run(command.env("FATHOM_ARCHIVE", archive(directory))).expect(0);
}
