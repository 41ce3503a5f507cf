//! Turns I/Os on numbered objects into requests.

use super::object::object_request;
use crate::hot::op::{Op, OpKind};
use objects::Action;
use plan::{ObjectSet, ObjectWork};

/// The request and the bytes it sends or receives; `None` if there is no request for the kind of I/O.
/// Writes the object's path to `path`.
pub(super) fn request(set: &ObjectSet, op: &Op, path: &mut String) -> Option<(Action, u64)> {
    if set.work == ObjectWork::List {
        path.clear();
        path.push_str(&set.below);
        return Some((Action::List { max_keys: set.max_keys, continuation: None }, 0));
    }
    set.path(op.tag, path);
    match op.kind {
        OpKind::Read if set.work == ObjectWork::Stat => Some((Action::Head, 0)),
        _ => object_request(op, set.range.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_for(
        work: ObjectWork,
        range: Option<u64>,
        kind: OpKind,
    ) -> (String, Option<(Action, u64)>) {
        let mut set = ObjectSet::new(work, "/b/p/3/", 9, 4096);
        set.range = range;
        let op = Op { kind, file: 0, offset: 1024, length: 512, tag: 7 };
        let mut path = "left over".to_owned();
        let request = request(&set, &op, &mut path);
        (path, request)
    }

    #[test]
    fn an_io_becomes_a_request_on_its_numbered_object() {
        let name = "/b/p/3/00000007";
        let is = |(path, request): (String, _), action, length| {
            assert_eq!((path.as_str(), request), (name, Some((action, length))));
        };
        let mixed = |kind| request_for(ObjectWork::Mixed, None, kind);
        is(mixed(OpKind::Read), Action::Get { range: None }, 512);
        is(mixed(OpKind::Stat), Action::Head, 0);
        is(mixed(OpKind::Write), Action::Put, 512);
        is(mixed(OpKind::Trim), Action::Delete, 0);
        is(request_for(ObjectWork::Stat, None, OpKind::Read), Action::Head, 0);
        let range = Some((1024, 512));
        is(request_for(ObjectWork::Get, Some(512), OpKind::Read), Action::Get { range }, 512);
        assert_eq!(mixed(OpKind::Fsync).1, None);
    }

    #[test]
    fn a_list_request_names_the_prefix() {
        let list = Action::List { max_keys: 1000, continuation: None };
        let listing = request_for(ObjectWork::List, None, OpKind::Read);
        assert_eq!(listing, ("/b/p/3/".into(), Some((list, 0))));
    }
}
