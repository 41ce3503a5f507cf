//! Layout and opening on a real disk, in memory and on a full filesystem.

use super::layout::{LayoutReport, Survey};
use super::*;
use crate::sys::files::{allocate, data_spans, free_bytes};
use crate::sys::testing::{Loop, SmallDisk, Tmpfs, scratch};
use plan::{Prepare, ReadWrite, SyncMode, Worker};
use record::TargetKind;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const M: u64 = 1 << 20;

fn worker(path: &Path, rw: ReadWrite, prepare: Prepare, length: u64) -> Worker {
    let mut worker = Worker::default();
    worker.files.push(plan::File {
        path: path.to_str().unwrap().into(),
        kind: TargetKind::File,
        start: 0,
        length,
        prepare,
        ..plan::File::default()
    });
    worker.pattern.rw = rw;
    worker
}

fn reader(path: &Path, size: u64) -> Worker {
    worker(path, ReadWrite::RandRead, Prepare::Fill { size }, size)
}

fn layout(
    worker: &Worker,
    progress: &dyn Fn(u64, u64),
    cancel: &AtomicBool,
) -> Result<LayoutReport, LayoutError> {
    survey(worker)?.run(worker, progress, cancel)
}

fn quiet(worker: &Worker) -> Result<LayoutReport, LayoutError> {
    layout(worker, &|_, _| (), &AtomicBool::new(false))
}

fn is_full_of_data(path: &Path, size: u64) -> bool {
    let file = File::open(path).unwrap();
    file.metadata().unwrap().len() >= size
        && data_spans(file.as_fd(), size).unwrap() == std::slice::from_ref(&(0..size))
}

