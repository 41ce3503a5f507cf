//! What the cases work on: a file and a RAM disk that were made for them and go with them.

use super::cases::{Case, Target};
use anyhow::{Context, Result, bail};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CHUNK_BYTES: usize = 1 << 20;
const ZRAM_BYTES: u64 = 256 << 20;
const RESET_ATTEMPTS: u32 = 20;
const RESET_PAUSE: Duration = Duration::from_millis(100);

/// Reads `1073741824`, `64k`, `256m`, `1g`. Whole chunks only, so that every read of a case is
/// inside.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], 1 << 10),
        Some(b'm') => (&lower[..lower.len() - 1], 1 << 20),
        Some(b'g') => (&lower[..lower.len() - 1], 1 << 30),
        _ => (lower.as_str(), 1),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a number, or one with k, m, g")?;
    let bytes = number.checked_mul(unit).ok_or("more than a file can hold")?;
    if bytes == 0 || bytes % CHUNK_BYTES as u64 != 0 {
        return Err("expected a multiple of 1m, at least 1m".to_string());
    }
    Ok(bytes)
}

/// What [`fill`] writes.
#[derive(Clone, Copy)]
enum Content {
    /// Neither compresses nor repeats: no layer below answers without its storage.
    Noise,
    /// One word throughout: zram keeps the word for a page of it, which makes it the fastest block
    /// device there is, and what a program adds to the device's time shows most.
    Word,
}

/// Writes noise.
pub fn fill_with_noise(to: &mut impl Write, bytes: u64, interrupted: &AtomicBool) -> Result<()> {
    fill(to, bytes, Content::Noise, interrupted)
}

fn fill(to: &mut impl Write, bytes: u64, content: Content, interrupted: &AtomicBool) -> Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut chunk = vec![0; CHUNK_BYTES];
    for _ in 0..bytes / CHUNK_BYTES as u64 {
        if interrupted.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        for word in chunk.chunks_exact_mut(8) {
            if let Content::Noise = content {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
            }
            word.copy_from_slice(&state.to_le_bytes());
        }
        to.write_all(&chunk)?;
    }
    Ok(())
}

/// A file full of data that is removed when dropped.
struct ScratchFile {
    path: PathBuf,
}

impl ScratchFile {
    /// Makes a file of `bytes` in `directory`, written, not merely allocated, and on disk.
    fn make(directory: &Path, bytes: u64, interrupted: &AtomicBool) -> Result<ScratchFile> {
        let making = || format!("making the file to read in {}", directory.display());
        let file = ScratchFile { path: directory.join(format!("{}.tmp", std::process::id())) };
        eprintln!("writing {} MiB in {}", bytes >> 20, directory.display());
        let mut open = File::create_new(&file.path).with_context(making)?;
        fill_with_noise(&mut open, bytes, interrupted).with_context(making)?;
        open.sync_all().with_context(making)?;
        Ok(file)
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            eprintln!("{} could not be removed: {error}", self.path.display());
        }
    }
}

/// A compressed RAM disk that is given back when dropped.
#[derive(Debug)]
pub struct Zram {
    /// Its device file.
    pub device: PathBuf,
    control: PathBuf,
    bytes: u64,
}

/// A path that programs make a file at, which is removed when dropped.
struct Fresh(PathBuf);

impl Fresh {
    fn remove(&self) -> std::io::Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            eprintln!("{} could not be removed: {error}", self.0.display());
        }
    }
}

/// A job file of so many sections, of which the last cannot be run: what is timed is reading and
/// planning them.
fn sections(count: u32) -> String {
    let mut text = String::from("[global]\nioengine=null\nsize=1m\n");
    for section in 0..count {
        text.push_str(&format!("[section{section}]\nrw=randread\n"));
    }
    text.push_str("[refused]\nioengine=psync\nrw=write\nfilename=/dev/null/nothing\n");
    text
}

/// What the chosen cases work on, for as long as this lives.
pub struct Targets {
    file: Option<ScratchFile>,
    new_file: Fresh,
    in_memory: Fresh,
    sections: Fresh,
    /// Or why there is none.
    zram: Result<Zram, String>,
}

impl Targets {
    /// Sets up what `cases` need: a file of `bytes` in `directory`, zram. A zram that cannot be had
    /// is no error: its cases are left out.
    pub fn set_up(
        cases: &[&Case],
        directory: &Path,
        bytes: u64,
        interrupted: &AtomicBool,
    ) -> Result<Targets> {
        let needs = |target| cases.iter().any(|case| case.target == target);
        let name = |suffix: &str| format!("{}.{suffix}", std::process::id());
        let mut targets = Targets {
            file: None,
            new_file: Fresh(directory.join(name("new"))),
            in_memory: Fresh(Path::new("/dev/shm").join(name("bench"))),
            sections: Fresh(directory.join(name("fio"))),
            zram: Err("no case needs it".to_string()),
        };
        fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        if needs(Target::Sections) {
            fs::write(&targets.sections.0, sections(10_000)).context("writing a job file")?;
        }
        if needs(Target::Zram) {
            targets.zram =
                Zram::claim(Path::new("/dev/zram0"), Path::new("/sys/block/zram0"), ZRAM_BYTES);
        }
        if let Ok(zram) = &targets.zram {
            zram.fill(interrupted).context("filling zram0")?;
        }
        if needs(Target::File) {
            targets.file = Some(ScratchFile::make(directory, bytes, interrupted)?);
        }
        Ok(targets)
    }

