//! What each call in a text of strace does to files and descriptors.

use super::line::{descriptor, fields, number, unquoted};
use super::{Doing, Place, Strace};
use crate::ftr::event::{Flags, Operation};
use std::io::BufRead;

impl<R: BufRead> Strace<R> {
    /// Carries out a call.
    pub(super) fn act(&mut self, doing: &Doing<'_>) {
        let name = doing.call.name;
        match name {
            "read" | "readv" => self.at_position(doing, Operation::Read),
            "write" | "writev" => self.at_position(doing, Operation::Write),
            "pread64" | "pread" | "preadv" | "preadv2" => self.at_offset(doing, Operation::Read),
            "pwrite64" | "pwrite" | "pwritev" | "pwritev2" => {
                self.at_offset(doing, Operation::Write)
            }
            "fsync" => self.whole(doing, Operation::Fsync),
            "fdatasync" => self.whole(doing, Operation::Fdatasync),
            "syncfs" => self.whole(doing, Operation::SyncAll),
            "sync" => self.everything(doing),
            "sync_file_range" => self.range(doing, Operation::SyncRange, 1),
            "fallocate" => self.allocate(doing),
            "ftruncate" | "ftruncate64" => self.truncate(doing),
            "truncate" | "truncate64" | "unlink" | "unlinkat" | "rename" | "renameat"
            | "renameat2" => {
                self.by_name(doing);
            }
            "open" | "openat" | "openat2" | "creat" => self.open(doing),
            "close" => self.close(doing),
            "dup" | "dup2" | "dup3" | "fcntl" | "fcntl64" => self.copy(doing),
            "lseek" | "_llseek" => self.seek(doing),
            "fstat" | "fstat64" | "newfstatat" => self.stat(doing),
            "clone" | "clone3" | "fork" | "vfork" => self.fork(doing),
            "execve" | "execveat" => self.exec(doing),
            "pipe" | "pipe2" | "socketpair" => self.pair(doing),
            "socket" | "accept" | "accept4" | "eventfd2" | "epoll_create1" | "timerfd_create" => {
                if let Some(Ok(new)) = doing.call.result.map(i32::try_from) {
                    self.tables.open(doing.thread, new, None, 0);
                }
            }
            "io_submit" => self.submit(doing),
            "io_uring_enter" => self.rings += 1,
            _ => {}
        }
    }

