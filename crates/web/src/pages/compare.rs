//! The comparison of two or more runs.

use crate::failure::Failure;
use crate::layout::{self, NavItem};
use crate::pages::reports;
use crate::site::Site;
use archive::RunOrSet;
use axum::extract::{Query, State};
use axum::response::Html;
use maud::html;

/// Most runs that are compared.
const MOST: usize = 8;

/// The page. Each `run` in the query is a name.
///
/// # Errors
/// Too few or too many runs, or one does not exist.
pub async fn page(
    State(site): State<Site>,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Html<String>, Failure> {
    let names = query.into_iter().filter(|(key, name)| key == "run" && !name.trim().is_empty());
    let names: Vec<String> = names.map(|(_, name)| name.trim().to_owned()).collect();
    if !(2..=MOST).contains(&names.len()) {
        return Err(Failure::bad_request(format!(
            "{} chosen: 2 to {MOST} runs can be compared; choose them in the list of runs",
            names.len()
        )));
    }
    site.archived(move |site, archive| {
        let mut sets = Vec::new();
        for name in &names {
            let (id, label) = match archive.resolve(name)? {
                RunOrSet::Run(id) => {
                    let row = archive.row(&id)?;
                    (id.to_string(), format!("{} {}", row.job, id.short()))
                }
                RunOrSet::Set(id) => (id.to_string(), format!("set {}", id.short())),
            };
            sets.push((label, archive.load_named(&id)?, id));
        }
        // The earliest is the baseline, whatever the order in the query.
        sets.sort_by_key(|(_, set, _)| set.runs.first().map(|run| run.invocation.started_unix_ms));
        let body = html! {
            p.muted { "Comparison, the earliest first: "
                @for (index, (label, _, id)) in sets.iter().enumerate() {
                    @if index > 0 { ", " }
                    a href={ "/runs/" (id) } { (label) }
                }
            }
            (reports::report(sets.into_iter().map(|(label, set, _)| (label, set)).collect()))
        };
        Ok(layout::page(site, "Comparison", NavItem::Runs, body))
    })
    .await
}
