//! The same expectations for every ring that moves data.

use super::io_uring::{Features, IoUring};
use super::libaio::Libaio;
use super::mmap::Mmap;
use super::pvsync2::Pvsync2;
use super::vsync::Vsync;
use super::*;
use crate::clock::RunClock;
use crate::hot::op::OpKind;
use crate::sys::buffers::BufferArea;
use crate::sys::files::flush_device_cache;
use crate::sys::testing::{Loop, Tmpfs, scratch};
use plan::{Buffers, EngineOptions, Worker};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Duration;

const BLOCK: u64 = 4096;
const DEPTH: u32 = 8;
/// Far longer than any I/O here takes: a ring that loses an I/O fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A ring on one file.
struct Rig<R> {
    ring: R,
    area: BufferArea,
    file: Option<File>,
}

impl<R: Ring> Rig<R> {
    fn new(file: Option<File>, length: u64, options: &EngineOptions) -> Self {
        let fd = file.as_ref().map_or(-1, |f| f.as_raw_fd());
        let area = BufferArea::new(&Buffers::default(), DEPTH, 4 * BLOCK).unwrap();
        let files = [RingFile { path: "test".into(), fd, start: 0, length }];
        let ring = R::open(&RingSetup {
            worker: &Worker::default(),
            depth: DEPTH,
            buffers: &area,
            options,
            files: &files,
            io: IoSettings {
                direct: false,
                ..IoSettings::direct(RunClock::start(Some("clock_gettime")))
            },
            overlaps: None,
        })
        .unwrap();
        Rig { ring, area, file }
    }

    fn plain(file: File, length: u64) -> Self {
        Rig::new(Some(file), length, &EngineOptions::default())
    }

    /// Runs at most [`DEPTH`] `ops`, all at once if the ring can. Returns their results.
    fn run(&mut self, ops: &[Op]) -> Vec<i64> {
        assert!(ops.len() <= DEPTH as usize);
        let mut results = BTreeMap::new();
        for (slot, op) in ops.iter().enumerate() {
            loop {
                match self.ring.queue(slot as u32, op) {
                    Queued::Done(result) => {
                        assert!(results.insert(slot as u32, result).is_none());
                    }
                    Queued::Pending => {}
                    Queued::Full => {
                        self.collect(1, &mut results);
                        continue;
                    }
                }
                break;
            }
        }
        while results.len() < ops.len() {
            let missing = ops.len() - results.len();
            self.collect(missing as u32, &mut results);
        }
        assert_eq!(self.ring.reap(0, DEPTH, None).unwrap(), 0);
        results.into_values().collect()
    }

    fn collect(&mut self, min: u32, results: &mut BTreeMap<u32, i64>) {
        self.ring.submit().unwrap();
        let count = self.ring.reap(min, DEPTH, Some(PATIENCE)).unwrap();
        assert!(count > 0, "nothing came back in {PATIENCE:?}");
        for index in 0..count {
            let done = self.ring.completion(index);
            assert!(results.insert(done.slot, done.result).is_none(), "given twice");
        }
    }

    fn one(&mut self, kind: OpKind, offset: u64, length: u64) -> i64 {
        self.run(&[op(kind, offset, length)])[0]
    }
}

fn op(kind: OpKind, offset: u64, length: u64) -> Op {
    Op { kind, file: 0, offset, length, tag: 0 }
}

fn fresh(length: u64) -> File {
    let file = tempfile::tempfile_in(scratch().path()).unwrap();
    file.set_len(length).unwrap();
    file
}

fn errno(number: i32) -> i64 {
    -i64::from(number)
}

