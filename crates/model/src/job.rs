//! A job file that any fio can run: a section for each stream, with the evidence for each line.

use crate::draw::away_from_1;
use crate::fit::Skew;
use crate::model::{Model, Share, Stream};
use crate::threads::Loop;
use record::human;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A fit that is further off is not used: zones are.
const FIT_DISTANCE_MAX: f64 = 0.12;

/// What a job file is made for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobOptions {
    /// Name of the trace, for the first comment.
    pub trace: String,
    /// The directory of the files; empty for the working directory.
    pub directory: String,
    /// Files of a stream are shrunk to this many bytes together, if they have more.
    pub size_max: Option<u64>,
    /// Seconds that the job runs; those of the trace by default, up to a minute.
    pub seconds: Option<u64>,
}

/// The job file of a model and, if it has several, of its phases: one after the other.
pub fn text(model: &Model, phases: &[Model], options: &JobOptions) -> String {
    let totals = &model.totals;
    let mut out = Lines(String::new());
    out.comment(&format!(
        "Made by fathom model from {}: {} reads and {} writes in {}.",
        options.trace,
        totals.reads,
        totals.writes,
        human::duration(totals.seconds)
    ));
    for warning in &model.warnings {
        out.comment(&format!("Caution: {warning}."));
    }
    out.comment(
        "fio cannot tie streams together, draw reuse as it was seen, or vary pauses: fathom model --toml \
         keeps that.",
    );
    let seconds = options.seconds.unwrap_or((totals.seconds.ceil() as u64).clamp(1, 60));
    out.line("[global]");
    if !options.directory.is_empty() {
        out.line(&format!("directory={}", options.directory));
    }
    out.line("randrepeat=1\nrandseed=20260101\nrefill_buffers=0\nnorandommap=1\ntime_based=1");
    out.line(&format!("runtime={seconds}\ngroup_reporting=1"));
    if phases.is_empty() {
        for (name, stream) in named(model) {
            let (count, each) = file_sizes(stream, options);
            let files = Files { base: "$jobname".into(), count, each };
            section(&mut out, model, stream, &Section { name, files, options });
        }
        return out.0;
    }
    let shared = shared_files(phases, options);
    for (number, phase) in phases.iter().enumerate() {
        let spent = model.phases.get(number).map_or(phase.totals.seconds, |p| p.to - p.from);
        let share = spent / totals.seconds.max(1e-9);
        let runtime = ((seconds as f64 * share).round() as u64).max(1);
        out.line("");
        out.comment(&format!(
            "Phase {} of {}, {}: {} IOPS, {}.",
            number + 1,
            phases.len(),
            human::duration(spent),
            human::count(model.phases.get(number).map_or(0.0, |p| p.iops)),
            human::rate(model.phases.get(number).map_or(0.0, |p| p.bytes_per_second))
        ));
        for (at, (base, stream)) in named(phase).into_iter().enumerate() {
            let (count, each) = shared[&base];
            let name = format!("phase{}-{base}", number + 1);
            let files = Files { base, count, each };
            section(&mut out, phase, stream, &Section { name, files, options });
            out.line(&format!("runtime={runtime}"));
            if number > 0 && at == 0 {
                out.line("stonewall=1");
            }
        }
    }
    out.0
}

/// The streams of a model, each with a name of its own.
fn named(model: &Model) -> Vec<(String, &Stream)> {
    let mut all: Vec<(String, &Stream)> = Vec::new();
    for stream in &model.streams {
        let mut name = stream.name.clone();
        if all.iter().any(|(other, _)| *other == name)
            || name.starts_with("global")
            || name.is_empty()
        {
            name = format!("stream-{}-{name}", all.len() + 1);
        }
        all.push((name, stream));
    }
    all
}

/// Streams of several phases with the same name share their files, which are as many and as large as in any.
fn shared_files(phases: &[Model], options: &JobOptions) -> BTreeMap<String, (u64, u64)> {
    let mut shared: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (name, stream) in phases.iter().flat_map(named) {
        let (count, each) = file_sizes(stream, options);
        let known = shared.entry(name).or_default();
        *known = (known.0.max(count), known.1.max(each));
    }
    shared
}

