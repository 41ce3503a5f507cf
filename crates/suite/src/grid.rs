//! One figure of runs over varied dimensions, by coordinates. Tables and pictures of sweeps are
//! made from it.

use crate::outcome::failure;
use judge::Measure;
use judge::stats::{Summary, summary};
use record::{Cell, Coordinate, RecordSet, RunRecord};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A figure over all combinations of some dimensions' values.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The figure.
    pub measure: Measure,
    /// The dimensions, in order.
    pub dimensions: Vec<Dimension>,
    /// The known figures, by the indices of their values in each dimension.
    readings: BTreeMap<Vec<usize>, Reading>,
}

/// A dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dimension {
    /// Its name ("bs").
    pub name: String,
    /// Its values: in rising order if all are numbers, otherwise in order of their first appearance
    /// or in the order given.
    pub values: Vec<GridValue>,
}

/// A value of a dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridValue {
    /// As given ("64k"); empty only for runs without the dimension, if the caller includes them.
    pub text: String,
    /// As a number, if it is one: 65536.
    pub number: Option<f64>,
}

/// The figure of a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reading {
    /// No run of the cell was completed.
    #[default]
    Missing,
    /// All runs of the cell failed; the reason of the last.
    Failed(String),
    /// Its runs have no such figure: no reads, no latencies.
    Absent,
    /// The measured figure.
    Measured(Measured),
}

/// A measured figure, in the unit of its measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The values of the repeats, in order of the rounds.
    pub values: Vec<f64>,
    /// Their summary; the interval of the mean has no ends if there is only one.
    pub summary: Summary,
    /// Number of failed repeats, which are not included.
    pub failed: usize,
}

impl Reading {
    /// The figure, if it was measured.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Reading::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

impl GridValue {
    /// A value as given.
    pub fn new(text: &str) -> GridValue {
        GridValue { text: text.into(), number: number(text) }
    }
}

impl Dimension {
    /// A dimension with its values in this order.
    pub fn new<'a>(name: &str, values: impl IntoIterator<Item = &'a str>) -> Dimension {
        Dimension { name: name.into(), values: values.into_iter().map(GridValue::new).collect() }
    }

    /// Whether all its values are numbers.
    pub fn is_numeric(&self) -> bool {
        self.values.iter().all(|value| value.number.is_some())
    }

    /// Puts the values in rising order, if all are numbers.
    pub fn sort_numbers(&mut self) {
        if self.is_numeric() {
            self.values.sort_by(|a, b| a.number.partial_cmp(&b.number).unwrap_or(Ordering::Equal));
        }
    }

    fn place(&self, value: &str) -> Option<usize> {
        self.values.iter().position(|known| known.text == value)
    }
}

/// A number with fio's suffixes of sizes, which are powers of 1024 ("4k", "1m", "64KiB"), or a
/// percentage.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let suffix = suffix.to_ascii_lowercase();
    let letter = suffix.trim_end_matches('b').trim_end_matches('i');
    let power = match letter {
        "" | "%" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    digits.parse::<f64>().ok().map(|value| value * 1024_f64.powi(power))
}

/// The dimensions of a set and their values; for runs without coordinates, one dimension "cell"
/// with their names. Runs that lack a dimension, such as the one that fills a file before the
/// others read it, were not varied and add no value.
pub fn dimensions(set: &RecordSet) -> Vec<Dimension> {
    let mut found: Vec<Dimension> = Vec::new();
    let all: Vec<Vec<Coordinate>> = coordinates(set);
    for coordinate in all.iter().flatten() {
        if !found.iter().any(|known| known.name == coordinate.dimension) {
            found.push(Dimension { name: coordinate.dimension.clone(), ..Dimension::default() });
        }
    }
    let whole: Vec<&Vec<Coordinate>> = all.iter().filter(|at| is_whole(at, &found)).collect();
    for dimension in &mut found {
        for text in whole.iter().map(|at| value_of(at, &dimension.name)) {
            if dimension.place(text).is_none() {
                dimension.values.push(GridValue::new(text));
            }
        }
        dimension.sort_numbers();
    }
    found
}

/// Whether a run has a coordinate in every dimension. Runs that only prepare others do not.
pub fn is_whole(at: &[Coordinate], dimensions: &[Dimension]) -> bool {
    at.len() >= dimensions.len()
}

