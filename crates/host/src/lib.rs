//! What the machine is before a run, and samples of what it does during one. This is the only
//! reader of /proc and /sys, and the only writer ([`Changes`]); it reports and never judges.
//!
//! [`Host::facts`] describes the machine and the stack of devices under each target.
//! [`Sampler`] looks at the machine ten times a second while a run goes on, and
//! [`Host::look_before`] and [`Host::look_after`] at the files and the neighbours at both its ends.

mod activity;
mod below;
mod cgroup;
mod changes;
mod counters;
mod evidence;
mod facts;
mod health;
mod interrupts;
mod kernel;
mod sampler;
mod slow;
mod tree;

pub use changes::{Changes, GroupToJoin};
pub use evidence::Before;
pub use facts::TargetQuery;
pub use kernel::{Kernel, NvmeAdmin, PageCache, ScsiAnswer};
pub use sampler::{Sampler, Watched};
pub use tree::Host;
