//! The figures of a picture as a data file for gnuplot, and a script that draws it.

use super::content::PlotContent;
use super::labels::{measure_name, short_label, tick};
use super::request::Kind;
use charts::{Point, Words};
use judge::Measure;
use std::fmt::Write;

/// A data file, and the script that draws it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gnuplot {
    /// Blocks of lines, one for each series, with two empty lines between them.
    pub data: String,
    /// The script; [`Gnuplot::script_for`] names the data file in it.
    script: String,
}

/// Stands for the name of the data file.
const DATA: &str = "@DATA@";

impl Gnuplot {
    /// The script for a data file of this name.
    pub fn script_for(&self, file: &str) -> String {
        self.script.replace(DATA, &quoted(file))
    }
}

/// Figures and script of a picture.
pub(super) fn gnuplot(plot: &PlotContent, words: &Words, measure: &Measure) -> Gnuplot {
    let unit = measure.unit();
    let mut data = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(data, "# {}\n# {}", words.title, words.source);
    let _ =
        writeln!(data, "# columns: x, y, {} ({unit}), low, high, x label, y label", measure.name());
    let fields = plot.fields();
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            data += "\n\n";
        }
        let _ = writeln!(data, "# series {index}: {}", field.name);
        for (y, row) in field.rows.iter().enumerate() {
            if y > 0 {
                data += "\n";
            }
            row.iter().enumerate().for_each(|(x, point)| data += &line(plot, x, y, *point));
        }
    }
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    Gnuplot { data, script: script(plot, words, measure, &names) }
}

/// One figure; what is missing is NaN, which gnuplot leaves out.
fn line(plot: &PlotContent, x: usize, y: usize, point: Point) -> String {
    let (value, (low, high)) = match point {
        Point::Known { value, interval } => (value, interval.unwrap_or((value, value))),
        Point::Missing | Point::Failed => (f64::NAN, (f64::NAN, f64::NAN)),
    };
    let [x_label, y_label] = [label(plot, plot.shape.x, x), label(plot, plot.shape.y, y)];
    format!("{x} {y} {value} {low} {high} {} {}\n", quoted(&x_label), quoted(&y_label))
}

/// The value of a dimension as the axis shows it; the name of a source without one.
fn label(plot: &PlotContent, dimension: Option<usize>, index: usize) -> String {
    match dimension {
        Some(dimension) => tick(&plot.dimensions[dimension], index).text,
        None => plot.names.get(index).cloned().unwrap_or_default(),
    }
}

fn script(plot: &PlotContent, words: &Words, measure: &Measure, names: &[&str]) -> String {
    let axis = |dimension: Option<usize>| {
        dimension.map_or(String::new(), |at| short_label(&plot.dimensions[at].name))
    };
    let figure = quoted(&format!("{} ({})", measure_name(measure), measure.unit()));
    let mut out = format!(
        "set title {}\nset xlabel {}\nset key outside\n",
        quoted(&words.title),
        quoted(&axis(plot.shape.x))
    );
    let each = |style: &str| -> String {
        let one = |(index, name): (usize, &&str)| {
            format!("{DATA} index {index} {style} title {}", quoted(name))
        };
        names.iter().enumerate().map(one).collect::<Vec<_>>().join(", \\\n     ")
    };
    out += &match plot.shape.kind {
        Kind::Lines => {
            format!(
                "set ylabel {figure}\nplot {}\n",
                each("using 1:3:4:5:xtic(6) with yerrorlines")
            )
        }
        Kind::Bars => format!(
            "set ylabel {figure}\nset style data histogram\nset style histogram errorbars gap 1\n\
             set style fill solid 0.6\nset yrange [0:*]\nplot {}\n",
            each("using 3:4:5:xtic(6)")
        ),
        Kind::Heatmap => format!(
            "set ylabel {}\nset cblabel {figure}\nplot {}\n",
            quoted(&axis(plot.shape.y)),
            each("using 1:2:3:xtic(6):ytic(7) with image")
        ),
        Kind::Surface => format!(
            "set ylabel {}\nset zlabel {figure}\nsplot {}\n",
            quoted(&axis(plot.shape.y)),
            each("using 1:2:3:xtic(6):ytic(7) with lines")
        ),
    };
    out
}

/// A text of gnuplot, in which nothing is replaced.
fn quoted(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", clean.replace('\\', "\\\\").replace('"', "\\\""))
}
