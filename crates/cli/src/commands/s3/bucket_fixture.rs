//! The bucket of a measurement: checked and created before, emptied of the measurement's objects after.

use anyhow::Result;
use objects::{Action, Answer, Client, Endpoint, Failure, NoContents, Request, Store};
use record::{ObjectsPut, numbered_path};
use runner::Refusal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Deletions in flight.
const DELETIONS: u32 = 32;
/// Time between two checks of whether to stop deleting.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Failed deletions after which the rest is given up.
const FAILURES_MAX: u64 = 100;
/// An endpoint that does not answer within this time is not used for deletions if there are others.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Repeats of a request after an error that may pass.
const RETRIES: u32 = 3;

/// A bucket, before and after the measurement.
pub struct BucketFixture {
    store: Store,
    bucket: String,
}

/// Result of deleting objects.
#[derive(Debug, Default)]
pub struct Removed {
    /// Objects that are deleted.
    pub gone: u64,
    /// Objects that may still exist.
    pub left: u64,
    /// The first error.
    pub first_error: Option<String>,
}

type Connections = Client<Box<dyn Fn() -> u64>>;

fn connections(store: Store, most: u32) -> Result<Connections, Failure> {
    let origin = Instant::now();
    let clock: Box<dyn Fn() -> u64> = Box::new(move || origin.elapsed().as_nanos() as u64);
    Client::open(Arc::new(store), most, clock)
}

impl BucketFixture {
    /// A bucket of this store.
    pub fn new(store: Store, bucket: &str) -> BucketFixture {
        let store = Store { retries: RETRIES, verbose: 0, ..store };
        BucketFixture { store, bucket: bucket.to_owned() }
    }

    /// Checks at each endpoint that it answers, accepts the key and has the bucket, which is created if
    /// `make_bucket` is set. Returns whether objects are below `prefix`; `None` if the bucket may not be
    /// listed.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn check(&self, prefix: &str, make_bucket: bool) -> Result<Option<bool>> {
        let mut has_objects = None;
        for endpoint in &self.store.endpoints {
            let store = Store { endpoints: vec![endpoint.clone()], ..self.store.clone() };
            let at = endpoint.to_string();
            let refused = |failure: &Failure| refusal(&at, &self.bucket, failure);
            let mut client = connections(store, 1).map_err(|failure| refused(&failure))?;
            let listed = match self.list(&mut client, prefix) {
                Err(failure) if make_bucket && is_missing(&failure) => {
                    let path = format!("/{}", self.bucket);
                    request(&mut client, Action::MakeBucket, &path).map_err(|f| refused(&f))?;
                    self.list(&mut client, prefix)
                }
                listed => listed,
            };
            has_objects = match listed {
                Ok(keys) => Some(keys > 0),
                // A key for puts and gets may not have the right to list.
                Err(Failure::Status { status: 403, code, .. }) if code == "AccessDenied" => None,
                Err(failure) => return Err(refused(&failure)),
            };
        }
        Ok(has_objects)
    }

    fn list(&self, client: &mut Connections, prefix: &str) -> Result<usize, Failure> {
        let list = Action::List { max_keys: 1, continuation: None };
        let answer = request(client, list, &format!("/{}/{prefix}/", self.bucket))?;
        let listing = objects::answer::Listing::read(self.store.protocol, &answer.document, 1)?;
        Ok(listing.entries.len())
    }

    /// The endpoints that answer, or all if none does. Deletions at an endpoint that went away would
    /// fail.
    fn answering_endpoints(&self) -> Vec<Endpoint> {
        let all = &self.store.endpoints;
        let answers = |endpoint: &&Endpoint| {
            let (endpoints, timeout) =
                (vec![(*endpoint).clone()], self.store.timeout.min(ANSWER_TIMEOUT));
            let store = Store { endpoints, timeout, retries: 0, ..self.store.clone() };
            let path = format!("/{}", self.bucket);
            let asked = connections(store, 1);
            let asked =
                asked.and_then(|mut client| request(&mut client, Action::HeadBucket, &path));
            !matches!(asked, Err(Failure::Connect(_) | Failure::Timeout | Failure::Broken(_)))
        };
        let answering: Vec<Endpoint> = match all.len() {
            1 => Vec::new(),
            _ => all.iter().filter(answers).cloned().collect(),
        };
        if answering.is_empty() { all.clone() } else { answering }
    }

    /// Deletes the objects by name, until all are deleted or `must_stop` returns true.
    pub fn delete(&self, put: &[ObjectsPut], must_stop: impl Fn() -> bool) -> Removed {
        let mut paths = put.iter().flat_map(|put| {
            (put.from..put.to).map(|number| {
                let mut path = String::new();
                numbered_path(&put.below, number, &mut path);
                path
            })
        });
        let all: u64 = put.iter().map(|put| u64::from(put.to - put.from)).sum();
        let mut removed = Removed { left: all, ..Removed::default() };
        let store = Store { endpoints: self.answering_endpoints(), ..self.store.clone() };
        let mut client = match connections(store, DELETIONS) {
            Ok(client) => client,
            Err(failure) => {
                removed.first_error = (all > 0).then(|| failure.to_string());
                return removed;
            }
        };
        let mut free: Vec<u32> = (0..DELETIONS).collect();
        let mut failed = 0;
        while !must_stop() && failed < FAILURES_MAX {
            while let Some(slot) = free.pop() {
                let Some(path) = paths.next() else {
                    free.push(slot);
                    break;
                };
                let request = Request { action: Action::Delete, path: &path, length: 0 };
                client.start(slot, &request, &mut NoContents);
            }
            if free.len() == DELETIONS as usize {
                break;
            }
            if let Err(error) = client.progress(1, Some(POLL_INTERVAL), &mut NoContents) {
                removed.first_error.get_or_insert(error.to_string());
                break;
            }
            for outcome in client.outcomes() {
                free.push(outcome.slot);
                match outcome.result {
                    // The object was deleted before, or its put had failed.
                    Ok(_) | Err(Failure::Status { status: 404, .. }) => removed.gone += 1,
                    Err(failure) => {
                        failed += 1;
                        removed.first_error.get_or_insert(failure.to_string());
                    }
                }
            }
        }
        removed.left = all - removed.gone;
        removed
    }
}

