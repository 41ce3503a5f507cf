//! The description of the API.

use super::{ENDPOINTS, Endpoint, Parameter, ParameterIn, Success};
use axum::Json;
use serde_json::{Map, Value, json};

/// The description.
pub async fn answer() -> Json<Value> {
    Json(document())
}

fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[endpoint.method] = operation(endpoint);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "fathom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The archive of runs of fathom serve. Every request needs the token: \
                            Authorization: Bearer TOKEN. What a browser sends with its session \
                            needs X-CSRF-Token too where it changes something.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
            "responses": {"Error": {
                "description": "It could not be done; why, in a sentence.",
                "content": content(Some("Error")),
            }},
        },
    })
}

fn operation(endpoint: &Endpoint) -> Value {
    let (status, answer) = match endpoint.success {
        Success::Json(schema, description) => {
            ("200", json!({"description": description, "content": content(schema)}))
        }
        Success::Made(schema, description) => {
            ("201", json!({"description": description, "content": content(Some(schema))}))
        }
        Success::Nothing(description) => ("204", json!({"description": description})),
    };
    let mut operation = json!({
        "summary": endpoint.summary,
        "parameters": endpoint.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "responses": {status: answer, "default": {"$ref": "#/components/responses/Error"}},
    });
    if let Some((description, schema)) = endpoint.body {
        operation["requestBody"] =
            json!({"required": true, "description": description, "content": content(schema)});
    }
    operation
}

fn parameter(parameter: &Parameter) -> Value {
    let location = match parameter.location {
        ParameterIn::Path => "path",
        ParameterIn::Query => "query",
    };
    let kind = match parameter.name {
        "limit" | "offset" | "pid" => "integer",
        _ => "string",
    };
    json!({
        "name": parameter.name,
        "in": location,
        "required": parameter.is_required,
        "description": parameter.description,
        "schema": {"type": kind},
    })
}

fn content(schema: Option<&str>) -> Value {
    let schema = match schema {
        Some(name) => json!({"$ref": format!("#/components/schemas/{name}")}),
        None => json!({"type": "object"}),
    };
    json!({"application/json": {"schema": schema}})
}

/// A run in a list: the columns of the archive.
fn run() -> Value {
    let text = "id kind host kernel fathom_version job rw engine bs target device model filesystem \
                command note";
    let counts = "started_unix_ms ended_unix_ms utc_offset_seconds iodepth errors record_bytes";
    let figures = "iops bandwidth mean_ns p50_ns p99_ns p99_9_ns max_ns round interrupted_by";
    let kinds = [
        (text, json!({"type": "string"})),
        (counts, json!({"type": "integer"})),
        (figures, json!({"type": ["number", "null"]})),
        ("set cell verdict judged_by", json!({"type": ["string", "null"]})),
        ("tags", json!({"type": "array", "items": {"type": "string"}})),
        ("coordinates", json!({"type": "array", "items": {"type": "object"}})),
        ("found", json!({"type": ["object", "null"]})),
    ];
    let fields = kinds.iter().flat_map(|(names, kind)| {
        names.split_whitespace().map(move |name| (name.to_owned(), kind.clone()))
    });
    let properties: Map<String, Value> = fields.collect();
    json!({"type": "object", "properties": properties})
}

/// What is asked for and answered, where it is not described elsewhere.
fn schemas() -> Value {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let array = |of: &str| json!({"type": "array", "items": {"$ref": of}});
    json!({
        "Run": run(),
        "Runs": object(json!({
            "total": {"type": "integer"},
            "offset": {"type": "integer"},
            "runs": array("#/components/schemas/Run"),
        })),
        "Added": object(json!({"id": {"type": "string"}})),
        "Note": object(json!({"note": {"type": "string"}})),
        "Live": object(json!({"processes": {"type": "array", "items": object(json!({
            "pid": {"type": "integer"},
            "run": {"type": ["object", "null"]},
        }))}})),
        "Error": object(json!({"error": object(json!({
            "status": {"type": "integer"},
            "title": {"type": "string"},
            "detail": {"type": "string"},
        }))})),
    })
}
