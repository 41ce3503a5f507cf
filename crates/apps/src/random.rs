//! Random choices from a seed: the same seed gives the same trees and rows.

use suite::Draw;

/// A number from `0..end`; small numbers are more frequent. It is the smaller of two uniform
/// numbers.
pub(crate) fn skewed(draw: &mut Draw, end: u64) -> u64 {
    draw.below(end).min(draw.below(end))
}

/// Made-up words with uneven frequencies, so that text made of them compresses as natural text
/// does.
pub(crate) struct Words(Vec<String>);

/// Number of different words.
const WORDS: u64 = 4096;

impl Words {
    pub(crate) fn new(draw: &mut Draw) -> Words {
        const STARTS: &[u8] = b"bcdfghjklmnprstvwz";
        const VOWELS: &[u8] = b"aeiou";
        let mut letter = |from: &[u8]| char::from(from[draw.below(from.len() as u64) as usize]);
        let mut word = |syllables: u64| {
            (0..syllables).flat_map(|_| [letter(STARTS), letter(VOWELS)]).collect::<String>()
        };
        Words((0..WORDS).map(|at| word(1 + at % 4)).collect())
    }

    /// A random word. Some words are far more frequent than others, as in natural languages.
    pub(crate) fn draw(&self, draw: &mut Draw) -> &str {
        let most = skewed(draw, WORDS);
        &self.0[draw.below(most + 1) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_their_seed_and_some_are_frequent() {
        let text = |seed| {
            let mut draw = Draw::new(seed);
            let words = Words::new(&mut draw);
            (0..2000).map(|_| words.draw(&mut draw).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
        let mut distinct = text(1);
        distinct.sort();
        distinct.dedup();
        assert!((100..1500).contains(&distinct.len()), "{}", distinct.len());
    }
}
