//! The runs: searched, sorted, chosen.

use crate::failure::{Failure, HasErrorText};
use crate::format::{encoded, when};
use crate::layout::{self, NavItem};
use crate::pages::parts::{choice, chooser, figures, filter_field, tag_link};
use crate::queries::{RunPage, RunsQuery};
use crate::site::Site;
use archive::Row;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};

/// A column: its name, its sort key, and whether the first click sorts the largest first.
const COLUMNS: [(&str, &str, bool); 8] = [
    ("Job", "job", false),
    ("When", "time", true),
    ("Host", "host", false),
    ("Workload", "", false),
    ("IOPS", "iops", true),
    ("Bandwidth", "bandwidth", true),
    ("p99", "p99", true),
    ("Limited by", "", false),
];

/// Redirects to the runs.
pub async fn home() -> Redirect {
    Redirect::to("/runs")
}

/// The page.
///
/// # Errors
/// The archive cannot be read. A mistake in the filter is shown beside it.
pub async fn page(
    State(site): State<Site>,
    Query(query): Query<RunsQuery>,
) -> Result<Response, Failure> {
    site.archived(move |site, archive| {
        let listed = match query.list(archive) {
            Ok(listed) => listed,
            Err(failure) if failure.status.is_client_error() => {
                let body = html! {
                    h1 { "Runs" }
                    (search(&query))
                    p.failure role="alert" { (failure.text) }
                };
                let page = layout::page(site, "Runs", NavItem::Runs, body);
                return Ok((failure.status, Extension(HasErrorText), page).into_response());
            }
            Err(failure) => return Err(failure),
        };
        let body = html! {
            h1 { "Runs" }
            (search(&query))
            @if listed.total == 0 { (none(&query)) } @else { (list(&query, &listed)) }
        };
        Ok(layout::page(site, "Runs", NavItem::Runs, body).into_response())
    })
    .await
}

fn search(query: &RunsQuery) -> Markup {
    html! {
        form.search method="get" action="/runs" role="search" {
            (filter_field(&query.filter, "job=reader since=7d iops>100k tag=before"))
            @if !query.sort.is_empty() { input type="hidden" name="sort" value=(query.sort); }
            button { "Show" }
        }
    }
}

fn none(query: &RunsQuery) -> Markup {
    match query.filter.trim() {
        "" => html! {
            p { "The archive is empty. Every run goes into it: " code { "fathom run" } ", "
                code { "fathom test" } ", or fio's command line under the name fio." }
        },
        _ => html! { p { "No run matches. " a href="/runs" { "Show all" } } },
    }
}

fn list(query: &RunsQuery, listed: &RunPage) -> Markup {
    let last = query.offset + listed.rows.len() as u64;
    let caption = html! {
        @if listed.rows.is_empty() { (listed.total) " runs, none here" }
        @else { "Runs " (query.offset + 1) " to " (last) " of " (listed.total) }
    };
    let heads = html! {
        @for column in COLUMNS { (heading(query, column)) }
        th scope="col" { "Tags" }
    };
    html! {
        (choice(&caption, &heads, &html! { @for row in &listed.rows { (line(row)) } }))
        (paging(query, listed))
    }
}

fn heading(query: &RunsQuery, (name, sort, is_down): (&str, &str, bool)) -> Markup {
    let is_number = ["IOPS", "Bandwidth", "p99"].contains(&name);
    let class = is_number.then_some("number");
    if sort.is_empty() {
        return html! { th scope="col" class=[class] { (name) } };
    }
    let down = format!("-{sort}");
    let order = match query.sort.as_str() {
        "" if sort == "time" => Some("descending"),
        now if now == sort => Some("ascending"),
        now if now == down => Some("descending"),
        _ => None,
    };
    // A click on the current sort key reverses the order.
    let is_down = match order {
        Some(order) => order == "ascending",
        None => is_down,
    };
    let next = if is_down { down } else { sort.to_owned() };
    let query = encoded(&[("filter", &query.filter), ("sort", &next)]);
    let arrow = match order {
        Some("ascending") => " ▲",
        Some(_) => " ▼",
        None => "",
    };
    html! {
        th scope="col" class=[class] aria-sort=[order] {
            a href={ "/runs?" (query) } { (name) span aria-hidden="true" { (arrow) } }
        }
    }
}

/// A run in a list.
fn line(row: &Row) -> Markup {
    let id = row.id.as_str();
    let name = if row.job.is_empty() { "(no job)" } else { row.job.as_str() };
    html! {
        tr {
            (chooser(row, name))
            th scope="row" {
                a href={ "/runs/" (id) } { (name) }
                @if let Some(cell) = row.cell.as_ref().filter(|cell| **cell != row.job) {
                    " " span.muted { (cell) }
                }
                @if let Some(set) = &row.set {
                    " " a.tag href={ "/sets/" (set.as_str()) } { (row.kind) }
                } @else if row.kind != "run" {
                    " " span.tag { (row.kind) }
                }
                @if !row.note.is_empty() { br; span.muted { (row.note) } }
            }
            td data-name="When" { (when(row)) }
            td data-name="Host" { (row.host) }
            td data-name="Workload" { (row.figures_of.clone().unwrap_or_else(|| row.workload()))
                @if !row.device.is_empty() { br; span.muted { (row.device) } } }
            (figures(row))
            td data-name="Tags" { @for tag in &row.tags { (tag_link(tag)) " " } }
        }
    }
}

fn paging(query: &RunsQuery, listed: &RunPage) -> Markup {
    let RunPage { total, limit, .. } = listed;
    if total <= limit && query.offset == 0 {
        return html! {};
    }
    let to = |offset: u64| {
        let (offset, limit) = (offset.to_string(), query.limit.map(|limit| limit.to_string()));
        let limit = limit.as_deref().unwrap_or_default();
        let pairs = [
            ("filter", query.filter.as_str()),
            ("sort", &query.sort),
            ("limit", limit),
            ("offset", if offset == "0" { "" } else { &offset }),
        ];
        format!("/runs?{}", encoded(&pairs))
    };
    html! {
        nav.pages aria-label="Pages of runs" {
            @if query.offset > 0 {
                a rel="prev" href=(to(query.offset.saturating_sub(*limit))) { "Page before" }
            }
            span { "Page " (query.offset / limit + 1) " of " (total.div_ceil(*limit)) }
            @if query.offset.saturating_add(*limit) < *total {
                a rel="next" href=(to(query.offset + limit)) { "Next page" }
            }
        }
    }
}
