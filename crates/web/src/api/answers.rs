//! The handlers of the API.

use crate::failure::Failure;
use crate::pages::run::check_note;
use crate::pages::{machine, trends};
use crate::queries::{self, RunsQuery};
use crate::site::Site;
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use judge::compare::Options;
use record::Format;
use report::{RenderOptions, Subject};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// Time to wait for a moment of a run: they are a second apart.
const PATIENCE: Duration = Duration::from_secs(2);

/// A response of serialized JSON.
fn json_text(text: impl Into<axum::body::Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.into()).into_response()
}

/// Runs.
pub async fn runs(
    State(site): State<Site>,
    Query(query): Query<RunsQuery>,
) -> Result<Json<Value>, Failure> {
    site.archived(move |_, archive| {
        let listed = query.list(archive)?;
        Ok(Json(json!({"total": listed.total, "offset": query.offset, "runs": listed.rows})))
    })
    .await
}

/// A figure over time.
pub async fn trends(
    State(site): State<Site>,
    Query(query): Query<trends::TrendsQuery>,
) -> Result<Json<Value>, Failure> {
    site.archived(move |_, archive| {
        let all = query.trends(archive, usize::MAX)?.trends;
        Ok(Json(all.iter().map(report::trend::json).collect()))
    })
    .await
}

/// Adds a record.
pub async fn add(State(site): State<Site>, body: Bytes) -> Result<Response, Failure> {
    site.archived(move |_, archive| {
        let (id, was_there) = queries::add(archive, &body)?;
        let status = if was_there { StatusCode::OK } else { StatusCode::CREATED };
        Ok((status, Json(json!({"id": id}))).into_response())
    })
    .await
}

/// The record of a run.
pub async fn record(
    State(site): State<Site>,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    queries::with_run(&site, name, |_, archive, id| Ok(json_text(archive.json(&id)?))).await
}

/// Removes a run.
pub async fn remove(
    State(site): State<Site>,
    Path(name): Path<String>,
) -> Result<StatusCode, Failure> {
    queries::with_run(&site, name, |_, archive, id| {
        archive.remove(&[id])?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// The report on a run, judged by the rules of this fathom.
pub async fn report(
    State(site): State<Site>,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    queries::with_run(&site, name, |_, archive, id| {
        let record = archive.load(&id)?;
        let judged = judge::judge(&record);
        Ok(json_text(report::render(
            Subject::Run(&record, &judged),
            &[Format::Json],
            &RenderOptions::default(),
        )))
    })
    .await
}

/// Adds a tag to a run.
pub async fn tag(
    State(site): State<Site>,
    Path((name, tag)): Path<(String, String)>,
) -> Result<StatusCode, Failure> {
    queries::with_run(&site, name, move |_, archive, id| {
        archive.tag(&id, &tag)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// Removes a tag from a run.
pub async fn untag(
    State(site): State<Site>,
    Path((name, tag)): Path<(String, String)>,
) -> Result<StatusCode, Failure> {
    queries::with_run(&site, name, move |_, archive, id| match archive.untag(&id, &tag)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Failure::not_found(format!("run {} has no tag '{tag}'", id.short()))),
    })
    .await
}

/// The body of a request with a note.
#[derive(Deserialize)]
struct Note {
    note: String,
}

/// Replaces the note of a run.
pub async fn set_note(
    State(site): State<Site>,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<StatusCode, Failure> {
    let sent: Note = serde_json::from_slice(&body)
        .map_err(|error| Failure::bad_request(format!("expected {{\"note\": \"…\"}}: {error}")))?;
    check_note(&sent.note)?;
    queries::with_run(&site, name, move |_, archive, id| {
        archive.set_note(&id, &sent.note)?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

/// The runs or sets to compare.
#[derive(Deserialize)]
pub struct CompareQuery {
    before: String,
    after: String,
}

/// Compares two runs or sets.
pub async fn compare(
    State(site): State<Site>,
    Query(query): Query<CompareQuery>,
) -> Result<Response, Failure> {
    site.archived(move |_, archive| {
        let (before, after) =
            (archive.load_named(&query.before)?, archive.load_named(&query.after)?);
        let comparison = judge::compare::compare(&before, &after, &Options::default());
        Ok(json_text(report::compare::json(&comparison)))
    })
    .await
}

/// The storage under a path.
pub async fn machine(
    State(site): State<Site>,
    Query(query): Query<machine::MachineQuery>,
) -> Result<Response, Failure> {
    site.work(move |site| {
        let (inspection, facts) = site.inspect(query.path())?;
        Ok(json_text(report::inspect::json(&inspection, &facts)))
    })
    .await
}

/// Runs under way.
pub async fn live(State(site): State<Site>) -> Result<Json<Value>, Failure> {
    site.work(|site| {
        let listed = site.live_runs().list().map_err(Failure::internal)?;
        let processes: Vec<Value> =
            listed.iter().map(|listed| json!({"pid": listed.pid, "run": listed.info})).collect();
        Ok(Json(json!({"processes": processes})))
    })
    .await
}

/// The run of one process.
pub async fn moment(
    State(site): State<Site>,
    Path(pid): Path<u32>,
) -> Result<Json<Value>, Failure> {
    let follower = site.work(move |site| Ok(site.live_runs().follow(pid))).await?;
    let missing = || Failure::not_found(format!("process {pid} has no visible run"));
    let mut follower = follower.ok_or_else(missing)?;
    let first = follower.wait_for(|known| known.moment.is_some() || known.is_gone);
    // After the timeout the answer holds what is known.
    let _ = tokio::time::timeout(PATIENCE, first).await;
    let known = follower.borrow().clone();
    Ok(Json(json!({
        "run": known.head, "moment": known.moment, "ended": known.ended, "kept": known.saved,
    })))
}
