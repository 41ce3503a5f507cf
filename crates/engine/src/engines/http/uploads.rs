//! Multipart uploads: one I/O puts one object with a request that begins the upload, one per part,
//! and one that completes it. This file decides which request is next; the ring sends and counts.
//!
//! A failed upload is aborted at the server so that no parts remain there. Its I/O has failed whether
//! or not the abort succeeds.

use super::errno::errno;
use objects::{Action, Answer, Failure};

/// A request of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadRequest {
    /// The client's slot: I/O slot `i` has the client slots from `i * width` on.
    pub slot: u32,
    /// What to request.
    pub action: Action,
    /// Bytes of content to send.
    pub length: u64,
}

/// The uploads of a ring, one per slot.
pub struct Uploads {
    /// Maximum number of parts of one upload in flight.
    width: u32,
    part_size: u64,
    uploads: Vec<Upload>,
    /// The last request of each client slot.
    last_requests: Vec<PartRequest>,
}

/// The kinds of requests of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PartRequest {
    #[default]
    Begin,
    /// With the part's number.
    Part(u32),
    End,
    Abort,
}

/// One upload.
#[derive(Clone, Debug, Default)]
struct Upload {
    id: String,
    length: u64,
    /// Entity tags of the parts; empty until they were sent.
    tags: Vec<String>,
    /// The next part to send, from 1.
    next: u32,
    in_flight: u32,
    /// Errno of the first failure.
    failed: Option<i32>,
}

impl Uploads {
    /// For I/O slots `0..depth`.
    pub fn new(depth: u32, width: u32, part_size: u64) -> Uploads {
        let width = width.max(1);
        Uploads {
            width,
            part_size: part_size.max(1),
            uploads: vec![Upload::default(); depth as usize],
            last_requests: vec![PartRequest::Begin; depth as usize * width as usize],
        }
    }

    /// Client slots per slot of the ring.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Begins the upload of an I/O. An empty object has one empty part.
    pub fn begin(&mut self, slot: u32, length: u64) -> UploadRequest {
        let parts = length.div_ceil(self.part_size).max(1);
        let upload = &mut self.uploads[slot as usize];
        *upload = Upload { length, next: 1, in_flight: 1, ..Upload::default() };
        upload.tags.resize(parts as usize, String::new());
        let client_slot = slot * self.width;
        self.last_requests[client_slot as usize] = PartRequest::Begin;
        UploadRequest { slot: client_slot, action: Action::BeginUpload, length: 0 }
    }

    /// A request of client slot `client_slot` ended. Adds the requests to send now to `next`. Returns
    /// the result of the I/O once it has ended, with the errno of the first failure.
    pub fn request_ended(
        &mut self,
        client_slot: u32,
        result: &Result<Answer, Failure>,
        next: &mut Vec<UploadRequest>,
    ) -> Option<Result<(), i32>> {
        let slot = client_slot / self.width;
        let upload = &mut self.uploads[slot as usize];
        upload.in_flight -= 1;
        match (self.last_requests[client_slot as usize], result) {
            (PartRequest::Begin, Err(failure)) => return Some(Err(errno(failure))),
            (PartRequest::Abort, _) => return Some(Err(upload.failed.unwrap_or(libc::EIO))),
            (PartRequest::End, Ok(_)) => return Some(Ok(())),
            (PartRequest::Begin, Ok(answer)) => match objects::answer::upload(&answer.document) {
                Ok(id) => upload.id = id,
                Err(failure) => return Some(Err(errno(&failure))),
            },
            (PartRequest::Part(number), Ok(answer)) => match &answer.tag {
                Some(tag) => upload.tags[number as usize - 1].clone_from(tag),
                // The completing request names each part by its tag.
                None => _ = upload.failed.get_or_insert(libc::EBADMSG),
            },
            (PartRequest::Part(_) | PartRequest::End, Err(failure)) => {
                upload.failed.get_or_insert(errno(failure));
            }
        }
        self.continue_upload(slot, client_slot, next);
        None
    }

