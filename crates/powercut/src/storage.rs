//! Files and devices: written by the classes, and read again by the checker.

use crate::class::Class;
use crate::sector::{SECTOR, Sector};
use crate::session::{Session, Stream, TargetShape, Write};
use engine::kernel;
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What every direct I/O accepts as alignment of memory, and the piece that is read again alone after an
/// error.
const PAGE: usize = 4096;

/// Begins the names of files in a directory.
const PREFIX: &str = "powercut-";

/// Where one stream writes.
pub trait Storage {
    /// Writes a block. Nothing promises that it is durable.
    fn write(&mut self, write: &Write, bytes: &[u8]) -> io::Result<()>;

    /// Makes all blocks of a batch durable, as the class does it.
    fn commit(&mut self, batch: &[Write]) -> io::Result<()>;
}

/// A buffer that begins at a page, as direct I/O needs it.
pub struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
}

impl AlignedBuffer {
    /// A buffer of `length` bytes.
    pub fn new(length: usize) -> AlignedBuffer {
        let bytes = vec![0; length + PAGE];
        let start = bytes.as_ptr().align_offset(PAGE);
        AlignedBuffer { bytes, start }
    }

    /// Its first bytes.
    pub fn first(&mut self, length: usize) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + length]
    }
}

/// The file or device of a stream.
pub struct FileStorage {
    class: Class,
    start: u64,
    file: File,
    /// The directory with the files of [`Class::Rename`].
    directory: PathBuf,
}

/// The path of a stream's file or directory.
fn path_of(target: &Path, shape: TargetShape, stream: &Stream) -> PathBuf {
    match shape {
        TargetShape::Directory => target.join(format!("{PREFIX}{}", stream.id)),
        TargetShape::File | TargetShape::Device => target.to_owned(),
    }
}

/// Whether a directory has a name of ours.
fn is_own_name(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.parse::<u16>().is_ok())
}

