//! The options, one row each: the letter, whether it may be combined with a profile, and its
//! effect.

use super::draft::{Draft, Random};
use super::profile::{Affinity, Cache, Content, Format, Spread, Throughput};
use super::{Task, size};

type Set = fn(&mut Draft, &str) -> Result<(), String>;

/// An option.
pub(super) struct Flag {
    pub letter: char,
    /// It may be combined with `-X`.
    pub beside_profile: bool,
    pub set: Set,
}

const fn own(letter: char, set: Set) -> Flag {
    Flag { letter, beside_profile: false, set }
}

const fn both(letter: char, set: Set) -> Flag {
    Flag { letter, beside_profile: true, set }
}

/// A setter that is one assignment.
macro_rules! does {
    (|$draft:ident, $value:ident| $change:expr) => {
        |$draft, $value| {
            $change;
            Ok(())
        }
    };
}

/// Sets a field to true, for an option without a value.
macro_rules! on {
    ($($field:ident).+) => {
        |draft, value| {
            draft.$($field).+ = true;
            nothing_behind(value)
        }
    };
}

/// Longest time, in seconds: a century.
pub(super) const SECONDS_MAX: u64 = 3_155_760_000;
/// Most threads and outstanding I/Os.
const MANY: u64 = 65_536;

/// All options.
pub(super) const FLAGS: &[Flag] = &[
    both(':', |draft, value| {
        draft.profile.experiment = size::number(value, 0, u64::MAX)?;
        draft.remarks.note("-: has no effect: rates are kept here without the sleeps it is about");
        Ok(())
    }),
    own('a', affinity),
    // It is parsed before all others.
    own('b', |_, _| Ok(())),
    own('B', base),
    own(
        'c',
        does!(|draft, value| draft.target.create = Some(above_zero(value, draft.target.block)?)),
    ),
    both('C', |draft, value| {
        draft.span.cooldown_s = size::number(value, 0, SECONDS_MAX)?;
        draft.overrides.cooldown_s = Some(draft.span.cooldown_s);
        Ok(())
    }),
    both('d', |draft, value| {
        draft.span.duration_s = size::number(value, 1, SECONDS_MAX)?;
        draft.overrides.duration_s = Some(draft.span.duration_s);
        Ok(())
    }),
    own('D', |draft, value| {
        draft.span.iops_deviation = true;
        if !value.is_empty() {
            draft.span.bucket_ms = size::number(value, 1, SECONDS_MAX)?;
        }
        Ok(())
    }),
    own('e', events),
    own('f', end_or_hint),
    own('F', does!(|draft, value| draft.span.threads = size::number(value, 1, MANY)?)),
    own('g', |draft, value| {
        draft.target.throughput = Some(match value.strip_suffix('i') {
            Some(iops) => Throughput::Iops(size::number(iops, 1, u64::MAX)?),
            None => Throughput::BytesPerMs(size::number(value, 1, u64::MAX / 1000)?),
        });
        Ok(())
    }),
    own('h', |draft, value| {
        nothing_behind(value)?;
        draft.remarks.note("-h is an old form of -Sh");
        caching(draft, "h")
    }),
    own('i', does!(|draft, value| draft.target.burst = Some(size::number(value, 1, u64::MAX)?))),
    own('I', does!(|draft, value| draft.target.priority = size::number(value, 1, 3)?)),
    own(
        'j',
        does!(|draft, value| draft.target.think_ms =
            Some(size::number(value, 1, SECONDS_MAX * 1000)?)),
    ),
    own('l', on!(target.large_pages)),
    own('L', on!(span.latency)),
    own('n', |draft, value| {
        if matches!(draft.span.affinity, Affinity::Cpus(_)) {
            return Err("-n and -a with CPUs contradict each other: give one of them".into());
        }
        draft.span.affinity = Affinity::Off;
        nothing_behind(value)
    }),
    own('N', flush),
    own('o', does!(|draft, value| draft.target.depth = size::number(value, 1, MANY)?)),
    own('O', does!(|draft, value| draft.span.requests = size::number(value, 1, MANY)?)),
    own('p', on!(target.parallel)),
    own('P', |draft, value| {
        draft.profile.progress =
            if value.is_empty() { 65_536 } else { size::number(value, 1, u64::MAX)? };
        draft.remarks.note("-P: how far a run is shows in a line on a terminal, not in dots");
        Ok(())
    }),
    own('r', random),
    both('R', results),
    own('s', sequential),
    own('S', caching),
    own('t', does!(|draft, value| draft.target.threads = size::number(value, 1, MANY)?)),
    own(
        'T',
        does!(|draft, value| draft.target.thread_stride = above_zero(value, draft.target.block)?),
    ),
    both('v', |draft, value| {
        draft.profile.verbose = true;
        match value {
            "" => Ok(()),
            "s" => {
                draft.remarks.warn(
                    "-vs: waits at completion ports are Windows'; the depth that was reached \
                     stands below the results",
                );
                Ok(())
            }
            _ => Err("expected -v or -vs".into()),
        }
    }),
    own('w', |draft, value| {
        if value.is_empty() {
            return Err("expected the share of writes, such as -w30".into());
        }
        draft.target.write_percent = size::number(value, 0, 100)?;
        Ok(())
    }),
    both('W', |draft, value| {
        draft.span.warmup_s = size::number(value, 0, SECONDS_MAX)?;
        draft.overrides.warmup_s = Some(draft.span.warmup_s);
        Ok(())
    }),
    own('x', |draft, value| {
        draft.span.completion_routines = true;
        draft
            .remarks
            .note("-x: completion routines are Windows'; the same engine is used as without it");
        nothing_behind(value)
    }),
    both('X', |_, value| match value {
        "" => Err("expected the profile's file behind it, such as -Xprofile.xml".into()),
        _ => Ok(()),
    }),
    own('y', |_, _| {
        Err("named events are Windows': start and stop several runs from a script, or as jobs of one \
             fathom run"
            .into())
    }),
    both('z', |draft, value| {
        draft.span.seed =
            if value.is_empty() { draft.seed } else { size::number(value, 0, u64::MAX >> 1)? };
        draft.overrides.seed = Some(draft.span.seed);
        Ok(())
    }),
    own('Z', content),
];

