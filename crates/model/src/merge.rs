//! Traces of the threads of a run, merged into one.

use std::iter::Peekable;
use trace::ftr::{Entry, Event};

type Entries<'a, E> = Box<dyn Iterator<Item = Result<Entry, E>> + 'a>;

/// Entries of several traces with the same time zero, in the order of their ends. Files with the same name
/// become one.
pub struct Merge<'a, E> {
    traces: Vec<Peekable<Entries<'a, E>>>,
    /// Numbers of files and of threads, as the trace has them and as they are here.
    files: Vec<Vec<u32>>,
    threads: Vec<Vec<u32>>,
    names: Vec<String>,
    next_thread: u32,
}

impl<'a, E> Merge<'a, E> {
    /// Merges traces.
    pub fn new(traces: Vec<Entries<'a, E>>) -> Merge<'a, E> {
        Merge {
            files: vec![Vec::new(); traces.len()],
            threads: vec![Vec::new(); traces.len()],
            traces: traces.into_iter().map(Iterator::peekable).collect(),
            names: Vec::new(),
            next_thread: 0,
        }
    }

    fn renumbered(&mut self, trace: usize, entry: Entry) -> Option<Entry> {
        Some(match entry {
            Entry::File(mut file) => {
                let known = self.names.iter().position(|name| *name == file.name);
                let number = known.unwrap_or(self.names.len()) as u32;
                self.files[trace].push(number);
                if known.is_some() {
                    return None;
                }
                self.names.push(file.name.clone());
                file.number = number;
                Entry::File(file)
            }
            Entry::Thread(mut thread) => {
                self.threads[trace].push(self.next_thread);
                thread.number = self.next_thread;
                self.next_thread += 1;
                Entry::Thread(thread)
            }
            Entry::Event(event) => Entry::Event(Event {
                file: number(&self.files[trace], event.file),
                thread: number(&self.threads[trace], event.thread),
                ..event
            }),
            Entry::Contents(mut contents) => {
                contents.file = number(&self.files[trace], contents.file);
                Entry::Contents(contents)
            }
            lost @ Entry::Lost(_) => lost,
        })
    }
}

fn number(numbers: &[u32], of: u32) -> u32 {
    numbers.get(of as usize).copied().unwrap_or(u32::MAX)
}

impl<E> Iterator for Merge<'_, E> {
    type Item = Result<Entry, E>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let end = |entry: &Result<Entry, E>| match entry {
                Ok(Entry::Event(event)) => {
                    event.at_ns.saturating_add(event.duration_ns.unwrap_or(0))
                }
                // What events name comes before them.
                _ => 0,
            };
            let ends = self.traces.iter_mut().enumerate();
            let ends = ends.filter_map(|(at, trace)| Some((end(trace.peek()?), at)));
            let (_, at) = ends.min()?;
            let entry = match self.traces[at].next()? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            };
            if let Some(entry) = self.renumbered(at, entry) {
                return Some(Ok(entry));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{IO, file, thread};

    #[test]
    fn files_with_one_name_become_one_and_events_are_in_the_order_of_their_ends() {
        let one = |ends: [u64; 2]| -> Entries<'static, ()> {
            let events = ends.map(|at_ns| Entry::Event(Event { at_ns, ..IO }));
            let all = [thread(0, "a"), file(0, "/x", 1)].into_iter().chain(events);
            Box::new(all.map(Ok).collect::<Vec<_>>().into_iter())
        };
        let all: Vec<Entry> =
            Merge::new(vec![one([1, 4]), one([2, 3])]).map(Result::unwrap).collect();
        let events: Vec<(u64, u32, u32)> = all
            .iter()
            .filter_map(|entry| match entry {
                Entry::Event(event) => Some((event.at_ns, event.thread, event.file)),
                _ => None,
            })
            .collect();
        assert_eq!(events, [(1, 0, 0), (2, 1, 0), (3, 1, 0), (4, 0, 0)]);
        assert_eq!(all.iter().filter(|entry| matches!(entry, Entry::File(_))).count(), 1);
    }
}
