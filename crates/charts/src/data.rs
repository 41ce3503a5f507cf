//! What charts are made of.

use crate::unit::Unit;

/// What stands around a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// Above it, large.
    pub title: String,
    /// Below the title: what was held fixed, how many repeats.
    pub subtitle: String,
    /// At the foot: where the figures come from.
    pub source: String,
}

/// What the figures are.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name, without the unit ("bandwidth", "p99 latency").
    pub name: String,
    /// What its figures are given in.
    pub unit: Unit,
    /// Large figures are good ones.
    pub more_is_better: bool,
}

/// A varied dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Its name with its unit ("block size (bytes)").
    pub label: String,
    /// Its values, in order.
    pub ticks: Vec<Tick>,
}

/// A value of a dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tick {
    /// As it is shown ("64k").
    pub text: String,
    /// As a number, where it is one: it decides the distances between values.
    pub number: Option<f64>,
}

/// One figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Point {
    /// Measured.
    Known {
        /// The figure, in the unit of its quantity.
        value: f64,
        /// The ends of its 95 % interval, where there is one.
        interval: Option<(f64, f64)>,
    },
    /// Not measured.
    #[default]
    Missing,
    /// Tried and failed.
    Failed,
}

impl Point {
    /// A figure without an interval.
    pub fn value(value: f64) -> Point {
        Point::Known { value, interval: None }
    }

    /// The figure, where it is known and can be drawn.
    pub(crate) fn known(&self) -> Option<f64> {
        match self {
            Point::Known { value, .. } if value.is_finite() => Some(*value),
            _ => None,
        }
    }

    /// Its interval, where it has one with ends.
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        match self {
            Point::Known { interval: Some((low, high)), .. }
                if low.is_finite() && high.is_finite() =>
            {
                Some((*low, *high))
            }
            _ => None,
        }
    }
}

/// Figures along one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// A figure for each value of the axis; those beyond its end are missing.
    pub points: Vec<Point>,
}

/// Figures over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// What it is.
    pub name: String,
    /// For each value of the vertical axis, in order, a figure for each of the horizontal one.
    pub rows: Vec<Vec<Point>>,
}

impl Series {
    pub(crate) fn at(&self, index: usize) -> Point {
        self.points.get(index).copied().unwrap_or_default()
    }
}

impl Field {
    pub(crate) fn at(&self, x: usize, y: usize) -> Point {
        self.rows.get(y).and_then(|row| row.get(x)).copied().unwrap_or_default()
    }
}
/// Every point of the fields, those that are not there as missing.
pub(crate) fn all_points(x: &Axis, y: &Axis, fields: &[Field]) -> Vec<Point> {
    let row = |field: &Field, y: usize| -> Vec<Point> {
        (0..x.ticks.len()).map(|x| field.at(x, y)).collect()
    };
    fields.iter().flat_map(|field| (0..y.ticks.len()).flat_map(move |y| row(field, y))).collect()
}
