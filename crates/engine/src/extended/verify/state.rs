//! How far a worker's verified writes came, in a file for a later run.
//!
//! The layout is the one Debian's fio 3.33 writes (version 3, seen in its files). All numbers have
//! their least significant byte first.
//!
//! | bytes | what |
//! |---|---|
//! | 0–7 | version |
//! | 8–15 | bytes from 24 on |
//! | 16–23 | CRC-32C of them, without the final inversion |
//! | 24–31 | how many completions are listed |
//! | 32–35 | queue depth |
//! | 36–39 | number of files |
//! | 40–47 | writes completed |
//! | 48–55 | number of the worker, from 0 |
//! | 56–111 | state of fio's random numbers: zeros here, offsets go by the job's seed |
//! | 112–175 | name of the job, ended by a zero |
//! | from 176 | of each listed completion, the last one first: file and offset, eight bytes each |

use super::checksum::crc32c;
use std::path::{Path, PathBuf};

const VERSION: u64 = 3;
const HEAD: usize = 24;
const LISTED: usize = 176;
const NAME: std::ops::Range<usize> = 112..176;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub name: String,
    /// From 0.
    pub worker: u64,
    pub depth: u32,
    pub files: u32,
    /// Writes completed.
    pub written: u64,
    /// File and offset of the last ones, the very last first; as many as may be in flight.
    pub last: Vec<(u64, u64)>,
}

/// Where the state of a worker is.
pub(super) fn path(directory: &str, job: &str, worker: u64) -> PathBuf {
    Path::new(directory).join(plan::state_name(job, worker))
}

impl State {
    /// The bytes of its file.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; LISTED];
        let mut put = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        put(24, &(self.last.len() as u64).to_le_bytes());
        put(32, &self.depth.to_le_bytes());
        put(36, &self.files.to_le_bytes());
        put(40, &self.written.to_le_bytes());
        put(48, &self.worker.to_le_bytes());
        let name = self.name.as_bytes();
        put(NAME.start, &name[..name.len().min(NAME.len() - 1)]);
        for (file, offset) in &self.last {
            bytes.extend_from_slice(&file.to_le_bytes());
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
        let (size, crc) = ((bytes.len() - HEAD) as u64, u64::from(crc32c(&bytes[HEAD..])));
        bytes[..8].copy_from_slice(&VERSION.to_le_bytes());
        bytes[8..16].copy_from_slice(&size.to_le_bytes());
        bytes[16..24].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn decode(bytes: &[u8]) -> Result<State, String> {
        if bytes.len() < LISTED {
            return Err(format!("{} bytes are no state, which has {LISTED} at least", bytes.len()));
        }
        let number = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let (version, size) = (number(0), number(8));
        if version != VERSION {
            return Err(format!("version {version} is not known, {VERSION} is"));
        }
        if size != (bytes.len() - HEAD) as u64 {
            return Err(format!("it is {} bytes long, not {size}", bytes.len() - HEAD));
        }
        let crc = u64::from(crc32c(&bytes[HEAD..]));
        if crc != number(16) {
            return Err(format!("it is damaged: checksum {crc:x}, {:x} expected", number(16)));
        }
        let listed = &bytes[LISTED..];
        if number(24).checked_mul(16) != Some(listed.len() as u64) {
            return Err(format!("it lists {} completions, not {}", listed.len() / 16, number(24)));
        }
        let name: Vec<u8> = bytes[NAME].iter().copied().take_while(|byte| *byte != 0).collect();
        let depth_and_files = number(32);
        Ok(State {
            name: String::from_utf8_lossy(&name).into_owned(),
            worker: number(48),
            depth: depth_and_files as u32,
            files: (depth_and_files >> 32) as u32,
            written: number(40),
            last: (0..listed.len() / 16)
                .map(|at| (number(LISTED + at * 16), number(LISTED + at * 16 + 8)))
                .collect(),
        })
    }

    /// Writes it to its file.
    ///
    /// # Errors
    /// What the system says, with the path.
    pub fn save(&self, directory: &str) -> Result<(), String> {
        let path = path(directory, &self.name, self.worker);
        // Never half a state: it replaces an older one as a whole.
        let new = path.with_extension("state.new");
        let saved = std::fs::write(&new, self.encode()).and_then(|()| std::fs::rename(&new, &path));
        saved.map_err(|error| {
            // What was begun of it is of no use; if it was not even begun, there is nothing there.
            let _ = std::fs::remove_file(&new);
            format!("verify_state_save: {}: {error}", path.display())
        })
    }

    /// Reads the state of a worker.
    ///
    /// # Errors
    /// There is none, it is damaged, or it is another job's.
    pub fn load(directory: &str, job: &str, worker: u64) -> Result<State, String> {
        let path = path(directory, job, worker);
        let said = |what: String| format!("verify_state_load: {}: {what}", path.display());
        let bytes = std::fs::read(&path).map_err(|error| said(error.to_string()))?;
        let state = State::decode(&bytes).map_err(said)?;
        let cut = &job.as_bytes()[..job.len().min(NAME.len() - 1)];
        if state.name != String::from_utf8_lossy(cut) {
            return Err(said(format!("it is the state of job '{}', not of '{job}'", state.name)));
        }
        Ok(state)
    }

    /// Whether the write with this number (from 0) can be expected: `None` when neither it nor any
    /// later one can.
    pub fn expects(&self, number: u64, file: u32, offset: u64) -> Option<bool> {
        let depth = u64::from(self.depth);
        if number >= self.written.saturating_add(depth) {
            return None;
        }
        // As many as the depth may have been in flight around the last ones: only those listed are
        // known to have completed.
        let certain = number.saturating_add(depth) < self.written;
        Some(certain || self.last.contains(&(u64::from(file), offset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state() -> State {
        State {
            name: "st".into(),
            worker: 1,
            depth: 4,
            files: 1,
            written: 9,
            last: vec![(0, 0x5b000), (0, 0x23000), (0, 0x26000), (0, 0x55000)],
        }
    }

    #[test]
    fn a_state_comes_back_from_its_bytes_and_damage_is_seen() {
        let bytes = state().encode();
        assert_eq!((bytes.len(), bytes[8]), (240, 216));
        assert_eq!(State::decode(&bytes), Ok(state()));
        for at in [0, 8, 16, 24, 40, 112, 239] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(State::decode(&damaged).is_err(), "byte {at}");
        }
        assert!(State::decode(&bytes[..200]).is_err());
    }

    #[test]
    fn only_what_is_known_to_have_completed_is_expected() {
        let state = state();
        assert_eq!(state.expects(4, 0, 7), Some(true));
        assert_eq!(state.expects(5, 0, 7), Some(false));
        assert_eq!(state.expects(8, 0, 0x26000), Some(true));
        assert_eq!(state.expects(13, 0, 0x26000), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = State::decode(&bytes);
            let mut sound = state().encode();
            let length = bytes.len().min(sound.len() - HEAD);
            sound[HEAD..HEAD + length].copy_from_slice(&bytes[..length]);
            let crc = u64::from(crc32c(&sound[HEAD..]));
            sound[16..24].copy_from_slice(&crc.to_le_bytes());
            let _ = State::decode(&sound);
        }
    }
}
