//! Random bytes of the kernel.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::Read;

/// Random bytes for tokens, keys and numbers that must differ everywhere.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    const SOURCE: &str = "/dev/urandom";
    let mut bytes = [0; N];
    let mut source = File::open(SOURCE).context(SOURCE)?;
    source.read_exact(&mut bytes).context(SOURCE)?;
    Ok(bytes)
}
