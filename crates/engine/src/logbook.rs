//! The log entries of a run, kept until they are written to files after the run.
//!
//! Workers collect pages of entries and send them to one thread, which packs them. Packed entries stay
//! in memory up to a limit; the rest goes to an unnamed temporary file. Memory is bounded, no worker
//! writes to a file, and little work is done during the measurement.

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
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum bytes of packed entries in memory.
const IN_MEMORY_MAX: usize = 64 << 20;
/// Bytes of packed entries per block, unless `log_compression` says otherwise.
const BLOCK: usize = 256 << 10;
/// Pages that a worker may be ahead of the log thread.
const PAGES_AHEAD: usize = 16;

/// Entries of one worker, on their way to the log thread.
struct Page {
    worker: usize,
    entries: Vec<LogEntry>,
}

/// Sends the entries of one worker to the log thread, a page at a time.
pub(crate) struct LogHandle {
    worker: usize,
    page: Vec<LogEntry>,
    page_size: usize,
    pages: Option<SyncSender<Page>>,
    waited: Duration,
}

impl LogHandle {
    /// Adds an entry. Waits only if the log thread is many pages behind.
    pub fn add(&mut self, entry: LogEntry) {
        self.page.push(entry);
        if self.page.len() >= self.page_size {
            self.send_page(Vec::with_capacity(self.page_size));
        }
    }

    fn send_page(&mut self, fresh: Vec<LogEntry>) {
        let entries = std::mem::replace(&mut self.page, fresh);
        if let Some(pages) = self.pages.as_ref().filter(|_| !entries.is_empty()) {
            // The receiver is gone only if the thread panicked, which is reported when it is joined.
            if let Err(TrySendError::Full(page)) =
                pages.try_send(Page { worker: self.worker, entries })
            {
                let start = Instant::now();
                let _ = pages.send(page);
                self.waited += start.elapsed();
            }
        }
    }

    /// How long the worker has waited for the log thread.
    pub fn waited(&self) -> Duration {
        self.waited
    }
}

impl Drop for LogHandle {
    fn drop(&mut self) {
        self.send_page(Vec::new());
    }
}

/// The thread that packs log entries.
#[derive(Default)]
pub(crate) struct LogThread {
    pages: Mutex<Option<SyncSender<Page>>>,
    thread: Mutex<Option<JoinHandle<Logbook>>>,
    kept: Mutex<Logbook>,
}

impl LogThread {
    /// Starts the thread if any of the workers logs.
    pub fn start(workers: &[Worker], trace: &Arc<Trace>) -> io::Result<LogThread> {
        let logging = || workers.iter().filter_map(|worker| worker.logs.as_ref());
        let Some(first) = logging().next() else {
            return Ok(LogThread::default());
        };
        let (pages, inbox) = sync_channel(PAGES_AHEAD * workers.len());
        let mut cpus: Vec<u32> =
            logging().flat_map(|logs| logs.compression_cpus.iter().copied()).collect();
        cpus.dedup();
        let beside = first.files.first().and_then(|(_, path)| Path::new(path).parent());
        let packer = LogPacker {
            buffers: workers.iter().map(LogBuffer::new).collect(),
            trace: Arc::clone(trace),
            in_memory: 0,
            beside: beside.map(Path::to_owned).unwrap_or_default(),
            spill: None,
            failure: None,
        };
        let thread = std::thread::Builder::new().name("log keeper".into()).spawn(move || {
            if !cpus.is_empty() {
                // Without these CPUs, the thread runs on others.
                let _ = thread::bind_to_cpus(&cpus);
            }
            packer.run(&inbox)
        })?;
        let (pages, thread) = (Mutex::new(Some(pages)), Mutex::new(Some(thread)));
        Ok(LogThread { pages, thread, kept: Mutex::default() })
    }

    /// A handle for worker `worker`, with `page_size` entries per page.
    pub fn handle(&self, worker: usize, page_size: usize) -> LogHandle {
        let pages = lock(&self.pages).clone();
        let page_size = page_size.max(1);
        let page = Vec::with_capacity(page_size);
        LogHandle { worker, page, page_size, pages, waited: Duration::ZERO }
    }

    /// Waits until everything is packed. All handles must be dropped.
    pub fn wait(&self) {
        drop(lock(&self.pages).take());
        let Some(thread) = lock(&self.thread).take() else { return };
        *lock(&self.kept) = thread.join().unwrap_or_else(|_| Logbook {
            failure: Some("internal error: the log thread panicked".into()),
            ..Logbook::default()
        });
    }

    /// Takes the entries. All handles must be dropped.
    pub fn finish(&self) -> Logbook {
        self.wait();
        std::mem::take(&mut *lock(&self.kept))
    }
}

/// Where a block of packed entries is stored.
enum Place {
    Memory(Vec<u8>),
    File { at: u64, length: usize },
}

struct Block {
    place: Place,
    compressed: bool,
}