/// What a section has beside its stream.
struct Section<'a> {
    name: String,
    files: Files,
    options: &'a JobOptions,
}

/// The files of a section.
struct Files {
    /// What their names begin with.
    base: String,
    count: u64,
    /// Bytes of each.
    each: u64,
}

struct Lines(String);

impl Lines {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.0, "{text}");
    }

    /// A comment. Characters that end one or begin an option elsewhere are harmless after '#'.
    fn comment(&mut self, text: &str) {
        let text: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let _ = writeln!(self.0, "# {text}");
    }
}

fn section(out: &mut Lines, model: &Model, stream: &Stream, section: &Section<'_>) {
    out.line("");
    out.comment(&format!(
        "{} of the I/Os: threads {}, {} ({}).",
        human::percent(stream.share),
        stream.threads,
        human::counted(stream.file_count as usize, "file"),
        human::list_up_to(&stream.files, 3)
    ));
    out.line(&format!("[{}]", section.name));
    pattern(out, stream);
    sizes(out, stream);
    files(out, stream, section);
    if let Some(text) = distribution(out, stream) {
        out.line(&text);
    }
    queue(out, stream);
    pace(out, model, stream);
    durability(out, stream);
}

fn pattern(out: &mut Lines, stream: &Stream) {
    let all = (stream.reads + stream.writes).max(1) as f64;
    let reads = (stream.reads as f64 / all * 100.0).round() as u64;
    out.comment(&format!(
        "{} reads, {} writes; {} of the I/Os begin where the one before ended, runs of {:.1} I/Os",
        stream.reads,
        stream.writes,
        human::percent(stream.sequential),
        stream.run_mean
    ));
    let random = stream.sequential < 0.9;
    let prefix = if random { "rand" } else { "" };
    let way = match reads {
        0 => "write",
        100 => "read",
        _ => "rw",
    };
    let run = stream.run_mean.round() as u64;
    let strides = stream.stride.filter(|(stride, share)| *share > 0.5 && *stride > 0);
    match strides {
        Some((stride, _)) => {
            let size = main_size(stream) as i64;
            out.line(&format!("rw={way}:{}", (stride - size).max(0)));
        }
        // So many I/Os follow each other from each random place.
        None if random && run > 1 => out.line(&format!("rw={prefix}{way}:{run}")),
        None => out.line(&format!("rw={prefix}{way}")),
    }
    if way == "rw" {
        out.line(&format!("rwmixread={reads}"));
    }
}

fn main_size(stream: &Stream) -> u64 {
    let sizes =
        if stream.reads >= stream.writes { &stream.read_sizes } else { &stream.write_sizes };
    sizes.first().map_or(4096, |size| size.value).max(1)
}

fn sizes(out: &mut Lines, stream: &Stream) {
    let (read, written) = (split(&stream.read_sizes), split(&stream.write_sizes));
    let known = |text: &str| if text.is_empty() { "4096/100".to_owned() } else { text.to_owned() };
    match (stream.reads > 0, stream.writes > 0) {
        (true, true) => out.line(&format!("bssplit={},{}", known(&read), known(&written))),
        (true, false) => out.line(&format!("bssplit={}", known(&read))),
        _ => out.line(&format!("bssplit={}", known(&written))),
    }
    if stream.direct < 0.5 && all_sizes(stream).any(|size| size % 512 != 0) {
        out.line("bs_unaligned=1");
    }
}

fn all_sizes(stream: &Stream) -> impl Iterator<Item = u64> + '_ {
    stream.read_sizes.iter().chain(&stream.write_sizes).map(|size| size.value)
}

