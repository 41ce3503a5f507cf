//! The first part of the report: the command line and its parameters.

use super::tables::spread_lines;
use crate::diskspd::profile::{
    Access, Affinity, Cache, Content, Profile, Target, Throughput, TimeSpan,
};
use crate::diskspd::size;

/// Command line and parameters.
pub(crate) fn input(profile: &Profile, arguments: &[String]) -> String {
    let mut out = format!("\nCommand Line: {}\n\n", arguments.join(" "));
    if profile.experiment > 0 {
        let flags = profile.experiment;
        out += &format!("Experiment Flags: {flags:#x} ({flags})\n\n");
    }
    out += "Input parameters:\n\n";
    if profile.verbose {
        out += "\tusing verbose mode\n";
    }
    for (index, span) in profile.spans.iter().enumerate() {
        out += &format!("\ttimespan: {:3}\n\t-------------\n", index + 1);
        out.extend(span_lines(span).iter().map(|line| format!("\t{line}\n")));
        for target in &span.targets {
            out += &format!("\tpath: '{}'\n", target.path);
            out.extend(target_lines(span, target).iter().map(|line| format!("\t\t{line}\n")));
            if let Access::Random { spread: Some(spread), .. } = &target.access {
                out += &format!("\t\tIO Distribution:\n{}", spread_lines(spread, "\t\t   "));
            }
        }
        out.push('\n');
    }
    out
}

fn span_lines(span: &TimeSpan) -> Vec<String> {
    let mut lines = vec![
        format!("duration: {}s", span.duration_s),
        format!("warm up time: {}s", span.warmup_s),
        format!("cool down time: {}s", span.cooldown_s),
    ];
    if span.affinity == Affinity::Off {
        lines.push("affinity disabled".into());
    }
    if span.latency {
        lines.push("measuring latency".into());
    }
    if span.iops_deviation {
        lines.push(format!("gathering IOPS at intervals of {}ms", span.bucket_ms));
    }
    lines.push(format!("random seed: {}", span.seed));
    if span.threads > 0 {
        lines.push(format!("thread pool with {} threads", span.threads));
        if span.requests > 0 {
            lines.push(format!(
                "number of outstanding I/O operations per thread: {}",
                span.requests
            ));
        }
    }
    if let Affinity::Cpus(cpus) = &span.affinity {
        let cpus: Vec<String> = cpus.iter().map(|(group, cpu)| format!("{group}/{cpu}")).collect();
        lines.push(format!("advanced affinity round robin (group/core): {}", cpus.join(", ")));
    }
    if span.targets.iter().any(|target| target.content == Content::Random) {
        lines.push("generating random data for each write IO".into());
        lines.push(
            "  WARNING: this increases the CPU cost of issuing writes and should only".into(),
        );
        lines.push("           be compared to other results using the -Zr flag".into());
    }
    lines
}

fn target_lines(span: &TimeSpan, target: &Target) -> Vec<String> {
    let mut lines = vec![
        format!("think time: {}ms", target.think_ms.unwrap_or(0)),
        format!("burst size: {}", target.burst.unwrap_or(0)),
    ];
    lines.extend(cache_lines(target));
    lines.extend(buffer_lines(target));
    if target.parallel {
        lines.push("using parallel async I/O".into());
    }
    lines.push(match target.write_percent {
        0 => "performing read test".into(),
        100 => "performing write test".into(),
        writes => format!("performing mix test (read/write ratio: {}/{writes})", 100 - writes),
    });
    lines.push(format!("block size: {}", size::show(target.block)));
    lines.push(access_line(&target.access));
    lines.push(match span.requests {
        0 => format!("number of outstanding I/O operations per thread: {}", target.depth),
        _ => format!("relative IO weight in thread pool: {}", target.weight),
    });
    lines.extend(bounds(target));
    if span.threads == 0 {
        lines.push(format!("threads per file: {}", target.threads));
    }
    if target.depth > 1 || span.requests > 1 {
        lines.push("using asynchronous I/O (io_uring)".into());
    }
    let priority = ["very low", "low", "normal"][(target.priority.clamp(1, 3) - 1) as usize];
    lines.push(format!("IO priority: {priority}"));
    match target.throughput {
        Some(Throughput::Iops(iops)) => {
            lines.push(format!("throughput rate-limited to {iops} IOPS"));
        }
        Some(Throughput::BytesPerMs(bytes)) => {
            lines.push(format!("throughput rate-limited to {bytes} B/ms"));
        }
        None => {}
    }
    lines
}

fn cache_lines(target: &Target) -> Vec<String> {
    let uncached = target.cache == Cache::None;
    let mut lines = vec![if uncached { "software cache disabled" } else { "using software cache" }];
    lines.push(match (target.write_through, uncached) {
        (false, _) => "using hardware write cache, writethrough off",
        (true, true) => "hardware and software write caches disabled, writethrough on",
        (true, false) => "hardware write cache disabled, writethrough on",
    });
    if target.mapped {
        lines.push(match target.flush {
            true => "memory mapped I/O enabled, flush mode: ViewOfFile",
            false => "memory mapped I/O enabled",
        });
    }
    lines.into_iter().map(String::from).collect()
}

fn buffer_lines(target: &Target) -> Vec<String> {
    match &target.content {
        Content::Zero => vec!["zeroing write buffers".into()],
        Content::Buffer { size, file } => vec![
            format!("write buffer size: {}", size::show(*size)),
            match file {
                Some(file) => format!("write buffer source: '{file}'"),
                None => "write buffer source: random fill".into(),
            },
        ],
        Content::Sequence | Content::Random => Vec::new(),
    }
}

fn access_line(access: &Access) -> String {
    match access {
        Access::Random { align, percent: 100, .. } => {
            format!("using random I/O (alignment: {})", size::show(*align))
        }
        Access::Random { align, percent, .. } => format!(
            "using mixed random/sequential I/O ({percent}% random) (alignment/stride: {})",
            size::show(*align)
        ),
        Access::Sequential { stride, interlocked } => {
            let how = if *interlocked { " interlocked" } else { "" };
            format!("using{how} sequential I/O (stride: {})", size::show(*stride))
        }
    }
}

/// The region of the target, and the advice to the kernel.
fn bounds(target: &Target) -> Vec<String> {
    let sizes = [
        ("base file offset", target.base),
        ("max file size", target.max_size),
        ("thread stride size", target.thread_stride),
    ];
    let given = sizes.into_iter().filter(|(_, size)| *size > 0);
    let mut lines: Vec<String> =
        given.map(|(name, size)| format!("{name}: {}", size::show(size))).collect();
    let hints = [
        (target.hint_random, "using hint for random access"),
        (target.hint_sequential, "using hint for sequential access"),
        (target.hint_temporary, "hint for temporary files has no effect"),
    ];
    lines.extend(hints.iter().filter(|(given, _)| *given).map(|(_, text)| (*text).to_owned()));
    lines
}