/// Writes every block of a file, in sequence and out of order, and reads them back.
fn moves_data<R: Ring>(options: &EngineOptions) {
    let blocks = 32u64;
    let file = fresh(blocks * BLOCK);
    let outside = file.try_clone().unwrap();
    let mut rig: Rig<R> = Rig::new(Some(file), blocks * BLOCK, options);
    for pass in 0..2u64 {
        let order: Vec<u64> =
            (0..blocks).map(|i| if pass == 0 { i } else { i * 13 % blocks }).collect();
        for batch in order.chunks(DEPTH as usize) {
            for (slot, block) in batch.iter().enumerate() {
                let content = (block * 3 + pass) as u8;
                rig.area.slice_mut(slot as u32, BLOCK as usize).fill(content);
            }
            let writes: Vec<Op> =
                batch.iter().map(|b| op(OpKind::Write, b * BLOCK, BLOCK)).collect();
            assert_eq!(rig.run(&writes), vec![BLOCK as i64; batch.len()]);
        }
        assert_eq!(rig.one(OpKind::Fsync, 0, 0), 0);
        for batch in order.chunks(DEPTH as usize) {
            let reads: Vec<Op> = batch.iter().map(|b| op(OpKind::Read, b * BLOCK, BLOCK)).collect();
            assert_eq!(rig.run(&reads), vec![BLOCK as i64; batch.len()]);
            for (slot, block) in batch.iter().enumerate() {
                let content = (block * 3 + pass) as u8;
                let got = rig.area.slice_mut(slot as u32, BLOCK as usize);
                assert!(got.iter().all(|b| *b == content), "block {block}");
                let mut there = vec![0; BLOCK as usize];
                outside.read_exact_at(&mut there, block * BLOCK).unwrap();
                assert_eq!(got, there);
            }
        }
    }
}

/// Reads across and beyond the end are short; a write there extends the file.
fn knows_the_end<R: Ring>() {
    let file = fresh(BLOCK + 100);
    let outside = file.try_clone().unwrap();
    let mut rig: Rig<R> = Rig::plain(file, 4 * BLOCK);
    assert_eq!(rig.one(OpKind::Read, 0, BLOCK), BLOCK as i64);
    assert_eq!(rig.one(OpKind::Read, BLOCK, BLOCK), 100);
    assert_eq!(rig.one(OpKind::Read, 3 * BLOCK, BLOCK), 0);
    let reads = [op(OpKind::Read, 0, BLOCK), op(OpKind::Read, BLOCK, BLOCK)];
    assert_eq!(rig.run(&reads), [BLOCK as i64, 100]);
    rig.area.slice_mut(0, BLOCK as usize).fill(5);
    assert_eq!(rig.one(OpKind::Write, 2 * BLOCK, BLOCK), BLOCK as i64);
    assert!(outside.metadata().unwrap().len() >= 3 * BLOCK);
    assert_eq!(rig.one(OpKind::Read, 2 * BLOCK, BLOCK), BLOCK as i64);
    assert!(rig.area.slice_mut(0, BLOCK as usize).iter().all(|b| *b == 5));
}

/// Errors on a file that is closed, opened later, closed again or opened in the wrong mode.
fn reports_bad_descriptors<R: Ring>() {
    let mut rig: Rig<R> = Rig::new(None, BLOCK, &EngineOptions::default());
    assert_eq!(rig.one(OpKind::Read, 0, BLOCK), errno(libc::EBADF));
    assert_eq!(rig.one(OpKind::Write, 0, BLOCK), errno(libc::EBADF));
    assert_eq!(rig.one(OpKind::Fsync, 0, 0), errno(libc::EBADF));
    let file = fresh(BLOCK);
    rig.ring.file_changed(0, file.as_raw_fd()).unwrap();
    assert_eq!(rig.one(OpKind::Write, 0, BLOCK), BLOCK as i64);
    rig.ring.file_changed(0, -1).unwrap();
    assert_eq!(rig.one(OpKind::Read, 0, BLOCK), errno(libc::EBADF));
    let directory = scratch();
    let path = directory.path().join("read-only");
    std::fs::write(&path, vec![0; BLOCK as usize]).unwrap();
    let read_only = File::open(path).unwrap();
    rig.ring.file_changed(0, read_only.as_raw_fd()).unwrap();
    let refused = rig.one(OpKind::Write, 0, BLOCK);
    assert!([errno(libc::EBADF), errno(libc::EACCES)].contains(&refused), "{refused}");
}

/// fsync, fdatasync and sync_file_range, alone and among writes.
fn synchronises<R: Ring>() {
    let mut rig: Rig<R> = Rig::plain(fresh(8 * BLOCK), 8 * BLOCK);
    let range = OpKind::SyncFileRange(libc::SYNC_FILE_RANGE_WRITE);
    for kind in [OpKind::Fsync, OpKind::Fdatasync, range] {
        let ops = [op(OpKind::Write, 0, BLOCK), op(kind, 0, BLOCK), op(OpKind::Write, 4096, BLOCK)];
        assert_eq!(rig.run(&ops), [BLOCK as i64, 0, BLOCK as i64], "{kind:?}");
    }
    assert_eq!(rig.one(OpKind::Trim, 0, BLOCK), errno(libc::ENOTTY), "trim of a regular file");
}

