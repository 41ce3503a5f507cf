//! The directories of a call: its data, which goes at the end, and its results.

use anyhow::{Context, Result};
use compat::io500::Io500Command;
use runner::Refusal;
use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};

/// The name of the file that files of the run are newer than.
const MARK: &str = "timestampfile";

/// The directories of a call. Its data is removed with the value.
pub struct Places {
    /// The data.
    pub data: PathBuf,
    /// The results.
    pub results: PathBuf,
    /// The file that files of the run are newer than. It is beside the data, so that one clock gives the time
    /// of both.
    pub mark: PathBuf,
    /// Directories above the data that were not there, the lowest first.
    created: Vec<PathBuf>,
    keep: bool,
}

impl Places {
    /// The paths of the data and the results of a call at this time.
    pub fn paths(call: &Io500Command, stamp: &str) -> (PathBuf, PathBuf) {
        let at = |directory: &str, has_stamp: bool| match has_stamp {
            true => Path::new(directory).join(stamp),
            false => PathBuf::from(directory),
        };
        (at(&call.datadir, call.timestamp_datadir), at(&call.resultdir, call.timestamp_resultdir))
    }

    /// Creates the directories, of which `datadir` and `resultdir` may be missing, but nothing above them: a
    /// filesystem that is not mounted would not be noticed.
    pub fn create(call: &Io500Command, stamp: &str, keep: bool) -> Result<Places> {
        let (data, results) = Places::paths(call, stamp);
        if holds_something(&data) {
            return Err(Refusal::target(format!(
                "{} holds something: remove it, or set timestamp-datadir = TRUE",
                data.display()
            )));
        }
        check_above(&call.datadir, "datadir")?;
        check_above(&call.resultdir, "resultdir")?;
        let missing = data.ancestors().take_while(|path| !is_there(path));
        let created: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        let mark = data.join(MARK);
        let places = Places { data, results, mark, created, keep };
        for name in Io500Command::DIRECTORIES {
            create(&places.data.join(name))?;
        }
        create(&places.results)?;
        fs::write(&places.mark, "").with_context(|| cannot(&places.mark, "created"))?;
        Ok(places)
    }

    /// Removes the data, unless it is kept.
    pub fn remove(&self) -> Result<()> {
        if self.keep {
            return Ok(());
        }
        for name in Io500Command::DIRECTORIES {
            let path = self.data.join(name);
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != NotFound => {
                    return Err(error).with_context(|| cannot(&path, "removed"));
                }
                _ => {}
            }
        }
        let _ = fs::remove_file(&self.mark);
        for directory in &self.created {
            // Fails if it holds something else.
            let _ = fs::remove_dir(directory);
        }
        Ok(())
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // An error was reported where it was removed first.
        let _ = self.remove();
    }
}

fn cannot(path: &Path, what: &str) -> String {
    format!("{}: cannot be {what}", path.display())
}

fn create(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| cannot(path, "created"))
}

fn is_there(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.exists()
}

/// The directory of a setting may be missing, but not the one above it.
fn check_above(directory: &str, key: &str) -> Result<()> {
    match Path::new(directory).parent() {
        Some(above) if !is_there(above) => Err(Refusal::usage(format!(
            "{} is not there: create it, or set another {key} in [global]",
            above.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether a directory is there and holds something.
fn holds_something(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}
