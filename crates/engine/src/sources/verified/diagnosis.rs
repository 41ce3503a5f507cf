//! Kinds of damage to data: flipped bits, a torn write, zeros, other data.

/// Size of a sector in bytes. A torn write ends at a sector boundary.
const SECTOR: usize = 512;
/// Maximum number of wrong bits that are diagnosed as bit flips.
const FLIPS_MAX: u32 = 64;
/// Length of ranges that are compared, in bytes. Ranges of this length are not equal by chance.
const COMPARED_LENGTH: usize = 32;

/// How data differs from the expected data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// Number of wrong bits, and the first wrong byte.
    Flipped { bits: u32, at: usize },
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
        if bits <= FLIPS_MAX && (last - first < SECTOR || bits <= 8) {
            return Damage::Flipped { bits, at: first };
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
        Damage::Flipped { bits, at } => format!(
            "bit flip: {bits} wrong {}, the first in byte {at}: expected {:#04x}, found {:#04x}",
            if bits == 1 { "bit" } else { "bits" },
            expected[at],
            found[at]
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
        assert_eq!(Damage::between(&good, &bad, 0), Damage::Flipped { bits: 1, at: 1000 });
        assert!(
            describe(&good, &bad, 0).starts_with("bit flip: 1 wrong bit, the first in byte 1000")
        );
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
