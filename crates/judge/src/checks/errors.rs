//! Did any I/O fail?

use super::check::{Check, How, Look, Proof};
use super::words::{list, number};
use crate::case::Case;
use crate::finding::{Figure, Finding};
use record::remedy::{choose, drop, lower};
use record::{ErrorCount, JobRecord, Medium, Remedy, Severity};
use std::collections::BTreeMap;

// Linux's numbers (errno(3)) on x86, ARM, RISC-V and all others that take the generic ones.
const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const EMFILE: i32 = 24;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EPIPE: i32 = 32;
const ENODATA: i32 = 61;
const EILSEQ: i32 = 84;
const EOPNOTSUPP: i32 = 95;
const ETIMEDOUT: i32 = 110;
const EREMOTEIO: i32 = 121;
const EDQUOT: i32 = 122;
const EPROTO: i32 = 71;
const EADDRINUSE: i32 = 98;
const ENETUNREACH: i32 = 101;
const ECONNRESET: i32 = 104;
const ECONNREFUSED: i32 = 111;
const EHOSTUNREACH: i32 = 113;

pub(super) const CHECK: Check = Check {
    id: "errors",
    question: "Did any I/O fail?",
    evidence: "every error of every worker, by errno and operation, with the file and offset of the first",
    threshold: "error from the first one on, tolerated (continue_on_error) or not",
    reason: "a failed I/O is often quicker than a good one, and none of it is in the latencies: figures of a run with errors are of another workload",
    cause: "depends on the error",
    remedy: || "depends on the error; the first file and offset say where to look".into(),
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks/errors.rs::errors_are_told_by_kind_with_their_place",
        silent: "crates/cli/tests/checks/errors.rs::a_run_without_errors_says_nothing",
    },
    look: Look::Run(look),
};

/// Also of jobs that did not come as far as their first I/O, which are no part of the case.
fn look(case: &Case) -> Vec<Finding> {
    let mut by_job: BTreeMap<u32, Vec<&JobRecord>> = BTreeMap::new();
    for job in &case.record.jobs {
        by_job.entry(job.job).or_default().push(job);
    }
    by_job.into_values().filter_map(|workers| about(&workers)).collect()
}

