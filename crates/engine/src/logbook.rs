//! What workers log, from the moment they noted it until it is written to files after the run.
//!
//! Workers gather pages of entries and hand them to one thread, which packs them. What has been
//! packed stays in memory up to a bound; the rest goes to a temporary file without a name. So memory
//! is bounded, no worker ever writes to a file, and as little as can be is done while others measure.

use crate::mutex::lock;
use crate::sys::thread;
use crate::trace::Trace;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use plan::Worker;
use record::LogEntry;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Packed entries of a whole run that stay in memory.
const MOST_IN_MEMORY: usize = 64 << 20;
/// Packed entries of a worker that are put away at once, unless `log_compression` says otherwise.
const BLOCK: usize = 256 << 10;
/// Pages a worker may be ahead of the thread that packs them.
const PAGES_AHEAD: usize = 16;

/// Entries of one worker on their way.
struct Page {
    worker: usize,
    entries: Vec<LogEntry>,
}

/// Hands entries over, a page at a time.
pub(crate) struct Pen {
    worker: usize,
    page: Vec<LogEntry>,
    room: usize,
    pages: Option<SyncSender<Page>>,
}

impl Pen {
    /// Notes an entry. Waits only for a thread that is many pages behind.
    pub fn note(&mut self, entry: LogEntry) {
        self.page.push(entry);
        if self.page.len() >= self.room {
            self.turn(Vec::with_capacity(self.room));
        }
    }

    fn turn(&mut self, fresh: Vec<LogEntry>) {
        let entries = std::mem::replace(&mut self.page, fresh);
        if let Some(pages) = self.pages.as_ref().filter(|_| !entries.is_empty()) {
            // Nobody listens only after a bug of ours, which is told where the thread is joined.
            let _ = pages.send(Page { worker: self.worker, entries });
        }
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        self.turn(Vec::new());
    }
}

/// The thread that keeps what is logged.
#[derive(Default)]
pub(crate) struct Scribe {
    pages: Mutex<Option<SyncSender<Page>>>,
    thread: Mutex<Option<JoinHandle<Logbook>>>,
    kept: Mutex<Logbook>,
}

impl Scribe {
    /// Starts it where any of the workers logs anything.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn start(workers: &[Worker], trace: &Arc<Trace>) -> io::Result<Scribe> {
        let logging = || workers.iter().filter_map(|worker| worker.logs.as_ref());
        let Some(first) = logging().next() else {
            return Ok(Scribe::default());
        };
        let (pages, inbox) = sync_channel(PAGES_AHEAD * workers.len());
        let mut cpus: Vec<u32> =
            logging().flat_map(|logs| logs.compression_cpus.iter().copied()).collect();
        cpus.dedup();
        let beside = first.files.first().and_then(|(_, path)| Path::new(path).parent());
        let keeper = Keeper {
            shelves: workers.iter().map(Shelf::new).collect(),
            trace: Arc::clone(trace),
            in_memory: 0,
            beside: beside.map(Path::to_owned).unwrap_or_default(),
            spill: None,
            failure: None,
        };
        let thread = std::thread::Builder::new().name("log keeper".into()).spawn(move || {
            if !cpus.is_empty() {
                // CPUs that are not there were a wish; the logs are kept all the same.
                let _ = thread::bind_to_cpus(&cpus);
            }
            keeper.run(&inbox)
        })?;
        let (pages, thread) = (Mutex::new(Some(pages)), Mutex::new(Some(thread)));
        Ok(Scribe { pages, thread, kept: Mutex::default() })
    }

    /// A pen for worker `worker`, which gathers `room` entries at a time.
    pub fn pen(&self, worker: usize, room: usize) -> Pen {
        let pages = lock(&self.pages).clone();
        let room = room.max(1);
        Pen { worker, page: Vec::with_capacity(room), room, pages }
    }

    /// Waits until everything is kept, once no pen is left.
    pub fn settle(&self) {
        drop(lock(&self.pages).take());
        let Some(thread) = lock(&self.thread).take() else { return };
        *lock(&self.kept) = thread.join().unwrap_or_else(|_| Logbook {
            failure: Some("internal error: the keeper of the logs panicked".into()),
            ..Logbook::default()
        });
    }

    /// Takes what was kept, once no pen is left.
    pub fn finish(&self) -> Logbook {
        self.settle();
        std::mem::take(&mut *lock(&self.kept))
    }
}

