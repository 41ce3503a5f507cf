//! What cannot be done, with the reason: as a page for people, as JSON for programs.

use crate::layout::{self, NavItem};
use crate::site::Site;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;
use serde_json::json;

/// Why a request gets no better answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its status.
    pub status: StatusCode,
    /// What is wrong and what to do, in a sentence or two.
    pub text: String,
}

impl Failure {
    /// The request is wrong.
    pub fn bad_request(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::BAD_REQUEST, text: text.into() }
    }

    /// What it asks for is not there.
    pub fn not_found(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::NOT_FOUND, text: text.into() }
    }

    /// It may not be done.
    pub fn forbidden(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::FORBIDDEN, text: text.into() }
    }

    /// Something failed here.
    pub fn internal(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::INTERNAL_SERVER_ERROR, text: text.into() }
    }

    /// A stranger asks, or one with a wrong token.
    pub fn unauthorized(is_wrong: bool) -> Failure {
        let text = match is_wrong {
            true => "That is not the token of this fathom serve.",
            false => "This needs the token that fathom serve printed, or that of its --token-file.",
        };
        Failure { status: StatusCode::UNAUTHORIZED, text: text.into() }
    }

    /// What an answer that is an error says, where whatever made it gave no reason.
    fn from_status(status: StatusCode) -> Failure {
        let text = match status {
            StatusCode::NOT_FOUND => "There is no such page.",
            StatusCode::METHOD_NOT_ALLOWED => "This address does not take that method.",
            StatusCode::REQUEST_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE => {
                "This took too long; it was given up. Ask for less, or try again."
            }
            StatusCode::PAYLOAD_TOO_LARGE => "That is more than this address takes.",
            StatusCode::INTERNAL_SERVER_ERROR => {
                "A defect of fathom: please report it, with what was asked for."
            }
            _ => "The request is not one that can be answered.",
        };
        Failure { status, text: text.into() }
    }

    /// As JSON for programs and as a page for people.
    fn shown(&self, site: &Site, is_api: bool) -> Response {
        let reason = self.status.canonical_reason().unwrap_or("Error");
        let body = match is_api {
            true => {
                let status = self.status.as_u16();
                Json(json!({"error": {"status": status, "title": reason, "detail": self.text}}))
                    .into_response()
            }
            false => {
                let body = html! {
                    h1 { (reason) }
                    p.failure role="alert" { (self.text) }
                    @if self.status == StatusCode::UNAUTHORIZED { (login()) }
                    @else { p { a href="/" { "To the runs" } } }
                };
                let item = if self.status == StatusCode::UNAUTHORIZED {
                    NavItem::LoggedOut
                } else {
                    NavItem::None
                };
                layout::page(site, reason, item, body).into_response()
            }
        };
        let mut response = (self.status, body).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"fathom\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Marks an answer that says itself what is wrong.
#[derive(Clone, Copy, Debug)]
pub struct HasErrorText;

/// Gives an answer that is an error its words.
pub fn render(site: &Site, is_api: bool, mut response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.extensions().get::<HasErrorText>().is_some() {
        return response;
    }
    let failure = response.extensions_mut().remove::<Failure>();
    let mut shown = failure.unwrap_or_else(|| Failure::from_status(status)).shown(site, is_api);
    if let Some(allowed) = response.headers_mut().remove(header::ALLOW) {
        shown.headers_mut().insert(header::ALLOW, allowed);
    }
    shown
}

/// A form for the token.
fn login() -> maud::Markup {
    html! {
        form.stacked method="post" action="/login" {
            label for="token" { "Token" }
            input #token type="password" name="token" required autocomplete="off" autofocus;
            button { "Open" }
        }
    }
}
