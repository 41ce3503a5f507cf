//! Runs of the http engine.

use super::{FATHOM, Ran, run, scratch};
use record::{Exchange, JobRecord, RunRecord};
use std::path::Path;
use std::process::Command;
use test_servers::S3Options;

/// What a run said and recorded.
pub struct Objects {
    /// Its words and exit code.
    pub ran: Ran,
    /// Its record.
    pub record: RunRecord,
}

impl Objects {
    /// Its only job.
    #[track_caller]
    pub fn job(&self) -> &JobRecord {
        assert_eq!(self.record.jobs.len(), 1, "{}", self.ran.err);
        &self.record.jobs[0]
    }

    /// What its jobs asked of the store.
    pub fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.record.jobs.iter().filter_map(|job| job.exchange.as_ref())
    }

    /// Requests of a kind that were sent, were good, and were repeats.
    pub fn requests(&self, kind: &str) -> [u64; 3] {
        let of_kind = self.exchanges().filter_map(|exchange| exchange.of_kind(kind));
        of_kind.fold([0; 3], |[sent, good, retries], one| {
            [sent + one.sent, good + one.good, retries + one.retries]
        })
    }

    /// Requests of a kind that were sent once more, for their connection was closed.
    pub fn resent(&self, kind: &str) -> u64 {
        self.exchanges().filter_map(|exchange| exchange.of_kind(kind)).map(|of| of.resent).sum()
    }

    /// Failures of a kind, by status or name, of all kinds of requests.
    pub fn failures(&self, kind: &str) -> u64 {
        let requests = self.exchanges().flat_map(|exchange| &exchange.requests);
        requests
            .map(|request| {
                let status = kind.parse().ok().and_then(|status| request.statuses.get(&status));
                status.or_else(|| request.failures.get(kind)).copied().unwrap_or(0)
            })
            .sum()
    }

    /// I/Os of all jobs and directions that were good, and those that were errors.
    pub fn ios_and_errors(&self) -> [u64; 2] {
        let jobs = &self.record.jobs;
        let errors = jobs.iter().flat_map(|job| &job.errors).map(|error| error.count);
        [jobs.iter().map(JobRecord::ios).sum(), errors.sum()]
    }

    /// Everything it said, its lines joined.
    pub fn said(&self) -> String {
        super::joined(&format!("{}\n{}", self.ran.out, self.ran.err))
    }
}

/// Runs `fathom run --ioengine=http WORDS EXACT`, the words split at blanks, for two minutes at most,
/// and expects it to end with `code`.
#[track_caller]
pub fn objects_exactly(code: i32, words: &str, exact: &[&str]) -> Objects {
    let kept = scratch();
    let file = kept.path().join("record.json");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", FATHOM, "run", "--name=job", "--ioengine=http"]);
    command.arg(format!("--record={}", file.display()));
    command.args(words.split_whitespace().map(|word| format!("--{word}")));
    let ran = run(command.args(exact).current_dir(kept.path())).expect(code);
    let record = formats::load(&file).unwrap_or_else(|why| panic!("{why}: {}", ran.err));
    Objects { ran, record }
}

/// The same, with words only.
#[track_caller]
pub fn objects(code: i32, words: &str) -> Objects {
    objects_exactly(code, words, &[])
}

/// What it takes to be let in by a server of this program, as words.
pub fn s3(host: &str) -> String {
    let S3Options { key_id, key, .. } = S3Options::default();
    s3_as(host, &key_id, &key.unwrap_or_default())
}

/// What it takes with a key of one's own.
pub fn s3_as(host: &str, key_id: &str, key: &str) -> String {
    format!("http_mode=s3 http_host={host} http_s3_keyid={key_id} http_s3_key={key}")
}

/// What it takes with Swift.
pub fn swift(host: &str, token: &str) -> String {
    format!("http_mode=swift http_host={host} http_swift_auth_token={token}")
}

/// A job file of the field, with another host.
#[track_caller]
pub fn with_host(file: &Path, host: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let (before, rest) = text.split_once("http_host=").expect("a host");
    let (_, after) = rest.split_once('\n').expect("a line");
    format!("{before}http_host={host}\n{after}")
}
