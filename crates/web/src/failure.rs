//! An error that a handler returns: a status and a sentence.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// HTTP status.
    pub status: StatusCode,
    /// What is wrong and what to do, in a sentence or two.
    pub text: String,
}

impl Failure {
    /// The request is wrong.
    pub fn bad_request(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::BAD_REQUEST, text: text.into() }
    }

    /// The thing asked for does not exist.
    pub fn not_found(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::NOT_FOUND, text: text.into() }
    }

    /// The request is not allowed.
    pub fn forbidden(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::FORBIDDEN, text: text.into() }
    }

    /// Something failed in the server.
    pub fn internal(text: impl Into<String>) -> Failure {
        Failure { status: StatusCode::INTERNAL_SERVER_ERROR, text: text.into() }
    }

    /// The request has no token, or a wrong one.
    pub fn unauthorized(is_wrong: bool) -> Failure {
        let text = match is_wrong {
            true => "That is not the token of this fathom serve.",
            false => {
                "This needs the token that fathom serve printed, or the one in its --token-file."
            }
        };
        Failure { status: StatusCode::UNAUTHORIZED, text: text.into() }
    }

    /// The text for an error status that came without one.
    pub fn from_status(status: StatusCode) -> Failure {
        let text = match status {
            StatusCode::NOT_FOUND => "There is no such page.",
            StatusCode::METHOD_NOT_ALLOWED => "This address does not accept that method.",
            StatusCode::REQUEST_TIMEOUT | StatusCode::SERVICE_UNAVAILABLE => {
                "This took too long and was stopped. Ask for less, or try again."
            }
            StatusCode::PAYLOAD_TOO_LARGE => "The request is larger than this address accepts.",
            StatusCode::INTERNAL_SERVER_ERROR => {
                "A defect of fathom: please report it, with the address you asked for."
            }
            _ => "The request cannot be answered.",
        };
        Failure { status, text: text.into() }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Marks a response whose body already says what is wrong.
#[derive(Clone, Copy, Debug)]
pub struct HasErrorText;
