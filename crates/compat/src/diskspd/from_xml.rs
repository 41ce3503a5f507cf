//! Parses a profile from XML: a `<Profile>`, or the one in `<Results>`.

use super::flags::SECONDS_MAX;
use super::markup::{self, Element};
use super::profile::{
    Access, Affinity, Cache, Content, Format, Profile, Spread, Target, Throughput, TimeSpan,
};
use super::remarks::Remarks;
use super::size;
use std::cell::RefCell;

type Read<T> = Result<T, String>;

/// Remarks on elements that work differently here.
type SharedRemarks = RefCell<Remarks>;

/// The profile, and remarks on elements that work differently here.
///
/// # Errors
/// The line, and what is wrong.
pub(super) fn profile(text: &str) -> Read<(Profile, Remarks)> {
    let root = markup::read(text)?;
    let element = match root.name.as_str() {
        "Profile" => &root,
        "Results" => root.child("Profile").ok_or("<Results> holds no <Profile>")?,
        name => return Err(format!("expected <Profile>, got <{name}>")),
    };
    known(element, PROFILE)?;
    let remarks = SharedRemarks::default();
    if element.child("ETW").is_some() {
        remarks.borrow_mut().warn("ETW: tracing of events is Windows'; nothing is traced");
    }
    let spans = element.child("TimeSpans").ok_or("<Profile> holds no <TimeSpans>")?;
    let spans: Vec<TimeSpan> =
        spans.all("TimeSpan").map(|span| time_span(span, &remarks)).collect::<Read<_>>()?;
    if spans.is_empty() {
        return Err("<TimeSpans> holds no <TimeSpan>".into());
    }
    let profile = Profile {
        progress: number(element, "Progress", 0, u64::MAX)?.unwrap_or(0),
        format: match text_of(element, "ResultFormat") {
            Some("xml") => Format::Xml,
            Some("text") | None => Format::Text,
            Some(other) => {
                return Err(format!("ResultFormat: expected text or xml, got '{other}'"));
            }
        },
        verbose: flag(element, "Verbose")?,
        experiment: number(element, "ExperimentFlags", 0, u64::MAX)?.unwrap_or(0),
        precreate: text_of(element, "PrecreateFiles").map(String::from),
        spans,
    };
    Ok((profile, remarks.into_inner()))
}

/// The elements that are read or skipped in each element.
const PROFILE: &str = "\
    Progress ResultFormat Verbose VerboseStats ExperimentFlags PrecreateFiles ETW TimeSpans";
const SPAN: &str = "\
    CompletionRoutines MeasureLatency CalculateIopsStdDev DisableAffinity Duration Warmup \
    Cooldown ThreadCount RequestCount IoBucketDuration RandSeed Affinity AffinityAssignment \
    Targets";
const TARGET: &str = "\
    Path BlockSize BaseFileOffset SequentialScan RandomAccess TemporaryFile UseLargePages \
    DisableAllCache DisableOSCache DisableLocalCache WriteThrough MemoryMappedIo FlushType \
    WriteBufferContent ParallelAsyncIO BurstSize ThinkTime FileSize Random RandomRatio \
    Distribution StrideSize InterlockedSequential ThreadStride MaxFileSize RequestCount \
    WriteRatio Throughput ThreadsPerFile IOPriority Weight ThreadTargets";

/// Refuses unknown elements.
fn known(element: &Element, names: &str) -> Read<()> {
    let is_known = |child: &Element| names.split_whitespace().any(|name| name == child.name);
    match element.children.iter().find(|child| !is_known(child)) {
        Some(child) => Err(format!(
            "line {}: <{}> has no meaning in <{}>",
            child.line, child.name, element.name
        )),
        None => Ok(()),
    }
}

fn text_of<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    element.child(name).map(|child| child.text.as_str())
}

fn located<T>(child: &Element, value: Read<T>) -> Read<T> {
    value.map_err(|reason| format!("line {}: <{}>: {reason}", child.line, child.name))
}

fn number(element: &Element, name: &str, low: u64, high: u64) -> Read<Option<u64>> {
    let child = element.child(name);
    child.map(|child| located(child, size::number(&child.text, low, high))).transpose()
}

fn flag(element: &Element, name: &str) -> Read<bool> {
    match element.child(name) {
        None => Ok(false),
        Some(child) => match child.text.as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            other => located(child, Err(format!("expected true or false, got '{other}'"))),
        },
    }
}

