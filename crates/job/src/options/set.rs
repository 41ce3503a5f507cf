//! Setters of options that need more than storing a value.

use super::Value;
use super::field::numbers;
use crate::model::{
    FileSizeRange, Job, MemoryKind, Named, NumaMemory, ReadWrite, Retry, Size, SplitEntry,
    SteadyCriterion, SteadyFigure, SteadyLimit, SyncFileRange, VerifyMethod,
};
use crate::value::{
    self as values, Units, duration, size_number, split_range, spread, whole_number,
};
use record::{Bytes, Direction, Engine, Nanos, PerDirection};

mod distribution;
pub(super) mod engines;
mod errno;
mod pattern_bytes;
pub(super) mod priorities;
pub(super) use distribution::{file_service, random as random_distribution, sequential_order};

/// The units of sizes within a text value. `apply` has stored kb_base in the job before.
fn units(job: &Job) -> Units {
    Units { kb_base: job.measure.kb_base }
}

/// Parses the number after a colon. fio reads no suffix there, although its documentation says so.
fn plain_count(text: &str, what: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("expected a plain number of {what}, got '{text}'"))
}

/// `ioengine`.
pub(super) fn engine(job: &mut Job, v: &Value) -> Result<(), String> {
    job.queue.engine = Engine::named(v.text())
        .ok_or_else(|| format!("nothing may follow the name of an engine, got '{}'", v.text()))?;
    Ok(())
}

/// `rw`.
pub(super) fn rw(job: &mut Job, v: &Value) -> Result<(), String> {
    let (name, suffix) = match v.text().split_once(':') {
        Some((name, suffix)) => (name, suffix.trim()),
        None => (v.text(), ""),
    };
    let kind = ReadWrite::ALL.into_iter().find(|kind| kind.name() == name);
    let kind = kind.ok_or_else(|| format!("expected a kind of I/O, got '{name}'"))?;
    let (mut skip, mut run_length) = (None, None);
    if kind.is_random() && !suffix.is_empty() {
        run_length = Some(plain_count(suffix, "I/Os behind the colon")?).filter(|run| *run > 0);
    } else if !suffix.is_empty() {
        skip = Some(whole_number(suffix, units(job))?).filter(|skip| *skip != 0);
    }
    job.pattern.rw = kind;
    job.pattern.skip = skip;
    job.pattern.run_length = run_length;
    Ok(())
}

/// `bssplit`: a list for each direction, separated by commas.
pub(super) fn bssplit(job: &mut Job, v: &Value) -> Result<(), String> {
    let lists: Vec<&str> = v.text().split(',').map(str::trim).collect();
    if lists.len() > 3 {
        return Err("expected at most three lists (reads, writes, trims)".into());
    }
    let mut parsed = [None, None, None];
    for (slot, list) in parsed.iter_mut().zip(&lists).filter(|(_, list)| !list.is_empty()) {
        *slot = Some(split_entries(list, units(job))?);
    }
    if parsed.iter().all(Option::is_none) {
        return Err("expected entries such as 4k/60:64k/40".into());
    }
    let by_direction = spread(parsed, lists.len() as u8 - 1);
    for (direction, entries) in Direction::ALL.into_iter().zip(by_direction) {
        if let Some(entries) = entries {
            job.blocks.split[direction] = entries;
        }
    }
    Ok(())
}

fn split_entries(list: &str, units: Units) -> Result<Vec<SplitEntry>, String> {
    let mut entries = Vec::new();
    for entry in list.split(':').map(str::trim) {
        let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
        let size = size_number(size.trim(), units)?;
        if size == Bytes(0) {
            return Err(format!("a block size must be at least 1, got '{entry}'"));
        }
        let percent = match share.trim() {
            "" => None,
            share => {
                Some(share.parse::<u32>().ok().filter(|share| *share <= 100).ok_or_else(|| {
                    format!("expected a share from 0 to 100 per cent, got '{share}' in '{entry}'")
                })?)
            }
        };
        entries.push(SplitEntry { size, percent });
    }
    let sum: u32 = entries.iter().filter_map(|entry| entry.percent).sum();
    match sum {
        0..=100 => Ok(entries),
        _ => Err(format!("the shares of '{list}' add up to {sum} per cent, more than 100")),
    }
}

