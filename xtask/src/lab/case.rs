//! What is done in the guest.

/// An engine on a device.
pub struct Case {
    /// `ENGINE-WHAT`.
    pub(super) name: &'static str,
    /// In words, for the table.
    pub(super) proves: &'static str,
    /// Not with `--quick`.
    pub(super) is_long: bool,
    /// Lines of shell; the first that fails ends the case.
    pub(super) steps: &'static str,
}
