//! The body of error responses: a page for people, JSON for programs.

use crate::failure::{Failure, HasErrorText};
use crate::layout::{self, NavItem};
use crate::site::Site;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::html;
use serde_json::json;

/// The error as JSON for programs, or as a page for people.
fn error_response(failure: &Failure, site: &Site, is_api: bool) -> Response {
    let reason = failure.status.canonical_reason().unwrap_or("Error");
    let asks_token = failure.status == StatusCode::UNAUTHORIZED;
    let body = match is_api {
        true => {
            let status = failure.status.as_u16();
            Json(json!({"error": {"status": status, "title": reason, "detail": failure.text}}))
                .into_response()
        }
        false => {
            let body = html! {
                h1 { (reason) }
                p.failure role="alert" { (failure.text) }
                @if asks_token { (login()) }
                @else { p { a href="/" { "To the runs" } } }
            };
            let item = if asks_token { NavItem::LoggedOut } else { NavItem::None };
            layout::page(site, reason, item, body).into_response()
        }
    };
    let mut response = (failure.status, body).into_response();
    if asks_token {
        let challenge = HeaderValue::from_static("Bearer realm=\"fathom\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Gives an error response its body.
pub fn render(site: &Site, is_api: bool, mut response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.extensions().get::<HasErrorText>().is_some() {
        return response;
    }
    let failure = response.extensions_mut().remove::<Failure>();
    let mut shown =
        error_response(&failure.unwrap_or_else(|| Failure::from_status(status)), site, is_api);
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
