//! The description of the API as an OpenAPI document.

use super::endpoint::{Endpoint, Parameter, ParameterIn, Success};
use serde_json::{Value, json};

/// Everything but the paths and the version.
const TEMPLATE: &str = include_str!("openapi.json");

/// The document that describes `endpoints`.
pub(super) fn document(endpoints: &[Endpoint]) -> Value {
    let mut document: Value = serde_json::from_str(TEMPLATE).unwrap_or_default();
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    for endpoint in endpoints {
        document["paths"][endpoint.path][endpoint.method] = operation(endpoint);
    }
    document
}

fn operation(endpoint: &Endpoint) -> Value {
    let (status, answer) = match endpoint.success {
        Success::Json(schema, description) => {
            ("200", json!({"description": description, "content": content(schema)}))
        }
        Success::Created(schema, description) => {
            ("201", json!({"description": description, "content": content(Some(schema))}))
        }
        Success::NoContent(description) => ("204", json!({"description": description})),
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
