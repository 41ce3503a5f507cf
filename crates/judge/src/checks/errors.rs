//! Did any I/O fail?

use super::prelude::*;
use crate::metrics::unit;
use libc::{
    EACCES, EADDRINUSE, EAGAIN, EBUSY, ECONNREFUSED, ECONNRESET, EDQUOT, EFBIG, EHOSTUNREACH,
    EILSEQ, EINVAL, EIO, EMFILE, ENETUNREACH, ENODATA, ENOENT, ENOMEM, ENOSPC, EOPNOTSUPP, EPERM,
    EPIPE, EPROTO, EREMOTEIO, EROFS, ETIMEDOUT,
};
use record::ErrorCount;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    id: "errors",
    question: "Did any I/O fail?",
    evidence: "every error of every worker, by errno and operation, with the file and offset of the first",
    threshold: "error from the first failed I/O, tolerated (continue_on_error) or not",
    reason: "a failed I/O is often faster than a successful one and is not in the latencies: the figures of a run with errors belong to another workload",
    cause: "depends on the error",
    remedy: || "depends on the error; start at the first file and offset".into(),
    proof: Proof::real(
        "checks/errors.rs::errors_are_told_by_kind_with_their_place",
        "checks/errors.rs::a_run_without_errors_says_nothing",
    ),
    function: CheckFunction::Run(check),
};

/// Also of jobs that did not come as far as their first I/O, which are no part of the case.
fn check(case: &Case) -> Vec<Finding> {
    let mut by_job: BTreeMap<u32, Vec<&JobRecord>> = BTreeMap::new();
    for job in &case.record.jobs {
        by_job.entry(job.job).or_default().push(job);
    }
    by_job.into_values().filter_map(|workers| check_job(&workers)).collect()
}

fn check_job(workers: &[&JobRecord]) -> Option<Finding> {
    let mut kinds = unit::errors(workers);
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
    let figures = [Figure::new("errors", total as f64, "count")];
    let text = list(&kinds.iter().map(describe).collect::<Vec<_>>());
    let finding = CHECK.finding(Severity::Error, vec![workers[0].name.clone()], text);
    Some(finding.figures(figures).cause(cause).remedy(remedy))
}

/// "12 reads failed: Input/output error (first: /data/file, offset 4096, 4096 bytes)".
fn describe(kind: &ErrorCount) -> String {
    let place = match (kind.first_offset, kind.first_length) {
        (Some(offset), Some(length)) => format!(", offset {offset}, {length} bytes"),
        (Some(offset), None) => format!(", offset {offset}"),
        _ => String::new(),
    };
    let file = if kind.first_file.is_empty() { "no file" } else { &kind.first_file };
    let (times, plural) = (count(kind.count as f64), if kind.count == 1 { "" } else { "s" });
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
            "no request was sent: a host name has no address, or the CA certificates cannot be read",
            "check `http_host` and `http_ca_file`".into(),
        ),
        ENOENT => (
            "there is no such object, or no such bucket (404)",
            "write the objects first with a job of the same `filename`, `size`, `bs` and `offset`; check the bucket's name".into(),
        ),
        EACCES => (
            "the server refuses the request (401 or 403): wrong key, region or clock, or no permission",
            "check `http_s3_keyid`, `http_s3_key` and `http_s3_region`, the clock, and the permissions of the key".into(),
        ),
        EBUSY => (
            "the server rejects requests because there are too many (429 or 503)",
            lower(["iodepth", "numjobs", "rate_iops"]).also("`http_retries` repeats such requests and counts them"),
        ),
        ETIMEDOUT => (
            "no data moved within `http_timeout`, or the server reported a timeout (408, 504)",
            "check the server and the network; raise `http_timeout` if the server is that slow".into(),
        ),
        ECONNREFUSED | EHOSTUNREACH => {
            ("no server answers at this host and port", "check `http_host` and whether the server runs".into())
        }
        ECONNRESET => (
            "connections broke during requests",
            "check the server's log and proxies on the way; `http_retries` repeats such requests and counts them".into(),
        ),
        EPROTO => (
            "the TLS handshake failed, usually because a certificate is not trusted",
            "name the CA certificates (`http_ca_file`), or use `https=insecure` if security does not matter".into(),
        ),
        EIO => (
            "a response was shorter or longer than announced, or the server failed (500)",
            "read the server's message above and its log; do not trust the content".into(),
        ),
        _ => (
            "the server sent an unexpected response",
            "read the messages above: they quote the server".into(),
        ),
    }
}

/// What an error usually means, and what to do.
fn meaning(kind: &ErrorCount) -> (&'static str, Remedy) {
    match kind.errno {
        EIO | EREMOTEIO | ENODATA => (
            "the device, or the path to it, failed the request",
            "check dmesg for messages of the device, then its health (fathom inspect); do not benchmark a failing disk".into(),
        ),
        ETIMEDOUT => (
            "the device did not answer in time",
            "check dmesg for resets of the device or its link, then its health (fathom inspect)".into(),
        ),
        EILSEQ => (
            "the data read is not the data written",
            "inspect the offset with `verify_dump=1`; if nothing else wrote there, the storage corrupts data: do not trust it".into(),
        ),
        ENOSPC => (
            "the filesystem, or the thin device below it, is full",
            Remedy::from("free some space").or(lower(["size", "numjobs", "nrfiles"])),
        ),
        EDQUOT => ("the quota of this user is used up", Remedy::from("raise the quota").or(lower(["size"]))),
        EFBIG => (
            "the file would be larger than the filesystem or the process' limit allows",
            lower(["size"]).or("raise ulimit -f"),
        ),
        EINVAL => (
            "the file does not support the request: usually O_DIRECT rejects the offset or length",
            choose(["bs", "offset", "size"]).ending("to multiples of the device's logical block (fathom inspect shows it)").or(drop(["direct"])),
        ),
        EOPNOTSUPP => (
            "the device or filesystem does not support this operation",
            "leave it out (trim needs discard support, atomic and RWF flags need a recent kernel), or use another engine".into(),
        ),
        EACCES | EPERM => {
            ("this user lacks the permission", "run as a user with the permission, or change the file's permissions".into())
        }
        EROFS => (
            "the filesystem is mounted read-only, perhaps after a disk error",
            "check dmesg; remount it read-write, or use another directory".into(),
        ),
        EBUSY => ("something else uses the device", "unmount or stop what uses it (lsblk, fuser)".into()),
        ENOENT => ("the file does not exist", "check the path, or let the job create it".into()),
        EMFILE => ("too many files are open", Remedy::from("raise ulimit -n").or(lower(["nrfiles", "openfiles"]))),
        ENOMEM if kind.operation == "allocate buffers" => (
            "there is not enough memory for the buffers; huge pages have to be reserved first",
            lower(["iodepth", "bs", "numjobs"]).or("reserve huge pages if the buffers use them (/proc/sys/vm/nr_hugepages)"),
        ),
        ENOMEM => (
            "memory, or the limit of locked memory, is used up",
            Remedy::from("raise ulimit -l").or(lower(["iodepth", "bs", "numjobs"])),
        ),
        EAGAIN => (
            "a resource was temporarily used up: kernel aio contexts, requests, locked memory",
            Remedy::from("raise /proc/sys/fs/aio-max-nr or ulimit -l").or(lower(["iodepth", "numjobs"])),
        ),
        _ => (
            "the kernel refused or failed the request",
            "check dmesg, and the first file and offset".into(),
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
        assert!(cause(EIO, "set up the I/O engine").starts_with("no request was sent"));
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