    /// Sends the remaining parts, then completes the upload, or aborts it after a failure.
    fn continue_upload(&mut self, slot: u32, client_slot: u32, next: &mut Vec<UploadRequest>) {
        let first = slot * self.width;
        // Before the first part all slots are free, later only the one whose request just ended.
        let begins = self.uploads[slot as usize].next == 1;
        let free = if begins { first..first + self.width } else { client_slot..client_slot + 1 };
        for client_slot in free {
            match self.part(slot, client_slot) {
                Some(request) => next.push(request),
                None => break,
            }
        }
        let upload = &mut self.uploads[slot as usize];
        if upload.in_flight == 0 {
            let id = upload.id.clone();
            let (last, action) = match upload.failed {
                None => {
                    let tags = upload.tags.clone();
                    (PartRequest::End, Action::EndUpload { upload: id, tags })
                }
                Some(_) => (PartRequest::Abort, Action::DropUpload { upload: id }),
            };
            upload.in_flight = 1;
            self.last_requests[first as usize] = last;
            next.push(UploadRequest { slot: first, action, length: 0 });
        }
    }

    /// The next part, if one is left to send.
    fn part(&mut self, slot: u32, client_slot: u32) -> Option<UploadRequest> {
        let upload = &mut self.uploads[slot as usize];
        if upload.failed.is_some() || upload.next as usize > upload.tags.len() {
            return None;
        }
        let number = upload.next;
        upload.next += 1;
        upload.in_flight += 1;
        self.last_requests[client_slot as usize] = PartRequest::Part(number);
        let from = u64::from(number - 1) * self.part_size;
        let length = self.part_size.min(upload.length - from);
        let action = Action::PutPart { upload: upload.id.clone(), number, from };
        Some(UploadRequest { slot: client_slot, action, length })
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

    /// An upload of 25 bytes in slot 1, in parts of 10. The requests for its first two parts are
    /// in flight.
    fn two_parts_in_flight() -> (Uploads, Vec<UploadRequest>) {
        let mut uploads = Uploads::new(2, 2, 10);
        let request = uploads.begin(1, 25);
        assert_eq!((request.slot, request.action), (2, Action::BeginUpload));
        let mut next = Vec::new();
        assert_eq!(uploads.request_ended(2, &begun(), &mut next), None);
        (uploads, next)
    }

    fn part(slot: u32, number: u32, length: u64) -> UploadRequest {
        let from = u64::from(number - 1) * 10;
        UploadRequest { slot, action: Action::PutPart { upload: "u".into(), number, from }, length }
    }

    #[test]
    fn an_object_is_put_as_its_parts_in_order() {
        let (mut uploads, next) = two_parts_in_flight();
        assert_eq!(next, [part(2, 1, 10), part(3, 2, 10)]);
        let mut next = Vec::new();
        assert_eq!(uploads.request_ended(3, &tagged("b"), &mut next), None);
        assert_eq!(next, [part(3, 3, 5)]);
        next.clear();
        assert_eq!(uploads.request_ended(2, &tagged("a"), &mut next), None);
        assert_eq!(next, [], "one part is still in flight");
        assert_eq!(uploads.request_ended(3, &tagged("c"), &mut next), None);
        let tags = ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(next[0].action, Action::EndUpload { upload: "u".into(), tags });
        let done = uploads.request_ended(2, &Ok(Answer::default()), &mut Vec::new());
        assert_eq!(done, Some(Ok(())));
    }

    #[test]
    fn a_failed_upload_is_aborted_when_nothing_is_in_flight() {
        let (mut uploads, _) = two_parts_in_flight();
        let mut next = Vec::new();
        assert_eq!(uploads.request_ended(2, &Err(Failure::Timeout), &mut next), None);
        assert_eq!(next, []);
        assert_eq!(uploads.request_ended(3, &tagged("b"), &mut next), None);
        assert_eq!(next[0].action, Action::DropUpload { upload: "u".into() });
        let done = uploads.request_ended(2, &Ok(Answer::default()), &mut Vec::new());
        assert_eq!(done, Some(Err(libc::ETIMEDOUT)));
        // The slot can be used again.
        assert_eq!(uploads.begin(1, 5).slot, 2);
    }

    #[test]
    fn an_upload_fails_without_its_id_or_the_tag_of_a_part() {
        let (mut uploads, _) = two_parts_in_flight();
        let mut next = Vec::new();
        uploads.request_ended(2, &Ok(Answer::default()), &mut next);
        uploads.request_ended(3, &tagged("b"), &mut next);
        let failed = uploads.request_ended(2, &Ok(Answer::default()), &mut next);
        assert_eq!(failed, Some(Err(libc::EBADMSG)));
        uploads.begin(0, 5);
        let without_id = uploads.request_ended(0, &Ok(Answer::default()), &mut next);
        assert!(matches!(without_id, Some(Err(_))), "{without_id:?}");
    }
}
