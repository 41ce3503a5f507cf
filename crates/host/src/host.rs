//! Reading small files of /proc and /sys below a root that tests can move.

use crate::Kernel;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What most files of /proc and /sys fit in, in bytes: the kernel gives them by pages.
const SMALL_FILE: usize = 4096;

/// A machine, seen through its /proc and /sys.
#[derive(Clone)]
pub struct Host {
    root: PathBuf,
    kernel: Option<Arc<dyn Kernel>>,
}

impl Host {
    /// The machine whose /proc, /sys and /dev lie under `root`: "/" for the one we run on, a
    /// directory with a recorded tree in tests. In a recorded tree the targets are looked up under
    /// `root` too, and a plain file `dev/NAME` stands for the block device NAME when the tree's
    /// sys/class/block knows it.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), kernel: None }
    }

    /// The same machine, with a kernel to ask what no file tells. Without one such facts stay
    /// unknown.
    pub fn with_kernel(self, kernel: Arc<dyn Kernel>) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// The same machine, with nobody to ask: who looks again and again at what files tell does not
    /// trouble its devices each time.
    pub fn without_kernel(self) -> Self {
        Self { kernel: None, ..self }
    }

    /// The kernel to ask, where there is one.
    pub(crate) fn kernel(&self) -> Option<&dyn Kernel> {
        self.kernel.as_deref()
    }

    /// Whether this is the machine we run on, where system calls tell more than files do.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Where a path of this machine is to be found. A relative path of the live machine stays
    /// relative to the working directory.
    pub fn real(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if self.is_live() {
            return path.to_path_buf();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The whole of a file, trailing white space cut; `None` when it cannot be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The bytes of a file; `None` when it cannot be read.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        // A file of /proc or /sys has no size to ask for. There are hundreds of them to read before
        // a run, so each is read with as few calls as can be.
        let mut file = File::open(self.real(path)).ok()?;
        let mut bytes = vec![0; SMALL_FILE];
        let mut length = 0;
        loop {
            match file.read(&mut bytes[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
            if length == bytes.len() {
                bytes.resize(2 * length, 0);
            }
        }
        bytes.truncate(length);
        Some(bytes)
    }

    /// A file that holds one number.
    pub(crate) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.trim().parse().ok()
    }

    /// The names in a directory, in order; none when it is not there.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.real(path)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Whether something is there.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.real(path).exists()
    }

    /// The path with links resolved, as this machine would name it.
    ///
    /// # Errors
    /// Those of `realpath(3)`: a component is missing, may not be searched, or links run in a
    /// circle.
    pub(crate) fn canonical(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let resolved = fs::canonicalize(self.real(path))?;
        if self.is_live() {
            return Ok(resolved);
        }
        let root = fs::canonicalize(&self.root)?;
        Ok(Path::new("/").join(resolved.strip_prefix(&root).unwrap_or(&resolved)))
    }
}

/// A list of CPU numbers as the kernel writes it ("0-3,8,10-11").
pub(crate) fn cpu_list(text: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for range in text.trim().split(',').filter(|r| !r.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse()) {
            cpus.extend(first..=last);
        }
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_have_single_numbers_and_ranges() {
        assert_eq!(cpu_list("0-2,5,7-8\n"), [0, 1, 2, 5, 7, 8]);
        assert_eq!(cpu_list(""), Vec::<u32>::new());
        assert_eq!(cpu_list("x,3"), [3]);
    }

    #[test]
    fn a_recorded_tree_is_closed_in_itself() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("proc/sys")).unwrap();
        fs::write(root.path().join("proc/sys/one"), "17\n").unwrap();
        let host = Host::at(root.path());
        assert_eq!(host.number("/proc/sys/one"), Some(17));
        assert_eq!(host.names("/proc"), ["sys"]);
        assert_eq!(host.canonical("/proc/../proc/sys/one").unwrap(), Path::new("/proc/sys/one"));
        assert!(!host.exists("/proc/self"));
    }
}
