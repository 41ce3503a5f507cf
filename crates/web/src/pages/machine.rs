//! The machine page: the storage under a path, as `fathom inspect` shows it.

use crate::failure::Failure;
use crate::layout::{self, NavItem};
use crate::site::Site;
use axum::extract::{Query, State};
use axum::response::Html;
use judge::Inspection;
use judge::inspect::{Mark, Section};
use maud::{Markup, html};
use serde::Deserialize;

/// The query of the page.
#[derive(Deserialize)]
pub struct MachineQuery {
    /// A directory, a file or a device.
    #[serde(default)]
    pub path: String,
}

impl MachineQuery {
    /// The path; without one, the directory that the program was started in.
    pub fn path(&self) -> &str {
        if self.path.is_empty() { "." } else { &self.path }
    }
}

/// The page.
pub async fn page(
    State(site): State<Site>,
    Query(query): Query<MachineQuery>,
) -> Result<Html<String>, Failure> {
    site.work(move |site| {
        let (inspection, facts) = site.inspect(query.path())?;
        let body = html! {
            h1 { "Machine" }
            p.lead { (facts.hostname) " · " (facts.kernel) }
            form.search method="get" role="search" {
                label for="path" { "Path or device" }
                input #path type="text" name="path" value=(query.path()) required spellcheck="false";
                button { "Look" }
            }
            (shown(&inspection))
        };
        Ok(layout::page(site, "Machine", NavItem::Machine, body))
    })
    .await
}

fn shown(inspection: &Inspection) -> Markup {
    let stack = match inspection.stack.is_empty() {
        true => "no visible filesystem or device".to_owned(),
        false => inspection.stack.join(" › "),
    };
    let notes = [("Unknown", &inspection.unknown), ("Root can see", &inspection.as_root)];
    html! {
        p { strong { (inspection.target) } ": " (stack) }
        p.muted { "Nothing was measured or changed." }
        div.sections {
            @for section in &inspection.sections { (section_card(section)) }
        }
        @for (title, texts) in notes {
            @if !texts.is_empty() {
                h2 { (title) }
                ul { @for text in texts { li { (text) } } }
            }
        }
    }
}

fn section_card(section: &Section) -> Markup {
    html! {
        section.card {
            h2 { (section.number) ". " (section.title) " " (badge(section.mark())) }
            dl.facts {
                @for row in &section.rows {
                    div class={ "mark-" (row.mark.name()) } {
                        dt { (row.label) }
                        dd {
                            (row.value)
                            @if row.mark != Mark::Ok { " " (badge(row.mark)) }
                        }
                    }
                }
            }
            p { (section.means) }
            p.decide { (section.decide) }
        }
    }
}

fn badge(mark: Mark) -> Markup {
    let words = match mark {
        Mark::Ok => return html! {},
        Mark::Look => "worth a look",
        Mark::Problem => "problem",
    };
    html! { span class={ "badge badge-" (mark.name()) } { (words) } }
}
