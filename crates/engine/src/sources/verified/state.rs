//! The state of a worker's verified writes, saved for a later run.
//!
//! The layout is that of Debian's fio 3.33 (version 3, taken from its files). All numbers are
//! little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0–7 | version |
//! | 8–15 | number of bytes from 24 on |
//! | 16–23 | CRC-32C of these bytes, without the final inversion |
//! | 24–31 | number of listed completions |
//! | 32–35 | queue depth |
//! | 36–39 | number of files |
//! | 40–47 | writes completed |
//! | 48–55 | number of the worker, from 0 |
//! | 56–111 | state of fio's random numbers; zeros here, as offsets follow from the job's seed |
//! | 112–175 | name of the job, zero-terminated |
//! | from 176 | file and offset of each listed completion, eight bytes each, latest first |

use crate::checksum::crc32c;
use std::path::{Path, PathBuf};

const VERSION: u64 = 3;
const HEAD: usize = 24;
const LISTED: usize = 176;
const NAME: std::ops::Range<usize> = 112..176;

/// The state of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub name: String,
    /// Number of the worker, from 0.
    pub worker: u64,
    pub depth: u32,
    pub files: u32,
    /// Number of completed writes.
    pub written: u64,
    /// File and offset of the latest writes, latest first; as many as the depth.
    pub last: Vec<(u64, u64)>,
}

/// Path of a worker's state.
pub(super) fn path(directory: &str, job: &str, worker: u64) -> PathBuf {
    Path::new(directory).join(plan::state_name(job, worker))
}

impl State {
    /// The content of the file.
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

    /// Reads the content of a file.
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

    /// Writes the file.
    pub fn save(&self, directory: &str) -> Result<(), String> {
        let path = path(directory, &self.name, self.worker);
        // Renamed into place, so that the file is never incomplete.
        let new = path.with_extension("state.new");
        let saved = std::fs::write(&new, self.encode()).and_then(|()| std::fs::rename(&new, &path));
        saved.map_err(|error| {
            // The incomplete file is useless, and may not exist.
            let _ = std::fs::remove_file(&new);
            format!("verify_state_save: {}: {error}", path.display())
        })
    }

    /// Reads the state of a worker.
    pub fn load(directory: &str, job: &str, worker: u64) -> Result<State, String> {
        let path = path(directory, job, worker);
        let failed = |what: String| format!("verify_state_load: {}: {what}", path.display());
        let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let state = State::decode(&bytes).map_err(failed)?;
        let cut = &job.as_bytes()[..job.len().min(NAME.len() - 1)];
        if state.name != String::from_utf8_lossy(cut) {
            return Err(failed(format!("it is the state of job '{}', not of '{job}'", state.name)));
        }
        Ok(state)
    }

    /// Whether the write with this number (from 0) completed for certain; `None` if neither it nor a
    /// later one was issued.
    pub fn expects(&self, number: u64, file: u32, offset: u64) -> Option<bool> {
        let depth = u64::from(self.depth);
        if number >= self.written.saturating_add(depth) {
            return None;
        }
        // Other writes may have been in flight with the latest ones: of these, only the listed ones
        // completed for certain.
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
    fn a_state_is_read_from_its_bytes_and_damage_is_detected() {
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
    fn only_completed_writes_are_expected() {
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
