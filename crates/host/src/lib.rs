//! What the machine is before a run, and samples of what it does during one. This is the only
//! reader of /proc and /sys; it reports and never judges.
//!
//! [`Host::facts`] describes the machine and the stack of devices under each target.
//! [`Sampler`] looks at the machine once a second while a run goes on.

mod counters;
mod facts;
mod kernel;
mod sampler;
mod tree;

pub use facts::TargetQuery;
pub use kernel::{Kernel, NvmeAdmin, PageCache, ScsiAnswer};
pub use sampler::Sampler;
pub use tree::Host;