/// Sends one request and waits for its answer.
fn request(client: &mut Connections, action: Action, path: &str) -> Result<Answer, Failure> {
    client.start(0, &Request { action, path, length: 0 }, &mut NoContents);
    loop {
        let failed = |error: std::io::Error| Failure::Broken(error.raw_os_error().unwrap_or(0));
        client.progress(1, None, &mut NoContents).map_err(failed)?;
        if let Some(outcome) = client.outcomes().next() {
            return outcome.result;
        }
    }
}

/// Whether the bucket is missing.
fn is_missing(failure: &Failure) -> bool {
    matches!(failure, Failure::Status { status: 404, code, .. }
        if code.is_empty() || code == "NoSuchBucket")
}

/// A failure before the measurement as a refusal, with what to do.
fn refusal(at: &str, bucket: &str, failure: &Failure) -> anyhow::Error {
    let cure = match failure {
        failure if is_missing(failure) => {
            format!("; create the bucket '{bucket}' first, or give --make-bucket")
        }
        Failure::NoSuchHost(_) | Failure::Connect(_) | Failure::Timeout => {
            "; is the server running, and --endpoint right?".into()
        }
        Failure::Tls(why) if why.starts_with("the certificate of ") => {
            "; give --ca-file, or --insecure to accept any certificate".into()
        }
        Failure::Tls(why) if why.contains("plain HTTP") => {
            "; use http://, or leave out --tls, --insecure and --ca-file".into()
        }
        Failure::Garbage(_) => {
            "; does --endpoint name an S3 server, and its port (TLS or not)?".into()
        }
        _ => String::new(),
    };
    Refusal::target(format!("{at}: {}{cure}", without_number(&failure.to_string())))
}

/// Removes the error number that Rust appends to messages of the system.
fn without_number(text: &str) -> String {
    match text.split_once(" (os error ").map(|(words, rest)| (words, rest.split_once(')'))) {
        Some((words, Some((_, rest)))) => format!("{words}{rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_ends_with_what_to_do() {
        let refused = refusal("a:1", "b", &Failure::Connect(111)).to_string();
        let is = "a:1: no connection: Connection refused; is the server running, and --endpoint \
                  right?";
        assert_eq!(refused, is);
        let missing = Failure::Status { status: 404, code: "".into(), message: "".into() };
        assert!(refusal("a:1", "b", &missing).to_string().ends_with("or give --make-bucket"));
    }
}