/// The coordinates of each run.
fn coordinates(set: &RecordSet) -> Vec<Vec<Coordinate>> {
    let named = |run: &RunRecord| run.cell.as_ref().map_or(&[][..], |cell| &cell.at).to_vec();
    let all: Vec<_> = set.runs.iter().map(named).collect();
    if all.iter().any(|at| !at.is_empty()) {
        return all;
    }
    let cell = |run: &RunRecord| {
        let job = || run.jobs.first().map(|job| job.name.clone());
        let cell = run.cell.as_ref().map(|cell| cell.name.clone());
        let value = cell.or_else(job).unwrap_or_default();
        vec![Coordinate { dimension: "cell".into(), value }]
    };
    set.runs.iter().map(cell).collect()
}

fn value_of<'a>(at: &'a [Coordinate], dimension: &str) -> &'a str {
    at.iter().find(|known| known.dimension == dimension).map_or("", |known| known.value.as_str())
}

/// The name of the most telling figure of a set: bandwidth if all blocks are large (64 KiB and
/// more) or the work is IOzone's or IOR's, otherwise IOPS.
pub fn usual_measure(set: &RecordSet) -> &'static str {
    const LARGE: u64 = 64 << 10;
    let jobs = || set.runs.iter().flat_map(|run| &run.jobs);
    let smallest = jobs().flat_map(|job| job.directions().map(|d| job.workload.block_size[d].0));
    let large = smallest.min().is_some_and(|least| least.0 >= LARGE);
    if large || matches!(set.kind.as_str(), "iozone" | "ior") { "bandwidth" } else { "iops" }
}

impl Grid {
    /// The figure over the dimensions of the runs of the set.
    pub fn new(set: &RecordSet, measure: &Measure) -> Grid {
        Grid::over(set, measure, dimensions(set))
    }

    /// The figure over given dimensions: in this order, values that nothing ran with included. Runs
    /// with values that are not among them are left out.
    pub fn over(set: &RecordSet, measure: &Measure, dimensions: Vec<Dimension>) -> Grid {
        let coordinates = coordinates(set);
        let mut runs: BTreeMap<Vec<usize>, Vec<&RunRecord>> = BTreeMap::new();
        for (run, at) in set.runs.iter().zip(&coordinates) {
            let place = |dimension: &Dimension| dimension.place(value_of(at, &dimension.name));
            if let Some(at) = dimensions.iter().map(place).collect::<Option<Vec<_>>>() {
                let here = runs.entry(at).or_default();
                // If a cell was run again, its last run counts.
                here.retain(|known| run.cell.is_none() || known.cell != run.cell);
                here.push(run);
            }
        }
        let read = |(at, mut runs): (Vec<usize>, Vec<&RunRecord>)| {
            runs.sort_by_key(|run| round(run.cell.as_ref()));
            (at, reading(&runs, measure, set.seed))
        };
        let readings = runs.into_iter().map(read).collect();
        Grid { measure: measure.clone(), dimensions, readings }
    }

    /// The figure of the cell with these indices of values.
    pub fn at(&self, place: &[usize]) -> &Reading {
        self.readings.get(place).unwrap_or(&Reading::Missing)
    }

    /// All cells with a known figure; the last dimension changes fastest.
    pub fn readings(&self) -> impl Iterator<Item = (&[usize], &Reading)> {
        self.readings.iter().map(|(place, reading)| (place.as_slice(), reading))
    }

    /// The index of the dimension with this name.
    pub fn dimension(&self, name: &str) -> Option<usize> {
        self.dimensions.iter().position(|dimension| dimension.name == name)
    }
}

fn round(cell: Option<&Cell>) -> u32 {
    cell.map_or(0, |cell| cell.round)
}

/// The figure over repeats.
fn reading(runs: &[&RunRecord], measure: &Measure, seed: u64) -> Reading {
    let whole = runs.iter().filter(|run| run.interrupted_by.is_none());
    let (failed, good): (Vec<&RunRecord>, Vec<&RunRecord>) =
        whole.partition(|run| failure(run).is_some());
    let values: Vec<f64> = good.iter().filter_map(|run| measure.value(run)).collect();
    match (values.is_empty(), good.is_empty(), failed.last().and_then(|run| failure(run))) {
        (false, ..) => {
            let summary = summary(&values, seed);
            Reading::Measured(Measured { values, summary, failed: failed.len() })
        }
        (true, _, Some(failure)) => Reading::Failed(failure.text.into()),
        (true, false, None) => Reading::Absent,
        (true, true, None) => Reading::Missing,
    }
}

