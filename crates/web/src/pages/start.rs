//! The form that starts a run.

use crate::failure::Failure;
use crate::layout::{self, NavItem, csrf};
use crate::site::Site;
use axum::Form;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;

/// The example in the form. It only reads.
const EXAMPLE: &str = "[randread]\nrw=randread\nbs=4k\nsize=256m\nioengine=io_uring\niodepth=8\n\
                       direct=1\ntime_based=1\nruntime=10\n";

/// The fields of the form.
#[derive(Deserialize)]
pub struct StartForm {
    job: String,
    target: String,
}

/// The form.
///
/// # Errors
/// Starting runs is not allowed.
pub async fn page(State(site): State<Site>) -> Result<Html<String>, Failure> {
    allowed(&site)?;
    Ok(form(&site, EXAMPLE, "", None))
}

/// Starts the run and shows it.
///
/// # Errors
/// Starting runs is not allowed.
pub async fn start(
    State(site): State<Site>,
    Form(sent): Form<StartForm>,
) -> Result<Response, Failure> {
    allowed(&site)?;
    // Forms end lines with CR LF.
    let job = sent.job.replace("\r\n", "\n");
    let target = sent.target.trim().to_owned();
    site.work(move |site| {
        let launcher = site.launcher().ok_or_else(refusal)?;
        Ok(match launcher.start(&job, &target) {
            Ok(pid) => Redirect::to(&format!("/live/{pid}")).into_response(),
            Err(why) => form(site, &job, &target, Some(&why)).into_response(),
        })
    })
    .await
}

fn allowed(site: &Site) -> Result<(), Failure> {
    site.launcher().map(|_| ()).ok_or_else(refusal)
}

fn refusal() -> Failure {
    Failure::forbidden("Pages may start runs only where fathom serve was given --allow-run.")
}

fn form(site: &Site, job: &str, target: &str, why: Option<&str>) -> Html<String> {
    let body = html! {
        h1 { "Start a run" }
        @if let Some(why) = why { pre.failure role="alert" { (why) } }
        form.stacked method="post" action="/start" {
            (csrf(site))
            label for="job" { "Job file" }
            textarea.mono #job name="job" rows="14" required spellcheck="false" { (job) }
            label for="target" { "Target: the whole path of a directory, a file or a device" }
            input.mono #target type="text" name="target" value=(target) required
                spellcheck="false" placeholder="/data/scratch";
            button { "Start" }
        }
        p.muted {
            "It runs as the user of fathom serve, with all the safety checks of fathom run. Targets \
             that hold data are not overwritten: there is no --allow-destroy here. Jobs that start \
             programs are refused. One run at a time."
        }
    };
    layout::page(site, "Start a run", NavItem::Start, body)
}