/// Where a block of packed entries is.
enum Place {
    Memory(Vec<u8>),
    File { at: u64, length: usize },
}

struct Block {
    place: Place,
    compressed: bool,
}

/// The blocks of one worker, and what does not fill one yet.
struct Shelf {
    blocks: Vec<Block>,
    open: Vec<u8>,
    block: usize,
    compressed: bool,
    /// Whose log, where its packing is traced.
    traced: Option<String>,
}

impl Shelf {
    fn new(worker: &Worker) -> Shelf {
        let compression = worker.logs.as_ref().and_then(|logs| logs.compression);
        let block = compression.map_or(BLOCK, |bytes| bytes as usize);
        Shelf {
            blocks: Vec::new(),
            open: Vec::new(),
            block,
            compressed: compression.is_some(),
            traced: worker.trace.compress.then(|| worker.name.clone()),
        }
    }
}

/// The work of the thread.
struct Keeper {
    shelves: Vec<Shelf>,
    in_memory: usize,
    beside: PathBuf,
    spill: Option<(File, u64)>,
    failure: Option<String>,
    trace: Arc<Trace>,
}

impl Keeper {
    fn run(mut self, inbox: &Receiver<Page>) -> Logbook {
        for Page { worker, entries } in inbox {
            if self.failure.is_some() {
                continue;
            }
            for entry in &entries {
                if let Err(error) = self.pack(worker, entry) {
                    self.failure = Some(format!("what was logged could not be kept: {error}"));
                    break;
                }
            }
        }
        for worker in 0..self.shelves.len() {
            if let Err(error) = self.put_away(worker) {
                self.failure = Some(format!("what was logged could not be kept: {error}"));
            }
        }
        let blocks = self.shelves.into_iter().map(|shelf| shelf.blocks).collect();
        Logbook { blocks, spill: self.spill.map(|(file, _)| file), failure: self.failure }
    }

    fn pack(&mut self, worker: usize, entry: &LogEntry) -> io::Result<()> {
        let shelf = &mut self.shelves[worker];
        let packed = postcard::to_extend(entry, std::mem::take(&mut shelf.open));
        shelf.open = packed.map_err(io::Error::other)?;
        if shelf.open.len() >= shelf.block { self.put_away(worker) } else { Ok(()) }
    }

    fn put_away(&mut self, worker: usize) -> io::Result<()> {
        let shelf = &mut self.shelves[worker];
        let mut bytes = std::mem::take(&mut shelf.open);
        if shelf.compressed {
            if let Some(log) = &shelf.traced {
                let (input, number) = (bytes.len(), shelf.blocks.len() + 1);
                let text = format!("deflate input size={input}, seq={number}, log={log}");
                self.trace.say("compress", &text);
            }
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes)?;
            bytes = encoder.finish()?;
            if shelf.traced.is_some() {
                self.trace.say("compress", &format!("deflated to size={}", bytes.len()));
            }
        }
        let length = bytes.len();
        let place = if self.in_memory + length <= MOST_IN_MEMORY {
            self.in_memory += length;
            bytes.shrink_to_fit();
            Place::Memory(bytes)
        } else {
            let (file, end) = match &mut self.spill {
                Some(spill) => spill,
                None => self.spill.insert((temporary(&self.beside)?, 0)),
            };
            let at = *end;
            file.write_all_at(&bytes, at)?;
            *end += length as u64;
            Place::File { at, length }
        };
        let shelf = &mut self.shelves[worker];
        shelf.blocks.push(Block { place, compressed: shelf.compressed });
        Ok(())
    }
}

/// A file without a name in `directory`, or where the system puts such files.
fn temporary(directory: &Path) -> io::Result<File> {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    tempfile::tempfile_in(here).or_else(|_| tempfile::tempfile())
}

/// Everything that was logged in a run.
#[derive(Default)]
pub struct Logbook {
    blocks: Vec<Vec<Block>>,
    spill: Option<File>,
    failure: Option<String>,
}

