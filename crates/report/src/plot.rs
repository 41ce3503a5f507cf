//! `fathom plot`: records made over varied dimensions as pictures.

mod captions;
mod content;
mod gnuplot;
mod labels;
mod request;
mod shape;
mod source;

pub use gnuplot::Gnuplot;
pub(crate) use labels::quantity;
pub use request::{Kind, Request};
pub use source::Source;

use charts::{Picture, Point};
use content::PlotContent;
use judge::Measure;
use shape::shape;
use source::{common, own};
use suite::grid::{self, Grid};

/// A picture, and how complete it is.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnPlot {
    /// The picture.
    pub picture: Picture,
    /// Its figures for gnuplot.
    pub gnuplot: Gnuplot,
    /// Its kind.
    pub kind: Kind,
    /// The measure drawn.
    pub metric: String,
    /// Places for figures.
    pub places: usize,
    /// Places without a figure.
    pub missing: usize,
}

/// Draws records.
///
/// # Errors
/// When the dimensions do not fit the request; the message names those there are.
pub fn picture(sources: &[Source], request: &Request) -> Result<DrawnPlot, String> {
    let Some(first) = sources.first() else { return Err("no records were named".into()) };
    let measure = match &request.metric {
        Some(measure) => measure.clone(),
        None => Measure::parse(grid::usual_measure(&first.set))?,
    };
    let dimensions = common(sources)?;
    let shape = shape(&dimensions, sources.len(), request)?;
    let grid = |source: &Source| Grid::over(&source.set, &measure, own(source, &dimensions));
    let grids: Vec<Grid> = sources.iter().map(grid).collect();
    let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    let plot = PlotContent { dimensions, shape, names, grids };
    let points: Vec<Point> =
        plot.fields().into_iter().flat_map(|field| field.rows.concat()).collect();
    let missing = points.iter().filter(|point| !matches!(point, Point::Known { .. })).count();
    if missing == points.len() {
        return Err(format!(
            "no run has the figure {}: choose another one with --metric",
            measure.name()
        ));
    }
    let words = captions::words(&plot, sources, request, &measure);
    Ok(DrawnPlot {
        picture: plot.draw(&words, &quantity(&measure)),
        gnuplot: gnuplot::gnuplot(&plot, &words, &measure),
        kind: plot.shape.kind,
        metric: measure.name(),
        places: points.len(),
        missing,
    })
}

#[cfg(test)]
mod tests;
