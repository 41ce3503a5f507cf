//! From what the programs send to the entries of a trace: files and threads get their numbers, names
//! their files, and what is not wanted is left out.

use crate::programs::Disk;
use crate::records::{Identity, Record, Seen};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use trace::ftr::{Entry, Event, File, FileKind, Level, Operation, Thread};

/// Name of the file of sync(2).
const EVERYTHING: &str = "(all filesystems)";

// Types of files, as in stat(2).
const TYPE: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const BLOCK: u32 = 0o060_000;
const REGULAR: u32 = 0o100_000;

/// Where a filesystem is mounted.
#[derive(Clone, Debug)]
pub struct MountPoint {
    /// Major and minor number of its device.
    pub number: (u32, u32),
    /// The directory.
    pub path: PathBuf,
}

/// How files are named and chosen.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    /// Only files at these paths and below; empty: all files.
    pub below: Vec<PathBuf>,
    /// The block device whose I/O is wanted too.
    pub device: Option<(u32, u32)>,
    /// Where the filesystems are.
    pub mounts: Vec<MountPoint>,
    /// Hashes take the place of names. The key is kept nowhere, so nobody can try names.
    pub anonymous: Option<[u8; 32]>,
}

/// A thread as it is known now.
struct Known {
    number: u32,
    process: u32,
    name: String,
}

/// Translates records.
pub(crate) struct Translator {
    naming: Naming,
    disks: Vec<Disk>,
    origin: u64,
    files: HashMap<Identity, Option<u32>>,
    /// The file of each path.
    paths: HashMap<String, u32>,
    /// Paths by number, as they are on this machine.
    places: Vec<String>,
    threads: HashMap<u32, Known>,
    thread_count: u32,
    /// Names that the next event of a thread is about.
    named: HashMap<u32, [Option<String>; 2]>,
}

impl Translator {
    /// `origin`: the time on CLOCK_MONOTONIC at which the trace begins.
    pub fn new(naming: Naming, disks: Vec<Disk>, origin: u64) -> Translator {
        Translator {
            naming,
            disks,
            origin,
            files: HashMap::new(),
            paths: HashMap::new(),
            places: Vec::new(),
            threads: HashMap::new(),
            thread_count: 0,
            named: HashMap::new(),
        }
    }

    /// The path of a file on this machine.
    pub fn place(&self, file: u32) -> Option<&str> {
        self.places.get(file as usize).map(String::as_str)
    }

    /// Translates a record, into none or several entries.
    pub fn record(&mut self, record: Record, out: &mut Vec<Entry>) {
        match record {
            Record::Event(seen) => self.event(&seen, out),
            Record::File { file, mode, size, path, within } => {
                if !self.files.contains_key(&file) {
                    let path = if within { self.mounted(file, &path) } else { path };
                    self.file(file, mode, size, path, out);
                }
            }
            Record::Thread { thread, process, name } => {
                let known = self.threads.get(&thread);
                if known.is_none_or(|known| known.process != process || known.name != name) {
                    self.thread(thread, process, name, out);
                }
            }
            Record::Name { thread, is_new, path } => {
                self.named.entry(thread).or_default()[usize::from(is_new)] = Some(path);
            }
        }
    }

    /// A path that begins at the root of its filesystem.
    fn mounted(&self, file: Identity, path: &str) -> String {
        let mut mounts = self.naming.mounts.iter();
        let point = mounts.rfind(|mount| mount.number == (file.major, file.minor));
        match point {
            Some(point) if point.path != Path::new("/") => {
                format!("{}{path}", point.path.display())
            }
            _ => path.to_owned(),
        }
    }