/// `filesize`.
pub(super) fn filesize(job: &mut Job, v: &Value) -> Result<(), String> {
    let (low, high) = split_range(v.text());
    let low = size_number(low, units(job))?;
    let high = high.map_or(Ok(low), |high| size_number(high, units(job)))?;
    if low.min(high) == Bytes(0) {
        return Err(format!("a file size must be at least 1, got '{}'", v.text()));
    }
    job.target.filesize =
        Some(FileSizeRange { low: Size::Bytes(low.min(high)), high: Size::Bytes(low.max(high)) });
    Ok(())
}

/// `sync_file_range=flag,flag:writes`.
pub(super) fn sync_file_range(job: &mut Job, v: &Value) -> Result<(), String> {
    let (flags, writes) = v.text().split_once(':').unwrap_or((v.text(), ""));
    let mut range = SyncFileRange::default();
    for flag in flags.split(',').map(str::trim) {
        match flag {
            "wait_before" => range.wait_before = true,
            "write" => range.write = true,
            "wait_after" => range.wait_after = true,
            _ => return Err(format!("expected wait_before, write or wait_after, got '{flag}'")),
        }
    }
    range.writes = match writes.trim() {
        "" => 1,
        writes => plain_count(writes, "writes behind the colon")?.max(1),
    };
    job.syncing.file_range = Some(range);
    Ok(())
}

/// `mem`.
pub(super) fn memory(job: &mut Job, v: &Value) -> Result<(), String> {
    let (name, file) = match v.text().split_once(':') {
        Some((name, file)) if !file.is_empty() => (name, Some(file.to_string())),
        Some((name, _)) => (name, None),
        None => (v.text(), None),
    };
    if let (Some(file), "malloc" | "shm" | "shmhuge") = (&file, name) {
        return Err(format!("'{name}' takes no file, got '{file}'"));
    }
    job.buffers.memory = match name {
        "shm" => MemoryKind::Shm,
        "shmhuge" => MemoryKind::ShmHuge,
        "mmap" => MemoryKind::Mmap(file),
        "mmaphuge" => MemoryKind::MmapHuge(file),
        "mmapshared" => MemoryKind::MmapShared(file),
        _ => MemoryKind::Malloc,
    };
    Ok(())
}

/// As [`numbers`]; `all` is an empty list.
pub(super) fn nodes(text: &str) -> Result<Vec<u32>, String> {
    if text == "all" { Ok(Vec::new()) } else { numbers(text) }
}

/// `cpumask`.
pub(super) fn cpu_mask(job: &mut Job, v: &Value) -> Result<(), String> {
    let mask = v.count();
    if mask == 0 {
        return Err("a mask of 0 allows no CPU".into());
    }
    job.process.cpus_allowed = (0..64).filter(|cpu| mask >> cpu & 1 == 1).collect();
    Ok(())
}

/// `numa_mem_policy`.
pub(super) fn numa_memory(job: &mut Job, v: &Value) -> Result<(), String> {
    let (mode, list) = match v.text().split_once(':') {
        Some((mode, list)) => (mode, Some(list.trim()).filter(|list| !list.is_empty())),
        None => (v.text(), None),
    };
    let needed = || format!("'{mode}' needs nodes, such as {mode}:0");
    job.process.numa_memory = Some(match mode {
        "default" => NumaMemory::Default,
        "local" => NumaMemory::Local,
        "prefer" => match numbers(list.ok_or_else(needed)?)?[..] {
            [node] => NumaMemory::Prefer(node),
            _ => return Err("'prefer' takes one node".into()),
        },
        "bind" => NumaMemory::Bind(nodes(list.ok_or_else(needed)?)?),
        "interleave" => NumaMemory::Interleave(nodes(list.ok_or_else(needed)?)?),
        _ => {
            let modes = ["default", "prefer", "bind", "interleave", "local"];
            let hint = values::nearest(mode, modes.into_iter())
                .map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            return Err(format!("expected one of {}, got '{mode}'{hint}", modes.join(", ")));
        }
    });
    Ok(())
}