/// All places with the first value of one dimension: the combinations of the others.
pub(crate) fn places_of_others(dimensions: &[Dimension], one: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for (index, dimension) in dimensions.iter().enumerate() {
        let count = if index == one { 1 } else { dimension.values.len() };
        let longer = |place: &Vec<usize>| {
            let place = place.clone();
            (0..count).map(move |value| [&place[..], &[value]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// A place without one dimension, as text ("iodepth=1 bs=4k").
pub(crate) fn name_of_others(dimensions: &[Dimension], one: usize, place: &[usize]) -> String {
    let others = dimensions.iter().zip(place).enumerate().filter(|(index, _)| *index != one);
    let text = |(_, (dimension, value)): (usize, (&Dimension, &usize))| {
        format!("{}={}", dimension.name, dimension.values[*value].text)
    };
    others.map(text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, SimulatedDisk};

    fn at(bs: &str, depth: u32) -> Vec<Coordinate> {
        let coordinate = |dimension: &str, value: &str| Coordinate {
            dimension: dimension.into(),
            value: value.into(),
        };
        vec![coordinate("bs", bs), coordinate("iodepth", &depth.to_string())]
    }

    fn run(bs: &str, depth: u32, round: u32) -> RunRecord {
        let bytes = number(bs).unwrap() as u64;
        let mut run = SimulatedDisk::fast().run(&testing::step("randread", bytes, depth, 1000));
        run.cell = Some(Cell { name: format!("{bs} {depth}"), round, at: at(bs, depth) });
        run
    }

    fn set(runs: Vec<RunRecord>) -> RecordSet {
        RecordSet { runs, ..RecordSet::default() }
    }

    fn iops() -> Measure {
        Measure::parse("iops").unwrap()
    }

    fn measured<'a>(grid: &'a Grid, place: &[usize]) -> &'a Measured {
        grid.at(place).measured().unwrap()
    }

    #[test]
    fn repeats_stand_together_whatever_order_they_ran_in() {
        let mut again = run("4k", 4, 0);
        again.jobs[0].results.read.ios += 500;
        let mut runs = vec![run("16k", 4, 0), run("4k", 4, 1), run("16k", 1, 0)];
        runs.extend([again, run("4k", 1, 0)]);
        let grid = Grid::new(&set(runs), &iops());
        let texts: Vec<Vec<&str>> = grid
            .dimensions
            .iter()
            .map(|dimension| dimension.values.iter().map(|v| v.text.as_str()).collect())
            .collect();
        assert_eq!(texts, [["4k", "16k"], ["1", "4"]], "numbers rise");
        assert_eq!(grid.dimensions[0].values[1].number, Some(16384.0));
        let cell = measured(&grid, &[0, 1]);
        assert_eq!(cell.values, [8500.0, 8000.0], "by rounds");
        assert_eq!(cell.summary.mean.value, 8250.0);
        assert!(cell.summary.mean.low < 8250.0 && cell.summary.mean.high.is_finite());
        assert_eq!(measured(&grid, &[0, 0]).summary.mean.high, f64::INFINITY, "one repeat");
        assert_eq!(grid.readings().count(), 4);
        assert_eq!(grid.dimension("iodepth"), Some(1));
    }

    #[test]
    fn what_is_missing_failed_or_without_the_figure_is_known_as_that() {
        let mut failed = testing::failed("4k 4", "read", 5);
        failed.cell.as_mut().unwrap().at = at("4k", 4);
        let mut stopped = run("16k", 1, 0);
        stopped.interrupted_by = Some(2);
        let set = set(vec![run("4k", 1, 0), failed.clone(), stopped]);
        let grid = Grid::new(&set, &iops());
        assert_eq!(grid.at(&[0, 1]), &Reading::Failed("read failed: errno 5".into()));
        assert_eq!(grid.at(&[1, 0]), &Reading::Missing, "interrupted");
        assert_eq!(grid.at(&[1, 1]), &Reading::Missing);
        let writes = Grid::new(&set, &Measure::parse("write.p99").unwrap());
        assert_eq!(writes.at(&[0, 0]), &Reading::Absent);
    }

    #[test]
    fn failed_repeats_count_for_nothing_and_runs_made_again_as_they_went_then() {
        let mut failed = testing::failed("4k 4", "read", 5);
        failed.cell = Some(Cell { name: "4k 4".into(), round: 1, at: at("4k", 4) });
        let grid = Grid::new(&set(vec![run("4k", 4, 0), failed.clone()]), &iops());
        assert_eq!(
            (measured(&grid, &[0, 0]).values.len(), measured(&grid, &[0, 0]).failed),
            (1, 1)
        );
        let again = Grid::new(&set(vec![run("4k", 4, 0), failed, run("4k", 4, 1)]), &iops());
        assert_eq!(
            (measured(&again, &[0, 0]).values.len(), measured(&again, &[0, 0]).failed),
            (2, 0)
        );
    }

    #[test]
    fn given_dimensions_keep_their_order_and_what_nothing_ran_with() {
        let given = vec![Dimension::new("iodepth", ["4", "2", "1"]), Dimension::new("bs", ["4k"])];
        let grid = Grid::over(&set(vec![run("4k", 1, 0), run("8k", 1, 0)]), &iops(), given.clone());
        assert_eq!(grid.dimensions, given);
        assert_eq!(grid.at(&[0, 0]), &Reading::Missing);
        assert_eq!(measured(&grid, &[2, 0]).values, [2000.0]);
        assert_eq!(grid.readings().count(), 1, "8k is not among them");
    }

    #[test]
    fn values_that_are_no_numbers_come_as_they_appear() {
        let runs = ["none", "bfq", "none", "kyber"].map(|scheduler| {
            let mut run = run("4k", 1, 0);
            let at = Coordinate { dimension: "scheduler".into(), value: scheduler.into() };
            run.cell = Some(Cell { name: scheduler.into(), round: 0, at: vec![at] });
            run
        });
        let found = dimensions(&set(runs.into()));
        assert_eq!(found, [Dimension::new("scheduler", ["none", "bfq", "kyber"])]);
        assert!(!found[0].is_numeric());
    }

    #[test]
    fn runs_that_stand_nowhere_stand_by_their_names() {
        let runs = ["b", "a"].map(|name| RunRecord {
            cell: Some(Cell { name: name.into(), ..Cell::default() }),
            ..run("4k", 1, 0)
        });
        let grid = Grid::new(&set(runs.into()), &iops());
        assert_eq!(grid.dimensions, [Dimension::new("cell", ["b", "a"])]);
        assert_eq!(measured(&grid, &[1]).values, [2000.0]);
    }

    #[test]
    fn what_prepares_the_runs_is_no_part_of_what_was_varied() {
        let mut fill = run("1m", 8, 0);
        fill.cell = Some(Cell { name: "fill".into(), ..Cell::default() });
        let mut half = run("64k", 2, 0);
        half.cell.as_mut().unwrap().at.pop();
        let runs = vec![fill, run("4k", 16, 0), half, run("4k", 2, 0), run("4k", 4, 0)];
        let grid = Grid::new(&set(runs), &iops());
        let expected = [Dimension::new("bs", ["4k"]), Dimension::new("iodepth", ["2", "4", "16"])];
        assert_eq!(grid.dimensions, expected, "numbers, so they rise");
        assert_eq!(grid.readings().count(), 3);
    }

    #[test]
    fn the_usual_measure_follows_the_work() {
        assert_eq!(usual_measure(&set(vec![run("4k", 1, 0), run("1m", 1, 0)])), "iops");
        assert_eq!(usual_measure(&set(vec![run("128k", 1, 0)])), "bandwidth");
        let iozone = RecordSet { kind: "iozone".into(), ..set(vec![run("4k", 1, 0)]) };
        assert_eq!(usual_measure(&iozone), "bandwidth");
        assert_eq!(usual_measure(&set(Vec::new())), "iops");
    }

    #[test]
    fn sizes_are_numbers_and_words_are_none() {
        for (text, value) in [("4k", 4096.0), ("1M", 1048576.0), ("64KiB", 65536.0), ("70%", 70.0)]
        {
            assert_eq!(number(text), Some(value));
        }
        for text in ["", "k", "none", "1,2", "-1", "1..2", "4x"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
