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
enum Place {
    Path,
    Query,
}

/// What an address takes.
struct Parameter {
    name: &'static str,
    place: Place,
    is_required: bool,
    means: &'static str,
}

/// What is answered when all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Good {
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
    does: &'static str,
    parameters: &'static [Parameter],
    /// What the body holds, where there is one: words, and a name among the schemas.
    body: Option<(&'static str, Option<&'static str>)>,
    good: Good,
    handler: fn() -> MethodRouter<Site>,
}

const ID: Parameter = Parameter {
    name: "id",
    place: Place::Path,
    is_required: true,
    means: "A run: its id, four or more digits it begins with, a tag, latest, or latest~2.",
};
const TAG: Parameter =
    Parameter { name: "tag", place: Place::Path, is_required: true, means: "The tag, one word." };
const FILTER: Parameter = Parameter {
    name: "filter",
    place: Place::Query,
    is_required: false,
    means: "Which runs, in the words of fathom runs: job=reader host=lab rw=randread since=7d \
            iops>100k p99<1ms tag=before.",
};

/// A parameter of a query.
const fn asked(name: &'static str, is_required: bool, means: &'static str) -> Parameter {
    Parameter { name, place: Place::Query, is_required, means }
}

/// Every address.
const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: "get",
        path: "/api/v1/openapi.json",
        does: "This description",
        parameters: &[],
        body: None,
        good: Good::Json(None, "An OpenAPI document."),
        handler: || get(description::answer),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/runs",
        does: "Runs, the newest first",
        parameters: &[
            FILTER,
            asked("sort", false, "What they are sorted by; the least first with a - before it."),
            asked("limit", false, "How many at most: 1 to 1000, usually 50."),
            asked("offset", false, "How many are left out before."),
        ],
        body: None,
        good: Good::Json(Some("Runs"), "The runs asked for, and how many there are in all."),
        handler: || get(answers::runs),
    },
    Endpoint {
        method: "post",
        path: "/api/v1/runs",
        does: "Add a record that another archive or --record made",
        parameters: &[],
        body: Some(("A record of fathom (docs/record.md).", None)),
        good: Good::Made("Added", "Its id; that of the same record, where it was there already."),
        handler: || post(answers::add).layer(DefaultBodyLimit::max(RECORD_BYTES)),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/runs/{id}",
        does: "The whole record of a run (docs/record.md)",
        parameters: &[ID],
        body: None,
        good: Good::Json(None, "The record as it was saved."),
        handler: || get(answers::record),
    },
    Endpoint {
        method: "delete",
        path: "/api/v1/runs/{id}",
        does: "Remove a run",
        parameters: &[ID],
        body: None,
        good: Good::Nothing("It is gone."),
        handler: || delete(answers::remove),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/runs/{id}/report",
        does: "A run judged now: fio's JSON with verdicts and findings under \"fathom\"",
        parameters: &[ID],
        body: None,
        good: Good::Json(None, "What fathom run --output-format=json prints."),
        handler: || get(answers::report),
    },
    Endpoint {
        method: "put",
        path: "/api/v1/runs/{id}/tags/{tag}",
        does: "Give a run a tag",
        parameters: &[ID, TAG],
        body: None,
        good: Good::Nothing("It has the tag."),
        handler: || put(answers::tag),
    },
    Endpoint {
        method: "delete",
        path: "/api/v1/runs/{id}/tags/{tag}",
        does: "Take a tag from a run",
        parameters: &[ID, TAG],
        body: None,
        good: Good::Nothing("It has the tag no more."),
        handler: || delete(answers::untag),
    },
    Endpoint {
        method: "put",
        path: "/api/v1/runs/{id}/note",
        does: "Write a note on a run, in place of the one before",
        parameters: &[ID],
        body: Some(("The note; an empty one removes it.", Some("Note"))),
        good: Good::Nothing("The note is kept."),
        handler: || put(answers::note),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/compare",
        does: "Compare two runs or sets, as fathom compare --json does",
        parameters: &[
            asked("before", true, "The earlier: the name of a run or of a set."),
            asked("after", true, "The later."),
        ],
        body: None,
        good: Good::Json(None, "Every figure with its ratio, interval and what that says."),
        handler: || get(answers::compare),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/trends",
        does: "How a figure went over time, as fathom trend --json says it",
        parameters: &[
            FILTER,
            asked("metric", false, "The figure: iops, p99, read.p99, ...; usually iops."),
        ],
        body: None,
        good: Good::Json(None, "A trend for each workload, that with most runs first."),
        handler: || get(answers::trends),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/machine",
        does: "What is under a path, as fathom inspect --json says it",
        parameters: &[asked("path", false, "A directory, file or device; usually where it runs.")],
        body: None,
        good: Good::Json(None, "The fourteen sections, and the facts they are from."),
        handler: || get(answers::machine),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/live",
        does: "What runs now",
        parameters: &[],
        body: None,
        good: Good::Json(Some("Live"), "The processes that measure (docs/LIVE.md)."),
        handler: || get(answers::live),
    },
    Endpoint {
        method: "get",
        path: "/api/v1/live/{pid}",
        does: "What one process does now",
        parameters: &[Parameter {
            name: "pid",
            place: Place::Path,
            is_required: true,
            means: "The number of the process.",
        }],
        body: None,
        good: Good::Json(None, "Which run it is, and its last moment (docs/LIVE.md)."),
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
                assert_eq!(named, parameter.place == Place::Path, "{}", endpoint.path);
            }
            let named = endpoint.path.matches('{').count();
            let described = endpoint.parameters.iter().filter(|p| p.place == Place::Path).count();
            assert_eq!(named, described, "{}", endpoint.path);
        }
    }
}
