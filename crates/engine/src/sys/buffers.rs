//! The memory I/O goes through.

/// One aligned buffer a slot.
pub struct BufferArea {
    base: std::ptr::NonNull<u8>,
    stride: usize,
}

impl BufferArea {
    /// Address of the buffer of `slot`.
    #[inline(always)]
    pub fn slot(&self, slot: u32) -> *mut u8 {
        self.base.as_ptr().wrapping_add(slot as usize * self.stride)
    }
}
