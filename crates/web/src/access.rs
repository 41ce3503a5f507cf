//! Middleware: access control for every request, headers for every response.

use crate::error_page;
use crate::failure::Failure;
use crate::guard::{self, Caller, Guard};
use crate::site::Site;
use axum::Form;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

/// Most bytes of a form. The longest field is the text of a job.
const FORM_BYTES: usize = 1 << 20;

/// The content security policy: browsers may load our style, script and pictures, and send forms to
/// us.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; \
    script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
    base-uri 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With "no-referrer" browsers send forms with "Origin: null".
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds headers to every response and a body to every error.
pub async fn add_headers(State(site): State<Site>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_api = path.starts_with("/api/") || path == "/metrics";
    let mut response = error_page::render(&site, is_api, next.run(request).await);
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses requests without access.
pub async fn admit(State(site): State<Site>, request: Request, next: Next) -> Response {
    match check_access(&site, request).await {
        Ok(Access::Granted(request)) => next.run(request).await,
        Ok(Access::OpenSession(response)) => response,
        Err(failure) => failure.into_response(),
    }
}

/// The decision on a request.
enum Access {
    /// It is handled.
    Granted(Request),
    /// The browser gets a session and is redirected to the address without the token.
    OpenSession(Response),
}

async fn check_access(site: &Site, request: Request) -> Result<Access, Failure> {
    let guard = site.guard();
    if !guard.is_host(request.headers()) {
        let text = "This host name is not known to the server: use 127.0.0.1 or localhost, or \
                    allow the name with fathom serve --host NAME.";
        return Err(Failure { status: StatusCode::MISDIRECTED_REQUEST, text: text.into() });
    }
    let changes = ![Method::GET, Method::HEAD].contains(request.method());
    if changes && guard::is_cross_site(request.headers()) {
        return Err(Failure::forbidden("A page of another site sent this; nothing was done."));
    }
    if is_open(request.uri().path()) {
        return Ok(Access::Granted(request));
    }
    match guard.caller(request.headers(), request.uri()) {
        Caller::Program => Ok(Access::Granted(request)),
        Caller::Session if changes => Ok(Access::Granted(check_csrf(guard, request).await?)),
        Caller::Session => Ok(Access::Granted(request)),
        Caller::TokenInUrl if changes => Err(Failure::unauthorized(true)),
        Caller::TokenInUrl => {
            Ok(Access::OpenSession(open_session(guard, &without_token(request.uri()))))
        }
        Caller::Unknown { is_wrong } => Err(Failure::unauthorized(is_wrong)),
    }
}

/// Whether a path needs no token: the assets and the login page.
fn is_open(path: &str) -> bool {
    path == "/login" || crate::layout::ASSETS.iter().any(|asset| asset.path == path)
}

/// The request, if it holds the CSRF secret.
async fn check_csrf(guard: &Guard, request: Request) -> Result<Request, Failure> {
    let refusal = || {
        let text = "This did not come from a page of this fathom serve, or the page was loaded before \
                    the server was restarted: load the page again. Nothing was done.";
        Failure::forbidden(text)
    };
    if let Some(secret) = request.headers().get("x-csrf-token") {
        let is_ours = secret.to_str().is_ok_and(|secret| guard.is_ours(secret));
        return if is_ours { Ok(request) } else { Err(refusal()) };
    }
    if !is_form(request.headers()) {
        return Err(refusal());
    }
    let (head, body) = request.into_parts();
    let too_long = || Failure {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        text: format!("A form may hold {FORM_BYTES} bytes; this one holds more."),
    };
    // A declared length needs no reading.
    if body.size_hint().lower() > FORM_BYTES as u64 {
        return Err(too_long());
    }
    let bytes = to_bytes(body, FORM_BYTES).await.map_err(|_| too_long())?;
    let is_ours = fields(&bytes).is_some_and(|fields| {
        fields.iter().any(|(name, value)| name == "csrf" && guard.is_ours(value))
    });
    if !is_ours {
        return Err(refusal());
    }
    Ok(Request::from_parts(head, Body::from(bytes)))
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// Names and values of an encoded form.
fn fields(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let text = std::str::from_utf8(bytes).ok()?;
    serde_urlencoded::from_str(text).ok()
}

/// Redirects a browser and sets its session cookie.
fn open_session(guard: &Guard, to: &str) -> Response {
    let mut response = Redirect::to(to).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&guard.set_cookie()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The address without the token, which must not stay in the browser's history.
fn without_token(uri: &Uri) -> String {
    let query = uri.query().unwrap_or_default();
    let rest: Vec<&str> = query.split('&').filter(|part| !part.starts_with("token=")).collect();
    let whole = match rest.is_empty() {
        true => uri.path().to_owned(),
        false => format!("{}?{}", uri.path(), rest.join("&")),
    };
    // A path that starts with two slashes is the address of another host.
    let path = whole.parse::<PathAndQuery>().ok().filter(|path| !path.as_str().starts_with("//"));
    path.map_or_else(|| "/".to_owned(), |path| path.to_string())
}

/// The login form.
#[derive(Deserialize)]
pub struct Login {
    token: String,
}

/// Opens a session.
///
/// # Errors
/// The token is wrong.
pub async fn login(
    State(site): State<Site>,
    Form(login): Form<Login>,
) -> Result<Response, Failure> {
    match site.guard().is_token(login.token.trim()) {
        true => Ok(open_session(site.guard(), "/")),
        false => Err(Failure::unauthorized(true)),
    }
}

/// Ends a session.
pub async fn logout(State(site): State<Site>) -> Response {
    let mut response = Redirect::to("/login").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&site.guard().unset_cookie()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The login page.
///
/// # Errors
/// Always: the error page asks for the token.
pub async fn login_form() -> Failure {
    Failure::unauthorized(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_leaves_the_address() {
        let rest = |uri: &str| without_token(&uri.parse().unwrap());
        assert_eq!(rest("/?token=abc"), "/");
        assert_eq!(
            rest("/runs?filter=host%3Da&token=abc&sort=iops"),
            "/runs?filter=host%3Da&sort=iops"
        );
        assert_eq!(rest("//evil.example/?token=abc"), "/");
    }

    #[test]
    fn forms_are_known_by_their_kind() {
        let kind = |kind: &str| {
            is_form(&[(header::CONTENT_TYPE, kind.parse().unwrap())].into_iter().collect())
        };
        assert!(kind("application/x-www-form-urlencoded; charset=UTF-8"));
        assert!(!kind("text/plain") && !kind("multipart/form-data; boundary=x"));
        assert!(!is_form(&HeaderMap::new()));
        assert_eq!(fields(b"a=b+c&csrf=%3D").unwrap()[1], ("csrf".into(), "=".into()));
        assert_eq!(fields(b"\xff"), None);
    }
}
