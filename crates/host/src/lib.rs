//! What the machine is before a run, and samples of what it does during one. This is the only
//! reader of /proc and /sys; it reports and never judges. What a job itself has changed for its own
//! run is changed and put back by [`Changes`].
//!
//! [`Host::facts`] describes the machine and the stack of devices under each target.
//! [`Sampler`] looks at the machine ten times a second while a run goes on, and
//! [`Host::evidence_before`] and [`Host::evidence_after`] at the files and the neighbours at both its ends.

mod activity;
mod arrays;
mod caches;
mod cgroup;
mod changes;
mod counters;
mod evidence;
mod facts;
mod health;
mod host;
mod identity;
mod interrupts;
mod kernel;
mod pressure;
mod sample_reader;
mod sampler;
mod slow_reader;
mod walk;

pub use changes::{Changes, GroupToJoin};
pub use evidence::EvidenceBefore;
pub use facts::{Mount, TargetQuery};
pub use host::Host;
pub use kernel::{Kernel, NvmeAdmin, PageCache, ScsiAnswer};
pub use sample_reader::{Detail, SampleReader};
pub use sampler::{Sampler, SamplerConfig};
