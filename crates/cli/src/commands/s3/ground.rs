//! The store around a measurement: whether it answers, whether the bucket is there, and taking away
//! what was put.

use anyhow::Result;
use objects::{Action, Answer, Client, Endpoint, Failure, NoContents, Request, Store};
use record::{ObjectsPut, numbered_path};
use runner::Refusal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Deletions in flight.
const DELETIONS: u32 = 32;
/// How often it is looked whether deleting is to end.
const GLANCE: Duration = Duration::from_millis(100);
/// Failures after which deleting is given up.
const MOST_FAILED: u64 = 100;
/// An endpoint that says nothing for this long is left out of deleting, where there are others.
const MOST_SILENT: Duration = Duration::from_secs(5);
/// How often a request is repeated that may succeed then.
const RETRIES: u32 = 3;

/// A store, before and after the measurement.
pub struct Ground {
    store: Store,
    bucket: String,
}

/// What became of the objects that were to be deleted.
#[derive(Debug, Default)]
pub struct Removed {
    /// They are gone.
    pub gone: u64,
    /// These may still be there.
    pub left: u64,
    /// Why the first of them is.
    pub why: Option<String>,
}

type Connections = Client<Box<dyn Fn() -> u64>>;

fn connections(store: Store, most: u32) -> Result<Connections, Failure> {
    let origin = Instant::now();
    let clock: Box<dyn Fn() -> u64> = Box::new(move || origin.elapsed().as_nanos() as u64);
    Client::open(Arc::new(store), most, clock)
}

impl Ground {
    /// The store that jobs go to.
    pub fn new(store: Store, bucket: &str) -> Ground {
        let store = Store { retries: RETRIES, verbose: 0, ..store };
        Ground { store, bucket: bucket.to_owned() }
    }

    /// Whether each endpoint answers, the key is right and the bucket is there; it is made where
    /// that is wanted. Whether anything is below `prefix`; `None`: that may not be asked.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub fn check(&self, prefix: &str, makes_bucket: bool) -> Result<Option<bool>> {
        let mut found = None;
        for endpoint in &self.store.endpoints {
            let store = Store { endpoints: vec![endpoint.clone()], ..self.store.clone() };
            let at = endpoint.to_string();
            let refused = |failure: &Failure| refusal(&at, &self.bucket, failure);
            let mut client = connections(store, 1).map_err(|failure| refused(&failure))?;
            let listed = match self.list(&mut client, prefix) {
                Err(failure) if makes_bucket && is_missing(&failure) => {
                    let path = format!("/{}", self.bucket);
                    one(&mut client, Action::MakeBucket, &path).map_err(|f| refused(&f))?;
                    self.list(&mut client, prefix)
                }
                listed => listed,
            };
            found = match listed {
                Ok(keys) => Some(keys > 0),
                // Who may put and get need not be allowed to list.
                Err(Failure::Status { status: 403, code, .. }) if code == "AccessDenied" => None,
                Err(failure) => return Err(refused(&failure)),
            };
        }
        Ok(found)
    }

    fn list(&self, client: &mut Connections, prefix: &str) -> Result<usize, Failure> {
        let list = Action::List { max_keys: 1, continuation: None };
        let answer = one(client, list, &format!("/{}/{prefix}/", self.bucket))?;
        let listing = objects::answer::Listing::read(self.store.protocol, &answer.document, 1)?;
        Ok(listing.entries.len())
    }

    /// The endpoints that answer; all of them where none does. One that went away meanwhile would
    /// fail its share of the deletions.
    fn answering(&self) -> Vec<Endpoint> {
        let all = &self.store.endpoints;
        let answers = |endpoint: &&Endpoint| {
            let (endpoints, timeout) =
                (vec![(*endpoint).clone()], self.store.timeout.min(MOST_SILENT));
            let store = Store { endpoints, timeout, retries: 0, ..self.store.clone() };
            let path = format!("/{}", self.bucket);
            let asked = connections(store, 1);
            let asked = asked.and_then(|mut client| one(&mut client, Action::HeadBucket, &path));
            !matches!(asked, Err(Failure::Connect(_) | Failure::Timeout | Failure::Broken(_)))
        };
        let found: Vec<Endpoint> = match all.len() {
            1 => Vec::new(),
            _ => all.iter().filter(answers).cloned().collect(),
        };
        if found.is_empty() { all.clone() } else { found }
    }

    /// Deletes what was put, by name; until it is done or `ends`.
    pub fn remove(&self, put: &[ObjectsPut], ends: impl Fn() -> bool) -> Removed {
        let mut paths = put.iter().flat_map(|put| {
            (put.from..put.to).map(|number| {
                let mut path = String::new();
                numbered_path(&put.below, number, &mut path);
                path
            })
        });
        let all: u64 = put.iter().map(|put| u64::from(put.to - put.from)).sum();
        let mut removed = Removed { left: all, ..Removed::default() };
        let store = Store { endpoints: self.answering(), ..self.store.clone() };
        let mut client = match connections(store, DELETIONS) {
            Ok(client) => client,
            Err(failure) => {
                removed.why = (all > 0).then(|| failure.to_string());
                return removed;
            }
        };
        let mut free: Vec<u32> = (0..DELETIONS).collect();
        let mut failed = 0;
        while !ends() && failed < MOST_FAILED {
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
            if let Err(error) = client.progress(1, Some(GLANCE), &mut NoContents) {
                removed.why.get_or_insert(error.to_string());
                break;
            }
            for outcome in client.outcomes() {
                free.push(outcome.slot);
                match outcome.result {
                    // What was deleted already, or never came to be, is gone.
                    Ok(_) | Err(Failure::Status { status: 404, .. }) => removed.gone += 1,
                    Err(failure) => {
                        failed += 1;
                        removed.why.get_or_insert(failure.to_string());
                    }
                }
            }
        }
        removed.left = all - removed.gone;
        removed
    }
}

