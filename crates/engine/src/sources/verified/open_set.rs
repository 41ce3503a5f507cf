//! Which files are open, if not all may be open at once.

use crate::hot::op::Next;
use plan::Worker;

/// The open files of a worker.
pub(super) struct OpenSet {
    open_max: usize,
    open: Vec<bool>,
}

impl OpenSet {
    /// The files that are open when a worker starts.
    pub fn new(worker: &Worker) -> OpenSet {
        let count = worker.files.len();
        let open_max = worker.selection.open_at_once(count as u32) as usize;
        OpenSet { open_max, open: (0..count).map(|file| file < open_max).collect() }
    }

    /// Whether not all files may be open at once.
    pub fn limited(&self) -> bool {
        self.open_max < self.open.len()
    }

    /// All files were closed, and opened again unless open files are limited.
    pub fn reset(&mut self) {
        let all = !self.limited();
        self.open.fill(all);
    }

    /// A file is closed. Returns whether it was open.
    pub fn close(&mut self, file: u32) -> bool {
        let limited = self.limited();
        std::mem::replace(&mut self.open[file as usize], !limited)
    }

    /// The step before an I/O on a file: close another one, open it, or none.
    pub fn step_for(&mut self, file: u32) -> Option<Next> {
        if !self.limited() || self.open[file as usize] {
            return None;
        }
        let open = self.open.iter().filter(|open| **open).count();
        if let Some(other) =
            self.open.iter().position(|open| *open).filter(|_| open >= self.open_max)
        {
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
    fn open_files_stay_below_the_limit() {
        let files = vec![plan::File::default(); 4];
        let mut worker = Worker { files, ..Worker::default() };
        worker.selection.open_files = 2;
        let mut opening = OpenSet::new(&worker);
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
