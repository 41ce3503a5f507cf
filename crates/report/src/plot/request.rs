//! A request for a picture.

use judge::Measure;
use record::named;

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Coloured cells over two dimensions.
    Heatmap,
    /// A surface over two dimensions.
    Surface,
    /// Lines over one dimension.
    Lines,
    /// Bars over one dimension.
    Bars,
}

named!(Kind: Heatmap "heatmap", Surface "surface", Lines "lines", Bars "bars");

impl Kind {
    pub(super) fn has_two_axes(self) -> bool {
        matches!(self, Kind::Heatmap | Kind::Surface)
    }
}

/// A request for a picture; unset fields follow from the records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The kind of picture.
    pub kind: Option<Kind>,
    /// The dimension of the x axis.
    pub x: Option<String>,
    /// The dimension of the y axis.
    pub y: Option<String>,
    /// The dimension with a colour or a panel for each value.
    pub series: Option<String>,
    /// The measure.
    pub metric: Option<Measure>,
    /// (dimension, value): draw only these values.
    pub at: Vec<(String, String)>,
    /// The title.
    pub title: Option<String>,
}