/// With O_DIRECT, unaligned I/O is refused.
fn refuses_misalignment<R: Ring>() {
    let directory = scratch();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).custom_flags(libc::O_DIRECT);
    let file = options.open(directory.path().join("direct")).unwrap();
    file.set_len(4 * BLOCK).unwrap();
    let mut rig: Rig<R> = Rig::plain(file, 4 * BLOCK);
    assert_eq!(rig.one(OpKind::Write, BLOCK, BLOCK), BLOCK as i64);
    assert_eq!(rig.one(OpKind::Read, 100, BLOCK), errno(libc::EINVAL));
    assert_eq!(rig.one(OpKind::Write, 0, 100), errno(libc::EINVAL));
    assert_eq!(rig.one(OpKind::Read, BLOCK, BLOCK), BLOCK as i64);
}

/// A full disk.
fn reports_no_space<R: Ring>() {
    let tmpfs = Tmpfs::new(16 * BLOCK);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    let file = options.open(tmpfs.path().join("full")).unwrap();
    {
        let mut rig: Rig<R> = Rig::plain(file, 32 * BLOCK);
        let results: Vec<i64> = (0..32).map(|i| rig.one(OpKind::Write, i * BLOCK, BLOCK)).collect();
        let written = results.iter().take_while(|r| **r == BLOCK as i64).count();
        assert!((8..=16).contains(&written), "{results:?}");
        assert!(results[written..].iter().all(|r| *r == errno(libc::ENOSPC)), "{results:?}");
        assert_eq!(rig.one(OpKind::Read, 0, BLOCK), BLOCK as i64);
    }
}

/// On a block device trims work. When its backing file is truncated, there are errors and no hangs.
fn handles_devices<R: Ring>() {
    let device = Loop::new(1 << 20);
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let file = options.open(&device.device).unwrap();
    let mut rig: Rig<R> = Rig::plain(file, 1 << 20);
    rig.area.slice_mut(0, BLOCK as usize).fill(7);
    assert_eq!(rig.one(OpKind::Write, 64 << 10, BLOCK), BLOCK as i64);
    assert_eq!(rig.one(OpKind::Fsync, 0, 0), 0);
    assert_eq!(rig.one(OpKind::Trim, 64 << 10, BLOCK), BLOCK as i64);
    assert_eq!(rig.one(OpKind::Read, 64 << 10, BLOCK), BLOCK as i64);
    assert!(rig.area.slice_mut(0, BLOCK as usize).iter().all(|b| *b == 0));
    // Otherwise reads would be served from read-ahead.
    let fd = rig.file.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    rig.ring.file_changed(0, -1).unwrap();
    flush_device_cache(rig.file.as_ref().unwrap()).unwrap();
    rig.ring.file_changed(0, fd).unwrap();
    OpenOptions::new().write(true).open(&device.file).unwrap().set_len(512 << 10).unwrap();
    let reads: Vec<Op> =
        (0..8).map(|i| op(OpKind::Read, (640 << 10) + i * 64 * 1024, BLOCK)).collect();
    for read in reads.iter().filter(|r| r.offset < 1 << 20) {
        assert_eq!(rig.run(&[*read]), [errno(libc::EIO)]);
    }
}

/// A ring that is dropped waits for I/O in flight, because the buffers are freed next.
fn waits_when_dropped<R: Ring>() {
    for _ in 0..20 {
        let file = fresh(64 * BLOCK);
        let mut rig: Rig<R> = Rig::plain(file, 64 * BLOCK);
        for slot in 0..DEPTH {
            let write = op(OpKind::Write, u64::from(slot) * 4 * BLOCK, 4 * BLOCK);
            assert_ne!(rig.ring.queue(slot, &write), Queued::Full);
        }
        rig.ring.submit().unwrap();
    }
}

/// With a timeout and nothing in flight, `reap` returns.
fn does_not_wait_for_nothing<R: Ring>() {
    let mut rig: Rig<R> = Rig::plain(fresh(BLOCK), BLOCK);
    let begin = std::time::Instant::now();
    assert_eq!(rig.ring.reap(1, DEPTH, Some(Duration::from_millis(1))).unwrap(), 0);
    assert!(begin.elapsed() < PATIENCE);
}

