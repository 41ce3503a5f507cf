//! Findings with their evidence, cause and cure.

use crate::figures::in_unit;
use crate::judged_set::JudgedSet;
use crate::messages::severity;
use crate::verdict::sentence;
use judge::{Figure, Finding};
use maud::{Markup, html};
use record::{Severity, human};

/// The most findings shown of a set; a sweep may have one for each cell.
const FINDINGS_MAX: usize = 60;

/// The findings of all sets; empty without findings.
pub(super) fn section(judged_sets: &[JudgedSet]) -> Markup {
    let any = judged_sets.iter().any(|judged_set| !judged_set.together.findings.is_empty());
    html! {
        @if any {
            section id="findings" aria-labelledby="findings-title" {
                h2 id="findings-title" { "Findings" }
                @for judged_set in judged_sets {
                    @if judged_sets.len() > 1 && !judged_set.together.findings.is_empty() {
                        h3 { (judged_set.name) }
                    }
                    @for (index, finding) in
                        judged_set.together.findings.iter().enumerate().take(FINDINGS_MAX)
                    {
                        (shown(finding, is_first(&judged_set.together.findings[..index], finding)))
                    }
                    @if judged_set.together.findings.len() > FINDINGS_MAX {
                        p {
                            "The gravest " (FINDINGS_MAX) " of "
                            (judged_set.together.findings.len()) " are shown."
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
                @if !finding.jobs.is_empty() { strong { (human::list_up_to(&finding.jobs, 4)) } ": " }
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

/// A figure with its unit.
fn amount(figure: &Figure) -> String {
    match figure.unit {
        "bytes" => human::size(figure.value),
        known @ ("bytes/s" | "ns" | "percent" | "count") => in_unit(figure.value, known),
        unit => format!("{} {unit}", in_unit(figure.value, unit)),
    }
}
