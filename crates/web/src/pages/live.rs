//! What runs now: which processes, and what one of them does, as it does it.

use crate::failure::Failure;
use crate::format::latency as latency_words;
use crate::launch::LaunchedRun;
use crate::layout::{self, NavItem};
use crate::live_runs::{Follower, RunState};
use crate::pages::{mark, spark};
use crate::site::Site;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use live::feed::FeedProcess;
use live::run::{DirectionNow, FindingNow, JobNow, LatencyNow, Moment, RunInfo};
use live::units;
use live::{CpuShares, Rates};
use maud::{Markup, html};
use record::Direction;
use std::convert::Infallible;
use std::time::Duration;
use tokio_stream::{Stream, StreamExt};

/// How long a page waits for the first moment of a run: moments are a second apart.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What runs now.
///
/// # Errors
/// When the directory of the sockets cannot be trusted.
pub async fn list(State(site): State<Site>) -> Result<Html<String>, Failure> {
    site.work(|site| {
        let listed = site.live_runs().list().map_err(Failure::internal)?;
        let body = html! {
            h1 { "Live" }
            @if listed.is_empty() {
                p { "Nothing of this user runs now. Start " code { "fathom run" }
                    " (or any other command that measures), and load this page again." }
            } @else {
                div.wide {
                    table.list.cards {
                        caption { "Processes of this user that measure now" }
                        thead { tr {
                            th scope="col" { "Jobs" } th scope="col" { "Process" }
                            th scope="col" { "Command" } th scope="col" { "Directory" }
                        } }
                        tbody { @for listed in &listed { (listed_row(listed)) } }
                    }
                }
            }
        };
        Ok(layout::page(site, "Live", NavItem::Live, body))
    })
    .await
}

fn listed_row(listed: &FeedProcess) -> Markup {
    let address = format!("/live/{}", listed.pid);
    let Some(head) = &listed.info else {
        return html! {
            tr { th scope="row" { a href=(address) { "about to begin" } }
                 td data-name="Process" { (listed.pid) } td {} td {} }
        };
    };
    html! {
        tr {
            th scope="row" { a href=(address) { (head.name) } }
            td data-name="Process" { (listed.pid) }
            td.mono data-name="Command" { (command(head)) }
            td.mono data-name="Directory" { (head.directory) }
        }
    }
}

fn command(head: &RunInfo) -> String {
    head.arguments.join(" ")
}

/// A run as it goes on.
///
/// # Errors
/// When the process runs nothing, and was not started from here.
pub async fn run(State(site): State<Site>, Path(pid): Path<u32>) -> Result<Response, Failure> {
    let launched = site
        .work(move |site| Ok(site.launcher().and_then(|launcher| launcher.status(pid))))
        .await?;
    let follower = site.work(move |site| Ok(site.live_runs().follow(pid))).await?;
    let Some(mut follower) = follower else {
        return match launched {
            Some(launched) => Ok(started(&site, pid, &launched).into_response()),
            None => {
                Err(Failure::not_found(format!("Process {pid} runs nothing that can be seen.")))
            }
        };
    };
    // A page without a picture is still right: the first moment comes by itself.
    let first = follower.wait_for(|known| known.moment.is_some() || known.is_gone);
    let _ = tokio::time::timeout(PATIENCE, first).await;
    let known = follower.borrow_and_update().clone();
    let head = html! { noscript { meta http-equiv="refresh" content="2"; } };
    let body = html! {
        h1 { "Live" }
        p.muted #live-state role="status" { "as it was when this page was loaded" }
        div data-live={ "/live/" (pid) "/events" } { (shown(&known)) }
    };
    Ok(layout::page_with(&site, "Live", NavItem::Live, head, body).into_response())
}

/// A run that was started here and has not begun to measure, or ended.
fn started(site: &Site, pid: u32, launched: &LaunchedRun) -> Html<String> {
    let head = html! {
        @if launched.ended.is_none() { meta http-equiv="refresh" content="1"; }
    };
    let body = html! {
        @match launched.ended {
            None => { h1 { "Process " (pid) " is about to begin" } }
            Some(0) => {
                h1 { "Process " (pid) " has ended" }
                p { a href="/runs" { "To the runs" } }
            }
            Some(code) => {
                h1 { "Process " (pid) " ended with exit code " (code) }
                p { a href="/runs" { "To the runs" } " · " a href="/start" { "To the form" } }
            }
        }
        @if !launched.output.is_empty() {
            h2 { "What it said" }
            pre tabindex="0" { (launched.output) }
        }
    };
    layout::page_with(site, "Started", NavItem::Start, head, body)
}

