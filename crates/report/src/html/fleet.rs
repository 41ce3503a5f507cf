//! The ranks of a fleet.

use crate::fleet::{FIGURES, RankTable, head, lines, tables};
use crate::judged_set::JudgedSet;
use judge::Judged;
use maud::{Markup, html};
use record::Fleet;

/// Most runs whose ranks are shown.
const RUNS_MAX: usize = 4;

/// The section; empty without runs of several ranks.
pub(super) fn section(judged_sets: &[JudgedSet]) -> Markup {
    let runs = judged_sets.iter().flat_map(|set| set.set.runs.iter().zip(&set.judged));
    let fleets: Vec<(&Fleet, &Judged)> =
        runs.filter_map(|(run, judged)| Some((run.fleet.as_ref()?, judged))).collect();
    html! {
        @if !fleets.is_empty() {
            section id="fleet" aria-labelledby="fleet-title" {
                h2 id="fleet-title" { "Ranks" }
                @for (fleet, judged) in fleets.iter().take(RUNS_MAX) {
                    h3 { (head(fleet)) }
                    ul { @for line in lines(fleet, judged) { li { (line) } } }
                    @for table in tables(fleet, judged) { (ranks(&table)) }
                }
                @if fleets.len() > RUNS_MAX { p { "And those of " (fleets.len() - RUNS_MAX) " more runs." } }
            }
        }
    }
}

fn ranks(table: &RankTable) -> Markup {
    html! {
        @if let Some(group) = table.group { h4 { "Group " (group) } }
        div class="table-room" tabindex="0" role="group" aria-label="Ranks" {
            table {
                thead { tr {
                    th scope="col" { "rank" }
                    th scope="col" { "host" }
                    @for name in FIGURES { th scope="col" class="number" { (name) } }
                    th scope="col" { "limited by" }
                } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            th scope="row" { (row.rank) }
                            td { (row.host) }
                            @match &row.figures {
                                Ok(figures) => @for figure in figures { td class="number" { (figure) } },
                                Err(why) => td colspan=(FIGURES.len()) { (why) },
                            }
                            td { (row.remarks) }
                        }
                    }
                }
            }
        }
        @if table.more > 0 { p { "And " (table.more) " more ranks, each with more I/Os." } }
    }
}
