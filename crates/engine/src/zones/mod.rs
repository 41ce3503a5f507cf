//! The rules of zoned block devices: writes go to the write pointer of their zone, one at a time;
//! zones are reset before they are written again; no more of them are open than allowed.
//!
//! All workers of a target share the state of its zones. It is read from the device when the first
//! worker starts. On targets without zones it is emulated, with all zones empty.

mod placement;
mod state;
mod target;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use target::ZonedTargets;
pub(crate) use work::ZonedWork;
