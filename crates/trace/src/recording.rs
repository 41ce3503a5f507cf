//! The summary of a whole log: its files, sizes and, unless it is read in chunks, its events.

use crate::adjust::Adjust;
use crate::copying::{CopyEnd, Copying, Opened};
use crate::drawn::Drawn;
use crate::error::TraceError;
use crate::event::{Event, Kind, Name};
use crate::reader::{Format, Reader};
use record::{Direction, PerDirection};
use std::collections::HashMap;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;

/// A log that was read completely without an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Its format.
    pub format: Format,
    /// Its files. Events refer to their indices.
    pub files: Vec<FileUse>,
    /// Smallest and largest I/O of each direction, in bytes; `None` without I/O.
    pub sizes: PerDirection<Option<(u64, u64)>>,
    /// Bytes of each direction.
    pub bytes: PerDirection<u64>,
    /// Its I/Os: reads, writes, trims, synchronisations.
    pub ios: u64,
    /// Number of reads, writes and trims that begin at the end of the one before them in the same
    /// file; `None` if no log was read.
    pub sequential: Option<u64>,
    /// Time of the last event, in nanoseconds from the first.
    pub duration: u64,
    /// The largest number of I/Os in flight, if the log shows it; else 0.
    pub peak_depth: u32,
    /// The changes to its events.
    pub adjust: Adjust,
    /// The place of its events.
    pub held: Held,
    /// The index in `files` of each file number of the log.
    places: Vec<Option<u32>>,
}

/// The place of the events of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// In memory.
    Memory(Arc<[Event]>),
    /// In the log, which is read again during the replay.
    Log(PathBuf),
    /// In a log that an earlier job of the same run writes: it is read when the replay starts. Files
    /// and sizes are the most that it can hold.
    Later(PathBuf),
    /// They are generated.
    Copy(Copying),
    /// They are drawn from the distributions of a model.
    Drawn(Arc<Drawn>),
}

impl Default for Held {
    fn default() -> Self {
        Held::Memory(Arc::default())
    }
}

/// A file of a log and its I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Its path on this machine.
    pub path: String,
    /// Number of I/Os of each direction.
    pub ios: PerDirection<u64>,
    /// Number of synchronisations.
    pub syncs: u64,
    /// End of the furthest I/O, in bytes.
    pub end: u64,
    /// End of the furthest read, in bytes.
    pub read_end: u64,
    /// The largest power of two that divides all its offsets and lengths.
    pub grain: u64,
    /// Whether the log opens and closes it.
    pub opens: bool,
    /// Whether it is opened without O_DIRECT even if the job has it.
    pub buffered: bool,
    /// Whether it is an earlier file, opened a second time.
    pub again: bool,
}

/// Finds a file of a log on this machine: its path, or why there is none.
pub type Locate<'a> = dyn Fn(&Name) -> Result<String, String> + 'a;

impl Recording {
    /// Reads a whole log. With `stream`, the path of the log, events are not kept.
    ///
    /// # Errors
    /// What is wrong with the log, and where; errors of `locate`.
    pub fn read(
        input: impl BufRead,
        adjust: Adjust,
        stream: Option<PathBuf>,
        locate: &Locate<'_>,
    ) -> Result<Recording, TraceError> {
        let mut reader = Reader::new(input)?;
        let seen = Recording { sequential: Some(0), ..Recording::default() };
        let mut gathered =
            Gathered { locate, adjust, seen, by_path: HashMap::new(), ends: HashMap::new() };
        let mut kept = Vec::new();
        while let Some(event) = reader.next_event()? {
            let Some(event) = gathered.take(event, reader.names())? else { continue };
            if stream.is_none() {
                kept.push(event);
            }
        }
        let mut recording = gathered.seen;
        recording.format = reader.format();
        recording.adjust = adjust;
        recording.peak_depth = reader.peak_depth();
        recording.held = stream.map_or_else(|| Held::Memory(kept.into()), Held::Log);
        for file in &mut recording.files {
            file.grain = 1 << file.grain.trailing_zeros().min(62);
        }
        Ok(recording)
    }

    /// The recording of a log that an earlier job of the run writes. Its files are added by
    /// [`Recording::add_writer`].
    pub fn later(path: PathBuf, adjust: Adjust) -> Recording {
        Recording { adjust, held: Held::Later(path), ..Recording::default() }
    }

