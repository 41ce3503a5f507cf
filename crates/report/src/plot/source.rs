//! Records to draw, and the dimensions that were varied in them.

use record::RecordSet;
use suite::grid::{self, Dimension};
use suite::sweep::Design;

/// Records to be drawn together.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Their name beside other sources.
    pub name: String,
    /// Name of the file they are from.
    pub file: String,
    /// The records.
    pub set: RecordSet,
    /// The varied parameters with all planned values, in order.
    pub dimensions: Vec<Dimension>,
}

impl Source {
    /// Records with the dimensions they show.
    pub fn new(name: &str, file: &str, set: RecordSet) -> Source {
        let set = joined(set);
        let dimensions = grid::dimensions(&set);
        Source { name: name.into(), file: file.into(), set, dimensions }
    }

    /// The runs of a sweep, with the dimensions of its design: values without a run are missing.
    pub fn of_sweep(name: &str, file: &str, design: &Design, set: RecordSet) -> Source {
        if design.paired {
            return Source::new(name, file, set);
        }
        let dimension = |given: &suite::sweep::Dimension| {
            let values = given.values.iter().map(String::as_str);
            let mut dimension = Dimension::new(&given.name, values);
            dimension.sort_numbers();
            dimension
        };
        let dimensions = design.dimensions.iter().map(dimension).collect();
        Source { name: name.into(), file: file.into(), set, dimensions }
    }
}

/// The dimensions of all sources, each with the values of all. A dimension in which no source has more
/// than one value was not varied: one of its values is kept.
pub(super) fn common(sources: &[Source]) -> Result<Vec<Dimension>, String> {
    let mut all: Vec<Dimension> = Vec::new();
    for dimension in sources.iter().flat_map(|source| &source.dimensions) {
        let at = all.iter().position(|known| known.name == dimension.name).unwrap_or_else(|| {
            all.push(Dimension { name: dimension.name.clone(), values: Vec::new() });
            all.len() - 1
        });
        for value in &dimension.values {
            if all[at].values.iter().all(|known| known.text != value.text) {
                all[at].values.push(value.clone());
            }
        }
    }
    for dimension in &mut all {
        let own = |source: &Source| values_of(source, &dimension.name);
        match sources.iter().all(|source| own(source) <= 1) {
            true => dimension.values.truncate(1),
            false => {
                if let Some(source) = sources.iter().find(|source| own(source) == 0) {
                    return Err(format!(
                        "{}: {} was not varied there, as it was in other records: name records made \
                         over the same dimensions",
                        source.file, dimension.name
                    ));
                }
                dimension.sort_numbers();
            }
        }
    }
    Ok(all)
}

fn values_of(source: &Source, dimension: &str) -> usize {
    let own = source.dimensions.iter().find(|known| known.name == dimension);
    own.map_or(0, |dimension| dimension.values.len())
}

/// The common dimensions for one source: those that were not varied have its own value.
pub(super) fn own(source: &Source, dimensions: &[Dimension]) -> Vec<Dimension> {
    let with_own_values = |dimension: &Dimension| {
        let own = source.dimensions.iter().find(|known| known.name == dimension.name);
        match (dimension.values.len(), own) {
            (0 | 1, Some(own)) => own.clone(),
            (0 | 1, None) => Dimension::new(&dimension.name, [""]),
            _ => dimension.clone(),
        }
    };
    dimensions.iter().map(with_own_values).collect()
}

/// Joins dimensions that were varied together, value by value, into one.
fn joined(mut set: RecordSet) -> RecordSet {
    let dimensions = grid::dimensions(&set);
    let varied: Vec<&str> =
        dimensions.iter().filter(|d| d.values.len() > 1).map(|d| d.name.as_str()).collect();
    let cells = set.runs.iter().filter_map(|run| run.cell.as_ref());
    let whole = cells.filter(|cell| grid::is_whole(&cell.at, &dimensions));
    let mut places: Vec<_> = whole.map(|cell| cell.at.clone()).collect();
    places.sort();
    places.dedup();
    let is_paired =
        dimensions.iter().all(|d| d.values.len() <= 1 || d.values.len() == places.len());
    if varied.len() < 2 || !is_paired {
        return set;
    }
    let cells = set.runs.iter_mut().filter_map(|run| run.cell.as_mut());
    for cell in cells.filter(|cell| grid::is_whole(&cell.at, &dimensions)) {
        let joined_names = |pick: fn(&record::Coordinate) -> &String| {
            let varied = cell.at.iter().filter(|at| varied.contains(&at.dimension.as_str()));
            varied.map(|at| pick(at).as_str()).collect::<Vec<_>>().join(" + ")
        };
        let joined = record::Coordinate {
            dimension: joined_names(|at| &at.dimension),
            value: joined_names(|at| &at.value),
        };
        cell.at.retain(|at| !varied.contains(&at.dimension.as_str()));
        cell.at.push(joined);
    }
    set
}