/// The first entry of a directory that is not of an earlier test.
pub fn foreign_entry(directory: &Path) -> io::Result<Option<String>> {
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !is_own_name(&name) && name != "lost+found" {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Whether a file is of an earlier test: each sector is one of ours, or zeros.
pub fn is_own_file(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let mut piece = vec![0; 1 << 20];
    let is_own = |sector: &[u8]| {
        sector.iter().all(|byte| *byte == 0)
            || matches!(Sector::decode(sector), Sector::Whole { .. } | Sector::Damaged)
    };
    loop {
        match file.read(&mut piece) {
            Ok(0) => return true,
            Ok(count) if piece[..count].chunks(SECTOR).all(is_own) => {}
            Ok(_) | Err(_) => return false,
        }
    }
}

/// Makes the files of a session, and makes them durable with their names. Files of an earlier session are
/// removed.
///
/// # Errors
/// The path and the error.
pub fn prepare(target: &Path, session: &Session) -> Result<(), String> {
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    match session.target.kind {
        TargetShape::Device => return Ok(()),
        TargetShape::File => {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(target);
            let file = file.map_err(|error| failed(target, error))?;
            lay_out(&file, session.target.size).map_err(|error| failed(target, error))?;
        }
        TargetShape::Directory => {
            for entry in fs::read_dir(target).map_err(|error| failed(target, error))?.flatten() {
                let path = entry.path();
                if entry.file_name().to_str().is_some_and(is_own_name) {
                    let is_directory = path.is_dir();
                    let removed = if is_directory {
                        fs::remove_dir_all(&path)
                    } else {
                        fs::remove_file(&path)
                    };
                    removed.map_err(|error| failed(&path, error))?;
                }
            }
            for stream in &session.streams {
                let path = path_of(target, session.target.kind, stream);
                make(&path, stream).map_err(|error| failed(&path, error))?;
            }
            sync_directory(target).map_err(|error| failed(target, error))?;
        }
    }
    let parent = target.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
    parent.map_or(Ok(()), |parent| sync_directory(&parent)).map_err(|error| failed(target, error))
}

fn make(path: &Path, stream: &Stream) -> io::Result<()> {
    if stream.class.is_of_files() {
        fs::create_dir(path)?;
        return sync_directory(path);
    }
    let file = File::create(path)?;
    // A journal grows.
    let length = if stream.class == Class::Append { 0 } else { stream.length };
    lay_out(&file, length)
}

/// Allocates a file and makes its size durable.
fn lay_out(file: &File, length: u64) -> io::Result<()> {
    if file.metadata()?.len() < length {
        // Filesystems without allocation get a file with holes.
        let _ = rustix::fs::fallocate(file, FallocateFlags::empty(), 0, length);
        file.set_len(length)?;
    }
    file.sync_all()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

impl FileStorage {
    /// Opens what a stream writes.
    ///
    /// # Errors
    /// The error of the kernel; [`io::ErrorKind::InvalidInput`] where the filesystem has no O_DIRECT.
    pub fn open(target: &Path, shape: TargetShape, stream: &Stream) -> io::Result<FileStorage> {
        let directory = path_of(target, shape, stream);
        let mut flags = OFlags::empty();
        if stream.class.is_direct() {
            flags |= OFlags::DIRECT;
        }
        if stream.class == Class::Dsync {
            flags |= OFlags::DSYNC;
        }
        let mut options = OpenOptions::new();
        match stream.class.is_of_files() {
            true => options.read(true),
            false => options.write(true).custom_flags(flags.bits() as i32),
        };
        let file = options.open(&directory)?;
        Ok(FileStorage { class: stream.class, start: stream.start, file, directory })
    }

    fn name(&self, slot: usize) -> PathBuf {
        self.directory.join(slot.to_string())
    }
}

impl Storage for FileStorage {
    fn write(&mut self, write: &Write, bytes: &[u8]) -> io::Result<()> {
        let offset = self.start + write.block.offset;
        match self.class {
            Class::Rename => {
                let temporary = self.directory.join("new");
                let file = File::create(&temporary)?;
                file.write_all_at(bytes, 0)?;
                file.sync_all()?;
                fs::rename(temporary, self.name(write.slot))
            }
            Class::Fua => {
                let slices = [IoSlice::new(bytes)];
                let flags = ReadWriteFlags::DSYNC;
                let written = rustix::io::pwritev2(&self.file, &slices, offset, flags)?;
                match written == bytes.len() {
                    true => Ok(()),
                    false => Err(io::ErrorKind::WriteZero.into()),
                }
            }
            _ => self.file.write_all_at(bytes, offset),
        }
    }

    fn commit(&mut self, batch: &[Write]) -> io::Result<()> {
        match self.class {
            Class::Dsync | Class::Fua => Ok(()),
            Class::DirectFdatasync | Class::Fdatasync | Class::Append => self.file.sync_data(),
            Class::Fsync | Class::Rename => self.file.sync_all(),
            Class::Syncfs => Ok(rustix::fs::syncfs(&self.file)?),
            Class::SyncFileRange => batch.iter().try_for_each(|write| {
                let length = u64::from(write.block.sectors) * SECTOR as u64;
                let offset = self.start + write.block.offset;
                kernel::sync_file_range(self.file.as_fd(), offset, length)
            }),
        }
    }
}

/// A file that the checker wants to read.
enum Found {
    File(File),
    /// It is not there.
    Missing,
    /// The filesystem or the device cannot give it.
    Unreadable,
}

/// Reads what a stream wrote. Opens nothing for writing.
pub struct Reader {
    /// Not used by classes that write files of a directory.
    file: Found,
    directory: Option<PathBuf>,
    start: u64,
    buffer: AlignedBuffer,
}

impl Reader {
    /// Opens what a stream wrote, with O_DIRECT if the filesystem supports it.
    ///
    /// # Errors
    /// The error of the kernel. A missing file, or one that a damaged filesystem cannot give, is none:
    /// that is a result.
    pub fn open(target: &Path, shape: TargetShape, stream: &Stream) -> io::Result<Reader> {
        let path = path_of(target, shape, stream);
        let buffer = AlignedBuffer::new(256 << 10);
        let (file, directory) = match stream.class.is_of_files() {
            true => (Found::Missing, Some(path)),
            false => (open_past_cache(&path)?, None),
        };
        Ok(Reader { file, directory, start: stream.start, buffer })
    }

    /// Adds the sectors that are found where a slot is. For files, all sectors of the file.
    pub fn read(
        &mut self,
        slot: usize,
        offset: u64,
        sectors: u16,
        found: &mut Vec<Sector>,
    ) -> io::Result<()> {
        let Some(directory) = &self.directory else {
            let length = usize::from(sectors) * SECTOR;
            if let Found::File(file) = &self.file {
                read_range(file, self.start + offset, length, &mut self.buffer, found);
            }
            found.resize(sectors.into(), self.file.sector());
            return Ok(());
        };
        let file = open_past_cache(&directory.join(slot.to_string()))?;
        if let Found::File(file) = &file {
            // More than any promise, so that a file that grew is noticed.
            let most = 256 << 10;
            let length = usize::try_from(file.metadata()?.len()).unwrap_or(most).min(most);
            read_range(file, 0, length, &mut self.buffer, found);
        }
        if found.is_empty() {
            found.resize(sectors.into(), file.sector());
        }
        Ok(())
    }
}

impl Found {
    /// A sector of which nothing was read.
    fn sector(&self) -> Sector {
        match self {
            Found::Unreadable => Sector::Unreadable,
            Found::File(_) | Found::Missing => Sector::Missing,
        }
    }
}

/// What a cut may leave of metadata and media, as the kernel reports it.
const DAMAGE: [Errno; 5] = [Errno::IO, Errno::UCLEAN, Errno::BADMSG, Errno::NODATA, Errno::NOTDIR];

fn open_past_cache(path: &Path) -> io::Result<Found> {
    let direct = OFlags::DIRECT.bits() as i32;
    let opened = OpenOptions::new().read(true).custom_flags(direct).open(path);
    let opened = match opened {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => File::open(path),
        other => other,
    };
    match opened {
        Ok(file) => Ok(Found::File(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Missing),
        Err(error) if Errno::from_io_error(&error).is_some_and(|e| DAMAGE.contains(&e)) => {
            Ok(Found::Unreadable)
        }
        Err(error) => Err(error),
    }
}

/// Reads a range in pieces: an error spoils the sectors of one piece alone.
fn read_range(
    file: &File,
    offset: u64,
    length: usize,
    buffer: &mut AlignedBuffer,
    found: &mut Vec<Sector>,
) {
    for at in (0..length).step_by(PAGE) {
        let piece = PAGE.min(length - at);
        // Direct reads are of whole pages; what is behind the range is cut off.
        let bytes = buffer.first(PAGE);
        match file.read_at(bytes, offset + at as u64) {
            Ok(count) => {
                let read = &bytes[..count.min(piece)];
                found.extend(crate::check::sectors(read));
                let whole = piece.div_ceil(SECTOR) - read.len().div_ceil(SECTOR);
                found.extend(std::iter::repeat_n(Sector::Missing, whole));
            }
            Err(_) => {
                found.extend(std::iter::repeat_n(Sector::Unreadable, piece.div_ceil(SECTOR)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check_stream;
    use crate::class::CLASSES;
    use crate::session::tests::session;

    /// Writes `batches` batches of a class into a directory and checks them.
    fn round(class: Class, batches: u64, damage: impl Fn(&Path)) -> crate::check::StreamResult {
        let directory = testbed::scratch();
        let mut session = session(class, 256 << 10);
        session.target.kind = TargetShape::Directory;
        let stream = session.streams[0].clone();
        prepare(directory.path(), &session).unwrap();
        let mut storage =
            FileStorage::open(directory.path(), TargetShape::Directory, &stream).unwrap();
        let mut writes = session.writes(&stream);
        let mut buffer = AlignedBuffer::new(64 << 10);
        for _ in 0..batches {
            let mut batch = Vec::new();
            writes.next_batch(&mut batch);
            for write in &batch {
                let bytes = buffer.first(usize::from(write.block.sectors) * SECTOR);
                write.block.encode(bytes);
                storage.write(write, bytes).unwrap();
            }
            storage.commit(&batch).unwrap();
        }
        damage(&directory.path().join("powercut-0"));
        let mut reader = Reader::open(directory.path(), TargetShape::Directory, &stream).unwrap();
        check_stream(&session, &stream, batches, |promise, found| {
            let block = promise.block;
            reader.read(promise.slot, block.offset, block.sectors, found).unwrap();
        })
    }

    #[test]
    fn what_each_class_writes_is_found_again() {
        for class in CLASSES {
            let result = round(class, 30, |_| {});
            assert!(result.losses.is_empty() && result.kept > 5, "{class:?}: {result:?}");
        }
    }

    #[test]
    fn files_that_shrank_or_are_gone_are_losses() {
        let shrunk = round(Class::Append, 8, |path| {
            OpenOptions::new().write(true).open(path).unwrap().set_len(4096).unwrap();
        });
        assert!(shrunk.losses.iter().all(|loss| loss.spoiled.missing > 0), "{shrunk:?}");
        assert!(!shrunk.losses.is_empty() && shrunk.kept + shrunk.losses.len() as u64 == 8);
        let gone = round(Class::Fsync, 8, |path| fs::remove_file(path).unwrap());
        assert_eq!((gone.kept, gone.losses.is_empty()), (0, false));
        let gone = round(Class::Rename, 8, |path| {
            fs::read_dir(path).unwrap().for_each(|e| fs::remove_file(e.unwrap().path()).unwrap());
        });
        assert_eq!((gone.kept, gone.losses.is_empty()), (0, false));
        // What should be a directory is none: its files cannot be read.
        let damaged = round(Class::Rename, 8, |path| {
            fs::remove_dir_all(path).unwrap();
            fs::write(path, []).unwrap();
        });
        let is_unreadable = |loss: &crate::check::Loss| loss.spoiled.unreadable == loss.sectors;
        assert!(damaged.kept == 0 && damaged.losses.iter().all(is_unreadable), "{damaged:?}");
    }

    #[test]
    fn a_file_with_a_wrong_size_is_torn() {
        let longer = round(Class::Rename, 12, |path| {
            for entry in fs::read_dir(path).unwrap() {
                let path = entry.unwrap().path();
                let mut bytes = fs::read(&path).unwrap();
                bytes.extend([0; 10]);
                fs::write(path, bytes).unwrap();
            }
        });
        let is_torn = |loss: &crate::check::Loss| loss.outcome == crate::check::Outcome::Torn;
        assert!(longer.kept == 0 && longer.losses.iter().all(is_torn), "{longer:?}");
    }
}
