//! Selects the file of the next I/O.

use crate::hot::op::Next;
use crate::offsets::Skewed;
use crate::random::Random;
use plan::{FileOrder, FileSelection};

/// Ranks per file in a distribution over the files, as in fio, so that files in its flat part differ.
const RANKS: u64 = 1024;
/// Draws that select finished files before the next unfinished one is taken.
const DRAWS_MAX: u32 = 64;
/// A place whose file is done.
const GONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
enum Order {
    InTurn,
    Sequential,
    Random,
    Drawn(Box<Skewed>),
}

/// Selects files in the configured order. A file that is done is removed, or replaced by the next
/// unopened one if open files are limited.
#[derive(Clone, Debug)]
pub(crate) struct FileSelector {
    order: Order,
    ios: u64,
    files: u32,
    /// The file at each place; only the first `open` are used in random order.
    places: Vec<u32>,
    /// The place after each one, in a ring.
    after: Vec<u32>,
    before_current: u32,
    current: u32,
    open: u32,
    turn_left: u64,
    unopened: u32,
    closing: Option<u32>,
    /// Files to open first.
    opening: std::ops::Range<u32>,
}

impl FileSelector {
    /// For files 0..`files`, of which the first `open_files` (0: all) are open.
    pub fn new(selection: &FileSelection, files: u32, random: &mut Random) -> FileSelector {
        let limit = selection.open_at_once(files);
        let order = match &selection.order {
            FileOrder::RoundRobin => Order::InTurn,
            FileOrder::Sequential => Order::Sequential,
            FileOrder::Random => Order::Random,
            FileOrder::Drawn(distribution) => {
                let ranks = u64::from(limit) * RANKS;
                Order::Drawn(Box::new(Skewed::in_order(distribution, ranks, random)))
            }
        };
        let mut turns = FileSelector {
            order,
            ios: selection.ios.max(1),
            files,
            places: vec![0; limit as usize],
            after: vec![0; limit as usize],
            before_current: 0,
            current: 0,
            open: 0,
            turn_left: 0,
            unopened: 0,
            closing: None,
            opening: 0..0,
        };
        turns.begin();
        turns
    }

    /// Whether not all files may be open at once.
    pub fn limited(&self) -> bool {
        (self.places.len() as u32) < self.files
    }

    /// Starts another pass over all files.
    pub fn restart(&mut self) {
        self.begin();
        if self.limited() {
            self.opening = 0..self.open;
        }
    }

    fn begin(&mut self) {
        let places = self.places.len() as u32;
        for place in 0..places {
            self.places[place as usize] = place;
            self.after[place as usize] = if place + 1 == places { 0 } else { place + 1 };
        }
        self.open = places;
        self.unopened = places;
        self.before_current = places.saturating_sub(1);
        self.current = 0;
        self.turn_left = 0;
        if matches!(self.order, Order::InTurn | Order::Sequential) {
            self.turn_left = self.ios;
        }
    }

    /// A file that has to be opened or closed first.
    #[inline]
    pub fn step(&mut self) -> Option<Next> {
        if self.closing.is_none() && self.opening.is_empty() {
            return None;
        }
        self.closing.take().map(Next::Close).or_else(|| self.opening.next().map(Next::Open))
    }

    /// The file of the next I/O; `None` if all files are done.
    #[inline]
    pub fn pick(&mut self, random: &mut Random) -> Option<u32> {
        if self.files <= 1 {
            return (self.open > 0).then_some(0);
        }
        if self.open == 0 {
            return None;
        }
        if !matches!(self.order, Order::Sequential) {
            if self.turn_left == 0 {
                self.advance(random);
            }
            self.turn_left -= 1;
        }
        Some(self.places[self.current as usize])
    }

    #[inline]
    fn advance(&mut self, random: &mut Random) {
        self.turn_left = self.ios;
        match &mut self.order {
            Order::Random => self.current = random.below(u64::from(self.open)) as u32,
            Order::Drawn(skewed) => {
                self.current = drawn(skewed, &self.places, random);
            }
            Order::InTurn | Order::Sequential => {
                self.before_current = self.current;
                self.current = self.after[self.current as usize];
            }
        }
    }

    /// The current file is done in this pass.
    pub fn done(&mut self) {
        if self.limited() {
            self.closing = Some(self.places[self.current as usize]);
        }
        let place = self.current as usize;
        if self.unopened < self.files {
            self.places[place] = self.unopened;
            self.opening = self.unopened..self.unopened + 1;
            self.unopened += 1;
            self.before_current = self.current;
            self.current = self.after[place];
        } else {
            self.open -= 1;
            match self.order {
                Order::Random => self.places[place] = self.places[self.open as usize],
                Order::Drawn(_) => self.places[place] = GONE,
                Order::InTurn | Order::Sequential => {
                    self.current = self.after[place];
                    self.after[self.before_current as usize] = self.current;
                }
            }
        }
        let in_order = matches!(self.order, Order::InTurn | Order::Sequential);
        self.turn_left = if in_order { self.ios } else { 0 };
    }
}

