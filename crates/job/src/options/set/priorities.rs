//! `cmdprio_bssplit`.

use super::units;
use crate::model::{Job, PriorityShare};
use crate::options::Value;
use crate::value::size_number;

/// Lists for reads and writes, split by a comma; the first stands for both when it is alone. Entries
/// are split by colons.
pub(in crate::options) fn by_size(job: &mut Job, v: &Value) -> Result<(), String> {
    let lists: Vec<&str> = v.text().split(',').map(str::trim).collect();
    let (reads, writes) = match lists[..] {
        [one] => (one, one),
        [reads, writes] | [reads, writes, _] => (reads, writes),
        _ => return Err("expected at most three lists (reads, writes, trims)".into()),
    };
    let parse = |list: &str| -> Result<Vec<PriorityShare>, String> {
        let entries = list.split(':').map(str::trim).filter(|entry| !entry.is_empty());
        entries.map(|entry| share(job, entry)).collect()
    };
    let split = [parse(reads)?, parse(writes)?];
    for share in split.iter().flatten() {
        let same = split.iter().map(|shares| {
            let alike = shares.iter().filter(|other| other.size == share.size);
            alike.map(|other| u32::from(other.percent)).sum::<u32>()
        });
        if let Some(sum) = same.max().filter(|sum| *sum > 100) {
            return Err(format!(
                "the shares of {} bytes add up to {sum} per cent, more than 100",
                share.size
            ));
        }
    }
    job.queue.options.cmdprio_split = split;
    Ok(())
}

fn share(job: &Job, entry: &str) -> Result<PriorityShare, String> {
    let wrong = || {
        format!(
            "expected size/percent or size/percent/class/level such as 64k/25/1/0, got '{entry}'"
        )
    };
    let parts: Vec<&str> = entry.split('/').map(str::trim).collect();
    let (size, percent, rest) = match parts[..] {
        [size, percent, ref rest @ ..] if [0, 2, 3].contains(&rest.len()) => (size, percent, rest),
        _ => return Err(wrong()),
    };
    let number = |text: &str, min: u16, max: u16| {
        text.parse::<u16>().ok().filter(|n| (min..=max).contains(n)).ok_or_else(wrong)
    };
    let priority = match rest {
        [] => None,
        [class, level, hint @ ..] => Some((
            number(class, 0, 3)? as u8,
            number(level, 0, 7)? as u8,
            hint.first().map_or(Ok(0), |hint| number(hint, 0, 1023))?,
        )),
        _ => return Err(wrong()),
    };
    let size = size_number(size, units(job))?.0;
    Ok(PriorityShare { size, percent: number(percent, 0, 100)? as u8, priority })
}
