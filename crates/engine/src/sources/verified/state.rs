//! The state of a worker's verified writes, saved for a later run.
//!
//! States are saved as fio 3.42 saves them, version 7. Version 3, of fio 3.33, is read as well (taken from
//! its files). All numbers are little-endian.
//!
//! | bytes | field of version 7 |
//! |---|---|
//! | 0–7 | version |
//! | 8–15 | number of bytes from 24 on |
//! | 16–23 | CRC-32C of these bytes, without the final inversion |
//! | 24–27 | queue depth; four bytes of padding follow |
//! | 32–39 | writes issued; with `verify_policy=fsynced` those up to the last synchronisation |
//! | 40–47 | number of the worker, from 0 |
//! | 48–55 | 1: random numbers of 64 bits |
//! | 56–103 | generator of random offsets: here "fathom" and the seed |
//! | 104–167 | name of the job, zero-terminated |
//! | from 168 | for each I/O of the depth, the number (from 0) of a write in flight; all ones: none |
//!
//! | bytes | field of version 3, where it differs |
//! |---|---|
//! | 24–31 | number of listed completions |
//! | 32–35 | queue depth |
//! | 36–39 | number of files |
//! | 40–47 | writes completed |
//! | 48–55 | number of the worker, from 0 |
//! | 56–111 | state of fio's random numbers, or zeros |
//! | 112–175 | name of the job, zero-terminated |
//! | from 176 | file and offset of each listed completion, eight bytes each, latest first |

use crate::checksum::crc32c;
use std::path::{Path, PathBuf};

const VERSION: u64 = 7;
const OLD_VERSION: u64 = 3;
const HEAD: usize = 24;
/// Bytes before the list, and those of the name, in version 7 and in version 3.
const LISTED: usize = 168;
const NAME: std::ops::Range<usize> = 104..168;
const OLD_LISTED: usize = 176;
const OLD_NAME: std::ops::Range<usize> = 112..176;
/// What marks our own generator.
const GENERATOR: &[u8; 8] = b"fathom\0\0";
/// An entry of the list without a write.
const NONE: u64 = u64::MAX;

/// The state of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub name: String,
    /// Number of the worker, from 0.
    pub worker: u64,
    pub depth: u32,
    /// Seed of its random offsets; `None`: it has none, or another program drew them.
    pub seed: Option<u64>,
    pub known: Known,
}

/// What a state says of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Version 7: writes issued, and the numbers of those that may not have ended.
    Issued { issued: u64, open: Vec<u64> },
    /// Version 3: writes completed, and file and offset of the latest, latest first, as many as the
    /// depth.
    Completed { written: u64, last: Vec<(u64, u64)> },
}

impl Default for Known {
    fn default() -> Known {
        Known::Issued { issued: 0, open: Vec::new() }
    }
}

/// Path of a worker's state.
pub(super) fn path(directory: &str, job: &str, worker: u64) -> PathBuf {
    Path::new(directory).join(plan::state_name(job, worker))
}

/// The part of a job's name that a state has room for.
fn cut(name: &str) -> &[u8] {
    &name.as_bytes()[..name.len().min(NAME.len() - 1)]
}

