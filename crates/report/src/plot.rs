//! `fathom plot`: records made over varied dimensions as pictures.

mod shape;
mod words;

use crate::native::RecordError;
use crate::sweep::directory as sweep;
use charts::{Field, Picture, Point, Quantity, Series, Unit};
use judge::Measure;
use record::RecordSet;
use shape::{Shape, shape};
use std::path::Path;
use suite::grid::{self, Dimension, Grid, Reading};

/// Records to be drawn together.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// What they are called where there are several.
    pub name: String,
    /// Name of the file they are from.
    pub file: String,
    /// The records.
    pub set: RecordSet,
    /// What was varied, and the values it was to be given, in order.
    pub dimensions: Vec<Dimension>,
}

impl Source {
    /// Records with the dimensions they show.
    pub fn new(name: &str, file: &str, set: RecordSet) -> Source {
        let set = joined(set);
        let dimensions = grid::dimensions(&set);
        Source { name: name.into(), file: file.into(), set, dimensions }
    }

    /// The sweep in a directory, with what it was to measure and did not.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub fn of_sweep(name: &str, file: &str, directory: &Path) -> Result<Source, RecordError> {
        let design = sweep::manifest(directory)?.design;
        let set = sweep::load_set(directory)?;
        if design.paired {
            return Ok(Source::new(name, file, set));
        }
        let dimension = |given: &suite::sweep::Dimension| {
            let values = given.values.iter().map(String::as_str);
            let mut dimension = Dimension::new(&given.name, values);
            dimension.sort_numbers();
            dimension
        };
        let dimensions = design.dimensions.iter().map(dimension).collect();
        Ok(Source { name: name.into(), file: file.into(), set, dimensions })
    }
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Coloured cells over two dimensions.
    Heatmap,
    /// A landscape over two dimensions.
    Surface,
    /// Lines along one.
    Lines,
    /// Bars along one.
    Bars,
}

impl Kind {
    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Heatmap => "heatmap",
            Kind::Surface => "surface",
            Kind::Lines => "lines",
            Kind::Bars => "bars",
        }
    }

    fn has_two_axes(self) -> bool {
        matches!(self, Kind::Heatmap | Kind::Surface)
    }
}

/// What is wanted of a picture; what is not said follows from the records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Which kind.
    pub kind: Option<Kind>,
    /// The dimension that goes to the right.
    pub x: Option<String>,
    /// The dimension that goes upwards, or to the back.
    pub y: Option<String>,
    /// The dimension whose values are drawn one beside the other, or each in its colour.
    pub series: Option<String>,
    /// The figure.
    pub metric: Option<Measure>,
    /// (dimension, value): only what stands there.
    pub at: Vec<(String, String)>,
    /// What is written above.
    pub title: Option<String>,
}

/// A picture, and what is on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The picture.
    pub picture: Picture,
    /// Its kind.
    pub kind: Kind,
    /// Which figure.
    pub metric: String,
    /// Places for figures.
    pub places: usize,
    /// Those of them without a figure.
    pub missing: usize,
}

/// Draws records.
///
/// # Errors
/// What does not fit, with the dimensions that there are.
pub fn picture(sources: &[Source], request: &Request) -> Result<Drawn, String> {
    let Some(first) = sources.first() else { return Err("no records were named".into()) };
    let measure = match &request.metric {
        Some(measure) => measure.clone(),
        None => Measure::parse(grid::usual_measure(&first.set))?,
    };
    let dimensions = common(sources)?;
    let shape = shape(&dimensions, sources.len(), request)?;
    let of = |source: &Source| Grid::over(&source.set, &measure, own(source, &dimensions));
    let grids: Vec<Grid> = sources.iter().map(of).collect();
    let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    let plot = Plot { dimensions, shape, names, grids };
    let points: Vec<Point> =
        plot.fields().into_iter().flat_map(|field| field.rows.concat()).collect();
    let missing = points.iter().filter(|point| !matches!(point, Point::Known { .. })).count();
    if missing == points.len() {
        return Err(format!(
            "nothing there has the figure {}: name another one with --metric",
            measure.name()
        ));
    }
    let words = words::of(&plot, sources, request, &measure);
    Ok(Drawn {
        picture: plot.draw(&words, &quantity(&measure)),
        kind: plot.shape.kind,
        metric: measure.name(),
        places: points.len(),
        missing,
    })
}

/// What is drawn, and how.
struct Plot {
    dimensions: Vec<Dimension>,
    shape: Shape,
    /// Of each source.
    names: Vec<String>,
    grids: Vec<Grid>,
}

