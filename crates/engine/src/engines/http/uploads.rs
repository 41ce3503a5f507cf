//! Multipart uploads: one I/O is an object, put by a request that begins, one for each part, and one
//! that ends. Here is what comes next; who asks and what is counted is the ring's.
//!
//! An upload that fails is given up at the server, so that no parts stay there; the I/O has failed
//! then, whatever becomes of that.

use super::errno::errno;
use objects::{Action, Answer, Failure};

/// A request of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The client's slot: those of I/O slot `i` are `i * width` and the following.
    pub slot: u32,
    /// What is asked.
    pub action: Action,
    /// Bytes of content to send.
    pub length: u64,
}

/// The uploads of a ring, one for each slot.
pub struct Uploads {
    /// Parts in flight of one upload.
    width: u32,
    part_size: u64,
    all: Vec<Upload>,
    /// What each slot of the client has asked last.
    asked: Vec<Asked>,
}

/// The kinds of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    Begin,
    /// With its number.
    Part(u32),
    End,
    Drop,
}

/// One upload.
#[derive(Clone, Debug, Default)]
struct Upload {
    id: String,
    length: u64,
    /// Entity tags of the parts, empty before they were sent.
    tags: Vec<String>,
    /// The next part to send, from 1.
    next: u32,
    in_flight: u32,
    /// Errno of what failed first.
    failed: Option<i32>,
}

impl Uploads {
    /// For I/O slots `0..depth`.
    pub fn new(depth: u32, width: u32, part_size: u64) -> Uploads {
        let width = width.max(1);
        Uploads {
            width,
            part_size: part_size.max(1),
            all: vec![Upload::default(); depth as usize],
            asked: vec![Asked::Begin; depth as usize * width as usize],
        }
    }

    /// Slots of the client for each slot of the ring.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// An I/O begins. An object of no bytes has one part of none.
    pub fn begin(&mut self, slot: u32, length: u64) -> Ask {
        let parts = length.div_ceil(self.part_size).max(1);
        let upload = &mut self.all[slot as usize];
        *upload = Upload { length, next: 1, in_flight: 1, ..Upload::default() };
        upload.tags.resize(parts as usize, String::new());
        let client_slot = slot * self.width;
        self.asked[client_slot as usize] = Asked::Begin;
        Ask { slot: client_slot, action: Action::BeginUpload, length: 0 }
    }

    /// A request of slot `client_slot` of the client ended. What is to be asked next goes to `asks`.
    /// What became of the I/O, when it is done: the errno of what failed first.
    pub fn ended(
        &mut self,
        client_slot: u32,
        result: &Result<Answer, Failure>,
        asks: &mut Vec<Ask>,
    ) -> Option<Result<(), i32>> {
        let slot = client_slot / self.width;
        let upload = &mut self.all[slot as usize];
        upload.in_flight -= 1;
        match (self.asked[client_slot as usize], result) {
            (Asked::Begin, Err(failure)) => return Some(Err(errno(failure))),
            (Asked::Drop, _) => return Some(Err(upload.failed.unwrap_or(libc::EIO))),
            (Asked::End, Ok(_)) => return Some(Ok(())),
            (Asked::Begin, Ok(answer)) => match objects::answer::upload(&answer.document) {
                Ok(id) => upload.id = id,
                Err(failure) => return Some(Err(errno(&failure))),
            },
            (Asked::Part(number), Ok(answer)) => match &answer.tag {
                Some(tag) => upload.tags[number as usize - 1].clone_from(tag),
                // Without its tag a part cannot be named in the end.
                None => _ = upload.failed.get_or_insert(libc::EBADMSG),
            },
            (Asked::Part(_) | Asked::End, Err(failure)) => {
                upload.failed.get_or_insert(errno(failure));
            }
        }
        self.go_on(slot, client_slot, asks);
        None
    }

    /// Sends parts while there are any, then ends the upload, or gives it up.
    fn go_on(&mut self, slot: u32, client_slot: u32, asks: &mut Vec<Ask>) {
        let first = slot * self.width;
        // Before the first part all of the slots are free; later the one that just ended is.
        let begins = self.all[slot as usize].next == 1;
        let free = if begins { first..first + self.width } else { client_slot..client_slot + 1 };
        for client_slot in free {
            match self.part(slot, client_slot) {
                Some(ask) => asks.push(ask),
                None => break,
            }
        }
        let upload = &mut self.all[slot as usize];
        if upload.in_flight == 0 {
            let id = upload.id.clone();
            let (asked, action) = match upload.failed {
                None => {
                    let tags = upload.tags.clone();
                    (Asked::End, Action::EndUpload { upload: id, tags })
                }
                Some(_) => (Asked::Drop, Action::DropUpload { upload: id }),
            };
            upload.in_flight = 1;
            self.asked[first as usize] = asked;
            asks.push(Ask { slot: first, action, length: 0 });
        }
    }

