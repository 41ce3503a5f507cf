//! Listings of all keys below a prefix. Each page is one request and one I/O. Each slot lists all
//! pages by itself and starts over after the last one.

use objects::answer::Listing;
use objects::{Action, Outcome, Protocol, Verb};

/// The progress of each slot's listing.
pub struct Listings {
    protocol: Protocol,
    max_keys: u32,
    /// The continuation token of each slot's next page; `None` for the first page.
    next: Vec<Option<String>>,
}

impl Listings {
    /// For slots `0..depth`, with at most `max_keys` keys per page.
    pub fn new(depth: u32, protocol: Protocol, max_keys: u32) -> Listings {
        Listings { protocol, max_keys, next: vec![None; depth as usize] }
    }

    /// The slot's next request.
    pub fn page(&mut self, slot: u32) -> Action {
        let continuation = self.next[slot as usize].take();
        Action::List { max_keys: self.max_keys, continuation }
    }

    /// A request of the slot ended. Returns the number of keys in its answer. An answer that is no
    /// listing becomes a failure. After a failure the slot's listing starts over, because the token
    /// itself may be the cause.
    pub fn request_ended(&mut self, slot: u32, outcome: &mut Outcome) -> u64 {
        let (Verb::List, Ok(answer)) = (outcome.verb, &outcome.result) else { return 0 };
        match Listing::read(self.protocol, &answer.document, self.max_keys) {
            Ok(listing) => {
                self.next[slot as usize] = listing.continuation;
                listing.entries.len() as u64
            }
            Err(failure) => {
                outcome.result = Err(failure);
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::{Answer, Failure, Stamps};

    fn page(keys: &[&str], next: Option<&str>) -> String {
        let entry = |key: &&str| format!("<Contents><Key>{key}</Key><Size>1</Size></Contents>");
        let keys: String = keys.iter().map(entry).collect();
        let more = next.map_or(String::new(), |next| {
            format!(
                "<IsTruncated>true</IsTruncated>\
                 <NextContinuationToken>{next}</NextContinuationToken>"
            )
        });
        format!("<ListBucketResult>{more}{keys}</ListBucketResult>")
    }

    fn outcome(verb: Verb, result: Result<&str, Failure>) -> Outcome {
        let answer = |text: &str| Answer { document: text.into(), ..Answer::default() };
        let result = result.map(answer);
        Outcome {
            slot: 0,
            verb,
            result,
            stamps: Stamps::default(),
            lost: Vec::new(),
            resent: false,
            endpoint: None,
        }
    }

    fn expect_request(listings: &mut Listings, slot: u32, from: Option<&str>) {
        let continuation = from.map(str::to_owned);
        assert_eq!(listings.page(slot), Action::List { max_keys: 2, continuation });
    }

    #[test]
    fn each_slot_lists_all_pages_and_starts_over() {
        let mut listings = Listings::new(2, Protocol::S3, 2);
        let (first, last) = (page(&["a", "b"], Some("t")), page(&["c"], None));
        expect_request(&mut listings, 0, None);
        expect_request(&mut listings, 1, None);
        assert_eq!(listings.request_ended(0, &mut outcome(Verb::List, Ok(&first))), 2);
        expect_request(&mut listings, 0, Some("t"));
        assert_eq!(listings.request_ended(1, &mut outcome(Verb::List, Ok(&last))), 1);
        expect_request(&mut listings, 1, None);
        assert_eq!(listings.request_ended(0, &mut outcome(Verb::List, Ok(&last))), 1);
        expect_request(&mut listings, 0, None);
    }

    #[test]
    fn a_listing_starts_over_after_a_failure() {
        let mut listings = Listings::new(1, Protocol::S3, 2);
        let first = page(&["a", "b"], Some("t"));
        for result in [Err(Failure::Timeout), Ok("<html/>")] {
            expect_request(&mut listings, 0, None);
            listings.request_ended(0, &mut outcome(Verb::List, Ok(&first)));
            expect_request(&mut listings, 0, Some("t"));
            let mut failed = outcome(Verb::List, result);
            assert_eq!(listings.request_ended(0, &mut failed), 0);
            assert!(failed.result.is_err(), "{failed:?}");
        }
        expect_request(&mut listings, 0, None);
    }

    #[test]
    fn answers_to_other_requests_are_unchanged() {
        let mut listings = Listings::new(1, Protocol::S3, 2);
        let mut put = outcome(Verb::Put, Ok("no list"));
        assert_eq!(listings.request_ended(0, &mut put), 0);
        assert!(put.result.is_ok());
    }
}
