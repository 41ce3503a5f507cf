//! The rules of zoned block devices: writes go to the write pointer of their zone, one at a time;
//! zones are reset before they are written again; no more of them are open than allowed.
//!
//! All workers of a target share what is known of its zones. It is read from the device once, when
//! the first worker comes; on targets without zones of their own it is invented, all zones empty.

mod keeper;
mod state;
mod target;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use target::ZonedTargets;
pub(crate) use work::ZonedWork;
