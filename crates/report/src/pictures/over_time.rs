//! Rates and latencies over the time of the runs.

use super::named::{LINES_MAX, NamedPicture, cut, labels, numbered, words};
use crate::judged_set::JudgedSet;
use charts::{Column, Marks, Moment, Picture, Quantity, Span, SpanKind, Stretch, Trace, Unit};
use judge::{DirectionSeries, JobSeries, SeriesStep, job_series};
use record::{Direction, LatencyHistory};

const SECOND: f64 = 1e9;
/// The most heat maps.
const MAPS_MAX: usize = 4;

const LEFT_OUT: &str = "Grey: not part of any figure.";
const NEW_LEVEL: &str = "Orange: the rate changed here by a tenth or more.";
const STEADY: &str = "Green: the steady part, valid for a sustained load.";
const CALM: &str = "The rate did not change.";
const LATENCY: &str = "Completion latency of the I/Os that ended in each step. A percentile is shown \
    only where a step holds enough I/Os for it.";
const MEANS: &str = "Mean completion latency of the I/Os that ended in each step.";
const MAP: &str = "Each column shows the latencies of the I/Os that ended in it: brighter means a larger \
    share. Several bands mean several kinds of I/O, such as hits and misses of a cache.";

/// The course of a job, with its names.
struct JobCourse {
    judged_set: String,
    run: String,
    course: JobSeries,
}

fn shown(judged_sets: &[JudgedSet]) -> Vec<JobCourse> {
    let mut all = Vec::new();
    // The runs of a sweep differ; they have pictures over the varied parameters instead.
    for judged_set in judged_sets.iter().filter(|judged_set| judged_set.varied.is_none()) {
        for run in judged_set.set.runs.iter().take(LINES_MAX) {
            let cell = run.cell.as_ref();
            let name = cell.map_or(String::new(), |c| format!("{} run {}", c.name, c.round + 1));
            let named = |course| JobCourse {
                judged_set: judged_set.name.clone(),
                run: name.clone(),
                course,
            };
            all.extend(job_series(run).into_iter().map(named));
        }
    }
    all
}

/// The lines of every direction, named.
fn lines(all: &[JobCourse]) -> Vec<(String, &DirectionSeries)> {
    let each = || all.iter().flat_map(|one| one.course.directions.iter().map(move |d| (one, d)));
    let parts: Vec<[String; 4]> = each()
        .map(|(one, d)| {
            let direction = d.direction.name().to_owned();
            [one.judged_set.clone(), one.run.clone(), one.course.job.clone(), direction]
        })
        .collect();
    labels(&parts).into_iter().zip(each().map(|(_, d)| d)).collect()
}

/// The marks on the time axis; none for several runs, which have different ones.
fn marks(all: &[JobCourse]) -> Marks {
    let end = all.iter().map(|one| one.course.window.1).max().unwrap_or(0);
    let mut marks = Marks { shown: stretch((0, end)), ..Marks::default() };
    let is_one =
        all.iter().all(|one| (&one.judged_set, &one.run) == (&all[0].judged_set, &all[0].run));
    if !is_one {
        return marks;
    }
    let jobs = all.len();
    for JobCourse { course, .. } in all {
        let name =
            |what: &str| if jobs > 1 { format!("{}: {what}", course.job) } else { what.into() };
        let mut span = |at: Option<(u64, u64)>, what: &str, kind| {
            let span = at.map(|at| Span { at: stretch(at), name: name(what), kind });
            marks.spans.extend(span);
        };
        span(course.ramp, "ramp, left out", SpanKind::LeftOut);
        span(course.steady, "steady", SpanKind::Steady);
        let moment = |at: &u64| Moment { at: *at as f64 / SECOND, name: name("new level") };
        marks.moments.extend(course.new_levels.iter().map(moment));
    }
    marks
}

fn stretch((from, to): (u64, u64)) -> Stretch {
    Stretch { from: from as f64 / SECOND, to: to as f64 / SECOND }
}

