//! Which files are open, where not all may be at once.

use crate::ops::Next;
use plan::Worker;

/// The open files of a worker.
pub(super) struct Opening {
    most: usize,
    open: Vec<bool>,
}

impl Opening {
    /// As a worker begins.
    pub fn new(worker: &Worker) -> Opening {
        let count = worker.files.len();
        let most = worker.selection.open_at_once(count as u32) as usize;
        Opening { most, open: (0..count).map(|file| file < most).collect() }
    }

    /// Whether only some may be open.
    pub fn limited(&self) -> bool {
        self.most < self.open.len()
    }

    /// All were closed, and opened again where they all may be.
    pub fn reset(&mut self) {
        let all = !self.limited();
        self.open.fill(all);
    }

    /// A file is to be closed. Whether it was open.
    pub fn close(&mut self, file: u32) -> bool {
        let limited = self.limited();
        std::mem::replace(&mut self.open[file as usize], !limited)
    }

    /// What comes before an I/O on a file: closing another, opening it, or nothing.
    pub fn step_for(&mut self, file: u32) -> Option<Next> {
        if !self.limited() || self.open[file as usize] {
            return None;
        }
        let open = self.open.iter().filter(|open| **open).count();
        if let Some(other) = self.open.iter().position(|open| *open).filter(|_| open >= self.most) {
            self.open[other] = false;
            return Some(Next::Close(other as u32));
        }
        self.open[file as usize] = true;
        Some(Next::Open(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_open_than_may_be() {
        let files = vec![plan::File::default(); 4];
        let mut worker = Worker { files, ..Worker::default() };
        worker.selection.open_files = 2;
        let mut opening = Opening::new(&worker);
        assert!(opening.limited());
        assert_eq!(opening.step_for(1), None);
        assert_eq!(opening.step_for(3), Some(Next::Close(0)));
        assert_eq!(opening.step_for(3), Some(Next::Open(3)));
        assert_eq!(opening.step_for(3), None);
        assert!(opening.close(1) && !opening.close(1));
        assert_eq!(opening.step_for(0), Some(Next::Open(0)));
        opening.reset();
        assert_eq!(opening.step_for(0), Some(Next::Open(0)));
    }
}