    /// A file that was not known. `None` if it is not wanted.
    fn file(
        &mut self,
        file: Identity,
        mode: u32,
        size: u64,
        path: String,
        out: &mut Vec<Entry>,
    ) -> Option<u32> {
        let kind = match mode & TYPE {
            REGULAR => FileKind::Regular,
            DIRECTORY => FileKind::Directory,
            BLOCK => FileKind::Block,
            _ => FileKind::Unknown,
        };
        let device = (file.major, file.minor);
        let disk = self.disks.iter().find(|disk| kind == FileKind::Block && disk.number == device);
        let size = disk.map_or(size, |disk| disk.size);
        let is_wanted = self.naming.below.is_empty()
            || self.naming.below.iter().any(|below| Path::new(&path).starts_with(below))
            || (kind == FileKind::Block && self.naming.device == Some(device))
            || kind == FileKind::Unknown;
        let number = is_wanted.then_some(self.places.len() as u32);
        self.files.insert(file, number);
        if let Some(number) = number {
            out.push(Entry::File(File {
                number,
                name: self.shown(&path),
                kind,
                size,
                device: Some(device).filter(|device| *device != (0, 0)),
            }));
            self.paths.insert(path.clone(), number);
            self.places.push(path);
        }
        number
    }

    fn thread(&mut self, thread: u32, process: u32, name: String, out: &mut Vec<Entry>) -> u32 {
        let number = self.thread_count;
        self.thread_count += 1;
        let shown = self.shown(&name);
        out.push(Entry::Thread(Thread { number, process, thread, name: shown }));
        self.threads.insert(thread, Known { number, process, name });
        number
    }

