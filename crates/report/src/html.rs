//! The report as an HTML page: summary, findings, figures with their intervals, pictures, and the
//! environment of the runs. The page is one file without scripts and loads nothing.
//!
//! Pages that have a frame of their own take [`style`] and [`body`].

mod comparison;
mod environment;
mod exchange;
mod findings;
mod fleet;
mod inside;
mod style;
mod summary;
mod table;

pub use table::{Table, rows};

use crate::judged_set::JudgedSet;
use crate::pictures;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::sync::LazyLock;

/// Style rules for [`body`] and for pictures. All of them apply to elements within an element of the class "fathom-report", or "chart".
pub fn style() -> &'static str {
    static ALL: LazyLock<String> = LazyLock::new(|| style::STYLE.to_owned() + charts::STYLE);
    &ALL
}

/// The whole document.
pub fn document(judged_sets: &[JudgedSet]) -> String {
    page(&format!("{} – fathom report", summary::title(judged_sets)), &body(judged_sets))
}

/// A document with this body, in the style of reports.
pub fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "fathom " (env!("CARGO_PKG_VERSION")) };
                // Nothing may be fetched or run, whatever a record holds.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                title { (title) }
                style { (PreEscaped(style())) (PreEscaped(style::PAGE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}

/// The report on these sets, as an element of a page of the caller. The others are compared with the
/// first.
pub fn body(judged_sets: &[JudgedSet]) -> Markup {
    let (pictures, compared) = (pictures::all(judged_sets), comparison::all(judged_sets));
    html! {
        article class="fathom-report" {
            (summary::head(judged_sets))
            (summary::answers(judged_sets, &compared))
            (comparison::sections(&compared))
            (findings::section(judged_sets))
            section id="figures" aria-labelledby="figures-title" {
                h2 id="figures-title" { "Figures" }
                (table::markup(&table::rows(judged_sets)))
            }
            (fleet::section(judged_sets))
            (exchange::section(judged_sets))
            (inside::sections(judged_sets))
            @if !pictures.is_empty() {
                section id="pictures" aria-labelledby="pictures-title" {
                    h2 id="pictures-title" { "Pictures" }
                    @for named in &pictures {
                        figure id={ "chart-" (named.id) } {
                            div class="chart-room" tabindex="0" { (PreEscaped(named.picture.element())) }
                            @if !named.reading.is_empty() { figcaption { (named.reading) } }
                        }
                    }
                }
            }
            @for judged_set in judged_sets { (environment::section(judged_set, judged_sets.len() > 1)) }
            footer {
                "Made by fathom " (env!("CARGO_PKG_VERSION"))
                ". Intervals hold the true value in 95 of 100 cases."
            }
        }
    }
}

#[cfg(test)]
mod tests;
