//! Requests of stores whose objects are paths: WebDAV (RFC 4918) and Swift.

use super::body::{Body, ask_for_range, part};
use super::encode::push_encoded_path;
use super::spelling::Spelling;
use crate::{Action, Failure, Protocol, Request};

/// Writes a request without credentials. Returns its body.
pub fn spell(
    protocol: Protocol,
    host: &str,
    request: &Request<'_>,
    content: usize,
    to: &mut Spelling,
) -> Result<Body, Failure> {
    if !request.path.starts_with('/') {
        return Err(Failure::Refused(format!(
            "'{}' is no path: expected one that begins with a slash",
            request.path.escape_debug()
        )));
    }
    to.host.push_str(host);
    let swift = protocol == Protocol::Swift;
    let (path, prefix) = match request.action {
        Action::List { .. } if swift => container(request.path),
        _ => (request.path, ""),
    };
    push_encoded_path(&mut to.path, path);
    let (method, body) = match &request.action {
        Action::Put => ("PUT", Body::Content(part(0, request.length, content)?)),
        Action::Get { range } => {
            ask_for_range(*range, to)?;
            ("GET", Body::Nothing)
        }
        Action::Head | Action::HeadBucket => ("HEAD", Body::Nothing),
        Action::Delete => ("DELETE", Body::Nothing),
        Action::List { max_keys, continuation } if swift => {
            to.query("format", "json");
            to.query("limit", &max_keys.to_string());
            if let Some(continuation) = continuation {
                to.query("marker", continuation);
            }
            to.query("prefix", prefix);
            ("GET", Body::Nothing)
        }
        Action::List { .. } => {
            to.header("depth", 1);
            ("PROPFIND", Body::Text(ASKED.into()))
        }
        Action::MakeBucket if swift => ("PUT", Body::Text(Vec::new())),
        Action::MakeBucket => ("MKCOL", Body::Text(Vec::new())),
        Action::BeginUpload
        | Action::PutPart { .. }
        | Action::EndUpload { .. }
        | Action::DropUpload { .. } => return Err(no_uploads(protocol)),
    };
    to.method = method;
    Ok(body)
}

/// The properties that a list requests for each path.
const ASKED: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?><propfind xmlns=\"DAV:\"><prop>\
    <getcontentlength/><getetag/><resourcetype/></prop></propfind>";

/// Splits a path into "/v1/account/container" and the prefix after it.
fn container(path: &str) -> (&str, &str) {
    match path.match_indices('/').nth(3) {
        Some((at, _)) => (&path[..at], &path[at + 1..]),
        None => (path, ""),
    }
}

fn no_uploads(protocol: Protocol) -> Failure {
    let name = if protocol == Protocol::Swift { "Swift" } else { "WebDAV" };
    Failure::Refused(format!("{name} has no multipart uploads: put objects whole, or use S3"))
}