/// One request to its end.
fn one(client: &mut Connections, action: Action, path: &str) -> Result<Answer, Failure> {
    client.start(0, &Request { action, path, length: 0 }, &mut NoContents);
    loop {
        let failed = |error: std::io::Error| Failure::Broken(error.raw_os_error().unwrap_or(0));
        client.progress(1, None, &mut NoContents).map_err(failed)?;
        if let Some(outcome) = client.outcomes().next() {
            return outcome.result;
        }
    }
}

/// Whether it is the bucket that is missing.
fn is_missing(failure: &Failure) -> bool {
    matches!(failure, Failure::Status { status: 404, code, .. }
        if code.is_empty() || code == "NoSuchBucket")
}

/// What a failure before the measurement means, and what to do.
fn refusal(at: &str, bucket: &str, failure: &Failure) -> anyhow::Error {
    let cure = match failure {
        failure if is_missing(failure) => {
            format!("; make the bucket '{bucket}' first, or say --make-bucket")
        }
        Failure::NoSuchHost(_) | Failure::Connect(_) | Failure::Timeout => {
            "; is the server running, and --endpoint right?".into()
        }
        Failure::Tls(why) if why.starts_with("the certificate of ") => {
            "; give --ca-file, or --insecure to accept any certificate".into()
        }
        Failure::Tls(why) if why.contains("plain HTTP") => {
            "; say http://, or leave out --tls, --insecure and --ca-file".into()
        }
        Failure::Garbage(_) => {
            "; does --endpoint name an S3 server, and its port (TLS or not)?".into()
        }
        _ => String::new(),
    };
    Refusal::target(format!("{at}: {}{cure}", without_number(&failure.to_string())))
}

/// Without the number that Rust puts behind the system's words.
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
    fn what_to_do_stays_behind_the_words_of_the_system() {
        let refused = refusal("a:1", "b", &Failure::Connect(111)).to_string();
        let is = "a:1: no connection: Connection refused; is the server running, and --endpoint \
                  right?";
        assert_eq!(refused, is);
        let missing = Failure::Status { status: 404, code: "".into(), message: "".into() };
        assert!(refusal("a:1", "b", &missing).to_string().ends_with("or say --make-bucket"));
    }
}
