//! Which file a descriptor is: what each process opened, and where it stands in it.

use std::collections::HashMap;

/// Flags of an open file, and where the next read or write begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    /// Number of the file; `None` for what is left out.
    pub file: Option<u32>,
    pub flags: u16,
    pub position: u64,
    references: u32,
}

/// Descriptors of processes. Threads share a table; copies of a descriptor share its position.
#[derive(Default)]
pub(super) struct Tables {
    /// The table of each thread.
    tables: HashMap<u32, u32>,
    descriptors: HashMap<u32, HashMap<i32, usize>>,
    opens: Vec<Open>,
    free: Vec<usize>,
    next: u32,
}

impl Tables {
    fn table(&mut self, thread: u32) -> u32 {
        let next = self.next;
        let table = *self.tables.entry(thread).or_insert(next);
        if table == next {
            self.next += 1;
        }
        table
    }

    /// A new open file, closing what had the descriptor.
    pub fn open(&mut self, thread: u32, descriptor: i32, file: Option<u32>, flags: u16) {
        self.close(thread, descriptor);
        let open = Open { file, flags, position: 0, references: 1 };
        let place = match self.free.pop() {
            Some(place) => {
                self.opens[place] = open;
                place
            }
            None => {
                self.opens.push(open);
                self.opens.len() - 1
            }
        };
        let table = self.table(thread);
        self.descriptors.entry(table).or_default().insert(descriptor, place);
    }

    pub fn close(&mut self, thread: u32, descriptor: i32) {
        let table = self.table(thread);
        let place = self.descriptors.get_mut(&table).and_then(|all| all.remove(&descriptor));
        if let Some(place) = place {
            self.release(place);
        }
    }

    fn release(&mut self, place: usize) {
        self.opens[place].references -= 1;
        if self.opens[place].references == 0 {
            self.free.push(place);
        }
    }

    /// The open file of a descriptor.
    pub fn get(&mut self, thread: u32, descriptor: i32) -> Option<&mut Open> {
        let table = self.table(thread);
        let place = *self.descriptors.get(&table)?.get(&descriptor)?;
        self.opens.get_mut(place)
    }

    /// `to` becomes a copy of `from`.
    pub fn copy(&mut self, thread: u32, from: i32, to: i32) {
        let table = self.table(thread);
        let Some(place) = self.descriptors.get(&table).and_then(|all| all.get(&from)).copied()
        else {
            return self.close(thread, to);
        };
        if from != to {
            self.opens[place].references += 1;
            self.close(thread, to);
            self.descriptors.entry(table).or_default().insert(to, place);
        }
    }

    /// A thread starts another, which shares its table or gets a copy.
    pub fn fork(&mut self, thread: u32, child: u32, shares: bool) {
        let table = self.table(thread);
        self.exit(child);
        if shares {
            self.tables.insert(child, table);
            return;
        }
        let all = self.descriptors.get(&table).cloned().unwrap_or_default();
        all.values().for_each(|place| self.opens[*place].references += 1);
        let own = self.table(child);
        self.descriptors.insert(own, all);
    }

    /// A thread ends.
    pub fn exit(&mut self, thread: u32) {
        let Some(table) = self.tables.remove(&thread) else { return };
        if !self.tables.values().any(|other| *other == table) {
            let all = self.descriptors.remove(&table).unwrap_or_default();
            all.into_values().for_each(|place| self.release(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_their_position_and_forks_their_files() {
        let mut tables = Tables::default();
        tables.open(1, 3, Some(7), 0);
        tables.copy(1, 3, 50);
        tables.get(1, 50).unwrap().position = 99;
        tables.fork(1, 2, false);
        tables.fork(1, 9, true);
        tables.close(1, 3);
        assert_eq!(tables.get(9, 3), None);
        assert_eq!(tables.get(2, 3).unwrap().position, 99);
        assert_eq!(tables.get(2, 50).unwrap().file, Some(7));
        tables.close(9, 50);
        tables.exit(2);
        tables.exit(1);
        tables.exit(9);
        assert_eq!((tables.opens.len(), tables.free.len()), (1, 1));
        tables.copy(5, 1, 2);
        assert_eq!(tables.get(5, 2), None);
    }
}
