//! Failures explained by error answers, with advice.

use super::{shortened, text_of};
use crate::Failure;
use chrono::{DateTime, Utc};
use roxmltree::Document;
use serde_json::Value;
use std::time::SystemTime;

/// Smaller differences between clocks are not mentioned: S3 allows 15 minutes.
const SKEW_WORTH_SAYING_S: i64 = 300;

/// Headers of an error answer that help to explain it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    date: Option<String>,
    region: Option<String>,
    location: Option<String>,
}

impl Hints {
    /// Keeps a header if it helps. The case of its name does not matter.
    pub fn read_header(&mut self, name: &str, value: &[u8]) {
        let kept = match name {
            _ if name.eq_ignore_ascii_case("date") => &mut self.date,
            _ if name.eq_ignore_ascii_case("x-amz-bucket-region") => &mut self.region,
            _ if name.eq_ignore_ascii_case("location") => &mut self.location,
            _ => return,
        };
        *kept = Some(shortened(&String::from_utf8_lossy(value)));
    }
}

/// The content of an error answer: S3's XML, other XML, JSON, HTML or any text.
#[derive(Default)]
struct ErrorDocument {
    code: String,
    message: String,
    region: Option<String>,
    time: Option<DateTime<Utc>>,
}

/// The failure of an answer with this status. `body` may be truncated or empty; `now` is this
/// machine's time.
pub fn failure(status: u16, hints: &Hints, body: &[u8], now: SystemTime) -> Failure {
    let text = String::from_utf8_lossy(body);
    let mut failure = read(&text);
    failure.region = failure.region.or_else(|| hints.region.clone());
    failure.time = failure.time.or_else(|| {
        let date = hints.date.as_deref()?;
        DateTime::parse_from_rfc2822(date).ok().map(|date| date.to_utc())
    });
    let advice = advice(status, &failure, hints, DateTime::<Utc>::from(now));
    let mut message = failure.message;
    if let Some(advice) = advice {
        while message.ends_with(['.', ' ']) {
            message.pop();
        }
        if !message.is_empty() {
            message += "; ";
        }
        message += &advice;
    }
    Failure::Status { status, code: failure.code, message }
}

/// A failure despite a good status: S3 may fail to join parts after it has sent status 200.
pub fn hidden_failure(status: u16, document: &[u8], now: SystemTime) -> Option<Failure> {
    let text = std::str::from_utf8(document).ok()?;
    let parsed = Document::parse(text.trim_start()).ok()?;
    (parsed.root_element().tag_name().name() == "Error")
        .then(|| failure(status, &Hints::default(), document, now))
}

fn read(text: &str) -> ErrorDocument {
    let text = text.trim();
    if let Ok(document) = Document::parse(text) {
        let root = document.root_element();
        let name = root.tag_name().name();
        if name.eq_ignore_ascii_case("html") {
            return ErrorDocument { message: without_tags(text), ..ErrorDocument::default() };
        }
        let element = |name| text_of(root, name).map(shortened).filter(|text| !text.is_empty());
        let time = element("ServerTime").and_then(|time| DateTime::parse_from_rfc3339(&time).ok());
        return ErrorDocument {
            code: element("Code")
                .or_else(|| element("exception"))
                .filter(|code| is_code(code))
                .unwrap_or_default(),
            message: element("Message").unwrap_or_default(),
            region: element("Region"),
            time: time.map(|time| time.to_utc()),
        };
    }
    if let Ok(value) = serde_json::from_str(text) {
        return from_json(&value);
    }
    let message = if text.starts_with('<') { without_tags(text) } else { shortened(text) };
    ErrorDocument { message, ..ErrorDocument::default() }
}

/// Whether a text is an error code. Codes are single words.
fn is_code(code: &str) -> bool {
    code.len() <= 80
        && code.chars().all(|char| char.is_ascii_alphanumeric() || "._-\\".contains(char))
}

/// Reads a JSON object that describes an error, which may be nested in another one.
fn from_json(value: &Value) -> ErrorDocument {
    let inner =
        ["error", "Error"].iter().find_map(|name| value.get(name)).filter(|v| v.is_object());
    let value = inner.unwrap_or(value);
    let field = |names: &[&str]| names.iter().find_map(|name| value.get(name)?.as_str());
    let message = field(&["message", "Message", "error", "title", "detail"]);
    let code = field(&["code", "Code"]).map(shortened).filter(|code| is_code(code));
    ErrorDocument {
        code: code.unwrap_or_default(),
        message: message.map_or_else(|| shortened(&value.to_string()), shortened),
        ..ErrorDocument::default()
    }
}

