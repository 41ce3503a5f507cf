//! How long a worker wrote, and how long it read back.

/// How long each part took, in nanoseconds.
#[derive(Default)]
pub(super) struct Phases {
    /// Its work.
    pub worked: u64,
    /// Reading back.
    pub read: u64,
    current: Option<(u64, u64)>,
}

impl Phases {
    /// Something happened between these moments.
    pub fn note(&mut self, from: u64, to: u64) {
        let (begin, end) = self.current.get_or_insert((from, to));
        *begin = (*begin).min(from);
        *end = (*end).max(to);
    }

    /// How long the part lasted that ends here.
    pub fn lasted(&mut self) -> u64 {
        self.current.take().map_or(0, |(begin, end)| end - begin)
    }
}