/// Draws a place whose file is not done; at least one is not.
fn drawn(skewed: &mut Skewed, places: &[u32], random: &mut Random) -> u32 {
    let mut place = 0;
    for _ in 0..DRAWS_MAX {
        place = skewed.draw(random) / RANKS;
        if places[place as usize] != GONE {
            return place as u32;
        }
    }
    let count = places.len() as u64;
    let next = (1..count).map(|step| (place + step) % count);
    next.into_iter().find(|place| places[*place as usize] != GONE).unwrap_or(place) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Distribution;

    /// Runs files of `blocks` I/Os to their end. Returns the number of the file of each I/O; `c` and
    /// `o` mark files closed and opened.
    fn trace(order: FileOrder, ios: u64, open_files: u64, files: u32, blocks: u32) -> String {
        let selection = FileSelection { order, ios, open_files, ..FileSelection::default() };
        let mut random = Random::new(1, 0);
        let mut turns = FileSelector::new(&selection, files, &mut random);
        let mut left = vec![blocks; files as usize];
        let mut text = String::new();
        loop {
            match turns.step() {
                Some(Next::Close(file)) => text += &format!("c{file} "),
                Some(Next::Open(file)) => text += &format!("o{file} "),
                _ => {
                    let Some(file) = turns.pick(&mut random) else { return text };
                    match &mut left[file as usize] {
                        0 => turns.done(),
                        blocks => {
                            *blocks -= 1;
                            text += &format!("{file} ");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(trace(FileOrder::RoundRobin, 1, 0, 3, 2), "0 1 2 0 1 2 ");
        assert_eq!(trace(FileOrder::RoundRobin, 2, 0, 2, 5), "0 0 1 1 0 0 1 1 0 1 ");
        assert_eq!(trace(FileOrder::RoundRobin, 1, 0, 1, 3), "0 0 0 ");
        assert_eq!(trace(FileOrder::RoundRobin, 1, 0, 0, 3), "");
    }

    #[test]
    fn sequential_finishes_one_file_first() {
        assert_eq!(trace(FileOrder::Sequential, 1, 0, 3, 2), "0 0 1 1 2 2 ");
        assert_eq!(trace(FileOrder::Sequential, 1, 2, 4, 1), "0 c0 o2 1 c1 o3 2 c2 3 c3 ");
    }

    #[test]
    fn open_files_are_limited() {
        let text = trace(FileOrder::RoundRobin, 1, 2, 4, 2);
        assert_eq!(text, "0 1 0 1 c0 o2 c1 o3 2 3 2 3 c2 c3 ");
        let text = trace(FileOrder::Random, 2, 2, 5, 4);
        for file in 0..5 {
            let used = text.split(' ').filter(|word| *word == file.to_string()).count();
            assert_eq!(used, 4, "{text}");
            let place = |word: String| text.find(&word).unwrap_or(0);
            assert!(place(format!("o{file} ")) < place(format!("c{file} ")), "{text}");
        }
    }

    #[test]
    fn random_gives_every_file_its_share() {
        let text = trace(FileOrder::Random, 3, 0, 3, 7);
        assert_eq!(text.split_whitespace().count(), 21);
        assert!(text.contains("0 0 0") || text.contains("1 1 1") || text.contains("2 2 2"));
    }

    #[test]
    fn a_drawn_order_favours_files_and_ends_with_all_of_them() {
        let zipf = Distribution::Zipf { theta: 1.2, center: Some(0.0) };
        for open_files in [0, 2] {
            let text = trace(FileOrder::Drawn(zipf.clone()), 1, open_files, 4, 500);
            let ios: Vec<&str> = text.split_whitespace().filter(|w| w.len() == 1).collect();
            assert_eq!(ios.len(), 2000);
            let early = |file: &str| ios[..400].iter().filter(|f| **f == file).count();
            assert!(early("0") > 250 && early("1") > early("2"), "{text}");
        }
    }

    #[test]
    fn a_new_pass_opens_the_first_files_again() {
        let selection = FileSelection { ios: 1, open_files: 1, ..FileSelection::default() };
        let mut random = Random::new(1, 0);
        let mut turns = FileSelector::new(&selection, 2, &mut random);
        assert_eq!(turns.pick(&mut random), Some(0));
        turns.done();
        assert_eq!(turns.step(), Some(Next::Close(0)));
        assert_eq!(turns.step(), Some(Next::Open(1)));
        assert_eq!(turns.pick(&mut random), Some(1));
        turns.done();
        assert_eq!(turns.step(), Some(Next::Close(1)));
        assert_eq!(turns.pick(&mut random), None);
        turns.restart();
        assert_eq!(turns.step(), Some(Next::Open(0)));
        assert_eq!(turns.step(), None);
        assert_eq!(turns.pick(&mut random), Some(0));
    }
}
