//! The model of a workload, as text in a screen, as JSON and as an HTML page; and how close a run came to a trace.

use crate::style::Style;
use charts::{
    Axis, Marks, Moment, Picture, Point, Quantity, Series, Stretch, Tick, Trace, Unit, Words,
};
use maud::{Markup, PreEscaped, html};
use model::fit::{Fit, Skew};
use model::score::{self, GOOD, Score};
use model::{Loop, Model, Share, Stream};
use record::human;
use serde_json::json;

/// A fit that is further off is not stated.
const FIT_DISTANCE_MAX: f64 = 0.12;
/// The most streams in the text.
const STREAMS: usize = 8;

/// As text.
pub fn text(model: &Model, style: &Style) -> String {
    let mut out = style.bold("Workload") + "\n";
    for line in summary(model) {
        out += &style.paragraph(&line, 2);
    }
    for warning in &model.warnings {
        out += &style.paragraph(&format!("Caution: {warning}."), 2);
    }
    if model.phases.len() > 1 {
        out += &style.heading("Phases");
        for phase in &model.phases {
            let line = format!(
                "{:.2} s to {:.2} s: {} IOPS, {}, {} reads",
                phase.from,
                phase.to,
                human::count(phase.iops),
                human::rate(phase.bytes_per_second),
                human::percent(phase.read_share)
            );
            out += &style.paragraph(&line, 2);
        }
    }
    if !model.streams.is_empty() {
        out += &style.heading("Streams");
    }
    for stream in model.streams.iter().take(STREAMS) {
        let head = format!("{} ({} of the I/Os)", stream.name, human::percent(stream.share));
        out += &style.paragraph(&head, 2);
        for line in stream_lines(stream) {
            out += &style.paragraph(&line, 4);
        }
    }
    out
}

/// What holds for the whole trace, a sentence each.
fn summary(model: &Model) -> Vec<String> {
    let totals = &model.totals;
    let mut lines = vec![format!(
        "{} reads ({}) and {} writes ({}) in {}, of {} on {}, seen at the {} level.",
        totals.reads,
        human::size(totals.read_bytes as f64),
        totals.writes,
        human::size(totals.written_bytes as f64),
        human::duration(totals.seconds),
        human::counted(totals.threads as usize, "thread"),
        human::counted(totals.files as usize, "file"),
        totals.level
    )];
    if totals.reads + totals.writes == 0 {
        return lines;
    }
    lines.push(arrivals(model));
    lines.push(format!(
        "Outstanding reads and writes: {:.2} while there are any, none {} of the time.",
        model.outstanding_mean,
        human::percent(model.outstanding.first().copied().unwrap_or(0.0))
    ));
    let reuse = &model.locality;
    let hot = reuse.hot_set.map_or_else(
        || "no cache answers half of the accesses".to_owned(),
        |bytes| format!("a cache of {} answers half of the accesses", human::size(bytes)),
    );
    lines.push(format!("Working set: {} in all; {hot}.", human::size(reuse.footprint)));
    if let Some(share) = model.cache_share {
        lines.push(format!(
            "Page cache: {} of the bytes read came without a device.",
            human::percent(share)
        ));
    }
    lines.extend(durability(model));
    lines.extend(model.cpu.as_ref().map(|cpu| {
        let gain = match cpu.gain {
            gain if gain > 1.0 => format!("a factor of {}", human::digits(1.0 + gain, 2)),
            gain => human::percent(gain),
        };
        let computing = cpu
            .computing
            .map_or_else(String::new, |share| format!(" and compute {}", human::percent(share)));
        format!(
            "Threads {} wait for I/O {} of their time{computing}: faster storage gains at most {gain}.",
            cpu.threads,
            human::percent(cpu.waiting)
        )
    }));
    lines
}

fn arrivals(model: &Model) -> String {
    let arrivals = &model.arrivals;
    let kind = if arrivals.poisson {
        "Poisson as far as can be told".to_owned()
    } else {
        let burst = arrivals.dispersion.iter().max_by(|a, b| a.index.total_cmp(&b.index));
        burst.map_or_else(
            || "too few to tell their process".to_owned(),
            |most| {
                if most.index < 1.2 {
                    return "more regular than Poisson".to_owned();
                }
                format!(
                    "not Poisson: the index of dispersion is {} over {}",
                    human::count(most.index),
                    human::time(most.window_ns as f64)
                )
            },
        )
    };
    format!("Arrivals: {} IOPS, {kind}.", human::count(arrivals.rate))
}

