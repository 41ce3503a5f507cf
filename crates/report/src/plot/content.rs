//! The figures of a picture and where each goes.

use super::labels::{dimension_axis, name_axis, short_label, tick};
use super::request::Kind;
use super::shape::Shape;
use charts::{Field, Picture, Point, Quantity, Series};
use suite::grid::{Dimension, Grid, Reading};

/// The figures of all sources over the dimensions of a picture.
pub(super) struct PlotContent {
    pub dimensions: Vec<Dimension>,
    pub shape: Shape,
    /// The names of the sources.
    pub names: Vec<String>,
    pub grids: Vec<Grid>,
}

impl PlotContent {
    pub fn draw(&self, words: &charts::Words, quantity: &Quantity) -> Picture {
        let x = match self.shape.x {
            Some(dimension) => dimension_axis(&self.dimensions[dimension]),
            None => name_axis(&self.names),
        };
        let fields = self.fields();
        if self.shape.kind.has_two_axes() {
            let y = self.shape.y.map(|dimension| dimension_axis(&self.dimensions[dimension]));
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

    /// A field for each source and value of the series' dimension; with one axis a field has one row.
    pub fn fields(&self) -> Vec<Field> {
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
            let text = tick(dimension, value).text;
            // A bare number needs the name of its dimension.
            match dimension.is_numeric() {
                true => format!("{} {text}", short_label(&dimension.name)),
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
                // No figure is below 0.
                let interval = has_ends.then_some((mean.low.max(0.0), mean.high));
                Point::Known { value: mean.value, interval }
            }
        }
    }
}
