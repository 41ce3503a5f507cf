//! Facts about the machine before a run, and samples of it during one. This is the only reader of
//! /proc and /sys; it reports and never judges. [`Changes`] makes the changes that a job asks for
//! and restores them.
//!
//! [`Host::facts`] describes the machine and the stack of devices under each target. [`Sampler`]
//! samples the machine ten times a second during a run. [`Host::evidence_before`] and
//! [`Host::evidence_after`] examine the files and the other processes at its ends.

mod activity;
mod application;
mod arrays;
mod caches;
mod cgroup;
mod changes;
mod code;
mod counters;
mod evidence;
mod facts;
mod health;
mod host;
mod identity;
mod interrupts;
mod kernel;
mod launcher;
mod phase_samples;
mod pressure;
mod sample_reader;
mod sampler;
mod slow_reader;
mod walk;

pub use application::{ApplicationQuery, ApplicationReader};
pub use changes::{Changes, GroupToJoin};
pub use code::CodeSamples;
pub use evidence::EvidenceBefore;
pub use facts::{Mount, TargetQuery};
pub use host::{Host, bracketed};
pub use kernel::{Kernel, NvmeAdmin, PageCache, ScsiAnswer};
pub use launcher::Launcher;
pub use phase_samples::PhaseSamples;
pub use sample_reader::{Detail, SampleReader};
pub use sampler::{Sampler, SamplerConfig};
