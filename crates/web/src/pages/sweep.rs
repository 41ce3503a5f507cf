//! A set of runs: repeats, the cells of a sweep, the steps of a test.

use crate::failure::Failure;
use crate::format::when;
use crate::layout::{self, NavItem};
use crate::pages::parts::{choice, chooser, figures, metric_options};
use crate::pages::reports;
use crate::queries;
use crate::site::Site;
use archive::Row;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use judge::Measure;
use maud::{Markup, PreEscaped, html};
use record::RecordSet;
use report::plot::{Kind, Request, Source, picture};
use serde::Deserialize;

/// Largest set whose report is shown.
const REPORTED: usize = 200;

/// The query of the page.
#[derive(Default, Deserialize)]
pub struct SweepQuery {
    /// The figure to draw.
    #[serde(default)]
    metric: String,
}

/// The page.
///
/// # Errors
/// There is no such set, or a record of it cannot be read.
pub async fn page(
    State(site): State<Site>,
    Path(name): Path<String>,
    Query(query): Query<SweepQuery>,
) -> Result<Html<String>, Failure> {
    site.archived(move |site, archive| {
        let id = queries::set(archive, &name)?;
        let rows = queries::rows_of(archive, &id)?;
        let set = archive.load_set(&id)?;
        let title = titled(&set.kind);
        let is_varied = set.runs.iter().any(|run| {
            run.cell.as_ref().is_some_and(|cell| !cell.at.is_empty())
        });
        let body = html! {
            @if let Some(first) = rows.first() {
                p.muted { a href="/runs" { "Runs" } " › " (title) " " span.mono { (id.short()) } " · "
                          (rows.len()) " runs · " (when(first)) " · " (first.host) }
            }
            @if is_varied { (pictures(&set, &query)?) }
            @if set.runs.len() <= REPORTED { (reports::report_on(archive, id.as_str(), &title, set)?) }
            @else { h1 { (title) } }
            (members(&rows))
        };
        Ok(layout::page(site, &title, NavItem::Runs, body))
    })
    .await
}

/// "Sweep".
fn titled(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map_or("Set".to_owned(), |first| first.to_uppercase().chain(letters).collect())
}

/// The sweep drawn by the chosen figure, and as a surface if it has two dimensions. The report
/// draws it by the default figure.
fn pictures(set: &RecordSet, query: &SweepQuery) -> Result<Markup, Failure> {
    let mut all = Vec::new();
    if !query.metric.is_empty() {
        let metric = Some(Measure::parse(&query.metric).map_err(Failure::bad_request)?);
        let source = [Source::new("", "", set.clone())];
        let drawn = |kind| {
            picture(&source, &Request { kind, metric: metric.clone(), ..Request::default() })
        };
        let usual = drawn(None).map_err(Failure::bad_request)?;
        if usual.kind == Kind::Heatmap {
            all.extend(drawn(Some(Kind::Surface)));
        }
        all.insert(0, usual);
    }
    Ok(html! {
        form.inline method="get" {
            label for="metric" { "Draw it by" }
            select #metric name="metric" {
                (metric_options(&query.metric))
            }
            button { "Draw" }
        }
        @for drawn in &all { figure { (PreEscaped(drawn.picture.element())) } }
    })
}

fn members(rows: &[Row]) -> Markup {
    let caption = html! { (rows.len()) " runs, in the order they were made" };
    let heads = html! {
        th scope="col" { "Run" }
        th.number scope="col" { "Round" }
        th.number scope="col" { "IOPS" }
        th.number scope="col" { "Bandwidth" }
        th.number scope="col" { "p99" }
        th scope="col" { "Limited by" }
    };
    html! {
        h2 { "Its runs" }
        (choice(&caption, &heads, &html! { @for row in rows { (member(row)) } }))
    }
}

fn member(row: &Row) -> Markup {
    let name = row.cell.as_deref().filter(|cell| !cell.is_empty()).unwrap_or(&row.job);
    let round = row.round.map(|round| (round + 1).to_string()).unwrap_or_default();
    html! {
        tr {
            (chooser(row, name))
            th scope="row" { a href={ "/runs/" (row.id.as_str()) } { (name) } }
            td.number data-name="Round" { (round) }
            (figures(row))
        }
    }
}
