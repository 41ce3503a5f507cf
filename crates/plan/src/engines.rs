//! Requirements and limits of engines.

use crate::problem::Diagnostics;
use crate::store;
use crate::verify;
use job::{Engine, Job, Medium, NvmeVerifyMode, NvmeWriteMode, ReadWrite, VerifyMethod, ZoneMode};

/// Checks for missing options of an engine, and for options that conflict with it.
pub(crate) fn check(job: &Job, diagnostics: &mut Diagnostics) {
    let options = &job.queue.options;
    match job.queue.engine {
        Engine::Cpuio if options.cpu.percent.unwrap_or(0) == 0 => {
            let what = "cpuio has no load to make".to_owned();
            diagnostics.usage(job, "cpuload", what, "give 1 to 100 per cent of a CPU");
        }
        Engine::Cpuio if job.timing.runtime.is_none_or(|runtime| runtime.0 == 0) => {
            diagnostics.note(job, "without runtime it ends with the last job that does I/O");
        }
        Engine::Exec if options.program.path.is_none() => {
            let what = "exec has nothing to run".to_owned();
            diagnostics.usage(job, "program", what, "name a program");
        }
        Engine::Ftruncate | Engine::E4defrag if !is_written(job.pattern.rw) => {
            let name = job.queue.engine.name();
            let what = format!("{name} cannot answer rw={}", job.pattern.rw.name());
            diagnostics.usage(job, "rw", what, "give write or randwrite");
        }
        _ => {}
    }
    check_devices(job, diagnostics);
    check_offload(job, diagnostics);
    store::check(job, diagnostics);
    let split = options.cmdprio_split.iter().any(|shares| !shares.is_empty());
    if split && options.cmdprio_percentage.is_some() {
        let what = "beside cmdprio_percentage".to_owned();
        diagnostics.usage(job, "cmdprio_bssplit", what, "keep one of the two");
    }
    let engine = job.queue.engine;
    let has_syncs = engine.opens_files() || engine.is_store();
    if !has_syncs && !matches!(engine, Engine::Null | Engine::Nbd) {
        check_syncs(job, diagnostics);
    }
}

/// As [`check`], for engines that speak to devices and servers of blocks.
fn check_devices(job: &Job, diagnostics: &mut Diagnostics) {
    let options = &job.queue.options;
    match job.queue.engine {
        Engine::E4defrag if options.donor.is_none() => {
            let what = "e4defrag has no blocks to give".to_owned();
            diagnostics.usage(job, "donorname", what, "name a file on the same filesystem");
        }
        Engine::Nbd if options.nbd_uri.is_none() => {
            let cure = "give nbd://HOST/EXPORT or nbd+unix:///EXPORT?socket=PATH";
            diagnostics.usage(job, "uri", "nbd has no server to connect to", cure);
        }
        Engine::IoUringCmd if options.nvme.ranges > 1 && !only_trims(job.pattern.rw) => {
            let what =
                format!("num_range={} with rw={}", options.nvme.ranges, job.pattern.rw.name());
            diagnostics.usage(
                job,
                "num_range",
                what,
                "only trims have ranges: give trim or randtrim",
            );
        }
        Engine::IoUringCmd => check_nvme(job, diagnostics),
        Engine::IoUring if options.readfua => {
            let text = "readfua has no effect here: the kernel passes no FUA with reads of io_uring, \
                        only with commands of sg and io_uring_cmd";
            diagnostics.warn(job, text);
        }
        _ => {}
    }
}

/// As [`check`], for NVMe commands that stand for reads and writes.
fn check_nvme(job: &Job, diagnostics: &mut Diagnostics) {
    let nvme = &job.queue.options.nvme;
    if nvme.verify_mode == NvmeVerifyMode::Compare {
        let method = verify::method(job);
        if method.is_some_and(|method| method != VerifyMethod::Pattern) {
            let what = format!("the content of {} is not known beforehand", method_name(method));
            let cure = "give verify=pattern and verify_pattern, or verify_mode=read";
            diagnostics.usage(job, "verify_mode", what, cure);
        }
        if job.verify.trim_percentage > 0 {
            let what = "blocks that were trimmed hold no pattern";
            diagnostics.usage(job, "verify_mode", what, "leave trim_percentage out");
        }
    }
    if nvme.zone_append && job.zones.mode != ZoneMode::Zbd {
        let what = "only zones are appended to";
        diagnostics.usage(job, "zone_append", what, "set zonemode=zbd, or leave it out");
    }
    if nvme.zone_append && nvme.write_mode != NvmeWriteMode::Write {
        let what = format!("write_mode={} appends nothing", nvme.write_mode.name());
        diagnostics.usage(job, "zone_append", what, "leave one of them out");
    }
}

fn method_name(method: Option<VerifyMethod>) -> &'static str {
    method.map_or("nothing", VerifyMethod::name)
}

/// Refuses offload for engines that cannot submit from other threads.
fn check_offload(job: &Job, diagnostics: &mut Diagnostics) {
    let engine = job.queue.engine;
    let what = match engine {
        _ if !job.queue.offload => return,
        Engine::Nbd => "it keeps iodepth requests in flight by itself",
        Engine::PageFault => "a page is touched for the first time once, by whoever has mapped it",
        _ => match engine.medium() {
            Medium::Socket => "the bytes of a connection have one order",
            Medium::Time => "there is no I/O to submit",
            Medium::Objects | Medium::Store => "it keeps iodepth requests in flight by itself",
            Medium::Data | Medium::Metadata | Medium::Memory => return,
        },
    };
    let what = format!("offload with ioengine={}: {what}", engine.name());
    diagnostics.usage(job, "io_submit_mode", what, "leave it out or take another engine");
}

fn only_trims(rw: ReadWrite) -> bool {
    rw.trims() && !rw.reads() && !rw.writes()
}

fn is_written(rw: ReadWrite) -> bool {
    matches!(rw, ReadWrite::Write | ReadWrite::RandWrite)
}

/// Refuses syncs for engines without an open file.
fn check_syncs(job: &Job, diagnostics: &mut Diagnostics) {
    let syncing = &job.syncing;
    let given = [
        (syncing.fsync > 0, "fsync"),
        (syncing.fdatasync > 0, "fdatasync"),
        (syncing.file_range.is_some(), "sync_file_range"),
    ];
    for (_, option) in given.into_iter().filter(|(given, _)| *given) {
        let what = format!("{} opens no file that could be synchronised", job.queue.engine.name());
        diagnostics.usage(job, option, what, "leave it out or take another engine");
    }
}
