//! Which placement identifier or stream each write carries.

use super::namespace::placement_identifiers;
use crate::engines::borrow;
use plan::{DataPlacement, PlacementSelect, PlacementUse};
use record::SplitMix64;
use std::io;
use std::os::fd::RawFd;

/// Directive types of writes (NVMe base specification, Directives).
const STREAMS: u32 = 1;
const PLACEMENT: u32 = 2;

/// The directives of a worker's writes.
pub struct Directives {
    kind: u32,
    identifiers: Vec<u16>,
    select: PlacementSelect,
    /// Of `dp_scheme`: from, to, index of the identifier.
    scheme: Vec<(u64, u64, usize)>,
    next: usize,
    random: SplitMix64,
}

impl Directives {
    /// Those that the job asks for; `None` for none.
    pub fn new(options: &PlacementUse, device: RawFd) -> io::Result<Option<Directives>> {
        let (kind, identifiers) = match options.kind {
            DataPlacement::None => return Ok(None),
            DataPlacement::Streams => {
                let streams = options.identifiers.iter();
                (STREAMS, streams.map(|stream| *stream as u16).collect())
            }
            DataPlacement::Fdp => {
                let known = placement_identifiers(borrow(device)).map_err(|error| {
                    io::Error::new(error.kind(), "the device has no flexible data placement")
                })?;
                let chosen = options.identifiers.iter().map(|index| {
                    known.get(*index as usize).copied().ok_or_else(|| {
                        let count = known.len();
                        io::Error::other(format!("plids: {index} of {count} reclaim unit handles"))
                    })
                });
                let chosen = chosen.collect::<io::Result<Vec<u16>>>()?;
                (PLACEMENT, if chosen.is_empty() { known } else { chosen })
            }
        };
        if identifiers.is_empty() {
            return Err(io::Error::other("plids: there is no identifier to place data by"));
        }
        let scheme = match (&options.scheme, options.select) {
            (Some(path), PlacementSelect::Scheme) => {
                let text = std::fs::read_to_string(path)?;
                scheme(&text, identifiers.len()).map_err(io::Error::other)?
            }
            _ => Vec::new(),
        };
        let random = SplitMix64::new(0);
        let select = options.select;
        Ok(Some(Directives { kind, identifiers, select, scheme, next: 0, random }))
    }

    /// Bits of dwords 12 and 13 of a write at `offset`: DTYPE (23:20) and DSPEC (31:16).
    pub fn words(&mut self, offset: u64) -> (u32, u32) {
        let (kind, identifier) = self.next(offset);
        (kind << 20, u32::from(identifier) << 16)
    }

    /// Directive type and identifier of a write at `offset`.
    fn next(&mut self, offset: u64) -> (u32, u16) {
        let count = self.identifiers.len();
        let index = match self.select {
            PlacementSelect::RoundRobin => {
                self.next = (self.next + 1) % count;
                (self.next + count - 1) % count
            }
            PlacementSelect::Random => self.random.below(count as u64) as usize,
            PlacementSelect::Scheme => {
                let within = |range: &&(u64, u64, usize)| (range.0..range.1).contains(&offset);
                self.scheme.iter().find(within).map_or(0, |range| range.2)
            }
        };
        (self.kind, self.identifiers[index])
    }
}

/// The lines of a `dp_scheme` file: `FROM, TO, INDEX`.
fn scheme(text: &str, count: usize) -> Result<Vec<(u64, u64, usize)>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let mut numbers = line.split(',').map(|number| number.trim().parse::<u64>());
            match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
                (Some(Ok(from)), Some(Ok(to)), Some(Ok(index)), None) if index < count as u64 => {
                    Ok((from, to, index as usize))
                }
                _ => Err(format!(
                    "dp_scheme: '{line}' is not FROM, TO, INDEX with an index below {count}"
                )),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directives(select: PlacementSelect) -> Directives {
        Directives {
            kind: PLACEMENT,
            identifiers: vec![7, 8, 9],
            select,
            scheme: scheme("0, 100, 1\n100, 200, 2\n", 3).unwrap(),
            next: 0,
            random: SplitMix64::new(0),
        }
    }

    #[test]
    fn identifiers_are_taken_in_turn_at_random_or_by_offset() {
        let mut turns = directives(PlacementSelect::RoundRobin);
        let taken: Vec<u16> = (0..4).map(|_| turns.next(0).1).collect();
        assert_eq!(taken, [7, 8, 9, 7]);
        let mut drawn = directives(PlacementSelect::Random);
        let drawn: std::collections::BTreeSet<u16> = (0..100).map(|_| drawn.next(0).1).collect();
        assert_eq!(drawn.len(), 3);
        let mut by_offset = directives(PlacementSelect::Scheme);
        let taken = [0, 99, 100, 500].map(|offset| by_offset.next(offset).1);
        assert_eq!(taken, [8, 8, 9, 7]);
    }

    #[test]
    fn directives_lie_where_the_specification_has_them() {
        let mut placed = directives(PlacementSelect::RoundRobin);
        assert_eq!(placed.words(0), (0x0020_0000, 0x0007_0000));
        assert_eq!(placed.words(0), (0x0020_0000, 0x0008_0000));
        let mut streams = Directives { kind: STREAMS, ..directives(PlacementSelect::Scheme) };
        assert_eq!(streams.words(100), (0x0010_0000, 0x0009_0000));
    }

    #[test]
    fn a_scheme_is_three_numbers_a_line() {
        assert!(scheme("0, 1", 3).is_err());
        assert!(scheme("0, 1, 3", 3).is_err());
        assert!(scheme("a, 1, 0", 3).is_err());
    }
}
