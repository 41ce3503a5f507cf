//! The API for programs, under `/api/v1`: one table of all addresses, from which both the router
//! and the description ([OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.0)) are made.

mod answers;
mod description;
mod endpoint;

use self::endpoint::{Endpoint, Parameter, ParameterIn, Success, query_parameter};
use crate::site::Site;
use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, delete, get, post, put};
use axum::{Json, Router};
use std::collections::BTreeMap;

/// Largest record that can be added, in bytes: a run of days with all its logs.
pub const RECORD_BYTES: usize = 256 << 20;

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
    description: "Which runs, as a filter of fathom runs: job=reader host=lab rw=randread since=7d \
            iops>100k p99<1ms tag=before.",
};

/// Every address.
const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: "get",
        path: "/api/v1/openapi.json",
        summary: "This description",
        parameters: &[],
        body: None,
        success: Success::Json(None, "An OpenAPI document."),
        handler: || get(|| async { Json(description::document(ENDPOINTS)) }),
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
                "The sort key, smallest first; with - before it largest first.",
            ),
            query_parameter("limit", false, "Most runs to return: 1 to 1000, by default 50."),
            query_parameter("offset", false, "Number of runs to skip."),
        ],
        body: None,
        success: Success::Json(
            Some("Runs"),
            "The runs asked for, and the number of all that match.",
        ),
        handler: || get(answers::runs),
    },
    Endpoint {
        method: "post",
        path: "/api/v1/runs",
        summary: "Add a record that another archive or --record made",
        parameters: &[],
        body: Some(("A record of fathom (docs/record.md).", None)),
        success: Success::Created(
            "Added",
            "Its id; the existing id if the same record was added before.",
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
        success: Success::NoContent("The run is removed."),
        handler: || delete(answers::remove),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/runs/{id}/report",
        summary: "A run judged by the rules of this fathom: fio's JSON with verdicts and findings under \"fathom\"",
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
        success: Success::NoContent("The run has the tag."),
        handler: || put(answers::tag),
    },
    Endpoint {
        method: "delete",
        path: "/api/v1/runs/{id}/tags/{tag}",
        summary: "Remove a tag from a run",
        parameters: &[ID, TAG],
        body: None,
        success: Success::NoContent("The tag is removed."),
        handler: || delete(answers::untag),
    },
    Endpoint {
        method: "put",
        path: "/api/v1/runs/{id}/note",
        summary: "Replace the note of a run",
        parameters: &[ID],
        body: Some(("The note; an empty one removes it.", Some("Note"))),
        success: Success::NoContent("The note is saved."),
        handler: || put(answers::set_note),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/compare",
        summary: "Compare two runs or sets, as fathom compare --json does",
        parameters: &[
            query_parameter("before", true, "The earlier run or set, by name."),
            query_parameter("after", true, "The later run or set, by name."),
        ],
        body: None,
        success: Success::Json(
            None,
            "Every figure with its ratio, confidence interval and verdict.",
        ),
        handler: || get(answers::compare),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/trends",
        summary: "A figure over time, as fathom trend --json prints it",
        parameters: &[
            FILTER,
            query_parameter(
                "metric",
                false,
                "The figure: iops, p99, read.p99, ...; by default iops.",
            ),
        ],
        body: None,
        success: Success::Json(
            None,
            "A trend for each workload, the one with the most runs first.",
        ),
        handler: || get(answers::trends),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/machine",
        summary: "The storage under a path, as fathom inspect --json prints it",
        parameters: &[query_parameter(
            "path",
            false,
            "A directory, file or device; by default the directory of fathom serve.",
        )],
        body: None,
        success: Success::Json(None, "The fourteen sections, and the facts behind them."),
        handler: || get(answers::machine),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/live",
        summary: "Runs under way",
        parameters: &[],
        body: None,
        success: Success::Json(Some("Live"), "The processes that measure (docs/LIVE.md)."),
        handler: || get(answers::live),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/live/{pid}",
        summary: "The run of one process",
        parameters: &[Parameter {
            name: "pid",
            location: ParameterIn::Path,
            is_required: true,
            description: "The process id.",
        }],
        body: None,
        success: Success::Json(None, "The run and its latest moment (docs/LIVE.md)."),
        handler: || get(answers::moment),
    },
];

/// The routes of all addresses.
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