fn time_span(element: &Element, remarks: &SharedRemarks) -> Read<TimeSpan> {
    known(element, SPAN)?;
    let usual = TimeSpan::default();
    let seconds =
        |name, usual| Ok::<u64, String>(number(element, name, 0, SECONDS_MAX)?.unwrap_or(usual));
    let targets = element
        .child("Targets")
        .ok_or_else(|| format!("line {}: <TimeSpan> holds no <Targets>", element.line))?;
    if targets.all("Target").next().is_none() {
        return Err(format!("line {}: <Targets> holds no <Target>", targets.line));
    }
    Ok(TimeSpan {
        completion_routines: flag(element, "CompletionRoutines")?,
        latency: flag(element, "MeasureLatency")?,
        iops_deviation: flag(element, "CalculateIopsStdDev")?,
        bucket_ms: number(element, "IoBucketDuration", 1, u64::from(u32::MAX))?
            .unwrap_or(usual.bucket_ms),
        affinity: affinity(element)?,
        duration_s: seconds("Duration", usual.duration_s)?,
        warmup_s: seconds("Warmup", usual.warmup_s)?,
        cooldown_s: seconds("Cooldown", usual.cooldown_s)?,
        threads: number(element, "ThreadCount", 0, 65_536)?.unwrap_or(0),
        requests: number(element, "RequestCount", 0, 65_536)?.unwrap_or(0),
        seed: number(element, "RandSeed", 0, u64::MAX >> 1)?.unwrap_or(0),
        targets: targets.all("Target").map(|one| target(one, remarks)).collect::<Read<_>>()?,
    })
}

/// Parses the CPUs. `<AffinityAssignment>` is the older form, which has numbers only.
fn affinity(element: &Element) -> Read<Affinity> {
    if flag(element, "DisableAffinity")? {
        return Ok(Affinity::Off);
    }
    let mut cpus = Vec::new();
    for list in element.all("Affinity").chain(element.all("AffinityAssignment")) {
        for one in &list.children {
            let place = |name: &str| {
                let text = one.attribute(name).unwrap_or("0");
                located(one, size::number(text, 0, u64::from(u16::MAX)))
            };
            let group = place("Group")?;
            if group != 0 {
                let reason = "processor groups are Windows': on Linux all CPUs are in group 0";
                return located(one, Err(reason.into()));
            }
            let cpu = match one.attribute("Processor") {
                Some(_) => place("Processor")?,
                None => located(one, size::number(&one.text, 0, u64::from(u16::MAX)))?,
            };
            cpus.push((group, cpu));
        }
    }
    Ok(if cpus.is_empty() { Affinity::RoundRobin } else { Affinity::Cpus(cpus) })
}

fn target(element: &Element, remarks: &SharedRemarks) -> Read<Target> {
    known(element, TARGET)?;
    if let Some(child) = element.child("ThreadTargets") {
        let reason = "threads that work on some targets only cannot be expressed here; give each such \
                      group a timespan, or its own <ThreadsPerFile>";
        return located(child, Err(reason.into()));
    }
    let usual = Target::default();
    let bytes = |name: &str| number(element, name, 0, i64::MAX as u64);
    let count = |name: &str, low, high, usual| {
        Ok::<u64, String>(number(element, name, low, high)?.unwrap_or(usual))
    };
    let block = count("BlockSize", 1, i64::MAX as u64, usual.block)?;
    let all = flag(element, "DisableAllCache")?;
    if flag(element, "DisableLocalCache")? {
        return Err(format!(
            "line {}: DisableLocalCache: caching at the other end of a share alone is SMB's on \
             Windows; give DisableOSCache",
            element.line
        ));
    }
    if element.child("RandomRatio").is_some() && element.child("Random").is_none() {
        remarks.borrow_mut().warn("RandomRatio without Random: offsets are multiples of the block");
    }
    Ok(Target {
        path: text_of(element, "Path").unwrap_or_default().into(),
        block,
        base: bytes("BaseFileOffset")?.unwrap_or(0),
        hint_sequential: flag(element, "SequentialScan")?,
        hint_random: flag(element, "RandomAccess")?,
        hint_temporary: flag(element, "TemporaryFile")?,
        large_pages: flag(element, "UseLargePages")?,
        cache: if all || flag(element, "DisableOSCache")? { Cache::None } else { Cache::Buffered },
        write_through: all || flag(element, "WriteThrough")?,
        mapped: flag(element, "MemoryMappedIo")?,
        flush: flush(element)?,
        content: content(element)?,
        parallel: flag(element, "ParallelAsyncIO")?,
        burst: number(element, "BurstSize", 0, u64::MAX)?.filter(|burst| *burst > 0),
        think_ms: number(element, "ThinkTime", 0, u64::from(u32::MAX))?.filter(|pause| *pause > 0),
        create: bytes("FileSize")?.filter(|size| *size > 0),
        access: access(element, block)?,
        thread_stride: bytes("ThreadStride")?.unwrap_or(0),
        max_size: bytes("MaxFileSize")?.unwrap_or(0),
        depth: count("RequestCount", 1, 65_536, usual.depth)?,
        write_percent: count("WriteRatio", 0, 100, 0)?,
        throughput: throughput(element)?,
        threads: count("ThreadsPerFile", 1, 65_536, 1)?,
        priority: count("IOPriority", 1, 3, 3)?,
        weight: count("Weight", 0, u64::from(u32::MAX), 1)?,
    })
}

