//! What the machine is before a run, and samples of what it does during one. This is the only
//! reader of /proc and /sys; it reports and never judges. What a job itself has changed for its own
//! run is changed and put back by [`Changes`].
//!
//! [`Host::facts`] describes the machine and the stack of devices under each target.
//! [`Sampler`] looks at the machine ten times a second while a run goes on, and
//! [`Host::look_before`] and [`Host::look_after`] at the files and the neighbours at both its ends.

mod activity;
mod arrays;
mod below;
mod caches;
mod cgroup;
mod changes;
mod counters;
mod evidence;
mod facts;
mod health;
mod interrupts;
mod kernel;
mod lookout;
mod pressure;
mod sampler;
mod slow;
mod tree;
mod whose;

pub use changes::{Changes, GroupToJoin};
pub use evidence::Before;
pub use facts::{Mount, TargetQuery};
pub use kernel::{Kernel, NvmeAdmin, PageCache, ScsiAnswer};
pub use lookout::{Detail, Lookout};
pub use sampler::{Sampler, Watched};
pub use tree::Host;