/// IOPS and bandwidth.
pub(super) fn rates(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let all = shown(judged_sets);
    let lines = lines(&all);
    if lines.iter().all(|(_, line)| line.steps.len() < 2) {
        return Vec::new();
    }
    let marks = marks(&all);
    let reading = rates_reading(&marks, &all);
    let draw = |title: &str, unit, of: fn(&SeriesStep) -> f64| {
        let name = if title == "IOPS" { title.into() } else { title.to_lowercase() };
        let quantity = Quantity { name, unit, more_is_better: true };
        let trace = |(name, line): &(String, &DirectionSeries)| Trace {
            name: name.clone(),
            points: line.steps.iter().map(|step| (middle(step), of(step))).collect(),
        };
        let traces: Vec<Trace> = lines.iter().take(LINES_MAX).map(trace).collect();
        let words = words(&format!("{title} over time"), &cut(lines.len()), judged_sets);
        charts::over_time(&words, &marks, &quantity, &traces)
    };
    let iops = draw("IOPS", Unit::PerSecond, |step| step.iops);
    let bandwidth = draw("Bandwidth", Unit::BytesPerSecond, |step| step.bytes_per_second);
    let mut named = numbered("iops", vec![iops], &reading);
    named.extend(numbered("bandwidth", vec![bandwidth], &reading));
    named
}

/// The meaning of the marks.
fn rates_reading(marks: &Marks, all: &[JobCourse]) -> String {
    let has = |kind| marks.spans.iter().any(|span| span.kind == kind);
    let is_one = all.len() == 1 && all[0].course.new_levels.is_empty();
    let remarks = [
        (has(SpanKind::LeftOut), LEFT_OUT),
        (!marks.moments.is_empty(), NEW_LEVEL),
        (has(SpanKind::Steady), STEADY),
        (is_one, CALM),
    ];
    remarks
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join(" ")
}

fn middle(step: &SeriesStep) -> f64 {
    (step.start as f64 + step.length as f64 / 2.0) / SECOND
}

/// Percentiles over time of one line, means of several.
pub(super) fn latency(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let all = shown(judged_sets);
    let lines = lines(&all);
    let traces: Vec<Trace> = match lines.as_slice() {
        [(_, one)] => percentiles(one),
        several => {
            let mean = |(name, line): &(String, &DirectionSeries)| Trace {
                name: format!("{name}, mean"),
                points: means(line),
            };
            several.iter().take(LINES_MAX).map(mean).collect()
        }
    };
    if traces.iter().all(|trace| trace.points.len() < 2) {
        return Vec::new();
    }
    let quantity =
        Quantity { name: "latency".into(), unit: Unit::Nanoseconds, more_is_better: false };
    let words = words("Completion latency over time", &cut(lines.len()), judged_sets);
    let picture = charts::over_time(&words, &marks(&all), &quantity, &traces);
    let reading = if lines.len() == 1 { LATENCY } else { MEANS };
    numbered("latency", vec![picture], reading)
}

fn means(line: &DirectionSeries) -> Vec<(f64, f64)> {
    line.steps.iter().filter_map(|step| Some((middle(step), step.latency?))).collect()
}

fn percentiles(line: &DirectionSeries) -> Vec<Trace> {
    let half = line.history.step.0 as f64 / 2.0;
    let followed = line.percentiles.iter().rev().filter(|(_, steps)| steps.len() > 1);
    let trace = |(percentile, steps): &(f64, Vec<(u64, f64)>)| Trace {
        name: format!("p{percentile}"),
        points: steps.iter().map(|(at, ns)| ((*at as f64 + half) / SECOND, *ns)).collect(),
    };
    let mut traces: Vec<Trace> = followed.map(trace).collect();
    traces.push(Trace { name: "mean".into(), points: means(line) });
    traces
}

/// How latencies were distributed over time, a map for each direction of each job.
pub(super) fn heat_maps(judged_sets: &[JudgedSet]) -> Vec<NamedPicture> {
    let all = shown(judged_sets);
    let lines = lines(&all);
    let drawn = lines.iter().filter(|(_, line)| line.history.columns.len() > 2);
    let quantity =
        Quantity { name: "latency".into(), unit: Unit::Nanoseconds, more_is_better: false };
    let draw = |(name, line): &(String, &DirectionSeries)| -> Picture {
        let title = format!("Completion latencies over time: {name}");
        let words = words(&title, "", judged_sets);
        charts::spread_over_time(
            &words,
            &marks(&all),
            &quantity,
            &bins(&line.history, line.direction),
        )
    };
    let pictures = drawn.take(MAPS_MAX).map(draw).collect();
    numbered("heatmap", pictures, MAP)
}

/// The columns of a heat map.
pub(super) fn bins(history: &LatencyHistory, direction: Direction) -> Vec<Column> {
    let LatencyHistory { step, columns } = history;
    let column = |column: &record::LatencyColumn| Column {
        at: stretch((column.at * step.0, (column.at + 1) * step.0)),
        bins: column.counts[direction]
            .bins()
            .map(|(low, width, count)| (low as f64, (low + width) as f64, count))
            .collect(),
    };
    columns.iter().map(column).filter(|column| !column.bins.is_empty()).collect()
}