/// `buffer_pattern`.
pub(super) fn buffer_pattern(job: &mut Job, v: &Value) -> Result<(), String> {
    job.buffers.content = crate::model::BufferContent::Pattern(pattern_bytes::parse(v.text())?);
    Ok(())
}

/// `verify`.
pub(super) fn verify(job: &mut Job, v: &Value) -> Result<(), String> {
    job.verify.method = VerifyMethod::from_name(v.text());
    Ok(())
}

/// `verify_pattern`. Oracle: without `verify` it implies `verify=pattern`. This is decided after all
/// options are set, because `verify` may follow.
pub(super) fn verify_pattern(job: &mut Job, v: &Value) -> Result<(), String> {
    job.verify.pattern = Some(pattern_bytes::parse_block(v.text())?);
    Ok(())
}

/// `continue_on_error`.
pub(super) fn continue_on_error(job: &mut Job, v: &Value) -> Result<(), String> {
    let retry = |on: bool| if on { Retry::Continue } else { Retry::Stop };
    let kind = v.text();
    job.errors.read = retry(matches!(kind, "read" | "io" | "all"));
    job.errors.write = retry(matches!(kind, "write" | "io" | "all"));
    job.errors.verify = retry(matches!(kind, "verify" | "all"));
    Ok(())
}

/// `ignore_error`: three lists separated by commas, with errors separated by colons. The list for
/// verification is stored in the place for trims.
pub(super) fn ignore_error(job: &mut Job, v: &Value) -> Result<(), String> {
    let lists: Vec<&str> = v.text().split(',').collect();
    if lists.len() > 3 {
        return Err("expected at most three lists (reads, writes, verification)".into());
    }
    let mut parsed = [Vec::new(), Vec::new(), Vec::new()];
    for (slot, list) in parsed.iter_mut().zip(lists) {
        for error in list.split(':').map(str::trim).filter(|error| !error.is_empty()) {
            slot.push(errno::parse(error)?);
        }
    }
    let [read, write, trim] = parsed;
    job.errors.ignored = PerDirection { read, write, trim };
    Ok(())
}

/// `percentile_list`, ascending; at most 20.
pub(super) fn percentiles(job: &mut Job, v: &Value) -> Result<(), String> {
    let mut list = v.floats();
    if list.len() > 20 {
        return Err(format!("takes at most 20 numbers, got {}", list.len()));
    }
    if list.contains(&0.0) {
        return Err("each percentile must be above 0".into());
    }
    list.sort_by(f64::total_cmp);
    list.dedup();
    job.measure.percentile_list = list;
    Ok(())
}

/// `steadystate=criterion:limit`.
pub(super) fn steadystate(job: &mut Job, v: &Value) -> Result<(), String> {
    let (name, limit) = v.text().split_once(':').unwrap_or((v.text(), ""));
    let criterion = SteadyCriterion::named(name).ok_or("expected a criterion")?;
    let limit = limit.trim();
    let fail = || format!("expected a limit such as {name}:5% or {name}:100, got '{}'", v.text());
    let number = |text: &str| {
        let number: Option<f64> = text.trim().parse().ok();
        number.filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(fail)
    };
    job.steady.limit = match (limit.strip_suffix('%'), criterion.figure) {
        (Some(percent), _) => SteadyLimit::Percent(number(percent)?),
        (None, SteadyFigure::Iops) => SteadyLimit::Value(number(limit)?),
        (None, SteadyFigure::Bandwidth) => {
            let bytes = size_number(limit, units(job)).map_err(|_| fail())?;
            SteadyLimit::Value(bytes.0 as f64)
        }
        (None, SteadyFigure::Latency) => {
            let time = duration(limit, Nanos(1_000)).map_err(|_| fail())?;
            SteadyLimit::Value(time.0 as f64)
        }
    };
    job.steady.criterion = criterion;
    Ok(())
}

#[cfg(test)]
mod tests;
