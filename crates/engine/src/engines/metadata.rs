//! Creates, stats and removes files and directories. No data moves; each success counts as one block.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, result};
use crate::hot::op::Op;
use plan::{Engine, StatCall};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Result;
use std::ffi::CString;
use std::os::fd::RawFd;

type Call = fn(&std::ffi::CStr) -> Result<()>;

/// One system call per name.
pub struct Metadata {
    paths: Vec<CString>,
    call: Call,
}

impl Metadata {
    /// The call of the worker's engine.
    pub fn new(setup: &RingSetup<'_>) -> Metadata {
        let options = setup.options;
        // The plan has looked at every path, so none contains a NUL.
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

/// Opens and closes: programs create files by opening them.
fn create(path: &std::ffi::CStr) -> Result<()> {
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map(drop)
}

/// A directory that exists is no error, as with files.
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
        let done = rustix::io::retry_on_intr(|| (self.call)(&self.paths[op.file as usize]));
        Queued::Done(result(done.map(|()| op.length)))
    }
}
