//! The file sizes and record sizes to measure.

use super::{IozoneCommand, Mode};

/// From this file size in kB on, automatic mode skips small records …
const LARGE_FILE: u64 = 32 << 10;
/// … which are those below this size in kB.
const SMALL_RECORD: u64 = 64;

/// The default sizes of a file and a record, in kB.
const USUAL: (u64, u64) = (512, 4);

impl IozoneCommand {
    /// Pairs of file size and record size in kB, in order of measurement.
    pub fn grid(&self) -> Vec<(u64, u64)> {
        let named = |sizes: &[u64], usual: u64| match sizes.is_empty() {
            true => vec![usual],
            false => sizes.to_vec(),
        };
        if self.mode != Mode::Automatic {
            let sizes = named(&self.sizes, USUAL.0);
            let records = named(&self.records, USUAL.1);
            return pairs(&sizes, &records, |_, _| true);
        }
        let sizes = match self.sizes.is_empty() {
            true => self.size_range.steps(self.factor),
            false => self.sizes.clone(),
        };
        // Limits of record sizes override given record sizes.
        let records = match self.records.is_empty() || self.records_limited {
            true => self.record_range.steps(self.factor),
            false => self.records.clone(),
        };
        // Given sizes are never skipped.
        let named = !self.sizes.is_empty() || !self.records.is_empty() || self.records_limited;
        let all = self.all_records || named;
        pairs(&sizes, &records, |size, record| all || size < LARGE_FILE || record >= SMALL_RECORD)
    }
}

fn pairs(sizes: &[u64], records: &[u64], wanted: impl Fn(u64, u64) -> bool) -> Vec<(u64, u64)> {
    let of_size = |size: u64| records.iter().map(move |record| (size, *record));
    let all = sizes.iter().flat_map(|size| of_size(*size));
    all.filter(|(size, record)| record <= size && wanted(*size, *record)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Range, Request, parse};
    use super::*;

    fn automatic(all_records: bool) -> IozoneCommand {
        IozoneCommand { mode: Mode::Automatic, all_records, ..IozoneCommand::default() }
    }

    #[test]
    fn one_pair_without_flags() {
        assert_eq!(IozoneCommand::default().grid(), [(512, 4)]);
        let several =
            IozoneCommand { sizes: vec![64, 8], records: vec![4, 16], ..IozoneCommand::default() };
        assert_eq!(
            several.grid(),
            [(64, 4), (64, 16), (8, 4)],
            "no record is larger than its file"
        );
    }

    #[test]
    fn automatic_mode_goes_by_powers_of_two_and_leaves_small_records_out() {
        let grid = automatic(false).grid();
        let records = |size: u64| -> Vec<u64> {
            grid.iter().filter(|cell| cell.0 == size).map(|cell| cell.1).collect()
        };
        assert_eq!(records(64), [4, 8, 16, 32, 64]);
        assert_eq!(records(16 << 10).len(), 13, "4 kB to 16 MB");
        assert_eq!(records(32 << 10)[0], 64);
        let sizes: std::collections::BTreeSet<u64> = grid.iter().map(|cell| cell.0).collect();
        assert_eq!(sizes.len(), 14, "64 kB to 512 MB");
        assert_eq!(grid.len(), 126);
        let all = automatic(true).grid();
        assert_eq!(all.iter().filter(|cell| cell.0 == 512 << 10).count(), 13);
    }

    /// Oracle: the sizes that IOzone 3.489 measures.
    #[test]
    fn what_was_named_takes_the_place_of_what_is_usual() {
        let grid = |line: &str| -> Vec<(u64, Vec<u64>)> {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let call = match parse(&words) {
                Ok(Request::Run(call)) => call,
                other => panic!("{line}: {other:?}"),
            };
            let mut rows: Vec<(u64, Vec<u64>)> = Vec::new();
            for (size, record) in call.grid() {
                match rows.last_mut().filter(|row| row.0 == size) {
                    Some(row) => row.1.push(record),
                    None => rows.push((size, vec![record])),
                }
            }
            rows
        };
        let by_two = |from: u64, to: u64| Range { least: from, most: to }.steps(2);
        let large = |from: u64| (32 << 10, by_two(from, 16 << 10));
        assert_eq!(grid("-a -s 64m"), [(64 << 10, by_two(4, 16 << 10))]);
        assert_eq!(grid("-a -s 8m"), [(8 << 10, by_two(4, 8 << 10))]);
        assert_eq!(grid("-a -r 8 -r 16 -g 128"), [(64, vec![8, 16]), (128, vec![8, 16])]);
        assert_eq!(grid("-a -r 8 -y 16 -q 32 -n 64 -g 64"), [(64, vec![16, 32])]);
        assert_eq!(grid("-a -n 32m -g 32m"), [large(64)]);
        assert_eq!(grid("-a -n 32m -g 32m -q 128"), [(32 << 10, by_two(4, 128))]);
        assert_eq!(grid("-a -n 32m -g 32m -y 8"), [large(8)]);
        assert_eq!(grid("-A -n 32m -g 32m"), [large(4)]);
        assert_eq!(grid("-az -n 32m -g 32m"), [large(4)]);
        assert_eq!(grid("-a -n 32m -g 32m -+x 4"), [(32 << 10, vec![64, 256, 1024, 4096, 16384])]);
        assert_eq!(
            grid("-a -n 64 -g 2m -+x 4"),
            [
                (64, vec![4, 16, 64]),
                (256, vec![4, 16, 64, 256]),
                (1024, vec![4, 16, 64, 256, 1024])
            ]
        );
        assert_eq!(
            grid("-a -n 100 -g 1000"),
            [
                (100, by_two(4, 64)),
                (200, by_two(4, 128)),
                (400, by_two(4, 256)),
                (800, by_two(4, 512))
            ]
        );
        assert_eq!(grid("-a -y 3 -q 100 -n 64 -g 64"), [(64, vec![3, 6, 12, 24, 48])]);
        assert_eq!(grid("-s 64 -s 128 -r 4 -r 8"), [(64, vec![4, 8]), (128, vec![4, 8])]);
        for without in ["-z", "-n 64 -g 256", "-y 8 -+x 4"] {
            assert_eq!(grid(without), [(512, vec![4])], "{without}: limits only -a");
        }
    }

    #[test]
    fn a_range_to_the_end_of_numbers_ends() {
        let range = Range { least: 1 << 62, most: u64::MAX };
        assert_eq!(range.steps(2), [1 << 62, 1 << 63]);
    }
}
