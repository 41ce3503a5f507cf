//! System calls that need `unsafe`, each with the reason why it is sound.

pub mod aio;
pub mod buffers;
pub mod cache;
pub mod clock;
pub mod cpu_samples;
pub mod device;
pub mod fault;
pub mod files;
pub mod io;
pub mod memory;
pub mod mpi;
pub mod mtd;
pub mod nvme;
pub mod poll;
pub mod posix_aio;
pub mod rdma;
pub mod scsi;
pub mod space;
pub mod stores;
#[cfg(test)]
pub mod testing;
pub mod thread;
pub mod tsc;
pub mod uring;
pub mod zones;
