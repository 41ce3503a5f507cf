//! Requests to object stores, as a table.

use crate::judged_set::JudgedSet;
use crate::request_text;
use judge::{UnitMetrics, request_times};
use maud::{Markup, html};
use record::human::{count, time};
use record::{Exchange, Histogram, HostResult, RequestResult};

/// The most rows on a page.
const ROWS_MAX: usize = 200;

/// Names of the columns of words.
const WORDS: [&str; 4] = ["job", "request", "answers", "retries"];

/// Names of the columns of figures before those of whole requests.
const FIGURES: [&str; 3] = ["sent", "first byte p50", "first byte p99"];

/// Percentiles of whole requests that have a column.
const WHOLE: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

type Row<'a> = (&'a JudgedSet, &'a UnitMetrics, &'a Exchange, &'a RequestResult);

/// The section; empty without requests to an object store.
pub(super) fn section(judged_sets: &[JudgedSet]) -> Markup {
    let rows: Vec<Row> = judged_sets.iter().flat_map(rows).collect();
    let several = judged_sets.len() > 1;
    html! {
        @if !rows.is_empty() {
            section id="requests" aria-labelledby="requests-title" {
                h2 id="requests-title" { "Requests" }
                div class="table-room" tabindex="0" role="group" aria-label="Requests by kind" {
                    table {
                        thead {
                            tr {
                                @if several { th scope="col" { "run" } }
                                @for head in WORDS { th scope="col" { (head) } }
                                @for head in FIGURES { th scope="col" class="number" { (head) } }
                                @for p in WHOLE { th scope="col" class="number" { "whole p" (p) } }
                            }
                        }
                        tbody { @for row in rows.iter().take(ROWS_MAX) { (line(row, several)) } }
                    }
                }
                @if rows.len() > ROWS_MAX { p { "And " (rows.len() - ROWS_MAX) " rows more." } }
                (stores(&rows))
            }
        }
    }
}

fn rows(judged_set: &JudgedSet) -> Vec<Row<'_>> {
    let units = judged_set.judged.iter().flat_map(|judged| &judged.units);
    let asked = units.filter_map(|unit| Some((unit, unit.exchange.as_ref()?)));
    asked
        .flat_map(|(unit, exchange)| {
            exchange.requests.iter().map(move |request| (judged_set, unit, exchange, request))
        })
        .collect()
}

fn line((judged_set, unit, _, request): &Row, several: bool) -> Markup {
    html! {
        tr {
            @if several { td { (judged_set.name) } }
            td { (unit.name) }
            td { (request.request) }
            td { (answers(request)) }
            td { (repeats(request)) }
            td class="number" { (count(request.sent as f64)) }
            @for p in [50.0, 99.0] { td class="number" { (at(&request.first_byte, p)) } }
            @for p in WHOLE { td class="number" { (at(&request.whole, p)) } }
        }
    }
}

/// Answers by status and kind, and unfinished requests.
fn answers(request: &RequestResult) -> String {
    let answers = request_text::answers(request);
    match (request.unfinished, answers.is_empty()) {
        (0, _) => answers,
        (unfinished, true) => format!("unfinished x {unfinished}"),
        (unfinished, false) => format!("{answers}, unfinished x {unfinished}"),
    }
}

/// "3 (503 x 3)": the number of repeats and their causes, and requests that were resent without being
/// counted as repeats.
fn repeats(request: &RequestResult) -> String {
    let mut text = request.retries.to_string();
    let after = request_text::repeated_answers(request);
    if !after.is_empty() {
        text += &format!(" ({after})");
    }
    if request.resent > 0 {
        text += &format!(", {} resent", request.resent);
    }
    text
}

fn at(times: &Histogram, percentile: f64) -> String {
    let stats = request_times(times);
    let known = stats.as_ref().and_then(|s| s.percentiles.iter().find(|(p, _)| *p == percentile));
    known.map_or_else(|| "–".into(), |(_, value)| time(*value as f64))
}

/// One line for each store, with its connections, and the first failure of each kind.
fn stores(rows: &[Row]) -> Markup {
    let mut units: Vec<&UnitMetrics> = Vec::new();
    for (_, unit, ..) in rows {
        if units.iter().all(|known| !std::ptr::eq(*known, *unit)) {
            units.push(unit);
        }
    }
    html! {
        @for unit in units.into_iter().take(ROWS_MAX) {
            @if let Some(exchange) = &unit.exchange {
                p class="aside" {
                    (unit.name) ": " (exchange.protocol) " at " (exchange.endpoints.join(", "))
                    ", TLS " (exchange.tls) ", content " (request_text::content_protection(&exchange.content)) ", "
                    (count(exchange.connections as f64)) " connections made"
                    (took(&exchange.connect)) "."
                }
                @for host in &exchange.hosts { p class="aside" { (by_host(host)) } }
                @for failure in &exchange.failures { p class="care" { (failure) } }
            }
        }
    }
}

/// "b:9000: 200 good, half within 1.0 ms, 99 of 100 within 2.0 ms; 12 failed."
fn by_host(host: &HostResult) -> String {
    let took = took(&host.whole);
    format!("{}: {} good{took}; {} failed.", host.endpoint, host.good, host.failed)
}

/// ", half within 1.0 ms, 99 of 100 within 2.0 ms"; empty where nothing was measured.
fn took(times: &Histogram) -> String {
    if times.is_empty() {
        return String::new();
    }
    format!(", half within {}, 99 of 100 within {}", at(times, 50.0), at(times, 99.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_and_unfinished_requests_are_shown() {
        let mut get = RequestResult { statuses: [(200, 7)].into(), ..RequestResult::default() };
        assert_eq!((answers(&get).as_str(), repeats(&get).as_str()), ("200 x 7", "0"));
        (get.retries, get.resent, get.unfinished) = (4, 2, 1);
        get.repeated_statuses.insert(503, 3);
        get.repeated_failures.insert("reset".into(), 1);
        assert_eq!(answers(&get), "200 x 7, unfinished x 1");
        assert_eq!(repeats(&get), "4 (503 x 3, reset x 1), 2 resent");
        get.statuses.clear();
        assert_eq!(answers(&get), "unfinished x 1");
    }
}
