//! Pictures with their names, and the words around them.

use crate::judged_set::JudgedSet;
use charts::{Picture, Words};

/// A picture with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPicture {
    /// The name that selects it: one of [`super::NAMES`], followed by a number from the second of a
    /// kind on.
    pub id: String,
    /// The picture.
    pub picture: Picture,
    /// How to read it.
    pub reading: String,
}

/// The maximum number of distinguishable lines in one picture.
pub(super) const LINES_MAX: usize = 8;

/// Several pictures of one kind are numbered from the second on.
pub(super) fn numbered(id: &str, pictures: Vec<Picture>, reading: &str) -> Vec<NamedPicture> {
    let name =
        |index: usize| if index == 0 { id.to_owned() } else { format!("{id}-{}", index + 1) };
    let pictures = pictures.into_iter().enumerate();
    pictures
        .map(|(index, picture)| NamedPicture { id: name(index), picture, reading: reading.into() })
        .collect()
}

/// The words around a picture.
pub(super) fn words(title: &str, subtitle: &str, judged_sets: &[JudgedSet]) -> Words {
    let names: Vec<&str> = judged_sets.iter().map(|judged_set| judged_set.name.as_str()).collect();
    Words {
        title: title.into(),
        subtitle: subtitle.into(),
        source: format!("fathom, {}", names.join(", ")),
    }
}

/// Labels of lines: of the parts of their names those that differ.
pub(super) fn labels<const N: usize>(parts: &[[String; N]]) -> Vec<String> {
    let differs = |index: &usize| parts.iter().any(|own| own[*index] != parts[0][*index]);
    let differing: Vec<usize> = (0..N).filter(differs).collect();
    let label = |own: &[String; N]| match differing.is_empty() {
        true => own[N - 1].clone(),
        false => differing.iter().map(|index| own[*index].as_str()).collect::<Vec<_>>().join(", "),
    };
    parts.iter().map(label).collect()
}

/// "the first 8 of 20".
pub(super) fn cut(total: usize) -> String {
    if total > LINES_MAX { format!("the first {LINES_MAX} of {total}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_by_the_parts_that_differ() {
        let name = |run: &str, job: &str| [run.to_owned(), job.to_owned(), "read".to_owned()];
        assert_eq!(labels(&[name("a", "x"), name("b", "x")]), ["a", "b"]);
        assert_eq!(labels(&[name("a", "x"), name("b", "y")]), ["a, x", "b, y"]);
        assert_eq!(labels(&[name("a", "x")]), ["read"]);
    }
}
