//! Records for a report, with their name and judged.

use crate::plot::Source;
use judge::{Judged, judge_set};
use record::{RecordSet, RunRecord, date};
use suite::sweep::Design;

/// A record or several made together, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedSet {
    /// Its name beside other sets.
    pub name: String,
    /// Its runs. Those of a sweep are in the order of the varied values, followed by the runs that only
    /// prepared the others.
    pub set: RecordSet,
    /// The number of runs at the end that only prepared the others.
    pub prepared: usize,
    /// Each run, judged.
    pub judged: Vec<Judged>,
    /// Verdicts and findings of all runs together.
    pub together: Judged,
    /// The runs by varied value, for pictures over it; `None` when nothing was varied.
    pub varied: Option<Source>,
    /// An earlier set of the same job. A report on this set alone shows what changed since.
    pub since: Option<Box<JudgedSet>>,
}

impl JudgedSet {
    /// Judges the runs of a set.
    pub fn new(name: &str, set: RecordSet) -> JudgedSet {
        let source = Source::new(name, name, set.clone());
        JudgedSet::with_source(name, set, source)
    }

    /// Judges the runs of a sweep of this design.
    pub fn of_sweep(name: &str, design: &Design, set: RecordSet) -> JudgedSet {
        let source = Source::of_sweep(name, name, design, set.clone());
        JudgedSet::with_source(name, set, source)
    }

    fn with_source(name: &str, mut set: RecordSet, source: Source) -> JudgedSet {
        let prepared = sort_by_values(&mut set, &source);
        let judged: Vec<Judged> = set.runs.iter().map(judge::judge).collect();
        let together = judge_set(&set, &judged);
        let is_varied = source.dimensions.iter().any(|dimension| dimension.values.len() > 1);
        let varied = is_varied.then_some(source);
        JudgedSet { name: name.into(), set, prepared, judged, together, varied, since: None }
    }

    /// Adds an earlier set from the archive to compare with; `id` is its short name.
    pub fn since(mut self, id: &str, earlier: RecordSet) -> JudgedSet {
        let began = earlier.runs.first().map(|run| &run.invocation);
        let began = began.map(|b| date::day_and_minute(b.started_unix_ms, b.utc_offset_seconds));
        let name = format!("{id} of {}", began.unwrap_or_default());
        self.since = Some(Box::new(JudgedSet::new(&name, earlier)));
        self
    }

    /// Its first run; for a sweep the one at the first values.
    pub fn first(&self) -> Option<&RunRecord> {
        self.set.runs.first()
    }

    /// The measured runs, and those that only prepared them.
    pub fn measured_and_prepared(&self) -> (&[RunRecord], &[RunRecord]) {
        self.set.runs.split_at(self.set.runs.len() - self.prepared)
    }
}

/// Sorts the runs of a sweep, which ran in random order, by the varied values. Runs without such values
/// only prepared the others and come last; returns their number.
fn sort_by_values(set: &mut RecordSet, source: &Source) -> usize {
    if source.set.runs.len() != set.runs.len() {
        return 0;
    }
    let place = |run: &RunRecord| -> Vec<usize> {
        let at = run.cell.as_ref().map_or(&[][..], |cell| &cell.at);
        let place = |dimension: &suite::grid::Dimension| {
            let own = at.iter().find(|own| own.dimension == dimension.name)?;
            dimension.values.iter().position(|value| value.text == own.value)
        };
        source.dimensions.iter().map(|dimension| place(dimension).unwrap_or(usize::MAX)).collect()
    };
    let mut placed: Vec<(Vec<usize>, RunRecord)> =
        source.set.runs.iter().map(place).zip(std::mem::take(&mut set.runs)).collect();
    let is_unplaced = |place: &[usize]| place.contains(&usize::MAX);
    placed.sort_by(|a, b| is_unplaced(&a.0).cmp(&is_unplaced(&b.0)).then(a.0.cmp(&b.0)));
    let unplaced = placed.iter().filter(|(place, _)| is_unplaced(place)).count();
    set.runs = placed.into_iter().map(|(_, run)| run).collect();
    // When no run has such values, all were measured.
    if unplaced < set.runs.len() { unplaced } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use record::{Cell, Coordinate};

    #[test]
    fn runs_of_a_sweep_are_sorted_by_its_values() {
        let run = |(bs, round): (&str, u32)| {
            let at = vec![Coordinate { dimension: "bs".into(), value: bs.into() }];
            let cell = Some(Cell { name: format!("bs={bs}"), round, at });
            RunRecord { cell, ..testing::mixed() }
        };
        let ran = [("64k", 0), ("4k", 0), ("4k", 1), ("16k", 0), ("64k", 1)].map(run);
        let set = RecordSet { kind: "sweep".into(), runs: ran.into(), ..RecordSet::default() };
        let judged_set = JudgedSet::new("a", set);
        let cells = judged_set.set.runs.iter().map(|run| run.cell.as_ref().unwrap());
        let order: Vec<(&str, u32)> = cells.map(|cell| (cell.name.as_str(), cell.round)).collect();
        let expected = [("bs=4k", 0), ("bs=4k", 1), ("bs=16k", 0), ("bs=64k", 0), ("bs=64k", 1)];
        assert_eq!(order, expected);
        assert!(judged_set.varied.is_some() && judged_set.judged.len() == 5);
    }
}
