//! The tester's writes: a thread for each stream, which goes on only when its promise is known outside.

use crate::class::Class;
use crate::client::{Client, ClientError};
use crate::protocol::Request;
use crate::sector::SECTOR;
use crate::session::{RULES, Session, Stream, TargetIdentity, TargetShape};
use crate::storage::{AlignedBuffer, Storage};
use record::{Nanos, SplitMix64};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest write, in bytes.
const WRITE_MAX: usize = 64 << 10;

/// The smallest area of a thread, in bytes.
pub const AREA_MIN: u64 = 64 << 10;

/// The most files of a thread of [`Class::Rename`], by the area that they share.
const FILES_AREA: u64 = 1 << 20;

/// Why the writes of a stream ended.
#[derive(Debug)]
pub enum End {
    /// Asked to.
    Stopped,
    /// The target failed.
    Target(Class, io::Error),
    /// The server cannot be reached, or refuses.
    Server(ClientError),
}

/// What the threads share.
#[derive(Debug, Default)]
pub struct Progress {
    /// Asks all threads to end.
    pub stop: AtomicBool,
    /// Writes that are promised.
    pub promises: AtomicU64,
    /// Threads that have ended.
    pub ended: AtomicU64,
}

/// The time from the start of the writes to the cut, drawn from the seed: between `earliest` and twice that.
pub fn cut_moment(seed: u64, earliest: Nanos) -> Nanos {
    Nanos(earliest.0 + SplitMix64::new(seed ^ 0x6375_7400).below(earliest.0))
}

/// A session with threads and areas drawn from the seed: `threads` of each class, or one to three.
///
/// # Errors
/// When the size has no room for so many threads.
pub fn session(
    run: u64,
    seed: u64,
    target: TargetIdentity,
    classes: &[Class],
    threads: Option<u16>,
    size: u64,
) -> Result<Session, String> {
    let mut random = SplitMix64::new(seed);
    let mut chosen = Vec::new();
    for class in classes {
        let count = threads.unwrap_or(1 + random.below(3) as u16);
        chosen.extend((0..count).map(|_| *class));
    }
    let area = size / (chosen.len() as u64).max(1) / AREA_MIN * AREA_MIN;
    if area < AREA_MIN {
        return Err(format!(
            "{size} bytes are too few for {} threads, of which each needs {AREA_MIN}",
            chosen.len()
        ));
    }
    let is_shared = target.kind != TargetShape::Directory;
    let stream = |(class, id): (Class, u16)| Stream {
        id,
        class,
        start: if is_shared { u64::from(id) * area } else { 0 },
        length: if class.is_of_files() { area.min(FILES_AREA) } else { area },
    };
    let streams = chosen.into_iter().zip(0..).map(stream).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let started_unix_ms = now.map_or(0, |now| now.as_millis() as u64);
    Ok(Session { run, rules: RULES, seed, target, streams, started_unix_ms })
}

/// Writes all streams until one of them ends or `progress` says stop; `meanwhile` runs on this thread
/// and returns when the writes are to end. Returns how each stream ended.
///
/// # Errors
/// When the server cannot be reached at the start.
pub fn write<S: Storage + Send>(
    session: &Session,
    storages: Vec<S>,
    client: &mut Client,
    progress: &Progress,
    meanwhile: impl FnOnce(),
) -> Result<Vec<End>, ClientError> {
    client.request(&Request::Start(session.clone()))?;
    let mut clients = Vec::new();
    for _ in &storages {
        clients.push(client.another()?);
    }
    let ends = std::thread::scope(|scope| {
        let streams = session.streams.iter().zip(storages).zip(clients);
        let threads: Vec<_> = streams
            .map(|((stream, mut storage), mut client)| {
                scope.spawn(move || {
                    let end = write_stream(session, stream, &mut storage, &mut client, progress);
                    // Without all its threads the session is not the one that was asked for.
                    progress.stop.store(true, Ordering::Relaxed);
                    progress.ended.fetch_add(1, Ordering::Relaxed);
                    end
                })
            })
            .collect();
        meanwhile();
        progress.stop.store(true, Ordering::Relaxed);
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|end| end.expect("a thread that writes does not panic")).collect()
    });
    Ok(ends)
}

fn write_stream(
    session: &Session,
    stream: &Stream,
    storage: &mut impl Storage,
    client: &mut Client,
    progress: &Progress,
) -> End {
    let mut writes = session.writes(stream);
    let mut buffer = AlignedBuffer::new(WRITE_MAX);
    let mut batch = Vec::new();
    for batches in 1.. {
        if progress.stop.load(Ordering::Relaxed) {
            break;
        }
        batch.clear();
        writes.next_batch(&mut batch);
        let written = batch.iter().try_for_each(|write| {
            let bytes = buffer.first(usize::from(write.block.sectors) * SECTOR);
            write.block.encode(bytes);
            storage.write(write, bytes)
        });
        if let Err(error) = written.and_then(|()| storage.commit(&batch)) {
            return End::Target(stream.class, error);
        }
        let promise = Request::Durable { run: session.run, stream: stream.id, batches };
        if let Err(error) = client.request(&promise) {
            return End::Server(error);
        }
        progress.promises.fetch_add(batch.len() as u64, Ordering::Relaxed);
    }
    End::Stopped
}
