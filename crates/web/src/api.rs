//! What programs ask for, under `/api/v1`: one table of all addresses, from which both the router and
//! the description ([OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.0)) are made.

mod answers;
mod description;

use crate::site::Site;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, post, put};
use std::collections::BTreeMap;

/// Bytes of a record that is added, at most: so much is a run of days with all its logs.
pub const RECORD_BYTES: usize = 256 << 20;

/// Where a parameter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParameterIn {
    Path,
    Query,
}

/// What an address takes.
struct Parameter {
    name: &'static str,
    location: ParameterIn,
    is_required: bool,
    description: &'static str,
}

/// What is answered when all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Success {
    /// 200, with JSON of this shape: a name among the schemas, or none of its own.
    Json(Option<&'static str>, &'static str),
    /// 201, with JSON of this shape.
    Made(&'static str, &'static str),
    /// 204.
    Nothing(&'static str),
}

/// One address with one method.
struct Endpoint {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    /// What the body holds, where there is one: words, and a name among the schemas.
    body: Option<(&'static str, Option<&'static str>)>,
    success: Success,
    handler: fn() -> MethodRouter<Site>,
}

const ID: Parameter = Parameter {
    name: "id",
    location: ParameterIn::Path,
    is_required: true,
    description: "A run: its id, four or more digits it begins with, a tag, latest, or latest~2.",
};
const TAG: Parameter = Parameter {
    name: "tag",
    location: ParameterIn::Path,
    is_required: true,
    description: "The tag, one word.",
};
const FILTER: Parameter = Parameter {
    name: "filter",
    location: ParameterIn::Query,
    is_required: false,
    description: "Which runs, in the words of fathom runs: job=reader host=lab rw=randread since=7d \
            iops>100k p99<1ms tag=before.",
};

/// A parameter of a query.
const fn query_parameter(
    name: &'static str,
    is_required: bool,
    description: &'static str,
) -> Parameter {
    Parameter { name, location: ParameterIn::Query, is_required, description }
}

/// Every address.
const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: "get",
        path: "/api/v1/openapi.json",
        summary: "This description",
        parameters: &[],
        body: None,
        success: Success::Json(None, "An OpenAPI document."),
        handler: || get(description::answer),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/runs",
        summary: "Runs, the newest first",
        parameters: &[
            FILTER,
            query_parameter(
                "sort",
                false,
                "What they are sorted by; the least first with a - before it.",
            ),
            query_parameter("limit", false, "How many at most: 1 to 1000, usually 50."),
            query_parameter("offset", false, "How many are left out before."),
        ],
        body: None,
        success: Success::Json(Some("Runs"), "The runs asked for, and how many there are in all."),
        handler: || get(answers::runs),
    },
    Endpoint {
        method: "post",
        path: "/api/v1/runs",
        summary: "Add a record that another archive or --record made",
        parameters: &[],
        body: Some(("A record of fathom (docs/record.md).", None)),
        success: Success::Made(
            "Added",
            "Its id; that of the same record, where it was there already.",
        ),
        handler: || post(answers::add).layer(DefaultBodyLimit::max(RECORD_BYTES)),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/runs/{id}",
        summary: "The whole record of a run (docs/record.md)",
        parameters: &[ID],
        body: None,
        success: Success::Json(None, "The record as it was saved."),
        handler: || get(answers::record),
    },
    Endpoint {
        method: "delete",
        path: "/api/v1/runs/{id}",
        summary: "Remove a run",
        parameters: &[ID],
        body: None,
        success: Success::Nothing("It is gone."),
        handler: || delete(answers::remove),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/runs/{id}/report",
        summary: "A run judged now: fio's JSON with verdicts and findings under \"fathom\"",
        parameters: &[ID],
        body: None,
        success: Success::Json(None, "What fathom run --output-format=json prints."),
        handler: || get(answers::report),
    },
    Endpoint {
        method: "put",
        path: "/api/v1/runs/{id}/tags/{tag}",
        summary: "Give a run a tag",
        parameters: &[ID, TAG],
        body: None,
        success: Success::Nothing("It has the tag."),
        handler: || put(answers::tag),
    },
    Endpoint {
        method: "delete",
        path: "/api/v1/runs/{id}/tags/{tag}",
        summary: "Take a tag from a run",
        parameters: &[ID, TAG],
        body: None,
        success: Success::Nothing("It has the tag no more."),
        handler: || delete(answers::untag),
    },
    Endpoint {
        method: "put",
        path: "/api/v1/runs/{id}/note",
        summary: "Write a note on a run, in location of the one before",
        parameters: &[ID],
        body: Some(("The note; an empty one removes it.", Some("Note"))),
        success: Success::Nothing("The note is kept."),
        handler: || put(answers::note),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/compare",
        summary: "Compare two runs or sets, as fathom compare --json does",
        parameters: &[
            query_parameter("before", true, "The earlier: the name of a run or of a set."),
            query_parameter("after", true, "The later."),
        ],
        body: None,
        success: Success::Json(None, "Every figure with its ratio, interval and what that says."),
        handler: || get(answers::compare),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/trends",
        summary: "How a figure went over time, as fathom trend --json says it",
        parameters: &[
            FILTER,
            query_parameter("metric", false, "The figure: iops, p99, read.p99, ...; usually iops."),
        ],
        body: None,
        success: Success::Json(None, "A trend for each workload, that with most runs first."),
        handler: || get(answers::trends),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/machine",
        summary: "What is under a path, as fathom inspect --json says it",
        parameters: &[query_parameter(
            "path",
            false,
            "A directory, file or device; usually where it runs.",
        )],
        body: None,
        success: Success::Json(None, "The fourteen sections, and the facts they are from."),
        handler: || get(answers::machine),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/live",
        summary: "What runs now",
        parameters: &[],
        body: None,
        success: Success::Json(Some("Live"), "The processes that measure (docs/LIVE.md)."),
        handler: || get(answers::live),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/live/{pid}",
        summary: "What one process does now",
        parameters: &[Parameter {
            name: "pid",
            location: ParameterIn::Path,
            is_required: true,
            description: "The number of the process.",
        }],
        body: None,
        success: Success::Json(None, "Which run it is, and its last moment (docs/LIVE.md)."),
        handler: || get(answers::moment),
    },
];

/// The addresses with what answers them.
pub fn router() -> Router<Site> {
    let mut paths: BTreeMap<&str, MethodRouter<Site>> = BTreeMap::new();
    for endpoint in ENDPOINTS {
        let methods = paths.remove(endpoint.path).unwrap_or_default();
        paths.insert(endpoint.path, methods.merge((endpoint.handler)()));
    }
    paths.into_iter().fold(Router::new(), |router, (path, methods)| router.route(path, methods))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_a_path_is_described() {
        for endpoint in ENDPOINTS {
            for parameter in endpoint.parameters {
                let named = endpoint.path.contains(&format!("{{{}}}", parameter.name));
                assert_eq!(named, parameter.location == ParameterIn::Path, "{}", endpoint.path);
            }
            let named = endpoint.path.matches('{').count();
            let described =
                endpoint.parameters.iter().filter(|p| p.location == ParameterIn::Path).count();
            assert_eq!(named, described, "{}", endpoint.path);
        }
    }
}