/// A run as it goes on, as events: `moment` with the part of the page that shows it, and at last
/// `end` with where it is then.
///
/// # Errors
/// When the process runs nothing.
pub async fn events(State(site): State<Site>, Path(pid): Path<u32>) -> Result<Response, Failure> {
    let follower = site.work(move |site| Ok(site.live_runs().follow(pid))).await?;
    let was_started = site.launcher().is_some_and(|launcher| launcher.status(pid).is_some());
    let Some(follower) = follower else {
        return match was_started {
            // A browser asks again after an error, and takes an end for one.
            true => Ok(sse(tokio_stream::iter([Ok(ended(pid, &RunState::default(), true))]))),
            false => Err(Failure::not_found(format!("Process {pid} runs nothing."))),
        };
    };
    let (moments, ends) = (moments(follower), until(site.closing()));
    let events = moments.map(move |known| {
        Ok(match known.is_gone {
            true => ended(pid, &known, was_started),
            false => Event::default().event("moment").data(shown(&known).into_string()),
        })
    });
    Ok(sse(whole(events, ends)))
}

/// What becomes known, until the process is gone.
fn moments(follower: Follower) -> impl Stream<Item = std::sync::Arc<RunState>> + Send {
    let mut is_over = false;
    tokio_stream::wrappers::WatchStream::new(follower).take_while(move |known| {
        let goes_on = !is_over;
        is_over = known.is_gone;
        goes_on
    })
}

/// One item when the program ends.
fn until(closing: tokio::sync::watch::Receiver<bool>) -> impl Stream<Item = ()> + Send {
    tokio_stream::wrappers::WatchStream::new(closing).filter(|closing| *closing).map(|_| ())
}

/// Events until the first item of `ends`.
fn whole(
    events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static,
    ends: impl Stream<Item = ()> + Send + 'static,
) -> impl Stream<Item = Result<Event, Infallible>> + Send + 'static {
    let events = events.map(Some).chain(tokio_stream::once(None));
    let merged = events.merge(ends.map(|()| None));
    merged.take_while(Option::is_some).filter_map(|event| event)
}

/// The last event: where to go.
fn ended(pid: u32, known: &RunState, was_started: bool) -> Event {
    let to = match (&known.saved, was_started) {
        (Some(kept), _) => format!("/runs/{}", kept.id),
        (None, true) => format!("/live/{pid}"),
        (None, false) => "/runs".to_owned(),
    };
    Event::default().event("end").data(to)
}

fn sse(events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static) -> Response {
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    let none = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, none);
    response
}

/// The part of the page that shows a run.
fn shown(known: &RunState) -> Markup {
    let Some(head) = &known.head else { return html! { p { "It is about to begin." } } };
    html! {
        h2 { (head.name) }
        p.mono { (command(head)) }
        @match &known.moment {
            Some(moment) => { (now(known, moment)) }
            None => { p { "It is about to begin." } }
        }
        @if let Some(ended) = &known.ended {
            p.note {
                "This run has ended"
                @if let Some(signal) = ended.interrupted_by { " by signal " (signal) }
                @if ended.errors > 0 { " with " (ended.errors) " errors" }
                "."
                @if let Some(kept) = &known.saved { " " a href={ "/runs/" (kept.id) } { "Its report" } }
            }
        }
    }
}

fn now(known: &RunState, moment: &Moment) -> Markup {
    let elapsed = moment.elapsed_seconds;
    html! {
        p {
            (units::duration(elapsed)) " so far"
            @match moment.remaining_seconds {
                Some(left) => {
                    ", " (units::duration(left)) " to go "
                    progress max=(format!("{:.1}", elapsed + left)) value=(format!("{elapsed:.1}"))
                        aria-label="Time that has passed" {}
                }
                None => { ", and it cannot be told how long yet" }
            }
            @if moment.ending { " · it was asked to end" }
        }
        @if let Some(layout) = &moment.layout {
            p.note { "Files are being made: " (units::bytes(layout.done as f64).trim()) " of "
                     (units::bytes(layout.total as f64).trim()) }
        }
        div.sparks {
            (spark("IOPS", &known.iops, units::count))
            (spark("Bandwidth", &known.bytes, |value| format!("{}/s", units::bytes(value).trim())))
        }
        (jobs(&moment.jobs))
        @if !moment.findings.is_empty() {
            h3 { "Findings so far" }
            @for finding in &moment.findings { (finding_now(finding)) }
        }
        @if let Some(machine) = &moment.machine { (machine_now(machine, moment)) }
        @if !moment.messages.is_empty() {
            h3 { "Messages" }
            ul { @for message in &moment.messages {
                li { (mark(message.severity)) " " (message.text) }
            } }
        }
    }
}

fn finding_now(finding: &FindingNow) -> Markup {
    html! {
        p { (mark(finding.severity)) " " strong { (finding.check) } " " (finding.text) " "
            span.muted { (finding.cure) } }
    }
}

