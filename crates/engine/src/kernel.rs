//! Kernel queries that need unsafe code, for crates without it.

pub use crate::sys::cache::{PageCache, page_cache};
pub use crate::sys::cpu_samples::{CodeSample, CpuSampler};
pub use crate::sys::device::{nvme_admin, scsi};
pub use crate::sys::files::extents;
pub use crate::sys::space::{free_space, trim_free_space};
