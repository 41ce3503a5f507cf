//! Machines recorded as text.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Writes a file of a made machine below `root`, and makes the directories above it.
///
/// # Panics
/// When it cannot be written.
#[track_caller]
pub fn put(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    fs::write(place(root, path), content).unwrap();
}

/// The place of a path below `root`, in a directory that exists.
#[track_caller]
fn place(root: &Path, path: &str) -> PathBuf {
    let place = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    place
}

/// Unpacks a recorded machine (the form is that of crates/host/tests/trees/record.sh) below a
/// directory of its own; `directories` are made besides, as a recording has no plain files.
///
/// # Panics
/// When the recording cannot be read or is no recording.
#[track_caller]
pub fn unpack(recording: &Path, directories: &[&str]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let place = |path: &str| place(root.path(), path);
    for line in fs::read_to_string(recording).unwrap().lines() {
        if let Some((path, target)) = line.split_once(" -> ") {
            std::os::unix::fs::symlink(target, place(path)).unwrap();
        } else {
            let (path, content) = line.split_once(" =").unwrap();
            let content = content.strip_prefix(' ').unwrap_or(content);
            put(root.path(), path, unescape(content));
        }
    }
    for directory in directories {
        fs::create_dir_all(place(directory)).unwrap();
    }
    root
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, length) = match (first, tail) {
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b'x', hex @ ..]) => {
                let hex = std::str::from_utf8(&hex[..2]).unwrap();
                (u8::from_str_radix(hex, 16).unwrap(), 4)
            }
            (b'\\', _) => (b'\\', 2),
            _ => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    bytes
}