/// The blocks of one worker, and the block that is being filled.
struct LogBuffer {
    blocks: Vec<Block>,
    open: Vec<u8>,
    block: usize,
    compressed: bool,
    /// Name of the worker if its packing is traced.
    traced: Option<String>,
}

impl LogBuffer {
    fn new(worker: &Worker) -> LogBuffer {
        let compression = worker.logs.as_ref().and_then(|logs| logs.compression);
        let block = compression.map_or(BLOCK, |bytes| bytes as usize);
        LogBuffer {
            blocks: Vec::new(),
            open: Vec::new(),
            block,
            compressed: compression.is_some(),
            traced: worker.trace.compress.then(|| worker.name.clone()),
        }
    }
}

/// Packs entries in the log thread.
struct LogPacker {
    buffers: Vec<LogBuffer>,
    in_memory: usize,
    beside: PathBuf,
    spill: Option<(File, u64)>,
    failure: Option<String>,
    trace: Arc<Trace>,
}

impl LogPacker {
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
        for worker in 0..self.buffers.len() {
            if let Err(error) = self.close_block(worker) {
                self.failure = Some(format!("what was logged could not be kept: {error}"));
            }
        }
        let blocks = self.buffers.into_iter().map(|buffer| buffer.blocks).collect();
        Logbook { blocks, spill: self.spill.map(|(file, _)| file), failure: self.failure }
    }

    fn pack(&mut self, worker: usize, entry: &LogEntry) -> io::Result<()> {
        let buffer = &mut self.buffers[worker];
        let packed = postcard::to_extend(entry, std::mem::take(&mut buffer.open));
        buffer.open = packed.map_err(io::Error::other)?;
        if buffer.open.len() >= buffer.block { self.close_block(worker) } else { Ok(()) }
    }

    fn close_block(&mut self, worker: usize) -> io::Result<()> {
        let buffer = &mut self.buffers[worker];
        let mut bytes = std::mem::take(&mut buffer.open);
        if buffer.compressed {
            if let Some(log) = &buffer.traced {
                let (input, number) = (bytes.len(), buffer.blocks.len() + 1);
                let text = format!("deflate input size={input}, seq={number}, log={log}");
                self.trace.line("compress", &text);
            }
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes)?;
            bytes = encoder.finish()?;
            if buffer.traced.is_some() {
                self.trace.line("compress", &format!("deflated to size={}", bytes.len()));
            }
        }
        let length = bytes.len();
        let place = if self.in_memory + length <= IN_MEMORY_MAX {
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
        let buffer = &mut self.buffers[worker];
        buffer.blocks.push(Block { place, compressed: buffer.compressed });
        Ok(())
    }
}

/// An unnamed file in `directory`, or in the system's directory for temporary files.
fn temporary(directory: &Path) -> io::Result<File> {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    tempfile::tempfile_in(here).or_else(|_| tempfile::tempfile())
}

/// The log entries of a run.
#[derive(Default)]
pub struct Logbook {
    blocks: Vec<Vec<Block>>,
    spill: Option<File>,
    failure: Option<String>,
}

impl Logbook {
    /// Why entries are missing, if any are.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Calls `take` with every entry of worker `worker` (from 0), in the order in which they were added.
    ///
    /// # Errors
    /// The temporary file cannot be read.
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
    fn entries_come_back_in_order_per_worker() {
        let workers = [worker(None), worker(Some(1024)), Worker::default()];
        let log_thread = LogThread::start(&workers, &Arc::default()).unwrap();
        let (mut plain, mut compressed) = (log_thread.handle(0, 100), log_thread.handle(1, 7));
        for number in 0..20_000 {
            plain.add(io(number));
            compressed.add(io(number * 1_000_003));
        }
        drop((plain, compressed));
        let book = log_thread.finish();
        assert_eq!(book.failure(), None);
        assert_eq!(all(&book, 0), (0..20_000).map(io).collect::<Vec<_>>());
        assert_eq!(all(&book, 1), (0..20_000).map(|n| io(n * 1_000_003)).collect::<Vec<_>>());
        assert!(book.blocks[1].len() > 10 && all(&book, 2).is_empty());
    }

    #[test]
    fn entries_beyond_the_memory_limit_come_back_from_a_file() {
        let mut packer = LogPacker {
            buffers: vec![LogBuffer::new(&worker(Some(1024))), LogBuffer::new(&worker(None))],
            in_memory: IN_MEMORY_MAX - 3000,
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
        packer.buffers[1].block = 500;
        let book = packer.run(&inbox);
        assert!(book.spill.is_some());
        let twice: Vec<LogEntry> = (0..5000).chain(0..5000).map(io).collect();
        assert_eq!(all(&book, 0), twice);
        assert_eq!(all(&book, 1), twice);
    }

    #[test]
    fn without_logs_there_is_no_thread() {
        let log_thread = LogThread::start(&[Worker::default()], &Arc::default()).unwrap();
        assert!(log_thread.thread.lock().unwrap().is_none());
        log_thread.handle(0, 1).add(io(1));
        assert!(all(&log_thread.finish(), 0).is_empty());
    }
}
