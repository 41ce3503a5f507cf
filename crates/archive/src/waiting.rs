//! Runs that wait for a server that cannot be reached: an archive of their own in the user's data, whose runs
//! move to the server when an archive there is next opened for adding.

use crate::location::data_directory;
use crate::{Archive, ArchiveError, Filter, Location};
use std::path::{Path, PathBuf};

impl Location {
    /// The archive of runs that wait for this server.
    ///
    /// # Errors
    /// When there is no home directory.
    pub fn waiting(&self) -> Result<Location, ArchiveError> {
        let address = self.shown().display().to_string();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let name: String = address.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let directory = data_directory()?.join("waiting");
        Ok(Location { path: directory.join(name + ".db"), is_explicit: false })
    }
}

impl Archive {
    /// Moves the runs that wait for this server to it, and says so.
    pub(crate) fn send_waiting(&mut self) {
        let Some(path) = self.waiting_file() else { return };
        let outcome = match self.move_from(&path) {
            Ok(0) => return,
            Ok(1) => format!("1 run that waited in {} was sent to the server", path.display()),
            Ok(count) => {
                format!("{count} runs that waited in {} were sent to the server", path.display())
            }
            Err(error) => format!("runs still wait in {}: {error}", path.display()),
        };
        let text = format!("{}: {outcome}", self.path().display());
        self.add_message(text);
    }

    fn waiting_file(&self) -> Option<PathBuf> {
        self.location.server()?;
        let path = self.location.waiting().ok()?.path;
        path.is_file().then_some(path)
    }

    /// Moves every run. One that another program moves at the same time is there once.
    fn move_from(&mut self, path: &Path) -> Result<u64, ArchiveError> {
        let _lock = crate::quarantine::lock(path)?;
        let mut waiting = Archive::open_existing(&Location::explicit(path))?;
        let mut oldest_first = Filter::all();
        oldest_first.sort.descending = false;
        let ids = waiting.ids(&oldest_first)?;
        for id in &ids {
            // A server that went away just after it kept a run has it under another id.
            if self.find_same(&waiting.load(id)?)?.is_none() {
                self.copy_from(&waiting, std::slice::from_ref(id))?;
            }
            waiting.remove(std::slice::from_ref(id))?;
        }
        Ok(ids.len() as u64)
    }
}
