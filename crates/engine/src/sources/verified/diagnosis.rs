//! Kinds of damage to data: a flipped bit, wrong bytes, a torn write, zeros, other data.

/// Size of a sector in bytes. A torn write ends at a sector boundary.
const SECTOR: usize = 512;
/// Maximum number of wrong bits that are diagnosed as single wrong bytes.
const WRONG_BITS_MAX: u32 = 64;
/// Length of ranges that are compared, in bytes. Ranges of this length are not equal by chance.
const COMPARED_LENGTH: usize = 32;

/// How data differs from the expected data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// One wrong bit, in this byte.
    Flipped { at: usize },
    /// A few wrong bytes, and the first and the last of them.
    Bytes { count: usize, first: usize, last: usize },
    /// Some sectors are right, the others are wrong.
    Torn(Tear),
    /// All sectors are wrong.
    Other,
}

/// The range of wrong bytes of a torn write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tear {
    /// First wrong byte.
    pub from: usize,
    /// One past the last wrong byte.
    pub to: usize,
    /// The wrong bytes are zeros.
    pub zeros: bool,
}

impl Damage {
    /// Compares `found` with `expected`, except for the first `skip` bytes.
    pub fn between(expected: &[u8], found: &[u8], skip: usize) -> Damage {
        let differs = |at: &usize| expected[*at] != found[*at];
        let all = skip..expected.len().min(found.len());
        let Some(first) = all.clone().find(differs) else { return Damage::Other };
        let last = all.clone().rev().find(differs).unwrap_or(first);
        let bits: u32 = (first..=last).map(|at| (expected[at] ^ found[at]).count_ones()).sum();
        if bits == 1 {
            return Damage::Flipped { at: first };
        }
        if bits <= WRONG_BITS_MAX && (last - first < SECTOR || bits <= 8) {
            let count = (first..=last).filter(differs).count();
            return Damage::Bytes { count, first, last };
        }
        let sectors = |from: usize, to: usize| (from / SECTOR, to.div_ceil(SECTOR));
        let (begin, end) = sectors(first, last + 1);
        let (from, to) = ((begin * SECTOR).max(skip), (end * SECTOR).min(all.end));
        let right_bytes = (from - skip) + (all.end - to);
        if right_bytes == 0 {
            return Damage::Other;
        }
        let zeros = found[from..to].iter().all(|byte| *byte == 0);
        Damage::Torn(Tear { from, to, zeros })
    }
}

/// Describes the damage.
pub(super) fn describe(expected: &[u8], found: &[u8], skip: usize) -> String {
    if found.iter().all(|byte| *byte == 0) {
        return "zeroed block: every byte is zero".into();
    }
    match Damage::between(expected, found, skip) {
        Damage::Flipped { at } => format!(
            "bit flip: 1 wrong bit, in byte {at}: expected {:#04x}, found {:#04x}",
            expected[at], found[at]
        ),
        Damage::Bytes { count, first, last } => format!(
            "wrong bytes: {count}, from byte {first} to {last}: first expected {:#04x}, found {:#04x}",
            expected[first], found[first]
        ),
        Damage::Torn(Tear { from, to, zeros }) => format!(
            "torn block: bytes {from} to {} are {}, the others are right",
            to - 1,
            if zeros { "zeros" } else { "of another write" }
        ),
        Damage::Other => "foreign data: nothing of it is what was written".into(),
    }
}

/// Whether any range is equal in both. Data of another writer has no equal range.
pub(super) fn is_alike(expected: &[u8], found: &[u8]) -> bool {
    expected
        .chunks_exact(COMPARED_LENGTH)
        .zip(found.chunks_exact(COMPARED_LENGTH))
        .any(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Vec<u8> {
        let mut block = vec![0; 4096];
        crate::payload::content::random_at(&mut block, 3, 0);
        block
    }

    #[test]
    fn each_kind_of_damage_is_recognized() {
        let (good, mut bad) = (block(), block());
        bad[1000] ^= 0x10;
        assert_eq!(Damage::between(&good, &bad, 0), Damage::Flipped { at: 1000 });
        assert!(describe(&good, &bad, 0).starts_with("bit flip: 1 wrong bit, in byte 1000"));
        // What overwrites bytes flips no single bit.
        (1000..1004).for_each(|at| bad[at] = !good[at]);
        let few = Damage::Bytes { count: 4, first: 1000, last: 1003 };
        assert_eq!(Damage::between(&good, &bad, 0), few);
        let text = describe(&good, &bad, 0);
        assert!(text.starts_with("wrong bytes: 4, from byte 1000 to 1003: first"), "{text}");
        let mut torn = block();
        torn[2048..].fill(7);
        let tear = Tear { from: 2048, to: 4096, zeros: false };
        assert_eq!(Damage::between(&good, &torn, 0), Damage::Torn(tear));
        torn[1024..].fill(0);
        let text = describe(&good, &torn, 0);
        assert_eq!(text, "torn block: bytes 1024 to 4095 are zeros, the others are right");
        let other: Vec<u8> = good.iter().map(|b| b.wrapping_add(101)).collect();
        assert_eq!(Damage::between(&good, &other, 0), Damage::Other);
        assert!(describe(&good, &[0; 4096], 0).starts_with("zeroed"));
        assert!(is_alike(&good, &torn) && !is_alike(&good, &other));
    }
}
