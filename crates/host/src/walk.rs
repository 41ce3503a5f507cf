//! The files below a directory.

use crate::Host;
use std::path::Path;
use std::{fs, io};

impl Host {
    /// Every regular file below `directory`, sorted by path. Links are not followed, so that the
    /// walk stays inside and ends.
    ///
    /// # Errors
    /// The first directory that cannot be read.
    pub fn files_below(&self, directory: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut open = vec![directory.trim_end_matches('/').to_owned()];
        while let Some(directory) = open.pop() {
            let real = self.real(Path::new(if directory.is_empty() { "/" } else { &directory }));
            for entry in fs::read_dir(real)? {
                let entry = entry?;
                // A job cannot name a file whose name is not UTF-8.
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
                let path = format!("{directory}/{name}");
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    open.push(path);
                } else if kind.is_file() {
                    found.push(path);
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_at_every_depth_and_links_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("tree/deep/deeper")).unwrap();
        for path in ["tree/b", "tree/a", "tree/deep/deeper/c", "outside"] {
            fs::write(at(path), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("outside"), at("tree/link")).unwrap();
        std::os::unix::fs::symlink(at("tree"), at("tree/deep/circle")).unwrap();
        let tree = at("tree").display().to_string();
        let found = Host::at("/").files_below(&format!("{tree}/")).unwrap();
        let expected = ["a", "b", "deep/deeper/c"].map(|path| format!("{tree}/{path}"));
        assert_eq!(found, expected);
        assert!(Host::at("/").files_below(&at("nowhere").display().to_string()).is_err());
    }
}