    /// Removes what a run before left, so that the next one meets what that one met.
    pub fn renew(&self, target: Target) -> Result<()> {
        match target {
            Target::NewFile => self.new_file.remove().context("removing the file laid out"),
            Target::Memory => self.in_memory.remove().context("removing the file in memory"),
            _ => Ok(()),
        }
    }

    /// The path to run on, if the target has one, or why there is no such target.
    pub fn path(&self, target: Target) -> Result<Option<&Path>, &str> {
        match target {
            Target::Null => Ok(None),
            Target::NewFile => Ok(Some(&self.new_file.0)),
            Target::Memory => Ok(Some(&self.in_memory.0)),
            Target::Sections => Ok(Some(&self.sections.0)),
            Target::File => Ok(self.file.as_ref().map(|file| file.path.as_path())),
            Target::Zram => match &self.zram {
                Ok(zram) => Ok(Some(&zram.device)),
                Err(reason) => Err(reason),
            },
        }
    }
}

impl Zram {
    /// Gives the device a size, which takes root. A device that has one is someone's. The kernel
    /// takes one only while it has none, so of two that try one gets it.
    pub fn claim(device: &Path, control: &Path, bytes: u64) -> Result<Zram, String> {
        let disksize = control.join("disksize");
        let size = fs::read_to_string(&disksize)
            .map_err(|error| format!("no zram here ({}: {error})", disksize.display()))?;
        if size.trim() != "0" {
            return Err("zram0 is in use; it is left alone".to_string());
        }
        fs::write(&disksize, bytes.to_string())
            .map_err(|error| format!("zram0 takes no size ({error}); it takes root"))?;
        Ok(Zram { device: device.to_path_buf(), control: control.to_path_buf(), bytes })
    }

    /// Fills it with one word throughout.
    pub fn fill(&self, interrupted: &AtomicBool) -> Result<()> {
        eprintln!("filling {} with {} MiB", self.device.display(), self.bytes >> 20);
        let exclusive = i32::try_from(rustix::fs::OFlags::EXCL.bits())?;
        let mut open = OpenOptions::new().write(true).custom_flags(exclusive).open(&self.device)?;
        fill(&mut open, self.bytes, Content::Word, interrupted)?;
        open.sync_all()?;
        Ok(())
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // Whoever watches for changed devices may look at it for a moment after it was closed.
        for attempt in 1.. {
            match fs::write(self.control.join("reset"), "1") {
                Err(error)
                    if error.kind() == ErrorKind::ResourceBusy && attempt < RESET_ATTEMPTS =>
                {
                    std::thread::sleep(RESET_PAUSE);
                }
                Err(error) => {
                    eprintln!("{} could not be reset: {error}", self.device.display());
                    return;
                }
                Ok(()) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("1g"), Ok(1 << 30));
        assert_eq!(parse_size("3M"), Ok(3 << 20));
        assert_eq!(parse_size("2048k"), Ok(2 << 20));
        for wrong in ["", "g", "1x", "0", "0g", "4k", "1048577", "18446744073709551615g", "é"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_scratch_file_is_full_and_goes() {
        let scratch = tempfile::tempdir().unwrap();
        let file = ScratchFile::make(scratch.path(), 2 << 20, &AtomicBool::new(false)).unwrap();
        let data = fs::read(&file.path).unwrap();
        assert_eq!(data.len(), 2 << 20);
        let mut pages: Vec<&[u8]> = data.chunks(4096).collect();
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len(), 512);
        drop(file);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_interrupted_fill_leaves_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        assert!(ScratchFile::make(scratch.path(), 2 << 20, &AtomicBool::new(true)).is_err());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_zram_in_use_is_left_alone_and_ours_is_given_back() {
        let control = tempfile::tempdir().unwrap();
        let disksize = control.path().join("disksize");
        let device = Path::new("/dev/null");
        assert!(Zram::claim(device, control.path(), 8192).unwrap_err().contains("no zram"));
        fs::write(&disksize, "4096\n").unwrap();
        assert!(Zram::claim(device, control.path(), 8192).unwrap_err().contains("in use"));
        assert_eq!(fs::read_to_string(&disksize).unwrap(), "4096\n");
        assert!(!control.path().join("reset").exists());
        fs::write(&disksize, "0\n").unwrap();
        drop(Zram::claim(device, control.path(), 8192).unwrap());
        assert_eq!(fs::read_to_string(&disksize).unwrap(), "8192");
        assert_eq!(fs::read_to_string(control.path().join("reset")).unwrap(), "1");
    }
}