fn jobs(jobs: &[JobNow]) -> Markup {
    html! {
        div.wide {
            table.list.cards {
                caption { "Latencies are completion latencies of the last seconds" }
                thead { tr {
                    th scope="col" { "Job" } th scope="col" { "State" } th scope="col" { "Does" }
                    th.number scope="col" { "IOPS now" } th.number scope="col" { "IOPS mean" }
                    th.number scope="col" { "Bandwidth now" } th.number scope="col" { "p50" }
                    th.number scope="col" { "p99" } th.number scope="col" { "p99.9" }
                    th.number scope="col" { "Depth" } th.number scope="col" { "Errors" }
                } }
                tbody { @for job in jobs { (job_rows(job)) } }
            }
        }
    }
}

fn job_rows(job: &JobNow) -> Markup {
    let directions = Direction::ALL
        .into_iter()
        .filter_map(|direction| job.directions[direction].as_ref().map(|now| (direction, now)));
    let directions: Vec<(Direction, &DirectionNow)> = directions.collect();
    let state = match job.workers {
        0 | 1 => job.state.name().to_owned(),
        workers => format!("{} ({} of {workers})", job.state.name(), job.in_state),
    };
    let depth = job.depth.map(|depth| format!("{:.1} of {}", depth.now, depth.requested));
    html! {
        @if directions.is_empty() {
            tr { th scope="row" { (job.name) } td data-name="State" { (state) }
                 td data-name="Does" { (job.workload) } td colspan="8" {} }
        }
        @for (direction, now) in directions {
            @let latency = now.latency.as_ref();
            @let time = |of: fn(&LatencyNow) -> u64| {
                latency.map(|now| latency_words(of(now) as f64)).unwrap_or_default()
            };
            tr {
                th scope="row" { (job.name) }
                td data-name="State" { (state) }
                td data-name="Does" { (job.workload) " " span.muted { (direction.name()) } }
                td.number data-name="IOPS now" { (units::count(now.iops)) }
                td.number data-name="IOPS mean" { (now.mean_iops.map(units::count).unwrap_or_default()) }
                td.number data-name="Bandwidth now" { (units::bytes(now.bytes_per_second).trim()) "/s" }
                td.number data-name="p50" { (time(|now| now.p50_ns)) }
                td.number data-name="p99" { (time(|now| now.p99_ns)) }
                td.number data-name="p99.9" { (time(|now| now.p999_ns)) }
                td.number data-name="Depth" { (depth.as_deref().unwrap_or_default()) }
                td.number data-name="Errors" { (job.errors) }
            }
        }
    }
}

fn machine_now(machine: &Rates, moment: &Moment) -> Markup {
    html! {
        h3 { "Machine" }
        @if let Some(cpu) = machine.cpu { (cpu_now(cpu, moment)) }
        @if !machine.disks.is_empty() {
            div.wide {
                table.list.cards {
                    caption { "Block devices under the targets and beside them, in the last second" }
                    thead { tr {
                        th scope="col" { "Device" } th scope="col" { "Busy" }
                        th.number scope="col" { "Reads/s" } th.number scope="col" { "Read" }
                        th.number scope="col" { "Writes/s" } th.number scope="col" { "Written" }
                        th.number scope="col" { "Queue" }
                    } }
                    tbody { @for (name, disk) in &machine.disks {
                        tr {
                            th scope="row" { (name) }
                            td data-name="Busy" {
                                progress.bar max="100" value=(format!("{:.0}", disk.busy_percent))
                                    aria-label={ "Busy: " (name) } {}
                                " " (format!("{:.0} %", disk.busy_percent))
                            }
                            td.number data-name="Reads/s" { (units::count(disk.reads_per_second)) }
                            td.number data-name="Read" {
                                (units::bytes(disk.read_bytes_per_second).trim()) "/s" }
                            td.number data-name="Writes/s" { (units::count(disk.writes_per_second)) }
                            td.number data-name="Written" {
                                (units::bytes(disk.write_bytes_per_second).trim()) "/s" }
                            td.number data-name="Queue" { (format!("{:.1}", disk.queue)) }
                        }
                    } }
                }
            }
        }
    }
}

fn cpu_now(cpu: CpuShares, moment: &Moment) -> Markup {
    let busy = 100.0 - cpu.idle - cpu.iowait;
    html! {
        p {
            "CPUs "
            progress.bar max="100" value=(format!("{busy:.0}")) aria-label="CPUs busy" {}
            (format!(
                " {busy:.0} % busy: programs {:.0} %, kernel {:.0} %, interrupts {:.0} %, stolen {:.0} %",
                cpu.user, cpu.system, cpu.irq + cpu.softirq, cpu.steal
            ))
            @if let Some(own) = moment.own_cpu_percent {
                (format!("; this run {own:.0} % of one"))
            }
        }
    }
}