    /// The next part, where one is left to send.
    fn part(&mut self, slot: u32, client_slot: u32) -> Option<Ask> {
        let upload = &mut self.all[slot as usize];
        if upload.failed.is_some() || upload.next as usize > upload.tags.len() {
            return None;
        }
        let number = upload.next;
        upload.next += 1;
        upload.in_flight += 1;
        self.asked[client_slot as usize] = Asked::Part(number);
        let from = u64::from(number - 1) * self.part_size;
        let length = self.part_size.min(upload.length - from);
        let action = Action::PutPart { upload: upload.id.clone(), number, from };
        Some(Ask { slot: client_slot, action, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: &str = "<InitiateMultipartUploadResult><UploadId>u</UploadId>\
                         </InitiateMultipartUploadResult>";

    fn begun() -> Result<Answer, Failure> {
        Ok(Answer { document: BEGUN.into(), ..Answer::default() })
    }

    fn tagged(tag: &str) -> Result<Answer, Failure> {
        Ok(Answer { tag: Some(tag.into()), ..Answer::default() })
    }

    /// An upload of 25 bytes in parts of 10, two in flight, in slot 1; its first two parts are asked
    /// for.
    fn under_way() -> (Uploads, Vec<Ask>) {
        let mut uploads = Uploads::new(2, 2, 10);
        let ask = uploads.begin(1, 25);
        assert_eq!((ask.slot, ask.action), (2, Action::BeginUpload));
        let mut asks = Vec::new();
        assert_eq!(uploads.ended(2, &begun(), &mut asks), None);
        (uploads, asks)
    }

    fn part(slot: u32, number: u32, length: u64) -> Ask {
        let from = u64::from(number - 1) * 10;
        Ask { slot, action: Action::PutPart { upload: "u".into(), number, from }, length }
    }

    #[test]
    fn an_object_is_its_parts_in_their_order() {
        let (mut uploads, asks) = under_way();
        assert_eq!(asks, [part(2, 1, 10), part(3, 2, 10)]);
        let mut asks = Vec::new();
        assert_eq!(uploads.ended(3, &tagged("b"), &mut asks), None);
        assert_eq!(asks, [part(3, 3, 5)]);
        asks.clear();
        assert_eq!(uploads.ended(2, &tagged("a"), &mut asks), None);
        assert_eq!(asks, [], "one part is still in flight");
        assert_eq!(uploads.ended(3, &tagged("c"), &mut asks), None);
        let tags = ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(asks[0].action, Action::EndUpload { upload: "u".into(), tags });
        let done = uploads.ended(2, &Ok(Answer::default()), &mut Vec::new());
        assert_eq!(done, Some(Ok(())));
    }

    #[test]
    fn what_fails_is_given_up_once_nothing_is_in_flight() {
        let (mut uploads, _) = under_way();
        let mut asks = Vec::new();
        assert_eq!(uploads.ended(2, &Err(Failure::Timeout), &mut asks), None);
        assert_eq!(asks, []);
        assert_eq!(uploads.ended(3, &tagged("b"), &mut asks), None);
        assert_eq!(asks[0].action, Action::DropUpload { upload: "u".into() });
        let done = uploads.ended(2, &Ok(Answer::default()), &mut Vec::new());
        assert_eq!(done, Some(Err(libc::ETIMEDOUT)));
        // The slot serves again.
        assert_eq!(uploads.begin(1, 5).slot, 2);
    }

    #[test]
    fn a_part_without_a_tag_and_an_upload_without_a_name_are_failures() {
        let (mut uploads, _) = under_way();
        let mut asks = Vec::new();
        uploads.ended(2, &Ok(Answer::default()), &mut asks);
        uploads.ended(3, &tagged("b"), &mut asks);
        let over = uploads.ended(2, &Ok(Answer::default()), &mut asks);
        assert_eq!(over, Some(Err(libc::EBADMSG)));
        uploads.begin(0, 5);
        let nameless = uploads.ended(0, &Ok(Answer::default()), &mut asks);
        assert!(matches!(nameless, Some(Err(_))), "{nameless:?}");
    }
}