fn durability(model: &Model) -> Option<String> {
    let syncs = &model.syncs;
    let calls = [
        (syncs.fsync, "fsync"),
        (syncs.fdatasync, "fdatasync"),
        (syncs.range, "sync_file_range"),
        (syncs.all, "sync"),
        (syncs.durable_writes, "writes with O_DSYNC or O_SYNC"),
        (syncs.renames, "renames"),
    ];
    let said: Vec<String> = calls
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let each = syncs
        .writes_per_sync
        .map_or_else(String::new, |writes| format!("; {writes:.1} writes before a sync"));
    (!said.is_empty()).then(|| format!("Durability: {}{each}.", human::list(&said)))
}

fn stream_lines(stream: &Stream) -> Vec<String> {
    let mut lines = vec![format!(
        "{} on {}: {}",
        human::counted(stream.concurrency as usize, "thread"),
        human::counted(stream.file_count as usize, "file"),
        human::list_up_to(&stream.files, 2)
    )];
    let mut parts = Vec::new();
    if stream.reads > 0 {
        parts.push(format!("{} reads ({})", stream.reads, sizes(&stream.read_sizes)));
    }
    if stream.writes > 0 {
        parts.push(format!("{} writes ({})", stream.writes, sizes(&stream.write_sizes)));
    }
    lines.push(format!("{}, {} IOPS", human::list(&parts), human::count(stream.iops)));
    lines.push(order(stream));
    let pause = human::time(stream.think.mean_ns);
    let compute = stream
        .think
        .compute_ns
        .map_or_else(String::new, |ns| format!(", computing {}", human::time(ns)));
    let pacing = match stream.pacing {
        Loop::Closed => format!("closed loop: pause {pause}{compute}"),
        Loop::Open => format!("open loop ({})", stream.reason),
    };
    let depth = match stream.depth {
        0 | 1 => String::new(),
        depth => format!(", {depth} outstanding for each thread"),
    };
    let direct = if stream.direct >= 0.5 { ", O_DIRECT" } else { "" };
    let sync = stream.writes_per_sync.map_or_else(String::new, |writes| {
        let call = if stream.datasync { "fdatasync" } else { "fsync" };
        format!(", {call} after {writes:.1} writes")
    });
    lines.push(format!("{pacing}{depth}{direct}{sync}"));
    lines
}

fn sizes(sizes: &[Share]) -> String {
    let one = |size: &Share| match size.share {
        share if share > 0.995 => human::size(size.value as f64),
        share => format!("{} {}", human::size(size.value as f64), human::percent(share)),
    };
    let all: Vec<String> = sizes.iter().map(one).collect();
    human::list_up_to(&all, 3)
}

fn order(stream: &Stream) -> String {
    if let Some((stride, share)) = stream.stride.filter(|(_, share)| *share > 0.5) {
        return format!("{} of the I/Os in strides of {stride} B", human::percent(share));
    }
    let skew = stream.skew.as_ref().map_or_else(String::new, |fit| format!("; {}", described(fit)));
    format!(
        "{} sequential, runs of {:.1} I/Os{skew}",
        human::percent(stream.sequential),
        stream.run_mean
    )
}

fn described(fit: &Fit) -> String {
    if fit.distance > FIT_DISTANCE_MAX {
        return "no simple distribution over blocks fits".into();
    }
    let name = match fit.skew {
        Skew::Uniform => "uniform".to_owned(),
        Skew::Zipf(theta) => format!("Zipf {theta:.2}"),
        Skew::Pareto(h) => format!("Pareto {h:.2}"),
    };
    format!(
        "{name} over blocks (off by {}), busiest tenth {}",
        human::percent(fit.distance),
        human::percent(fit.top_tenth)
    )
}

/// As JSON.
pub fn json(model: &Model) -> String {
    let value = json!({ "version": 1, "model": model });
    format!("{value:#}\n")
}

