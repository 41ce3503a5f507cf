//! A run: its report, tags and note.

use crate::failure::Failure;
use crate::format::when;
use crate::layout::{self, NavItem, csrf};
use crate::pages::{parts::tag_link, reports};
use crate::queries;
use crate::site::Site;
use archive::{Row, RunOrSet};
use axum::Form;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

/// The page.
///
/// # Errors
/// There is no such run, or its record cannot be read.
pub async fn page(State(site): State<Site>, Path(name): Path<String>) -> Result<Response, Failure> {
    site.archived(move |site, archive| {
        // The name of a set leads to its page.
        if let RunOrSet::Set(set) = archive.resolve(&name)? {
            return Ok(Redirect::to(&format!("/sets/{set}")).into_response());
        }
        let id = queries::find(archive, &name)?;
        let row = archive.row(&id)?;
        let set = archive.load_named(id.as_str())?;
        let title = if row.job.is_empty() { row.id.short() } else { row.job.as_str() };
        let title = title.to_owned();
        let body = html! {
            (run_actions(site, &row))
            (reports::report_on(archive, id.as_str(), &title, set)?)
        };
        Ok(layout::page(site, &title, NavItem::Runs, body).into_response())
    })
    .await
}

/// The tags and the note of a run, and the actions on it.
fn run_actions(site: &Site, row: &Row) -> Markup {
    let at = format!("/runs/{}", row.id);
    html! {
        p.muted {
            a href="/runs" { "Runs" } " › "
            @if let Some(set) = &row.set {
                a href={ "/sets/" (set.as_str()) } { (row.kind) " " (set.short()) } " › "
            }
            span.mono { (row.id.short()) } " · " (when(row)) " · " (row.host) " · " (row.workload())
        }
        div.actions {
            @for tag in &row.tags {
                form.inline method="post" action={ (at) "/untag" } {
                    (csrf(site))
                    input type="hidden" name="tag" value=(tag);
                    (tag_link(tag))
                    button.quiet aria-label={ "Take the tag " (tag) " away" } { "×" }
                }
            }
            form.inline method="post" action={ (at) "/tag" } {
                (csrf(site))
                input type="text" name="tag" required maxlength="64" size="12" aria-label="New tag"
                    placeholder="tag" autocapitalize="none";
                button { "Add tag" }
            }
            form.inline method="get" action="/compare" {
                input type="hidden" name="run" value=(row.id.as_str());
                input type="text" name="run" required size="14" aria-label="Compare with"
                    placeholder="id, tag, latest~1" autocapitalize="none";
                button { "Compare" }
            }
            a href={ (at) "/record.json" } { "Record" }
            a href={ (at) "/remove" } { "Remove …" }
        }
        details open[!row.note.is_empty()] {
            summary { "Note" }
            form.stacked method="post" action={ (at) "/note" } {
                (csrf(site))
                textarea name="note" rows="3" maxlength="10000" aria-label="Note" { (row.note) }
                button { "Save the note" }
            }
        }
    }
}

/// The record as a download.
///
/// # Errors
/// There is no such run, or its record cannot be read.
pub async fn record(
    State(site): State<Site>,
    Path(name): Path<String>,
) -> Result<Response, Failure> {
    queries::with_run(&site, name, |_, archive, id| {
        let as_file = format!("attachment; filename=\"fathom-{}.json\"", id.short());
        let lines = [
            (header::CONTENT_TYPE, "application/json".to_owned()),
            (header::CONTENT_DISPOSITION, as_file),
        ];
        Ok((lines, archive.json(&id)?).into_response())
    })
    .await
}

/// The form with a tag.
#[derive(Deserialize)]
pub struct Tag {
    tag: String,
}

/// Adds a tag to a run.
///
/// # Errors
/// There is no such run, or the word is not a valid tag.
pub async fn tag(
    State(site): State<Site>,
    Path(name): Path<String>,
    Form(sent): Form<Tag>,
) -> Result<Redirect, Failure> {
    changed(&site, name, move |archive, id| Ok(archive.tag(id, sent.tag.trim())?)).await
}

/// Removes a tag from a run.
///
/// # Errors
/// There is no such run.
pub async fn untag(
    State(site): State<Site>,
    Path(name): Path<String>,
    Form(sent): Form<Tag>,
) -> Result<Redirect, Failure> {
    changed(&site, name, move |archive, id| Ok(archive.untag(id, &sent.tag).map(drop)?)).await
}

/// The form with a note.
#[derive(Deserialize)]
pub struct Note {
    note: String,
}

/// Most characters of a note.
pub const NOTE_MAX: usize = 10_000;

/// Checks the length of a note.
///
/// # Errors
/// The note is too long.
pub fn check_note(note: &str) -> Result<(), Failure> {
    match note.chars().count() > NOTE_MAX {
        true => Err(Failure::bad_request(format!("a note may have {NOTE_MAX} characters"))),
        false => Ok(()),
    }
}

/// Replaces the note of a run.
///
/// # Errors
/// There is no such run, or the note is too long.
pub async fn set_note(
    State(site): State<Site>,
    Path(name): Path<String>,
    Form(sent): Form<Note>,
) -> Result<Redirect, Failure> {
    let note = sent.note.trim().replace("\r\n", "\n");
    check_note(&note)?;
    changed(&site, name, move |archive, id| Ok(archive.set_note(id, &note)?)).await
}

/// Changes the labels of a run and shows it.
async fn changed(
    site: &Site,
    name: String,
    change: impl FnOnce(&mut archive::Archive, &archive::RunId) -> Result<(), Failure> + Send + 'static,
) -> Result<Redirect, Failure> {
    queries::with_run(site, name, |_, archive, id| {
        change(archive, &id)?;
        Ok(Redirect::to(&format!("/runs/{id}")))
    })
    .await
}

/// Asks for confirmation before a run is removed.
///
/// # Errors
/// There is no such run.
pub async fn asked_to_remove(
    State(site): State<Site>,
    Path(name): Path<String>,
) -> Result<Html<String>, Failure> {
    queries::with_run(&site, name, |site, archive, id| {
        let row = archive.row(&id)?;
        let at = format!("/runs/{}", row.id);
        let body = html! {
            h1 { "Remove " (row.job) "?" }
            p { "The run " span.mono { (row.id.short()) } " of " (when(&row)) " on " (row.host)
                " is removed with its record, tags and note. It cannot be restored unless you "
                "save " a href={ (at) "/record.json" } { "its record" } "." }
            div.actions {
                form method="post" action={ (at) "/remove" } {
                    (csrf(site))
                    button.danger { "Remove it" }
                }
                a href=(at) { "Keep it" }
            }
        };
        Ok(layout::page(site, "Remove", NavItem::Runs, body))
    })
    .await
}

/// Removes a run.
///
/// # Errors
/// There is no such run.
pub async fn remove(
    State(site): State<Site>,
    Path(name): Path<String>,
) -> Result<Redirect, Failure> {
    queries::with_run(&site, name, |_, archive, id| {
        archive.remove(&[id])?;
        Ok(Redirect::to("/runs"))
    })
    .await
}
