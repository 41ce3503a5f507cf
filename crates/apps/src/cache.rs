//! Empties caches, so that the work after it reads from the disk.

use crate::Failure;
use crate::tree::each_file;
use host::Host;
use record::CacheState;
use rustix::fs::{Advice, fadvise, syncfs};
use std::fs::File;
use std::path::Path;

/// Writes all dirty data of a directory's filesystem to the disk (syncfs(2)).
///
/// # Errors
/// What could not be written, and why.
pub fn sync(at: &Path) -> Result<(), Failure> {
    let synced = File::open(at).and_then(|directory| Ok(syncfs(&directory)?));
    synced.map_err(|error| Failure::io("synchronise", at, &error))
}

/// Empties caches as far as this user may: all caches of the kernel, or else the page cache of the
/// files below a directory. Dirty data is written first.
///
/// # Errors
/// When neither is possible, and why.
pub fn empty(host: &Host, at: &Path) -> Result<CacheState, Failure> {
    sync(at)?;
    if host.drop_caches().is_ok() {
        return Ok(CacheState::Dropped);
    }
    advise(at)?;
    Ok(CacheState::Advised)
}

fn advise(at: &Path) -> Result<(), Failure> {
    each_file(at, &mut |path, _| {
        let advised =
            File::open(path).and_then(|file| Ok(fadvise(&file, 0, None, Advice::DontNeed)?));
        advised.map_err(|error| Failure::io("take from the page cache", path, &error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_right_to_drop_caches_files_are_advised() {
        let scratch = testbed::scratch();
        std::fs::write(scratch.path().join("file"), vec![1; 1 << 20]).unwrap();
        // A machine without `drop_caches`.
        let elsewhere = testbed::scratch();
        let state = empty(&Host::at(elsewhere.path()), scratch.path()).unwrap();
        assert_eq!(state, CacheState::Advised);
        let cached = cached_pages(&scratch.path().join("file"));
        assert_eq!(cached, Some(0), "nothing of the file is in memory");
    }

    /// Pages of a file in the page cache, as fincore of util-linux counts them.
    fn cached_pages(path: &Path) -> Option<u64> {
        let said = testbed::system("fincore", &["-n", "-o", "PAGES", path.to_str()?]);
        said.trim().parse().ok()
    }
}
