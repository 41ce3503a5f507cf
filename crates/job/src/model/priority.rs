//! Priorities of single I/Os by their size, as typed.

/// A share of the I/Os of one size that have a priority of their own (`cmdprio_bssplit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// Size of the I/Os, in bytes.
    pub size: u64,
    /// Share of them, in per cent.
    pub percent: u8,
    /// Class, level and hint; `None`: those of cmdprio_class, cmdprio and cmdprio_hint.
    pub priority: Option<(u8, u8, u16)>,
}
