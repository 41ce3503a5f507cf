//! Trees of text files, generated from a seed.

use crate::Failure;
use crate::random::Words;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use suite::Draw;

/// Number of files in a directory.
const FILES_PER_DIRECTORY: u32 = 50;
/// Number of words in a line.
const WORDS_PER_LINE: u64 = 12;

/// The size of a tree and its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Number of files.
    pub files: u32,
    /// Total size in bytes; rounding adds or removes at most a byte a file.
    pub bytes: u64,
    /// The same seed gives the same tree.
    pub seed: u64,
}

impl Shape {
    /// Sizes of the files: log-uniform over a factor of 256, so most are small.
    fn sizes(&self) -> Vec<u64> {
        let mut draw = Draw::new(self.seed ^ 0x51_7e_55);
        let weights: Vec<f64> = (0..self.files)
            .map(|_| (draw.below(1 << 20) as f64 / f64::from(1 << 20) * 8.0).exp2())
            .collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| (weight / total * self.bytes as f64).round() as u64).collect()
    }

    /// Generates the tree in a directory, which is created.
    pub(crate) fn generate(&self, at: &Path) -> Result<(), Failure> {
        let mut draw = Draw::new(self.seed);
        let words = Words::new(&mut draw);
        for (number, size) in (0..).zip(self.sizes()) {
            let directory = at.join(format!("d{:03}", number / FILES_PER_DIRECTORY));
            if number % FILES_PER_DIRECTORY == 0 {
                fs::create_dir_all(&directory).map_err(|e| Failure::io("make", &directory, &e))?;
            }
            let path = directory.join(format!("f{number:06}.txt"));
            let result = File::create(&path).and_then(|file| {
                let mut file = BufWriter::with_capacity(1 << 16, file);
                write_text(&mut file, size, &words, &mut draw)?;
                file.flush()
            });
            result.map_err(|error| Failure::io("write", &path, &error))?;
        }
        Ok(())
    }
}

/// Writes `size` bytes of lines of random words.
fn write_text(
    file: &mut impl Write,
    size: u64,
    words: &Words,
    draw: &mut Draw,
) -> std::io::Result<()> {
    let (mut left, mut line) = (size as usize, String::new());
    while left > 0 {
        line.clear();
        for _ in 0..WORDS_PER_LINE {
            line += words.draw(draw);
            line.push(' ');
        }
        line.push('\n');
        let piece = line.len().min(left);
        file.write_all(&line.as_bytes()[..piece])?;
        left -= piece;
    }
    Ok(())
}

/// Number and total bytes of the files below a directory. Links are not followed.
pub fn measure(at: &Path) -> Result<(u64, u64), Failure> {
    let (mut files, mut bytes) = (0, 0);
    each_file(at, &mut |_, length| {
        files += 1;
        bytes += length;
        Ok(())
    })?;
    Ok((files, bytes))
}

/// Calls `visit` with the path and length of every regular file below a directory. Links are not
/// followed.
pub(crate) fn each_file(
    at: &Path,
    visit: &mut impl FnMut(&Path, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let read_error = |error: std::io::Error| Failure::io("read", at, &error);
    for entry in fs::read_dir(at).map_err(read_error)? {
        let entry = entry.map_err(read_error)?;
        let path = entry.path();
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            // A database server may have removed the file meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::io("read the metadata of", &path, &error)),
        };
        if metadata.is_dir() {
            each_file(&path, visit)?;
        } else if metadata.is_file() {
            visit(&path, metadata.len())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(at: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        each_file(at, &mut |path, _| {
            let name = path.strip_prefix(at).unwrap().display().to_string();
            files.push((name, fs::read(path).unwrap()));
            Ok(())
        })
        .unwrap();
        files.sort();
        files
    }

    #[test]
    fn a_tree_follows_from_its_seed_and_has_its_size() {
        let scratch = testbed::scratch();
        let shape = Shape { files: 120, bytes: 1 << 20, seed: 7 };
        let grown = |name: &str, shape: Shape| {
            let at = scratch.path().join(name);
            shape.generate(&at).unwrap();
            at
        };
        let one = grown("one", shape);
        let (files, bytes) = measure(&one).unwrap();
        assert_eq!(files, 120);
        assert!(bytes.abs_diff(1 << 20) < 120, "{bytes}");
        assert_eq!(contents(&one), contents(&grown("two", shape)));
        assert_ne!(contents(&one), contents(&grown("three", Shape { seed: 8, ..shape })));
        assert!(one.join("d002/f000119.txt").is_file());
    }

    #[test]
    fn text_compresses_like_natural_text() {
        let scratch = testbed::scratch();
        let at = scratch.path().join("tree");
        Shape { files: 1, bytes: 1 << 20, seed: 1 }.generate(&at).unwrap();
        let packed = testbed::command("gzip").args(["-c", "-r"]).arg(&at).output().unwrap();
        let ratio = (1 << 20) as f64 / packed.stdout.len() as f64;
        assert!((2.0..6.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn an_error_names_the_missing_directory() {
        let error = measure(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.0.contains("/nowhere/at/all"), "{error}");
    }
}
