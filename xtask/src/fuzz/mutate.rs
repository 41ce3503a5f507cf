//! Changes inputs at random, reproducibly.

/// Inputs do not grow beyond this.
const LONGEST: usize = 16 << 10;

/// Makes inputs from others.
pub struct Mutator {
    state: u64,
    words: &'static [&'static str],
}

impl Mutator {
    /// One whose inputs are those of this seed; `words` are worth putting in.
    pub fn new(seed: u64, words: &'static [&'static str]) -> Mutator {
        Mutator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, words }
    }

    /// An input near to one of `inputs`, of which there is at least one.
    pub fn mutate(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.pick(inputs).cloned().unwrap_or_default();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes, inputs);
        }
        bytes.truncate(LONGEST);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        let end = at + self.below(bytes.len() - at + 1).min(64);
        match self.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let again: Vec<u8> = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            4 => bytes.truncate(at),
            5 => {
                let other = self.pick(inputs).cloned().unwrap_or_default();
                let from = self.below(other.len() + 1);
                bytes.splice(at..end, other[from..].iter().copied());
            }
            6 => {
                let numbers = ["0", "-1", "18446744073709551616", "9223372036854775807", "4k"];
                let number = numbers[self.below(numbers.len())];
                bytes.splice(at..end.min(at + 3), number.bytes());
            }
            _ => {
                let word = self.pick(self.words).copied().unwrap_or("\0");
                bytes.splice(at..at, word.bytes());
            }
        }
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len().max(1)))
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// xorshift64*.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_its_inputs_and_they_differ() {
        let from = [b"abc".to_vec(), b"0123456789".to_vec()];
        let all = |seed| {
            let mut mutator = Mutator::new(seed, &["word"]);
            (0..100).map(|_| mutator.mutate(&from)).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        assert!(all(1).iter().collect::<std::collections::HashSet<_>>().len() > 50);
    }
}