/// As an HTML page.
pub fn html(model: &Model, name: &str, job: &str) -> String {
    let title = format!("Workload of {name}");
    let body = html! {
        article class="fathom-report" {
            header { p class="kicker" { "fathom model" } h1 { (title) } }
            section id="summary" aria-labelledby="summary-title" {
                h2 id="summary-title" { "Summary" }
                @for line in summary(model) { p { (line) } }
                @for warning in &model.warnings { p class="care" { strong { "Caution: " } (warning) "." } }
            }
            (streams(model))
            (pictures(model))
            section id="job" aria-labelledby="job-title" {
                h2 id="job-title" { "Job for fio" }
                pre class="typed" tabindex="0" { (job) }
            }
            footer { "Made by fathom " (env!("CARGO_PKG_VERSION")) "." }
        }
    };
    crate::html::page(&title, &body)
}

fn streams(model: &Model) -> Markup {
    html! {
        section id="streams" aria-labelledby="streams-title" {
            h2 id="streams-title" { "Streams" }
            div class="table-room" tabindex="0" role="group" aria-label="Streams" {
                table {
                    thead { tr {
                        th scope="col" { "stream" } th scope="col" class="number" { "share" }
                        th scope="col" { "what it does" }
                    } }
                    tbody {
                        @for stream in &model.streams {
                            tr {
                                th scope="row" { (stream.name) }
                                td class="number" { (human::percent(stream.share)) }
                                td { @for line in stream_lines(stream) { p { (line) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn pictures(model: &Model) -> Markup {
    let mut all: Vec<(&str, Picture)> = Vec::new();
    if model.windows.len() > 1 {
        all.push((
            "load",
            over_time(
                model,
                "I/Os over time",
                "I/Os",
                Unit::PerSecond,
                &[("reads", |window| window.reads), ("writes", |window| window.writes)],
            ),
        ));
        all.push((
            "working-set",
            over_time(
                model,
                "Working set over time",
                "distinct bytes",
                Unit::Bytes,
                &[
                    ("of the window", |window| window.working_set),
                    ("up to then", |window| window.footprint),
                ],
            ),
        ));
    }
    if model.outstanding.len() > 1 {
        all.push(("outstanding", outstanding(model)));
    }
    if model.locality.cache.len() > 1 {
        all.push(("cache", cache(model)));
    }
    html! {
        @if !all.is_empty() {
            section id="pictures" aria-labelledby="pictures-title" {
                h2 id="pictures-title" { "Pictures" }
                @for (id, picture) in &all {
                    figure id={ "chart-" (id) } {
                        div class="chart-room" tabindex="0" { (PreEscaped(picture.element())) }
                    }
                }
            }
        }
    }
}

fn words(title: &str) -> Words {
    Words { title: title.into(), ..Words::default() }
}

type Figure = fn(&model::Window) -> f64;

fn over_time(
    model: &Model,
    title: &str,
    name: &str,
    unit: Unit,
    lines: &[(&str, Figure)],
) -> Picture {
    let trace = |(name, of): &(&str, Figure)| Trace {
        name: (*name).into(),
        points: model
            .windows
            .iter()
            .map(|window| (window.from + window.seconds / 2.0, of(window)))
            .collect(),
    };
    let traces: Vec<Trace> = lines.iter().map(trace).collect();
    let moment = |(number, phase): (usize, &model::Phase)| Moment {
        at: phase.from,
        name: format!("phase {}", number + 1),
    };
    let marks = Marks {
        shown: Stretch { from: 0.0, to: model.totals.seconds },
        spans: Vec::new(),
        moments: model.phases.iter().enumerate().skip(1).map(moment).collect(),
    };
    let quantity = Quantity { name: name.into(), unit, more_is_better: true };
    charts::over_time(&words(title), &marks, &quantity, &traces)
}

fn outstanding(model: &Model) -> Picture {
    let shown = model.outstanding.iter().rposition(|share| *share >= 0.001).unwrap_or(0) + 1;
    let shown = shown.clamp(2, 40).min(model.outstanding.len());
    let tick = |depth: usize| Tick { text: depth.to_string(), number: None };
    let axis = Axis { label: "outstanding I/Os".into(), ticks: (0..shown).map(tick).collect() };
    let quantity =
        Quantity { name: "share of time".into(), unit: Unit::Percent, more_is_better: true };
    let points =
        model.outstanding[..shown].iter().map(|share| Point::value(share * 100.0)).collect();
    charts::bars(
        &words("Outstanding I/Os"),
        &axis,
        &quantity,
        &[Series { name: String::new(), points }],
    )
}

fn cache(model: &Model) -> Picture {
    let cache = &model.locality.cache;
    let tick = |(bytes, _): &(f64, f64)| Tick { text: human::size(*bytes), number: Some(*bytes) };
    let axis = Axis { label: "cache".into(), ticks: cache.iter().map(tick).collect() };
    let quantity = Quantity { name: "hits".into(), unit: Unit::Percent, more_is_better: true };
    let points = cache.iter().map(|(_, hits)| Point::value(hits * 100.0)).collect();
    let title = words("Hits of a cache (least recently used)");
    charts::lines(&title, &axis, &quantity, &[Series { name: String::new(), points }])
}

/// The scores of a run, as text.
pub fn scores(scores: &[Score], mark: f64, below: Option<f64>, style: &Style) -> String {
    let mut out =
        format!("{:<20} {:>5}  {:<15} {:<24} {}\n", "property", "mark", "distance", "trace", "run");
    for score in scores {
        let distance = format!("{:.2} ({:.2}-{:.2})", score.distance, score.low, score.high);
        out += &format!(
            "{:<20} {:>5.0}  {distance:<15} {:<24} {}\n",
            score.property, score.mark, score.traced, score.run
        );
    }
    let worst = score::worst(scores);
    let lowest = worst.map_or_else(String::new, |worst| {
        let bound = below.map_or_else(String::new, |below| {
            format!(
                ": {} the bound of {below}",
                if worst.mark < below { "below" } else { "reaches" }
            )
        });
        format!("; lowest {:.0}, {}{bound}", worst.mark, worst.property)
    });
    out += &style.heading(&format!("Mark {mark:.0} of 100{lowest}"));
    let missed: Vec<&Score> = scores.iter().filter(|score| score.mark < GOOD).collect();
    if missed.is_empty() {
        out += &style.paragraph("The run does what the trace shows, in every property.", 2);
    }
    for score in missed {
        out += &style.paragraph(&format!("{}: {}.", score.property, score.advice), 2);
    }
    out
}

/// The scores of a run, as JSON.
pub fn scores_json(scores: &[Score], mark: f64) -> String {
    let worst = score::worst(scores);
    let lowest = worst.map(|worst| json!({ "property": worst.property, "mark": worst.mark }));
    let value = json!({ "version": 1, "mark": mark, "lowest": lowest, "scores": scores });
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Builder;
    use trace::ftr::{Entry, Event, Flags, Level, Operation};

    fn model() -> Model {
        let mut builder = Builder::new();
        for n in 0..20_000_u64 {
            builder.entry(&Entry::Event(Event {
                at_ns: n * 1_000_000,
                duration_ns: Some(200_000),
                level: Level::Application,
                operation: if n % 4 == 0 { Operation::Write } else { Operation::Read },
                flags: Flags::DIRECT,
                thread: 0,
                file: 0,
                offset: n % 977 * 8192,
                length: 8192,
                result: Some(8192),
                cpu_before_ns: Some(100_000),
            }));
        }
        builder.finish()
    }

    #[test]
    fn the_text_fits_on_a_screen_and_states_what_limits() {
        let text = text(&model(), &Style::default());
        assert!(
            text.lines().count() < 40 && text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert!(text.contains("15000 reads (117 MiB) and 5000 writes"), "{text}");
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flowing.contains("faster storage gains at most 25 %"), "{text}");
        assert!(flowing.contains("more regular than Poisson"), "{text}");
    }

    #[test]
    fn the_page_has_titled_pictures_and_nothing_of_the_trace_is_markup() {
        let page = html(&model(), "<b>a</b>", "[a]\n");
        assert!(page.contains("&lt;b&gt;a") && !page.contains("<b>a"), "names are escaped");
        assert_eq!(page.matches("role=\"img\"").count(), 4);
        let value: serde_json::Value = serde_json::from_str(&json(&model())).unwrap();
        assert_eq!(value["model"]["totals"]["reads"], 15_000);
    }

    #[test]
    fn low_marks_come_with_advice() {
        let score = Score {
            subject: score::Subject::Times,
            property: "pauses",
            distance: 0.5,
            low: 0.4,
            high: 0.6,
            mark: 50.0,
            traced: "1 ms".into(),
            run: "2 ms".into(),
            advice: "use the model file",
        };
        let text = scores(&[score], 70.0, Some(60.0), &Style::default());
        assert!(
            text.contains("Mark 70 of 100; lowest 50, pauses: below the bound of 60"),
            "{text}"
        );
        assert!(text.contains("pauses: use the model file."), "{text}");
    }
}
