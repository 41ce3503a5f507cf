//! `fathom s3 list`: all that is below the prefix, page by page.

use crate::common::s3::{SECRET, done, recorded, s3_at, server};
use crate::common::{joined, run, scratch};
use record::RequestResult;
use std::collections::BTreeMap;
use std::path::Path;
use test_servers::{Asked, Fault, Moto, Proxy, S3Server};

/// Of 50 objects in pages of 20, so that a list is 20, 20 and 10.
const WORDS: &str = "list --objects=50 --max-keys=20 --size=1 --duration=1 --concurrent=3 \
                     --record=r.json";

fn listed(at: &Path) -> RequestResult {
    let record = recorded(at);
    assert_eq!(record.jobs.len(), 1);
    record.jobs[0].exchange.as_ref().unwrap().of_kind("LIST").unwrap().clone()
}

/// Lists at which the server was told where to go on, by what it was told; "" for first pages. Only
/// those of the measurement, which ask for more than one key.
fn pages(server: &S3Server) -> BTreeMap<String, u64> {
    let of = |asked: Asked| {
        let (_, query) = asked.target.split_once('?')?;
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
        };
        let asks_for_more = value("max-keys")? != "1";
        asks_for_more.then(|| value("continuation-token").unwrap_or_default())
    };
    let mut pages = BTreeMap::new();
    for token in server.asked().into_iter().filter_map(of) {
        *pages.entry(token).or_default() += 1;
    }
    pages
}

#[test]
fn each_list_goes_through_all_pages() {
    let (server, directory) = (server(), scratch());
    let ran = done(&server, directory.path(), WORDS);
    let list = listed(directory.path());
    assert_eq!(list.sent, list.good);
    let pages = pages(&server);
    let counts: Vec<u64> = pages.values().copied().collect();
    let [first, second, third] = counts[..] else { panic!("{pages:?}") };
    assert!(third > 0 && first >= second && second >= third && third + 3 >= first, "{counts:?}");
    assert_eq!(list.good, first + second + third);
    assert_eq!(list.keys, 20 * (first + second) + 10 * third);
    let second_kept: u64 = list.seconds.iter().map(|second| second.keys).sum();
    assert_eq!(second_kept, list.keys);
    assert!(!ran.out.contains("LIST: IOPS ") && ran.out.contains(" keys/s"), "{}", ran.out);
    assert!(ran.out.contains(&format!("Requests:   {} in", list.good)), "{}", ran.out);
}

#[test]
fn an_s3_of_another_make_is_listed_to_its_end() {
    let (server, directory) = (Moto::start(&["bucket"]), scratch());
    let mut command = s3_at(&server.host(), directory.path(), WORDS);
    command.env("AWS_ACCESS_KEY_ID", &server.key_id).env("AWS_SECRET_ACCESS_KEY", &server.key);
    let ran = run(&mut command).expect(0);
    let list = listed(directory.path());
    assert!(list.good > 9 && list.sent == list.good, "{}", ran.out);
    // Only a last page has fewer keys, and three lists may be under way at the end.
    let last = (20 * list.good - list.keys) / 10;
    assert!(3 * last + 2 * 3 >= list.good && 3 * last <= list.good, "{list:?}");
}

#[test]
fn the_usual_page_has_a_thousand_keys() {
    let (server, directory) = (server(), scratch());
    let words = "list --objects=1500 --size=1 --duration=2 --concurrent=1 --rate=20 --json \
                 --record=r.json";
    let ran = done(&server, directory.path(), words);
    let list = listed(directory.path());
    assert_eq!(list.keys, 1000 * list.good.div_ceil(2) + 500 * (list.good / 2));
    let operation = &ran.json()["operations"][0];
    assert_eq!(operation["unit"], "keys");
    assert!(operation["response_ns"].is_object(), "{operation}");
    assert!(!ran.out.contains(SECRET));
    assert_eq!(server.memory.keys("bucket"), []);
}

#[test]
fn what_is_no_list_is_an_error_and_the_list_begins_again() {
    let (server, directory) = (server(), scratch());
    let html = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<html/>".to_vec();
    let spoilt = move |asked: &Asked| match asked.target.contains("continuation-token") {
        true => Fault::Instead(html.clone()),
        false => Fault::Pass,
    };
    let proxy = Proxy::start(server.address(), None, spoilt);
    let ran = run(&mut s3_at(&proxy.host(), directory.path(), WORDS)).expect(1);
    let list = listed(directory.path());
    assert!(list.good > 3 && list.failures["not http"] == list.failed(), "{list:?}");
    assert_eq!(list.keys, 20 * list.good, "first pages alone are good");
    assert!(
        joined(&ran.out).contains("expected a ListBucketResult, it is a 'html'"),
        "{}",
        ran.out
    );
    assert_eq!(server.memory.keys("bucket"), []);
}