/// Sizes and their shares in whole per cents that add up to 100.
fn split(sizes: &[Share]) -> String {
    let all: f64 = sizes.iter().map(|size| size.share).sum();
    let mut parts: Vec<(u64, u64)> = sizes
        .iter()
        .filter(|size| size.value > 0)
        .map(|size| (size.value, (size.share / all * 100.0).round() as u64))
        .filter(|(_, share)| *share > 0)
        .collect();
    let sum: u64 = parts.iter().map(|(_, share)| share).sum();
    if let Some((_, first)) = parts.first_mut() {
        *first = (*first + 100).saturating_sub(sum);
    }
    let parts: Vec<String> = parts.iter().map(|(size, share)| format!("{size}/{share}")).collect();
    parts.join(":")
}

/// The number of files of a stream, and the bytes of each.
fn file_sizes(stream: &Stream, options: &JobOptions) -> (u64, u64) {
    let largest = all_sizes(stream).max().unwrap_or(4096).max(4096);
    let count = stream.file_count.clamp(1, 256);
    let all = stream.file_bytes.min(options.size_max.unwrap_or(u64::MAX));
    (count, (all / count).max(largest).min(1 << 50).next_multiple_of(4096))
}

fn files(out: &mut Lines, stream: &Stream, Section { files, options, .. }: &Section<'_>) {
    let Files { base, count, each } = files;
    let is_smaller = options.size_max.is_some_and(|most| most < stream.file_bytes);
    out.comment(&format!(
        "{} with {} in all{}",
        human::counted(stream.file_count as usize, "file"),
        human::size(stream.file_bytes as f64),
        if is_smaller { ", made smaller for this target" } else { "" }
    ));
    // Threads share their files, as in the trace.
    out.line(&format!("nrfiles={count}\nfilename_format={base}.$filenum\nfilesize={each}"));
    out.line(&format!("size={}", each * count));
    if *count > 1 {
        out.line("file_service_type=random");
    }
    if stream.writes == 0 || stream.file_bytes == 0 {
        return;
    }
    let existing = stream.file_existing as f64 / stream.file_bytes as f64;
    out.comment(&format!(
        "{} of it was there before, the rest is appended",
        human::percent(existing.min(1.0))
    ));
    if existing >= 0.5 {
        out.line("overwrite=1");
    } else if stream.reads == 0 {
        out.line("fallocate=none");
    }
}

fn distribution(out: &mut Lines, stream: &Stream) -> Option<String> {
    let random = stream.sequential < 0.9 && stream.stride.is_none_or(|(_, share)| share <= 0.5);
    if !random {
        return None;
    }
    let fitted = stream.skew.filter(|fit| fit.distance <= FIT_DISTANCE_MAX);
    if let Some(fit) = fitted {
        out.comment(&format!(
            "the busiest tenth of the blocks has {} of the accesses; the fit is off by {} at most",
            human::percent(fit.top_tenth),
            human::percent(fit.distance)
        ));
    }
    match fitted.map(|fit| fit.skew) {
        Some(Skew::Uniform) => None,
        Some(Skew::Zipf(theta)) => {
            Some(format!("random_distribution=zipf:{:.3}", away_from_1(theta)))
        }
        Some(Skew::Pareto(h)) => Some(format!("random_distribution=pareto:{h:.3}")),
        None => zoned(out, &stream.zones),
    }
}

/// Zones, neighbours that are alike joined; `None` if the load is even.
fn zoned(out: &mut Lines, zones: &[f64]) -> Option<String> {
    let each = 100.0 / zones.len().max(1) as f64;
    if zones.iter().all(|share| (share * 100.0 - each).abs() < each / 2.0) {
        return None;
    }
    out.comment("no simple distribution fits: shares of the accesses by position in the files");
    let (mut parts, mut sizes) = (Vec::new(), 0.0);
    let mut access = 0.0;
    let (mut given_access, mut given_size) = (0_u64, 0_u64);
    for (index, share) in zones.iter().enumerate() {
        (access, sizes) = (access + share * 100.0, sizes + each);
        let last = index + 1 == zones.len();
        let (upto, end) = (access.round() as u64, sizes.round() as u64);
        let (a, s) = if last {
            (100 - given_access, 100 - given_size)
        } else {
            (upto - given_access, end - given_size)
        };
        if s > 0 {
            parts.push(format!("{a}/{s}"));
            (given_access, given_size) = (given_access + a, given_size + s);
        }
    }
    Some(format!("random_distribution=zoned:{}", parts.join(":")))
}

