//! The entries of a captured run of fathom that are of its job.

use std::collections::BTreeSet;
use trace::ftr::{Entry, Event, Level, Operation};

/// Tells the entries of a job from those of fathom itself.
#[derive(Debug)]
pub struct JobEntries {
    has_range_syncs: bool,
    main_threads: BTreeSet<u32>,
}

impl JobEntries {
    /// For a job that syncs ranges of files, or not: an engine syncs ranges itself before it drops a file
    /// from the page cache.
    pub fn new(has_range_syncs: bool) -> JobEntries {
        JobEntries { has_range_syncs, main_threads: BTreeSet::new() }
    }

    /// Whether an entry is of the job. Takes the entries in their order.
    pub fn keeps(&mut self, entry: &Entry) -> bool {
        match entry {
            Entry::Thread(thread) => {
                // The main thread samples the content of files after the run; workers are other threads.
                if thread.thread == thread.process {
                    self.main_threads.insert(thread.number);
                }
                true
            }
            Entry::Event(event) => self.keeps_event(event),
            _ => true,
        }
    }

    fn keeps_event(&self, event: &Event) -> bool {
        let is_of_worker =
            event.level == Level::Device || !self.main_threads.contains(&event.thread);
        is_of_worker && (event.operation != Operation::SyncRange || self.has_range_syncs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::IO;
    use trace::ftr::Thread;

    #[test]
    fn what_the_main_thread_of_a_run_reads_is_not_of_the_job() {
        let mut entries = JobEntries::new(true);
        for (number, thread) in [(0, 70), (1, 71)] {
            let thread = Thread { number, process: 70, thread, name: "fathom".into() };
            assert!(entries.keeps(&Entry::Thread(thread)));
        }
        let io = |thread, level| Entry::Event(Event { thread, level, ..IO });
        assert!(!entries.keeps(&io(0, Level::Application)));
        assert!(entries.keeps(&io(1, Level::Application)));
        assert!(entries.keeps(&io(0, Level::Device)));
    }

    #[test]
    fn range_syncs_are_of_a_job_that_asks_for_them() {
        let sync = Entry::Event(Event { operation: Operation::SyncRange, ..IO });
        assert!(JobEntries::new(true).keeps(&sync));
        assert!(!JobEntries::new(false).keeps(&sync));
    }
}
