//! Figures over time: their changes, and what changed on the machine at those times.

use crate::failure::Failure;
use crate::layout::{self, NavItem};
use crate::pages::parts::{METRICS, filter_field, metric_options};
use crate::queries;
use crate::site::Site;
use archive::{Archive, Trends};
use axum::extract::{Query, State};
use axum::response::Html;
use judge::Measure;
use judge::trend::{Change, Coincidence, Trend};
use maud::{Markup, PreEscaped, html};
use report::trend::{coincidence, conclusion, picture, start_time, value_text};
use serde::Deserialize;

/// Workloads are drawn, those with the most runs first, until they have this many runs.
const DRAWN: usize = 1000;

/// The query of the page.
#[derive(Default, Deserialize)]
pub struct TrendsQuery {
    /// Words of [`archive::Filter`].
    #[serde(default)]
    filter: String,
    /// The figure.
    #[serde(default)]
    metric: String,
}

impl TrendsQuery {
    fn metric(&self) -> &str {
        if self.metric.is_empty() { METRICS[0] } else { &self.metric }
    }

    /// The trends, of as many workloads as it takes to have `runs_max` runs.
    ///
    /// # Errors
    /// The filter or the figure is wrong, or the archive cannot be read.
    pub fn trends(&self, archive: &Archive, runs_max: usize) -> Result<Trends, Failure> {
        let measure = Measure::parse(self.metric()).map_err(Failure::bad_request)?;
        Ok(archive.trends(&queries::filter(&self.filter)?, &measure, runs_max)?)
    }
}

/// The page.
///
/// # Errors
/// The filter or the figure is wrong, or the archive cannot be read.
pub async fn page(
    State(site): State<Site>,
    Query(query): Query<TrendsQuery>,
) -> Result<Html<String>, Failure> {
    site.archived(move |site, archive| {
        let Trends { trends, skipped_workloads, broken_runs, older_runs } =
            query.trends(archive, DRAWN)?;
        let body = html! {
            h1 { "Trends" }
            (search(&query))
            @if trends.is_empty() { p { "No run that matches has this figure." } }
            @if broken_runs > 0 {
                p.muted { (broken_runs) " with errors or interrupted left out." }
            }
            @if older_runs > 0 {
                p.muted { (older_runs) " older runs that match were not looked at." }
            }
            @for trend in &trends { (trend_section(trend)) }
            @if skipped_workloads > 0 {
                p.muted { (skipped_workloads) " more workloads have fewer runs: filter to see them." }
            }
        };
        Ok(layout::page(site, "Trends", NavItem::Trends, body))
    })
    .await
}

fn search(query: &TrendsQuery) -> Markup {
    html! {
        form.search method="get" action="/trends" role="search" {
            (filter_field(&query.filter, "job=reader host=lab since=90d"))
            label for="metric" { "Figure" }
            select #metric name="metric" { (metric_options(query.metric())) }
            button { "Show" }
        }
    }
}

fn trend_section(trend: &Trend) -> Markup {
    html! {
        section {
            h2 { (trend.workload) }
            @if trend.course.changes.is_empty() { p { (conclusion(trend)) } }
            figure { (PreEscaped(picture(trend).element())) }
            @for (change, with) in trend.course.changes.iter().zip(&trend.coincidences) {
                (changed(trend, change, with))
            }
        }
    }
}

fn changed(trend: &Trend, change: &Change, with: &[Coincidence]) -> Markup {
    let id = &trend.runs[change.at].id;
    let before = &trend.runs[change.at - 1].id;
    html! {
        p {
            strong { (format!("{:+.1} %", (change.ratio() - 1.0) * 100.0)) }
            " (" (trend.assess(change).0) ") on " (start_time(trend, change.at)) ", from "
            (value_text(trend, change.before)) " to " (value_text(trend, change.after)) ", with run "
            a.mono href={ "/runs/" (id) } { (id) } ". "
            a href={ "/compare?run=" (before) "&run=" (id) } { "Compare it with the one before" }
        }
        ul {
            @for one in with { li { (coincidence(change, one)) } }
            @if with.is_empty() {
                li { "no recorded property of machine, storage or settings changed then" }
            }
        }
    }
}