fn queue(out: &mut Lines, stream: &Stream) {
    out.comment(&format!(
        "{} at a time, {} of the I/Os with O_DIRECT",
        human::counted(stream.concurrency as usize, "thread"),
        human::percent(stream.direct)
    ));
    out.line(&format!("numjobs={}", stream.concurrency));
    match stream.depth {
        0 | 1 => out.line("ioengine=psync"),
        depth => out.line(&format!("ioengine=libaio\niodepth={depth}")),
    }
    out.line(&format!("direct={}", u8::from(stream.direct >= 0.5)));
}

fn pace(out: &mut Lines, model: &Model, stream: &Stream) {
    let each = stream.iops / f64::from(stream.concurrency.max(1));
    if stream.pacing == Loop::Open {
        out.comment(&format!("open loop, {}", stream.reason));
        let (reads, writes) = (stream.reads as f64, stream.writes as f64);
        let rate = |part: f64| ((each * part / (reads + writes)).round() as u64).max(1);
        match (stream.reads > 0, stream.writes > 0) {
            (true, true) => out.line(&format!("rate_iops={},{}", rate(reads), rate(writes))),
            _ => out.line(&format!("rate_iops={}", rate(reads + writes))),
        }
        let dispersed = model.arrivals.gap_variation > 0.7;
        if dispersed {
            out.comment(&format!(
                "gaps between arrivals vary by {:.2} (1: Poisson){}",
                model.arrivals.gap_variation,
                if model.arrivals.poisson { "" } else { "; bursts beyond Poisson are lost here" }
            ));
            out.line("rate_process=poisson");
        }
        return;
    }
    // What passes between two I/Os of this stream, without their own latency and that of their syncs:
    // other streams of the same threads are part of it.
    let ios = (stream.reads + stream.writes).max(1) as f64;
    let steps = stream.parts.iter().filter_map(|step| model.parts.steps.get(*step));
    let waiting: f64 = steps.map(|step| step.latency.sum()).sum();
    let depth = f64::from(stream.depth.max(1));
    let lifetime = model.parts.threads.get(stream.class as usize).map_or(0, |class| class.lifetime);
    let pause = (lifetime as f64 - waiting / depth) / ios;
    out.comment(&format!(
        "closed loop, {}; mean pause {}{}",
        stream.reason,
        human::time(pause.max(0.0)),
        stream.think.compute_ns.map_or_else(String::new, |ns| {
            format!(", of which computing {}", human::time(ns.min(pause.max(0.0))))
        })
    ));
    let blocks = stream.think.burst.round().max(1.0);
    let pause_us = (pause * blocks / 1000.0).round();
    if pause_us < 1.0 {
        return;
    }
    if blocks > 1.0 {
        out.comment(&format!("I/Os come in bursts of {:.1}", stream.think.burst));
    }
    let share = stream.think.compute_ns.map_or(0.0, |ns| ns / stream.think.mean_ns.max(1.0));
    out.line(&format!("thinktime={pause_us}us\nthinktime_blocks={blocks}"));
    let spin = (pause_us * share.min(1.0)).round();
    if spin >= 1.0 {
        out.line(&format!("thinktime_spin={spin}us"));
    }
}

fn durability(out: &mut Lines, stream: &Stream) {
    if stream.dsync >= 0.5 {
        out.comment(&format!(
            "{} of the writes are durable when they return",
            human::percent(stream.dsync)
        ));
        out.line("sync=dsync");
    }
    if let Some(writes) = stream.writes_per_sync {
        let each = (writes.round() as u64).max(1);
        let option = if stream.datasync { "fdatasync" } else { "fsync" };
        out.comment(&format!("{writes:.1} writes for each {option}"));
        out.line(&format!("{option}={each}"));
    }
    if let Some(writes) = stream.writes_per_range_sync {
        out.comment(&format!("{writes:.1} writes for each sync_file_range"));
        out.line(&format!("sync_file_range=write:{}", (writes.round() as u64).max(1)));
    }
}
