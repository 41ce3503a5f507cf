//! The pictures of a report: what went on over time, how latencies were distributed, what the machine
//! did, and what was varied.

mod distribution;
mod machine;
mod over_time;
mod varied;

use crate::exhibit::Exhibit;
use charts::{Picture, Words};

/// A picture with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// As it is asked for: one of [`NAMES`], with a number behind it from the second of a kind on.
    pub id: String,
    /// The picture.
    pub picture: Picture,
    /// How it is to be read.
    pub reading: String,
}

/// Names of pictures, in the order of the report. Not every run has all of them.
pub const NAMES: [&str; 9] =
    ["varied", "iops", "bandwidth", "latency", "percentiles", "heatmap", "depth", "cpu", "bytes"];

/// Lines of more runs in one picture could not be told apart.
const LINES_MAX: usize = 8;

/// All pictures that there are of some exhibits, in the order of the report.
pub fn all(exhibits: &[Exhibit]) -> Vec<Named> {
    let mut all = varied::pictures(exhibits);
    all.extend(over_time::rates(exhibits));
    all.extend(over_time::latency(exhibits));
    all.extend(distribution::curves(exhibits));
    all.extend(over_time::heat_maps(exhibits));
    all.extend(machine::depth(exhibits));
    all.extend(machine::cpu(exhibits));
    all.extend(machine::bytes(exhibits));
    all
}

/// The picture of this name.
///
/// # Errors
/// That there is none, with the names that there are.
pub fn one(exhibits: &[Exhibit], name: &str) -> Result<Picture, String> {
    let mut all = all(exhibits);
    match all.iter().position(|named| named.id == name) {
        Some(index) => Ok(all.swap_remove(index).picture),
        None => {
            let names: Vec<&str> = all.iter().map(|named| named.id.as_str()).collect();
            Err(match names.is_empty() {
                true => "there is nothing to draw in it".into(),
                false => format!("it has no picture '{name}'; it has {}", names.join(", ")),
            })
        }
    }
}

/// Several pictures of one kind are numbered from the second on.
fn numbered(id: &str, pictures: Vec<Picture>, reading: &str) -> Vec<Named> {
    let name =
        |index: usize| if index == 0 { id.to_owned() } else { format!("{id}-{}", index + 1) };
    let pictures = pictures.into_iter().enumerate();
    pictures
        .map(|(index, picture)| Named { id: name(index), picture, reading: reading.into() })
        .collect()
}

/// What is written around a picture of some exhibits.
fn words(title: &str, subtitle: &str, exhibits: &[Exhibit]) -> Words {
    let names: Vec<&str> = exhibits.iter().map(|exhibit| exhibit.name.as_str()).collect();
    Words {
        title: title.into(),
        subtitle: subtitle.into(),
        source: format!("fathom, {}", names.join(", ")),
    }
}

/// What tells several lines apart: of the parts of their names only those that differ.
fn labels<const N: usize>(parts: &[[String; N]]) -> Vec<String> {
    let differs = |index: &usize| parts.iter().any(|own| own[*index] != parts[0][*index]);
    let told: Vec<usize> = (0..N).filter(differs).collect();
    let label = |own: &[String; N]| match told.is_empty() {
        true => own[N - 1].clone(),
        false => told.iter().map(|index| own[*index].as_str()).collect::<Vec<_>>().join(", "),
    };
    parts.iter().map(label).collect()
}

/// "the first 8 of 20".
fn cut(total: usize) -> String {
    if total > LINES_MAX { format!("the first {LINES_MAX} of {total}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_by_what_differs() {
        let name = |run: &str, job: &str| [run.to_owned(), job.to_owned(), "read".to_owned()];
        assert_eq!(labels(&[name("a", "x"), name("b", "x")]), ["a", "b"]);
        assert_eq!(labels(&[name("a", "x"), name("b", "y")]), ["a, x", "b, y"]);
        assert_eq!(labels(&[name("a", "x")]), ["read"]);
    }
}