macro_rules! rings {
    ($($name:ident: $ring:ty, $($refuses:ident)?;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn moves_data() {
                super::moves_data::<$ring>(&EngineOptions::default());
            }

            #[test]
            fn knows_the_end() {
                super::knows_the_end::<$ring>();
            }

            #[test]
            fn reports_bad_descriptors() {
                super::reports_bad_descriptors::<$ring>();
            }

            #[test]
            fn synchronises() {
                super::synchronises::<$ring>();
            }

            $(#[test]
            fn $refuses() {
                super::$refuses::<$ring>();
            })?

            #[test]
            fn reports_no_space() {
                super::reports_no_space::<$ring>();
            }

            #[test]
            fn waits_when_dropped() {
                super::waits_when_dropped::<$ring>();
            }

            #[test]
            fn does_not_wait_for_nothing() {
                super::does_not_wait_for_nothing::<$ring>();
            }

            #[test]
            fn handles_devices() {
                super::handles_devices::<$ring>();
            }
        }
    )*};
}

rings! {
    sync: crate::engines::sync::Sync, refuses_misalignment;
    psync: crate::engines::psync::Psync, refuses_misalignment;
    vsync: crate::engines::vsync::Vsync, refuses_misalignment;
    pvsync: crate::engines::pvsync::Pvsync, refuses_misalignment;
    pvsync2: crate::engines::pvsync2::Pvsync2, refuses_misalignment;
    libaio: crate::engines::libaio::Libaio, refuses_misalignment;
    posixaio: crate::engines::posixaio::Posixaio, refuses_misalignment;
    io_uring: crate::engines::io_uring::IoUring, refuses_misalignment;
    mmap: crate::engines::mmap::Mmap, ;
    offload: crate::engines::offload::Offload, refuses_misalignment;
}

#[test]
fn libaio_moves_data_with_each_of_its_options() {
    let on = |set: fn(&mut EngineOptions)| {
        let mut options = EngineOptions::default();
        set(&mut options);
        moves_data::<Libaio>(&options);
    };
    on(|o| o.libaio_vectored = true);
    on(|o| o.userspace_reap = true);
    on(|o| {
        o.cmdprio_percentage = Some((50, 50));
        o.cmdprio_class = Some((2, 2));
        o.cmdprio = Some((4, 4));
    });
}

#[test]
fn libaio_takes_completions_from_the_shared_ring() {
    let options = EngineOptions { userspace_reap: true, ..EngineOptions::default() };
    let mut rig: Rig<Libaio> = Rig::new(Some(fresh(64 * BLOCK)), 64 * BLOCK, &options);
    let begin = std::time::Instant::now();
    let mut done = 0u64;
    for i in 0..1000u64 {
        let write = op(OpKind::Write, i % 64 * BLOCK, BLOCK);
        assert_eq!(rig.ring.queue((i % 8) as u32, &write), Queued::Pending);
        rig.ring.submit().unwrap();
        loop {
            let count = rig.ring.reap(0, DEPTH, None).unwrap();
            if count > 0 {
                assert_eq!(count, 1);
                let slot = (i % 8) as u32;
                assert_eq!(rig.ring.completion(0), Completion { slot, result: BLOCK as i64 });
                done += 1;
                break;
            }
            assert!(begin.elapsed() < PATIENCE);
        }
    }
    assert_eq!(done, 1000);
}

#[test]
fn pvsync2_passes_its_flags() {
    for options in [
        EngineOptions { nowait: true, ..EngineOptions::default() },
        EngineOptions { uncached: true, ..EngineOptions::default() },
        EngineOptions { hipri: true, hipri_percentage: Some(50), ..EngineOptions::default() },
    ] {
        let file = fresh(BLOCK);
        file.write_all_at(&[1; BLOCK as usize], 0).unwrap();
        let mut rig: Rig<Pvsync2> = Rig::new(Some(file), BLOCK, &options);
        let result = rig.one(OpKind::Read, 0, BLOCK);
        let fine = [BLOCK as i64, errno(libc::EOPNOTSUPP), errno(libc::EAGAIN)];
        assert!(fine.contains(&result), "{options:?}: {result}");
    }
}

