//! OpenStack Swift's objects, as its API describes them: a token, containers, objects.

use crate::answering::{Answer, Handler, Http, Listening, answer_with};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use md5::{Digest, Md5};
use s3s::Body;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

type Containers = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

/// A Swift server on loopback. Its containers are below `/v1/AUTH_test`. It stops when the value is
/// dropped.
pub struct SwiftServer {
    http: Http,
    containers: Arc<Mutex<Containers>>,
}

impl Deref for SwiftServer {
    type Target = Http;

    fn deref(&self) -> &Http {
        &self.http
    }
}

impl DerefMut for SwiftServer {
    fn deref_mut(&mut self) -> &mut Http {
        &mut self.http
    }
}

impl SwiftServer {
    /// The account of all containers.
    pub const ACCOUNT: &str = "/v1/AUTH_test";

    /// Starts a server with a token and empty containers.
    #[track_caller]
    pub fn start(listening: Listening, token: &str, containers: &[&str]) -> SwiftServer {
        let made = containers.iter().map(|name| ((*name).to_owned(), BTreeMap::new()));
        let containers = Arc::new(Mutex::new(made.collect::<Containers>()));
        let (kept, token) = (Arc::clone(&containers), token.to_owned());
        let handler: Handler = Arc::new(move |request| -> Answer {
            let answer = answer(&request, &token, &kept);
            Box::pin(async move { answer })
        });
        SwiftServer { http: Http::start(listening, handler), containers }
    }

    /// The content of an object; `None` if it does not exist.
    pub fn object(&self, container: &str, name: &str) -> Option<Vec<u8>> {
        let containers = self.containers.lock().unwrap_or_else(PoisonError::into_inner);
        containers.get(container)?.get(name).cloned()
    }
}

fn answer(
    request: &Request<Vec<u8>>,
    token: &str,
    containers: &Mutex<Containers>,
) -> Response<Body> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    if header("x-auth-token") != Some(token) {
        return error_response(401, "Unauthorized");
    }
    let path = decoded(request.uri().path());
    let Some(place) = path.strip_prefix(SwiftServer::ACCOUNT).and_then(|at| at.strip_prefix('/'))
    else {
        return error_response(403, "Forbidden");
    };
    let (container, name) = place.split_once('/').unwrap_or((place, ""));
    let mut containers = containers.lock().unwrap_or_else(PoisonError::into_inner);
    if *request.method() == Method::PUT && name.is_empty() {
        let made = containers.insert(container.to_owned(), BTreeMap::new()).is_none();
        return answer_with(if made { 201 } else { 202 }, Vec::new());
    }
    let Some(objects) = containers.get_mut(container) else {
        return error_response(404, "Not Found");
    };
    match (request.method(), name) {
        (&Method::GET, "") => listed(objects),
        (&Method::PUT, _) => {
            objects.insert(name.to_owned(), request.body().clone());
            with(answer_with(201, Vec::new()), "etag", &tag_of(request.body()))
        }
        (&Method::DELETE, _) => match objects.remove(name) {
            Some(_) => answer_with(204, Vec::new()),
            None => error_response(404, "Not Found"),
        },
        (&Method::GET | &Method::HEAD, _) => match objects.get(name) {
            Some(content) => read(content, header("range")),
            None => error_response(404, "Not Found"),
        },
        _ => error_response(405, "Method Not Allowed"),
    }
}

/// An error as an HTML page, as Swift sends it.
fn error_response(status: u16, what: &str) -> Response<Body> {
    let page = format!("<html><h1>{what}</h1><p>The server says {status}.</p></html>");
    with(answer_with(status, page), "content-type", "text/html; charset=UTF-8")
}

fn with(mut answer: Response<Body>, name: &'static str, value: &str) -> Response<Body> {
    let value = HeaderValue::from_str(value).expect("a header's value");
    answer.headers_mut().insert(HeaderName::from_static(name), value);
    answer
}

fn tag_of(content: &[u8]) -> String {
    Md5::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn listed(objects: &BTreeMap<String, Vec<u8>>) -> Response<Body> {
    if objects.is_empty() {
        return answer_with(204, Vec::new());
    }
    answer_with(200, objects.keys().map(|name| format!("{name}\n")).collect::<String>())
}

fn read(content: &[u8], range: Option<&str>) -> Response<Body> {
    let length = content.len();
    let Some(range) = range else {
        return with(answer_with(200, content.to_vec()), "etag", &tag_of(content));
    };
    let ends = range.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let ends = ends.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    match ends {
        Some((first, last)) if first <= last && first < length => {
            let last: usize = std::cmp::min(last, length - 1);
            let part = answer_with(206, content[first..=last].to_vec());
            with(part, "content-range", &format!("bytes {first}-{last}/{length}"))
        }
        _ => with(error_response(416, "Range"), "content-range", &format!("bytes */{length}")),
    }
}

/// Decodes a percent-encoded path.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = code.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
