//! The report as a page: what was measured, how much, whether to believe it and what limited it
//! first; then findings, figures with their intervals, pictures, and everything around the run. One
//! file that asks for nothing from elsewhere and needs no script.
//!
//! Pages that have a frame of their own take [`style`] and [`body`].

mod answer;
mod around;
mod compared;
mod exchange;
mod findings;
mod style;
mod table;

pub use table::{Table, rows};

use crate::exhibit::Exhibit;
use crate::pictures;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::sync::LazyLock;

/// Rules for everything that [`body`] writes, with those of the pictures. All of them are about what
/// is within an element of the class "fathom-report", or "chart".
pub fn style() -> &'static str {
    static ALL: LazyLock<String> = LazyLock::new(|| style::STYLE.to_owned() + charts::STYLE);
    &ALL
}

/// The whole document.
pub fn document(exhibits: &[Exhibit]) -> String {
    let title = answer::title(exhibits);
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
                title { (title) " – fathom report" }
                style { (PreEscaped(style())) (PreEscaped(style::PAGE)) }
            }
            body { main { (body(exhibits)) } }
        }
    };
    page.into_string()
}

/// The report on some exhibits, the first of which the others are compared with. To stand within an
/// element of the caller's.
pub fn body(exhibits: &[Exhibit]) -> Markup {
    let (pictures, compared) = (pictures::all(exhibits), compared::all(exhibits));
    html! {
        article class="fathom-report" {
            (answer::head(exhibits))
            (answer::answers(exhibits, &compared))
            (compared::sections(&compared))
            (findings::section(exhibits))
            section id="figures" aria-labelledby="figures-title" {
                h2 id="figures-title" { "Figures" }
                (table::markup(&table::rows(exhibits)))
            }
            (exchange::section(exhibits))
            @if !pictures.is_empty() {
                section id="pictures" aria-labelledby="pictures-title" {
                    h2 id="pictures-title" { "Pictures" }
                    @for named in &pictures {
                        figure id={ "chart-" (named.id) } {
                            div class="chart-room" { (PreEscaped(named.picture.element())) }
                            @if !named.reading.is_empty() { figcaption { (named.reading) } }
                        }
                    }
                }
            }
            @for exhibit in exhibits { (around::section(exhibit, exhibits.len() > 1)) }
            footer {
                "Made by fathom " (env!("CARGO_PKG_VERSION"))
                ". Intervals hold the true value in 95 of 100 cases."
            }
        }
    }
}

#[cfg(test)]
mod tests;