fn about(workers: &[&JobRecord]) -> Option<Finding> {
    let mut kinds: Vec<ErrorCount> = Vec::new();
    for error in workers.iter().flat_map(|job| &job.errors) {
        let same = |known: &&mut ErrorCount| {
            known.errno == error.errno && known.operation == error.operation
        };
        match kinds.iter_mut().find(same) {
            Some(known) => known.count += error.count,
            None => kinds.push(error.clone()),
        }
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    let worst = kinds.first()?;
    let total: u64 = kinds.iter().map(|kind| kind.count).sum();
    let of_objects = workers.iter().any(|job| job.workload.medium == Medium::Objects);
    let of_network = workers.iter().any(|job| job.workload.medium == Medium::Socket);
    let (cause, remedy) = match (of_objects, of_network) {
        _ if worst.operation == "latency" => (
            "an I/O took longer than `max_latency` allows",
            "look at the slowest I/Os of the report, or raise `max_latency`".into(),
        ),
        (true, _) => answer(worst),
        (_, true) => over_network(worst),
        _ => meaning(worst),
    };
    Some(Finding {
        figures: vec![Figure::new("errors", total as f64, "count")],
        cause: cause.into(),
        remedy,
        ..CHECK.finding(
            Severity::Error,
            vec![workers[0].name.clone()],
            list(&kinds.iter().map(told).collect::<Vec<_>>()),
        )
    })
}

/// "12 reads failed: Input/output error (first: /data/file, offset 4096, 4096 bytes)".
fn told(kind: &ErrorCount) -> String {
    let place = match (kind.first_offset, kind.first_length) {
        (Some(offset), Some(length)) => format!(", offset {offset}, {length} bytes"),
        (Some(offset), None) => format!(", offset {offset}"),
        _ => String::new(),
    };
    let file = if kind.first_file.is_empty() { "no file" } else { &kind.first_file };
    let (times, plural) = (number(kind.count as f64), if kind.count == 1 { "" } else { "s" });
    let (what, text) = match kind.errno {
        // The system's words for its number are about characters.
        EILSEQ => ("verification", "the content is not what was written"),
        _ => (kind.operation.as_str(), kind.text.as_str()),
    };
    format!("{times} {what} error{plural}: {text} (first: {file}{place})")
}

/// What an error of a connection to another host usually means, and what to do.
fn over_network(kind: &ErrorCount) -> (&'static str, Remedy) {
    match kind.errno {
        ETIMEDOUT => (
            "the other side did not connect, or sent nothing, in time",
            "start the other side; check its `hostname`, `port` and `protocol`, and firewalls on the way".into(),
        ),
        ECONNREFUSED => (
            "nothing listens at this address and port",
            "start the listening side (`listen=1`) first; check `hostname`, `port` and `protocol`".into(),
        ),
        ECONNRESET | EPIPE => (
            "the other side closed the connection",
            "look at the messages of the other side: it ended first, or failed".into(),
        ),
        EHOSTUNREACH | ENETUNREACH => {
            ("there is no way to this host", "check `hostname`, the routes and firewalls on the way".into())
        }
        EADDRINUSE => (
            "something else listens at this port",
            "use another `port`, or stop what listens there (ss -lptu)".into(),
        ),
        EILSEQ => meaning(kind),
        _ => (
            "the network refused or failed the request",
            "look at the address of the first error and at the messages of the other side".into(),
        ),
    }
}

/// What an error of a request to an object store usually means, and what to do.
fn answer(kind: &ErrorCount) -> (&'static str, Remedy) {
    match kind.errno {
        _ if kind.operation == "set up the I/O engine" => (
            "nothing could be asked: a host has no address, or the certificates to trust cannot be read",
            "check `http_host` and `http_ca_file`".into(),
        ),
        ENOENT => (
            "there is no such object, or no such bucket (404)",
            "write the objects first with a job of the same `filename`, `size`, `bs` and `offset`; check the bucket's name".into(),
        ),
        EACCES => (
            "the server refuses the request (401 or 403): wrong key, region or clock, or no right to it",
            "check `http_s3_keyid`, `http_s3_key` and `http_s3_region`, the clock, and what the key may do".into(),
        ),
        EBUSY => (
            "the server turns requests away because there are too many (429 or 503)",
            lower(["iodepth", "numjobs", "rate_iops"]).also("`http_retries` repeats such requests and counts them"),
        ),
        ETIMEDOUT => (
            "nothing moved until `http_timeout`, or the server says that it took too long (408, 504)",
            "look at the server and the way to it; raise `http_timeout` where it is that slow".into(),
        ),
        ECONNREFUSED | EHOSTUNREACH => {
            ("nobody answers at this host and port", "check `http_host` and whether the server runs".into())
        }
        ECONNRESET => (
            "connections broke in the middle of requests",
            "look at the server's log and at proxies on the way; `http_retries` repeats such requests and counts them".into(),
        ),
        EPROTO => (
            "no encrypted connection came about: most often a certificate that is not trusted",
            "name the certificates to trust (`http_ca_file`), or use `https=insecure` where that does not matter".into(),
        ),
        EIO => (
            "an answer was shorter or longer than it should be, or the server failed (500)",
            "look at the messages above for its words and at the server's log; do not trust the content".into(),
        ),
        _ => (
            "the server did not answer as it should",
            "look at the messages above: they have its words".into(),
        ),
    }
}

/// What an error usually means, and what to do.
fn meaning(kind: &ErrorCount) -> (&'static str, Remedy) {
    match kind.errno {
        EIO | EREMOTEIO | ENODATA => (
            "the device, or the path to it, failed the request",
            "look at dmesg for the device's own words, then at its health (fathom inspect); do not benchmark a disk that fails".into(),
        ),
        ETIMEDOUT => (
            "the device did not answer in time",
            "look at dmesg for resets of the device or its link, and at its health (fathom inspect)".into(),
        ),
        EILSEQ => (
            "what was read is not what was written",
            "look at the offset with `verify_dump=1`; if nothing else wrote there, the storage corrupts data: do not trust it".into(),
        ),
        ENOSPC => (
            "the filesystem, or the thin device below it, is full",
            Remedy::from("make room").or(lower(["size", "numjobs", "nrfiles"])),
        ),
        EDQUOT => ("the quota of this user is used up", Remedy::from("raise the quota").or(lower(["size"]))),
        EFBIG => (
            "the file would be larger than the filesystem or the process' limit allows",
            lower(["size"]).or("raise ulimit -f"),
        ),
        EINVAL => (
            "the request does not suit the file: most often an offset or length that O_DIRECT does not take",
            choose(["bs", "offset", "size"]).ending("to multiples of the device's logical block (fathom inspect shows it)").or(drop(["direct"])),
        ),
        EOPNOTSUPP => (
            "the device or filesystem does not know this operation",
            "leave it out (trim needs discard support, atomic and RWF flags need a recent kernel), or use another engine".into(),
        ),
        EACCES | EPERM => {
            ("this user may not do that", "run as a user who may, or change the file's permissions".into())
        }
        EROFS => (
            "the filesystem is mounted read-only, perhaps since an error of its disk",
            "look at dmesg; remount it for writing, or use another directory".into(),
        ),
        EBUSY => ("something else holds the device", "unmount or stop what uses it (lsblk, fuser)".into()),
        ENOENT => ("the file is not there", "check the path, or let the job create it".into()),
        EMFILE => ("too many files are open", Remedy::from("raise ulimit -n").or(lower(["nrfiles", "openfiles"]))),
        ENOMEM if kind.operation == "allocate buffers" => (
            "there is not so much memory for the buffers; huge pages have to be set aside first",
            lower(["iodepth", "bs", "numjobs"]).or("set huge pages aside where the buffers use them (/proc/sys/vm/nr_hugepages)"),
        ),
        ENOMEM => (
            "memory, locked memory or the limit of it is used up",
            Remedy::from("raise ulimit -l").or(lower(["iodepth", "bs", "numjobs"])),
        ),
        EAGAIN => (
            "a resource was used up for the moment: kernel aio contexts, requests, locked memory",
            Remedy::from("raise /proc/sys/fs/aio-max-nr or ulimit -l").or(lower(["iodepth", "numjobs"])),
        ),
        _ => (
            "the kernel refused or failed the request",
            "look at dmesg and at the first file and offset".into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{asking, findings, job, record, the_finding};
    use super::*;
    use record::Direction;

    fn error(errno: i32, text: &str, operation: &str, count: u64) -> ErrorCount {
        ErrorCount {
            errno,
            text: text.into(),
            operation: operation.into(),
            count,
            first_file: "/data/file".into(),
            first_offset: Some(8192),
            first_length: Some(4096),
        }
    }

    #[test]
    fn kinds_are_counted_over_the_workers_and_the_most_frequent_leads() {
        let mut jobs = vec![job("read", Direction::Read, 2); 2];
        jobs[0].errors = vec![error(5, "Input/output error", "read", 3)];
        jobs[1].errors = vec![
            error(28, "No space left on device", "write", 1),
            error(5, "Input/output error", "read", 4),
        ];
        let mut record = record(jobs);
        record.jobs[1].job = 0;
        let found = the_finding(&record, CHECK.id);
        assert_eq!(found.severity, Severity::Error);
        assert_eq!(
            found.text,
            "7 read errors: Input/output error (first: /data/file, offset 8192, 4096 bytes) and \
             1 write error: No space left on device (first: /data/file, offset 8192, 4096 bytes)"
        );
        assert!(found.remedy.to_string().contains("dmesg"));
    }

    #[test]
    fn an_object_store_fails_in_ways_of_its_own() {
        let mut asking = asking("GET", 1000, 404);
        let mut cause = |errno, operation| {
            asking.jobs[0].errors = vec![error(errno, "some error", operation, 1)];
            the_finding(&asking, CHECK.id).cause
        };
        assert!(cause(ENOENT, "read").contains("(404)"));
        assert!(cause(EACCES, "write").contains("401 or 403"));
        assert!(cause(EIO, "read").contains("shorter or longer"));
        assert!(cause(EIO, "set up the I/O engine").starts_with("nothing could be asked"));
    }

    #[test]
    fn a_network_is_no_device() {
        let mut talking = job("talk", Direction::Read, 2);
        talking.workload.medium = Medium::Socket;
        for (errno, cause) in [
            (ETIMEDOUT, "the other side did not connect"),
            (ECONNREFUSED, "nothing listens"),
            (ECONNRESET, "closed the connection"),
            (EIO, "the network refused"),
        ] {
            talking.errors = vec![error(errno, "some error", "listen at", 1)];
            let found = the_finding(&record(vec![talking.clone()]), CHECK.id);
            assert!(found.cause.contains(cause), "{}", found.cause);
            let remedy = found.remedy.to_string();
            assert!(!remedy.contains("dmesg") && !remedy.contains("inspect"), "{remedy}");
        }
    }

    #[test]
    fn an_io_that_took_too_long_is_no_silent_device() {
        let mut slow = job("slow", Direction::Read, 2);
        slow.errors = vec![error(ETIMEDOUT, "Connection timed out", "latency", 1)];
        let cause = the_finding(&record(vec![slow]), CHECK.id).cause;
        assert!(cause.contains("longer than"), "{cause}");
    }

    #[test]
    fn wrong_content_is_a_verification_error() {
        let mut wrong = job("check", Direction::Read, 2);
        let words = "Invalid or incomplete multibyte or wide character";
        wrong.errors = vec![error(EILSEQ, words, "verify", 2)];
        let text = the_finding(&record(vec![wrong]), CHECK.id).text;
        assert!(text.starts_with("2 verification errors: the content is not what"), "{text}");
        assert!(!text.contains("multibyte"), "{text}");
    }

    #[test]
    fn a_job_that_could_not_begin_is_told_as_well() {
        let mut unopened = job("read", Direction::Read, 2);
        unopened.elapsed = record::Nanos(0);
        unopened.errors = vec![error(13, "Permission denied", "open", 1)];
        assert_eq!(findings(&record(vec![unopened]), CHECK.id).len(), 1);
    }
}
