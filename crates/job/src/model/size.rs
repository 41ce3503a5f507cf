//! Sizes as typed.

use record::Bytes;

/// A size as typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Bytes.
    Bytes(Bytes),
    /// Per cent of the file or device.
    Percent(f64),
    /// Zones (suffix `z`); needs a zoned device.
    Zones(u64),
}

impl Default for Size {
    fn default() -> Self {
        Size::Bytes(Bytes(0))
    }
}
