//! The data of charts.

use crate::unit::Unit;

/// The text around a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The title.
    pub title: String,
    /// Below the title: fixed parameters, number of repeats.
    pub subtitle: String,
    /// At the foot: the source of the figures.
    pub source: String,
}

/// The quantity that a chart shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its name, without the unit ("bandwidth", "p99 latency").
    pub name: String,
    /// The unit of its figures.
    pub unit: Unit,
    /// Larger figures are better.
    pub more_is_better: bool,
}

/// A dimension with its values.
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
    /// Its label ("64k").
    pub text: String,
    /// The value as a number, if it is one: numbers set the distances between values.
    pub number: Option<f64>,
}

/// One figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Point {
    /// Measured.
    Known {
        /// The figure, in the unit of its quantity.
        value: f64,
        /// The ends of its 95 % interval, if it has one.
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

    /// The figure, if it can be drawn.
    pub(crate) fn known(&self) -> Option<f64> {
        match self {
            Point::Known { value, .. } if value.is_finite() => Some(*value),
            _ => None,
        }
    }

    /// Its interval, if it is finite.
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
    /// Its name.
    pub name: String,
    /// A figure for each value of the axis; a short list ends with missing ones.
    pub points: Vec<Point>,
}

/// Figures over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Rows by the values of the vertical axis, with a figure for each value of the horizontal one.
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
/// Every point of the fields, absent ones as missing.
pub(crate) fn all_points(x: &Axis, y: &Axis, fields: &[Field]) -> Vec<Point> {
    let row = |field: &Field, y: usize| -> Vec<Point> {
        (0..x.ticks.len()).map(|x| field.at(x, y)).collect()
    };
    fields.iter().flat_map(|field| (0..y.ticks.len()).flat_map(move |y| row(field, y))).collect()
}