#[test]
fn a_file_is_made_with_data_in_every_byte() {
    let directory = scratch();
    let path = directory.path().join("made");
    for size in [1, 4096, 3 * M, 20 * M + 5000] {
        let worker = reader(&path, size);
        let surveyed = survey(&worker).unwrap();
        assert_eq!((surveyed.files(), surveyed.size()), (1, size));
        assert_eq!(surveyed.missing(), size);
        let seen = RefCell::new(Vec::new());
        let note = |done, total| {
            assert_eq!(total, size);
            seen.borrow_mut().push(done);
        };
        let report = surveyed.run(&worker, &note, &AtomicBool::new(false)).unwrap();
        assert_eq!(
            report,
            LayoutReport { files: 1, bytes_written: size, ..LayoutReport::default() }
        );
        assert!(seen.borrow().is_sorted() && seen.borrow().last() == Some(&size));
        assert_eq!(fs::metadata(&path).unwrap().len(), size);
        assert!(is_full_of_data(&path, size));
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn laid_out_data_neither_compresses_nor_repeats() {
    let directory = scratch();
    let path = directory.path().join("random");
    quiet(&reader(&path, 12 * M)).unwrap();
    let data = fs::read(&path).unwrap();
    let sectors: HashSet<&[u8]> = data.chunks(512).collect();
    assert_eq!(sectors.len(), data.len() / 512);
    let mut counts = [0u32; 256];
    data.iter().for_each(|b| counts[*b as usize] += 1);
    let expected = data.len() as f64 / 256.0;
    assert!(counts.iter().all(|c| (f64::from(*c) / expected - 1.0).abs() < 0.05), "{counts:?}");
}

#[test]
fn a_file_that_fits_is_unchanged() {
    let directory = scratch();
    let path = directory.path().join("there");
    quiet(&reader(&path, 2 * M)).unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(survey(&reader(&path, 2 * M)).unwrap(), Survey::default());
    assert_eq!(quiet(&reader(&path, M)).unwrap(), LayoutReport::default());
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn only_what_is_missing_is_filled() {
    let directory = scratch();
    let path = directory.path().join("partial");
    fs::write(&path, [7; 5000]).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(4 * M).unwrap();
    file.write_all_at(&vec![9; M as usize], 2 * M).unwrap();
    file.sync_all().unwrap();
    let report = quiet(&reader(&path, 6 * M)).unwrap();
    assert_eq!(report.bytes_written, 5 * M - 8192, "the block of the first bytes is all there");
    let data = fs::read(&path).unwrap();
    assert!(data[..5000].iter().all(|b| *b == 7));
    assert!(data[2 * M as usize..3 * M as usize].iter().all(|b| *b == 9));
    assert!(is_full_of_data(&path, 6 * M));
}

#[test]
fn an_odd_end_is_continued_without_a_gap() {
    let directory = scratch();
    let path = directory.path().join("odd");
    fs::write(&path, [7; 5000]).unwrap();
    assert_eq!(quiet(&reader(&path, M + 100)).unwrap().bytes_written, M + 100 - 5000);
    let data = fs::read(&path).unwrap();
    assert!(data[..5000].iter().all(|b| *b == 7));
    assert!(data[5000..8192].iter().any(|b| *b != 0));
    assert_eq!(data.len() as u64, M + 100);
}

#[test]
fn unwritten_extents_are_filled() {
    let directory = scratch();
    let path = directory.path().join("unwritten");
    let file = File::create(&path).unwrap();
    if allocate(&file, 4 * M, false).is_err() {
        return;
    }
    assert_eq!(quiet(&reader(&path, 4 * M)).unwrap().bytes_written, 4 * M);
    assert!(is_full_of_data(&path, 4 * M));
}

#[test]
fn files_that_are_only_written_get_space_as_asked() {
    let directory = scratch();
    for (how, expected) in [("none", 0), ("native", M), ("keep", 0), ("truncate", M), ("posix", M)]
    {
        let path = directory.path().join(how);
        let mut worker = worker(&path, ReadWrite::Write, Prepare::Extend { size: M }, M);
        worker.layout.fallocate = how.into();
        let report = quiet(&worker).unwrap();
        assert_eq!(report, LayoutReport { files: 1, ..LayoutReport::default() }, "{how}");
        assert_eq!(fs::metadata(&path).unwrap().len(), expected, "{how}");
    }
}

#[test]
fn memory_filesystems_are_filled_and_reused_too() {
    let tmpfs = Tmpfs::new(8 * M);
    let path = tmpfs.path().join("memory");
    assert_eq!(quiet(&reader(&path, 2 * M)).unwrap().bytes_written, 2 * M);
    assert_eq!(quiet(&reader(&path, 2 * M)).unwrap(), LayoutReport::default());
}

#[test]
fn a_full_disk_is_reported_with_figures_and_left_unchanged() {
    let tmpfs = Tmpfs::new(4 * M);
    let path = tmpfs.path().join("big");
    for how in ["native", "none"] {
        let mut worker = reader(&path, 16 * M);
        worker.layout.fallocate = how.into();
        let error = quiet(&worker).unwrap_err();
        assert!(error.to_string().contains("the filesystem is full"), "{error}");
        let LayoutError::NoSpace { needed, free, .. } = error else { panic!("{error}") };
        // tmpfs counts its free pages per CPU and in batches.
        assert!(needed >= 12 * M && free.abs_diff(4 * M) <= M, "{needed} {free}");
        assert!(!path.exists(), "{how}");
        fs::write(&path, vec![3; M as usize]).unwrap();
        quiet(&worker).unwrap_err();
        assert!(fs::read(&path).unwrap() == vec![3; M as usize], "{how}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn files_that_are_only_written_need_no_free_space_in_advance() {
    let disk = SmallDisk::new(16 * M);
    let path = disk.path().join("big");
    let free = || free_bytes(File::open(disk.path()).unwrap()).unwrap();
    for (how, short) in
        [("none", false), ("native", true), ("truncate", false), ("keep", true), ("posix", true)]
    {
        for had in [None, Some(M)] {
            let _ = fs::remove_file(&path);
            had.inspect(|bytes| fs::write(&path, vec![3; *bytes as usize]).unwrap());
            File::open(disk.path()).unwrap().sync_all().unwrap();
            let before = free();
            let mut worker = worker(&path, ReadWrite::Write, Prepare::Extend { size: 64 * M }, M);
            worker.layout.fallocate = how.into();
            let report = quiet(&worker).unwrap();
            let unallocated =
                if short { vec![path.to_str().unwrap().to_owned()] } else { Vec::new() };
            assert_eq!((report.files, report.unallocated), (1, unallocated), "{how}");
            assert!(before.abs_diff(free()) < M, "{how} {had:?}: what it took is given back");
            let expected = if how == "truncate" { 64 * M } else { had.unwrap_or(0) };
            assert_eq!(fs::metadata(&path).unwrap().len(), expected, "{how} {had:?}");
        }
    }
}

#[test]
fn a_full_disk_is_left_unchanged_with_direct_io_too() {
    let disk = SmallDisk::new(16 * M);
    let path = disk.path().join("big");
    for how in ["native", "none", "truncate", "keep", "posix"] {
        let mut worker = reader(&path, 64 * M);
        worker.layout.fallocate = how.into();
        let free = free_bytes(File::open(disk.path()).unwrap()).unwrap();
        let error = quiet(&worker).unwrap_err();
        let LayoutError::NoSpace { needed, free: reported, .. } = error else { panic!("{error}") };
        assert!(needed > 64 * M - 16 * M && needed <= 64 * M, "{how}: {needed}");
        assert!(reported.abs_diff(free) <= M && !path.exists(), "{how}: {reported} of {free}");
    }
}

#[test]
fn an_interrupted_layout_continues_where_it_stopped() {
    let directory = scratch();
    let path = directory.path().join("interrupted");
    let worker = reader(&path, 64 * M);
    let cancel = AtomicBool::new(false);
    let stop = |done: u64, _| cancel.store(done >= 10 * M, Ordering::Relaxed);
    assert!(matches!(layout(&worker, &stop, &cancel), Err(LayoutError::Interrupted)));
    let rest = survey(&worker).unwrap().missing();
    assert!((40 * M..=54 * M).contains(&rest), "{rest}");
    assert_eq!(quiet(&worker).unwrap().bytes_written, rest);
    assert!(is_full_of_data(&path, 64 * M));
}

#[test]
fn a_file_that_cannot_be_created_is_an_error() {
    let directory = scratch();
    let mut worker = reader(&directory.path().join("absent"), M);
    worker.layout.allow_create = false;
    let error = quiet(&worker).unwrap_err().to_string();
    assert!(error.contains("allow_file_create=0"), "{error}");
    fs::write(directory.path().join("file"), "").unwrap();
    let error = quiet(&reader(&directory.path().join("file/such"), M)).unwrap_err().to_string();
    assert!(error.contains("file/such"), "{error}");
    quiet(&reader(&directory.path().join("made/on/the/way"), M)).unwrap();
    let error = quiet(&reader(directory.path(), M)).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
}

fn open_flags(fd: i32) -> i32 {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap();
    let line = info.lines().find(|l| l.starts_with("flags:")).unwrap();
    i32::from_str_radix(line.split_whitespace().nth(1).unwrap(), 8).unwrap()
}

#[test]
fn files_are_opened_as_the_job_needs() {
    let directory = scratch();
    let path = directory.path().join("file");
    let mut worker = worker(&path, ReadWrite::Write, Prepare::OnOpen { size: M }, M);
    worker.queue.direct = true;
    worker.syncing.mode = SyncMode::Dsync;
    worker.syncing.end_fsync = true;
    worker.syncing.fsync_on_close = true;
    let mut files = OpenFiles::new(&worker);
    assert_eq!(files.fd(0), -1);
    let fd = files.open(0).unwrap();
    assert_eq!((files.open(0).unwrap(), files.fd(0)), (fd, fd));
    let flags = open_flags(fd);
    assert_eq!(flags & libc::O_ACCMODE, libc::O_RDWR);
    assert!(flags & libc::O_DIRECT != 0 && flags & libc::O_SYNC == libc::O_DSYNC);
    files.sync_at_end().unwrap();
    files.close_all().unwrap();
    assert_eq!(files.fd(0), -1);
    files.sync_at_end().unwrap();
    files.unlink_all().unwrap();
    files.unlink_all().unwrap();
    assert!(!path.exists());
    assert_eq!(files.take_warnings(), [] as [String; 0]);
}

#[test]
fn a_file_that_a_log_only_reads_is_opened_read_only() {
    let directory = scratch();
    let paths = ["source", "target"].map(|name| directory.path().join(name));
    fs::write(&paths[0], "x").unwrap();
    let prepare = Prepare::OnOpen { size: 1 };
    let rw = ReadWrite::Replay { reads: true, writes: true, trims: false };
    let mut worker = worker(&paths[0], rw, prepare, 1);
    worker
        .files
        .push(plan::File { path: paths[1].to_str().unwrap().into(), ..worker.files[0].clone() });
    let mut log = trace::Recording::default();
    log.files = vec![trace::FileUse::default(), trace::FileUse::default()];
    log.files[0].ios.read = 1;
    log.files[1].ios.write = 1;
    worker.replay = Some(plan::Replay { recording: log.into(), stalls: false });
    let mut files = OpenFiles::new(&worker);
    let modes = [0, 1].map(|index| open_flags(files.open(index).unwrap()) & libc::O_ACCMODE);
    assert_eq!(modes, [libc::O_RDONLY, libc::O_RDWR]);
    files.sync_at_end().unwrap();
    files.close_all().unwrap();
}

#[test]
fn readers_create_no_file_unless_asked() {
    let directory = scratch();
    let path = directory.path().join("file");
    let mut worker = worker(&path, ReadWrite::Read, Prepare::OnOpen { size: M }, M);
    let error = OpenFiles::new(&worker).open(0).unwrap_err();
    assert_eq!(error.errno(), libc::ENOENT);
    assert!(!path.exists());
    worker.layout.on_open = true;
    let mut files = OpenFiles::new(&worker);
    let fd = files.open(0).unwrap();
    assert_eq!(open_flags(fd) & libc::O_ACCMODE, libc::O_RDONLY);
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn devices_are_opened_and_their_cache_is_dropped() {
    let device = Loop::new(M);
    let mut worker = worker(Path::new(&device.device), ReadWrite::Read, Prepare::Nothing, M);
    worker.files[0].kind = TargetKind::Block;
    pre_read(&worker, &AtomicBool::new(false)).unwrap();
    let mut files = OpenFiles::new(&worker);
    let fd = files.open(0).unwrap();
    assert!(open_flags(fd) & libc::O_NOATIME != 0);
    files.unlink_all().unwrap();
    assert!(Path::new(&device.device).exists());
    assert_eq!(files.take_warnings(), [] as [String; 0]);
}

#[test]
fn pre_read_reports_files_that_it_cannot_open() {
    let worker = reader(Path::new("/no/such/file"), M);
    let error = pre_read(&worker, &AtomicBool::new(false)).unwrap_err();
    assert_eq!((error.action, error.errno()), (Action::PreRead, libc::ENOENT));
}