    /// A name, or its hash.
    fn shown(&self, name: &str) -> String {
        let Some(key) = &self.naming.anonymous else { return name.to_owned() };
        let hash = Sha256::new().chain_update(key).chain_update(name).finalize();
        hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    fn event(&mut self, seen: &Seen, out: &mut Vec<Entry>) {
        let Some(file) = self.file_of(seen, out) else { return };
        let thread = match self.threads.get(&seen.thread) {
            Some(known) => known.number,
            // Its name was lost.
            None => self.thread(seen.thread, seen.process, "?".into(), out),
        };
        out.push(Entry::Event(Event {
            at_ns: seen.begun.saturating_sub(self.origin),
            duration_ns: seen.ended.map(|ended| ended.saturating_sub(seen.begun)),
            level: if seen.at_device { Level::Device } else { Level::Application },
            operation: seen.operation,
            flags: seen.flags,
            thread,
            file,
            offset: seen.offset,
            length: seen.length,
            result: seen.result,
            cpu_before_ns: seen.cpu,
        }));
    }

    fn file_of(&mut self, seen: &Seen, out: &mut Vec<Entry>) -> Option<u32> {
        let file = seen.file;
        if let Some([old, new]) = self.named.remove(&seen.thread)
            && (file.inode, file.major, file.minor) == (0, 0, 0)
            && let Some(old) = old
        {
            return self.named_file(seen, old, new, out);
        }
        if let Some(known) = self.files.get(&file) {
            return *known;
        }
        let (mode, path) = match file {
            Identity { inode: 0, major: 0, minor: 0, .. } => (0, EVERYTHING.to_owned()),
            Identity { inode: 0, major, minor, .. } => {
                let disk = self.disks.iter().find(|disk| disk.number == (major, minor));
                (BLOCK, disk.map_or_else(|| format!("{major}:{minor}"), |disk| disk.path.clone()))
            }
            // Its path was lost.
            Identity { inode, major, minor, .. } => {
                (0, format!("inode {inode} of {major}:{minor}"))
            }
        };
        // The programs have left out the requests of other disks.
        let wanted = self.naming.device;
        if seen.at_device {
            self.naming.device = Some((file.major, file.minor));
        }
        let number = self.file(file, mode, 0, path, out);
        self.naming.device = wanted;
        number
    }

    /// The file of a call that names it by its path. A path that leads to no known file is one of its own
    /// if the call succeeded.
    fn named_file(
        &mut self,
        seen: &Seen,
        old: String,
        new: Option<String>,
        out: &mut Vec<Entry>,
    ) -> Option<u32> {
        let has_failed = seen.result.is_some_and(|result| result < 0);
        let below = &self.naming.below;
        let is_wanted = below.is_empty() || below.iter().any(|b| Path::new(&old).starts_with(b));
        let number = match self.paths.get(&old) {
            Some(number) => *number,
            None if has_failed || !is_wanted => return None,
            None => {
                let number = self.places.len() as u32;
                out.push(Entry::File(File {
                    number,
                    name: self.shown(&old),
                    kind: FileKind::Unknown,
                    size: 0,
                    device: None,
                }));
                self.places.push(old.clone());
                number
            }
        };
        if !has_failed && matches!(seen.operation, Operation::Unlink | Operation::Rename) {
            self.paths.remove(&old);
            if let Some(new) = new {
                if let Some(place) = self.places.get_mut(number as usize) {
                    place.clone_from(&new);
                }
                self.paths.insert(new, number);
            }
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ftr::Flags;

    const FILE: Identity = Identity { inode: 12, major: 8, minor: 1, generation: 5 };
    const NAMED: Identity = Identity { inode: 0, major: 0, minor: 0, generation: 0 };

    fn seen(operation: Operation, file: Identity, result: i64) -> Record {
        Record::Event(Seen {
            operation,
            flags: Flags::default(),
            at_device: false,
            thread: 7,
            process: 7,
            file,
            begun: 1500,
            ended: Some(1700),
            offset: 0,
            length: 9,
            result: Some(result),
            cpu: None,
        })
    }

    fn file(path: &str, within: bool) -> Record {
        Record::File { file: FILE, mode: REGULAR | 0o644, size: 3, path: path.into(), within }
    }

    fn all(naming: Naming, records: Vec<Record>) -> Vec<Entry> {
        let mut translator = Translator::new(naming, Vec::new(), 1000);
        let mut out = Vec::new();
        records.into_iter().for_each(|record| translator.record(record, &mut out));
        out
    }

    fn name(path: &str, is_new: bool) -> Record {
        Record::Name { thread: 7, is_new, path: path.into() }
    }

    #[test]
    fn a_file_keeps_its_number_when_it_is_renamed_and_removed() {
        let entries = all(
            Naming::default(),
            vec![
                Record::Thread { thread: 7, process: 7, name: "git".into() },
                file("/a/new.lock", false),
                seen(Operation::Write, FILE, 9),
                name("/a/new.lock", false),
                name("/a/new", true),
                seen(Operation::Rename, NAMED, 0),
                name("/a/new", false),
                seen(Operation::Unlink, NAMED, 0),
                name("/a/new", false),
                seen(Operation::Unlink, NAMED, -2),
                name("/a/never seen", false),
                seen(Operation::Unlink, NAMED, 0),
            ],
        );
        let files: Vec<(Operation, u32)> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Event(event) => Some((event.operation, event.file)),
                _ => None,
            })
            .collect();
        let expected = [
            (Operation::Write, 0),
            (Operation::Rename, 0),
            (Operation::Unlink, 0),
            (Operation::Unlink, 1),
        ];
        assert_eq!(files, expected);
    }

    #[test]
    fn only_files_below_a_path_are_wanted() {
        let naming = |below: &str| Naming {
            below: vec![below.into()],
            mounts: vec![MountPoint { number: (8, 1), path: "/data".into() }],
            ..Naming::default()
        };
        let records = || vec![file("/db/x", true), seen(Operation::Write, FILE, 9)];
        assert_eq!(all(naming("/data/db"), records()).len(), 3);
        assert_eq!(all(naming("/data/d"), records()), []);
    }

    #[test]
    fn hashes_are_the_same_for_the_same_name_only() {
        let naming = |key: u8| Naming { anonymous: Some([key; 32]), ..Naming::default() };
        let shown = |key, name: &str| Translator::new(naming(key), Vec::new(), 0).shown(name);
        assert_eq!(shown(1, "/a"), shown(1, "/a"));
        assert_ne!(shown(1, "/a"), shown(1, "/b"));
        assert_ne!(shown(1, "/a"), shown(2, "/a"));
        assert!(!shown(1, "/secret").contains("secret"));
    }
}
