//! Models of the phases of a trace, which is read a second time for them.

use crate::builder::Builder;
use crate::model::Model;
use crate::steps::StepKind;
use trace::ftr::Entry;

/// Takes the entries of a trace whose phases are known.
#[derive(Debug)]
pub struct Splitter {
    /// When the phases begin, in nanoseconds from the start of the trace. The first has no start.
    starts: Vec<u64>,
    builders: Vec<Builder>,
}

impl Splitter {
    /// For the phases of this model; `None` if it has only one.
    pub fn new(model: &Model) -> Option<Splitter> {
        let origin = model.parts.origin;
        let start = |from: f64| origin.saturating_add((from * 1e9) as u64);
        let starts: Vec<u64> = model.phases.iter().skip(1).map(|phase| start(phase.from)).collect();
        let builders = (0..=starts.len()).map(|_| Builder::new()).collect();
        (!starts.is_empty()).then_some(Splitter { starts, builders })
    }

    /// Takes an entry.
    pub fn entry(&mut self, entry: &Entry) {
        let Entry::Event(event) = entry else {
            // Every phase may use the file or thread.
            self.builders.iter_mut().for_each(|builder| builder.entry(entry));
            return;
        };
        let phase = self.starts.partition_point(|start| *start <= event.at_ns);
        let (until, later) = self.builders.split_at_mut(phase + 1);
        until[phase].entry(entry);
        if StepKind::from_operation(event.operation).is_some_and(StepKind::moves) {
            let end = event.offset.saturating_add(event.length);
            later.iter_mut().for_each(|builder| builder.has_grown(event.file, end));
        }
    }

    /// The models of the phases.
    pub fn finish(self) -> Vec<Model> {
        self.builders.into_iter().map(Builder::finish).collect()
    }
}