impl Logbook {
    /// Why it does not hold everything.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Calls `take` with every entry of worker `worker` (from 0), in the order they were noted.
    ///
    /// # Errors
    /// What was put into a file cannot be read back.
    pub fn entries(&self, worker: usize, mut take: impl FnMut(LogEntry)) -> io::Result<()> {
        for block in self.blocks.get(worker).into_iter().flatten() {
            let packed = self.read(block)?;
            let mut rest = packed.as_slice();
            while !rest.is_empty() {
                let (entry, after) = postcard::take_from_bytes(rest).map_err(io::Error::other)?;
                rest = after;
                take(entry);
            }
        }
        Ok(())
    }

    fn read(&self, block: &Block) -> io::Result<Vec<u8>> {
        let stored = match (&block.place, &self.spill) {
            (Place::Memory(bytes), _) => bytes.clone(),
            (Place::File { at, length }, Some(file)) => {
                let mut bytes = vec![0; *length];
                file.read_exact_at(&mut bytes, *at)?;
                bytes
            }
            (Place::File { .. }, None) => return Err(io::ErrorKind::NotFound.into()),
        };
        if !block.compressed {
            return Ok(stored);
        }
        let mut bytes = Vec::new();
        ZlibDecoder::new(stored.as_slice()).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{LogKind, LoggedIo, Logs};

    fn worker(compression: Option<u64>) -> Worker {
        let files = vec![(LogKind::Clat, "clat.1.log".into())];
        let logs = Logs { files, compression, ..Logs::default() };
        Worker { logs: Some(logs), ..Worker::default() }
    }

    fn io(ended: u64) -> LogEntry {
        LogEntry::Io(LoggedIo { ended, bytes: 4096, clat: ended / 3, ..LoggedIo::default() })
    }

    fn all(book: &Logbook, worker: usize) -> Vec<LogEntry> {
        let mut all = Vec::new();
        book.entries(worker, |entry| all.push(entry)).unwrap();
        all
    }

    #[test]
    fn every_worker_gets_back_what_it_noted_in_order() {
        let workers = [worker(None), worker(Some(1024)), Worker::default()];
        let scribe = Scribe::start(&workers, &Arc::default()).unwrap();
        let (mut plain, mut compressed) = (scribe.pen(0, 100), scribe.pen(1, 7));
        for number in 0..20_000 {
            plain.note(io(number));
            compressed.note(io(number * 1_000_003));
        }
        drop((plain, compressed));
        let book = scribe.finish();
        assert_eq!(book.failure(), None);
        assert_eq!(all(&book, 0), (0..20_000).map(io).collect::<Vec<_>>());
        assert_eq!(all(&book, 1), (0..20_000).map(|n| io(n * 1_000_003)).collect::<Vec<_>>());
        assert!(book.blocks[1].len() > 10 && all(&book, 2).is_empty());
    }

    #[test]
    fn what_memory_has_no_room_for_comes_back_from_a_file() {
        let mut keeper = Keeper {
            shelves: vec![Shelf::new(&worker(Some(1024))), Shelf::new(&worker(None))],
            in_memory: MOST_IN_MEMORY - 3000,
            beside: PathBuf::new(),
            spill: None,
            failure: None,
            trace: Arc::default(),
        };
        let (pages, inbox) = sync_channel(8);
        for worker in [0, 1, 0, 1] {
            let entries = (0..5000).map(io).collect();
            pages.send(Page { worker, entries }).unwrap();
        }
        drop(pages);
        keeper.shelves[1].block = 500;
        let book = keeper.run(&inbox);
        assert!(book.spill.is_some());
        let twice: Vec<LogEntry> = (0..5000).chain(0..5000).map(io).collect();
        assert_eq!(all(&book, 0), twice);
        assert_eq!(all(&book, 1), twice);
    }

    #[test]
    fn without_logs_there_is_no_thread() {
        let scribe = Scribe::start(&[Worker::default()], &Arc::default()).unwrap();
        assert!(scribe.thread.lock().unwrap().is_none());
        scribe.pen(0, 1).note(io(1));
        assert!(all(&scribe.finish(), 0).is_empty());
    }
}