/// The kernel does not use the buffers after the ring is dropped.
#[test]
fn io_uring_dropped_with_a_read_in_flight_waits_for_its_data() {
    let (source, mut sink) = std::io::pipe().unwrap();
    let mut rig: Rig<IoUring> = Rig::new(None, BLOCK, &EngineOptions::default());
    rig.ring.file_changed(0, source.as_raw_fd()).unwrap();
    assert_eq!(rig.ring.queue(0, &op(OpKind::Read, 0, BLOCK)), Queued::Pending);
    assert_eq!(rig.ring.submit().unwrap(), 1);
    let writer = std::thread::spawn(move || {
        // Gives a drop that does not wait the time to return.
        std::thread::sleep(Duration::from_millis(30));
        sink.write_all(&[7; BLOCK as usize]).unwrap();
    });
    let Rig { ring, mut area, .. } = rig;
    drop(ring);
    assert!(area.slice_mut(0, BLOCK as usize).iter().all(|b| *b == 7));
    writer.join().unwrap();
}

#[test]
fn vsync_joins_adjacent_writes_only() {
    let mut rig: Rig<Vsync> = Rig::plain(fresh(0), 16 * BLOCK);
    let write = |block: u64| op(OpKind::Write, block * BLOCK, BLOCK);
    assert_eq!(rig.ring.queue(0, &write(0)), Queued::Pending);
    assert_eq!(rig.ring.queue(1, &write(1)), Queued::Pending);
    assert_eq!(rig.ring.queue(2, &write(3)), Queued::Full);
    assert_eq!(rig.ring.queue(2, &op(OpKind::Read, 2 * BLOCK, BLOCK)), Queued::Full);
    assert_eq!(rig.ring.queue(2, &op(OpKind::Fsync, 0, 0)), Queued::Full);
    assert_eq!(rig.ring.submit().unwrap(), 2);
    assert_eq!(rig.ring.queue(2, &write(2)), Queued::Full, "it belongs to the next transfer");
    let length = |rig: &Rig<Vsync>| rig.file.as_ref().unwrap().metadata().unwrap().len();
    assert_eq!(length(&rig), 0, "what is handed over moves after the stamp of its issue");
    assert_eq!(rig.ring.reap(1, 1, None).unwrap(), 1);
    assert_eq!(length(&rig), 2 * BLOCK);
    assert_eq!(rig.ring.completion(0), Completion { slot: 0, result: BLOCK as i64 });
    assert_eq!(rig.ring.reap(1, 8, None).unwrap(), 1);
    assert_eq!(rig.ring.completion(0), Completion { slot: 1, result: BLOCK as i64 });
    assert!(matches!(rig.ring.queue(2, &op(OpKind::Fsync, 0, 0)), Queued::Done(0)));
}

#[test]
fn a_truncated_mapped_file_gives_errors() {
    let file = fresh(8 * BLOCK);
    let outside = file.try_clone().unwrap();
    let mut rig: Rig<Mmap> = Rig::plain(file, 8 * BLOCK);
    assert_eq!(rig.one(OpKind::Read, 7 * BLOCK, BLOCK), BLOCK as i64);
    outside.set_len(BLOCK).unwrap();
    assert_eq!(rig.one(OpKind::Read, 6 * BLOCK, BLOCK), errno(libc::EIO));
    assert_eq!(rig.one(OpKind::Read, 0, BLOCK), BLOCK as i64);
}

/// io_uring on a kernel that lacks features: bit 0: no registered ring, bit 1: no registered files,
/// bit 2: no registered buffers; from bit 3 on: the number of unknown flag sets.
struct Degraded<const LACKS: usize>(IoUring);

impl<const LACKS: usize> Ring for Degraded<LACKS> {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let [ring, files, buffers] = [0, 1, 2].map(|bit| LACKS >> bit & 1 == 0);
        let features = Features { skip_flag_sets: LACKS >> 3, ring, files, buffers };
        IoUring::with(setup, features).map(Degraded)
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.0.file_changed(file, fd)
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        self.0.queue(slot, op)
    }

    fn submit(&mut self) -> io::Result<u32> {
        self.0.submit()
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.0.reap(min, max, timeout)
    }

    fn completion(&self, index: u32) -> Completion {
        self.0.completion(index)
    }
}

rings! {
    io_uring_by_descriptor: crate::engines::tests::Degraded<0b1>, refuses_misalignment;
    io_uring_without_files: crate::engines::tests::Degraded<0b10>, refuses_misalignment;
    io_uring_without_buffers: crate::engines::tests::Degraded<0b100>, refuses_misalignment;
    io_uring_with_array: crate::engines::tests::Degraded<0b01_000>, refuses_misalignment;
    io_uring_cooperative: crate::engines::tests::Degraded<0b10_000>, refuses_misalignment;
    io_uring_of_an_old_kernel: crate::engines::tests::Degraded<0b11_111>, refuses_misalignment;
}
