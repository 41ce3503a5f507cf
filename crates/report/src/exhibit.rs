//! Records as a report shows them: named and judged.

use crate::native::RecordError;
use crate::plot::Source;
use crate::when;
use judge::{Judged, together};
use record::{RecordSet, RunRecord};
use std::path::Path;

/// A record or a set of them, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Exhibit {
    /// What it is called beside others.
    pub name: String,
    /// Its runs; of a sweep in the order of what was varied, and after them what only prepared it.
    pub set: RecordSet,
    /// How many of the runs prepared the others and are no part of what was varied.
    pub prepared: usize,
    /// Each run judged, in their order.
    pub judged: Vec<Judged>,
    /// What all runs show together: verdicts and findings.
    pub together: Judged,
    /// The same runs with what was varied in them, for pictures over it; `None` where nothing was.
    pub varied: Option<Source>,
    /// What did the same before it. A report on this exhibit alone tells what changed since.
    pub since: Option<Box<Exhibit>>,
}

impl Exhibit {
    /// Judges the runs of a set.
    pub fn new(name: &str, set: RecordSet) -> Exhibit {
        let source = Source::new(name, name, set.clone());
        Exhibit::of(name, set, source)
    }

    /// The sweep in a directory.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn of_sweep(name: &str, directory: &Path) -> Result<Exhibit, RecordError> {
        let set = crate::sweep::directory::load_set(directory)?;
        Ok(Exhibit::of(name, set, Source::of_sweep(name, name, directory)?))
    }

    fn of(name: &str, mut set: RecordSet, source: Source) -> Exhibit {
        let prepared = arrange(&mut set, &source);
        let judged: Vec<Judged> = set.runs.iter().map(judge::judge).collect();
        let together = together(&set, &judged);
        let is_varied = source.dimensions.iter().any(|dimension| dimension.values.len() > 1);
        let varied = is_varied.then_some(source);
        Exhibit { name: name.into(), set, prepared, judged, together, varied, since: None }
    }

    /// The same, to be held against an archived run or set that did the same before; `id` is its short
    /// name.
    pub fn since(mut self, id: &str, earlier: RecordSet) -> Exhibit {
        let began = earlier.runs.first().map(|run| &run.invocation);
        let began = began.map(|b| when::minute(b.started_unix_ms, b.utc_offset_seconds));
        let name = format!("{id} of {}", began.unwrap_or_default());
        self.since = Some(Box::new(Exhibit::new(&name, earlier)));
        self
    }

    /// Its first run; of a sweep that at the first values.
    pub fn first(&self) -> Option<&RunRecord> {
        self.set.runs.first()
    }

    /// The runs that were to be measured, and those that prepared them.
    pub fn measured_and_prepared(&self) -> (&[RunRecord], &[RunRecord]) {
        self.set.runs.split_at(self.set.runs.len() - self.prepared)
    }
}

/// Puts the runs of a sweep, which ran in an order of chance, in the order of what was varied. Those
/// that stand nowhere in it, and only prepared the others, come last: so many of them there are.
fn arrange(set: &mut RecordSet, source: &Source) -> usize {
    if source.set.runs.len() != set.runs.len() {
        return 0;
    }
    let place = |run: &RunRecord| -> Vec<usize> {
        let at = run.cell.as_ref().map_or(&[][..], |cell| &cell.at);
        let of = |dimension: &suite::grid::Dimension| {
            let own = at.iter().find(|own| own.dimension == dimension.name)?;
            dimension.values.iter().position(|value| value.text == own.value)
        };
        source.dimensions.iter().map(|dimension| of(dimension).unwrap_or(usize::MAX)).collect()
    };
    let mut placed: Vec<(Vec<usize>, RunRecord)> =
        source.set.runs.iter().map(place).zip(std::mem::take(&mut set.runs)).collect();
    let is_nowhere = |place: &[usize]| place.contains(&usize::MAX);
    placed.sort_by(|a, b| is_nowhere(&a.0).cmp(&is_nowhere(&b.0)).then(a.0.cmp(&b.0)));
    let nowhere = placed.iter().filter(|(place, _)| is_nowhere(place)).count();
    set.runs = placed.into_iter().map(|(_, run)| run).collect();
    // Where none stands anywhere, they are what was to be measured.
    if nowhere < set.runs.len() { nowhere } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use record::{Cell, Coordinate};

    #[test]
    fn runs_of_a_sweep_stand_in_the_order_of_its_values() {
        let run = |(bs, round): (&str, u32)| {
            let at = vec![Coordinate { dimension: "bs".into(), value: bs.into() }];
            let cell = Some(Cell { name: format!("bs={bs}"), round, at });
            RunRecord { cell, ..sample::mixed() }
        };
        let ran = [("64k", 0), ("4k", 0), ("4k", 1), ("16k", 0), ("64k", 1)].map(run);
        let set = RecordSet { kind: "sweep".into(), runs: ran.into(), ..RecordSet::default() };
        let exhibit = Exhibit::new("a", set);
        let cells = exhibit.set.runs.iter().map(|run| run.cell.as_ref().unwrap());
        let order: Vec<(&str, u32)> = cells.map(|cell| (cell.name.as_str(), cell.round)).collect();
        let expected = [("bs=4k", 0), ("bs=4k", 1), ("bs=16k", 0), ("bs=64k", 0), ("bs=64k", 1)];
        assert_eq!(order, expected);
        assert!(exhibit.varied.is_some() && exhibit.judged.len() == 5);
    }
}
