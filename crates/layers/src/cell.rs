//! What the programs add up: the layout of their maps' values, as in `bpf/layers.bpf.c`.

use record::{LayerPath, LayerTimes};

/// Kinds of I/O: reads, writes, trims, flushes.
pub(crate) const DIRECTIONS: u32 = 4;
const SPANS: usize = 5;
const BUCKETS: usize = 896;
/// Counters before the spans.
const COUNTERS: usize = 9;
/// Count and sum, then two buckets in each word.
const SPAN_WORDS: usize = 2 + BUCKETS / 2;
/// Words of a cell.
pub(crate) const WORDS: usize = COUNTERS + SPANS * SPAN_WORDS;

/// The cell of one group, device and direction, on one CPU.
pub(crate) type Cell = [u64; WORDS];

/// Bytes that all cells may need, over all CPUs.
pub(crate) const BYTES_MAX: u64 = 64 << 20;

/// Adds up a cell over all CPUs. Returns it with the sums of the times at which its I/Os entered the
/// block layer and left it, modulo 2^64; `None` if no I/O was counted.
pub(crate) fn gather(cpus: &[Cell]) -> Option<(LayerPath, u64, u64)> {
    let sum = |word: usize| cpus.iter().fold(0_u64, |sum, cell| sum.wrapping_add(cell[word]));
    let [ios, entered, left, bytes, merged, split, parts, requeued, helped] =
        std::array::from_fn(sum);
    if ios + parts == 0 {
        return None;
    }
    let [request, plug, scheduler, device, total] =
        std::array::from_fn(|span| times(cpus, COUNTERS + span * SPAN_WORDS));
    let path = LayerPath {
        ios,
        bytes: record::Bytes(bytes),
        merged,
        split,
        parts,
        requeued,
        helped,
        request,
        plug,
        scheduler,
        device,
        total,
        ..LayerPath::default()
    };
    Some((path, entered, left))
}

/// The span whose words begin at `start`.
fn times(cpus: &[Cell], start: usize) -> LayerTimes {
    let mut out = LayerTimes::default();
    for cell in cpus {
        let [_, sum, buckets @ ..] = &cell[start..start + SPAN_WORDS] else { continue };
        out.sum += record::Nanos(*sum);
        for (word, two) in buckets.iter().enumerate().filter(|(_, two)| **two > 0) {
            for (bucket, times) in
                [(2 * word, two & u64::from(u32::MAX)), (2 * word + 1, two >> 32)]
            {
                if times > 0 {
                    out.histogram.record_n(middle(bucket), times);
                }
            }
        }
    }
    out
}

/// The time in the middle of a bucket, in nanoseconds.
fn middle(bucket: usize) -> u64 {
    let low = |bucket: usize| {
        let octave = (bucket / 32).saturating_sub(1);
        let value = if bucket < 32 { bucket } else { 32 + bucket % 32 };
        (value as u64) << octave << 4
    };
    u64::midpoint(low(bucket), low(bucket + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bucket that the programs choose.
    fn bucket(time: u64) -> usize {
        let value = time >> 4;
        if value < 32 {
            return value as usize;
        }
        let power = value.ilog2() as usize;
        (power - 4) * 32 + ((value >> (power - 5)) & 31) as usize
    }

    #[test]
    fn the_middle_of_a_bucket_is_close_to_its_times() {
        for time in (9..36).flat_map(|power| [1_u64 << power, (1 << power) * 7 / 5]) {
            let middle = middle(bucket(time)) as f64;
            assert!((middle / time as f64 - 1.0).abs() < 0.035, "{time} {middle}");
        }
        assert_eq!(bucket((1 << 36) - 1), BUCKETS - 1);
        assert_eq!(middle(0), 8);
    }

    #[test]
    fn cpus_are_added_up() {
        let mut cells = [[0; WORDS]; 2];
        (cells[0][0], cells[1][0]) = (3, 4);
        (cells[0][1], cells[1][1]) = (u64::MAX, 11);
        let device = COUNTERS + 3 * SPAN_WORDS;
        cells[1][device + 1] = 5000;
        // Buckets 0 and 1.
        cells[1][device + 2] = 2 | 3 << 32;
        let (path, entered, left) = gather(&cells).unwrap();
        assert_eq!((path.ios, entered, left), (7, 10, 0));
        assert_eq!((path.device.sum.0, path.device.histogram.count()), (5000, 5));
        assert_eq!(gather(&[[0; WORDS]]), None);
    }
}
