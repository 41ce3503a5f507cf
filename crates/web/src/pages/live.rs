//! Runs under way: the processes, and the live view of one.

use crate::failure::Failure;
use crate::launch::LaunchedRun;
use crate::layout::{self, NavItem};
use crate::live_runs::{Follower, RunState};
use crate::pages::parts::{mark, spark};
use crate::site::Site;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use live::feed::FeedProcess;
use live::run::{DirectionNow, FindingNow, JobNow, LatencyNow, Moment, RunInfo};
use live::{CpuShares, DiskRates, Rates};
use maud::{Markup, Render, html};
use record::{Direction, human};
use std::convert::Infallible;
use std::time::Duration;
use tokio_stream::{Stream, StreamExt};

/// Time to wait for the first moment of a run: they are a second apart.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The processes that measure.
///
/// # Errors
/// When the directory of the sockets cannot be trusted.
pub async fn list(State(site): State<Site>) -> Result<Html<String>, Failure> {
    site.work(|site| {
        let listed = site.live_runs().list().map_err(Failure::internal)?;
        let body = html! {
            h1 { "Live" }
            @if listed.is_empty() {
                p { "No run of this user is under way. Start " code { "fathom run" }
                    " (or any other command that measures), and load this page again." }
            } @else {
                div.wide {
                    table.list.cards {
                        caption { "Processes of this user with a run under way" }
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
            tr { th scope="row" { a href=(address) { "not started yet" } }
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

/// The live view of a run.
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
            None => Err(Failure::not_found(format!("Process {pid} has no visible run."))),
        };
    };
    // Without a moment the page is still valid: the first event brings it.
    let first = follower.wait_for(|known| known.moment.is_some() || known.is_gone);
    let _ = tokio::time::timeout(PATIENCE, first).await;
    let known = follower.borrow_and_update().clone();
    let head = html! { noscript { meta http-equiv="refresh" content="2"; } };
    let body = html! {
        h1 { "Live" }
        p.muted #live-state role="status" { "as of when this page was loaded" }
        div data-live={ "/live/" (pid) "/events" } { (shown(&known)) }
    };
    Ok(layout::page_with(&site, "Live", NavItem::Live, head, body).into_response())
}

/// A run that was started here and does not measure yet, or has ended.
fn started(site: &Site, pid: u32, launched: &LaunchedRun) -> Html<String> {
    let head = html! {
        @if launched.ended.is_none() { meta http-equiv="refresh" content="1"; }
    };
    let body = html! {
        @match launched.ended {
            None => { h1 { "Process " (pid) " has not started to measure" } }
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
            h2 { "Output" }
            pre tabindex="0" { (launched.output) }
        }
    };
    layout::page_with(site, "Started", NavItem::Start, head, body)
}

/// A run as server-sent events: `moment` with the HTML of the live view, at last `end` with the
/// address to go to.
///
/// # Errors
/// When the process runs nothing.
pub async fn events(State(site): State<Site>, Path(pid): Path<u32>) -> Result<Response, Failure> {
    let follower = site.work(move |site| Ok(site.live_runs().follow(pid))).await?;
    let was_started = site.launcher().is_some_and(|launcher| launcher.status(pid).is_some());
    let Some(follower) = follower else {
        return match was_started {
            // A browser would retry after an error.
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

/// The states of a run until the process is gone.
fn moments(follower: Follower) -> impl Stream<Item = std::sync::Arc<RunState>> + Send {
    let mut is_over = false;
    tokio_stream::wrappers::WatchStream::new(follower).take_while(move |known| {
        let goes_on = !is_over;
        is_over = known.is_gone;
        goes_on
    })
}

/// One item when the server stops.
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

/// The last event: the address to go to.
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

/// The HTML of the live view.
fn shown(known: &RunState) -> Markup {
    let Some(head) = &known.head else { return html! { p { "The run has not started yet." } } };
    html! {
        h2 { (head.name) }
        p.mono { (command(head)) }
        @match &known.moment {
            Some(moment) => { (now(known, moment)) }
            None => { p { "The run has not started yet." } }
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
            (human::duration(elapsed)) " so far"
            @match moment.remaining_seconds {
                Some(left) => {
                    ", " (human::duration(left)) " to go "
                    progress max=(format!("{:.1}", elapsed + left)) value=(format!("{elapsed:.1}"))
                        aria-label="Elapsed time" {}
                }
                None => { ", remaining time unknown" }
            }
            @if moment.ending { " · ending" }
        }
        @if let Some(layout) = &moment.layout {
            p.note { "Files are being made: " (human::size(layout.done as f64)) " of "
                     (human::size(layout.total as f64)) }
        }
        div.sparks {
            (spark("IOPS", &known.iops, human::count))
            (spark("Bandwidth", &known.bytes, human::rate))
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

/// A table whose first `texts` columns hold text and the others numbers.
fn table<T: Render>(caption: &str, headings: &[&str], texts: usize, rows: &[Vec<T>]) -> Markup {
    html! {
        div.wide {
            table.list.cards {
                caption { (caption) }
                thead { tr { @for (at, heading) in headings.iter().enumerate() {
                    th.number[at >= texts] scope="col" { (heading) }
                } } }
                tbody { @for row in rows { tr {
                    @for (at, (heading, cell)) in headings.iter().zip(row).enumerate() {
                        @if at == 0 { th scope="row" { (cell) } }
                        @else { td.number[at >= texts] data-name=(heading) { (cell) } }
                    }
                } } }
            }
        }
    }
}

fn jobs(jobs: &[JobNow]) -> Markup {
    let headings = [
        "Job",
        "State",
        "Workload",
        "IOPS now",
        "IOPS mean",
        "Bandwidth now",
        "p50",
        "p99",
        "p99.9",
        "Depth",
        "Errors",
    ];
    let rows: Vec<Vec<String>> = jobs.iter().flat_map(job_rows).collect();
    let caption = "Latencies are completion latencies of the last seconds";
    table(caption, &headings, 3, &rows)
}

/// A row for each direction of a job, or one without figures.
fn job_rows(job: &JobNow) -> Vec<Vec<String>> {
    let state = match job.workers {
        0 | 1 => job.state.name().to_owned(),
        workers => format!("{} ({} of {workers})", job.state.name(), job.in_state),
    };
    let depth = job.depth.map(|depth| format!("{:.1} of {}", depth.now, depth.requested));
    let row = |(direction, now): (Direction, &DirectionNow)| {
        let time = |pick: fn(&LatencyNow) -> u64| {
            now.latency.as_ref().map(|now| human::time(pick(now) as f64)).unwrap_or_default()
        };
        vec![
            job.name.clone(),
            state.clone(),
            format!("{} {}", job.workload, direction.name()),
            human::count(now.iops),
            now.mean_iops.map(human::count).unwrap_or_default(),
            human::rate(now.bytes_per_second),
            time(|now| now.p50_ns),
            time(|now| now.p99_ns),
            time(|now| now.p999_ns),
            depth.clone().unwrap_or_default(),
            job.errors.to_string(),
        ]
    };
    let directions = job.directions.iter().filter_map(|(d, now)| Some((d, now.as_ref()?)));
    let rows: Vec<Vec<String>> = directions.map(row).collect();
    if rows.is_empty() { vec![vec![job.name.clone(), state, job.workload.clone()]] } else { rows }
}

fn machine_now(machine: &Rates, moment: &Moment) -> Markup {
    let headings = ["Device", "Busy", "Reads/s", "Read", "Writes/s", "Written", "Queue"];
    let row = |(name, disk): (&String, &DiskRates)| {
        let busy = format!("{:.0}", disk.busy_percent);
        let text = |text: String| html! { (text) };
        vec![
            html! { (name) },
            html! { progress.bar max="100" value=(busy) aria-label={ "Busy: " (name) } {} " " (busy) " %" },
            text(human::count(disk.reads_per_second)),
            text(human::rate(disk.read_bytes_per_second)),
            text(human::count(disk.writes_per_second)),
            text(human::rate(disk.write_bytes_per_second)),
            text(human::count(disk.queue)),
        ]
    };
    let rows: Vec<Vec<Markup>> = machine.disks.iter().map(row).collect();
    let caption = "Block devices under the targets, in the last second";
    html! {
        h3 { "Machine" }
        @if let Some(cpu) = machine.cpu { (cpu_now(cpu, moment)) }
        @if !rows.is_empty() { (table(caption, &headings, 2, &rows)) }
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
