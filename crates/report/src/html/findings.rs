//! What was found, with its evidence, cause and cure.

use crate::exhibit::Exhibit;
use crate::figures::in_unit;
use crate::messages::severity;
use crate::verdict::sentence;
use judge::{Figure, Finding};
use maud::{Markup, html};
use record::{Severity, human};

/// So many findings are shown of each exhibit; a sweep may have one for each cell.
const FINDINGS_MAX: usize = 60;

/// The findings of all exhibits; empty when there are none.
pub(super) fn section(exhibits: &[Exhibit]) -> Markup {
    let any = exhibits.iter().any(|exhibit| !exhibit.together.findings.is_empty());
    html! {
        @if any {
            section id="findings" aria-labelledby="findings-title" {
                h2 id="findings-title" { "Findings" }
                @for exhibit in exhibits {
                    @if exhibits.len() > 1 && !exhibit.together.findings.is_empty() {
                        h3 { (exhibit.name) }
                    }
                    @for (index, finding) in
                        exhibit.together.findings.iter().enumerate().take(FINDINGS_MAX)
                    {
                        (shown(finding, is_first(&exhibit.together.findings[..index], finding)))
                    }
                    @if exhibit.together.findings.len() > FINDINGS_MAX {
                        p {
                            "The gravest " (FINDINGS_MAX) " of "
                            (exhibit.together.findings.len()) " are shown."
                        }
                    }
                }
            }
        }
    }
}

/// Of many alike the first is opened.
fn is_first(before: &[Finding], finding: &Finding) -> bool {
    before.iter().all(|known| known.check != finding.check)
}

fn shown(finding: &Finding, is_first: bool) -> Markup {
    let is_grave = finding.severity >= Severity::Warning;
    let level = severity(finding.severity);
    html! {
        details class={ "finding " (level) } open[is_grave && is_first] {
            summary {
                span class="level" { (level) } " "
                @if !finding.jobs.is_empty() { strong { (jobs(&finding.jobs)) } ": " }
                (sentence(&finding.text))
                " " span class="aside" { "[" (finding.check) "]" }
            }
            dl {
                @if !finding.cause.is_empty() { dt { "Cause" } dd { (sentence(&finding.cause)) } }
                @if !finding.remedy.is_empty() { dt { "Cure" } dd { (sentence(&finding.remedy.to_string())) } }
                @if !finding.figures.is_empty() {
                    dt { "Evidence" }
                    dd {
                        ul class="evidence" {
                            @for figure in &finding.figures {
                                li { (figure.name) ": " (amount(figure)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn jobs(names: &[String]) -> String {
    match names {
        [first, second, third, rest @ ..] if rest.len() > 1 => {
            format!("{first}, {second}, {third} and {} more", rest.len())
        }
        all => all.join(", "),
    }
}

/// A figure with its unit.
fn amount(figure: &Figure) -> String {
    match figure.unit {
        "bytes" => human::size(figure.value),
        known @ ("bytes/s" | "ns" | "percent" | "count") => in_unit(figure.value, known),
        unit => format!("{} {unit}", in_unit(figure.value, unit)),
    }
}
