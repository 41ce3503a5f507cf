//! How an address of the API is described.

use crate::site::Site;
use axum::routing::MethodRouter;

/// Where a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterIn {
    Path,
    Query,
}

/// A parameter of a request.
pub(super) struct Parameter {
    pub name: &'static str,
    pub location: ParameterIn,
    pub is_required: bool,
    pub description: &'static str,
}

/// The response to a request that succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Success {
    /// 200 with JSON: the name of its schema if it has one, and a description.
    Json(Option<&'static str>, &'static str),
    /// 201 with JSON: the name of its schema, and a description.
    Created(&'static str, &'static str),
    /// 204: a description.
    NoContent(&'static str),
}

/// One address with one method.
pub(super) struct Endpoint {
    pub method: &'static str,
    pub path: &'static str,
    pub summary: &'static str,
    pub parameters: &'static [Parameter],
    /// A description of the request body, and the name of its schema if it has one.
    pub body: Option<(&'static str, Option<&'static str>)>,
    pub success: Success,
    pub handler: fn() -> MethodRouter<Site>,
}

/// A parameter of a query.
pub(super) const fn query_parameter(
    name: &'static str,
    is_required: bool,
    description: &'static str,
) -> Parameter {
    Parameter { name, location: ParameterIn::Query, is_required, description }
}
