//! Stores that are reached through a library or a program instead of files of the kernel.

mod arrivals;
mod contract;
mod iscsi;
pub(super) mod library;
mod nfs;
mod program;
mod rados;
mod rbd;

pub use contract::{Ended, Store, StoreIo, StoreSetup};

use plan::Engine;

/// Opens the store of an engine.
pub fn open(setup: &StoreSetup<'_>) -> Result<Box<dyn Store>, String> {
    Ok(match setup.engine {
        Engine::Nfs => Box::new(nfs::Nfs::open(setup)?),
        Engine::Rbd => Box::new(rbd::Rbd::open(setup)?),
        Engine::Rados => Box::new(rados::Rados::open(setup)?),
        Engine::Custom => Box::new(program::Program::open(setup)?),
        _ => Box::new(iscsi::Iscsi::open(setup)?),
    })
}

/// The bytes that each file has now; `None` if it has no size of its own yet.
pub fn sizes(setup: &StoreSetup<'_>) -> Result<Vec<Option<u64>>, String> {
    match setup.engine {
        Engine::Nfs => nfs::sizes(setup),
        Engine::Rbd => rbd::size(setup).map(|size| vec![Some(size); setup.names.len()]),
        Engine::Rados => rados::sizes(setup),
        Engine::Custom => program::sizes(setup),
        _ => iscsi::sizes(setup),
    }
}
