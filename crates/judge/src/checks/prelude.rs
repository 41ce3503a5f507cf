//! What every check uses.

pub(super) use super::check::{Check, CheckFunction, Proof, own_cpus};
pub(super) use crate::case::{Case, Part};
pub(super) use crate::finding::{Figure, Finding};
pub(super) use record::human::{count, counted, list, percent, size, time};
pub(super) use record::remedy::{choose, drop, lower, raise, set};
pub(super) use record::{
    DeviceFacts, Direction, Engine, Histogram, JobRecord, Medium, Remedy, Sentence, Severity,
};
