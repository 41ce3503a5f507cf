//! Maps each byte of a file to the write it comes from.
//!
//! If all writes start and end on a grid, a table holds four bytes per cell. A grid that is too fine for
//! the region uses an ordered map of pieces. Both keep the latest write of each byte, and whether the
//! first and last byte of a write are still there.

use std::collections::BTreeMap;

/// Number of a write within its worker, from 1.
pub(super) type WriteNumber = u32;
/// After this number, writes restart at 1. Two bits of a cell mark the start and end of a write.
pub(super) const WRITE_MAX: WriteNumber = (1 << 30) - 2;
const TRIMMED: WriteNumber = WRITE_MAX + 1;
const HEAD: u32 = 1 << 31;
const TAIL: u32 = 1 << 30;
const STAMP: u32 = TAIL - 1;
/// Maximum cells of a table: 1 GiB.
const CELLS_MAX: u64 = 1 << 28;

/// Content of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The data of this write.
    Write(WriteNumber),
    /// None: the piece was trimmed.
    Trimmed,
}

/// Bytes that come from one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub start: u64,
    pub length: u64,
    pub holds: Held,
    /// It includes the first byte of the write.
    pub head: bool,
    /// It includes the last byte of the write.
    pub tail: bool,
}

/// The pieces of one file.
#[derive(Clone, Debug)]
pub(super) enum WriteMap {
    Table { start: u64, cell: u64, cells: Vec<u32> },
    Map(BTreeMap<u64, Part>),
}

/// A piece of the ordered map; the key is its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    length: u64,
    cell: u32,
}

impl WriteMap {
    /// For a region in which writes start and end at multiples of `grid`, counted from its start.
    pub fn new(start: u64, length: u64, grid: u64) -> WriteMap {
        // The last block may reach beyond the end.
        let cells = length.div_ceil(grid.max(1)) + 1;
        if grid < 2 || cells > CELLS_MAX {
            return WriteMap::Map(BTreeMap::new());
        }
        WriteMap::Table { start, cell: grid, cells: vec![0; cells as usize] }
    }

    /// These bytes were written.
    pub fn write(&mut self, offset: u64, length: u64, stamp: WriteNumber) {
        self.put(offset, length, stamp);
    }

    /// These bytes were trimmed.
    pub fn trim(&mut self, offset: u64, length: u64) {
        self.put(offset, length, TRIMMED);
    }

    /// The content of these bytes becomes unknown.
    pub fn forget(&mut self, offset: u64, length: u64) {
        self.put(offset, length, 0);
    }

    fn put(&mut self, offset: u64, length: u64, stamp: WriteNumber) {
        if length == 0 {
            return;
        }
        if let WriteMap::Table { start, cell, .. } = self
            && !(offset.wrapping_sub(*start).is_multiple_of(*cell) && length.is_multiple_of(*cell))
        {
            self.leave_grid();
        }
        match self {
            WriteMap::Table { start, cell, cells } => {
                let first = (offset.saturating_sub(*start) / *cell) as usize;
                let last = ((offset + length - 1).saturating_sub(*start) / *cell) as usize;
                if last >= cells.len() {
                    cells.resize(last + 1, 0);
                }
                // Overwritten cells take the start and end marks of older writes with them.
                cells[first..=last].fill(stamp);
                if stamp != 0 {
                    cells[first] |= HEAD;
                    cells[last] |= TAIL;
                }
            }
            WriteMap::Map(parts) => {
                cut(parts, offset, offset + length);
                if stamp != 0 {
                    parts.insert(offset, Part { length, cell: stamp | HEAD | TAIL });
                }
            }
        }
    }

    /// Switches to an ordered map, for a write that is not on the grid.
    fn leave_grid(&mut self) {
        let mut parts = BTreeMap::new();
        let mut from = 0;
        while let Some(piece) = self.next(from, u64::MAX) {
            from = piece.start + piece.length;
            let stamp = match piece.holds {
                Held::Write(stamp) => stamp,
                Held::Trimmed => TRIMMED,
            };
            let bits = if piece.head { HEAD } else { 0 } | if piece.tail { TAIL } else { 0 };
            parts.insert(piece.start, Part { length: piece.length, cell: stamp | bits });
        }
        *self = WriteMap::Map(parts);
    }

    /// The first piece between `from` and `end`, cut to that range.
    pub fn next(&self, from: u64, end: u64) -> Option<Piece> {
        match self {
            WriteMap::Table { start, cell, cells } => table_next(*start, *cell, cells, from, end),
            WriteMap::Map(parts) => {
                let before = parts.range(..=from).next_back();
                let here = before.filter(|(at, part)| **at + part.length > from);
                let (at, part) = here.or_else(|| parts.range(from..end).next())?;
                let (first, last) = ((*at).max(from), (at + part.length).min(end));
                Some(
                    piece(first, last - first, part.cell)
                        .cut(first == *at, last == at + part.length),
                )
            }
        }
    }
}

