//! An engine for fathom: each I/O ends at once and moves nothing. See docs/CUSTOM-ENGINES.md. It reads
//! and writes the shared memory through its descriptor instead of mapping it, so it needs no library.
//!
//! rustc -O nothing.rs
//! fathom run --name=a --ioengine=custom --custom_program=./nothing --rw=randread --bs=4k --size=1g

use std::fs::File;
use std::io::{Error, Read, Result, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::FileExt;

const SUBMISSION_TAIL: u64 = 128;
const SUBMISSION_HEAD: u64 = 192;
const COMPLETION_TAIL: u64 = 256;
const STATE: u64 = 384;
const END: u32 = 4;

struct Memory(File);

impl Memory {
    fn word(&self, place: u64) -> Result<u32> {
        let mut bytes = [0; 4];
        self.0.read_exact_at(&mut bytes, place)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn long(&self, place: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, place)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn put(&self, place: u64, bytes: &[u8]) -> Result<()> {
        self.0.write_all_at(bytes, place)
    }
}

/// A descriptor that fathom gave.
fn descriptor(number: RawFd) -> File {
    // SAFETY: fathom opened it for this program, and nothing else here uses it.
    unsafe { File::from_raw_fd(number) }
}

fn main() -> Result<()> {
    let memory = Memory(descriptor(3));
    let (mut submitted, mut completed) = (descriptor(4), descriptor(5));
    let mut magic = [0; 8];
    memory.0.read_exact_at(&mut magic, 0)?;
    if &magic != b"FATHOMIO" || memory.word(8)? != 1 {
        return Err(Error::other("another protocol"));
    }
    memory.put(STATE, &1u32.to_le_bytes())?;
    completed.write_all(&1u64.to_ne_bytes())?;

    let entries = u64::from(memory.word(48)?);
    let (submissions, completions) = (memory.long(32)?, memory.long(40)?);
    let (mut head, mut tail) = (0u32, 0u32);
    loop {
        submitted.read_exact(&mut [0; 8])?;
        while head != memory.word(SUBMISSION_TAIL)? {
            let at = submissions + u64::from(head) % entries * 32;
            let (slot, operation) = (memory.word(at)?, memory.word(at + 4)?);
            let length = memory.long(at + 24)?;
            head = head.wrapping_add(1);
            memory.put(SUBMISSION_HEAD, &head.to_le_bytes())?;
            if operation == END {
                return Ok(());
            }
            let result = if operation < 3 { length } else { 0 };
            let at = completions + u64::from(tail) % entries * 16;
            memory.put(at, &u64::from(slot).to_le_bytes())?;
            memory.put(at + 8, &result.to_le_bytes())?;
            tail = tail.wrapping_add(1);
            memory.put(COMPLETION_TAIL, &tail.to_le_bytes())?;
        }
        completed.write_all(&1u64.to_ne_bytes())?;
    }
}
