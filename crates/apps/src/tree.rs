//! Trees of text files, grown from a seed.

use crate::Failure;
use crate::random::Words;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use suite::Draw;

/// Files of one directory.
const IN_DIRECTORY: u32 = 50;
/// Words of a line.
const LINE: u64 = 12;

/// What a tree is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Files.
    pub files: u32,
    /// Bytes of all of them together, a few per file more or less.
    pub bytes: u64,
    /// The same seed gives the same tree.
    pub seed: u64,
}

impl Shape {
    /// Sizes of the files: most are small, few are large (log-uniform over a factor of 256).
    fn sizes(&self) -> Vec<u64> {
        let mut draw = Draw::new(self.seed ^ 0x51_7e_55);
        let weights: Vec<f64> = (0..self.files)
            .map(|_| (draw.below(1 << 20) as f64 / f64::from(1 << 20) * 8.0).exp2())
            .collect();
        let all: f64 = weights.iter().sum();
        weights.iter().map(|weight| (weight / all * self.bytes as f64).round() as u64).collect()
    }

    /// Grows it below a directory, which is made.
    ///
    /// # Errors
    /// What cannot be made, and why.
    pub(crate) fn grow(&self, at: &Path) -> Result<(), Failure> {
        let mut draw = Draw::new(self.seed);
        let words = Words::new(&mut draw);
        for (number, size) in (0..).zip(self.sizes()) {
            let directory = at.join(format!("d{:03}", number / IN_DIRECTORY));
            if number % IN_DIRECTORY == 0 {
                fs::create_dir_all(&directory).map_err(|e| Failure::io("make", &directory, &e))?;
            }
            let path = directory.join(format!("f{number:06}.txt"));
            let written = File::create(&path).and_then(|file| {
                let mut file = BufWriter::with_capacity(1 << 16, file);
                text(&mut file, size, &words, &mut draw)?;
                file.flush()
            });
            written.map_err(|error| Failure::io("write", &path, &error))?;
        }
        Ok(())
    }
}

/// So many bytes of lines of words.
fn text(to: &mut impl Write, size: u64, words: &Words, draw: &mut Draw) -> std::io::Result<()> {
    let (mut left, mut line) = (size as usize, String::new());
    while left > 0 {
        line.clear();
        for _ in 0..LINE {
            line += words.draw(draw);
            line.push(' ');
        }
        line.push('\n');
        let piece = line.len().min(left);
        to.write_all(&line.as_bytes()[..piece])?;
        left -= piece;
    }
    Ok(())
}

/// Files and bytes below a directory, links not followed.
///
/// # Errors
/// What cannot be looked at, and why.
pub fn measure(at: &Path) -> Result<(u64, u64), Failure> {
    let (mut files, mut bytes) = (0, 0);
    each_file(at, &mut |_, length| {
        files += 1;
        bytes += length;
        Ok(())
    })?;
    Ok((files, bytes))
}

/// Calls `about` with every regular file below a directory and its length, links not followed.
pub(crate) fn each_file(
    at: &Path,
    about: &mut impl FnMut(&Path, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let unread = |error: std::io::Error| Failure::io("read", at, &error);
    for entry in fs::read_dir(at).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let path = entry.path();
        let metadata = match entry.metadata() {
            Ok(metadata) => metadata,
            // A server may remove what it no longer needs meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::io("look at", &path, &error)),
        };
        if metadata.is_dir() {
            each_file(&path, about)?;
        } else if metadata.is_file() {
            about(&path, metadata.len())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(at: &Path) -> Vec<(String, Vec<u8>)> {
        let mut all = Vec::new();
        each_file(at, &mut |path, _| {
            let name = path.strip_prefix(at).unwrap().display().to_string();
            all.push((name, fs::read(path).unwrap()));
            Ok(())
        })
        .unwrap();
        all.sort();
        all
    }

    #[test]
    fn a_tree_is_that_of_its_seed_and_of_its_size() {
        let scratch = testbed::scratch();
        let shape = Shape { files: 120, bytes: 1 << 20, seed: 7 };
        let grown = |name: &str, shape: Shape| {
            let at = scratch.path().join(name);
            shape.grow(&at).unwrap();
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
    fn its_text_compresses_as_text_does() {
        let scratch = testbed::scratch();
        let at = scratch.path().join("tree");
        Shape { files: 1, bytes: 1 << 20, seed: 1 }.grow(&at).unwrap();
        let packed = testbed::command("gzip").args(["-c", "-r"]).arg(&at).output().unwrap();
        let ratio = (1 << 20) as f64 / packed.stdout.len() as f64;
        assert!((2.0..6.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = measure(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.0.contains("/nowhere/at/all"), "{error}");
    }
}
