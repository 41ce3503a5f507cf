//! `pre_read`: reads files into the page cache before the run.

use super::{Action, FileError};
use plan::Worker;
use record::TargetKind;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads the regions of all files of `worker` into the page cache, until `cancel` is set.
pub fn pre_read(worker: &Worker, cancel: &AtomicBool) -> Result<(), FileError> {
    let mut buffer = vec![0; 1 << 20];
    for planned in &worker.files {
        if !matches!(planned.kind, TargetKind::File | TargetKind::Missing | TargetKind::Block) {
            continue;
        }
        // Without O_DIRECT even if direct=1, to fill the page cache.
        let end = planned.start.saturating_add(planned.length);
        File::open(&planned.path)
            .and_then(|file| read_through(&file, planned.start, end, &mut buffer, cancel))
            .map_err(|e| FileError::new(Action::PreRead, &planned.path, e))?;
    }
    Ok(())
}

fn read_through(
    file: &File,
    start: u64,
    end: u64,
    buffer: &mut [u8],
    cancel: &AtomicBool,
) -> io::Result<()> {
    let mut position = start;
    while position < end && !cancel.load(Ordering::Relaxed) {
        let length = (end - position).min(buffer.len() as u64) as usize;
        match file.read_at(&mut buffer[..length], position) {
            Ok(0) => break,
            Ok(count) => position += count as u64,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
