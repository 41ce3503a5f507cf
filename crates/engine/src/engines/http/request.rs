//! Turns I/Os into HTTP requests.

use super::numbered;
use super::object::object_request;
use crate::engines::RingSetup;
use crate::hot::op::Op;
use objects::Action;
use plan::ObjectSet;
use std::fmt::Write;

/// Turns I/Os into requests.
pub(super) struct RequestBuilder {
    /// Path of each file, starting with a slash.
    files: Vec<String>,
    /// Whether each file is one object, accessed by ranges. Otherwise each block is an object.
    ranges: bool,
    /// Set if objects have numbers and there are no files.
    numbered: Option<ObjectSet>,
}

impl RequestBuilder {
    pub fn new(setup: &RingSetup<'_>) -> RequestBuilder {
        let path = |path: &String| format!("/{}", path.strip_prefix('/').unwrap_or(path));
        RequestBuilder {
            files: setup.files.iter().map(|file| path(&file.path)).collect(),
            ranges: setup.worker.objects.as_ref().is_some_and(|store| store.ranges),
            numbered: setup.worker.numbered.clone(),
        }
    }

    /// The request for an I/O, and the bytes it sends or receives; `None` if there is no request for the
    /// kind of I/O. Writes the object's path to `path`.
    pub fn request(&self, op: &Op, path: &mut String) -> Option<(Action, u64)> {
        if let Some(set) = &self.numbered {
            return numbered::request(set, op, path);
        }
        path.clear();
        path.push_str(self.files.get(op.file as usize)?);
        if !self.ranges {
            // Writing to a string cannot fail.
            let _ = write!(path, "_{}_{}", op.offset, op.length);
        }
        object_request(op, self.ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::op::OpKind;

    fn request_for(ranges: bool, kind: OpKind) -> (String, Option<(Action, u64)>) {
        let builder =
            RequestBuilder { files: vec!["/bucket/object".into()], ranges, numbered: None };
        let op = Op { kind, file: 0, offset: 8192, length: 4096, tag: 0 };
        let mut path = "left over".to_owned();
        let request = builder.request(&op, &mut path);
        (path, request)
    }

    #[test]
    fn each_block_is_an_object() {
        let name = "/bucket/object_8192_4096";
        let get = Action::Get { range: None };
        assert_eq!(request_for(false, OpKind::Read), (name.into(), Some((get, 4096))));
        assert_eq!(request_for(false, OpKind::Write), (name.into(), Some((Action::Put, 4096))));
        assert_eq!(request_for(false, OpKind::Trim), (name.into(), Some((Action::Delete, 0))));
        assert_eq!(request_for(false, OpKind::Fsync).1, None);
    }

    #[test]
    fn with_ranges_each_file_is_an_object() {
        let get = Action::Get { range: Some((8192, 4096)) };
        assert_eq!(request_for(true, OpKind::Read), ("/bucket/object".into(), Some((get, 4096))));
    }
}
