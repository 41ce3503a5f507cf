//! Lists of all that is below a prefix, page by page: each page is a request, and an I/O of its own.
//! Each slot goes through the whole list for itself, and after its last page begins again.

use objects::answer::Listing;
use objects::{Action, Outcome, Protocol, Verb};

/// How far the lists of a ring's slots are.
pub struct Lists {
    protocol: Protocol,
    max_keys: u32,
    /// Where the next page of each slot begins; `None`: it is the first one.
    next: Vec<Option<String>>,
}

impl Lists {
    /// For slots `0..depth`, with so many keys to a page.
    pub fn new(depth: u32, protocol: Protocol, max_keys: u32) -> Lists {
        Lists { protocol, max_keys, next: vec![None; depth as usize] }
    }

    /// What the slot asks for next.
    pub fn page(&mut self, slot: u32) -> Action {
        let continuation = self.next[slot as usize].take();
        Action::List { max_keys: self.max_keys, continuation }
    }

    /// A request of the slot is over. How many keys it brought; an answer that is no list has failed.
    /// After a failure the slot's list begins again: what to go on with may itself be what failed.
    pub fn ended(&mut self, slot: u32, outcome: &mut Outcome) -> u64 {
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
        let of = |key: &&str| format!("<Contents><Key>{key}</Key><Size>1</Size></Contents>");
        let keys: String = keys.iter().map(of).collect();
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

    fn asks(lists: &mut Lists, slot: u32, from: Option<&str>) {
        let continuation = from.map(str::to_owned);
        assert_eq!(lists.page(slot), Action::List { max_keys: 2, continuation });
    }

    #[test]
    fn each_slot_goes_through_all_pages_and_begins_again() {
        let mut lists = Lists::new(2, Protocol::S3, 2);
        let (first, last) = (page(&["a", "b"], Some("t")), page(&["c"], None));
        asks(&mut lists, 0, None);
        asks(&mut lists, 1, None);
        assert_eq!(lists.ended(0, &mut outcome(Verb::List, Ok(&first))), 2);
        asks(&mut lists, 0, Some("t"));
        assert_eq!(lists.ended(1, &mut outcome(Verb::List, Ok(&last))), 1);
        asks(&mut lists, 1, None);
        assert_eq!(lists.ended(0, &mut outcome(Verb::List, Ok(&last))), 1);
        asks(&mut lists, 0, None);
    }

    #[test]
    fn after_a_failure_a_list_begins_again() {
        let mut lists = Lists::new(1, Protocol::S3, 2);
        let first = page(&["a", "b"], Some("t"));
        for result in [Err(Failure::Timeout), Ok("<html/>")] {
            asks(&mut lists, 0, None);
            lists.ended(0, &mut outcome(Verb::List, Ok(&first)));
            asks(&mut lists, 0, Some("t"));
            let mut failed = outcome(Verb::List, result);
            assert_eq!(lists.ended(0, &mut failed), 0);
            assert!(failed.result.is_err(), "{failed:?}");
        }
        asks(&mut lists, 0, None);
    }

    #[test]
    fn other_answers_are_left_alone() {
        let mut lists = Lists::new(1, Protocol::S3, 2);
        let mut put = outcome(Verb::Put, Ok("no list"));
        assert_eq!(lists.ended(0, &mut put), 0);
        assert!(put.result.is_ok());
    }
}
