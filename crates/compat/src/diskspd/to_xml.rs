//! Writes a profile as XML that `-X` can read.

use super::markup::Writer;
use super::profile::{
    Access, Affinity, Cache, Content, Format, Profile, Spread, Target, Throughput, TimeSpan,
};

/// A document with only the profile.
pub(super) fn profile(profile: &Profile) -> String {
    let mut writer = Writer::default();
    write(&mut writer, profile);
    writer.finish() + "\n"
}

/// The profile as an element.
pub(super) fn write(writer: &mut Writer, profile: &Profile) {
    writer.begin("Profile", &[]);
    writer.text("Progress", profile.progress);
    if profile.experiment > 0 {
        writer.text("ExperimentFlags", profile.experiment);
    }
    writer.text(
        "ResultFormat",
        match profile.format {
            Format::Text => "text",
            Format::Xml => "xml",
        },
    );
    writer.text("Verbose", profile.verbose);
    if let Some(how) = &profile.precreate {
        writer.text("PrecreateFiles", how);
    }
    writer.begin("TimeSpans", &[]);
    profile.spans.iter().for_each(|span| time_span(writer, span));
    writer.end();
    writer.end();
}

fn time_span(writer: &mut Writer, span: &TimeSpan) {
    writer.begin("TimeSpan", &[]);
    writer.text("CompletionRoutines", span.completion_routines);
    writer.text("MeasureLatency", span.latency);
    writer.text("CalculateIopsStdDev", span.iops_deviation);
    writer.text("DisableAffinity", span.affinity == Affinity::Off);
    writer.text("Duration", span.duration_s);
    writer.text("Warmup", span.warmup_s);
    writer.text("Cooldown", span.cooldown_s);
    writer.text("ThreadCount", span.threads);
    writer.text("RequestCount", span.requests);
    writer.text("IoBucketDuration", span.bucket_ms);
    writer.text("RandSeed", span.seed);
    if let Affinity::Cpus(cpus) = &span.affinity {
        writer.begin("Affinity", &[]);
        for (group, cpu) in cpus {
            writer.empty("AffinityGroupAssignment", &[("Group", group), ("Processor", cpu)]);
        }
        writer.end();
    }
    writer.begin("Targets", &[]);
    span.targets.iter().for_each(|one| target(writer, one));
    writer.end();
    writer.end();
}

fn target(writer: &mut Writer, target: &Target) {
    writer.begin("Target", &[]);
    writer.text("Path", &target.path);
    writer.text("BlockSize", target.block);
    writer.text("BaseFileOffset", target.base);
    writer.text("SequentialScan", target.hint_sequential);
    writer.text("RandomAccess", target.hint_random);
    writer.text("TemporaryFile", target.hint_temporary);
    writer.text("UseLargePages", target.large_pages);
    if target.cache == Cache::None {
        writer.text("DisableOSCache", true);
    }
    if target.write_through {
        writer.text("WriteThrough", true);
    }
    if target.mapped {
        writer.text("MemoryMappedIo", true);
    }
    if target.flush {
        writer.text("FlushType", "ViewOfFile");
    }
    content(writer, &target.content);
    writer.text("ParallelAsyncIO", target.parallel);
    if let Some(burst) = target.burst {
        writer.text("BurstSize", burst);
    }
    if let Some(pause) = target.think_ms {
        writer.text("ThinkTime", pause);
    }
    if let Some(size) = target.create {
        writer.text("FileSize", size);
    }
    access(writer, &target.access);
    writer.text("ThreadStride", target.thread_stride);
    writer.text("MaxFileSize", target.max_size);
    writer.text("RequestCount", target.depth);
    writer.text("WriteRatio", target.write_percent);
    match target.throughput {
        Some(Throughput::Iops(iops)) => writer.text_with("Throughput", &[("unit", &"IOPS")], iops),
        Some(Throughput::BytesPerMs(bytes)) => writer.text("Throughput", bytes),
        None => writer.text("Throughput", 0),
    }
    writer.text("ThreadsPerFile", target.threads);
    writer.text("IOPriority", target.priority);
    writer.text("Weight", target.weight);
    writer.end();
}

fn content(writer: &mut Writer, content: &Content) {
    writer.begin("WriteBufferContent", &[]);
    match content {
        Content::Sequence => writer.text("Pattern", "sequential"),
        Content::Zero => writer.text("Pattern", "zero"),
        Content::Random => writer.text("Pattern", "random-per-write"),
        Content::Buffer { size, file } => {
            writer.text("Pattern", "random");
            writer.begin("RandomDataSource", &[]);
            writer.text("SizeInBytes", size);
            if let Some(file) = file {
                writer.text("FilePath", file);
            }
            writer.end();
        }
    }
    writer.end();
}

fn access(writer: &mut Writer, access: &Access) {
    match access {
        Access::Sequential { stride, interlocked } => {
            writer.text("StrideSize", stride);
            writer.text("InterlockedSequential", interlocked);
        }
        Access::Random { align, percent, spread } => {
            writer.text("Random", align);
            if *percent < 100 {
                writer.text("RandomRatio", percent);
            }
            if let Some(spread) = spread {
                writer.begin("Distribution", &[]);
                ranges(writer, spread);
                writer.end();
            }
        }
    }
}

/// Writes a spread, whose parts are per cent or bytes.
pub(super) fn ranges(writer: &mut Writer, spread: &Spread) {
    writer.begin(if spread.absolute { "Absolute" } else { "Percent" }, &[]);
    for (io, part) in &spread.ranges {
        writer.text_with("Range", &[("IO", io)], part);
    }
    writer.end();
}
