//! What the programs send: the layout of their records, as in `bpf/capture.bpf.c`.

use trace::ftr::{Flags, Operation};

/// Longest path that is sent.
const PATH: usize = 1792;

// Flags beyond those of a trace.
const AT_DEVICE: u32 = 1 << 16;
const NO_CPU: u32 = 1 << 17;
const NO_END: u32 = 1 << 18;
const NO_RESULT: u32 = 1 << 19;

/// What a file is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub inode: u64,
    pub major: u32,
    pub minor: u32,
    pub generation: u32,
}

/// A call or request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub operation: Operation,
    pub flags: Flags,
    pub at_device: bool,
    pub thread: u32,
    pub process: u32,
    pub file: Identity,
    pub begun: u64,
    pub ended: Option<u64>,
    pub offset: u64,
    pub length: u64,
    pub result: Option<i64>,
    pub cpu: Option<u64>,
}

/// What was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Event(Seen),
    /// A file that is seen for the first time. `within`: its path begins at the root of its filesystem.
    File {
        file: Identity,
        mode: u32,
        size: u64,
        path: String,
        within: bool,
    },
    /// A thread that is seen for the first time, or under a new name.
    Thread {
        thread: u32,
        process: u32,
        name: String,
    },
    /// A name that the next event of the thread is about; `is_new` for the second of a rename.
    Name {
        thread: u32,
        is_new: bool,
        path: String,
    },
}

/// Reads fields at their places; what is not there is 0.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn word(&self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }

    fn long(&self, at: usize) -> u64 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    }

    fn identity(&self, at: usize) -> Identity {
        let device = self.word(at + 8);
        Identity {
            inode: self.long(at),
            major: device >> 20,
            minor: device & 0xf_ffff,
            generation: self.word(at + 12),
        }
    }

    /// A text that ends with a zero byte or after `most` bytes.
    fn text(&self, at: usize, most: usize) -> String {
        let bytes = self.0.get(at..).unwrap_or_default();
        let bytes = bytes[..bytes.len().min(most)].split(|byte| *byte == 0).next();
        String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
    }

    /// A path, whose names are there from the last to the first.
    fn path(&self, at: usize, length: u32) -> String {
        let bytes = self.0.get(at..).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(length as usize).min(PATH)];
        let names: Vec<&[u8]> = bytes.split(|byte| *byte == 0).filter(|n| !n.is_empty()).collect();
        let mut path = String::new();
        for name in names.into_iter().rev() {
            path.push('/');
            path.push_str(&String::from_utf8_lossy(name));
        }
        match path.is_empty() {
            true => "/".to_owned(),
            false => path,
        }
    }
}

impl Record {
    /// The record in these bytes; `None` if it is of no known kind.
    pub fn parse(bytes: &[u8]) -> Option<Record> {
        let fields = Fields(bytes);
        Some(match fields.word(0) {
            1 => Record::Event(event(&fields)?),
            2 => Record::File {
                file: fields.identity(8),
                mode: fields.word(4),
                size: fields.long(24),
                path: fields.path(40, fields.word(32)),
                within: fields.word(36) != 0,
            },
            3 => Record::Thread {
                thread: fields.word(4),
                process: fields.word(8),
                name: fields.text(12, 16),
            },
            4 => {
                let name = fields.text(16 + PATH, 1024);
                let path = match name.starts_with('/') {
                    true => name,
                    false => format!("{}/{name}", fields.path(16, fields.word(12))),
                };
                let path = without_dots(&path);
                Record::Name { thread: fields.word(4), is_new: fields.word(8) == 1, path }
            }
            _ => return None,
        })
    }
}

fn event(fields: &Fields<'_>) -> Option<Seen> {
    let flags = fields.word(8);
    let unless = |flag: u32, value: u64| Some(value).filter(|_| flags & flag == 0);
    Some(Seen {
        operation: *Operation::ALL.get(fields.word(4) as usize)?,
        flags: Flags(flags as u16),
        at_device: flags & AT_DEVICE != 0,
        thread: fields.word(12),
        process: fields.word(16),
        file: fields.identity(24),
        begun: fields.long(40),
        ended: unless(NO_END, fields.long(48)),
        offset: fields.long(56),
        length: fields.long(64),
        result: unless(NO_RESULT, fields.long(72)).map(|result| result as i64),
        cpu: unless(NO_CPU, fields.long(80)),
    })
}

/// An absolute path without `.`, `..` and doubled slashes.
fn without_dots(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_field_by_field() {
        let mut bytes = vec![0; 88];
        let mut put =
            |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        put(0, 1 | 1 << 32);
        put(8, u64::from(NO_CPU | 1) | 77 << 32);
        put(16, 70);
        put(24, 4711);
        put(32, 8 << 20 | 3 | 9 << 32);
        [(40, 100), (48, 150), (56, 4096), (64, 512), (72, -5_i64 as u64), (80, 9)]
            .iter()
            .for_each(|(at, value)| put(*at, *value));
        let Some(Record::Event(seen)) = Record::parse(&bytes) else { panic!("no event") };
        assert_eq!(seen.operation, Operation::Write);
        assert_eq!((seen.thread, seen.process, seen.flags), (77, 70, Flags::DIRECT));
        let file = Identity { inode: 4711, major: 8, minor: 3, generation: 9 };
        assert_eq!((seen.file, seen.begun, seen.ended), (file, 100, Some(150)));
        assert_eq!((seen.offset, seen.length, seen.result), (4096, 512, Some(-5)));
        assert_eq!((seen.cpu, seen.at_device), (None, false));
        assert_eq!(Record::parse(&[9; 50]), None);
        assert_eq!(Record::parse(&[]), None);
    }

    #[test]
    fn paths_are_put_together() {
        let mut bytes = vec![0; 40];
        bytes[0] = 2;
        bytes.extend(b"wal.log\0db\0data\0");
        bytes[32] = 16;
        let Some(Record::File { path, .. }) = Record::parse(&bytes) else { panic!("no file") };
        assert_eq!(path, "/data/db/wal.log");
        assert_eq!(without_dots("/a/./b//../c"), "/a/c");
        assert_eq!(without_dots("/.."), "/");
    }
}
