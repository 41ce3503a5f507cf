//! All calls of the system that need `unsafe`, each with the reason why it is sound.

pub mod buffers;
pub mod files;
pub mod io;
pub mod memory;
