//! Runs of `fathom s3`.

use super::{FATHOM, Ran, run};
use record::{JobRecord, RunRecord};
use std::path::Path;
use std::process::Command;
use test_servers::{Authority, Identity, Listening, S3Options, S3Server};

/// The secret key; in nothing that is kept or shown.
pub const SECRET: &str = "hidden-words-of-the-key";

/// A server that knows [`SECRET`], with one bucket.
#[track_caller]
pub fn server() -> S3Server {
    S3Server::with(options(), &["bucket"])
}

/// What [`server`] has.
pub fn options() -> S3Options {
    S3Options { key: Some(SECRET.into()), ..S3Options::default() }
}

/// The same over TLS.
#[track_caller]
pub fn encrypted(identity: &Identity) -> S3Server {
    let listening = Listening { tls: Some(identity.config()), at: None };
    S3Server::with(S3Options { listening, ..options() }, &["bucket"])
}

/// An authority, its file as an option, and a server that it vouches for.
#[track_caller]
pub fn vouched_for() -> (Authority, String, S3Server) {
    let authority = Authority::new();
    let server = encrypted(&authority.identity(&["127.0.0.1", "localhost", "bucket.localhost"]));
    let option = format!("--ca-file={}", authority.file().display());
    (authority, option, server)
}

/// `fathom s3 WORDS` in a directory, where nothing says who asks or where the store is.
pub fn s3_bare(at: &Path, words: &str) -> Command {
    let mut command = Command::new(FATHOM);
    command.arg("s3").args(words.split_whitespace()).current_dir(at);
    command.env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null").env("AWS_CONFIG_FILE", "/dev/null");
    let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"];
    let places = ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"];
    keys.iter().chain(&places).for_each(|name| _ = command.env_remove(name));
    command
}

/// `fathom s3 WORDS` at an endpoint with the usual bucket, and the right key unless others are named.
pub fn s3_at(endpoint: &str, at: &Path, words: &str) -> Command {
    let mut command = s3_bare(at, words);
    command.arg(format!("--endpoint={endpoint}")).arg("--bucket=bucket");
    command.env("AWS_ACCESS_KEY_ID", "minioadmin").env("AWS_SECRET_ACCESS_KEY", SECRET);
    command
}

/// The same at a server.
pub fn s3(server: &S3Server, at: &Path, words: &str) -> Command {
    s3_at(&server.host(), at, words)
}

/// It runs, and ends well.
#[track_caller]
pub fn done(server: &S3Server, at: &Path, words: &str) -> Ran {
    run(&mut s3(server, at, words)).expect(0)
}

/// The record that `--record=r.json` left.
#[track_caller]
pub fn recorded(at: &Path) -> RunRecord {
    formats::load_set(&at.join("r.json")).unwrap().runs.remove(0)
}

/// What of a kind of request the record says was sent, and answered well.
pub fn requests(record: &RunRecord, name: &str) -> (u64, u64) {
    let of = |job: &JobRecord| {
        let result = job.exchange.as_ref()?.of_kind(name)?;
        Some((result.sent, result.good))
    };
    let all = record.jobs.iter().filter_map(of);
    all.fold((0, 0), |sum, (sent, good)| (sum.0 + sent, sum.1 + good))
}

/// The names below a prefix that the server keeps.
pub fn below(server: &S3Server, prefix: &str) -> Vec<(String, usize)> {
    let keys = server.memory.keys("bucket").into_iter();
    keys.filter(|(key, _)| key.starts_with(prefix)).collect()
}