    fn argument<'a>(doing: &Doing<'a>, at: usize) -> &'a str {
        doing.call.arguments.get(at).copied().unwrap_or_default()
    }

    fn number(doing: &Doing<'_>, at: usize) -> u64 {
        number(Self::argument(doing, at)).unwrap_or(0)
    }

    /// The file of a descriptor. What is left out is counted.
    fn place(&mut self, thread: u32, text: &str, is_surely_a_file: bool) -> Option<Place> {
        let (descriptor, path) = descriptor(text);
        let descriptor = descriptor?;
        let by_path = path.map(|path| self.file(path));
        let known = self.tables.get(thread, descriptor).copied();
        let (file, flags) = match (by_path, known) {
            (Some(file), Some(open)) if open.file == file => (file, open.flags),
            (Some(file), _) => {
                self.tables.open(thread, descriptor, file, 0);
                (file, 0)
            }
            (None, Some(open)) => (open.file, open.flags),
            (None, None) if is_surely_a_file => {
                let process = self.threads.get(&thread).map_or(thread, |known| known.process);
                let file = self.file(&format!("(descriptor {descriptor} of process {process})"));
                self.tables.open(thread, descriptor, file, 0);
                (file, 0)
            }
            (None, None) => (None, 0),
        };
        let Some(file) = file else {
            self.left_out += 1;
            return None;
        };
        Some(Place { file, flags: Flags(flags), ..Place::default() })
    }

    /// The length of a transfer: the argument, or the sum of a vector.
    fn length(doing: &Doing<'_>, is_vector: bool) -> u64 {
        let text = Self::argument(doing, if is_vector { 1 } else { 2 });
        if !is_vector {
            return number(text).unwrap_or(0);
        }
        let sum = fields(text, "iov_len").filter_map(number).fold(0, u64::saturating_add);
        match text.contains("...") {
            // Not all of it is shown.
            true => doing.call.result.and_then(|moved| u64::try_from(moved).ok()).unwrap_or(sum),
            false => sum,
        }
    }

    fn at_position(&mut self, doing: &Doing<'_>, operation: Operation) {
        let text = Self::argument(doing, 0);
        let Some(mut place) = self.place(doing.thread, text, false) else { return };
        let moved = doing.call.result.and_then(|moved| u64::try_from(moved).ok()).unwrap_or(0);
        let end = self.names.get(place.file as usize).map_or(0, |file| file.end);
        let is_append = operation == Operation::Write && place.flags.has(Flags::APPEND);
        if let Some(open) = descriptor(text).0.and_then(|fd| self.tables.get(doing.thread, fd)) {
            place.offset = if is_append { end } else { open.position };
            open.position = place.offset.saturating_add(moved);
        }
        place.length = Self::length(doing, doing.call.name.ends_with('v'));
        place.flags = place.flags.with(Flags::POSITION);
        self.transfer(doing, operation, place);
    }

    fn at_offset(&mut self, doing: &Doing<'_>, operation: Operation) {
        let Some(mut place) = self.place(doing.thread, Self::argument(doing, 0), true) else {
            return;
        };
        let is_vector = doing.call.name.contains('v');
        place.length = Self::length(doing, is_vector);
        place.offset = Self::number(doing, 3);
        if place.offset == u64::MAX && is_vector {
            return self.at_position(doing, operation);
        }
        let how = Self::argument(doing, 4);
        if how.contains("RWF_SYNC") {
            place.flags = place.flags.with(Flags::SYNC);
        } else if how.contains("RWF_DSYNC") {
            place.flags = place.flags.with(Flags::DSYNC);
        }
        self.transfer(doing, operation, place);
    }

    fn transfer(&mut self, doing: &Doing<'_>, operation: Operation, place: Place) {
        if operation == Operation::Write
            && let Some(file) = self.names.get_mut(place.file as usize)
        {
            file.end = file.end.max(place.offset.saturating_add(place.length));
        }
        self.event(doing, operation, place);
    }

    fn whole(&mut self, doing: &Doing<'_>, operation: Operation) {
        if let Some(place) = self.place(doing.thread, Self::argument(doing, 0), true) {
            self.event(doing, operation, place);
        }
    }

    fn everything(&mut self, doing: &Doing<'_>) {
        if let Some(file) = self.file("(all filesystems)") {
            self.event(doing, Operation::SyncAll, Place { file, ..Place::default() });
        }
    }

    /// A call with offset and length from this argument on.
    fn range(&mut self, doing: &Doing<'_>, operation: Operation, first: usize) {
        if let Some(mut place) = self.place(doing.thread, Self::argument(doing, 0), true) {
            place.offset = Self::number(doing, first);
            place.length = Self::number(doing, first + 1);
            self.event(doing, operation, place);
        }
    }

    fn allocate(&mut self, doing: &Doing<'_>) {
        let mode = Self::argument(doing, 1);
        let has = |word: &str| mode.contains(word);
        let operation = match () {
            () if has("PUNCH_HOLE") || has("ZERO_RANGE") => Operation::Discard,
            () if has("COLLAPSE_RANGE") || has("INSERT_RANGE") => Operation::Truncate,
            () => Operation::Allocate,
        };
        if operation == Operation::Allocate && !has("KEEP_SIZE") && doing.call.result == Some(0) {
            let open = descriptor(Self::argument(doing, 0)).0;
            let open = open.and_then(|fd| self.tables.get(doing.thread, fd));
            let end = Self::number(doing, 2).saturating_add(Self::number(doing, 3));
            if let Some(file) = open.and_then(|open| open.file) {
                let file = &mut self.names[file as usize];
                file.end = file.end.max(end);
            }
        }
        self.range(doing, operation, 2);
    }

    fn truncate(&mut self, doing: &Doing<'_>) {
        if let Some(mut place) = self.place(doing.thread, Self::argument(doing, 0), true) {
            place.offset = Self::number(doing, 1);
            if let Some(file) = self.names.get_mut(place.file as usize) {
                file.end = place.offset;
            }
            self.event(doing, Operation::Truncate, place);
        }
    }

    /// The path in arguments from this one on: a directory and a name, or a name alone.
    fn path(doing: &Doing<'_>, first: usize) -> Option<(String, usize)> {
        let text = Self::argument(doing, first);
        if let Some(name) = unquoted(text) {
            return Some((name, first + 1));
        }
        let name = unquoted(Self::argument(doing, first + 1))?;
        let directory = descriptor(text).1.filter(|_| !name.starts_with('/'));
        let path =
            directory.map_or_else(|| name.clone(), |directory| format!("{directory}/{name}"));
        Some((path, first + 2))
    }

    /// truncate(2), unlink(2), rename(2) and their like.
    fn by_name(&mut self, doing: &Doing<'_>) {
        let Some((old, next)) = Self::path(doing, 0) else { return };
        if Self::argument(doing, next).contains("AT_REMOVEDIR") {
            return;
        }
        let has_failed = doing.call.result.is_some_and(|result| result < 0);
        if has_failed && !self.files.contains_key(&old) {
            return;
        }
        let Some(file) = self.file(&old) else { return };
        let mut place = Place { file, ..Place::default() };
        let operation = match doing.call.name {
            "truncate" | "truncate64" => {
                place.offset = Self::number(doing, next);
                Operation::Truncate
            }
            "unlink" | "unlinkat" => Operation::Unlink,
            _ => Operation::Rename,
        };
        if !has_failed && operation != Operation::Truncate {
            self.files.remove(&old);
            if operation == Operation::Rename
                && let Some((new, _)) = Self::path(doing, next)
            {
                self.files.insert(new, file);
            }
        }
        self.event(doing, operation, place);
    }

    fn open(&mut self, doing: &Doing<'_>) {
        let Some(Ok(new)) = doing.call.result.map(i32::try_from) else { return };
        let Some((path, next)) = Self::path(doing, 0).filter(|_| new >= 0) else { return };
        let shown = descriptor(doing.call.answer).1.map(str::to_owned);
        let file = self.file(&shown.unwrap_or(path));
        let how = Self::argument(doing, next);
        let has = |word: &str| how.split(['|', ',', '=', '}']).any(|flag| flag.trim() == word);
        let flags = [
            ("O_DIRECT", Flags::DIRECT),
            ("O_DSYNC", Flags::DSYNC),
            ("O_SYNC", Flags::SYNC),
            ("O_APPEND", Flags::APPEND),
        ];
        let set = flags.iter().filter(|(word, _)| has(word));
        let flags = set.fold(Flags::default(), |all, (_, flag)| all.with(*flag));
        self.tables.open(doing.thread, new, file, flags.0);
        let Some(file) = file else {
            self.left_out += 1;
            return;
        };
        if has("O_TRUNC") || doing.call.name == "creat" {
            self.names[file as usize].end = 0;
        }
        let made = if has("O_EXCL") { flags.with(Flags::CREATED) } else { flags };
        self.event(doing, Operation::Open, Place { file, flags: made, ..Place::default() });
    }

    fn close(&mut self, doing: &Doing<'_>) {
        let text = Self::argument(doing, 0);
        if let Some(place) = self.place(doing.thread, text, false) {
            self.event(doing, Operation::Close, Place { flags: Flags::default(), ..place });
        }
        if let Some(descriptor) = descriptor(text).0 {
            self.tables.close(doing.thread, descriptor);
        }
    }

    fn copy(&mut self, doing: &Doing<'_>) {
        let is_fcntl = doing.call.name.starts_with("fcntl");
        if is_fcntl && !Self::argument(doing, 1).starts_with("F_DUPFD") {
            return;
        }
        let from = descriptor(Self::argument(doing, 0)).0;
        if let (Some(from), Some(Ok(to))) = (from, doing.call.result.map(i32::try_from))
            && to >= 0
        {
            self.tables.copy(doing.thread, from, to);
        }
    }

    fn seek(&mut self, doing: &Doing<'_>) {
        let Some(Ok(position)) = doing.call.result.map(u64::try_from) else { return };
        let Some(fd) = descriptor(Self::argument(doing, 0)).0 else { return };
        if doing.call.name == "lseek"
            && let Some(open) = self.tables.get(doing.thread, fd)
        {
            open.position = position;
        }
    }

    /// The size of a file, for what is appended.
    fn stat(&mut self, doing: &Doing<'_>) {
        let text = doing.call.arguments.iter().find(|text| text.contains("st_size="));
        let size = text.and_then(|text| fields(text, "st_size").find_map(number));
        let open = descriptor(Self::argument(doing, 0)).0;
        let open = open.and_then(|fd| self.tables.get(doing.thread, fd)).and_then(|open| open.file);
        if let (Some(size), Some(file)) = (size, open) {
            self.names[file as usize].end = size;
        }
    }

    fn fork(&mut self, doing: &Doing<'_>) {
        let Some(Ok(child)) = doing.call.result.map(u32::try_from) else { return };
        if child == 0 {
            return;
        }
        let has = |word: &str| doing.call.arguments.iter().any(|text| text.contains(word));
        self.thread(doing.thread);
        let process = self.threads.get(&doing.thread).map_or(child, |known| known.process);
        // Its first calls may stand above the line on which the call that made it ends.
        let is_early = self.threads.contains_key(&child);
        if !is_early {
            self.tables.fork(doing.thread, child, has("CLONE_FILES"));
        }
        if has("CLONE_THREAD") && !is_early {
            self.new_thread(child, process, String::new());
        }
    }

    /// The thread gets the name of its program.
    fn exec(&mut self, doing: &Doing<'_>) {
        let first = usize::from(doing.call.name == "execveat");
        let Some(path) = unquoted(Self::argument(doing, first)) else { return };
        if doing.call.result != Some(0) {
            return;
        }
        let name: String = path.rsplit('/').next().unwrap_or_default().chars().take(15).collect();
        self.threads.remove(&doing.thread);
        self.new_thread(doing.thread, doing.thread, name);
    }

    fn pair(&mut self, doing: &Doing<'_>) {
        let text = doing.call.arguments.iter().rev().find(|text| text.starts_with('['));
        let inner = text.map_or("", |text| text.trim_matches(['[', ']']));
        for new in inner.split(", ").filter_map(|text| descriptor(text).0) {
            self.tables.open(doing.thread, new, None, 0);
        }
    }

    fn submit(&mut self, doing: &Doing<'_>) {
        let text = Self::argument(doing, 2);
        for one in text.split("aio_lio_opcode=").skip(1) {
            let operation = match one.split(',').next().unwrap_or_default() {
                "IOCB_CMD_PREAD" | "IOCB_CMD_PREADV" => Operation::Read,
                "IOCB_CMD_PWRITE" | "IOCB_CMD_PWRITEV" => Operation::Write,
                "IOCB_CMD_FSYNC" => Operation::Fsync,
                "IOCB_CMD_FDSYNC" => Operation::Fdatasync,
                _ => continue,
            };
            let field = |name: &'static str| fields(one, name).next();
            let Some(file) = field("aio_fildes") else { continue };
            let Some(mut place) = self.place(doing.thread, file, true) else { continue };
            let vector = fields(one, "iov_len").filter_map(number).fold(0, u64::saturating_add);
            place.length = field("aio_nbytes").and_then(number).unwrap_or(vector);
            place.offset = field("aio_offset").and_then(number).unwrap_or(0);
            place.flags = place.flags.with(Flags::ASYNC);
            self.transfer(doing, operation, place);
        }
    }
}