/// The text of an HTML page, which may be malformed.
fn without_tags(page: &str) -> String {
    let mut text = String::new();
    for (n, piece) in page.split('<').enumerate() {
        let shown = if n == 0 { piece } else { piece.split_once('>').map_or("", |(_, rest)| rest) };
        text.push_str(shown);
        text.push(' ');
    }
    shortened(&text)
}

/// Advice for the user.
fn advice(status: u16, told: &ErrorDocument, hints: &Hints, now: DateTime<Utc>) -> Option<String> {
    let skew = told.time.map(|time| (now - time).num_seconds());
    let region = || {
        let region = told.region.as_ref()?;
        Some(format!("the server names region '{region}': set it as the region to sign for"))
    };
    match told.code.as_str() {
        "RequestTimeTooSkewed" => Some(skewed(skew)),
        "SignatureDoesNotMatch" => {
            Some("the secret key may be wrong, or the region that is signed for".into())
        }
        "AuthorizationHeaderMalformed" => {
            region().or_else(|| Some("the region that is signed for may be wrong".into()))
        }
        "PermanentRedirect" | "TemporaryRedirect" | "IllegalLocationConstraintException" => {
            region().or_else(|| elsewhere(hints))
        }
        "" if matches!(status, 301 | 302 | 307 | 308) => region().or_else(|| elsewhere(hints)),
        "" if matches!(status, 400 | 401 | 403) => {
            let skew = skew.filter(|skew| skew.abs() > SKEW_WORTH_SAYING_S);
            skew.map(|skew| skewed(Some(skew))).or_else(region).or_else(|| {
                (told.message.is_empty() && status != 400).then(|| {
                    "it does not say why: key, password, token or region may be wrong, or rights \
                     missing"
                        .into()
                })
            })
        }
        _ => None,
    }
}

fn elsewhere(hints: &Hints) -> Option<String> {
    let location = hints.location.as_ref()?;
    Some(format!("the server sends us to {location}: name that host as the endpoint"))
}

/// `skew`: seconds that this clock is ahead of the server's.
fn skewed(skew: Option<i64>) -> String {
    let Some(skew) = skew else {
        return "this machine's clock differs too much from the server's: set it".into();
    };
    let way = if skew < 0 { "behind" } else { "ahead of" };
    format!(
        "this machine's clock is {} {way} the server's: set one of them right",
        span(skew.abs())
    )
}

