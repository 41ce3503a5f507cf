//! A machine, and reading its small files in /proc and /sys.

use crate::Kernel;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Initial buffer for files of /proc and /sys, in bytes.
const SMALL_FILE: usize = 4096;

/// A machine, read through its /proc and /sys.
#[derive(Clone)]
pub struct Host {
    root: PathBuf,
    kernel: Option<Arc<dyn Kernel>>,
}

impl Host {
    /// The machine whose /proc, /sys and /dev are under `root`: "/" for this machine, a directory
    /// with a recorded tree in tests. In a recorded tree the targets are under `root` too, and a
    /// plain file `dev/NAME` represents the block device NAME if sys/class/block has it.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), kernel: None }
    }

    /// The same machine with an implementation of kernel queries. Without one those facts are
    /// unknown.
    pub fn with_kernel(self, kernel: Arc<dyn Kernel>) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// The same machine without kernel queries, so that repeated surveys do not send commands to
    /// its devices.
    pub fn without_kernel(self) -> Self {
        Self { kernel: None, ..self }
    }

    /// The implementation of kernel queries, if there is one.
    pub(crate) fn kernel(&self) -> Option<&dyn Kernel> {
        self.kernel.as_deref()
    }

    /// Whether this is the machine we run on, where system calls work too.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The real path of a path of this machine. On the live machine a relative path stays relative
    /// to the working directory.
    pub fn real(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if self.is_live() {
            return path.to_path_buf();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The content of a file without trailing white space; `None` if it cannot be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The bytes of a file; `None` when it cannot be read.
    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        // Files of /proc and /sys have no size. Hundreds are read before a run, so each takes as
        // few calls as possible.
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

    /// The names in a directory, sorted; none if it does not exist.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.real(path)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Whether a path exists.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.real(path).exists()
    }

    /// The path with links resolved, within this machine.
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

/// The chosen one of a list that marks it with brackets ("none [mq-deadline] bfq").
pub fn bracketed(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
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