impl State {
    /// The content of the file. Of more writes in flight than the depth, the last are left out.
    pub fn encode(&self) -> Vec<u8> {
        let Known::Issued { issued, open } = &self.known else { return Vec::new() };
        let mut bytes = vec![0; LISTED];
        let mut put = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        put(24, &self.depth.to_le_bytes());
        put(32, &issued.to_le_bytes());
        put(40, &self.worker.to_le_bytes());
        put(48, &1u64.to_le_bytes());
        put(56, GENERATOR);
        put(64, &self.seed.unwrap_or(0).to_le_bytes());
        put(NAME.start, cut(&self.name));
        let listed = open.iter().copied().chain(std::iter::repeat(NONE));
        for number in listed.take(self.depth as usize) {
            bytes.extend_from_slice(&number.to_le_bytes());
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
        let (version, size) = (number(bytes, 0), number(bytes, 8));
        if version != VERSION && version != OLD_VERSION {
            return Err(format!("version {version} is not known, {VERSION} and {OLD_VERSION} are"));
        }
        if size != (bytes.len() - HEAD) as u64 {
            return Err(format!("it is {} bytes long, not {size}", bytes.len() - HEAD));
        }
        let crc = u64::from(crc32c(&bytes[HEAD..]));
        if crc != number(bytes, 16) {
            let expected = number(bytes, 16);
            return Err(format!("it is damaged: checksum {crc:x}, {expected:x} expected"));
        }
        if version == VERSION { State::decode_new(bytes) } else { State::decode_old(bytes) }
    }

    fn decode_new(bytes: &[u8]) -> Result<State, String> {
        let (depth, listed) = (number(bytes, 24) as u32, &bytes[LISTED..]);
        if u64::from(depth) * 8 != listed.len() as u64 {
            return Err(format!("it lists {} I/Os, not {depth}", listed.len() / 8));
        }
        let open = (0..depth as usize).map(|at| number(listed, at * 8));
        Ok(State {
            name: text(&bytes[NAME]),
            worker: number(bytes, 40),
            depth,
            seed: (bytes[56..64] == *GENERATOR).then(|| number(bytes, 64)),
            known: Known::Issued {
                issued: number(bytes, 32),
                open: open.filter(|number| *number != NONE).collect(),
            },
        })
    }

    fn decode_old(bytes: &[u8]) -> Result<State, String> {
        let listed = bytes.get(OLD_LISTED..).unwrap_or_default();
        if number(bytes, 24).checked_mul(16) != Some(listed.len() as u64) {
            let count = number(bytes, 24);
            return Err(format!("it lists {} completions, not {count}", listed.len() / 16));
        }
        let entry = |at| (number(listed, at * 16), number(listed, at * 16 + 8));
        Ok(State {
            name: text(bytes.get(OLD_NAME).unwrap_or_default()),
            worker: number(bytes, 48),
            depth: number(bytes, 32) as u32,
            seed: None,
            known: Known::Completed {
                written: number(bytes, 40),
                last: (0..listed.len() / 16).map(entry).collect(),
            },
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

    /// Reads the state of a worker, which is to continue as `own` says.
    pub fn load(directory: &str, own: &State) -> Result<State, String> {
        let path = path(directory, &own.name, own.worker);
        let failed = |what: String| format!("verify_state_load: {}: {what}", path.display());
        let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let state = State::decode(&bytes).map_err(failed)?;
        own.check(&state).map_err(failed)?;
        Ok(state)
    }

    /// Whether a loaded state can be continued.
    fn check(&self, loaded: &State) -> Result<(), String> {
        if loaded.name.as_bytes() != cut(&self.name) {
            let names = (&loaded.name, &self.name);
            return Err(format!("it is the state of job '{}', not of '{}'", names.0, names.1));
        }
        let numbered = matches!(loaded.known, Known::Issued { .. });
        match (self.seed, loaded.seed) {
            (Some(_), None) if numbered => Err("another program drew its random offsets, which \
                                                cannot be continued; verify with that program"
                .into()),
            (Some(own), Some(loaded)) if own != loaded => Err(
                "it was saved with another seed; give the randseed, job name and numjobs of the run \
                 that wrote"
                    .into(),
            ),
            _ => Ok(()),
        }
    }

    /// Whether the write with this number (from 0) completed for certain; `None` if neither it nor a
    /// later one was issued.
    pub fn expects(&self, number: u64, file: u32, offset: u64) -> Option<bool> {
        match &self.known {
            Known::Issued { issued, .. } if number >= *issued => None,
            Known::Issued { open, .. } => Some(!open.contains(&number)),
            Known::Completed { written, last } => {
                let depth = u64::from(self.depth);
                if number >= written.saturating_add(depth) {
                    return None;
                }
                // Among the latest writes, others may have been in flight: only the listed ones
                // completed for certain.
                let certain = number.saturating_add(depth) < *written;
                Some(certain || last.contains(&(u64::from(file), offset)))
            }
        }
    }
}

/// The number at a place; 0 beyond the end.
fn number(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(found) = bytes.get(at..at + 8) {
        word.copy_from_slice(found);
    }
    u64::from_le_bytes(word)
}

/// A zero-terminated text.
fn text(bytes: &[u8]) -> String {
    let text: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&text).into_owned()
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
            seed: Some(42),
            known: Known::Issued { issued: 9, open: vec![8, 5] },
        }
    }

    /// A state of version 3.
    fn old() -> Vec<u8> {
        let mut bytes = vec![0; OLD_LISTED];
        let list = [(0u64, 0x5b000u64), (0, 0x23000), (0, 0x26000), (0, 0x55000)];
        for (at, value) in [(24, list.len() as u64), (32, 4 | 1 << 32), (40, 9), (48, 1)] {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes[OLD_NAME.start..OLD_NAME.start + 2].copy_from_slice(b"st");
        for (file, offset) in list {
            bytes.extend_from_slice(&file.to_le_bytes());
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
        seal(&mut bytes, OLD_VERSION);
        bytes
    }

    fn seal(bytes: &mut [u8], version: u64) {
        let (size, crc) = ((bytes.len() - HEAD) as u64, u64::from(crc32c(&bytes[HEAD..])));
        for (at, value) in [(0, version), (8, size), (16, crc)] {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
    }

    #[test]
    fn a_state_is_read_from_its_bytes_and_damage_is_detected() {
        let bytes = state().encode();
        assert_eq!((bytes.len(), bytes[0], bytes[8]), (200, 7, 176));
        assert_eq!(bytes[168..184], [8u64.to_le_bytes(), 5u64.to_le_bytes()].concat());
        assert_eq!(bytes[184..], [0xff; 16]);
        assert_eq!(State::decode(&bytes), Ok(state()));
        for at in [0, 8, 16, 24, 40, 112, 199] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(State::decode(&damaged).is_err(), "byte {at}");
        }
        assert!(State::decode(&bytes[..180]).is_err());
    }

    #[test]
    fn only_completed_writes_are_expected() {
        let new = state();
        assert_eq!(new.expects(4, 0, 7), Some(true));
        assert_eq!(new.expects(5, 0, 7), Some(false));
        assert_eq!(new.expects(8, 0, 7), Some(false));
        assert_eq!(new.expects(9, 0, 7), None);
        let old = State::decode(&old()).unwrap();
        assert_eq!((old.name.as_str(), old.worker, old.depth), ("st", 1, 4));
        assert_eq!(old.expects(4, 0, 7), Some(true));
        assert_eq!(old.expects(5, 0, 7), Some(false));
        assert_eq!(old.expects(8, 0, 0x26000), Some(true));
        assert_eq!(old.expects(13, 0, 0x26000), None);
    }

    #[test]
    fn what_cannot_be_continued_is_refused() {
        let own = state();
        let mut bytes = state().encode();
        assert_eq!(own.check(&State::decode(&bytes).unwrap()), Ok(()));
        assert_eq!(own.check(&State::decode(&old()).unwrap()), Ok(()));
        let other = State { seed: Some(43), ..state() };
        assert!(own.check(&other).unwrap_err().contains("another seed"));
        bytes[56..104].fill(7);
        seal(&mut bytes, VERSION);
        let foreign = State::decode(&bytes).unwrap();
        assert!(own.check(&foreign).unwrap_err().contains("another program"));
        let sequential = State { seed: None, ..state() };
        assert_eq!(sequential.check(&foreign), Ok(()), "its offsets need no generator");
        let renamed = State { name: "x".into(), ..state() };
        assert!(own.check(&renamed).unwrap_err().contains("of job 'x'"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = State::decode(&bytes);
            for (mut sound, version) in [(state().encode(), VERSION), (old(), OLD_VERSION)] {
                let length = bytes.len().min(sound.len() - HEAD);
                sound[HEAD..HEAD + length].copy_from_slice(&bytes[..length]);
                seal(&mut sound, version);
                let _ = State::decode(&sound);
            }
        }
    }
}