/// Seconds as "3 d 2 h", "1 h 20 min", "16 min 5 s".
fn span(seconds: i64) -> String {
    let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)];
    let largest = units.iter().position(|(_, unit)| seconds >= *unit).unwrap_or(3);
    let mut rest = seconds;
    let mut words = Vec::new();
    for (name, unit) in units.iter().skip(largest).take(2) {
        if rest / unit > 0 || words.is_empty() {
            words.push(format!("{} {name}", rest / unit));
        }
        rest %= unit;
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2013-05-24 00:00:00 UTC.
    const NOW_S: u64 = 1_369_353_600;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(NOW_S)
    }

    fn said(status: u16, headers: &[(&str, &str)], body: &str) -> (String, String) {
        let mut hints = Hints::default();
        for (name, value) in headers {
            hints.read_header(name, value.as_bytes());
        }
        match failure(status, &hints, body.as_bytes(), now()) {
            Failure::Status { status: said, code, message } => {
                assert_eq!(said, status);
                (code, message)
            }
            other => panic!("{other}"),
        }
    }

    #[test]
    fn s3_names_its_errors() {
        let body = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code>\
                    <Message>The specified key does not exist.</Message><Key>a&amp;b</Key></Error>";
        let expected = ("NoSuchKey".into(), "The specified key does not exist.".into());
        assert_eq!(said(404, &[], body), expected);
        let failure = failure(404, &Hints::default(), body.as_bytes(), now());
        assert_eq!(
            failure.to_string(),
            "the server answered 404 NoSuchKey: The specified key does not exist."
        );
    }

    #[test]
    fn the_skew_of_a_clock_is_reported() {
        let body = "<Error><Code>RequestTimeTooSkewed</Code><Message>Too large.</Message>\
                    <ServerTime>2013-05-24T01:20:05Z</ServerTime></Error>";
        let (code, message) = said(403, &[("date", "Fri, 24 May 2013 09:00:00 GMT")], body);
        assert_eq!(code, "RequestTimeTooSkewed");
        assert!(message.starts_with("Too large; this machine's clock is 1 h 20 min behind the"));
        let body = "<Error><Code>RequestTimeTooSkewed</Code></Error>";
        let (_, message) = said(403, &[("Date", "Wed, 22 May 2013 22:00:00 GMT")], body);
        assert!(message.starts_with("this machine's clock is 1 d 2 h ahead of"), "{message}");
        // The answer to a HEAD has no body, so only the date explains the error.
        let (_, message) = said(403, &[("DATE", "Fri, 24 May 2013 00:16:05 GMT")], "");
        assert!(message.contains("16 min 5 s behind"), "{message}");
        let (_, message) = said(403, &[("DATE", "Fri, 24 May 2013 00:00:05 GMT")], "");
        assert!(message.contains("does not say why"), "{message}");
    }

    #[test]
    fn a_wrong_key_or_region_is_reported() {
        let error = |inner: &str| format!("<Error>{inner}</Error>");
        let body = error("<Code>SignatureDoesNotMatch</Code><Message>No match.</Message>");
        let (_, message) = said(403, &[], &body);
        assert_eq!(
            message,
            "No match; the secret key may be wrong, or the region that is signed for"
        );
        let body = error("<Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region>");
        let (_, message) = said(400, &[], &body);
        assert!(message.contains("names region 'eu-west-1'"), "{message}");
        let body = error("<Code>PermanentRedirect</Code><Message>Elsewhere.</Message>");
        let (_, message) = said(301, &[("x-amz-bucket-region", "us-west-2")], &body);
        assert!(message.contains("names region 'us-west-2'"), "{message}");
        let (_, message) = said(307, &[("Location", "http://other/b")], "");
        assert!(message.contains("sends us to http://other/b"), "{message}");
    }

    #[test]
    fn other_servers_are_understood_too() {
        let swift = "<html><h1>Not Found</h1><p>The resource could not be found.</p></html>";
        assert_eq!(said(404, &[], swift).1, "Not Found The resource could not be found.");
        let nginx = "<html>\r\n<head><title>404 Not Found</title></head><hr>nginx<br></html>";
        assert_eq!(said(404, &[], nginx).1, "404 Not Found nginx");
        let dav = "<?xml version=\"1.0\"?><d:error xmlns:d=\"DAV:\" xmlns:s=\"http://sabredav.org/ns\">\
                   <s:exception>Sabre\\DAV\\Exception\\NotFound</s:exception>\
                   <s:message>File not found</s:message></d:error>";
        assert_eq!(
            said(404, &[], dav),
            ("Sabre\\DAV\\Exception\\NotFound".into(), "File not found".into())
        );
        let json = "{\"error\":{\"code\":\"Nope\",\"message\":\"not\\nyours\"}}";
        assert_eq!(said(403, &[], json), ("Nope".into(), "not yours".into()));
        assert_eq!(said(503, &[], "busy\nwait").1, "busy wait");
        assert_eq!(said(503, &[], "\u{1b}[31mred").1, "[31mred");
        assert_eq!(said(500, &[], "").1, "");
    }

    #[test]
    fn an_error_behind_a_good_status_is_found() {
        let error = b"\n <Error><Code>InternalError</Code><Message>Again.</Message></Error>";
        let found = hidden_failure(200, error, now()).unwrap();
        assert!(found.may_pass(), "{found}");
        assert_eq!(found.kind(), "InternalError");
        let good =
            b"<CompleteMultipartUploadResult><Error>no</Error></CompleteMultipartUploadResult>";
        assert_eq!(hidden_failure(200, good, now()), None);
        assert_eq!(hidden_failure(200, b"", now()), None);
    }

    proptest! {
        #[test]
        fn any_body_is_taken(status in 300_u16..600, body in any::<Vec<u8>>(), date in any::<String>()) {
            let mut hints = Hints::default();
            hints.read_header("date", date.as_bytes());
            let shown = failure(status, &hints, &body, now()).to_string();
            prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
        }
    }
}