impl Piece {
    fn cut(self, head: bool, tail: bool) -> Piece {
        Piece { head: self.head && head, tail: self.tail && tail, ..self }
    }
}

fn piece(start: u64, length: u64, cell: u32) -> Piece {
    let stamp = cell & STAMP;
    let holds = if stamp == TRIMMED { Held::Trimmed } else { Held::Write(stamp) };
    Piece { start, length, holds, head: cell & HEAD != 0, tail: cell & TAIL != 0 }
}

fn table_next(start: u64, cell: u64, cells: &[u32], from: u64, end: u64) -> Option<Piece> {
    let index = |at: u64| (at.saturating_sub(start) / cell) as usize;
    let limit = (end.saturating_sub(start).div_ceil(cell) as usize).min(cells.len());
    let begin = index(from).min(limit);
    let first = begin + cells[begin..limit].iter().position(|value| *value != 0)?;
    let stamp = cells[first] & STAMP;
    let mut last = first;
    while cells[last] & TAIL == 0
        && cells.get(last + 1).is_some_and(|next| next & STAMP == stamp && next & HEAD == 0)
        && last + 1 < limit
    {
        last += 1;
    }
    let at = (start + first as u64 * cell).max(from);
    let to = (start + (last as u64 + 1) * cell).min(end);
    let whole = piece(at, to - at, cells[first]);
    Some(Piece { tail: cells[last] & TAIL != 0, ..whole })
}

/// Removes `from..to` from the parts.
fn cut(parts: &mut BTreeMap<u64, Part>, from: u64, to: u64) {
    let before = parts.range_mut(..from).next_back();
    if let Some((at, part)) = before.filter(|(at, part)| **at + part.length > from) {
        let (end, cell) = (at + part.length, part.cell);
        part.length = from - at;
        part.cell &= !TAIL;
        if end > to {
            parts.insert(to, Part { length: end - to, cell: cell & !HEAD });
        }
    }
    while let Some((at, part)) = parts.range(from..to).next().map(|(at, part)| (*at, *part)) {
        parts.remove(&at);
        let end = at + part.length;
        if end > to {
            parts.insert(to, Part { length: end - to, cell: part.cell & !HEAD });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(ledger: &WriteMap) -> Vec<Piece> {
        let mut all = Vec::new();
        let mut from = 0;
        while let Some(piece) = ledger.next(from, u64::MAX / 2) {
            from = piece.start + piece.length;
            all.push(piece);
        }
        all
    }

    #[test]
    fn a_write_replaces_what_it_overlaps_and_keeps_the_rest() {
        for grid in [1, 4] {
            let mut ledger = WriteMap::new(0, 64, grid);
            ledger.write(0, 16, 1);
            ledger.write(8, 16, 2);
            ledger.write(12, 4, 3);
            let of = |start, length, stamp, head, tail| Piece {
                start,
                length,
                holds: Held::Write(stamp),
                head,
                tail,
            };
            let expected = [
                of(0, 8, 1, true, false),
                of(8, 4, 2, true, false),
                of(12, 4, 3, true, true),
                of(16, 8, 2, false, true),
            ];
            assert_eq!(pieces(&ledger), expected, "grid {grid}");
            ledger.forget(12, 4);
            ledger.trim(0, 8);
            assert_eq!(pieces(&ledger)[0].holds, Held::Trimmed);
            assert_eq!(pieces(&ledger).len(), 3);
        }
    }

    proptest! {
        /// Table and map agree with a plain list of bytes.
        #[test]
        fn every_byte_has_its_last_write(writes in prop::collection::vec((0u64..60, 1u64..9), 1..60)) {
            let (mut table, mut map, mut moved) = (
                WriteMap::new(0, 1024, 8),
                WriteMap::new(0, 1024, 1),
                WriteMap::new(0, 1024, 8),
            );
            let mut bytes = vec![0u32; 1024];
            for (stamp, (at, cells)) in (1..).zip(&writes) {
                let (offset, length) = (at * 8, cells * 8);
                table.write(offset, length, stamp);
                map.write(offset, length, stamp);
                moved.write(offset, length, stamp);
                if stamp == 20 {
                    moved.leave_grid();
                }
                bytes[offset as usize..(offset + length) as usize].fill(stamp);
            }
            prop_assert_eq!(pieces(&table), pieces(&map));
            prop_assert_eq!(pieces(&moved), pieces(&map));
            for piece in pieces(&map) {
                let Held::Write(stamp) = piece.holds else { panic!("nothing was trimmed") };
                let range = piece.start as usize..(piece.start + piece.length) as usize;
                prop_assert!(bytes[range.clone()].iter().all(|b| *b == stamp));
                bytes[range].fill(0);
            }
            prop_assert!(bytes.iter().all(|b| *b == 0));
        }
    }
}