fn nothing_behind(value: &str) -> Result<(), String> {
    match value {
        "" => Ok(()),
        _ => Err(format!("nothing was expected behind it, got '{value}'")),
    }
}

fn above_zero(value: &str, block: u64) -> Result<u64, String> {
    match size::parse(value, block)? {
        0 => Err("expected a size above 0".into()),
        size => Ok(size),
    }
}

/// `-a`, `-ag`: round robin on all CPUs. `-a0,1`, `-ag0,0,1,g1,0`: on these CPUs, by processor
/// group; Linux has one group.
fn affinity(draft: &mut Draft, value: &str) -> Result<(), String> {
    if draft.span.affinity == Affinity::Off {
        return Err("-a and -n contradict each other: give one of them".into());
    }
    if value.is_empty() || value == "g" {
        return Ok(());
    }
    let mut cpus = match std::mem::take(&mut draft.span.affinity) {
        Affinity::Cpus(cpus) => cpus,
        _ => Vec::new(),
    };
    for item in value.split(',') {
        if let Some(group) = item.strip_prefix('g') {
            if size::number(group, 0, u64::from(u16::MAX))? != 0 {
                return Err(
                    "processor groups are Windows': on Linux all CPUs are in group 0".into()
                );
            }
            continue;
        }
        cpus.push((0, size::number(item, 0, u64::from(u16::MAX))?));
    }
    if cpus.is_empty() {
        return Err("expected CPUs, such as -a0,2".into());
    }
    draft.span.affinity = Affinity::Cpus(cpus);
    Ok(())
}

/// `-B<base>[:<length>]`.
fn base(draft: &mut Draft, value: &str) -> Result<(), String> {
    let block = draft.target.block;
    let (base, length) = value.split_once(':').map_or((value, None), |(b, l)| (b, Some(l)));
    draft.target.base = size::parse(base, block)?;
    if let Some(length) = length {
        let end = draft.target.base.checked_add(above_zero(length, block)?);
        draft.target.max_size = end.ok_or("its end is beyond what any file can hold")?;
    }
    Ok(())
}

/// `-e…`: event tracing of Windows.
fn events(draft: &mut Draft, value: &str) -> Result<(), String> {
    const CLASSES: [&str; 8] = [
        "PROCESS",
        "THREAD",
        "IMAGE_LOAD",
        "DISK_IO",
        "MEMORY_PAGE_FAULTS",
        "MEMORY_HARD_FAULTS",
        "NETWORK",
        "REGISTRY",
    ];
    if !matches!(value, "q" | "c" | "s" | "p") && !CLASSES.contains(&value) {
        return Err(format!("expected q, c, s, p or one of {}", CLASSES.join(", ")));
    }
    draft.remarks.warn(
        "-e: tracing of events (ETW) is Windows'; nothing is traced. perf trace or bpftrace beside \
         the run show the same of Linux",
    );
    Ok(())
}

/// `-f<size>` or `-f<rst>`.
fn end_or_hint(draft: &mut Draft, value: &str) -> Result<(), String> {
    if value.starts_with(|first: char| first.is_ascii_digit()) {
        draft.target.max_size = above_zero(value, draft.target.block)?;
        return Ok(());
    }
    if value.is_empty() {
        return Err("expected a size, or hints among r, s and t".into());
    }
    for letter in value.chars() {
        match letter {
            'r' => draft.target.hint_random = true,
            's' => draft.target.hint_sequential = true,
            't' => draft.target.hint_temporary = true,
            _ => return Err(format!("expected a size, or hints among r, s and t, got '{letter}'")),
        }
    }
    Ok(())
}