impl Plot {
    fn draw(&self, words: &charts::Words, quantity: &Quantity) -> Picture {
        let x = match self.shape.x {
            Some(dimension) => words::axis(&self.dimensions[dimension]),
            None => words::axis_of_names(&self.names),
        };
        let fields = self.fields();
        if self.shape.kind.has_two_axes() {
            let y = self.shape.y.map(|dimension| words::axis(&self.dimensions[dimension]));
            let y = y.unwrap_or_default();
            return match self.shape.kind {
                Kind::Surface => charts::surface(words, &x, &y, quantity, &fields),
                _ => charts::heat_map(words, &x, &y, quantity, &fields),
            };
        }
        let line = |field: Field| Series { name: field.name, points: field.rows.concat() };
        let series: Vec<Series> = fields.into_iter().map(line).collect();
        match self.shape.kind {
            Kind::Lines => charts::lines(words, &x, quantity, &series),
            _ => charts::bars(words, &x, quantity, &series),
        }
    }

    /// One for each source and value of the series' dimension; of one row where there is one axis.
    fn fields(&self) -> Vec<Field> {
        let count = |dimension: Option<usize>| {
            dimension.map_or(1, |dimension| self.dimensions[dimension].values.len())
        };
        let (columns, rows) = (count(self.shape.x), count(self.shape.y));
        if self.shape.x.is_none() {
            let row = (0..self.grids.len()).map(|source| self.point(source, 0, 0, 0)).collect();
            return vec![Field { name: String::new(), rows: vec![row] }];
        }
        let each = (0..self.grids.len())
            .flat_map(|source| (0..count(self.shape.series)).map(move |value| (source, value)));
        let field = |(source, value)| {
            let row = |y| (0..columns).map(|x| self.point(source, x, y, value)).collect();
            Field { name: self.field_name(source, value), rows: (0..rows).map(row).collect() }
        };
        each.map(field).collect()
    }

    fn field_name(&self, source: usize, value: usize) -> String {
        let own = (self.grids.len() > 1).then(|| self.names[source].clone());
        let value = self.shape.series.map(|dimension| {
            let dimension = &self.dimensions[dimension];
            let text = words::tick(dimension, value).text;
            // A bare number says nothing.
            match dimension.is_numeric() {
                true => format!("{} {text}", words::short(&dimension.name)),
                false => text,
            }
        });
        own.into_iter().chain(value).collect::<Vec<_>>().join(", ")
    }

    fn point(&self, source: usize, x: usize, y: usize, series: usize) -> Point {
        let mut place = self.shape.fixed.clone();
        let roles = [(self.shape.x, x), (self.shape.y, y), (self.shape.series, series)];
        for (dimension, value) in roles {
            dimension.iter().for_each(|dimension| place[*dimension] = value);
        }
        match self.grids[source].at(&place) {
            Reading::Missing | Reading::Absent => Point::Missing,
            Reading::Failed(_) => Point::Failed,
            Reading::Measured(measured) => {
                let mean = measured.summary.mean;
                let has_ends = mean.low.is_finite() && mean.high.is_finite();
                // No figure is below nothing.
                let interval = has_ends.then_some((mean.low.max(0.0), mean.high));
                Point::Known { value: mean.value, interval }
            }
        }
    }
}

pub(crate) fn quantity(measure: &Measure) -> Quantity {
    let unit = match measure.unit() {
        "IOPS" => Unit::PerSecond,
        "bytes/s" => Unit::BytesPerSecond,
        _ => Unit::Nanoseconds,
    };
    Quantity { name: words::of_measure(measure), unit, more_is_better: measure.is_rate() }
}

/// The dimensions of all sources with the values of all. Where each source has one value only, that
/// is what it is and nothing that was varied: it has one value then, whichever.
fn common(sources: &[Source]) -> Result<Vec<Dimension>, String> {
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

/// The common dimensions, with the own value of a source where it is no varied one.
fn own(source: &Source, dimensions: &[Dimension]) -> Vec<Dimension> {
    let of = |dimension: &Dimension| {
        let own = source.dimensions.iter().find(|known| known.name == dimension.name);
        match (dimension.values.len(), own) {
            (0 | 1, Some(own)) => own.clone(),
            (0 | 1, None) => Dimension::new(&dimension.name, [""]),
            _ => dimension.clone(),
        }
    };
    dimensions.iter().map(of).collect()
}

/// Dimensions that were varied together, value by value, made one: no grid of them was measured.
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
        let of = |pick: fn(&record::Coordinate) -> &String| {
            let varied = cell.at.iter().filter(|at| varied.contains(&at.dimension.as_str()));
            varied.map(|at| pick(at).as_str()).collect::<Vec<_>>().join(" + ")
        };
        let joined =
            record::Coordinate { dimension: of(|at| &at.dimension), value: of(|at| &at.value) };
        cell.at.retain(|at| !varied.contains(&at.dimension.as_str()));
        cell.at.push(joined);
    }
    set
}

#[cfg(test)]
mod tests;