fn flush(element: &Element) -> Read<bool> {
    let Some(child) = element.child("FlushType") else { return Ok(false) };
    match child.text.as_str() {
        "ViewOfFile" => Ok(true),
        "NonVolatileMemory" | "NonVolatileMemoryNoDrain" => located(
            child,
            Err("writing back the CPU's caches to memory that lasts has no meaning for files behind \
                 the page cache; give ViewOfFile, which is msync"
                .into()),
        ),
        other => located(child, Err(format!("expected ViewOfFile, got '{other}'"))),
    }
}

fn content(element: &Element) -> Read<Content> {
    let Some(child) = element.child("WriteBufferContent") else { return Ok(Content::Sequence) };
    match text_of(child, "Pattern") {
        Some("sequential") | None => Ok(Content::Sequence),
        Some("zero") => Ok(Content::Zero),
        Some("random-per-write") => Ok(Content::Random),
        Some("random") => {
            let source = child.child("RandomDataSource").unwrap_or(child);
            let Some(size) = number(source, "SizeInBytes", 1, i64::MAX as u64)? else {
                return located(child, Err("random bytes need a <SizeInBytes>".into()));
            };
            let file = text_of(source, "FilePath").filter(|path| !path.is_empty());
            Ok(Content::Buffer { size, file: file.map(String::from) })
        }
        Some(other) => located(
            child,
            Err(format!("expected sequential, zero, random or random-per-write, got '{other}'")),
        ),
    }
}

fn access(element: &Element, block: u64) -> Read<Access> {
    let align = number(element, "Random", 1, i64::MAX as u64)?;
    let percent = number(element, "RandomRatio", 0, 100)?.filter(|percent| *percent > 0);
    let spread = element.child("Distribution").map(spread).transpose()?;
    if align.is_none() && percent.is_none() {
        if let Some(child) = element.child("Distribution") {
            return located(child, Err("only random I/O is spread: give <Random>".into()));
        }
        return Ok(Access::Sequential {
            stride: number(element, "StrideSize", 1, i64::MAX as u64)?.unwrap_or(block),
            interlocked: flag(element, "InterlockedSequential")?,
        });
    }
    Ok(Access::Random { align: align.unwrap_or(block), percent: percent.unwrap_or(100), spread })
}

fn spread(element: &Element) -> Read<Spread> {
    let (absolute, list) = match (element.child("Absolute"), element.child("Percent")) {
        (Some(list), None) => (true, list),
        (None, Some(list)) => (false, list),
        _ => return located(element, Err("expected either <Absolute> or <Percent>".into())),
    };
    let range = |range: &Element| -> Read<(u64, u64)> {
        let high = if absolute { i64::MAX as u64 } else { 100 };
        let io = located(range, size::number(range.attribute("IO").unwrap_or(""), 0, 100))?;
        Ok((io, located(range, size::number(&range.text, 1, high))?))
    };
    let ranges: Vec<(u64, u64)> = list.all("Range").map(range).collect::<Read<_>>()?;
    match ranges.is_empty() {
        true => located(list, Err("it holds no <Range>".into())),
        false => Ok(Spread { absolute, ranges }),
    }
}

fn throughput(element: &Element) -> Read<Option<Throughput>> {
    let Some(child) = element.child("Throughput") else { return Ok(None) };
    let number = located(child, size::number(&child.text, 0, u64::MAX / 1000))?;
    Ok(match (number, child.attribute("unit")) {
        (0, _) => None,
        (iops, Some("IOPS")) => Some(Throughput::Iops(iops)),
        (bytes, _) => Some(Throughput::BytesPerMs(bytes)),
    })
}