    /// Adds what a job writes to the log: I/O of `sizes` on files of these lengths. `redirect` is the
    /// file on which all of it is replayed.
    pub fn add_writer<'a>(
        &mut self,
        files: impl Iterator<Item = (&'a str, u64)>,
        sizes: PerDirection<Option<(u64, u64)>>,
        redirect: Option<&'a str>,
    ) {
        let skip = self.adjust.skip;
        let skipped = PerDirection { read: skip.read, write: skip.write, trim: skip.trim };
        let kept = PerDirection::from_fn(|d| sizes[d].filter(|_| !skipped[d]));
        for (direction, (low, high)) in kept.iter().filter_map(|(d, size)| Some((d, (*size)?))) {
            let (least, most) = self.sizes[direction].unwrap_or((low, high));
            self.sizes[direction] = Some((least.min(low), most.max(high)));
        }
        let longest = kept.iter().filter_map(|(_, size)| Some((*size)?.1)).max().unwrap_or(0);
        for (path, length) in files {
            // An offset that is scaled may leave its I/O reaching further than the scaled end.
            let end = match self.adjust.scale {
                0 | 1 => length,
                scale => length / scale + longest,
            };
            let file = self.file_of(redirect.unwrap_or(path));
            file.end = file.end.max(end);
            file.read_end = if kept.read.is_some() { file.end } else { file.read_end };
            for (direction, _) in kept.iter().filter(|(_, size)| size.is_some()) {
                file.ios[direction] += 1;
            }
        }
    }

    /// The file at `path`, added if need be.
    fn file_of(&mut self, path: &str) -> &mut FileUse {
        let at = self.files.iter().position(|file| file.path == path).unwrap_or_else(|| {
            let opens = !self.adjust.redirected;
            let file = FileUse { path: path.into(), opens, grain: 1 << 62, ..FileUse::default() };
            self.files.push(file);
            self.files.len() - 1
        });
        &mut self.files[at]
    }

    /// The events of the same log, read again, or of a log that has been written meanwhile.
    ///
    /// # Errors
    /// As for [`Reader::new`].
    pub fn stream<R: BufRead>(&self, input: R) -> Result<Stream<'_, R>, TraceError> {
        let places = self.places.clone();
        Ok(Stream { reader: Reader::new(input)?, recording: self, places })
    }

    /// Whether there is I/O in this direction.
    pub fn has(&self, direction: Direction) -> bool {
        self.sizes[direction].is_some()
    }
}

/// The changed events of a log.
pub struct Stream<'a, R> {
    reader: Reader<R>,
    recording: &'a Recording,
    places: Vec<Option<u32>>,
}

impl<R: BufRead> Stream<'_, R> {
    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with the log, or that it is not the log that was read before.
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        while let Some(event) = self.reader.next_event()? {
            let Some(event) = self.recording.adjust.apply(event) else { continue };
            let place =
                self.place(event.file as usize).filter(|place| self.expects(&event, *place));
            let unexpected = || {
                TraceError::Whole(match self.recording.held {
                    Held::Later(_) => {
                        "it has I/O that the job which writes it does not do; remove \
                                       the log before the run"
                            .into()
                    }
                    _ => "it was changed while it was replayed".into(),
                })
            };
            return Ok(Some(Event { file: place.ok_or_else(unexpected)?, ..event }));
        }
        Ok(None)
    }

    /// The index of a file in the recording.
    fn place(&mut self, number: usize) -> Option<u32> {
        let known = self.places.get(number).copied().flatten();
        let Recording { held: Held::Later(_), files, adjust, .. } = self.recording else {
            return known;
        };
        if known.is_some() || adjust.redirected {
            return known.or(Some(0));
        }
        let Name::Path(path) = self.reader.names().get(number)? else { return None };
        let place = files.iter().position(|file| file.path == *path)? as u32;
        self.places.resize(self.places.len().max(number + 1), None);
        self.places[number] = Some(place);
        Some(place)
    }

    /// Whether the recording has I/O of this size there.
    fn expects(&self, event: &Event, place: u32) -> bool {
        let Some(file) = self.recording.files.get(place as usize) else { return false };
        let Some(direction) = event.kind.direction() else { return true };
        let longest = self.recording.sizes[direction].map_or(0, |(_, most)| most);
        let end = event.offset.saturating_add(event.length);
        file.ios[direction] > 0 && event.length <= longest && end <= file.end
    }
}

