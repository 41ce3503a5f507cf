//! Files and directories made, asked for their attributes, and removed. No data moves; an I/O that
//! succeeded counts as long as a block.

use super::Queued;
use super::RingSetup;
use super::sync_engine::SyncEngine;
use crate::hot::op::Op;
use plan::{Engine, StatCall};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Result;
use std::ffi::CString;
use std::os::fd::RawFd;

type Call = fn(&std::ffi::CStr) -> Result<()>;

/// One call on each name.
pub struct Metadata {
    paths: Vec<CString>,
    call: Call,
}

impl Metadata {
    /// What the worker's engine does to its files.
    pub fn new(setup: &RingSetup<'_>) -> Metadata {
        let options = setup.options;
        // A path with a NUL in it could not have been looked at before.
        let path = |path: &str| CString::new(path).unwrap_or_default();
        Metadata {
            paths: setup.files.iter().map(|file| path(&file.path)).collect(),
            call: match (setup.worker.queue.engine, options.stat) {
                (Engine::Filecreate, _) => create,
                (Engine::Filedelete, _) => |path| rustix::fs::unlink(path),
                (Engine::Dircreate, _) => make_directory,
                (Engine::Dirdelete, _) => |path| rustix::fs::rmdir(path),
                (_, StatCall::Stat) => |path| rustix::fs::stat(path).map(drop),
                (_, StatCall::Lstat) => |path| rustix::fs::lstat(path).map(drop),
                (_, StatCall::Statx) => statx,
            },
        }
    }
}

/// Opened and closed: there is no other call that makes a file as programs do.
fn create(path: &std::ffi::CStr) -> Result<()> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map(drop)
}

/// As with files, one that is there already is no error.
fn make_directory(path: &std::ffi::CStr) -> Result<()> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        made => made,
    }
}

fn statx(path: &std::ffi::CStr) -> Result<()> {
    rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::ALL).map(drop)
}

impl SyncEngine for Metadata {
    fn execute(&mut self, _: RawFd, _: &mut [u8], op: &Op) -> Queued {
        let answer = rustix::io::retry_on_intr(|| (self.call)(&self.paths[op.file as usize]));
        Queued::Done(match answer {
            Ok(()) => op.length as i64,
            Err(error) => -i64::from(error.raw_os_error()),
        })
    }
}
