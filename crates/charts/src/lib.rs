//! Pictures of measurements: numbers and labels in, SVG text, PNG or PDF bytes out.
//!
//! A chart ([`heat_map`], [`surface`], [`lines`], [`bars`], [`over_time`], [`spread_over_time`],
//! [`percentile_curves`]) makes a [`Picture`] of plain shapes;
//! [`Picture::svg`], [`Picture::png`] and [`Picture::pdf`] write the same shapes.
//! The caller provides names, units and figures, and says which figures are missing.
//!
//! Fields use viridis (N. Smith and S. van der Walt, 2015), whose lightness increases evenly and which
//! every kind of colour vision can distinguish. Series use the eight colours of M. Okabe and K. Ito,
//! "Color Universal Design" (2008).

mod axes;
mod bars;
mod colour;
mod data;
mod font;
mod frame;
mod heat_map;
mod legend;
mod lines;
mod over_time;
mod pdf;
mod percentiles;
mod png;
mod scale;
mod scene;
mod surface;
mod svg;
mod unit;

#[cfg(test)]
mod testing;

pub use bars::bars;
pub use data::{Axis, Field, Point, Quantity, Series, Tick, Words};
pub use heat_map::heat_map;
pub use lines::lines;
pub use over_time::{
    Column, Marks, Moment, Span, SpanKind, Stretch, Trace, over_time, spread_over_time,
};
pub use percentiles::{PercentileCurve, percentile_curves};
pub use png::PngError;
pub use scene::Picture;
pub use surface::surface;
pub use svg::STYLE;
pub use unit::Unit;