/// A recording under construction.
struct Gathered<'a> {
    locate: &'a Locate<'a>,
    adjust: Adjust,
    seen: Recording,
    by_path: HashMap<String, u32>,
    /// The end of the last I/O of each file.
    ends: HashMap<u32, u64>,
}

impl Gathered<'_> {
    /// Changes an event and counts it.
    fn take(&mut self, event: Event, names: &[Name]) -> Result<Option<Event>, TraceError> {
        let Some(event) = self.adjust.apply(event) else { return Ok(None) };
        let file = self.place(event.file as usize, names)?;
        let event = Event { file, ..event };
        let seen = &mut self.seen;
        seen.duration = seen.duration.max(event.at);
        let used = &mut seen.files[file as usize];
        match event.kind.direction() {
            Some(direction) => {
                used.ios[direction] += 1;
                let end = event.offset.saturating_add(event.length);
                if self.ends.insert(file, end) == Some(event.offset) {
                    seen.sequential = seen.sequential.map(|count| count + 1);
                }
                used.end = used.end.max(end);
                if direction == Direction::Read {
                    used.read_end = used.read_end.max(end);
                }
                if direction != Direction::Trim {
                    used.grain |= event.offset | event.length;
                }
                let (low, high) = seen.sizes[direction].unwrap_or((event.length, event.length));
                seen.sizes[direction] = Some((low.min(event.length), high.max(event.length)));
                seen.bytes[direction] = seen.bytes[direction].saturating_add(event.length);
                seen.ios += 1;
            }
            None if matches!(event.kind, Kind::Open | Kind::Close) => used.opens = true,
            None => {
                used.syncs += 1;
                seen.ios += 1;
            }
        }
        Ok(Some(event))
    }

    fn place(&mut self, number: usize, names: &[Name]) -> Result<u32, TraceError> {
        let places = &mut self.seen.places;
        if places.len() <= number {
            places.resize(number + 1, None);
        }
        if let Some(place) = places[number] {
            return Ok(place);
        }
        let name =
            names.get(number).ok_or_else(|| TraceError::Whole("a file has no name".into()))?;
        let path = (self.locate)(name).map_err(TraceError::Whole)?;
        let files = &mut self.seen.files;
        let place = *self.by_path.entry(path.clone()).or_insert_with(|| {
            files.push(FileUse { path, ..FileUse::default() });
            files.len() as u32 - 1
        });
        places[number] = Some(place);
        Ok(place)
    }
}

impl Copying {
    /// The recording of the copy. `paths` are those of the existing ends, the source first.
    pub fn recording(&self, paths: Vec<String>) -> Recording {
        let blocks = self.total.div_ceil(self.block.max(1));
        let last = self.last();
        let sizes = (blocks > 0).then_some((last, if blocks > 1 { self.block } else { last }));
        let mut seen = Recording { held: Held::Copy(*self), ..Recording::default() };
        let ends: Vec<_> = self.ends().zip(paths).collect();
        for ((direction, end), path) in &ends {
            let blocks = if self.tail(end) { blocks - 1 } else { blocks };
            seen.files.push(self.used(*direction, end, path, 0, blocks));
            seen.sizes[*direction] = sizes;
            seen.bytes[*direction] = self.total;
            seen.ios += blocks;
        }
        for ((direction, end), path) in ends.iter().filter(|((_, end), _)| self.tail(end)) {
            let file = self.used(*direction, end, path, self.total - last, 1);
            seen.files.push(FileUse { buffered: true, again: true, ..file });
            seen.ios += 1;
        }
        if self.sync.is_some() {
            seen.ios += 1;
            let written = usize::from(self.source.is_some());
            seen.files.get_mut(written).into_iter().for_each(|file| file.syncs = 1);
        }
        seen
    }