/// `-Nv`. The other values need memory that is mapped without the page cache.
fn flush(draft: &mut Draft, value: &str) -> Result<(), String> {
    match value {
        "v" => {
            draft.target.flush = true;
            Ok(())
        }
        "n" | "i" => {
            Err("writing back the CPU's caches to memory that lasts has no meaning for files \
             behind the page cache; give -Nv, which is msync"
                .into())
        }
        _ => Err("expected v, n or i".into()),
    }
}

/// `-r[<align>]`, `-rs<percent>`, `-rdpct…`, `-rdabs…`.
fn random(draft: &mut Draft, value: &str) -> Result<(), String> {
    let block = draft.target.block;
    let random = draft.random.get_or_insert_with(Random::default);
    if let Some(percent) = value.strip_prefix('s') {
        random.percent = Some(size::number(percent, 1, 100)?);
    } else if let Some(ranges) = value.strip_prefix("dpct") {
        random.spread = Some(Spread {
            absolute: false,
            ranges: pairs(ranges, |part| size::number(part, 1, 100))?,
        });
    } else if let Some(ranges) = value.strip_prefix("dabs") {
        random.spread =
            Some(Spread { absolute: true, ranges: pairs(ranges, |part| above_zero(part, block))? });
    } else if !value.is_empty() {
        random.align = Some(above_zero(value, block)?);
    }
    Ok(())
}

/// "90/10:10/90".
fn pairs(
    text: &str,
    second: impl Fn(&str) -> Result<u64, String>,
) -> Result<Vec<(u64, u64)>, String> {
    let pair = |item: &str| -> Result<(u64, u64), String> {
        let (io, part) = item
            .split_once('/')
            .ok_or_else(|| format!("expected parts such as 90/10:5/20, got '{item}'"))?;
        Ok((size::number(io, 0, 100)?, second(part)?))
    };
    text.split(':').map(pair).collect()
}

/// `-R[p]<text|xml>`.
fn results(draft: &mut Draft, value: &str) -> Result<(), String> {
    let (only_profile, format) = match value.strip_prefix('p') {
        Some(format) => (true, format),
        None => (false, value),
    };
    draft.profile.format = match format {
        "text" => Format::Text,
        "xml" => Format::Xml,
        "" if only_profile => draft.profile.format,
        _ => return Err("expected text or xml, with p before it for the profile alone".into()),
    };
    draft.format_given |= !format.is_empty();
    if only_profile {
        draft.task = Task::Show;
    }
    Ok(())
}

/// `-s[i][<stride>]`.
fn sequential(draft: &mut Draft, value: &str) -> Result<(), String> {
    let (interlocked, stride) = match value.strip_prefix('i') {
        Some(stride) => (true, stride),
        None => (false, value),
    };
    let stride = match stride {
        "" => None,
        stride => Some(above_zero(stride, draft.target.block)?),
    };
    draft.sequential = Some((stride, interlocked));
    Ok(())
}

/// `-S…`. `d` and `s` are the letters of the port to Linux for O_DIRECT and O_SYNC.
fn caching(draft: &mut Draft, value: &str) -> Result<(), String> {
    let target = &mut draft.target;
    let (mut cache, mut through, mut mapped) = (None, false, false);
    let letters = if value.is_empty() { "u" } else { value };
    for letter in letters.chars() {
        let uncached = matches!(letter, 'u' | 'd' | 'h');
        match letter {
            'b' | 'u' | 'd' | 'h' if cache.is_some() => {
                return Err("b, u and h say different things of the cache: give one of them".into());
            }
            'w' | 's' | 'h' if through => return Err("writing through is said twice".into()),
            'b' | 'u' | 'd' | 'h' => {
                cache = Some(if uncached { Cache::None } else { Cache::Buffered });
                through |= letter == 'h';
            }
            'w' | 's' => through = true,
            'm' if mapped => return Err("m is said twice".into()),
            'm' => mapped = true,
            'r' => {
                return Err(
                    "caching at the other end of a share alone is SMB's on Windows; mount the \
                     share with the caching that is wanted and give -Su or -Sb"
                        .into(),
                );
            }
            _ => return Err(format!("expected letters among b, h, m, u and w, got '{letter}'")),
        }
    }
    if mapped && cache == Some(Cache::None) {
        return Err("a mapped file (-Sm) goes through the page cache: leave u or h away".into());
    }
    target.cache = cache.unwrap_or(target.cache);
    target.write_through |= through;
    target.mapped |= mapped;
    Ok(())
}

/// `-Z`, `-Zr`, `-Z<size>[,<file>]`.
fn content(draft: &mut Draft, value: &str) -> Result<(), String> {
    draft.target.content = match value {
        "" => Content::Zero,
        "r" => Content::Random,
        value => {
            let (length, file) =
                value.split_once(',').map_or((value, None), |(length, file)| (length, Some(file)));
            if file == Some("") {
                return Err("expected a file behind the comma".into());
            }
            let size = above_zero(length, draft.target.block)?;
            Content::Buffer { size, file: file.map(Into::into) }
        }
    };
    Ok(())
}