    /// The I/O on a file: `blocks` blocks from byte `begin` of the copy.
    fn used(
        &self,
        direction: Direction,
        end: &CopyEnd,
        path: &str,
        begin: u64,
        blocks: u64,
    ) -> FileUse {
        let mut ios = PerDirection::default();
        ios[direction] = blocks;
        let length = (blocks * self.block).min(self.total - begin);
        let reach = end.start + begin + length;
        let read_end = if direction == Direction::Read { reach } else { 0 };
        // All blocks but the last are full.
        let whole = if blocks > 1 { self.block } else { 0 };
        let grain = (end.start + begin) | whole | length;
        FileUse {
            path: path.to_owned(),
            ios,
            end: reach,
            read_end,
            grain: 1 << grain.trailing_zeros().min(62),
            buffered: end.opened == Opened::Buffered,
            ..FileUse::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(name: &Name) -> Result<String, String> {
        match name {
            Name::Path(path) => Ok(path.clone()),
            Name::Device { major, minor } => Err(format!("no device {major}:{minor}")),
        }
    }

    const LOG: &str = "fio version 3 iolog\n0 /unused add\n0 /a add\n0 /b add\n5 /a open\n\
                       5 /b open\n9 /b write 4096 512\n9 /a read 0 8192\n20 /a sync 0 0\n21 /a close\n";

    #[test]
    fn a_log_is_summed_up() {
        let log = Recording::read(LOG.as_bytes(), Adjust::default(), None, &path_of).unwrap();
        assert_eq!((log.ios, log.duration, log.peak_depth), (3, 21_000, 0));
        assert_eq!(log.sizes.read, Some((8192, 8192)));
        assert_eq!((log.sizes.write, log.sizes.trim), (Some((512, 512)), None));
        let [a, b] = &log.files[..] else { panic!("{:?}", log.files) };
        assert_eq!(
            (a.path.as_str(), a.end, a.grain, a.syncs, a.opens),
            ("/a", 8192, 8192, 1, true)
        );
        assert_eq!((b.path.as_str(), b.end, b.read_end, b.grain), ("/b", 4608, 0, 512));
        let Held::Memory(events) = &log.held else { panic!() };
        assert_eq!(events.iter().map(|e| e.file).collect::<Vec<_>>(), [0, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn a_stream_gives_the_same_events() {
        let adjust = Adjust { scale: 2, ..Adjust::default() };
        let held = Recording::read(LOG.as_bytes(), adjust, None, &path_of).unwrap();
        let read = Recording::read(LOG.as_bytes(), adjust, Some("log".into()), &path_of).unwrap();
        let mut stream = read.stream(LOG.as_bytes()).unwrap();
        let mut events = Vec::new();
        while let Some(event) = stream.next_event().unwrap() {
            events.push(event);
        }
        assert_eq!(held.held, Held::Memory(events.into()));
        let mut other = read.stream("fio version 2 iolog\n/x add\n/x open\n".as_bytes()).unwrap();
        let changed = other.next_event().unwrap_err().to_string();
        assert_eq!(changed, "it was changed while it was replayed");
    }

    #[test]
    fn a_log_that_is_written_later_holds_no_more_than_its_writer_does() {
        let adjust =
            Adjust { skip: crate::Skip { trim: true, ..Default::default() }, ..Adjust::default() };
        let sizes =
            PerDirection { read: Some((512, 8192)), write: Some((512, 512)), trim: Some((1, 1)) };
        let mut later = Recording::later("log".into(), adjust);
        later.add_writer([("/b", 4608), ("/a", 8192)].into_iter(), sizes, None);
        assert_eq!((later.sizes.read, later.sizes.trim), (Some((512, 8192)), None));
        let events = |recording: &Recording, log: &str| {
            let mut stream = recording.stream(log.as_bytes())?;
            let mut files = Vec::new();
            while let Some(event) = stream.next_event()? {
                files.push(event.file);
            }
            Ok::<_, TraceError>(files)
        };
        assert_eq!(events(&later, LOG).unwrap(), [1, 0, 0, 1, 1, 1]);
        for wrong in ["4096 1024", "4608 512"] {
            let text = events(&later, &LOG.replace("4096 512", wrong)).unwrap_err().to_string();
            assert!(text.contains("does not do; remove the log"), "{text}");
        }
        let redirected = Adjust { redirected: true, ..adjust };
        let mut later = Recording::later("log".into(), redirected);
        later.add_writer([("/b", 4608), ("/a", 8192)].into_iter(), sizes, Some("/c"));
        assert_eq!(events(&later, LOG).unwrap(), [0, 0, 0]);
        assert_eq!((later.files.len(), later.files[0].end, later.files[0].opens), (1, 8192, false));
    }

    #[test]
    fn a_redirected_log_has_one_file() {
        let adjust = Adjust { redirected: true, ..Adjust::default() };
        let log = Recording::read(LOG.as_bytes(), adjust, None, &|_| Ok("/c".into())).unwrap();
        let [file] = &log.files[..] else { panic!("{:?}", log.files) };
        assert_eq!((file.path.as_str(), file.end, file.opens), ("/c", 8192, false));
    }
}
